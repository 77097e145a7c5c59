// Package dag holds the exact engines for task graphs: a search of its own and HiGHS.
package dag

import "github.com/gapwise/gapwise/model"

// Engines lists the exact engines for DAG, the default first.
func Engines() []model.Algorithm {
	return []model.Algorithm{
		model.Engine(model.KindDAG, Search{}, "gapwise", "the learning kernel and partial schedules level by level, in turns"),
		model.Engine(model.KindDAG, Kernel{}, "Ohrimenko, Stuckey, Codish (2009)", "lazy clause generation: machines and orders, a nogood of each conflict"),
		model.Engine(model.KindDAG, HiGHS{}, "Venugopalan, Sinnen (2015); Mallach (2018)", "HiGHS on the ordering model, without contention"),
	}
}

// Phases lists the native search's phases, each by itself and without the
// heuristics before it. They prove the same, more slowly, and meet states that
// the whole search rarely comes to: opponents for audits and tests.
func Phases() []model.Solver {
	return []model.Solver{Search{phase: "levels"}, Search{phase: "beams"}, Search{phase: "assigner"}}
}
