// SPDX-License-Identifier: MIT

package dag_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// The search agrees with the plain engine, its solutions pass the judge, and no
// bound is above the optimum.
func TestDAGSearchAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	ctx := context.Background()
	for k := range need.Rounds(1500) {
		d := tinyDAG(rng, 6)
		if k%3 == 0 { // identical machines
			for i := range d.Tasks {
				for m := range d.Tasks[i].CostS {
					d.Tasks[i].CostS[m] = d.Tasks[i].CostS[0]
				}
			}
			d.Network.PathCapacity = nil
		}
		want, _ := plain.Optimum(d)
		r, err := dagexact.Search.Solve(ctx, d, model.Settings{Seed: uint64(k), Threads: 1 + k%3})
		if err != nil {
			t.Fatal(err)
		}
		p, err := fromPoor.Solve(ctx, d, model.Settings{Seed: uint64(k), Threads: 1 + k%3})
		if err != nil {
			t.Fatal(err)
		}
		if p.Status != model.StatusOptimal || math.Abs(p.Objective-want) > 1e-6*want || p.Bound > want*(1+1e-12) {
			t.Fatalf("instance %d: from a poor start %s %v, bound %v, the optimum is %v", k, p.Status, p.Objective, p.Bound, want)
		}
		if r.Status != model.StatusOptimal || math.Abs(r.Objective-want) > 1e-6*want {
			t.Fatalf("instance %d: %s %v, bound %v, the optimum is %v", k, r.Status, r.Objective, r.Bound, want)
		}
		if r.Bound > want*(1+1e-12) {
			t.Fatalf("instance %d: the bound %v is above the optimum %v", k, r.Bound, want)
		}
		if report, err := verify.Verify(t.Context(), d, r.Solution, verify.Options{}); err != nil || !report.Feasible() {
			t.Fatalf("instance %d: %v %v", k, report, err)
		}
		all, err := dagbounds.All(ctx, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			if b.Value > want*(1+1e-12) {
				t.Fatalf("instance %d: the bound %s is %v, the optimum %v", k, b.Name, b.Value, want)
			}
		}
	}
}

// fromPoor is Search without heuristics before it.
var fromPoor = dagexact.Phases()[0]

// randomDAG draws tasks on unrelated machines with whole costs.
func randomDAG(rng *rand.Rand, n, m int, density float64, maxCost, maxData int) *model.DAG {
	var costs [][]float64
	var edges [][3]float64
	for a := range n {
		var c []float64
		for range m {
			c = append(c, float64(1+rng.IntN(maxCost)))
		}
		costs = append(costs, c)
		for b := range a {
			if rng.Float64() < density {
				edges = append(edges, [3]float64{float64(b + 1), float64(a + 1), float64(rng.IntN(maxData + 1))})
			}
		}
	}
	return testkit.DAG(costs, edges)
}

