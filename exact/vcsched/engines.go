// SPDX-License-Identifier: MIT

// Package vcsched holds the exact engines for VCSched: a search of its own,
// the learning kernel and HiGHS.
package vcsched

import (
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Engines lists the exact engines for VCSched, the default first.
func Engines() []model.Algorithm {
	const paper = "Stillwell, Schanzenbach, Vivien, Casanova: Resource Allocation using Virtual Clusters, section "
	return []model.Algorithm{
		model.Engine(model.KindVCSched, Search, "gapwise", "bin completion, local search and column-generation bounds"),
		model.Engine(model.KindVCSched, Kernel, "gapwise", "lazy clause generation on exactly-one and linear constraints, bounds by column generation"),
		model.Engine(model.KindVCSched, Linear(highs.Backend, ""), "gapwise", "HiGHS on the compact model, symmetry broken"),
		model.Engine(model.KindVCSched, Linear(highs.Backend, "paper"), paper+"2.5", "HiGHS on Eq. 3-11"),
		model.Engine(model.KindVCSched, Linear(highs.Backend, "parallel"), paper+"5.1", "HiGHS on Eq. 12-21"),
		model.Engine(model.KindVCSched, Linear(highs.Backend, "migration"), paper+"6.1", "HiGHS on Eq. 22-31"),
	}
}

// Phases lists the native search's phases, each by itself and without the
// heuristics before it. They prove the same, more slowly, and meet states that
// the whole search rarely comes to: opponents for audits and tests.
func Phases() []model.Solver {
	return []model.Solver{
		Search.Phase("bins", devLocalSearch|devPacking),
		Search.Phase("tree", devLocalSearch|devCompletion|devLearning|devMoves),
	}
}
