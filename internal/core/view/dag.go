// SPDX-License-Identifier: MIT

package view

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/model"
)

// Graph is a model.DAG as arrays, for programs that walk it: tasks, machines, edges
// and links by number. It is not changed after it is made; any number of
// goroutines may read it.
type Graph struct {
	Tasks, Machines int
	Cost            []float64 // seconds; of task t on machine m at [t*Machines+m], +Inf if it can't run there, for want of room, too
	From, To        []int32   // tasks of each edge
	// Data are data units of each edge; if it has files, of the largest one: it takes as long as that alone, see Comm.
	Data []float64
	// Load are the data that links carry for each edge and for no other one, if its tasks are on two machines: those of
	// the files of which it is the first edge. Such a file gets to the consumer's machine between the producer's end plus
	// start-up and the consumer's start, in a transfer that counts for no other edge: edges before it don't have the file,
	// and later ones don't count it. So bounds may add up Load on links. Sum are all data of each edge.
	Load, Sum []float64
	Files     *Files // nil if no edge has files
	Room      *Rooms // of machines that run several tasks at once; nil: each runs one at a time

	// Edges into and out of task t, ascending: see Pred and Succ.
	predAt, predEdges, succAt, succEdges []int32

	Order   []int32   // tasks in topological order; of several ready ones the lowest number first
	startup []float64 // L of each machine, seconds
	weight  []int64   // of transfers from machine m to n, at [m*Machines+n]; nil: all 1
	latency []float64 // of the route from machine m to n, seconds, at [m*Machines+n]; nil if no route has one
	// Rate is the planned rate from machine m to n, in data units per second, at [m*Machines+n], 0 without a path; see
	// TransferModel. On the diagonal it is the machine's own, +Inf if data take no time within it.
	Rate    []float64
	Local   bool // data take time within some machine
	Sparse  bool // some machines have no path to some others
	Uniform bool // all paths have one start-up and one rate above 0, and no machine has a rate of its own

	Links    []float64 // capacities, data units per second
	routes   [][]int32 // links from machine m to n at [m*Machines+n]
	Transfer model.TransferModel
}

// Runs reports whether task t can run on machine m.
func (g *Graph) Runs(t, m int32) bool { return !math.IsInf(g.Cost[int(t)*g.Machines+int(m)], 1) }

// Pred returns the edges into task t.
func (g *Graph) Pred(t int32) []int32 { return g.predEdges[g.predAt[t]:g.predAt[t+1]] }

// Succ returns the edges out of task t.
func (g *Graph) Succ(t int32) []int32 { return g.succEdges[g.succAt[t]:g.succAt[t+1]] }

// Route returns the links on the path from machine m to n.
func (g *Graph) Route(m, n int32) []int32 { return g.routes[int(m)*g.Machines+int(n)] }

// Interchangeable reports whether there are several machines that run one task at a time, each task costs the same on
// all, and data take no time between any two. Any machine can then replace any other. O(tasks machines + edges machines²).
func (g *Graph) Interchangeable() bool {
	if g.Room != nil {
		return false
	}
	for t := range g.Tasks {
		costs := g.Cost[t*g.Machines:][:g.Machines]
		if slices.Min(costs) < slices.Max(costs) {
			return false
		}
	}
	for e := range int32(len(g.Data)) {
		for m := range int32(g.Machines) {
			for n := range int32(g.Machines) {
				if g.Comm(e, m, n) > 0 {
					return false
				}
			}
		}
	}
	return g.Machines > 1
}

// Comm returns the contention-free time of edge e from machine m to n in seconds
// (Eq. 6; under TransferTCPAll Eq. 11); +Inf without a path; within a machine data over its own rate, mostly 0.
func (g *Graph) Comm(e, m, n int32) float64 {
	if m == n {
		if !g.Local {
			return 0
		}
		return g.Data[e] / g.Rate[int(m)*g.Machines+int(m)]
	}
	return g.Send(g.Data[e], m, n)
}

// Send returns the contention-free time of data from machine m to another one, n, in seconds; +Inf without a path.
func (g *Graph) Send(data float64, m, n int32) float64 {
	rate := g.Rate[int(m)*g.Machines+int(n)]
	if rate == 0 {
		return math.Inf(1)
	}
	return g.Startup(m, n) + data/rate
}

// Startup returns the seconds before a transfer from machine m to another one, n, begins to send: the sender's start-up
// and the route's latency.
func (g *Graph) Startup(m, n int32) float64 {
	if g.latency == nil {
		return g.startup[m]
	}
	return g.startup[m] + g.latency[int(m)*g.Machines+int(n)]
}

// Weight returns the weight of transfers from machine m to n, see model.Route.
func (g *Graph) Weight(m, n int32) int64 {
	if g.weight == nil {
		return 1
	}
	return g.weight[int(m)*g.Machines+int(n)]
}

// Startups returns the least start-up of a transfer from each machine to any other that it has a path to, in seconds; of
// a machine without paths its own. O(M²), O(M) if no route has a latency.
func (g *Graph) Startups() []float64 {
	if g.latency == nil {
		return g.startup
	}
	least := make([]float64, g.Machines)
	for m := range int32(g.Machines) {
		least[m] = math.Inf(1)
		for n := range int32(g.Machines) {
			if m != n && g.Rate[int(m)*g.Machines+int(n)] > 0 {
				least[m] = min(least[m], g.Startup(m, n))
			}
		}
		if math.IsInf(least[m], 1) {
			least[m] = g.startup[m]
		}
	}
	return least
}

