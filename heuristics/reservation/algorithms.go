// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"strings"

	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

const source = "Li et al.: Resource availability-Aware Advance Reservation for Parallel Jobs with Deadlines"

// Algorithms lists the heuristics for Reservation, weakest first.
func Algorithms() []model.Algorithm {
	var all []model.Algorithm
	add := func(name, paper, complexity, summary string, solve func(context.Context, *model.Reservation, model.Settings) (*model.Bookings, error)) {
		all = append(all, model.Algorithm{Name: name, Kind: model.KindReservation, Class: model.Online, Paper: paper, Complexity: complexity,
			Summary: summary, Solver: run.OneShot(name, solve)})
	}
	const plain, stretched = "O(log n + v PEs) per request, v records in its window", "O(log n + v n PEs) per request, v records in its window"
	const section = source + ", section 5"
	names := map[string]string{"FF": "earliest start", "PE_B": "start with the fewest free PEs", "DU_B": "shortest availability rectangle",
		"PEDU_B": "smallest availability rectangle", "PE_W": "start with the most free PEs", "DU_W": "longest availability rectangle", "PEDU_W": "largest availability rectangle"}
	for _, p := range policies {
		name := strings.ReplaceAll(strings.ToLower(p.name), "_", "-")
		cost := plain
		if strings.HasPrefix(name, "du") || strings.HasPrefix(name, "pedu") {
			cost = stretched
		}
		add(name, section, cost, names[p.name], p.book)
		if cost == stretched {
			add(name+"-open", section, cost, names[p.name]+", not cut at the deadline", p.opened().book)
		}
	}
	add("least-load", "gapwise", plain, "start with the fewest PE-seconds taken over the run", LeastLoad)
	add("selective", "gapwise", "O(n + v PEs) per request", "least-load, but requests that are too large are declined", Selective)
	all = append(all, model.Algorithm{Name: "clairvoyant", Kind: model.KindReservation, Class: model.Yardstick, Paper: "gapwise", Complexity: "O(w + log n) per step, w requests in a window",
		Summary: "local search that sees all requests at once, with runtimes and withdrawals", Seeded: true, Solver: run.Heuristic("clairvoyant", clairvoyant)})
	all = append(all, model.Algorithm{Name: "lns", Kind: model.KindReservation, Class: model.Yardstick, Paper: "Shaw: Using Constraint Programming and Local Search Methods to Solve Vehicle Routing Problems (1998); gapwise", Complexity: "exponential within a neighbourhood",
		Summary: "large neighbourhoods of the clairvoyant plan, by a learning kernel", Seeded: true, Solver: run.Heuristic("lns", searchNear)})
	return all
}
