// SPDX-License-Identifier: MIT

// Package batch holds the exact engines for batch scheduling: a search of its own, and
// on one tier HiGHS and the learning kernel.
package batch

import (
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Engines lists the exact engines for Batch, the default first.
func Engines() []model.Algorithm {
	return []model.Algorithm{
		model.Engine(model.KindBatch, Search, "gapwise", "jobs in the order of their starts, prices and dominance; on two tiers the order of all that happens, a linear program each"),
		model.Engine(model.KindBatch, Linear(highs.Backend), "Pritsker, Watters, Wolfe (1969)", "HiGHS, a binary for each start; one tier"),
		model.Engine(model.KindBatch, Kernel, "Ohrimenko, Stuckey, Codish (2009); Kovács, Beck (2008)", "lazy clause generation on the starts, prices of the processors; one tier"),
	}
}
