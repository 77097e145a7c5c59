package exact

import (
	"github.com/gapwise/gapwise/heuristics"
	"github.com/gapwise/gapwise/model"
)

// Catalogue lists the exact engines, by problem.
func Catalogue() []heuristics.Algorithm {
	const paper = "Stillwell, Schanzenbach, Vivien, Casanova: Resource Allocation using Virtual Clusters, section "
	engine := func(solver model.Solver, paper, summary string) heuristics.Algorithm {
		return heuristics.Algorithm{Name: solver.Name(), Kind: model.KindVCSched, Paper: paper, Complexity: "exponential",
			Summary: summary, Exact: true, Solver: solver}
	}
	return []heuristics.Algorithm{
		engine(VCSchedSearch{}, "gapwise", "bin completion, local search and column-generation bounds"),
		engine(VCSchedHiGHS{}, "gapwise", "HiGHS on the compact model, symmetry broken"),
		engine(VCSchedHiGHS{"paper"}, paper+"2.5", "HiGHS on Eq. 3-11"),
		engine(VCSchedHiGHS{"parallel"}, paper+"5.1", "HiGHS on Eq. 12-21"),
		engine(VCSchedHiGHS{"migration"}, paper+"6.1", "HiGHS on Eq. 22-31"),
	}
}
