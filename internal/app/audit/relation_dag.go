// SPDX-License-Identifier: MIT

package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

var dagRelations = []relation{
	relates("times multiplied by a power of two", scaleDAG),
	relates("renamed", renameDAG),
	relates("edges reversed", reverseDAG),
	relates("an isolated task", isolatedTask),
	relates("a machine like another", twinMachine),
	relates("joined with itself", joinDAG),
	relates("without contention", withoutContention),
	relates("each transfer alone", transfersAlone),
	relates("as much less data over TCP", lessDataOverTCP),
	relates("an edge less", edgeLess),
	relates("machines less for tasks, and data that take time within them", restrictDAG),
	relates("routes with a latency", delayDAG),
	relates("needs and capacities multiplied by a number", multiplyRooms),
	relates("a capacity raised", raiseCapacity),
	relates("a resource that nobody is short of", abundantResource),
	relates("a core for each task and machine", oneCore),
}

func scaleDAG(c *model.DAG, rng *rand.Rand) implication {
	f := power(rng)
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
	for r := range c.Network.Routes {
		c.Network.Routes[r].LatencyS *= f
	}
	return times(f)
}

// renameDAG gives tasks, machines and resources new names and orders. Some needs are stated for each machine by itself.
func renameDAG(c *model.DAG, rng *rand.Rand) implication {
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
	if len(c.Resources) > 0 {
		renameNeeds(c, machine, rng)
	}
	order := rng.Perm(len(c.Machines))
	c.Machines = inOrder(c.Machines, order)
	for t := range c.Tasks {
		c.Tasks[t].CostS = inOrder(c.Tasks[t].CostS, order)
	}
	c.Network.PathCapacity = inOrder(c.Network.PathCapacity, order)
	for a := range c.Network.PathCapacity {
		c.Network.PathCapacity[a] = inOrder(c.Network.PathCapacity[a], order)
	}
	shuffled(rng, c.Tasks)
	shuffled(rng, c.Edges)
	return same
}

// renameNeeds gives resources new names and orders, and the needs on machines the machines' new names.
func renameNeeds(c *model.DAG, machine map[string]string, rng *rand.Rand) {
	order := rng.Perm(len(c.Resources))
	for r := range c.Resources {
		c.Resources[r] = fmt.Sprintf("R%d", r)
	}
	c.Resources = inOrder(c.Resources, order)
	for m := range c.Machines {
		c.Machines[m].Capacity = inOrder(c.Machines[m].Capacity, order)
	}
	for t := range c.Tasks {
		x := &c.Tasks[t]
		x.Needs = inOrder(x.Needs, order)
		own := map[string][]int64{}
		for id, needs := range x.NeedsOn {
			own[machine[id]] = inOrder(needs, order)
		}
		if rng.IntN(3) == 0 {
			for _, m := range c.Machines {
				if own[m.ID] == nil {
					own[m.ID] = slices.Clone(x.Needs)
				}
			}
			for r := range x.Needs {
				x.Needs[r] = rng.Int64N(100) // of no machine
			}
		}
		x.NeedsOn = own
	}
}

// inOrder returns a list in which the k-th element is the one of number order[k]; an empty list stays.
func inOrder[E any](list []E, order []int) (other []E) {
	for _, k := range order[:min(len(order), len(list))] {
		other = append(other, list[k])
	}
	return other
}

// reverseDAG reverses the edges: without contention, and with transfers that take as
// long back as forth, a schedule read backwards is one of the reversed graph. What runs at a time is the same.
func reverseDAG(c *model.DAG, _ *rand.Rand) implication {
	for e := range c.Edges {
		c.Edges[e].From, c.Edges[e].To = c.Edges[e].To, c.Edges[e].From
	}
	oneWay := slices.ContainsFunc(c.Network.Routes, func(r model.Route) bool { return r.OneWay })
	if c.Transfers() != model.TransferIdeal || oneWay || !symmetric(c) {
		return nil
	}
	return same
}

// symmetric reports whether every transfer between machines takes as long back as
// forth, by start-ups and path capacities.
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

