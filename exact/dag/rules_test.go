package dag

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
)

// drawDAG draws a DAG of n tasks on m machines from one of many families of
// costs, graphs and networks, ugly ones among them.
func drawDAG(rng *rand.Rand, n, m int) *model.DAG {
	d := &model.DAG{Network: model.Network{Bandwidth: 1}}
	for a := range m {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint("P", a)})
	}
	figures := []struct {
		name string
		draw func() float64
	}{
		{"small", func() float64 { return float64(rng.IntN(10)) }},
		{"whole", func() float64 { return float64(1 + rng.IntN(30)) }},
		{"ties", func() float64 { return float64(1 + rng.IntN(2)) }},
		{"zeros", func() float64 { return float64(max(0, rng.IntN(8)-4)) }},
		{"tenths", func() float64 { return float64(rng.IntN(50)) / 10 }},
		{"thirds", func() float64 { return float64(float32(1+rng.IntN(20)) / 3) }},
		{"floats", func() float64 { return rng.Float64() * 10 }},
		{"ratios", func() float64 { return math.Round(math.Pow(10, 9*rng.Float64())) }},
		{"extreme", func() float64 { return math.Pow(10, float64(rng.IntN(40)-20)) }},
		{"large", func() float64 { return float64(1e6 * (1 + rng.IntN(20))) }},
	}
	f := figures[rng.IntN(len(figures))]
	speeds := make([]float64, m)
	for a := range speeds {
		speeds[a] = float64(1 + rng.IntN(3))
	}
	machines := []string{"unrelated", "unrelated", "identical", "related", "twins", "one good"}[rng.IntN(6)]
	for t := range n {
		c := make([]float64, m)
		base := f.draw()
		for a := range c {
			switch machines {
			case "unrelated":
				c[a] = f.draw()
			case "identical":
				c[a] = base
			case "related":
				c[a] = base / speeds[a]
			case "twins": // in pairs
				if c[a] = f.draw(); a%2 == 1 {
					c[a] = c[a-1]
				}
			case "one good":
				if c[a] = f.draw(); rng.IntN(3) == 0 {
					c[a] *= 1000
				}
			}
		}
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint("t", t), CostS: c})
	}
	graph := []string{"none", "chains", "in-tree", "out-tree", "join", "fork", "random", "random", "random", "layers"}[rng.IntN(10)]
	data := []string{"none", "same", "long", "few"}[rng.IntN(4)]
	edge := func(from, to int) {
		x := f.draw()
		switch data {
		case "none":
			x = 0
		case "long":
			x *= 3
		case "few":
			if rng.IntN(3) > 0 {
				x = 0
			}
		}
		d.Edges = append(d.Edges, model.DAGEdge{From: d.Tasks[from].ID, To: d.Tasks[to].ID, Data: x})
	}
	density, layer := rng.Float64(), 1+rng.IntN(4)
	for t := 1; t < n; t++ {
		switch graph {
		case "chains":
			if t >= layer {
				edge(t-layer, t)
			}
		case "in-tree":
			if t < n-1 || n == 2 {
				edge(t-1, t+rng.IntN(n-t))
			} else {
				edge(t-1, t)
			}
		case "out-tree":
			edge(rng.IntN(t), t)
		case "join":
			if edge(t-1, n-1); t == n-1 && rng.IntN(2) == 0 {
				d.Edges = d.Edges[1:]
			}
		case "fork":
			edge(0, t)
		case "random":
			for s := range t {
				if rng.Float64() < density {
					edge(s, t)
				}
			}
		case "layers":
			for s := range t {
				if s/layer+1 == t/layer && rng.IntN(2) == 0 {
					edge(s, t)
				}
			}
		}
	}
	network := []string{"uniform", "uniform", "startups", "paths", "symmetric"}[rng.IntN(5)]
	switch network {
	case "startups":
		for a := range d.Machines {
			d.Machines[a].StartupS = float64(rng.IntN(4))
		}
		d.Network.Bandwidth = 0.3
	case "paths", "symmetric":
		rates := make([][]float64, m)
		for a := range rates {
			rates[a] = make([]float64, m)
			for b := range rates[a] {
				if rates[a][b] = []float64{0.25, 0.5, 1, 2, 4}[rng.IntN(5)]; network == "symmetric" && b < a {
					rates[a][b] = rates[b][a]
				}
			}
		}
		d.Network.PathCapacity = rates
	}
	// Tasks in any order.
	for i := len(d.Tasks) - 1; i > 0; i-- {
		j := rng.IntN(i + 1)
		d.Tasks[i], d.Tasks[j] = d.Tasks[j], d.Tasks[i]
	}
	d.Name = fmt.Sprint(n, "x", m, " ", f.name, " ", machines, " ", graph, " ", data, " ", network)
	return d
}

