// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// DAG is the scheduling of a task graph on heterogeneous machines so that it
// ends as early as possible (Yousaf, Welzl: Network-Aware HEFT Scheduling for
// Grid, section 5; the contention-free part is the model of Topcuoglu, Hariri,
// Wu 2002).
//
// Every task runs once, without interruption, on one machine; a machine runs
// one task at a time. An edge whose tasks are on different machines is a
// transfer: it starts when its producer has finished, or later, and its
// consumer waits for its end. A transfer from machine m first waits for m's
// start-up latency and then sends its data at the rate that the transfer model
// gives it (see TransferModel). Edges within a machine take no time.
//
// The objective is the makespan, the second objective the mean finish time of
// the tasks; both are minimised.
type DAG struct {
	Name string `json:"name"`
	// TransferModel is how transfers share the network; empty means ideal.
	TransferModel TransferModel `json:"transfer_model,omitempty"`
	Machines      []Machine     `json:"machines"`
	Tasks         []DAGTask     `json:"tasks"`
	Edges         []DAGEdge     `json:"edges"`
	Network       Network       `json:"network,omitempty"`
}

// DAGTask is a node of the graph. It states its cost on each machine or its
// work, not both.
type DAGTask struct {
	ID    string    `json:"id"`
	CostS []float64 `json:"cost_s,omitempty"` // seconds, one for each machine
	Work  *float64  `json:"work,omitempty"`   // seconds are work over the machine's speed
}

// DAGEdge says that To needs Data units of what From makes.
type DAGEdge struct {
	From string  `json:"from"`
	To   string  `json:"to"`
	Data float64 `json:"data"`
}

// Schedule is a solution of DAG: where and when each task starts, and when each
// transfer does. It is judged under the transfer model that it names.
type Schedule struct {
	// TransferModel must be the instance's if it is given.
	TransferModel TransferModel   `json:"transfer_model,omitempty"`
	Tasks         []TaskStart     `json:"tasks"`
	Transfers     []TransferStart `json:"transfers"`
}

// TaskStart puts a task on a machine.
type TaskStart struct {
	ID      string  `json:"id"`
	Machine string  `json:"machine"`
	StartS  float64 `json:"start_s"`
}

// TransferStart starts the transfer of an edge between different machines.
type TransferStart struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	StartS float64 `json:"start_s"`
}

// Kind returns KindDAG.
func (*DAG) Kind() Kind { return KindDAG }

// Kind returns KindDAG.
func (*Schedule) Kind() Kind { return KindDAG }

// ID returns the instance's name.
func (d *DAG) ID() string { return d.Name }

// Metrics implements Instance.
func (*DAG) Metrics() []Metric {
	return []Metric{{"makespan", "makespan", "s", Minimise}, {"mean finish", "mean finish time", "s", Minimise}}
}

// Transfers returns the transfer model, ideal if none is given.
func (d *DAG) Transfers() TransferModel {
	if d.TransferModel == "" {
		return TransferIdeal
	}
	return d.TransferModel
}

// WithoutContention returns the instance under the ideal model with the lengths that
// plans count on: each schedule of d, played so, ends no later. Under TransferTCPAll
// its rates are those of Eq. 11, else it differs in the model's name alone.
func (d *DAG) WithoutContention() *DAG {
	if d.Transfers() == TransferIdeal {
		return d
	}
	free := *d
	free.TransferModel = TransferIdeal
	if d.Transfers() != TransferTCPAll {
		return &free
	}
	net := &free.Network
	net.Bandwidth *= TCPShare(1)
	net.Links, net.PathCapacity = slices.Clone(net.Links), slices.Clone(net.PathCapacity)
	for l := range net.Links {
		net.Links[l].Capacity *= TCPShare(1)
	}
	for m, row := range net.PathCapacity {
		net.PathCapacity[m] = slices.Clone(row)
		for n := range row {
			net.PathCapacity[m][n] *= TCPShare(1)
		}
	}
	return &free
}

// Cost returns the run time of task t on machine m in seconds.
func (d *DAG) Cost(t, m int) float64 {
	if w := d.Tasks[t].Work; w != nil {
		return *w / d.Machines[m].Speed
	}
	return d.Tasks[t].CostS[m]
}

// maxFigure bounds every time, amount and rate, and minFigure those above 0 from
// below, so that no sum or quotient overflows.
const (
	maxFigure = 1e30
	minFigure = 1e-30
)

// figure reports whether x is a valid time or amount.
func figure(x float64) bool { return x == 0 || x >= minFigure && x <= maxFigure }

