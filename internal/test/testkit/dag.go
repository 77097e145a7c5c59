// SPDX-License-Identifier: MIT

package testkit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
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

// RandomDAG draws a valid DAG of n tasks on m machines without contention, from one of
// many families of costs, machines, graphs, data and networks, most of which its name tells.
func RandomDAG(rng *rand.Rand, n, m int) *model.DAG {
	d := &model.DAG{Edges: []model.DAGEdge{}}
	cost, data := pick(rng), pick(rng)
	if rng.IntN(40) == 0 {
		extreme := Figures{"from 1e-20 to 1e20", func(rng *rand.Rand) float64 { return math.Pow(10, float64(rng.IntN(40)-20)) }}
		cost, data = extreme, extreme
	}
	for a := range m {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint("P", a+1)})
		if rng.IntN(6) == 0 {
			d.Machines[a].StartupS = data.Draw(rng)
		}
	}
	machines := drawTasks(rng, d, n, cost)
	graph := drawEdges(rng, d, data)
	d.Network.Bandwidth = one(rng, 1, 1, 2, 0.5, 0.3, 10)
	switch network := one(rng, "bandwidth", "bandwidth", "bandwidth", "paths", "symmetric", "links"); network {
	case "paths", "symmetric":
		for a := range m {
			d.Network.PathCapacity = append(d.Network.PathCapacity, make([]float64, m))
			for b := range m {
				if d.Network.PathCapacity[a][b] = one(rng, 0.25, 0.5, 0.75, 1, 2, 4); network == "symmetric" && b < a {
					d.Network.PathCapacity[a][b] = d.Network.PathCapacity[b][a]
				}
			}
		}
	case "links":
		drawLinks(rng, d)
	}
	// Neither the file's order of the tasks nor that of the edges is the graph's.
	rng.Shuffle(n, func(a, b int) { d.Tasks[a], d.Tasks[b] = d.Tasks[b], d.Tasks[a] })
	rng.Shuffle(len(d.Edges), func(a, b int) { d.Edges[a], d.Edges[b] = d.Edges[b], d.Edges[a] })
	d.Name = fmt.Sprintf("%dx%d %s-%s-%s-%s", n, m, cost.Name, machines, graph, data.Name)
	return d
}

// Contend has the transfers of d share links by one of the models of contention.
func Contend(rng *rand.Rand, d *model.DAG) *model.DAG {
	d.TransferModel = model.TransferModels[1+rng.IntN(3)]
	d.Name += "-" + string(d.TransferModel)
	if rng.IntN(4) > 0 { // else nothing is shared
		drawLinks(rng, d)
	}
	return d
}

// Restrict takes machines from tasks of d that state their costs, but one from each. Data may take time within machines
// from now on, and machines lose paths to others: there may be no schedule any more.
func Restrict(rng *rand.Rand, d *model.DAG) *model.DAG {
	share := one(rng, 0, 0.1, 0.3, 0.6)
	for t := range d.Tasks {
		costs := d.Tasks[t].CostS
		kept := rng.IntN(len(d.Machines))
		for a := range costs {
			if a != kept && rng.Float64() < share {
				costs[a] = math.Inf(1)
			}
		}
	}
	for a := range d.Machines {
		if d.Machines[a].LocalRate == 0 && rng.IntN(3) == 0 {
			d.Machines[a].LocalRate = one(rng, 0.25, 0.5, 1, 2, 3)
		}
	}
	if share := one(rng, 0, 0.1, 0.3, 0.6); share > 0 {
		if d.Network.PathCapacity == nil {
			for range d.Machines {
				d.Network.PathCapacity = append(d.Network.PathCapacity, slices.Repeat([]float64{d.Network.Bandwidth}, len(d.Machines)))
			}
		}
		for _, row := range d.Network.PathCapacity {
			for b := range row {
				if rng.Float64() < share {
					row[b] = 0
				}
			}
		}
	}
	d.Name += "-restricted"
	return d
}

// ContendedDAG returns a valid DAG of 2 to most tasks, on 2 to machines machines, whose transfers
// share something.
func ContendedDAG(rng *rand.Rand, most, machines int) *model.DAG {
	for {
		d := Contend(rng, RandomDAG(rng, 2+rng.IntN(most-1), 2+rng.IntN(machines-1)))
		if d.Validate() == nil && dagplay.NewReplay(view.OfDAG(d)).Shares {
			return d
		}
	}
}