// plainDAG is the least makespan by depth-first search over the orders of
// starts, with the critical path as the only bound.
func plainDAG(g *model.Graph, most int) (float64, bool) {
	n, m := g.Tasks, g.Machines
	tail := make([]float64, n) // with the task itself
	for k := n - 1; k >= 0; k-- {
		t := g.Order[k]
		for _, e := range g.Succ(t) {
			tail[t] = max(tail[t], tail[g.To[e]])
		}
		tail[t] += slices.Min(g.Cost[int(t)*m:][:m])
	}
	best := math.Inf(1)
	end, on, done, free := make([]float64, n), make([]int32, n), make([]bool, n), make([]float64, m)
	var walk func(left int, last, makespan float64)
	walk = func(left int, last, makespan float64) {
		if most--; most < 0 {
			return
		}
		if left == 0 {
			best = min(best, makespan)
			return
		}
		for _, t := range g.Order {
			ready := !done[t]
			for _, e := range g.Pred(t) {
				ready = ready && done[g.From[e]]
			}
			if !ready {
				continue
			}
			for a := range int32(m) {
				start := free[a]
				for _, e := range g.Pred(t) {
					start = max(start, end[g.From[e]]+g.Comm(e, on[g.From[e]], a))
				}
				c := g.Cost[int(t)*m+int(a)]
				if start < last || start+c+tail[t]-slices.Min(g.Cost[int(t)*m:][:m]) >= best {
					continue
				}
				was := free[a]
				done[t], on[t], end[t], free[a] = true, a, start+c, start+c
				walk(left-1, start, max(makespan, start+c))
				done[t], free[a] = false, was
			}
		}
	}
	walk(n, 0, 0)
	return best, most >= 0
}

// poorPlan puts tasks on random machines in topological order: from there a
// search has far to go, and whatever it drops wrongly shows.
func poorPlan(rng *rand.Rand, g *model.Graph) dagheur.Plan {
	p := dagheur.Plan{Machine: make([]int32, g.Tasks), Order: make([][]int32, g.Machines)}
	for _, t := range g.Order {
		a := int32(rng.IntN(g.Machines))
		p.Machine[t] = a
		p.Order[a] = append(p.Order[a], t)
	}
	return p
}

// tunings force the search into each of its phases.
var tunings = map[string]tuning{
	"levels":          {block: 1 << 26, levels: true},
	"blocks":          {block: 4000, levels: true},
	"narrow beams":    {widths: []int{1, 2, 5}, block: 1 << 26, levels: true},
	"assigner":        {block: 1 << 26, assignSteps: 100, assignNodes: []int64{1 << 20}, leafWidth: 2000, levels: true},
	"assigner, leafs": {block: 1 << 26, assignSteps: 100, assignNodes: []int64{1 << 20}, leafWidth: 1, levels: true},
	"few nodes":       {widths: []int{1}, block: 1 << 26, assignSteps: 3, assignNodes: []int64{5, 50}, leafWidth: 2, levels: true},
}

// searchFrom searches from a plan and a lower bound and returns what it found
// and what it proved. As ticks are made for the horizon that the plan gives, it
// searches again from a plan that is much better.
func searchFrom(d *model.DAG, g *model.Graph, plan dagheur.Plan, lower float64, tuning tuning, threads int) (*dagSearch, error) {
	s := &dagSearch{ctx: context.Background(), d: d, g: g, set: model.Settings{Threads: threads}, tuning: tuning, plan: plan, lower: lower}
	s.upper = dagheur.NewReplay(g).Run(plan, nil)
	if s.closed() {
		return s, nil
	}
	for {
		was := s.upper
		if err := s.search(); err != nil || s.closed() || s.upper > was/2 {
			return s, err
		}
	}
}

// checkDAGRules solves random instances by every phase, with no rule off, each
// rule off, and all off, and holds the results against plainDAG.
func checkDAGRules(t *testing.T, seed uint64, count, least, most int) (compared int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	names := []string{"levels", "blocks", "narrow beams", "assigner", "assigner, leafs", "few nodes"}
	for k := range count {
		n := least + rng.IntN(most-least+1)
		d := drawDAG(rng, n, 1+rng.IntN(4))
		if err := d.Validate(); err != nil {
			t.Fatal(d.Name, err)
		}
		g := d.Graph()
		want, whole := plainDAG(g, 300_000)
		if !whole {
			continue
		}
		for _, name := range names {
			off := deviceSet(0)
			switch r := rng.IntN(20); {
			case r < 14:
				off = 1 << rng.IntN(13)
			case r < 15 && n <= 6:
				off = droppingDevices | devListOrder
			}
			lower := 0.0
			for _, b := range dagbounds.Quick(g) {
				lower = max(lower, b.Value)
			}
			if lower > want*(1+1e-12) {
				t.Fatalf("instance %d.%d (%s): bound %v, optimum %v", seed, k, d.Name, lower, want)
			}
			tuning := tunings[name]
			tuning.off = off
			if rng.IntN(2) == 0 && tuning.assignSteps == 0 {
				lower = 0
			}
			s, err := searchFrom(d, g, poorPlan(rng, g), lower, tuning, 1+k%2)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if s.upper < want*(1-1e-12) || model.Gap(s.upper, want) > 1e-6 || s.lower > want*(1+1e-12) || model.Gap(want, s.lower) > 1e-6 {
				t.Errorf("instance %d.%d (%s), %s, without the rules %b: found %v, proved %v, the optimum is %v", seed, k, d.Name, name, off, s.upper, s.lower, want)
				return compared
			}
		}
	}
	return compared
}

func TestDAGRules(t *testing.T) {
	t.Log(checkDAGRules(t, 1, 300, 2, 7), "comparisons")
}
