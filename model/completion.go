// SPDX-License-Identifier: MIT

package model

import "fmt"

// Completion counts the changes that made a solution of a start solution, which was partial or made for the instance as
// it was before.
type Completion struct {
	Added   int // jobs, tasks or requests of the instance that the start doesn't place
	Ignored int // elements of the start that the instance doesn't have, or not so
}

// String returns it in a few words.
func (c Completion) String() string {
	return fmt.Sprintf("%d of the instance aren't in it and are added, %d of it aren't in the instance and are ignored", c.Added, c.Ignored)
}
