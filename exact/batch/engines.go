// Package batch holds the exact engines for batch scheduling on one tier: a search
// of its own and HiGHS.
package batch

import "github.com/gapwise/gapwise/model"

// Engines lists the exact engines for Batch, the default first.
func Engines() []model.Algorithm {
	return []model.Algorithm{
		model.Engine(model.KindBatch, Search{}, "gapwise", "jobs in the order of their starts, squashed-area bounds and dominance; one tier"),
		model.Engine(model.KindBatch, HiGHS{}, "Pritsker, Watters, Wolfe (1969)", "HiGHS, a binary for each start; one tier"),
	}
}
