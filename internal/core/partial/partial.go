// SPDX-License-Identifier: MIT

// Package partial compares partial starts with the instances that they are for.
package partial

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// Match returns, for each of the instance's elements, the number of the start's element
// with the same id, -1 for none. It counts both kinds of strangers. The error wraps model.ErrInvalid: the start has an
// id twice, or nothing that the instance has.
func Match[A, B any](elements []A, id func(*A) string, start []B, placed func(*B) string) ([]int, model.Completion, error) {
	at := make(map[string]int, len(start))
	for i := range start {
		if _, twice := at[placed(&start[i])]; twice {
			return nil, model.Completion{}, fmt.Errorf("start: %w: %q is placed twice", model.ErrInvalid, placed(&start[i]))
		}
		at[placed(&start[i])] = i
	}
	of, c := make([]int, len(elements)), model.Completion{Ignored: len(start)}
	for k := range elements {
		i, ok := at[id(&elements[k])]
		if !ok {
			i = -1
			c.Added++
		} else {
			c.Ignored--
		}
		of[k] = i
	}
	if len(start) > 0 && c.Ignored == len(start) {
		return nil, c, fmt.Errorf("start: %w: none of what it places is in the instance: %q isn't", model.ErrInvalid, placed(&start[0]))
	}
	return of, c, nil
}
