// SPDX-License-Identifier: MIT

// Package dagmodel is the constraint model of task graphs without contention, in
// ticks: for each task a machine, and on each machine an optional start. The exact
// engine leaves all tasks free, a neighbourhood search fixes most of them.
package dagmodel

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
)

// Never is later than every time that matters.
const Never = 1 << 50

// Times are the costs and lengths of a graph in ticks. They are a relaxation (see view.DAGTicks), so bounds proved for
// them hold for the graph.
type Times struct {
	Graph *view.Graph
	Ticks *view.DAGTicks
}

// Cost returns the time that task t takes on machine a.
func (v Times) Cost(t int32, a int) int64 { return int64(v.Ticks.Cost[int(t)*v.Graph.Machines+a]) }

// Length returns the length of an edge from machine a to b.
func (v Times) Length(e int32, a, b int) int64 {
	switch m := v.Graph.Machines; {
	case !v.Graph.Uniform:
		return int64(v.Ticks.Comm[(int(e)*m+a)*m+b])
	case a == b:
		return 0
	default:
		return int64(v.Ticks.Comm[e])
	}
}

// Earliest returns the earliest start of task t on machine a, when the machine is free and the data of its predecessors
// are there. These start at start on the machines on.
func (v Times) Earliest(t int32, a int, free int64, start []int64, on []int32) int64 {
	for _, e := range v.Graph.Pred(t) {
		f := v.Graph.From[e]
		b := int(on[f])
		free = max(free, start[f]+v.Cost(f, b)+v.Length(e, b, a))
	}
	return free
}

// Play starts the tasks of a plan, which is the order on each machine, as early as
// possible. It returns them in a topological order of edges and machines' orders, fewer
// if some wait for each other in a circle, with their starts and the makespan.
func (v Times) Play(machine []int32, order [][]int32) (played []int32, start []int64, makespan int64) {
	play := view.NewPlay(v.Graph)
	play.Run(machine, order)
	start = make([]int64, v.Graph.Tasks)
	free := make([]int64, v.Graph.Machines)
	var running *view.Running
	if v.Graph.Room != nil {
		running = view.NewRunning(v.Graph)
	}
	for _, t := range play.Played {
		a := int(machine[t])
		start[t] = v.Earliest(t, a, free[a], start, machine)
		if running != nil { // ticks below 2^53 are exact
			start[t] = int64(running.Start(t, machine[t], float64(start[t]), float64(v.Cost(t, a))))
			free[a] = start[t]
		} else {
			free[a] = start[t] + v.Cost(t, a)
		}
		makespan = max(makespan, start[t]+v.Cost(t, a))
	}
	return play.Played, start, makespan
}

// Heads computes the longest path to each task t on each machine a of on(t), at
// [t*Machines+a], each task before it on the best of its machines:
//
//	head_ta = max over edges (f, t) of min_b (head_fb + cost_fb + length from b to a)
//
// and 0 without edges. If before(t) isn't negative, t also waits for that task, on the
// same machine. The order is topological.
func (v Times) Heads(head []int64, order []int32, on func(t int32) []int, before func(t int32) int32) {
	m := v.Graph.Machines
	for _, t := range order {
		for _, a := range on(t) {
			h := int64(0)
			for _, e := range v.Graph.Pred(t) {
				f, best := v.Graph.From[e], int64(Never)
				for _, b := range on(f) {
					best = min(best, head[int(f)*m+b]+v.Cost(f, b)+v.Length(e, b, a))
				}
				h = max(h, best)
			}
			if f := before(t); f >= 0 {
				h = max(h, head[int(f)*m+a]+v.Cost(f, a))
			}
			head[int(t)*m+a] = h
		}
	}
}

// Model is the constraint model. The makespan is its objective. Tasks with a constant start aren't in it.
type Model struct {
	cp.Model
	Times
	Named  bool         // variables and constraints have names, for proofs
	Hosts  [][]int      // machines that task t may be on; nil: it isn't in the model
	Starts [][]cp.Start // of task t, on each of its hosts
	rooms  map[room]cp.Var
}

// New returns the model without tasks, of the makespans from low to high.
func New(v Times, low, high int64, named bool) *Model {
	m := &Model{Times: v, Named: named, Hosts: make([][]int, v.Graph.Tasks), Starts: make([][]cp.Start, v.Graph.Tasks), rooms: map[room]cp.Var{}}
	m.Objective = m.Int(low, high)
	m.call(m.Objective, "makespan")
	return m
}

func (m *Model) call(x cp.Var, name ...any) {
	if m.Named {
		m.Call(x, fmt.Sprint(name...))
	}
}