// StarDAG draws a graph of whole figures whose machines each have a link in and one out, or one for all (a bus).
func StarDAG(rng *rand.Rand, tasks, machines int) *model.DAG {
	n, m := 2+rng.IntN(tasks-1), 2+rng.IntN(machines-1)
	var costs [][]float64
	var edges [][3]float64
	for t := range n {
		var c []float64
		for range m {
			c = append(c, float64(rng.IntN(6)))
		}
		costs = append(costs, c)
		for i := range t {
			if rng.IntN(2) == 0 {
				edges = append(edges, [3]float64{float64(i + 1), float64(t + 1), float64(rng.IntN(6))})
			}
		}
	}
	d := DAG(costs, edges)
	d.TransferModel = model.TransferModels[1+rng.IntN(3)]
	d.Network = model.Network{Bandwidth: 1 + float64(rng.IntN(2))}
	bus := rng.IntN(4) == 0
	for a := range d.Machines {
		d.Machines[a].StartupS = float64(rng.IntN(2) * rng.IntN(3))
		id := d.Machines[a].ID
		d.Network.Links = append(d.Network.Links, model.Link{ID: id + ".up"}, model.Link{ID: id + ".down", Capacity: float64(1 + rng.IntN(2))})
	}
	for a := range d.Machines {
		for b := range d.Machines {
			from, to := d.Machines[a].ID, d.Machines[b].ID
			links := []string{from + ".up", to + ".down"}
			if bus {
				links = []string{d.Network.Links[0].ID}
			}
			if a != b {
				d.Network.Routes = append(d.Network.Routes, model.Route{From: from, To: to, Links: links, OneWay: true})
			}
		}
	}
	return d
}

// drawTasks draws n tasks and returns what tells the machines apart. Of some instances
// tasks cost nothing, or as much as the one before.
func drawTasks(rng *rand.Rand, d *model.DAG, n int, cost Figures) string {
	m := len(d.Machines)
	machines := one(rng, "any", "any", "any", "identical", "related", "twin", "good", "own", "speeds")
	factor := make([]float64, m)
	for a := range m {
		factor[a] = float64(1 + rng.IntN(4))
		if machines == "twin" && a%2 == 1 {
			factor[a] = factor[a-1]
		}
		if machines == "speeds" {
			d.Machines[a].Speed = factor[a]
		}
	}
	twins, free := rng.IntN(4) == 0, rng.IntN(4) == 0
	for t := range n {
		x := model.DAGTask{ID: fmt.Sprint("t", t)}
		base, own := cost.Draw(rng), rng.IntN(m)
		if free && rng.IntN(4) == 0 {
			base = 0
		}
		for a := range m {
			c := base
			switch machines {
			case "any":
				c = cost.Draw(rng)
			case "related", "twin":
				c = base * factor[a]
			case "good":
				if c = cost.Draw(rng); rng.IntN(3) == 0 {
					c *= 1000
				}
			case "own":
				if a != own {
					c = 20*base + 10
				}
			}
			x.CostS = append(x.CostS, c)
		}
		if twins && t > 0 && rng.IntN(3) > 0 {
			x.CostS = slices.Clone(d.Tasks[t-1].CostS)
		}
		d.Tasks = append(d.Tasks, x)
	}
	if machines == "speeds" {
		for t := range d.Tasks {
			x := &d.Tasks[t]
			x.Work, x.CostS = &x.CostS[0], nil
		}
	}
	return machines
}