// Validate reports the first broken rule: at least one machine; ids that are
// there and distinct; for each task a cost on each machine, or a work and a
// speed of each machine; edges between known tasks, each once, without a cycle;
// a bandwidth or path capacities if there is anything to transfer; routes of
// known links between known machines, each pair at most once. Errors about an
// element of a list name it, see ElementError.
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
	tasks := make(map[string]int, len(d.Tasks))
	for t := range d.Tasks {
		if err := d.newID(tasks, "tasks", t, d.Tasks[t].ID); err != nil {
			return err
		}
		if err := d.checkCosts(t); err != nil {
			return err
		}
	}
	if err := d.checkNetwork(machines); err != nil {
		return err
	}
	type pair struct{ from, to int }
	seen := make(map[pair]int, len(d.Edges))
	for e, x := range d.Edges {
		for _, end := range []struct{ key, id string }{{"from", x.From}, {"to", x.To}} {
			if _, ok := tasks[end.id]; !ok {
				return d.bad("edges", e, "%s is %q, there is no such task", end.key, end.id)
			}
		}
		p := pair{tasks[x.From], tasks[x.To]}
		switch first, twice := seen[p]; {
		case p.from == p.to:
			return d.bad("edges", e, "task %q needs itself", x.From)
		case twice:
			return d.bad("edges", e, "the edge from %q to %q is edges[%d] already, add up their data", x.From, x.To, first)
		case !figure(x.Data):
			return d.bad("edges", e, "from %q to %q: data is %v, must be 0 or from %g to %g", x.From, x.To, x.Data, minFigure, maxFigure)
		}
		seen[p] = e
	}
	return d.checkCycle(tasks)
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
func (d *DAG) checkCycle(index map[string]int) error {
	next := make([][]int, len(d.Tasks))
	for _, e := range d.Edges {
		f := index[e.From]
		next[f] = append(next[f], index[e.To])
	}
	const unseen, open, done = 0, 1, 2
	state := make([]byte, len(d.Tasks))
	at := make([]int, len(d.Tasks)) // how many successors have been looked at
	var path []int
	for root := range d.Tasks {
		if state[root] != unseen {
			continue
		}
		path = append(path[:0], root)
		state[root] = open
		for len(path) > 0 {
			t := path[len(path)-1]
			if at[t] == len(next[t]) {
				state[t] = done
				path = path[:len(path)-1]
				continue
			}
			s := next[t][at[t]]
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

// Objective returns the makespan and the mean finish time of a Schedule, in seconds.
// The error is ErrInvalid if s isn't a Schedule or isn't shaped like the instance, see
// MachineOf.
func (d *DAG) Objective(s Solution) (Objective, error) {
	p, ok := s.(*Schedule)
	if !ok {
		return Objective{}, fmt.Errorf("%w solution: a %T can't solve a dag instance", ErrInvalid, s)
	}
	machine, err := d.MachineOf(p)
	if err != nil {
		return Objective{}, err
	}
	o := Objective{Sense: Minimise, SecondSense: Minimise}
	for t := range d.Tasks {
		finish := p.Tasks[t].StartS + d.Cost(t, int(machine[t]))
		o.Value = max(o.Value, finish)
		o.Second += finish
	}
	if len(d.Tasks) > 0 {
		o.Second /= float64(len(d.Tasks))
	}
	return o, nil
}

// MachineOf returns the machine number of each task. The error is ErrInvalid if tasks
// are missing or out of order, a machine doesn't exist, a start is NaN or infinite,
// or the schedule is for another transfer model; it names the first.
func (d *DAG) MachineOf(s *Schedule) ([]int32, error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w schedule: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	if s.TransferModel != "" && s.TransferModel != d.Transfers() {
		return nil, bad("it is for the transfer model %q, the instance has %q", s.TransferModel, d.Transfers())
	}
	if len(s.Tasks) != len(d.Tasks) {
		return nil, bad("has %d tasks, the instance has %d", len(s.Tasks), len(d.Tasks))
	}
	index := make(map[string]int32, len(d.Machines))
	for m := range d.Machines {
		index[d.Machines[m].ID] = int32(m)
	}
	machine := make([]int32, len(d.Tasks))
	for t, x := range s.Tasks {
		if x.ID != d.Tasks[t].ID {
			return nil, bad("tasks[%d] is %q, the instance has %q there", t, x.ID, d.Tasks[t].ID)
		}
		m, ok := index[x.Machine]
		if !ok {
			return nil, bad("task %q is on machine %q, there is no such machine", x.ID, x.Machine)
		}
		if math.IsNaN(x.StartS) || math.IsInf(x.StartS, 0) {
			return nil, bad("task %q starts at %v", x.ID, x.StartS)
		}
		machine[t] = m
	}
	return machine, nil
}

// MarshalJSON writes the instance in its own format, "kind" first.
func (d *DAG) MarshalJSON() ([]byte, error) { return marshalOwn(d) }

// MarshalJSON writes the schedule in its own format, "kind" first.
func (s *Schedule) MarshalJSON() ([]byte, error) { return marshalOwn(s) }

// Schedule returns the schedule that starts task t at start[t] on machine[t] and the
// transfer of edge e, if it is between different machines, at sent[e] (seconds).
func (d *DAG) Schedule(machine []int32, start, sent []float64) *Schedule {
	s := &Schedule{TransferModel: d.Transfers(), Tasks: make([]TaskStart, len(d.Tasks)), Transfers: []TransferStart{}}
	index := make(map[string]int32, len(d.Tasks))
	for t := range d.Tasks {
		index[d.Tasks[t].ID] = int32(t)
		s.Tasks[t] = TaskStart{d.Tasks[t].ID, d.Machines[machine[t]].ID, start[t]}
	}
	for e, x := range d.Edges {
		if machine[index[x.From]] != machine[index[x.To]] {
			s.Transfers = append(s.Transfers, TransferStart{x.From, x.To, sent[e]})
		}
	}
	return s
}