func (m *Model) add(c cp.Constraint, name ...any) {
	if m.Named {
		m.AddAs(fmt.Sprint(name...), c)
	} else {
		m.Add(c)
	}
}

// Place adds a task on one of some machines: it starts from low to high.
func (m *Model) Place(t int32, hosts []int, low, high func(a int) int64) {
	var is []cp.Lit
	for _, a := range hosts {
		x := cp.True
		if len(hosts) > 1 {
			b := m.Bool()
			m.call(b, "on ", t, " ", a)
			m.Decisions = append(m.Decisions, b)
			x = b.Is()
			is = append(is, x)
		}
		at := m.Optional(x, low(a), high(a))
		m.call(at, "start ", t, " ", a)
		m.Starts[t] = append(m.Starts[t], cp.Start{If: x, At: at})
	}
	if m.Hosts[t] = hosts; len(hosts) > 1 {
		m.ExactlyOne(fmt.Sprint("one ", t), is...)
	}
}

// On returns the start of a task on one of its hosts.
func (m *Model) On(t int32, a int) cp.Start { return m.Starts[t][slices.Index(m.Hosts[t], a)] }

// End adds that the makespan is at least the end of a task and its tail, at
// [t*Machines+a].
func (m *Model) End(t int32, tail []int64) {
	d := &cp.Delay{From: m.Starts[t], To: []cp.Start{{If: cp.True, At: m.Objective}}}
	for _, a := range m.Hosts[t] {
		d.By = append(d.By, []int64{m.Cost(t, a) + tail[int(t)*m.Graph.Machines+a]})
	}
	m.add(d, "end ", t)
}

// Edge adds that an edge's data arrive in time.
func (m *Model) Edge(e int32) {
	f, t := m.Graph.From[e], m.Graph.To[e]
	d := &cp.Delay{From: m.Starts[f], To: m.Starts[t]}
	for _, a := range m.Hosts[f] {
		by := make([]int64, len(m.Hosts[t]))
		for k, b := range m.Hosts[t] {
			by[k] = m.Cost(f, a) + m.Length(e, a, b)
		}
		d.By = append(d.By, by)
	}
	m.add(d, "delay ", f, " ", t)
}

// Machine adds that some tasks don't overlap on a machine. The i-th goes before the
// j-th if before(i, j).
func (m *Model) Machine(a int, tasks []int32, before func(i, j int) cp.Lit) {
	c := &cp.NoOverlap{Before: make([][]cp.Lit, len(tasks))}
	for i, t := range tasks {
		c.Starts, c.Lengths = append(c.Starts, m.On(t, a)), append(c.Lengths, m.Cost(t, a))
		c.Before[i] = make([]cp.Lit, len(tasks))
		for j := range tasks {
			if i != j {
				c.Before[i][j] = before(i, j)
			}
		}
	}
	m.add(c, "machine ", a)
}

// Room adds that, at any time, some tasks that run on a machine with a capacity need no more than it has, one constraint
// for each resource. Needs and capacity are divided by what divides all needs, which loses nothing: such needs add up to
// a multiple of it. Tasks of no length need no room. Where energy, it also looks at windows of time (cp.Cumulative).
func (m *Model) Room(a int, tasks []int32, energy bool) {
	for r, capacity := range m.Graph.Room.Of(int32(a)) {
		c, common, sum := &cp.Cumulative{}, int64(0), int64(0)
		for _, t := range tasks {
			if slices.Contains(m.Hosts[t], a) {
				common = units.GCD(common, m.need(t, a, r))
			}
		}
		for _, t := range tasks {
			need, length := m.need(t, a, r), m.Cost(t, a)
			if slices.Contains(m.Hosts[t], a) && need > 0 && need <= capacity && length > 0 {
				c.Starts, c.Lengths = append(c.Starts, m.On(t, a)), append(c.Lengths, length)
				c.Demands = append(c.Demands, need/common)
				sum += need
			}
		}
		if sum <= capacity {
			continue
		}
		c.Capacity = capacity / common
		c.Energy = energy && c.Capacity <= mostUnits
		m.add(c, "room ", a, " ", r)
	}
}

