// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"slices"
)

// repeatedResource describes the first resource that has the name of an earlier one, "" without.
func repeatedResource(names []string) string {
	for r, name := range names {
		if slices.Index(names, name) < r {
			return fmt.Sprintf("resources[%d] is %q, must be a name that no other has", r, name)
		}
	}
	return ""
}

// wrongAmounts describes the error in a list, a capacity or a need, that is to have an amount of each resource of its
// instance; "" without.
func wrongAmounts[T int64 | float64](name string, amounts []T, resources []string) string {
	if len(amounts) == len(resources) {
		return ""
	}
	return fmt.Sprintf("%s has %d entries, must have one for each of the instance's %d resources", name, len(amounts), len(resources))
}
