// SPDX-License-Identifier: MIT

// Package dag holds the exact engines for task graphs: a search of its own and HiGHS.
package dag

import (
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Engines lists the exact engines for DAG, the default first.
func Engines() []model.Algorithm {
	return []model.Algorithm{
		model.Engine(model.KindDAG, Search, "gapwise", "local search, then the learning kernel"),
		model.Engine(model.KindDAG, Kernel, "Ohrimenko, Stuckey, Codish (2009)", "lazy clause generation: machines and orders, a nogood of each conflict"),
		model.Engine(model.KindDAG, Linear(highs.Backend), "Venugopalan, Sinnen (2015); Mallach (2018)", "HiGHS on the ordering model, without contention"),
	}
}

// Phases lists Search without the heuristics before it, from a poor schedule. It proves
// the same, more slowly, and has to search where Search rarely does: an opponent for
// audits and tests.
func Phases() []model.Solver { return []model.Solver{Search.Phase("poor", devStart)} }
