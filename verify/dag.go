// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math/big"

	"github.com/gapwise/gapwise/model"
)

// Constraints of DAG.
const (
	transferModel      = "transfer_model"      // the schedule is for another transfer model
	missingTask        = "missing_task"        // a task of the instance isn't scheduled
	unknownTask        = "unknown_task"        // a task that the instance doesn't have
	repeatedTask       = "repeated_task"       // a task is scheduled twice
	unknownMachine     = "unknown_machine"     // a task is on a machine that isn't there
	invalidStart       = "invalid_start"       // a start that is NaN, infinite or before 0
	machineOverlap     = "machine_overlap"     // two tasks at a time on one machine
	missingTransfer    = "missing_transfer"    // an edge between two machines has no transfer
	unknownTransfer    = "unknown_transfer"    // a transfer of no edge
	repeatedTransfer   = "repeated_transfer"   // an edge is transferred twice
	unneededTransfer   = "unneeded_transfer"   // an edge within a machine is transferred
	transferPrecedence = "transfer_precedence" // a transfer starts before its task ends
	taskPrecedence     = "task_precedence"     // a task starts before its data arrive
)

// dag judges a schedule. Amounts are seconds; late says what is tolerated.
//
// What is missing or has no valid start or machine is left out of the other
// checks. If a transfer is missing, the others can't be replayed: without it
// some may even be slower. They are then taken to share nothing, which is never
// later than the truth, so no violation is reported wrongly. The objectives are
// computed only if all tasks and transfers are there.
func dag(ctx context.Context, in *model.DAG, s *model.Schedule, r *Report) {
	if s.TransferModel != "" && s.TransferModel != in.Transfers() {
		r.add(transferModel, 0, "the schedule is for %q, the instance has %q", s.TransferModel, in.Transfers())
		return // its times mean something else
	}
	j := &dagJudge{ctx: ctx, in: in, tolerance: r.Tolerance, task: make(map[string]int, len(in.Tasks)), on: make([]int, len(in.Tasks)),
		start: make([]*big.Rat, len(in.Tasks)), finish: make([]*big.Rat, len(in.Tasks)), sent: make([]*big.Rat, len(in.Edges))}
	for t := range in.Tasks {
		if stopped(ctx, t) {
			return
		}
		j.task[in.Tasks[t].ID] = t
	}
	complete := j.place(s, r)
	complete = j.send(s, r) && complete
	if ctx.Err() != nil {
		return
	}
	makespan, total := new(big.Rat), sum{}
	for t, f := range j.finish {
		if stopped(ctx, t) {
			return
		}
		if f == nil {
			continue
		}
		if f.Cmp(makespan) > 0 {
			makespan = f
		}
		rounded, _ := f.Float64()
		total.add(rounded)
	}
	if !complete {
		free := *in
		free.TransferModel = model.TransferIdeal
		j.in = &free
	}
	j.times(r)
	if !complete || ctx.Err() != nil {
		return
	}
	r.Objective, _ = makespan.Float64()
	r.Second = 0
	if n := len(in.Tasks); n > 0 {
		mean := total.rat()
		r.Second, _ = mean.Quo(mean, new(big.Rat).SetInt64(int64(n))).Float64()
	}
}

// dagJudge holds a schedule in exact figures, by the instance's indices.
type dagJudge struct {
	ctx           context.Context
	in            *model.DAG
	tolerance     float64
	task          map[string]int
	on            []int      // machine of each task, -1 for one without
	start, finish []*big.Rat // nil for a task without machine or time
	sent          []*big.Rat // start of each edge's transfer; nil: none
	shares        []bool     // edges whose transfers share links
	sharing       int        // their number
}

// place reads the tasks and reports whether each has a machine and a start.
func (j *dagJudge) place(s *model.Schedule, r *Report) bool {
	in, complete := j.in, true
	machine := make(map[string]int, len(in.Machines))
	for m := range in.Machines {
		machine[in.Machines[m].ID] = m
	}
	for t := range j.on {
		j.on[t] = -1
	}
	seen := make([]bool, len(in.Tasks))
	for k, x := range s.Tasks {
		if stopped(j.ctx, k) {
			return false
		}
		t, ok := j.task[x.ID]
		if !ok {
			r.add(unknownTask, 0, "task %q isn't in the instance", x.ID)
			continue
		}
		if seen[t] {
			r.add(repeatedTask, 0, "task %q is scheduled twice", x.ID)
			continue
		}
		seen[t] = true
		m, there := machine[x.Machine]
		if there {
			j.on[t] = m
		} else {
			r.add(unknownMachine, 0, "task %q is on machine %q", x.ID, x.Machine)
			complete = false
		}
		switch {
		case !finite(x.StartS):
			r.add(invalidStart, 0, "task %q starts at %v", x.ID, x.StartS)
			complete = false
		case there:
			j.start[t] = exact(x.StartS)
			j.finish[t] = new(big.Rat).Add(j.start[t], exact(in.Cost(t, m)))
		}
	}
	for t := range in.Tasks {
		if !seen[t] {
			r.add(missingTask, 0, "task %q is not scheduled", in.Tasks[t].ID)
			complete = false
		}
	}
	return complete
}

// send reads the transfers and reports whether each that is needed has a start.
func (j *dagJudge) send(s *model.Schedule, r *Report) bool {
	in, complete := j.in, true
	type pair struct{ from, to string }
	edge := make(map[pair]int, len(in.Edges))
	for e, x := range in.Edges {
		if stopped(j.ctx, e) {
			return false
		}
		edge[pair{x.From, x.To}] = e
	}
	seen := make([]bool, len(in.Edges))
	for k, x := range s.Transfers {
		if stopped(j.ctx, k) {
			return false
		}
		e, ok := edge[pair{x.From, x.To}]
		switch {
		case !ok:
			r.add(unknownTransfer, 0, "there is no edge from %q to %q", x.From, x.To)
			continue
		case seen[e]:
			r.add(repeatedTransfer, 0, "the edge from %q to %q is transferred twice", x.From, x.To)
			continue
		}
		seen[e] = true
		if finite(x.StartS) {
			j.sent[e] = exact(x.StartS)
			continue
		}
		r.add(invalidStart, 0, "the transfer from %q to %q starts at %v", x.From, x.To, x.StartS)
		complete = false
	}
	for e, x := range in.Edges {
		if stopped(j.ctx, e) {
			return false
		}
		m, n := j.on[j.task[x.From]], j.on[j.task[x.To]]
		switch {
		case m < 0 || n < 0: // whether it is needed isn't known
			j.sent[e] = nil
		case m != n && !seen[e]:
			r.add(missingTransfer, 0, "the edge from %q to %q is between two machines and isn't transferred", x.From, x.To)
			complete = false
		case m == n && seen[e]:
			r.add(unneededTransfer, 0, "the edge from %q to %q is within machine %q", x.From, x.To, in.Machines[m].ID)
			j.sent[e] = nil
		}
	}
	return complete
}
