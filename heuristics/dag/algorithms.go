// SPDX-License-Identifier: MIT

package dag

import (
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

const source = "Yousaf, Welzl: Network-Aware HEFT Scheduling for Grid"

// Algorithms lists the heuristics for DAG, weakest first.
func Algorithms() []model.Algorithm {
	var all []model.Algorithm
	add := func(name, paper, complexity, summary string, seeded bool, work func(*run.Run, *model.DAG) (*model.Schedule, error)) {
		all = append(all, model.Algorithm{Name: name, Kind: model.KindDAG, Class: model.Offline, Paper: paper, Complexity: complexity,
			Summary: summary, Seeded: seeded, Traced: name == "heft", Solver: run.Heuristic(name, work)})
	}
	rounds := func(solve detailed) func(*run.Run, *model.DAG) (*model.Schedule, error) {
		return func(r *run.Run, d *model.DAG) (*model.Schedule, error) {
			s, rounds, err := solve(r.Ctx, d, r.Set)
			r.Details = model.NewDAGDetails(rounds)
			return s, err
		}
	}
	const topcuoglu, list = "Topcuoglu, Hariri, Wu: Performance-Effective and Low-Complexity Task Scheduling (2002)", "O(V log V + E + V M log V), uniform network"
	add("one-machine", "gapwise", "O(V M + E)", "all tasks on the machine that is fastest for them together", false, rounds(listed(oneMachine)))
	add("dls", "Sih, Lee: A Compile-Time Scheduling Heuristic (1993)", "O(V R M + E M), R ready tasks", "dynamic levels: task and machine chosen together", false, rounds(listed(dls)))
	add("cpop", topcuoglu, list, "critical path on one processor", false, rounds(listed(cpop)))
	add("heft", topcuoglu+"; "+source+", section 5.2", list, "earliest finish time by upward rank", false, rounds(tracedHEFT))
	add("peft", "Arabnejad, Barbosa: List Scheduling by an Optimistic Cost Table (2014)", "O(E M^2 + V M log V)", "finish time plus optimistic cost of the rest", false, rounds(listed(peft)))
	add("lookahead", "Bittencourt, Sakellariou, Madeira: DAG Scheduling Using a Lookahead Variant of HEFT (2010)", "O(E M^2 log V), uniform network", "HEFT that looks at a task's children", false, rounds(listed(lookahead)))
	add("sinnen-sousa", "Sinnen, Sousa: Communication Contention in Task Scheduling (2005)", "O(E M P log E), routes of P links", "list scheduling of tasks and of transfers on links", false, rounds(sinnenSousa))
	add("network-aware", source+", section 5.3", "50 rounds of HEFT and a replay", "HEFT again and again with realistic transfers", false, rounds(networkAware))
	add("improve", "gapwise", "O(V + E log E) per step", "local search on the realistic makespan", true, improve)
	add("lns", "Shaw: Using Constraint Programming and Local Search Methods to Solve Vehicle Routing Problems (1998); gapwise", "exponential within a neighbourhood", "large neighbourhoods of the local search's schedule, by a learning kernel", true, searchNear)
	return all
}
