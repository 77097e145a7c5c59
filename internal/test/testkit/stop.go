// SPDX-License-Identifier: MIT

package testkit

import "context"

// StopAfter is a context that ends after so many looks at it: what is stopped by it is
// stopped wherever it may be.
type StopAfter struct {
	context.Context
	Looks int
}

// Err implements context.Context. One goroutine looks at a time.
func (c *StopAfter) Err() error {
	if c.Looks--; c.Looks < 0 {
		return context.Canceled
	}
	return nil
}
