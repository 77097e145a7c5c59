package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// copyDAG returns a copy that shares no memory with d.
func copyDAG(d *model.DAG) *model.DAG {
	c := *d
	c.Machines, c.Tasks, c.Edges = slices.Clone(d.Machines), slices.Clone(d.Tasks), slices.Clone(d.Edges)
	for t := range c.Tasks {
		c.Tasks[t].CostS = slices.Clone(c.Tasks[t].CostS)
		if w := c.Tasks[t].Work; w != nil {
			work := *w
			c.Tasks[t].Work = &work
		}
	}
	c.Network.Links, c.Network.Routes = slices.Clone(d.Network.Links), slices.Clone(d.Network.Routes)
	c.Network.PathCapacity = nil
	for _, row := range d.Network.PathCapacity {
		c.Network.PathCapacity = append(c.Network.PathCapacity, slices.Clone(row))
	}
	return &c
}

// renameDAG gives tasks and machines new names and orders.
func renameDAG(d *model.DAG, rng *rand.Rand) *model.DAG {
	c := copyDAG(d)
	machine, task := map[string]string{}, map[string]string{}
	for m := range c.Machines {
		machine[c.Machines[m].ID] = fmt.Sprintf("M%d", m)
		c.Machines[m].ID = machine[c.Machines[m].ID]
	}
	for t := range c.Tasks {
		task[c.Tasks[t].ID] = fmt.Sprintf("x%d", t)
		c.Tasks[t].ID = task[c.Tasks[t].ID]
	}
	for e := range c.Edges {
		c.Edges[e].From, c.Edges[e].To = task[c.Edges[e].From], task[c.Edges[e].To]
	}
	for r := range c.Network.Routes {
		q := &c.Network.Routes[r]
		q.From, q.To = machine[q.From], machine[q.To]
	}
	order := rng.Perm(len(c.Machines))
	machines := slices.Clone(c.Machines)
	for k, m := range order {
		c.Machines[k] = machines[m]
	}
	for t := range c.Tasks {
		if cost := slices.Clone(c.Tasks[t].CostS); len(cost) > 0 {
			for k, m := range order {
				c.Tasks[t].CostS[k] = cost[m]
			}
		}
	}
	if s := d.Network.PathCapacity; s != nil {
		for a, m := range order {
			for b, n := range order {
				c.Network.PathCapacity[a][b] = s[m][n]
			}
		}
	}
	rng.Shuffle(len(c.Tasks), func(a, b int) { c.Tasks[a], c.Tasks[b] = c.Tasks[b], c.Tasks[a] })
	rng.Shuffle(len(c.Edges), func(a, b int) { c.Edges[a], c.Edges[b] = c.Edges[b], c.Edges[a] })
	return c
}

// least returns the least cost of a task on any machine, in seconds.
func least(d *model.DAG, t int) float64 {
	l := math.Inf(1)
	for m := range d.Machines {
		l = min(l, d.Cost(t, m))
	}
	return l
}

