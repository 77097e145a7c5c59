package exact

import (
	"github.com/gapwise/gapwise/heuristics"
	"github.com/gapwise/gapwise/model"
)

// Catalogue lists the exact engines, by problem.
func Catalogue() []heuristics.Algorithm {
	const paper = "Stillwell, Schanzenbach, Vivien, Casanova: Resource Allocation using Virtual Clusters, section "
	engine := func(kind model.Kind, solver model.Solver, paper, summary string) heuristics.Algorithm {
		return heuristics.Algorithm{Name: solver.Name(), Kind: kind, Paper: paper, Complexity: "exponential",
			Summary: summary, Exact: true, Solver: solver}
	}
	return []heuristics.Algorithm{
		engine(model.KindVCSched, VCSchedSearch{}, "gapwise", "bin completion, local search and column-generation bounds"),
		engine(model.KindVCSched, VCSchedHiGHS{}, "gapwise", "HiGHS on the compact model, symmetry broken"),
		engine(model.KindVCSched, VCSchedHiGHS{"paper"}, paper+"2.5", "HiGHS on Eq. 3-11"),
		engine(model.KindVCSched, VCSchedHiGHS{"parallel"}, paper+"5.1", "HiGHS on Eq. 12-21"),
		engine(model.KindVCSched, VCSchedHiGHS{"migration"}, paper+"6.1", "HiGHS on Eq. 22-31"),
		engine(model.KindDAG, DAGSearch{}, "gapwise", "partial schedules level by level, with dominance"),
		engine(model.KindDAG, DAGHiGHS{}, "Venugopalan, Sinnen (2015); Mallach (2018)", "HiGHS on the ordering model, without contention"),
		engine(model.KindReservation, ReservationSearch{}, "gapwise", "partial plans in the order of time, with prices and dominance"),
		engine(model.KindReservation, ReservationHiGHS{}, "gapwise", "HiGHS on the formulation that suits the size"),
		engine(model.KindReservation, ReservationHiGHS{"time-indexed"}, "Pritsker, Watters, Wolfe (1969)", "HiGHS, a binary for each start"),
		engine(model.KindReservation, ReservationHiGHS{"events"}, "gapwise", "HiGHS, binaries for pairs of requests"),
	}
}

// Phases are a problem's native search with the heuristics before it, and all
// phases but one, left out. They prove the same, more slowly, and meet states
// that the whole search rarely comes to: opponents for audits and tests.
func Phases(kind model.Kind) []model.Solver {
	switch kind {
	case model.KindVCSched:
		return []model.Solver{VCSchedSearch{phase: "bins"}, VCSchedSearch{phase: "tree"}}
	case model.KindDAG:
		return []model.Solver{DAGSearch{phase: "levels"}, DAGSearch{phase: "beams"}, DAGSearch{phase: "assigner"}}
	case model.KindReservation:
		return []model.Solver{ReservationSearch{phase: "sweep"}}
	}
	return nil
}

// phaseName names the search or one of its phases.
func phaseName(phase string) string {
	if phase == "" {
		return "search"
	}
	return "search-" + phase
}
