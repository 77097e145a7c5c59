// SPDX-License-Identifier: MIT

// Package nearest finds what a misspelt name may have meant.
package nearest

import (
	"fmt"

	"github.com/agnivade/levenshtein"
)

// Of returns the known name that is fewest edits from name, at most two, the first
// of several; "" if there is none.
func Of(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := levenshtein.ComputeDistance(name, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// Hint returns a text with what a misspelt name may have meant, "" if that isn't known.
func Hint(format, name string, known []string) string {
	if near := Of(name, known); near != "" {
		return fmt.Sprintf(format, near)
	}
	return ""
}
