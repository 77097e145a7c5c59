// SPDX-License-Identifier: MIT

package order

import "sort"

// Stable sorts stably, see the other systems' file.
func Stable[S ~[]E, E any](x S, compare func(a, b E) int) {
	sort.SliceStable(x, func(i, j int) bool { return compare(x[i], x[j]) < 0 })
}
