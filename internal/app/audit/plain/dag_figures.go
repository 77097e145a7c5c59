// SPDX-License-Identifier: MIT

package plain

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// dagFigures holds an instance in arrays. It is made without view.Graph, which
// the solvers use.
type dagFigures struct {
	in      *model.DAG
	whole   bool        // all times are whole and their sum is exact
	cost    [][]float64 // by task and machine
	rate    [][]float64 // by machines
	startup [][]float64 // before data are sent, by machines
	needs   [][][]int64 // by task, machine and resource; nil without resources: machines run one task at a time
	// The work of a task, by resource, task and machine: its cost times the share of the machine that it takes; without
	// resources all of it.
	takes        [][][]float64
	data         []float64   // of each edge, of its largest file
	from, to     []int       // tasks of each edge
	preds, succs [][]int     // edges into and out of each task
	order        []int       // topological
	twin         []int       // the last task before t in the order that the instance doesn't distinguish from t, or -1
	alike        [][]int     // machines before k that the instance doesn't distinguish from k
	ahead        [][]float64 // least time from a task's end on a machine to the end of all
	rest         [][]float64 // sum of the least work of order[i:], of each resource
}

// length returns the seconds of edge e's transfer from machine a to b.
func (f *dagFigures) length(e, a, b int) float64 {
	if a == b && f.in.Machines[a].LocalRate > 0 {
		return f.data[e] / f.in.Machines[a].LocalRate
	}
	if a == b {
		return 0
	}
	if f.rate[a][b] == 0 {
		return math.Inf(1)
	}
	return f.startup[a][b] + f.data[e]/f.rate[a][b]
}

func readDAG(in *model.DAG) dagFigures {
	n, m := len(in.Tasks), len(in.Machines)
	f := dagFigures{in: in, preds: make([][]int, n), succs: make([][]int, n), twin: make([]int, n), ahead: make([][]float64, n)}
	task := map[string]int{}
	for t, x := range in.Tasks {
		task[x.ID] = t
		costs := x.CostS
		if x.Work != nil {
			costs = nil
			for _, y := range in.Machines {
				costs = append(costs, *x.Work/y.Speed)
			}
		}
		f.cost = append(f.cost, costs)
	}
	f.readNeeds()
	for e, x := range in.Edges {
		f.from, f.to, f.data = append(f.from, task[x.From]), append(f.to, task[x.To]), append(f.data, x.Data)
		if len(x.Files) > 0 {
			f.data[e] = 0
		}
		for _, size := range x.Files {
			f.data[e] = max(f.data[e], size)
		}
		f.succs[task[x.From]] = append(f.succs[task[x.From]], e)
		f.preds[task[x.To]] = append(f.preds[task[x.To]], e)
	}
	f.readRates()
	missing := make([]int, n)
	for t := range n {
		if missing[t] = len(f.preds[t]); missing[t] == 0 {
			f.order = append(f.order, t)
		}
	}
	for i := 0; i < len(f.order); i++ {
		for _, e := range f.succs[f.order[i]] {
			if missing[f.to[e]]--; missing[f.to[e]] == 0 {
				f.order = append(f.order, f.to[e])
			}
		}
	}
	last := map[string]int{}
	for _, t := range f.order {
		if w, ok := last[f.key(t)]; ok {
			f.twin[t] = w
		} else {
			f.twin[t] = -1
		}
		last[f.key(t)] = t
	}
	for i, t := range slices.Backward(f.order) {
		for r := range f.rest {
			f.rest[r][i] = f.rest[r][i+1] + slices.Min(f.takes[r][t])
		}
		f.ahead[t] = make([]float64, m)
		for k := range m {
			for _, e := range f.succs[t] {
				least := math.Inf(1)
				for j := range m {
					least = min(least, f.length(e, k, j)+f.cost[f.to[e]][j]+f.ahead[f.to[e]][j])
				}
				f.ahead[t][k] = max(f.ahead[t][k], least)
			}
		}
	}
	f.alike = make([][]int, m)
	for k := range m {
		for j := range k {
			if f.same(j, k) {
				f.alike[k] = append(f.alike[k], j)
			}
		}
	}
	f.whole = f.allWhole()
	return f
}

// readNeeds reads the resources. A task that needs more than a machine has can't run there.
func (f *dagFigures) readNeeds() {
	work := func(part func(t, k int) float64) {
		all := make([][]float64, len(f.cost))
		for t := range all {
			for k, c := range f.cost[t] {
				if !math.IsInf(c, 1) {
					c *= part(t, k)
				}
				all[t] = append(all[t], c)
			}
		}
		f.takes, f.rest = append(f.takes, all), append(f.rest, make([]float64, len(f.cost)+1))
	}
	if len(f.in.Resources) == 0 {
		work(func(int, int) float64 { return 1 })
		return
	}
	for t := range f.cost {
		x := &f.in.Tasks[t]
		f.needs, f.cost[t] = append(f.needs, nil), slices.Clone(f.cost[t])
		for k, y := range f.in.Machines {
			needs := x.Needs
			if own, ok := x.NeedsOn[y.ID]; ok {
				needs = own
			}
			f.needs[t] = append(f.needs[t], needs)
			for r, n := range needs {
				if n > y.Capacity[r] {
					f.cost[t][k] = math.Inf(1)
				}
			}
		}
	}
	for r := range f.in.Resources {
		work(func(t, k int) float64 {
			if n := f.needs[t][k][r]; n > 0 {
				return float64(n) / float64(f.in.Machines[k].Capacity[r])
			}
			return 0
		})
	}
}

