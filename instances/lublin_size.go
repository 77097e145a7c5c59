// SPDX-License-Identifier: MIT

package instances

// lublinLogSize returns the logarithm (base 2) of a parallel job's size in the Lublin-Feitelson model, before it is
// rounded. It is uniform on [low, medium] with probability share and on [medium, high] otherwise. It maps two uniform
// random numbers, the choice and the place within; it grows with medium, for the same numbers.
func lublinLogSize(low, medium, high, share, choice, place float64) float64 {
	if choice <= share {
		return low + (medium-low)*place
	}
	return medium + (high-medium)*place
}
