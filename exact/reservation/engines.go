// SPDX-License-Identifier: MIT

// Package reservation holds the exact engines for advance reservations: the learning kernel and HiGHS.
package reservation

import (
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Engines lists the exact engines for Reservation, the default first.
func Engines() []model.Algorithm {
	return []model.Algorithm{
		model.Engine(model.KindReservation, Kernel, "Ohrimenko, Stuckey, Codish (2009); Schutt et al. (2011)", "lazy clause generation: optional intervals on one cumulative, with a Lagrangian bound"),
		model.Engine(model.KindReservation, Linear(highs.Backend), "Pritsker, Watters, Wolfe (1969)", "HiGHS, a binary for each start"),
	}
}