// shares reports whether the routes of an instance name links.
func shares(in *model.DAG) bool {
	return slices.ContainsFunc(in.Network.Routes, func(r model.Route) bool { return len(r.Links) > 0 })
}

// readRates finds the rate of each path: its capacity, by default the bandwidth, and at most the capacity of each link
// on its route. Under tcp-all it is 3/4 of it (Eq. 10 for one connection, and Eq. 11).
func (f *dagFigures) readRates() {
	net, machine, capacity := &f.in.Network, map[string]int{}, map[string]float64{}
	for a, x := range f.in.Machines {
		machine[x.ID] = a
		row := slices.Repeat([]float64{net.Bandwidth}, len(f.in.Machines))
		if net.PathCapacity != nil {
			row = slices.Clone(net.PathCapacity[a])
		}
		f.rate, f.startup = append(f.rate, row), append(f.startup, slices.Repeat([]float64{x.StartupS}, len(f.in.Machines)))
	}
	for _, l := range net.Links {
		if capacity[l.ID] = l.Capacity; l.Capacity == 0 {
			capacity[l.ID] = net.Bandwidth
		}
	}
	for _, r := range net.Routes {
		a, b := machine[r.From], machine[r.To]
		if f.startup[a][b] += r.LatencyS; !r.OneWay {
			f.startup[b][a] += r.LatencyS
		}
		for _, l := range r.Links {
			f.rate[a][b] = min(f.rate[a][b], capacity[l])
			if !r.OneWay {
				f.rate[b][a] = min(f.rate[b][a], capacity[l])
			}
		}
	}
	if f.in.Transfers() == model.TransferTCPAll {
		for _, row := range f.rate {
			for b := range row {
				row[b] *= 0.75
			}
		}
	}
}

// key returns the same text for tasks with the same costs, needs, predecessors,
// successors and data.
func (f *dagFigures) key(t int) string {
	var ends [2][]string
	for _, e := range f.preds[t] {
		ends[0] = append(ends[0], fmt.Sprint(f.from[e], f.data[e]))
	}
	for _, e := range f.succs[t] {
		ends[1] = append(ends[1], fmt.Sprint(f.to[e], f.data[e]))
	}
	slices.Sort(ends[0])
	slices.Sort(ends[1])
	needs := ""
	if f.needs != nil {
		needs = fmt.Sprint(f.needs[t])
	}
	return fmt.Sprintf("%v %s %q %q", f.cost[t], needs, ends[0], ends[1])
}

// same reports whether exchanging machines j and k leaves the instance as it is.
func (f *dagFigures) same(j, k int) bool {
	for t, c := range f.cost {
		if c[j] != c[k] || f.needs != nil && !slices.Equal(f.needs[t][j], f.needs[t][k]) {
			return false
		}
	}
	for x := range f.rate {
		if x != j && x != k && (f.rate[j][x] != f.rate[k][x] || f.rate[x][j] != f.rate[x][k] ||
			f.startup[j][x] != f.startup[k][x] || f.startup[x][j] != f.startup[x][k]) {
			return false
		}
	}
	return slices.Equal(f.in.Machines[j].Capacity, f.in.Machines[k].Capacity) && f.startup[j][k] == f.startup[k][j] && f.rate[j][k] == f.rate[k][j] &&
		f.in.Machines[j].LocalRate == f.in.Machines[k].LocalRate
}

func (f *dagFigures) allWhole() bool {
	sum := 0.0
	add := func(x float64) bool { sum += x; return x == math.Trunc(x) }
	for t := range f.cost {
		for _, c := range f.cost[t] {
			if !math.IsInf(c, 1) && !add(c) {
				return false
			}
		}
	}
	for e := range f.from {
		for a := range f.rate {
			for b := range f.rate {
				if x := f.length(e, a, b); !math.IsInf(x, 1) && !add(x) {
					return false
				}
			}
		}
	}
	return sum*float64(len(f.rate)) < exactSum
}

// schedule starts each task at its time, and each transfer when its task ends.
func (f *dagFigures) schedule(machine []int, start []float64) *model.Schedule {
	machines, sent := make([]int32, len(machine)), make([]float64, len(f.from))
	for t, k := range machine {
		machines[t] = int32(k)
	}
	for e, t := range f.from {
		sent[e] = start[t] + f.cost[t][machine[t]]
	}
	return f.in.Schedule(machines, start, sent)
}

// tails returns, for each task, the least time from its end to the end of the
// schedule on the given machines, in seconds.
func (f *dagFigures) tails(machine []int) []float64 {
	tail := make([]float64, len(machine))
	for _, t := range slices.Backward(f.order) {
		for _, e := range f.succs[t] {
			u := f.to[e]
			tail[t] = max(tail[t], f.length(e, machine[t], machine[u])+f.cost[u][machine[u]]+tail[u])
		}
	}
	return tail
}
