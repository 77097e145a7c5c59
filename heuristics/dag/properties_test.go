// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

var solvers = map[string]detailed{"dls": listed(dls), "cpop": listed(cpop), "heft": tracedHEFT, "peft": listed(peft), "lookahead": listed(lookahead),
	"sinnen-sousa": sinnenSousa, "network-aware": networkAware, "improve": onRun(improve), "lns": onRun(searchNear)}

// onRun calls a heuristic with a run of its own.
func onRun(work func(*run.Run, *model.DAG) (*model.Schedule, error)) detailed {
	return func(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, []model.Round, error) {
		r := run.New(ctx, "test", d, set)
		s, err := work(r, d)
		if details, ok := r.Details.(*model.DAGDetails); ok {
			return s, details.Trace, err
		}
		return s, nil, err
	}
}

// random draws a DAG on a platform with all the features of the model.
func random(rng *rand.Rand, most int) *model.DAG {
	n, m := rng.IntN(most+1), 1+rng.IntN(4)
	d := &model.DAG{TransferModel: model.TransferModels[rng.IntN(4)], Network: model.Network{Bandwidth: float64(1 + rng.IntN(3))}}
	figure := func() float64 { return float64(rng.IntN(12)) }
	for k := range m {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint("P", k)})
		if rng.IntN(3) == 0 {
			d.Machines[k].StartupS = figure() / 4
		}
	}
	for l := range 3 {
		d.Network.Links = append(d.Network.Links, model.Link{ID: fmt.Sprint("l", l), Capacity: float64(rng.IntN(3))})
	}
	for a := range m {
		for b := range a {
			links := []string{"l0", "l1", "l2"}[:rng.IntN(4)]
			if rng.IntN(2) == 0 {
				d.Network.Routes = append(d.Network.Routes, model.Route{From: fmt.Sprint("P", a), To: fmt.Sprint("P", b), Links: links, OneWay: rng.IntN(2) == 0})
			}
		}
	}
	density := rng.Float64()
	for t := range n {
		c := make([]float64, m)
		for k := range c {
			c[k] = figure()
		}
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t), CostS: c})
		for s := range t {
			if rng.Float64() < density {
				d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(s), To: fmt.Sprint(t), Data: figure()})
			}
		}
	}
	rng.Shuffle(n, func(i, j int) { d.Tasks[i], d.Tasks[j] = d.Tasks[j], d.Tasks[i] })
	return d
}

// plainHEFT is HEFT as its paper has it, with lists and no shortcuts.
func plainHEFT(d *model.DAG) (machine []int32, start []float64) {
	g := view.OfDAG(d)
	c := newCosts(g, nil)
	rank := make([]float64, g.Tasks)
	var up func(t int32) float64
	up = func(t int32) float64 {
		longest := 0.0
		for _, e := range g.Succ(t) {
			longest = max(longest, c.comm[e]+up(g.To[e]))
		}
		rank[t] = c.mean[t] + longest
		return rank[t]
	}
	left := make([]int32, g.Tasks)
	for t := range left {
		left[t] = int32(t)
		up(int32(t))
	}
	machine, start = make([]int32, g.Tasks), make([]float64, g.Tasks)
	placed := make([]bool, g.Tasks)
	lines := make([]plainLine, g.Machines)
	for len(left) > 0 {
		// Take the highest rank among tasks with placed predecessors, the lowest number of equals.
		best := -1
		for k, t := range left {
			ready := true
			for _, e := range g.Pred(t) {
				ready = ready && placed[g.From[e]]
			}
			if ready && (best < 0 || less(rank[left[best]], rank[t])) {
				best = k
			}
		}
		t := left[best]
		left = slices.Delete(left, best, best+1)
		first := math.Inf(1)
		for m := range int32(g.Machines) {
			ready := 0.0
			for _, e := range g.Pred(t) {
				f := g.From[e]
				ready = max(ready, start[f]+g.Cost[int(f)*g.Machines+int(machine[f])]+g.Comm(e, machine[f], m))
			}
			cost := g.Cost[int(t)*g.Machines+int(m)]
			if at := lines[m].find(ready, cost); less(at+cost, first) {
				first, machine[t], start[t] = at+cost, m, at
			}
		}
		placed[t] = true
		if first > start[t] {
			lines[machine[t]] = append(lines[machine[t]], [2]float64{start[t], first})
			slices.SortFunc(lines[machine[t]], func(a, b [2]float64) int { return int(math.Copysign(1, a[0]-b[0])) })
		}
	}
	return machine, start
}

func TestHEFTAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for k := range 3000 {
		d := random(rng, 12)
		d.TransferModel = ""
		for i := range d.Tasks { // lists and gaps treat tasks of length 0 in ways of their own
			for m := range d.Tasks[i].CostS {
				d.Tasks[i].CostS[m]++
			}
		}
		if k%2 == 0 { // uniform: the shortcut
			d.Network.Routes, d.Network.Links = nil, nil
			for m := range d.Machines {
				d.Machines[m].StartupS = d.Machines[0].StartupS
			}
		}
		s := require.Value(HEFT(context.Background(), d, model.Settings{}))(t)
		machine, start := plainHEFT(d)
		var got []float64
		for i, x := range s.Tasks {
			got = append(got, x.StartS)
			require.Is(t, d.Machines[machine[i]].ID, x.Machine, "instance", k, "task", x.ID, "on")
		}
		if diff := cmp.Diff(start, got); diff != "" && len(start) > 0 {
			t.Fatalf("instance %d: %s", k, diff)
		}
	}
}

// No algorithm may break these rules: the network-aware HEFT isn't worse than HEFT, the local search than any but the
// neighbourhood search, and the same seed gives the same schedule.
func TestAlgorithmsOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	ctx := context.Background()
	for k := range require.Rounds(300) {
		d := random(rng, 10)
		value := map[string]float64{}
		for name, solve := range solvers {
			s, trace, err := solve(ctx, d, model.Settings{Seed: uint64(k)})
			if name == "lns" && d.Transfers() != model.TransferIdeal {
				continue
			}
			require.OK(t, err, "instance", k, name)
			o := require.Value(d.Objective(s))(t)
			value[name] = o.Value
			again, _, _ := solve(ctx, d, model.Settings{Seed: uint64(k)})
			if diff := cmp.Diff(s, again); diff != "" {
				t.Fatalf("instance %d, %s twice: %s", k, name, diff)
			}
			kept := math.Inf(1)
			for _, x := range trace {
				if x.Planned > x.Realistic*(1+1e-9) && name != "sinnen-sousa" {
					t.Fatalf("instance %d, %s: contention makes a plan shorter: %+v", k, name, x)
				}
				if x.Kept {
					kept = x.Realistic
				}
			}
			if len(trace) > 0 && math.Abs(kept-o.Value) > 1e-9*o.Value {
				t.Fatalf("instance %d, %s: kept %v, the schedule takes %v", k, name, kept, o.Value)
			}
		}
		if value["network-aware"] > value["heft"]*(1+1e-9) {
			t.Fatalf("instance %d: %v", k, value)
		}
		for name, v := range value {
			if value["improve"] > v*(1+1e-9) && name != "lns" || value["lns"] > v*(1+1e-9) {
				t.Fatalf("instance %d: %v", k, value)
			}
		}
	}
}

// A plan or holds that wait in a circle never end; a hold delays.
func TestReplayHolds(t *testing.T) {
	t.Parallel()
	g := view.OfDAG(sixTasks(model.TransferFair))
	p := require.Value(heft(context.Background(), g, nil))(t)
	r := dagplay.NewReplay(g)
	const e25, e35, e46 = 3, 4, 5
	for name, c := range map[string]struct {
		holds []dagplay.Hold
		want  float64
	}{
		"none":          {nil, 32},
		"4-6 last":      {[]dagplay.Hold{{Edge: e46, After: e25}}, 18 + 11}, // 3-5 and 2-5 share from 9 on, 2-5 ends at 18
		"2-5 after 3-5": {[]dagplay.Hold{{Edge: e25, After: e35}}, 21 + 11}, // 3-5 shares with 4-6 and ends at 15
		"circle":        {[]dagplay.Hold{{Edge: e25, After: e35}, {Edge: e35, After: e25}}, math.Inf(1)},
	} {
		if got := r.Run(p, c.holds); math.Abs(got-c.want) > 1e-9 && got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	q := p.Clone()
	slices.Reverse(q.Order[0]) // 3 before 1, which it needs
	if got := r.Run(q, nil); !math.IsInf(got, 1) {
		t.Errorf("a plan against the edges takes %v", got)
	}
}