// Together adds that all machines together have, at any time, the room for what runs on any of them: for each resource,
// each task takes its least need for its least cost, from its start on whatever machine it is. It is implied by the
// machines' own, and sees what they can't see one by one: more long tasks than there are cores.
func (m *Model) Together(tasks []int32, energy bool) {
	at := make([]cp.Var, m.Graph.Tasks)
	for _, t := range tasks {
		at[t] = m.Int(0, m.High[m.Objective])
		m.call(at[t], "at ", t)
		here := []cp.Start{{If: cp.True, At: at[t]}}
		by := make([][]int64, len(m.Starts[t]))
		for k := range by {
			by[k] = []int64{0}
		}
		m.add(&cp.Delay{From: m.Starts[t], To: here, By: by}, "till ", t)
		m.add(&cp.Delay{From: here, To: m.Starts[t], By: [][]int64{make([]int64, len(m.Starts[t]))}}, "from ", t)
	}
	for r := range m.Graph.Room.Resources {
		c, common, sum := &cp.Cumulative{}, int64(0), int64(0)
		for _, t := range tasks {
			need, length := int64(Never), int64(Never)
			for _, a := range m.Hosts[t] {
				if cost := m.Cost(t, a); m.Graph.Runs(t, int32(a)) && cost < view.BeyondTicks {
					need, length = min(need, m.need(t, a, r)), min(length, cost)
				}
			}
			if need > 0 && need < Never && length > 0 {
				c.Starts, c.Lengths, c.Demands = append(c.Starts, cp.Start{If: cp.True, At: at[t]}), append(c.Lengths, length), append(c.Demands, need)
				common, sum = units.GCD(common, need), sum+need
			}
		}
		if common == 0 {
			continue
		}
		for a := range m.Graph.Machines {
			c.Capacity += m.Graph.Room.Of(int32(a))[r] / common
		}
		for k := range c.Demands {
			c.Demands[k] /= common
		}
		if sum/common <= c.Capacity || slices.Max(c.Demands) > c.Capacity {
			continue
		}
		c.Energy = energy && c.Capacity <= mostUnits
		m.add(c, "together ", r)
	}
}

// mostUnits bounds capacities in units for which sums over tasks and ticks are exact: with it, areas of 2^27 ticks and
// 2^12 tasks are below 2^62.
const mostUnits = 1 << 22

// need returns what a task takes of a resource.
func (m *Model) need(t int32, a, r int) int64 { return m.Graph.Room.Need(t, int32(a))[r] }

// Areas adds the row of a load for each resource: with needs n_ta and capacities c_a in units, a set S of tasks, and
// weights w_a, in each schedule
//
//	Σ_{t in S} w_{a(t)} n_{t,a(t)} cost_{t,a(t)} ≤ Σ_a w_a c_a (makespan - idle_a)
//
// see Load. A unit is what divides the needs of all tasks of S; a capacity is rounded down, which excludes nothing. The
// weights are the least common multiple of all c_a over c_a, if that is at most mostUnits, so that each machine with the
// resource counts as much; else ⌊mostUnits/c_a⌋. Resources with capacities above mostUnits are left out.
func (m *Model) Areas(l Load) {
	room := m.Graph.Room
	for r := range room.Resources {
		common := int64(0)
		for _, t := range l.Tasks {
			for _, a := range m.Hosts[t] {
				common = units.GCD(common, m.need(t, a, r))
			}
		}
		if common == 0 {
			continue
		}
		multiple, most := int64(1), int64(0)
		capacity := make([]int64, m.Graph.Machines)
		for a := range capacity {
			c := room.Of(int32(a))[r] / common
			if capacity[a] = c; c == 0 {
				continue
			}
			if most = max(most, c); most > mostUnits {
				break
			}
			if multiple <= mostUnits {
				multiple *= c / units.GCD(multiple, c)
			}
		}
		if most > mostUnits {
			continue
		}
		weights, sum := make([]int64, len(capacity)), int64(0)
		row := &cp.Linear{}
		for a, c := range capacity {
			if c == 0 {
				continue
			}
			if weights[a] = mostUnits / c; multiple <= mostUnits {
				weights[a] = multiple / c
			}
			sum += weights[a] * c
			row.AtMost -= weights[a] * c * l.Idle[a]
		}
		row.Terms = []cp.Term{{Times: -sum, Var: m.Objective}}
		for _, t := range l.Tasks {
			var g []cp.Choice
			for i, a := range m.Hosts[t] {
				x := cp.Choice{If: m.Starts[t][i].If}
				if cost := m.Cost(t, a); m.Graph.Runs(t, int32(a)) && cost < view.BeyondTicks { // else it isn't there
					x.Value = weights[a] * (m.need(t, a, r) / common) * cost
				}
				g = append(g, x)
			}
			if len(g) == 1 {
				row.AtMost -= g[0].Value
			} else {
				row.Groups = append(row.Groups, g)
			}
		}
		m.add(row, "area ", r, " ", list(weights, ","), ": ", list(l.Tasks, " "))
	}
}