// drawEdges draws edges between the tasks, which are in a topological order, and returns
// the graph's shape.
func drawEdges(rng *rand.Rand, d *model.DAG, data Figures) string {
	n, far := len(d.Tasks), one(rng, 0.0, 1, 1, 1, 5, 30) // how much dearer than work data are
	zeros := one(rng, 0, 0.1, 0.1, 0.7)
	edge := func(from, to int) {
		y := far * data.Draw(rng)
		if rng.Float64() < zeros {
			y = 0
		}
		d.Edges = append(d.Edges, model.DAGEdge{From: d.Tasks[from].ID, To: d.Tasks[to].ID, Data: y})
	}
	graph := one(rng, "no edges", "chains", "in-tree", "out-tree", "join", "fork", "fork-join", "any", "any", "any", "twins", "layers")
	density, width := one(rng, rng.Float64(), 0.1+0.4*rng.Float64()), 1+rng.IntN(5)
	for t := 1; t < n; t++ {
		switch graph {
		case "chains":
			if t >= width {
				edge(t-width, t)
			}
		case "in-tree":
			edge(t-1, t+rng.IntN(n-t))
		case "out-tree":
			edge(rng.IntN(t), t)
		case "join":
			if t < n-1 || rng.IntN(2) == 0 {
				edge(t-1, n-1)
			}
		case "fork":
			edge(0, t)
		case "fork-join": // and what stands alone
			if rng.IntN(5) > 0 {
				edge(0, t)
			}
			if rng.IntN(5) > 0 && t < n-1 {
				edge(t, n-1)
			}
		case "twins": // pairs and triples with the same predecessors
			joined := false
			for s := range t - t%width {
				if s%width == 0 {
					joined = rng.Float64() < density
				}
				if joined {
					edge(s, t)
				}
			}
		case "any":
			for s := range t {
				if rng.Float64() < density {
					edge(s, t)
				}
			}
		case "layers":
			for s := range t {
				if s/width+1 == t/width && rng.Float64() < 2*density {
					edge(s, t)
				}
			}
		}
	}
	return graph
}

// drawLinks draws links, of which some are as fast as the network, and routes over some of them.
func drawLinks(rng *rand.Rand, d *model.DAG) {
	d.Network.Links, d.Network.Routes = nil, nil
	for l := range 1 + rng.IntN(3) {
		d.Network.Links = append(d.Network.Links, model.Link{ID: fmt.Sprint("b", l+1), Capacity: one(rng, 0, 0.5, 1, 2, 3)})
	}
	for a := range d.Machines {
		for b := range a {
			r := model.Route{From: d.Machines[a].ID, To: d.Machines[b].ID, Links: []string{}, OneWay: rng.IntN(4) == 0}
			for _, l := range rng.Perm(len(d.Network.Links))[:one(rng, 0, 1, 1, len(d.Network.Links))] {
				r.Links = append(r.Links, d.Network.Links[l].ID)
			}
			if rng.IntN(3) > 0 {
				d.Network.Routes = append(d.Network.Routes, r)
			}
		}
	}
}

// Late gives some routes a latency, and routes that have one to some pairs of machines without a route. Some routes of
// graphs without TCP get a weight.
func Late(rng *rand.Rand, d *model.DAG) *model.DAG {
	routed := map[[2]string]bool{}
	for r := range d.Network.Routes {
		x := &d.Network.Routes[r]
		routed[[2]string{x.From, x.To}], routed[[2]string{x.To, x.From}] = true, true
		if rng.IntN(2) == 0 {
			x.LatencyS = max(x.LatencyS, one(rng, 0.5, 1, 2, 5))
		}
	}
	for a := range d.Machines {
		for b := range a {
			from, to := d.Machines[a].ID, d.Machines[b].ID
			if !routed[[2]string{from, to}] && rng.IntN(2) == 0 {
				d.Network.Routes = append(d.Network.Routes, model.Route{From: from, To: to, Links: []string{},
					LatencyS: one(rng, 0.5, 1, 2, 5), OneWay: rng.IntN(2) == 0})
			}
		}
	}
	for r := range d.Network.Routes {
		if fair := d.Transfers() == model.TransferFair || d.Transfers() == model.TransferIdeal; fair && rng.IntN(3) == 0 {
			d.Network.Routes[r].Weight = 1 + rng.Int64N(4)
		}
	}
	d.Name += "-late"
	return d
}

// Files divides the data of most edges among files, some of which several edges from one task have.
func Files(rng *rand.Rand, d *model.DAG) *model.DAG {
	written := map[string][]float64{}
	for e := range d.Edges {
		x := &d.Edges[e]
		if len(written[x.From]) < 1+rng.IntN(3) {
			written[x.From] = append(written[x.From], x.Data)
		}
	}
	for e := range d.Edges {
		x := &d.Edges[e]
		if rng.IntN(6) == 0 {
			continue
		}
		x.Files, x.Data = map[string]float64{}, 0
		sizes := written[x.From]
		for k, first := range rng.Perm(len(sizes)) {
			if k == 0 || rng.IntN(2) == 0 {
				x.Files[fmt.Sprint("f", first)] = sizes[first]
				x.Data += sizes[first]
			}
		}
	}
	return d
}