// MeanStartup returns the mean start-up of the machines and, added to it, the mean latency of the paths between them, in
// seconds. O(M²), O(M) if no route has a latency.
func (g *Graph) MeanStartup() float64 {
	mean, latency, paths := 0.0, 0.0, 0
	for _, s := range g.startup {
		mean += s
	}
	mean /= float64(g.Machines)
	for k, x := range g.latency {
		if k%(g.Machines+1) > 0 && g.Rate[k] > 0 {
			latency += x
			paths++
		}
	}
	return mean + latency/float64(max(1, paths))
}

// OfDAG returns the arrays of a valid DAG. O(V M + E + M² + routes).
//
// The rate of a path is its capacity, by default the bandwidth, and at most the
// capacity of each link on its route; under TransferTCPAll the share of it that one
// TCP connection gets.
func OfDAG(d *model.DAG) *Graph {
	n, m := len(d.Tasks), len(d.Machines)
	g := &Graph{Tasks: n, Machines: m, Cost: make([]float64, n*m), Transfer: d.Transfers(),
		Data:    make([]float64, len(d.Edges)),
		startup: make([]float64, m), Rate: make([]float64, m*m), routes: make([][]int32, m*m)}
	for t := range d.Tasks {
		if d.Tasks[t].Work == nil && len(d.Resources) == 0 {
			copy(g.Cost[t*m:], d.Tasks[t].CostS)
			continue
		}
		for k := range m {
			g.Cost[t*m+k] = d.Cost(t, k)
		}
	}
	g.From, g.To = d.EdgeTasks()
	for e := range d.Edges {
		g.Data[e] = d.Edges[e].Data
	}
	g.rooms(d)
	g.files(d)
	g.predAt, g.predEdges = byTask(n, g.To)
	g.succAt, g.succEdges = byTask(n, g.From)
	g.order()
	g.network(d)
	return g
}

// byTask groups the edges by one of their ends.
func byTask(n int, end []int32) (at, edges []int32) {
	at, edges = make([]int32, n+1), make([]int32, len(end))
	for _, t := range end {
		at[t+1]++
	}
	for t := range n {
		at[t+1] += at[t]
	}
	next := append([]int32(nil), at[:n]...)
	for e, t := range end {
		edges[next[t]] = int32(e)
		next[t]++
	}
	return at, edges
}

func (g *Graph) order() {
	missing := make([]int32, g.Tasks)
	ready := heap.Heap[int32]{Less: func(a, b int32) bool { return a < b }}
	for t := range missing {
		if missing[t] = int32(len(g.Pred(int32(t)))); missing[t] == 0 {
			ready.Push(int32(t))
		}
	}
	g.Order = make([]int32, 0, g.Tasks)
	for ready.Len() > 0 {
		t := ready.Pop()
		g.Order = append(g.Order, t)
		for _, e := range g.Succ(t) {
			s := g.To[e]
			if missing[s]--; missing[s] == 0 {
				ready.Push(s)
			}
		}
	}
}

func (g *Graph) network(d *model.DAG) {
	m, net := g.Machines, &d.Network
	machine := make(map[string]int, m)
	for k := range d.Machines {
		machine[d.Machines[k].ID] = k
		g.startup[k] = d.Machines[k].StartupS
	}
	link := make(map[string]int32, len(net.Links))
	for l, x := range net.Links {
		link[x.ID] = int32(l)
		if x.Capacity == 0 {
			x.Capacity = net.Bandwidth
		}
		g.Links = append(g.Links, x.Capacity)
	}
	for a := range m {
		for b := range m {
			switch {
			case a == b && d.Machines[a].LocalRate > 0:
				g.Rate[a*m+b], g.Local = d.Machines[a].LocalRate, true
			case a == b:
				g.Rate[a*m+b] = math.Inf(1)
			case net.PathCapacity != nil:
				g.Rate[a*m+b] = net.PathCapacity[a][b]
			default:
				g.Rate[a*m+b] = net.Bandwidth
			}
		}
	}
	for _, r := range net.Routes {
		var links []int32
		for _, id := range r.Links {
			links = append(links, link[id])
		}
		a, b := machine[r.From], machine[r.To]
		ends := [][2]int{{a, b}, {b, a}}
		if r.OneWay {
			ends = ends[:1]
		}
		for _, p := range ends {
			k := p[0]*m + p[1]
			if g.routes[k] = links; r.LatencyS > 0 {
				if g.latency == nil {
					g.latency = make([]float64, m*m)
				}
				g.latency[k] = r.LatencyS
			}
			if r.Weight > 1 {
				if g.weight == nil {
					g.weight = slices.Repeat([]int64{1}, m*m)
				}
				g.weight[k] = r.Weight
			}
			for _, l := range links {
				g.Rate[k] = min(g.Rate[k], g.Links[l])
			}
		}
	}
	if g.Transfer == model.TransferTCPAll {
		for k := range g.Rate {
			if k%(m+1) > 0 {
				g.Rate[k] *= model.TCPShare(1)
			}
		}
	}
	g.Sparse = slices.Contains(g.Rate, 0)
	g.Uniform = !g.Local && !g.Sparse
	for a := range m {
		for b := range m {
			if a != b && (g.Rate[a*m+b] != g.Rate[1] || g.Startup(int32(a), int32(b)) != g.Startup(0, 1)) {
				g.Uniform = false
			}
		}
	}
}