// Through returns the longest path through a task on its best machine, by heads and tails: no makespan is below it.
func (m *Model) Through(t int32, head, tail []int64) int64 {
	least := int64(Never)
	for _, a := range m.Hosts[t] {
		i := int(t)*m.Graph.Machines + a
		least = min(least, head[i]+m.Cost(t, a)+tail[i])
	}
	return least
}

// Load is a row of the load of the machines: with weights w of the machines and a set S
// of tasks, in each schedule
//
//	Σ_{t in S} w_{a(t)} cost_{t,a(t)} ≤ Σ_a w_a (makespan - idle_a)
//	idle_a = min(min_{t in S} head_ta + min_{t in S} tail_ta, lower)
//
// where a(t) is the machine of t. A machine with some tasks of S is idle before the first of them, which starts no
// sooner than its head, and after the last of them, for its tail. A machine with none of S is idle for the makespan,
// which is at least lower, so that its part of the right side isn't below its load of nothing.
type Load struct {
	Tasks []int32 // S
	Idle  []int64 // of each machine
}

// NewLoad returns the load of some tasks by their heads and tails.
func (m *Model) NewLoad(tasks []int32, head, tail []int64, lower int64) Load {
	l := Load{Tasks: tasks, Idle: make([]int64, m.Graph.Machines)}
	for a := range l.Idle {
		h, q := int64(Never), int64(Never)
		for _, t := range tasks {
			if i := int(t)*m.Graph.Machines + a; slices.Contains(m.Hosts[t], a) {
				h, q = min(h, head[i]), min(q, tail[i])
			}
		}
		l.Idle[a] = min(h+q, lower)
	}
	return l
}

// Row adds the row of a load for some weights. Any are valid.
func (m *Model) Row(l Load, weights []int64) {
	row, sum := m.load(l, weights), int64(0)
	for a, w := range weights {
		sum += w
		row.AtMost -= w * l.Idle[a]
	}
	row.Terms = []cp.Term{{Times: -sum, Var: m.Objective}}
	if m.Named {
		m.AddAs("load "+list(weights, ",")+": "+list(l.Tasks, " "), row)
	} else {
		m.Add(row)
	}
}

// WholeRow adds the row of a load for some weights, with the machines' rooms rounded
// (Chvátal 1973, Gomory 1958). Let g_a divide the costs of all tasks of S on machine a.
// Then so it does their load there, which is at most makespan - idle_a (see Load). So
//
//	Σ_{t in S} w_{a(t)} cost_{t,a(t)} ≤ Σ_a w_a g_a r_a, g_a r_a ≤ makespan - idle_a
//
// for whole numbers r_a. They are variables without names and without decisions: each
// schedule has such numbers, so it needn't be asked for them. If no g_a is above 1 it adds
// nothing.
func (m *Model) WholeRow(l Load, weights []int64) {
	common := make([]int64, len(weights))
	for _, t := range l.Tasks {
		for _, a := range m.Hosts[t] {
			common[a] = units.GCD(common[a], m.Cost(t, a))
		}
	}
	if slices.Max(common) <= 1 {
		return
	}
	row := m.load(l, weights)
	for a, w := range weights {
		g := common[a]
		if w == 0 || g == 0 { // 0: the load there is 0
			continue
		}
		at := room{a, g, l.Idle[a]}
		x, ok := m.rooms[at]
		if !ok {
			x = m.Int(0, max(0, (m.High[m.Objective]-l.Idle[a])/g))
			m.rooms[at] = x
			m.Add(&cp.Linear{Terms: []cp.Term{{Times: g, Var: x}, {Times: -1, Var: m.Objective}}, AtMost: -l.Idle[a]})
		}
		row.Terms = append(row.Terms, cp.Term{Times: -w * g, Var: x})
	}
	m.Add(row)
}

// room is the meaning of a variable of WholeRow.
type room struct {
	machine      int
	common, idle int64
}

// load returns the left side of a load's row.
func (m *Model) load(l Load, weights []int64) *cp.Linear {
	row := &cp.Linear{}
	for _, t := range l.Tasks {
		var g []cp.Choice
		for i, a := range m.Hosts[t] {
			g = append(g, cp.Choice{If: m.Starts[t][i].If, Value: weights[a] * m.Cost(t, a)})
		}
		if len(g) == 1 {
			row.AtMost -= g[0].Value
		} else {
			row.Groups = append(row.Groups, g)
		}
	}
	return row
}

// list joins numbers with a separator.
func list[T int32 | int64](of []T, separator string) string {
	text := ""
	for i, x := range of {
		if i > 0 {
			text += separator
		}
		text += fmt.Sprint(x)
	}
	return text
}