// Roomy gives the machines of d capacities of some resources, and the tasks needs. Each task fits where it could run.
func Roomy(rng *rand.Rand, d *model.DAG) *model.DAG {
	d.Resources = []string{"cores", "memory_mb"}[:1+rng.IntN(2)]
	most := int64(one(rng, 1, 2, 4, 16))
	least := make([]int64, len(d.Resources))
	for m := range d.Machines {
		for r := range least {
			c := 1 + rng.Int64N(most)
			if m == 0 || c < least[r] {
				least[r] = c
			}
			d.Machines[m].Capacity = append(d.Machines[m].Capacity, c)
		}
	}
	draw := func(of []int64) (needs []int64) {
		for r := range least {
			needs = append(needs, min(rng.Int64N(of[r]+1), 1+rng.Int64N(most)))
		}
		return needs
	}
	for t := range d.Tasks {
		x := &d.Tasks[t]
		x.Needs = draw(least)
		for _, a := range d.Machines {
			if rng.IntN(20) == 0 {
				if x.NeedsOn == nil {
					x.NeedsOn = map[string][]int64{}
				}
				x.NeedsOn[a.ID] = draw(a.Capacity)
			}
		}
	}
	d.Name += "-roomy"
	return d
}

// LeastRoomy returns the least makespan without contention, by all machines for all tasks and all orders in which they
// start: in the order of their starts, tasks that start as soon as they can end no later than in any schedule.
func LeastRoomy(d *model.DAG) float64 {
	g := view.OfDAG(d)
	play, best := view.NewPlay(g), math.Inf(1)
	machine, order, done := make([]int32, g.Tasks), make([][]int32, g.Machines), make([]bool, g.Tasks)
	var next func(placed int)
	next = func(placed int) {
		if placed == g.Tasks {
			best = min(best, play.Run(machine, order))
			return
		}
	tasks:
		for t := range int32(g.Tasks) {
			if done[t] {
				continue
			}
			for _, e := range g.Pred(t) {
				if !done[g.From[e]] {
					continue tasks
				}
			}
			done[t] = true
			for m := range int32(g.Machines) {
				if g.Runs(t, m) {
					machine[t], order[m] = m, append(order[m], t)
					next(placed + 1)
					order[m] = order[m][:len(order[m])-1]
				}
			}
			done[t] = false
		}
	}
	next(0)
	return best
}

// RandomPlan puts the tasks, in a random topological order, on random machines, if stays half of
// them on that of the one before.
func RandomPlan(rng *rand.Rand, g *view.Graph, stays bool) dagplay.Plan {
	p := dagplay.Plan{Machine: make([]int32, g.Tasks), Order: make([][]int32, g.Machines)}
	missing := make([]int, g.Tasks)
	var ready []int32
	for t := range int32(g.Tasks) {
		if missing[t] = len(g.Pred(t)); missing[t] == 0 {
			ready = append(ready, t)
		}
	}
	m := int32(0)
	if stays {
		m = rng.Int32N(int32(g.Machines))
	}
	for len(ready) > 0 {
		k := rng.IntN(len(ready))
		t := ready[k]
		ready[k] = ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if !stays || rng.IntN(2) == 0 {
			m = rng.Int32N(int32(g.Machines))
		}
		p.Machine[t], p.Order[m] = m, append(p.Order[m], t)
		for _, e := range g.Succ(t) {
			if missing[g.To[e]]--; missing[g.To[e]] == 0 {
				ready = append(ready, g.To[e])
			}
		}
	}
	return p
}

// LinkInto gives each machine of a graph a link, which all data into it share fairly.
func LinkInto(d *model.DAG) {
	d.TransferModel = model.TransferFair
	for _, a := range d.Machines {
		d.Network.Links = append(d.Network.Links, model.Link{ID: a.ID, Capacity: d.Network.Bandwidth})
		for _, b := range d.Machines {
			if a.ID != b.ID {
				d.Network.Routes = append(d.Network.Routes, model.Route{From: b.ID, To: a.ID, Links: []string{a.ID}, OneWay: true})
			}
		}
	}
}