// isolatedTask adds a task that can be done last, on the machine that does it soonest.
func isolatedTask(c *model.DAG, rng *rand.Rand) implication {
	t := model.DAGTask{ID: "isolated"}
	if w := c.Tasks; len(w) > 0 && w[0].Work != nil {
		work := *w[rng.IntN(len(w))].Work
		t.Work = &work
	} else {
		for range c.Machines {
			t.CostS = append(t.CostS, float64(rng.IntN(10)))
		}
	}
	for _, capacity := range c.Machines[0].Capacity {
		t.Needs = append(t.Needs, rng.Int64N(capacity+1))
	}
	at := rng.IntN(len(c.Tasks) + 1)
	c.Tasks = slices.Insert(c.Tasks, at, t)
	least := math.Inf(1)
	for m := range c.Machines {
		least = min(least, c.Cost(at, m))
	}
	if c.Transfers() != model.TransferIdeal {
		return nil
	}
	return func(_ model.Sense, k claim) claim {
		k.low = max(k.low, least)
		k.high += least
		return k
	}
}

// twinMachine adds a machine that can stay idle.
func twinMachine(c *model.DAG, rng *rand.Rand) implication {
	m := rng.IntN(len(c.Machines))
	twin := c.Machines[m]
	twin.ID += "-twin"
	c.Machines = append(c.Machines, twin)
	for t := range c.Tasks {
		if cost := c.Tasks[t].CostS; len(cost) > 0 {
			c.Tasks[t].CostS = append(cost, cost[m])
		}
		if own, ok := c.Tasks[t].NeedsOn[c.Machines[m].ID]; ok {
			c.Tasks[t].NeedsOn[twin.ID] = own
		}
	}
	return noWorseIf(c.Network.PathCapacity == nil)
}

// joinDAG adds the same tasks again: one after the other is a schedule of both.
func joinDAG(c *model.DAG, rng *rand.Rand) implication {
	again := clone(c)
	for t := range again.Tasks {
		again.Tasks[t].ID = "again-" + again.Tasks[t].ID
	}
	for e := range again.Edges {
		again.Edges[e].From, again.Edges[e].To = "again-"+again.Edges[e].From, "again-"+again.Edges[e].To
	}
	c.Tasks, c.Edges = append(c.Tasks, again.Tasks...), append(c.Edges, again.Edges...)
	shuffled(rng, c.Tasks)
	if len(again.Tasks) > 12 {
		return nil
	}
	return func(_ model.Sense, k claim) claim {
		k.high *= 2
		return k
	}
}

// withoutContention: contention can only delay transfers.
func withoutContention(c *model.DAG, _ *rand.Rand) implication {
	contended := c.Transfers() != model.TransferIdeal
	c.TransferModel = model.TransferIdeal
	return noWorseIf(contended)
}

// transfersAlone leaves each path a single TCP connection's share of it, 3/4: no transfer under TCP is faster (Eq. 10
// and 11).
func transfersAlone(c *model.DAG, _ *rand.Rand) implication {
	overTCP := c.Transfers() == model.TransferTCPAll
	c.TransferModel = model.TransferIdeal
	c.Network.Bandwidth *= 0.75
	for l := range c.Network.Links {
		c.Network.Links[l].Capacity *= 0.75
	}
	for _, row := range c.Network.PathCapacity {
		for n := range row {
			row[n] *= 0.75
		}
	}
	return noWorseIf(overTCP)
}

// lessDataOverTCP: a transfer that shares nothing takes 4/3 as long over a TCP connection.
func lessDataOverTCP(c *model.DAG, _ *rand.Rand) implication {
	ideal := c.Transfers() == model.TransferIdeal && len(c.Network.Routes) == 0
	c.TransferModel = model.TransferTCPAll
	for r := range c.Network.Routes {
		c.Network.Routes[r].Weight = 0 // TCP knows none
	}
	for e := range c.Edges {
		c.Edges[e].Data *= 0.75
	}
	for m := range c.Machines {
		c.Machines[m].LocalRate *= 0.75
	}
	if !ideal {
		return nil
	}
	return same
}

// edgeLess: a schedule stays feasible when an edge is dropped.
func edgeLess(c *model.DAG, rng *rand.Rand) implication {
	if len(c.Edges) == 0 {
		return nil
	}
	k := rng.IntN(len(c.Edges))
	c.Edges = slices.Delete(c.Edges, k, k+1)
	return noWorseIf(c.Transfers() == model.TransferIdeal)
}

