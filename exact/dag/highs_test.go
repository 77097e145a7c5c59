package dag_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// orderingDAG makes a DAG from costs and edges "from to data" of tasks numbered
// from 1.
func orderingDAG(costs [][]float64, edges [][3]float64) *model.DAG {
	d := &model.DAG{Name: "test", Network: model.Network{Bandwidth: 1}}
	for m := range costs[0] {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint("P", m+1)})
	}
	for t, c := range costs {
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t + 1), CostS: c})
	}
	for _, e := range edges {
		d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(e[0]), To: fmt.Sprint(e[1]), Data: e[2]})
	}
	return d
}

// tinyDAG draws a DAG that a brute force can solve: any number of entries,
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
	d := orderingDAG(costs, edges)
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

// bestSchedule is the least makespan over all machines and all orders, each
// task appended to its machine as early as its data allow.
func bestSchedule(d *model.DAG) float64 {
	g := d.Graph()
	best := math.Inf(1)
	finish, on, done := make([]float64, g.Tasks), make([]int32, g.Tasks), make([]bool, g.Tasks)
	free := make([]float64, g.Machines)
	var walk func(placed int, end float64)
	walk = func(placed int, end float64) {
		if end >= best {
			return
		}
		if placed == g.Tasks {
			best = end
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
				start := free[m]
				for _, e := range g.Pred(t) {
					p := g.From[e]
					start = max(start, finish[p]+g.Comm(e, on[p], m))
				}
				was := free[m]
				finish[t], on[t], done[t] = start+g.Cost[int(t)*g.Machines+int(m)], m, true
				free[m] = finish[t]
				walk(placed+1, max(end, finish[t]))
				free[m], done[t] = was, false
			}
		}
	}
	walk(0, 0)
	return best
}

func TestDAGHiGHSAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	ctx := context.Background()
	looser, most := 0, 5
	for k := range need.Rounds(3000) {
		if most = 5; k%10 == 0 {
			most = 6
		}
		d := tinyDAG(rng, most)
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		want := bestSchedule(d)
		r, err := dagexact.HiGHS{}.Solve(ctx, d, model.Settings{Seed: uint64(k)})
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
			bound, err := dagbounds.Relaxation(ctx, d, horizon)
			if err != nil {
				t.Fatalf("%d: relaxation: %v: %+v", k, err, d)
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
	tests := map[string]struct {
		d    *model.DAG
		want float64
	}{
		"six tasks": {orderingDAG([][]float64{{3, 5, 7}, {4, 8, 3}, {3, 4, 11}, {5, 8, 2}, {10, 3, 5}, {5, 8, 8}},
			[][3]float64{{1, 2, 3}, {1, 3, 4}, {2, 4, 2}, {2, 5, 5}, {3, 5, 7}, {4, 6, 3}, {5, 6, 6}}), 23},
		"ten tasks": {orderingDAG([][]float64{{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17}, {12, 13, 10}, {13, 16, 9}, {7, 15, 11}, {5, 11, 14}, {18, 12, 20}, {21, 7, 16}},
			[][3]float64{{1, 2, 18}, {1, 3, 12}, {1, 4, 9}, {1, 5, 11}, {1, 6, 14}, {2, 8, 19}, {2, 9, 16}, {3, 7, 23}, {4, 8, 27}, {4, 9, 23}, {5, 9, 13}, {6, 8, 15}, {7, 10, 17}, {8, 10, 11}, {9, 10, 13}}), 73},
		"one task":   {orderingDAG([][]float64{{3, 2, 4}}, nil), 2},
		"zero costs": {orderingDAG([][]float64{{0, 0}, {0, 0}, {0, 0}}, [][3]float64{{1, 2, 0}, {1, 3, 5}}), 0},
		"no task":    {&model.DAG{Machines: []model.Machine{{ID: "a"}}}, 0},
		"identical machines": {orderingDAG([][]float64{{3, 3, 3}, {3, 3, 3}, {2, 2, 2}, {2, 2, 2}, {2, 2, 2}, {4, 4, 4}, {1, 1, 1}, {5, 5, 5}, {4, 4, 4}},
			[][3]float64{{1, 3, 1}, {2, 4, 1}}), 9},
		"one real cost": {orderingDAG([][]float64{{0.1, 0.3}, {0.7, 0.2}, {0.1, 0.1}}, [][3]float64{{1, 2, 0.3}, {1, 3, 0.1}}), 0.5},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := dagexact.HiGHS{}.Solve(context.Background(), c.d, model.Settings{Threads: 2})
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

// A stopped run says so, and what it proved by then holds.
func TestDAGHiGHSStops(t *testing.T) {
	d := tinyDAG(rand.New(rand.NewPCG(1, 1)), 5)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	// On a path a look at the bounds is a proof; here it isn't.
	wide := randomDAG(rand.New(rand.NewPCG(1, 1)), 12, 3, 0.3, 30, 60)
	r, err := dagexact.HiGHS{}.Solve(ctx, wide, model.Settings{})
	if err != nil || r.Status == model.StatusOptimal || r.Reason == "" || r.Solution == nil {
		t.Errorf("%+v %v, want a schedule, no proof and a reason", r, err)
	}
	// A gap that any schedule meets stops it, too.
	r, err = dagexact.HiGHS{}.Solve(context.Background(), d, model.Settings{Gap: 0.5})
	if want := bestSchedule(d); err != nil || r.Status != model.StatusOptimal || r.Bound > want || r.Objective < want {
		t.Errorf("%+v %v, the optimum is %v", r, err, want)
	}
}

func TestDAGHiGHSErrors(t *testing.T) {
	large := &model.DAG{Machines: make([]model.Machine, 10), Tasks: make([]model.DAGTask, 1000)}
	one := orderingDAG([][]float64{{3, 2, 4}}, nil)
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
			_, err := dagexact.HiGHS{}.Solve(context.Background(), c.in, model.Settings{Start: c.start})
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %v with %q in one line", err, c.kind, c.want)
			}
		})
	}
}
