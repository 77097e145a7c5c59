package exact_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// foundDAGs are instances on which version 0.3.0 called a value optimal that
// isn't, with the right one: dag-search-* and dag-m*, -18x4 for want of the
// makespan in the dominance key, dag-falsely-* for the load bound of no work.
var foundDAGs = map[string]float64{
	"dag-18x4":                           332,
	"dag-m472":                           674,
	"dag-m773":                           278,
	"dag-m1324":                          287,
	"dag-search-wrong-optimum-13-for-12": 12,
	"dag-search-wrong-optimum-19-for-15": 15,
	"dag-search-wrong-optimum-2-for-1":   1,
	"dag-search-wrong-optimum-floats":    17.88150617,
	"dag-falsely-optimal-17-5machines":   2364,
	"dag-falsely-optimal-19":             94,
	"dag-falsely-optimal-30":             98,
	"dag-bound-load-highs-error":         1e-30,
}

func loadDAG(t *testing.T, name string) *model.DAG {
	t.Helper()
	in, err := instances.Load(filepath.Join("testdata", "found", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return in.(*model.DAG)
}

func TestDAGSearchFound(t *testing.T) {
	for name, want := range foundDAGs {
		t.Run(name, func(t *testing.T) {
			d := loadDAG(t, name)
			r, err := exact.DAGSearch{}.Solve(context.Background(), d, model.Settings{Threads: 2, TimeLimit: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != model.StatusOptimal || model.Gap(r.Objective, want) > 1e-6 || model.Gap(r.Bound, want) > 1e-6 {
				t.Errorf("%s %v, bound %v, the optimum is %v", r.Status, r.Objective, r.Bound, want)
			}
			if report, err := verify.Verify(context.Background(), d, r.Solution, verify.Options{}); err != nil || !report.Feasible() {
				t.Errorf("%v %v", report, err)
			}
		})
	}
}