// restrictDAG takes away what schedules may do: each is one of the instance before.
func restrictDAG(c *model.DAG, rng *rand.Rand) implication {
	testkit.Restrict(rng, c)
	return noBetter
}

// delayDAG gives routes more latency. A schedule is one of the instance before if each transfer starts later by that.
func delayDAG(c *model.DAG, rng *rand.Rand) implication {
	testkit.Late(rng, c)
	return noBetter
}

// multiplyRooms multiplies all capacities and needs by a number, such that they may be as large.
func multiplyRooms(c *model.DAG, rng *rand.Rand) implication {
	most := int64(1)
	all := amounts(c)
	for _, list := range all {
		most = max(most, slices.Max(list))
	}
	factor := 1 + rng.Int64N(1e12/most)
	if rng.IntN(2) == 0 {
		factor = min(factor, 1+rng.Int64N(5))
	}
	for _, list := range all {
		for r := range list {
			list[r] *= factor
		}
	}
	if len(all) == 0 {
		return nil
	}
	return same
}

// amounts returns the capacities of all machines and the needs of all tasks, none without resources.
func amounts(c *model.DAG) (all [][]int64) {
	if len(c.Resources) == 0 {
		return nil
	}
	for m := range c.Machines {
		all = append(all, c.Machines[m].Capacity)
	}
	for t := range c.Tasks {
		all = append(all, c.Tasks[t].Needs)
		for _, own := range c.Tasks[t].NeedsOn {
			all = append(all, own)
		}
	}
	return all
}

// raiseCapacity gives a machine more of a resource: each schedule stays one.
func raiseCapacity(c *model.DAG, rng *rand.Rand) implication {
	if len(c.Resources) == 0 {
		return nil
	}
	x := &c.Machines[rng.IntN(len(c.Machines))].Capacity[rng.IntN(len(c.Resources))]
	*x = min(1e12, *x+1+rng.Int64N(*x+3))
	return noWorse
}

// abundantResource adds a resource of which each machine has enough for all tasks at once.
func abundantResource(c *model.DAG, rng *rand.Rand) implication {
	if len(c.Resources) == 0 {
		return nil
	}
	at, sum := rng.IntN(len(c.Resources)+1), int64(0)
	c.Resources = slices.Insert(c.Resources, at, "enough")
	for t := range c.Tasks {
		x, most := &c.Tasks[t], rng.Int64N(4)
		sum += most
		x.Needs = slices.Insert(x.Needs, at, rng.Int64N(most+1))
		for _, m := range c.Machines { // in their order
			if own, ok := x.NeedsOn[m.ID]; ok {
				x.NeedsOn[m.ID] = slices.Insert(own, at, rng.Int64N(most+1))
			}
		}
	}
	for m := range c.Machines {
		c.Machines[m].Capacity = slices.Insert(c.Machines[m].Capacity, at, sum)
	}
	return same
}

// oneCore gives each machine of a graph without resources a core, which each task needs: one still runs at a time. Only
// a task that takes no time may now run beside others. Sometimes there is one more of these, on its own.
func oneCore(c *model.DAG, rng *rand.Rand) implication {
	if len(c.Resources) > 0 {
		return nil
	}
	instant := false
	for t := range c.Tasks {
		for m := range c.Machines {
			instant = instant || c.Cost(t, m) == 0
		}
	}
	cores := 1 + rng.Int64N(5)
	if c.Resources = []string{"cores"}; rng.IntN(2) == 0 {
		x := model.DAGTask{ID: "instant", CostS: make([]float64, len(c.Machines))}
		if len(c.Tasks) > 0 && c.Tasks[0].Work != nil {
			x.CostS, x.Work = nil, new(float64)
		}
		c.Tasks = append(c.Tasks, x)
	}
	for m := range c.Machines {
		c.Machines[m].Capacity = []int64{cores}
	}
	for t := range c.Tasks {
		c.Tasks[t].Needs = []int64{cores - rng.Int64N((cores+1)/2)} // more than half
	}
	if instant {
		return noWorse
	}
	return same
}
