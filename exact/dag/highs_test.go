// SPDX-License-Identifier: MIT

package dag_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// tinyDAG draws a DAG that the plain engine can solve: any number of entries,
// exits and parts, costs and data that are often 0 or equal, whole or not.
func tinyDAG(rng *rand.Rand, most int) *model.DAG {
	n, machines := 1+rng.IntN(most), 1+rng.IntN(3)
	if n == 6 {
		machines = min(machines, 2+rng.IntN(2))
	}
	figure := func() float64 {
		switch rng.IntN(10) {
		case 0, 1:
			return 0
		case 2:
			return float64(rng.IntN(100))
		}
		return float64(rng.IntN(9))
	}
	if rng.IntN(3) == 0 {
		scale := []float64{1, 1e-6, 1e9}[rng.IntN(3)]
		figure = func() float64 { return scale * float64(rng.IntN(5)) * rng.Float64() }
	}
	density, costs, edges := rng.Float64(), [][]float64{}, [][3]float64{}
	for t := range n {
		c := make([]float64, machines)
		for m := range c {
			c[m] = figure()
		}
		costs = append(costs, c)
		for i := range t {
			if rng.Float64() < density {
				edges = append(edges, [3]float64{float64(i + 1), float64(t + 1), figure()})
			}
		}
	}
	d := testkit.DAG(costs, edges)
	if rng.IntN(3) == 0 {
		for m := range d.Machines {
			d.Machines[m].StartupS = figure()
		}
	}
	if rng.IntN(3) == 0 {
		for range machines {
			row := make([]float64, machines)
			for m := range row {
				row[m] = float64(1 + rng.IntN(3))
			}
			d.Network.PathCapacity = append(d.Network.PathCapacity, row)
		}
	}
	// Tasks in another order than a topological one.
	rng.Shuffle(n, func(i, j int) { d.Tasks[i], d.Tasks[j] = d.Tasks[j], d.Tasks[i] })
	return d
}

func TestDAGHiGHSAgainstPlain(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 3))
	ctx := context.Background()
	looser, most := 0, 5
	for k := range need.Rounds(200) {
		if most = 5; k%10 == 0 {
			most = 6
		}
		d := tinyDAG(rng, most)
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		want, _ := plain.Optimum(d)
		r, err := dagexact.Linear(highs.Backend).Solve(ctx, d, model.Settings{Seed: uint64(k)})
		if err != nil {
			t.Fatalf("%d: %v: %+v", k, err, d)
		}
		if r.Status != model.StatusOptimal || math.Abs(r.Objective-want) > 1e-9*want {
			t.Fatalf("%d: %s %.15g (bound %.15g, %s), want %.15g: %+v", k, r.Status, r.Objective, r.Bound, r.Reason, want, d)
		}
		report, err := verify.Result(t.Context(), d, r, verify.Options{})
		if err != nil || !report.Feasible() {
			t.Fatalf("%d: %v %v: %+v", k, report, err, d)
		}
		for _, horizon := range []float64{want, 1.3 * want, math.Inf(1)} {
			bound, e, err := dagbounds.Relaxation(ctx, d, horizon)
			if err != nil {
				t.Fatalf("%d: relaxation: %v: %+v", k, err, d)
			}
			if e != nil {
				if f, err := verify.Evidence(ctx, d, e); err != nil || !f.Implies(model.Minimise, bound, false) {
					t.Fatalf("%d: relaxation %.15g for horizon %v: %v, %v follows from %+v: %+v", k, bound, horizon, err, f.Bound, e, d)
				}
			}
			if bound > want || bound < 0 {
				t.Fatalf("%d: relaxation %.15g for horizon %v, the optimum is %.15g: %+v", k, bound, horizon, want, d)
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

func TestDAGHiGHSExamples(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	tests := map[string]struct {
		d    *model.DAG
		want float64
	}{
		"six tasks":  {testkit.SixTasks(), 23},
		"ten tasks":  {testkit.TenTasks(), 73},
		"one task":   {testkit.DAG([][]float64{{3, 2, 4}}, nil), 2},
		"zero costs": {testkit.DAG([][]float64{{0, 0}, {0, 0}, {0, 0}}, [][3]float64{{1, 2, 0}, {1, 3, 5}}), 0},
		"no task":    {&model.DAG{Machines: []model.Machine{{ID: "a"}}}, 0},
		"identical machines": {testkit.DAG([][]float64{{3, 3, 3}, {3, 3, 3}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}, {4, 4, 4}, {1, 1, 1}, {5, 5, 5}, {4, 4, 4}},
			[][3]float64{{1, 3, 1}, {2, 4, 1}}), 9},
		"one real cost": {testkit.DAG([][]float64{{0.1, 0.3}, {0.7, 0.2}, {0.1, 0.1}}, [][3]float64{{1, 2, 0.3}, {1, 3, 0.1}}), 0.5},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := dagexact.Linear(highs.Backend).Solve(context.Background(), c.d, model.Settings{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != model.StatusOptimal || math.Abs(r.Objective-c.want) > 1e-12 || math.Abs(r.Bound-c.want) > 1e-6*c.want {
				t.Errorf("%s %v, bound %v, want the optimum %v (%s)", r.Status, r.Objective, r.Bound, c.want, r.Reason)
			}
			if report, err := verify.Result(t.Context(), c.d, r, verify.Options{}); err != nil || !report.Feasible() {
				t.Errorf("%v %v", report, err)
			}
		})
	}
}

// A stopped run says so, and the results proved so far hold.
func TestDAGHiGHSStops(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	d := tinyDAG(rand.New(rand.NewPCG(1, 1)), 5)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	// On a path the bounds alone are a proof; here they aren't.
	wide := randomDAG(rand.New(rand.NewPCG(1, 1)), 12, 3, 0.3, 30, 60)
	r, err := dagexact.Linear(highs.Backend).Solve(ctx, wide, model.Settings{})
	if err != nil || r.Status == model.StatusOptimal || r.Reason == "" || r.Solution == nil {
		t.Errorf("%+v %v, want a schedule, no proof and a reason", r, err)
	}
	// A gap that any schedule meets stops it, too.
	r, err = dagexact.Linear(highs.Backend).Solve(context.Background(), d, model.Settings{Gap: 0.5})
	if want, _ := plain.Optimum(d); err != nil || r.Status != model.StatusOptimal || r.Bound > want || r.Objective < want {
		t.Errorf("%+v %v, the optimum is %v", r, err, want)
	}
}

func TestDAGHiGHSErrors(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	large := &model.DAG{Machines: make([]model.Machine, 10), Tasks: make([]model.DAGTask, 1000)}
	one := testkit.DAG([][]float64{{3, 2, 4}}, nil)
	fair := *one
	fair.TransferModel = model.TransferFair
	tests := map[string]struct {
		in    model.Instance
		start model.Solution
		kind  error
		want  string
	}{
		"another problem": {&model.VCSched{}, nil, model.ErrUnsupported, "vcsched"},
		"contention":      {&fair, nil, model.ErrUnsupported, `set it to "ideal"`},
		"too large":       {large, nil, model.ErrUnsupported, "terms"},
		"a wrong start":   {one, &model.Schedule{}, model.ErrInvalid, "has 0 tasks"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := dagexact.Linear(highs.Backend).Solve(context.Background(), c.in, model.Settings{Start: c.start})
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %v with %q in one line", err, c.kind, c.want)
			}
		})
	}
}
