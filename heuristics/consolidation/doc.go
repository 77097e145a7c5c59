// SPDX-License-Identifier: MIT

// Package consolidation holds the heuristics for Consolidation. One places only the tasks without a host; others are
// list heuristics of vector bin packing, a greedy drain and a large neighbourhood search.
package consolidation

import (
	"context"

	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// Algorithms lists the heuristics for Consolidation, weakest first.
func Algorithms() []model.Algorithm {
	var all []model.Algorithm
	add := func(name, paper, complexity, summary string, seeded bool, solve func(context.Context, *model.Consolidation, model.Settings) (*model.Assignment, error)) {
		all = append(all, model.Algorithm{Name: name, Kind: model.KindConsolidation, Class: model.Offline, Paper: paper, Complexity: complexity,
			Summary: summary, Seeded: seeded, Solver: run.OneShot(name, solve)})
	}
	const panigrahy = "Panigrahy, Talwar, Uyeda, Wieder: Heuristics for Vector Bin Packing (2011)"
	add("stay", "gapwise", "O(nH)", "nothing moves; tasks without a host go where they fit best", false, Stay)
	add("ffd", panigrahy, "O(nH)", "first fit decreasing on the hosts in the order of price and size, from scratch", false, FirstFit)
	add("bfd", panigrahy, "O(nH)", "best fit decreasing, from scratch", false, BestFit)
	add("drain", "gapwise", "O(nH²)", "empties one host after another, the cheapest to move first, by best fit", false, Drain)
	add("lns", "Shaw: Using Constraint Programming and Local Search Methods to Solve Vehicle Routing Problems (1998)",
		"O(H) a task that is moved", "anneals the tasks of hosts in use from today's plan on; ruins a few hosts and places their tasks anew, for cost and for moves", true, nil)
	all[len(all)-1].Solver = run.Heuristic("lns", LNS)
	return all
}
