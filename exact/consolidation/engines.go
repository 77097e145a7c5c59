// SPDX-License-Identifier: MIT

// Package consolidation holds the exact engines for Consolidation: the learning kernel and HiGHS, on the numbers of tasks
// of each job on each host.
package consolidation

import (
	"slices"

	"github.com/gapwise/gapwise/exact/internal/engine"
	consheur "github.com/gapwise/gapwise/heuristics/consolidation"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Engines lists the exact engines for Consolidation, the default first.
func Engines() []model.Algorithm {
	return []model.Algorithm{
		model.Engine(model.KindConsolidation, Kernel, "Ohrimenko, Stuckey, Codish (2009)", "lazy clause generation on the numbers of tasks of each job on each host"),
		model.Engine(model.KindConsolidation, Linear(highs.Backend), "gapwise", "HiGHS on the numbers of tasks of each job on each host"),
	}
}

// start returns the best of the start and of all heuristics except the search.
func start(r *engine.Run) (*model.Assignment, error) {
	first, err := r.First(slices.DeleteFunc(consheur.Algorithms(), func(a model.Algorithm) bool { return a.Seeded }))
	best, _ := first.(*model.Assignment)
	return best, err
}

// most returns a cost that no better solution has, -1 if there is none. It limits the hosts of each offer that a better
// solution can buy.
func most(in *model.Consolidation, a *model.Assignment) int64 {
	if in.CostLimit != nil {
		return *in.CostLimit
	}
	if a == nil || in.Goal == model.GoalMoves {
		return -1
	}
	o, err := in.Objective(a)
	if err != nil {
		return -1
	}
	return int64(o.Value)
}
