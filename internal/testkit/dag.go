package testkit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// DAG returns a DAG of tasks "1", "2", ... on machines "P1", "P2", ... with
// cost costs[t][m] in seconds and edges {from, to, data} between task numbers
// from 1, on a network of bandwidth 1.
func DAG(costs [][]float64, edges [][3]float64) *model.DAG {
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

// SixTasks returns the motivating example of Yousaf and Welzl, section 5.3,
// without contention: HEFT takes 25, the optimum is 23.
func SixTasks() *model.DAG {
	return DAG([][]float64{{3, 5, 7}, {4, 8, 3}, {3, 4, 11}, {5, 8, 2}, {10, 3, 5}, {5, 8, 8}},
		[][3]float64{{1, 2, 3}, {1, 3, 4}, {2, 4, 2}, {2, 5, 5}, {3, 5, 7}, {4, 6, 3}, {5, 6, 6}})
}

// TenTasks returns the example of Topcuoglu, Hariri and Wu 2002: HEFT takes 80,
// the optimum is 73.
func TenTasks() *model.DAG {
	return DAG([][]float64{{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17}, {12, 13, 10}, {13, 16, 9}, {7, 15, 11}, {5, 11, 14}, {18, 12, 20}, {21, 7, 16}},
		[][3]float64{{1, 2, 18}, {1, 3, 12}, {1, 4, 9}, {1, 5, 11}, {1, 6, 14}, {2, 8, 19}, {2, 9, 16}, {3, 7, 23}, {4, 8, 27}, {4, 9, 23}, {5, 9, 13}, {6, 8, 15}, {7, 10, 17}, {8, 10, 11}, {9, 10, 13}})
}

// RandomDAG draws a valid DAG of n tasks on m machines without contention, from
// one of many families of costs, machines, graphs, data and networks, which its
// name tells: small and whole figures, ties, zeros, tenths, thirds, any floats,
// ratios of 10^9, 10^-20 to 10^20.
func RandomDAG(rng *rand.Rand, n, m int) *model.DAG {
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

// BruteDAG returns the least makespan of d without contention, by depth-first
// search of at most the given number of nodes, and whether that was enough.
//
// It appends tasks in the order of their starts, each to any machine as early as
// its data and the machine allow: the tasks of a semi-active schedule, sorted by
// start, then topologically, are appended so. A branch ends where the task's
// longest path of least costs ends no earlier than the best schedule found.
func BruteDAG(d *model.DAG, nodes int) (makespan float64, complete bool) {
	g := d.Graph()
	n, m := g.Tasks, g.Machines
	rest := make([]float64, n) // least time from a task's end to the schedule's
	for k := n - 1; k >= 0; k-- {
		t := g.Order[k]
		for _, e := range g.Succ(t) {
			s := g.To[e]
			rest[t] = max(rest[t], slices.Min(g.Cost[int(s)*m:][:m])+rest[s])
		}
	}
	best := math.Inf(1)
	finish, on, done, free := make([]float64, n), make([]int32, n), make([]bool, n), make([]float64, m)
	var walk func(left int, last, makespan float64)
	walk = func(left int, last, makespan float64) {
		if nodes--; nodes < 0 {
			return
		}
		if left == 0 {
			best = min(best, makespan)
			return
		}
		for _, t := range g.Order {
			if done[t] || slices.ContainsFunc(g.Pred(t), func(e int32) bool { return !done[g.From[e]] }) {
				continue
			}
			for a := range int32(m) {
				start := free[a]
				for _, e := range g.Pred(t) {
					start = max(start, finish[g.From[e]]+g.Comm(e, on[g.From[e]], a))
				}
				end := start + g.Cost[int(t)*m+int(a)]
				if start < last || end+rest[t] >= best {
					continue
				}
				before := free[a]
				done[t], on[t], finish[t], free[a] = true, a, end, end
				walk(left-1, start, max(makespan, end))
				done[t], free[a] = false, before
			}
		}
	}
	walk(n, 0, 0)
	return best, nodes >= 0
}
