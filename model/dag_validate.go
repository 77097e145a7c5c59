// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"slices"
	"strings"
)

// maxFigure bounds every time, amount and rate, and minFigure those above 0 from
// below, so that no sum or quotient overflows.
const (
	maxFigure = 1e30
	minFigure = 1e-30
)

// figure reports whether x is a valid time or amount.
func figure(x float64) bool { return x == 0 || x >= minFigure && x <= maxFigure }

// Validate reports the first broken rule. The rules are: at least one machine; non-empty, distinct ids; for each task a
// cost on each machine, or a work and a speed of each machine; edges between known tasks, each once, without a cycle; a
// bandwidth or path capacities if there is anything to transfer; routes of known links between known machines, each
// pair at most once. Errors about an element of a list name it, see ElementError.
func (d *DAG) Validate() error {
	if t := d.TransferModel; t != "" && !slices.Contains(TransferModels, t) {
		return d.bad("", -1, "transfer_model is %q, must be one of %q", t, TransferModels)
	}
	if len(d.Machines) == 0 {
		return d.bad("", -1, "machines is empty, must hold at least one machine")
	}
	if max(len(d.Machines), len(d.Tasks), len(d.Edges)) > maxSize {
		return d.bad("", -1, "more than %d machines, tasks or edges", maxSize)
	}
	machines := make(map[string]int, len(d.Machines))
	for m, x := range d.Machines {
		if err := d.newID(machines, "machines", m, x.ID); err != nil {
			return err
		}
		if !figure(x.StartupS) {
			return d.bad("machines", m, "id %q: startup_s is %v, must be 0 or from %g to %g", x.ID, x.StartupS, minFigure, maxFigure)
		}
		if x.Speed != 0 && !(x.Speed >= minFigure && x.Speed <= maxFigure) {
			return d.bad("machines", m, "id %q: speed is %v, must be from %g to %g", x.ID, x.Speed, minFigure, maxFigure)
		}
	}
	ids := idCheck{at: func(t int) string { return d.Tasks[t].ID }}
	for t := range d.Tasks {
		if d.Tasks[t].ID == "" {
			return d.bad("tasks", t, "id is missing or empty")
		}
		if first, twice := ids.first(t); twice {
			return d.bad("tasks", t, "id %q is taken by tasks[%d] already", d.Tasks[t].ID, first)
		}
		if err := d.checkCosts(t); err != nil {
			return err
		}
	}
	if err := d.checkNetwork(machines); err != nil {
		return err
	}
	from, to := d.EdgeTasks()
	repeated, first := repeatedEdge(len(d.Tasks), from, to)
	for e := range d.Edges {
		switch x := &d.Edges[e]; {
		case from[e] < 0:
			return d.bad("edges", e, "from is %q, there is no such task", x.From)
		case to[e] < 0:
			return d.bad("edges", e, "to is %q, there is no such task", x.To)
		case from[e] == to[e]:
			return d.bad("edges", e, "task %q needs itself", x.From)
		case e == repeated:
			return d.bad("edges", e, "the edge from %q to %q is edges[%d] already, add up their data", x.From, x.To, first)
		case !figure(x.Data):
			return d.bad("edges", e, "from %q to %q: data is %v, must be 0 or from %g to %g", x.From, x.To, x.Data, minFigure, maxFigure)
		}
	}
	return d.checkCycle(from, to)
}

// edgesOf groups edges by the tasks that they come from, ascending for each task: task t has edges[at[t]:at[t+1]].
// Edges from -1 are left out. O(V + E).
func edgesOf(tasks int, from []int32) (at, edges []int32) {
	at = make([]int32, tasks+2)
	for _, f := range from {
		at[f+2]++ // the edges from -1 are in at[1], too
	}
	at[1] = 0
	for t := range tasks {
		at[t+2] += at[t+1]
	}
	edges = make([]int32, at[tasks+1])
	for e, f := range from {
		if f >= 0 {
			edges[at[f+1]] = int32(e)
			at[f+1]++
		}
	}
	return at[:tasks+1], edges
}

// repeatedEdge returns the first edge that has the tasks of an earlier one, and that one; -1
// if there is none. O(V + E).
func repeatedEdge(tasks int, from, to []int32) (repeated, first int) {
	at, edges := edgesOf(tasks, from)
	last := make([]int32, tasks) // 1 + the last edge looked at that leads to a task
	repeated, first = -1, -1
	for t := range tasks {
		for _, e := range edges[at[t]:at[t+1]] {
			if to[e] < 0 {
				continue
			}
			if f := int(last[to[e]]) - 1; f >= 0 && int(from[f]) == t {
				if repeated < 0 || int(e) < repeated {
					repeated, first = int(e), f
				}
				continue // of three the second is the first's
			}
			last[to[e]] = e + 1
		}
	}
	return repeated, first
}

