// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

const source = "Stillwell, Schanzenbach, Vivien, Casanova: Resource Allocation using Virtual Clusters"

// Algorithms lists the heuristics for VCSched, weakest first.
func Algorithms() []model.Algorithm {
	var all []model.Algorithm
	add := func(name, section, complexity, summary string, seeded bool, solve func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error)) {
		paper := "gapwise"
		if section != "" {
			paper = source + ", section " + section
		}
		all = append(all, model.Algorithm{Name: name, Kind: model.KindVCSched, Class: model.Offline, Paper: paper, Complexity: complexity,
			Summary: summary, Seeded: seeded, Traced: name == "mcb8", Solver: run.OneShot(name, solve)})
	}
	const lp, pack = "a linear program of 2nH+1 variables", "O(log(1/precision) n log n) when the trees prune well"
	add("rrnd", "3.2", lp, "randomised rounding of the linear relaxation", true, RRND)
	add("rrnz", "3.2", lp, "the same, with no host's probability zero", true, RRNZ)
	add("gr", "3.3", "O(n log H), at worst O(nH)", "greedy by least CPU load", false, GR)
	add("sg", "3.3", "O(n log n), at worst O(nH)", "greedy, tasks by decreasing memory", false, SG)
	add("gb", "3.3", "O(500,000 H + nH)", "greedy with backtracking", false, GB)
	add("sgb", "3.3", "O(500,000 H + nH)", "sorted greedy with backtracking", false, SGB)
	for k, key := range []string{"sum, ascending", "difference, ascending", "ratio, ascending", "larger, ascending",
		"sum, descending", "difference, descending", "ratio, descending", "larger, descending"} {
		add(fmt.Sprintf("mcb%d", k+1), "3.4", pack, "multi-capacity bin packing by "+key, false, mcbs[k+1])
	}
	add("anneal", "", "O(1) per step, 500,000 + 4,000 n steps", "local search on overloads towards the bound", true, nil)
	all[len(all)-1].Solver = run.Heuristic("anneal", Anneal)
	return all
}