func dagRelations() []relation {
	add := func(name string, other func(*model.DAG, *rand.Rand) (*model.DAG, bool), implies func(in, other model.Instance, c claim) claim) relation {
		return typed(name, other, implies)
	}
	ideal := func(d *model.DAG) bool { return d.Transfers() == model.TransferIdeal }
	var scaled []relation
	for _, f := range powers {
		scaled = append(scaled, add(fmt.Sprintf("all times %g", f), func(d *model.DAG, _ *rand.Rand) (*model.DAG, bool) {
			c := copyDAG(d)
			for t := range c.Tasks {
				for m := range c.Tasks[t].CostS {
					c.Tasks[t].CostS[m] *= f
				}
				if w := c.Tasks[t].Work; w != nil {
					*w *= f
				}
			}
			for e := range c.Edges {
				c.Edges[e].Data *= f
			}
			for m := range c.Machines {
				c.Machines[m].StartupS *= f
			}
			return c, c.Validate() == nil
		}, times(f)))
	}
	return append(scaled,
		add("renamed", func(d *model.DAG, rng *rand.Rand) (*model.DAG, bool) { return renameDAG(d, rng), true }, same),
		// Without contention, and with transfers that take as long back as
		// forth, a schedule read backwards is one of the reversed graph.
		add("edges reversed", func(d *model.DAG, _ *rand.Rand) (*model.DAG, bool) {
			c := copyDAG(d)
			for e := range c.Edges {
				c.Edges[e].From, c.Edges[e].To = c.Edges[e].To, c.Edges[e].From
			}
			return c, ideal(d) && symmetric(d)
		}, same),
		// It can be done last, on the machine that does it soonest.
		add("an isolated task", func(d *model.DAG, rng *rand.Rand) (*model.DAG, bool) {
			c := copyDAG(d)
			t := model.DAGTask{ID: "isolated"}
			if w := c.Tasks; len(w) > 0 && w[0].Work != nil {
				work := *w[rng.IntN(len(w))].Work
				t.Work = &work
			} else {
				for range c.Machines {
					t.CostS = append(t.CostS, float64(rng.IntN(10)))
				}
			}
			c.Tasks = slices.Insert(c.Tasks, rng.IntN(len(c.Tasks)+1), t)
			return c, ideal(d)
		}, func(_, other model.Instance, c claim) claim {
			d := other.(*model.DAG)
			t := slices.IndexFunc(d.Tasks, func(t model.DAGTask) bool { return t.ID == "isolated" })
			c.low = max(c.low, least(d, t))
			c.high += least(d, t)
			return c
		}),
		// The new machine can stay idle.
		add("a machine like another", func(d *model.DAG, rng *rand.Rand) (*model.DAG, bool) {
			c := copyDAG(d)
			m := rng.IntN(len(d.Machines))
			twin := c.Machines[m]
			twin.ID += "-twin"
			c.Machines = append(c.Machines, twin)
			for t := range c.Tasks {
				if cost := c.Tasks[t].CostS; len(cost) > 0 {
					c.Tasks[t].CostS = append(cost, cost[m])
				}
			}
			return c, d.Network.PathCapacity == nil
		}, noWorse),
		// One after the other is a schedule of both.
		add("joined with itself", func(d *model.DAG, rng *rand.Rand) (*model.DAG, bool) {
			c := copyDAG(d)
			again := copyDAG(d)
			for t := range again.Tasks {
				again.Tasks[t].ID = "again-" + again.Tasks[t].ID
			}
			for e := range again.Edges {
				again.Edges[e].From, again.Edges[e].To = "again-"+again.Edges[e].From, "again-"+again.Edges[e].To
			}
			c.Tasks, c.Edges = append(c.Tasks, again.Tasks...), append(c.Edges, again.Edges...)
			rng.Shuffle(len(c.Tasks), func(a, b int) { c.Tasks[a], c.Tasks[b] = c.Tasks[b], c.Tasks[a] })
			return c, len(d.Tasks) <= 12
		}, func(_, _ model.Instance, c claim) claim {
			c.high *= 2
			return c
		}),
		// Contention can only delay transfers.
		add("without contention", func(d *model.DAG, _ *rand.Rand) (*model.DAG, bool) {
			c := copyDAG(d)
			c.TransferModel = model.TransferIdeal
			return c, !ideal(d)
		}, noWorse),
		// Nor is a transfer under TCP faster than a single connection (Eq. 10 and 11).
		add("each transfer alone", func(d *model.DAG, _ *rand.Rand) (*model.DAG, bool) {
			c := copyDAG(d)
			c.TransferModel = model.TransferIdeal
			slower(c)
			return c, d.Transfers() == model.TransferTCPAll && c.Validate() == nil
		}, noWorse),
		// What shares nothing takes 4/3 as long over a TCP connection.
		add("as much less data over TCP", func(d *model.DAG, _ *rand.Rand) (*model.DAG, bool) {
			c := copyDAG(d)
			c.TransferModel = model.TransferTCPAll
			for e := range c.Edges {
				c.Edges[e].Data *= 0.75
			}
			return c, ideal(d) && len(d.Network.Routes) == 0 && c.Validate() == nil
		}, same),
		// A schedule stays feasible when an edge is dropped.
		add("an edge less", func(d *model.DAG, rng *rand.Rand) (*model.DAG, bool) {
			c := copyDAG(d)
			if len(c.Edges) == 0 {
				return nil, false
			}
			k := rng.IntN(len(c.Edges))
			c.Edges = slices.Delete(c.Edges, k, k+1)
			return c, ideal(d)
		}, noWorse),
	)
}

// slower leaves each path of d what a single TCP connection gets of it, 3/4.
func slower(d *model.DAG) {
	d.Network.Bandwidth *= 0.75
	for l := range d.Network.Links {
		d.Network.Links[l].Capacity *= 0.75
	}
	for _, row := range d.Network.PathCapacity {
		for n := range row {
			row[n] *= 0.75
		}
	}
}

// symmetric reports whether every transfer takes as long back as forth.
func symmetric(d *model.DAG) bool {
	for m := range d.Machines {
		if d.Machines[m].StartupS != d.Machines[0].StartupS {
			return false
		}
		for n := range d.Network.PathCapacity {
			if d.Network.PathCapacity[m][n] != d.Network.PathCapacity[n][m] {
				return false
			}
		}
	}
	return true
}
