// SPDX-License-Identifier: MIT

package dag_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// The bound includes TCP's reduction of a path's rate, under tcp-all of every path (Eq. 11): the search proves 12 on
// one machine; a plan without contention takes 11.5 across the link.
func TestDAGSearchPlannedLengths(t *testing.T) {
	t.Parallel()
	for transfer, want := range map[model.TransferModel][2]float64{ // makespan and bound
		model.TransferIdeal: {11.5, 11.5}, model.TransferFair: {11.5, 11.5}, model.TransferTCP: {12, 12},
		model.TransferTCPAll: {12, 12}} {
		d := testkit.DAG([][]float64{{3, 9}, {9, 3}}, [][3]float64{{1, 2, 5.5}})
		d.TransferModel = transfer
		d.Network.Links = []model.Link{{ID: "b"}}
		d.Network.Routes = []model.Route{{From: "P1", To: "P2", Links: []string{"b"}}}
		r, err := dagexact.Search.Solve(t.Context(), d, model.Settings{})
		if err != nil || math.Abs(r.Objective-want[0]) > 1e-6 || math.Abs(r.Bound-want[1]) > 1e-6 {
			t.Errorf("%s: %v, at least %v, want %v: %v", transfer, r.Objective, r.Bound, want, err)
		}
		quick := require.Value(dagbounds.All(t.Context(), d))(t)
		for _, b := range quick {
			if b.Value > r.Objective*(1+1e-9) {
				t.Errorf("%s: %s is %v, above %v", transfer, b.Name, b.Value, r.Objective)
			}
		}
	}
}

// fromPoor is Search without heuristics before it.
var fromPoor = dagexact.Phases()[0]

// Every engine proves the examples of the papers (six tasks of Yousaf and Welzl, section 5.3; ten of Topcuoglu et al.
// 2002) and edge cases. Nothing is shared, so models of transfers are the same but for TCP's reduction of each path.
func TestExamples(t *testing.T) {
	t.Parallel()
	work := 1.0
	many := testkit.DAG([][]float64{{1, 1}, {4, 4}, {4, 4}}, [][3]float64{{1, 2, 2}, {1, 3, 2}})
	reduced := *many
	reduced.TransferModel = model.TransferTCPAll
	for name, c := range map[string]struct {
		d    *model.DAG
		want float64
	}{
		"six tasks": {testkit.SixTasks(), 23},
		"ten tasks": {testkit.TenTasks(), 73},
		"empty":     {&model.DAG{Machines: []model.Machine{{ID: "a"}}}, 0},
		"one task": {&model.DAG{Machines: []model.Machine{{ID: "a", Speed: 4}, {ID: "b", Speed: 8}},
			Tasks: []model.DAGTask{{ID: "x", Work: &work}}}, 0.125},
		"zero costs":  {testkit.DAG([][]float64{{0, 0}, {0, 0}, {0, 0}}, [][3]float64{{1, 2, 0}, {1, 3, 5}}), 0},
		"two parts":   {testkit.DAG([][]float64{{3, 9}, {9, 3}, {2, 9}, {9, 2}}, [][3]float64{{1, 3, 100}, {2, 4, 100}}), 5},
		"many exits":  {many, 7},
		"TCP":         {&reduced, 1 + 2/0.75 + 4},
		"129 tasks":   {testkit.DAG(slices.Repeat([][]float64{{1}}, 129), nil), 129},
		"one machine": {testkit.DAG([][]float64{{1}, {2}, {3}}, [][3]float64{{1, 3, 9}}), 6},
		"identical machines": {testkit.DAG([][]float64{{3, 3, 3}, {3, 3, 3}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2},
			{4, 4, 4}, {1, 1, 1}, {5, 5, 5}, {4, 4, 4}},
			[][3]float64{{1, 3, 1}, {2, 4, 1}}), 9},
		"one real cost": {testkit.DAG([][]float64{{0.1, 0.3}, {0.7, 0.2}, {0.1, 0.1}},
			[][3]float64{{1, 2, 0.3}, {1, 3, 0.1}}), 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			for _, engine := range []model.Solver{dagexact.Search, fromPoor, dagexact.Kernel,
				dagexact.Linear(highs.Backend)} {
				r, err := engine.Solve(t.Context(), c.d, model.Settings{})
				if errors.Is(err, highs.ErrMissing) || errors.Is(err, model.ErrUnsupported) {
					continue
				}
				if err != nil || r.Status != model.StatusOptimal || math.Abs(r.Objective-c.want) > 1e-9 ||
					math.Abs(r.Bound-c.want) > 1e-6*c.want {
					t.Errorf("%s: %s %v, bound %v, want %v: %v", engine.Name(), r.Status, r.Objective, r.Bound,
						c.want, err)
				}
				if report, err := verify.Result(t.Context(), c.d, r, verify.Options{}); err != nil ||
					!report.Feasible() {
					t.Errorf("%s: %v %v", engine.Name(), report, err)
				}
			}
		})
	}
}

// HiGHS refuses contention and too many terms, before anything is computed.
func TestHiGHSRefuses(t *testing.T) {
	require.HiGHS(t)
	fair := testkit.SixTasks()
	fair.TransferModel = model.TransferFair
	for want, in := range map[string]*model.DAG{
		`set it to "ideal"`: fair,
		"terms":             {Machines: make([]model.Machine, 10), Tasks: make([]model.DAGTask, 1000)},
	} {
		if _, err := dagexact.Linear(highs.Backend).Solve(t.Context(), in, model.Settings{}); !errors.Is(err,
			model.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A relaxation is below the optimum for any horizon, and the judge agrees.
func TestRelaxation(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 3))
	looser := 0
	for k := range require.Rounds(200) {
		d := testkit.RandomDAG(rng, 1+rng.IntN(6), 1+rng.IntN(3))
		want, _ := plain.Optimum(d)
		for _, horizon := range []float64{want, 1.3 * want, math.Inf(1)} {
			bound, e, err := dagbounds.Relaxation(t.Context(), d, horizon)
			if err != nil || bound > want || bound < 0 {
				t.Fatalf("%d: %.15g for horizon %v, the optimum is %.15g: %v: %+v", k, bound, horizon, want, err, d)
			}
			if e != nil {
				if f, err := verify.Evidence(t.Context(), d, e); err != nil ||
					!f.Implies(model.Minimise, bound, false) {
					t.Fatalf("%d: %.15g for horizon %v: %v, %v follows from %+v: %+v", k, bound, horizon, err,
						f.Bound, e, d)
				}
			}
			if bound < 0.999*want {
				looser++
			}
		}
	}
	if looser == 0 {
		t.Error("every relaxation is the optimum: the test draws easy instances only")
	}
}