// Search and HiGHS agree on larger instances, too.
func TestDAGSearchAgainstHiGHS(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	ctx := context.Background()
	for k := range need.Rounds(60) {
		d := randomDAG(rng, 7+rng.IntN(4), 2+rng.IntN(2), []float64{0, 0.1, 0.3, 0.6}[k%4], 30, []int{0, 20, 80}[k%3])
		a, err := fromPoor.Solve(ctx, d, model.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := dagexact.Linear(highs.Backend).Solve(ctx, d, model.Settings{TimeLimit: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != model.StatusOptimal {
			t.Fatalf("instance %d: search %s", k, a.Status)
		}
		if b.Solution != nil && a.Objective > b.Objective+1e-6 || b.Bound > a.Objective*(1+1e-9) || b.Status == model.StatusOptimal && a.Objective != b.Objective {
			t.Fatalf("instance %d: search %v, HiGHS %s %v, bound %v", k, a.Objective, b.Status, b.Objective, b.Bound)
		}
	}
}

// The examples of the papers: six tasks (Yousaf, Welzl, section 5.3) and ten
// (Topcuoglu et al. 2002), proved by the search.
func TestDAGSearchExamples(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]float64{"six-tasks.json": 23, "ten-tasks.json": 73} {
		in, err := instances.Load(filepath.Join("..", "..", "docs", "examples", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, engine := range []model.Solver{dagexact.Search, fromPoor} {
			r, err := engine.Solve(context.Background(), in, model.Settings{})
			if err != nil || r.Status != model.StatusOptimal || r.Objective != want || r.Bound != want {
				t.Errorf("%s: %s %v, bound %v, want %v: %v", file, r.Status, r.Objective, r.Bound, want, err)
			}
			t.Logf("%s: %d nodes", file, r.Nodes)
		}
	}
}

// A start is taken under any transfer model; a start that isn't a schedule of the instance is refused.
func TestDAGSearchStart(t *testing.T) {
	t.Parallel()
	in, err := instances.Load(filepath.Join("..", "..", "docs", "examples", "six-tasks.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := in.(*model.DAG)
	for _, transfer := range model.TransferModels {
		d.TransferModel = transfer
		start, err := dagheur.HEFT(context.Background(), d, model.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		o, err := d.Objective(start)
		if err != nil {
			t.Fatal(err)
		}
		r, err := dagexact.Search.Solve(context.Background(), d, model.Settings{Start: start})
		if err != nil || r.Objective > o.Value {
			t.Errorf("%s: %v from a start of %v: %v", transfer, r.Objective, o.Value, err)
		}
		if _, err := dagexact.Search.Solve(context.Background(), d, model.Settings{Start: &model.Schedule{}}); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s: an empty start: error %v", transfer, err)
		}
	}
}

// The proved result doesn't depend on the number of threads.
func TestDAGSearchThreads(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 10))
	for k := range 12 {
		search := model.Solver(dagexact.Search)
		if k < 6 {
			search = fromPoor
		}
		d := randomDAG(rng, 14, 3, []float64{0, 0.15, 0.4}[k%3], 30, 30)
		var results []model.Result
		for _, threads := range []int{1, 2, 5} {
			r, err := search.Solve(context.Background(), d, model.Settings{Seed: 3, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			r.Elapsed, r.Nodes, r.Solution = 0, 0, nil
			results = append(results, r)
		}
		for _, r := range results[1:] {
			if diff := cmp.Diff(results[0], r, cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })); diff != "" {
				t.Errorf("instance %d: %s", k, diff)
			}
		}
	}
}

// stopAfter returns a context and settings that end it when the search reports
// more than the given number of nodes.
func stopAfter(t *testing.T, nodes int64) (context.Context, model.Settings) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, model.Settings{Seed: 1, Progress: func(p model.Progress) {
		if p.Nodes > nodes {
			cancel()
		}
	}}
}

// An interrupted search hands over a schedule and a bound that holds: from a poor
// start it was stopped at a better schedule, before its end.
func TestDAGSearchStops(t *testing.T) {
	t.Parallel()
	d := randomDAG(rand.New(rand.NewPCG(1, 1)), 80, 3, 0.04, 50, 60)
	ctx, set := stopAfter(t, 20)
	r, err := fromPoor.Solve(ctx, d, set)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != model.StatusFeasible || r.Reason != "interrupted" || r.Nodes < 20 || r.Nodes > 100_000 {
		t.Errorf("%s after %d nodes, reason %q", r.Status, r.Nodes, r.Reason)
	}
	if r.Solution == nil || !(r.Bound > 0) || r.Bound > r.Objective {
		t.Errorf("objective %v, bound %v", r.Objective, r.Bound)
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	r, err = dagexact.Search.Solve(cancelled, d, model.Settings{})
	if err != nil || r.Solution == nil || r.Status != model.StatusFeasible || r.Bound > r.Objective {
		t.Errorf("cancelled before it began: %s %v, bound %v: %v", r.Status, r.Objective, r.Bound, err)
	}
}

func TestDAGSearchEdgeCases(t *testing.T) {
	t.Parallel()
	one := 1.0
	for name, c := range map[string]struct {
		d    *model.DAG
		want float64
	}{
		"empty":       {&model.DAG{Machines: []model.Machine{{ID: "a"}}}, 0},
		"one task":    {&model.DAG{Machines: []model.Machine{{ID: "a", Speed: 4}, {ID: "b", Speed: 8}}, Tasks: []model.DAGTask{{ID: "x", Work: &one}}}, 0.125},
		"zero costs":  {testkit.DAG([][]float64{{0, 0}, {0, 0}, {0, 0}}, [][3]float64{{1, 2, 0}, {2, 3, 5}}), 0},
		"two parts":   {testkit.DAG([][]float64{{3, 9}, {9, 3}, {2, 9}, {9, 2}}, [][3]float64{{1, 3, 100}, {2, 4, 100}}), 5},
		"many exits":  {testkit.DAG([][]float64{{1, 1}, {4, 4}, {4, 4}}, [][3]float64{{1, 2, 2}, {1, 3, 2}}), 7},
		"129 tasks":   {testkit.DAG(make129(), nil), 129},
		"one machine": {testkit.DAG([][]float64{{1}, {2}, {3}}, [][3]float64{{1, 3, 9}}), 6},
	} {
		t.Run(name, func(t *testing.T) {
			for _, transfer := range model.TransferModels {
				c.d.TransferModel = transfer
				r, err := dagexact.Search.Solve(context.Background(), c.d, model.Settings{TimeLimit: 20 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				// Nothing is shared, so the models are the same except for TCP's reduction of each path: here only
				// "many exits" transfers data.
				want := c.want
				if name == "many exits" && transfer == model.TransferTCPAll {
					want = 1 + 2/0.75 + 4
				}
				if math.Abs(r.Objective-want) > 1e-9 || r.Status != model.StatusOptimal {
					t.Errorf("%s: %s %v, want %v", transfer, r.Status, r.Objective, want)
				}
				if report, err := verify.Verify(t.Context(), c.d, r.Solution, verify.Options{}); err != nil || !report.Feasible() {
					t.Errorf("%v %v", report, err)
				}
			}
		})
	}
}

// The bound includes TCP's reduction of a path's rate, under tcp-all of every path (Eq. 11): the search proves 12 on
// one machine; a plan without contention takes 11.5 across the link.
func TestDAGSearchPlannedLengths(t *testing.T) {
	t.Parallel()
	for transfer, want := range map[model.TransferModel][2]float64{ // makespan and bound
		model.TransferIdeal: {11.5, 11.5}, model.TransferFair: {11.5, 11.5}, model.TransferTCP: {12, 12}, model.TransferTCPAll: {12, 12}} {
		d := testkit.DAG([][]float64{{3, 9}, {9, 3}}, [][3]float64{{1, 2, 5.5}})
		d.TransferModel = transfer
		d.Network.Links = []model.Link{{ID: "b"}}
		d.Network.Routes = []model.Route{{From: "P1", To: "P2", Links: []string{"b"}}}
		r, err := dagexact.Search.Solve(t.Context(), d, model.Settings{})
		if err != nil || math.Abs(r.Objective-want[0]) > 1e-6 || math.Abs(r.Bound-want[1]) > 1e-6 {
			t.Errorf("%s: %v, at least %v, want %v: %v", transfer, r.Objective, r.Bound, want, err)
		}
		quick, err := dagbounds.All(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range quick {
			if b.Value > r.Objective*(1+1e-9) {
				t.Errorf("%s: %s is %v, above %v", transfer, b.Name, b.Value, r.Objective)
			}
		}
	}
}

func make129() [][]float64 {
	costs := make([][]float64, 129)
	for t := range costs {
		costs[t] = []float64{1}
	}
	return costs
}

// bestPlan is the least realistic makespan over all machines and all orders.
func bestPlan(d *model.DAG) float64 {
	g := view.OfDAG(d)
	r := dagplay.NewReplay(g)
	best := math.Inf(1)
	p := dagplay.Plan{Machine: make([]int32, g.Tasks), Order: make([][]int32, g.Machines)}
	done := make([]bool, g.Tasks)
	var walk func(left int)
	walk = func(left int) {
		if left == 0 {
			best = min(best, r.Run(p, nil))
			return
		}
		for t := range int32(g.Tasks) {
			ready := !done[t]
			for _, e := range g.Pred(t) {
				ready = ready && done[g.From[e]]
			}
			if !ready {
				continue
			}
			for m := range int32(g.Machines) {
				p.Machine[t], done[t] = m, true
				p.Order[m] = append(p.Order[m], t)
				walk(left - 1)
				p.Order[m] = p.Order[m][:len(p.Order[m])-1]
				done[t] = false
			}
		}
	}
	walk(g.Tasks)
	return best
}

// Under contention the search proves an optimum that is at least as good as every plan, and the
// judge agrees.
func TestDAGContentionAgainstBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	ctx := context.Background()
	held := 0
	for k := range 250 { // of them few hold transfers back
		d := tinyDAG(rng, 5)
		d.TransferModel = model.TransferModels[1+k%3]
		if len(d.Machines) > 1 {
			d.Network.Links = []model.Link{{ID: "l"}, {ID: "k", Capacity: 2}}
			for a := range d.Machines {
				for b := range a {
					if rng.IntN(4) > 0 {
						links := [][]string{{"l"}, {"k"}, {"l", "k"}}[rng.IntN(3)]
						d.Network.Routes = append(d.Network.Routes, model.Route{From: fmt.Sprint("P", a+1), To: fmt.Sprint("P", b+1), Links: links, OneWay: rng.IntN(2) == 0})
					}
				}
			}
		}
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		want := bestPlan(d)
		search := model.Solver(dagexact.Search)
		if k%2 == 0 {
			search = fromPoor
		}
		r, err := search.Solve(ctx, d, model.Settings{Seed: uint64(k)})
		if err != nil {
			t.Fatal(err)
		}
		if r.Objective > want*(1+1e-9) {
			t.Fatalf("instance %d: %v, the best plan takes %v", k, r.Objective, want)
		}
		if r.Objective < want*(1-1e-9) {
			held++ // transfers held back
		}
		if r.Status != model.StatusOptimal || r.Objective > r.Bound*(1+1e-6) {
			t.Fatalf("instance %d: %s at %v with the bound %v: %s", k, r.Status, r.Objective, r.Bound, r.Reason)
		}
		if report, err := verify.Verify(t.Context(), d, r.Solution, verify.Options{}); err != nil || !report.Feasible() {
			t.Fatalf("instance %d: %v %v", k, report, err)
		}
	}
	if held == 0 {
		t.Error("no schedule holds transfers back: the test has lost its teeth")
	}
}
