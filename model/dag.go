// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"math"
	"slices"
)

// DAG is the scheduling of a task graph on heterogeneous machines so that it ends as early as possible (Yousaf, Welzl:
// Network-Aware HEFT Scheduling for Grid, section 5). The contention-free part is the model of Topcuoglu, Hariri, Wu
// 2002.
//
// Every task runs once, without interruption, on one machine; a machine runs
// one task at a time, or, of an instance with resources, as many as its capacity holds: the needs of the tasks that run
// there add up to at most the capacity of each resource at any time. A task that takes no time needs no room. An edge between tasks on different machines is a transfer. It starts when its producer has
// finished, or later, and its consumer waits for its end. A transfer from machine m first waits for m's start-up
// and the latency of its route, and then sends its data at the rate that the transfer model gives it (see TransferModel). The data of an edge
// within a machine take data / LocalRate from its producer's end, under every transfer model: they share nothing, and
// the machine is free meanwhile. Without such a rate they take no time. A task may be unable to run on some machines:
// its cost there is infinite, or its needs are above the machine's capacity.
//
// An edge may name the files of its data (see DAGEdge.Files): a machine gets a file once, and keeps it.
//
// The objective is the makespan, the second objective the mean finish time of
// the tasks; both are minimised.
type DAG struct {
	Name string `json:"name"`
	// Account tells what reading files made of them, nil if the instance comes from none.
	Account *Account `json:"account,omitempty"`
	// TransferModel is how transfers share the network; empty means ideal.
	TransferModel TransferModel `json:"transfer_model,omitempty"`
	// Resources names the resources of machines and tasks, with their unit: "cores", "memory_mb".
	Resources []string  `json:"resources,omitempty"`
	Machines  []Machine `json:"machines"`
	Tasks     []DAGTask `json:"tasks"`
	Edges     []DAGEdge `json:"edges"`
	Network   Network   `json:"network,omitempty"`
}

// DAGTask is a node of the graph. It states its cost on each machine or its
// work, not both.
type DAGTask struct {
	ID string `json:"id"`
	// CostS are seconds, one for each machine: +Inf, in files null, where the task can't run.
	CostS []float64 `json:"cost_s,omitempty" null:"+Inf"`
	Work  *float64  `json:"work,omitempty"` // seconds are work over the machine's speed
	// Needs are what the task takes while it runs, by resource; NeedsOn states them for machines on which they differ.
	Needs   []int64            `json:"needs,omitempty"`
	NeedsOn map[string][]int64 `json:"needs_on,omitempty"`
}

// DAGEdge states that To needs Data units of From's output.
type DAGEdge struct {
	From string  `json:"from"`
	To   string  `json:"to"`
	Data float64 `json:"data"`
	// Files are the sizes, in data units, of the files that make up Data, by name. Edges from one task that have a name
	// have one file, of one size. Each file is a transfer of its own, with its start-up, from From's machine to another
	// one; it begins when the first edge that has it and leads to that machine starts. The machine keeps the file, so
	// later edges have it as soon as it is there. It is never sent on from there. An edge has arrived when it has started
	// and all its files are there. Within a machine files are read side by side: an edge takes as long as its largest
	// one. Without files an edge is one transfer.
	Files map[string]float64 `json:"files,omitempty"`
}

// Schedule is a solution of DAG: where and when each task starts, and when each
// transfer does. It is judged under its own transfer model.
type Schedule struct {
	// TransferModel must be the instance's if it is given.
	TransferModel TransferModel   `json:"transfer_model,omitempty"`
	Tasks         []TaskStart     `json:"tasks"`
	Transfers     []TransferStart `json:"transfers"`
}

var scheduleKeys = object{
	about: "A schedule: for each task its machine and start, and for each edge between different machines the " +
		"start of its transfer.",
	keys: []key{
		{name: "transfer_model", about: "the instance's, if it is given: the times hold under it alone"},
		{name: "tasks", of: &object{keys: []key{{name: "start_s", about: "seconds"}}}},
		{name: "transfers", of: &object{keys: []key{{name: "start_s", about: "seconds; the start-up of the " +
			"machine that sends begins then"}}}},
	}}

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
	return []Metric{{"makespan", "makespan", "s", Minimise, false}, {"mean finish", "mean finish time", "s", Minimise, false}}
}

// Transfers returns the transfer model, ideal if none is given.
func (d *DAG) Transfers() TransferModel {
	if d.TransferModel == "" {
		return TransferIdeal
	}
	return d.TransferModel
}

// WithoutContention returns the instance under the ideal model with the lengths that
// plans count on: each schedule of d, played so, ends no later. Under TransferTCPAll its rates follow Eq. 11; otherwise
// it differs only in the model's name.
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

// Cost returns the run time of task t on machine m in seconds, +Inf if it can't run there, for want of capacity, too.
func (d *DAG) Cost(t, m int) float64 {
	for r, need := range d.Needs(t, m) {
		if need > d.Machines[m].Capacity[r] {
			return math.Inf(1)
		}
	}
	return d.seconds(t, m)
}

// seconds is Cost of a task that has room.
func (d *DAG) seconds(t, m int) float64 {
	if w := d.Tasks[t].Work; w != nil {
		return *w / d.Machines[m].Speed
	}
	return d.Tasks[t].CostS[m]
}

// Needs returns what task t takes on machine m, by resource; nil without resources. It isn't to be changed.
func (d *DAG) Needs(t, m int) []int64 {
	if x := &d.Tasks[t]; x.NeedsOn != nil {
		if own, ok := x.NeedsOn[d.Machines[m].ID]; ok {
			return own
		}
	}
	return d.Tasks[t].Needs
}

// EdgeTasks returns the numbers of each edge's tasks, -1 for an id that no task has. O(V + E).
func (d *DAG) EdgeTasks() (from, to []int32) {
	tasks := newIDIndex(len(d.Tasks), func(t int) string { return d.Tasks[t].ID })
	both := make([]int32, 2*len(d.Edges))
	from, to = both[:len(d.Edges):len(d.Edges)], both[len(d.Edges):]
	for e := range d.Edges {
		from[e], to[e] = tasks.find(d.Edges[e].From), tasks.find(d.Edges[e].To)
	}
	return from, to
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
// are missing or out of order, a machine doesn't exist or can't run its task, a start is NaN or infinite,
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
		if math.IsInf(d.Cost(t, int(m)), 1) {
			return nil, bad("task %q is on machine %q, where it can't run", x.ID, x.Machine)
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
	for t := range d.Tasks {
		s.Tasks[t] = TaskStart{d.Tasks[t].ID, d.Machines[machine[t]].ID, start[t]}
	}
	from, to := d.EdgeTasks()
	transfers := 0
	for e := range from {
		if machine[from[e]] != machine[to[e]] {
			transfers++
		}
	}
	s.Transfers = slices.Grow(s.Transfers, transfers)
	for e := range d.Edges {
		if machine[from[e]] != machine[to[e]] {
			s.Transfers = append(s.Transfers, TransferStart{d.Edges[e].From, d.Edges[e].To, sent[e]})
		}
	}
	return s
}