func (d *DAG) bad(list string, index int, format string, args ...any) error {
	return &ElementError{Kind: KindDAG, List: list, Index: index, Reason: fmt.Sprintf(format, args...)}
}

func (d *DAG) newID(taken map[string]int, list string, index int, id string) error {
	if id == "" {
		return d.bad(list, index, "id is missing or empty")
	}
	if first, ok := taken[id]; ok {
		return d.bad(list, index, "id %q is taken by %s[%d] already", id, list, first)
	}
	taken[id] = index
	return nil
}

func (d *DAG) checkCosts(t int) error {
	x := &d.Tasks[t]
	if x.Work != nil {
		if len(x.CostS) > 0 {
			return d.bad("tasks", t, "id %q: has both cost_s and work, give one", x.ID)
		}
		if !figure(*x.Work) {
			return d.bad("tasks", t, "id %q: work is %v, must be 0 or from %g to %g", x.ID, *x.Work, minFigure, maxFigure)
		}
		for m := range d.Machines {
			if d.Machines[m].Speed == 0 {
				return d.bad("machines", m, "id %q: speed is missing, task %q states its work", d.Machines[m].ID, x.ID)
			}
			if c := d.Cost(t, m); !(c <= maxFigure) {
				return d.bad("tasks", t, "id %q: its work takes %v seconds on machine %q, at most %g are allowed", x.ID, c, d.Machines[m].ID, maxFigure)
			}
		}
		return nil
	}
	switch have, want := len(x.CostS), len(d.Machines); {
	case have < want:
		return d.bad("tasks", t, "id %q: cost_s has %d entries for %d machines, the cost on machine %q is missing", x.ID, have, want, d.Machines[have].ID)
	case have > want:
		return d.bad("tasks", t, "id %q: cost_s has %d entries for %d machines, must have one for each", x.ID, have, want)
	}
	for m, c := range x.CostS {
		if !figure(c) {
			return d.bad("tasks", t, "id %q: cost_s[%d] (machine %q) is %v, must be 0 or from %g to %g", x.ID, m, d.Machines[m].ID, c, minFigure, maxFigure)
		}
	}
	return nil
}

// checkCycle returns an error that names the tasks of a cycle, nil if there is none.
// O(V + E).
func (d *DAG) checkCycle(from, to []int32) error {
	if allAhead(from, to) {
		return nil
	}
	next, edges := edgesOf(len(d.Tasks), from)
	const unseen, open, done = 0, 1, 2
	state := make([]byte, len(d.Tasks))
	at := slices.Clone(next[:len(d.Tasks)]) // the next edge to look at
	var path []int
	for root := range d.Tasks {
		if state[root] != unseen {
			continue
		}
		path = append(path[:0], root)
		state[root] = open
		for len(path) > 0 {
			t := path[len(path)-1]
			if at[t] == next[t+1] {
				state[t] = done
				path = path[:len(path)-1]
				continue
			}
			s := int(to[edges[at[t]]])
			at[t]++
			switch state[s] {
			case unseen:
				state[s] = open
				path = append(path, s)
			case open:
				return d.bad("", -1, "the edges make a cycle: %s", d.cycleNames(path[slices.Index(path, s):]))
			}
		}
	}
	return nil
}

// allAhead reports whether each edge leads to a later task of the list, as in most files: then
// there is no cycle.
func allAhead(from, to []int32) bool {
	for e := range from {
		if from[e] >= to[e] {
			return false
		}
	}
	return true
}

// cycleNames returns the ids of a cycle's tasks, without the middle of a long one.
func (d *DAG) cycleNames(cycle []int) string {
	const most = 12
	var names []string
	for k, t := range cycle {
		if len(cycle) > most && k == most/2 {
			names = append(names, fmt.Sprintf("(%d more)", len(cycle)-most))
		}
		if len(cycle) <= most || k < most/2 || k >= len(cycle)-most/2 {
			names = append(names, d.Tasks[t].ID)
		}
	}
	return strings.Join(append(names, d.Tasks[cycle[0]].ID), " -> ")
}
