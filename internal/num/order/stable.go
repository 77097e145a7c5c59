// SPDX-License-Identifier: MIT

//go:build !js

package order

import "slices"

// Stable is slices.SortStableFunc. In the playground's page it is sort.SliceStable, with the same result: each type of
// elements that slices sorts costs the page some kilobytes.
func Stable[S ~[]E, E any](x S, compare func(a, b E) int) { slices.SortStableFunc(x, compare) }
