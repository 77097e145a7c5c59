// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math"
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
	ineligibleMachine  = "ineligible_machine"  // a task is on a machine that can't run it
	invalidStart       = "invalid_start"       // a start that is NaN, infinite or before 0
	machineOverlap     = "machine_overlap"     // two tasks at a time on one machine
	machineCapacity    = "machine_capacity"    // tasks that run at a time need more than the machine has
	missingPath        = "missing_path"        // an edge is between machines without a path
	missingTransfer    = "missing_transfer"    // an edge between two machines has no transfer
	unknownTransfer    = "unknown_transfer"    // a transfer of no edge
	repeatedTransfer   = "repeated_transfer"   // an edge is transferred twice
	unneededTransfer   = "unneeded_transfer"   // an edge within a machine is transferred
	transferPrecedence = "transfer_precedence" // a transfer starts before its task ends
	taskPrecedence     = "task_precedence"     // a task starts before its data arrive
)

// dag judges a schedule. Amounts are seconds; late describes the tolerance.
//
// Tasks that are missing, can't run where they are, or have no valid start or machine are left out of the other checks.
// If a transfer is missing,
// the others can't be replayed: without it some may even be slower. They are then taken to share nothing, which is
// never later than the truth, so no violation is reported wrongly. The objectives are computed only if all tasks and
// transfers are there.
//
// Times are float64s and their exact sums (see double), which decide nearly all
// comparisons. Open cases are decided in fractions, which alone report violations: see dagJudge.fine. O(V log V + E log
// E) without contention.
func dag(ctx context.Context, in *model.DAG, s *model.Schedule, r *Report) {
	if s.TransferModel != "" && s.TransferModel != in.Transfers() {
		r.add(transferModel, 0, "the schedule is for %q, the instance has %q", s.TransferModel, in.Transfers())
		return // its times mean something else
	}
	j := newDAGJudge(ctx, in, r.Tolerance)
	complete := j.place(s, r)
	complete = j.send(s, r) && complete
	if ctx.Err() != nil {
		return
	}
	makespan, total := 0.0, sum{}
	for t := range j.start {
		if stopped(ctx, t) {
			return
		}
		if !math.IsNaN(j.start[t]) {
			finish := j.finish(t).hi // the end rounded
			makespan = max(makespan, finish)
			total.add(finish)
		}
	}
	if !complete {
		free := *in
		free.TransferModel = model.TransferIdeal
		j.in, j.incomplete = &free, true
	}
	j.times(r)
	if !complete || ctx.Err() != nil {
		return
	}
	r.Objective = makespan
	r.Second = 0
	if n := len(in.Tasks); n > 0 {
		mean := total.rat()
		r.Second, _ = mean.Quo(mean, new(big.Rat).SetInt64(int64(n))).Float64()
	}
}

// dagJudge holds a schedule by the instance's indices.
type dagJudge struct {
	ctx       context.Context
	in        *model.DAG
	tolerance float64
	from, to  []int32   // tasks of each edge
	on        []int32   // machine of each task, -1 for one without
	start     []float64 // s; NaN for a task without machine or time
	length    []float64 // run time of a task with a start, s
	sent      []float64 // start of each edge's transfer, s; NaN: none
	carries   [][]int32 // flights of each edge, by number; nil: no edge has files, and each is a flight of its number
	flights   []flight  // see flight
	shares    []bool    // flights that share links
	sharing   int       // their number

	incomplete bool // transfers are missing
}

// newDAGJudge returns the judge of a schedule that has nothing yet.
func newDAGJudge(ctx context.Context, in *model.DAG, tolerance float64) *dagJudge {
	n := len(in.Tasks)
	j := &dagJudge{ctx: ctx, in: in, tolerance: tolerance, on: make([]int32, n),
		start: make([]float64, n), length: make([]float64, n), sent: make([]float64, len(in.Edges))}
	j.from, j.to = in.EdgeTasks()
	for t := range n {
		j.on[t], j.start[t] = -1, math.NaN()
	}
	for e := range j.sent {
		j.sent[e] = math.NaN()
	}
	return j
}

// finish returns the exact end of a task that has a start.
func (j *dagJudge) finish(t int) double { return twoSum(j.start[t], j.length[t]) }

// place reads the tasks and reports whether each has a machine and a start.
func (j *dagJudge) place(s *model.Schedule, r *Report) bool {
	in, complete := j.in, true
	machine := make(map[string]int32, len(in.Machines))
	for m := range in.Machines {
		machine[in.Machines[m].ID] = int32(m)
	}
	var task map[string]int // made for the first that isn't in the instance's order
	seen := make([]bool, len(in.Tasks))
	for k := range s.Tasks {
		if stopped(j.ctx, k) {
			return false
		}
		x, t := &s.Tasks[k], k
		if k >= len(in.Tasks) || in.Tasks[k].ID != x.ID {
			if task == nil {
				task = make(map[string]int, len(in.Tasks))
				for t := range in.Tasks {
					task[in.Tasks[t].ID] = t
				}
			}
			var ok bool
			if t, ok = task[x.ID]; !ok {
				r.add(unknownTask, 0, "task %q isn't in the instance", x.ID)
				continue
			}
		}
		if seen[t] {
			r.add(repeatedTask, 0, "task %q is scheduled twice", x.ID)
			continue
		}
		seen[t] = true
		m, there := machine[x.Machine]
		if !there {
			r.add(unknownMachine, 0, "task %q is on machine %q", x.ID, x.Machine)
			complete = false
		} else if j.on[t] = m; math.IsInf(in.Cost(t, int(m)), 1) {
			r.add(ineligibleMachine, 0, "task %q can't run on machine %q", x.ID, x.Machine)
			there, complete = false, false
		}
		switch {
		case !finite(x.StartS):
			why := ""
			if math.IsInf(x.StartS, 1) { // as gapwise.CompleteSolution completes a plan
				why = ": it waits for tasks that wait for it, or for data that have no path"
			}
			r.add(invalidStart, 0, "task %q starts at %v%s", x.ID, x.StartS, why)
			complete = false
		case there:
			j.start[t], j.length[t] = x.StartS, in.Cost(t, int(m))
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

// edgeFinder finds edges by the ids of their tasks: the next ones of the list first, as
// schedules name them in its order, else by a map.
type edgeFinder struct {
	in   *model.DAG
	next int
	all  map[[2]string]int
}

// find returns the edge between two tasks.
func (f *edgeFinder) find(from, to string) (e int, ok bool) {
	const ahead = 16 // edges within machines have no transfers
	for e := f.next; e < min(f.next+ahead, len(f.in.Edges)); e++ {
		if x := &f.in.Edges[e]; x.From == from && x.To == to {
			f.next = e + 1
			return e, true
		}
	}
	if f.all == nil {
		f.all = make(map[[2]string]int, len(f.in.Edges))
		for e := range f.in.Edges {
			f.all[[2]string{f.in.Edges[e].From, f.in.Edges[e].To}] = e
		}
	}
	if e, ok = f.all[[2]string{from, to}]; ok {
		f.next = e + 1
	}
	return e, ok
}

// send reads the transfers and reports whether each that is needed has a start.
func (j *dagJudge) send(s *model.Schedule, r *Report) bool {
	in, complete := j.in, true
	edge := edgeFinder{in: in}
	seen := make([]bool, len(in.Edges))
	for k := range s.Transfers {
		if stopped(j.ctx, k) {
			return false
		}
		x := &s.Transfers[k]
		e, ok := edge.find(x.From, x.To)
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
			j.sent[e] = x.StartS
			continue
		}
		r.add(invalidStart, 0, "the transfer from %q to %q starts at %v", x.From, x.To, x.StartS)
		complete = false
	}
	for e := range in.Edges {
		if stopped(j.ctx, e) {
			return false
		}
		x := &in.Edges[e]
		m, n := j.on[j.from[e]], j.on[j.to[e]]
		switch {
		case m < 0 || n < 0: // whether it is needed isn't known
			j.sent[e] = math.NaN()
		case m != n && in.Network.PathCapacity != nil && in.Network.PathCapacity[m][n] == 0:
			r.add(missingPath, 0, "there is no path from machine %q to %q for the data from %q to %q", in.Machines[m].ID, in.Machines[n].ID, x.From, x.To)
			j.sent[e], complete = math.NaN(), false
		case m != n && !seen[e]:
			r.add(missingTransfer, 0, "the edge from %q to %q is between two machines and isn't transferred", x.From, x.To)
			complete = false
		case m == n && seen[e]:
			r.add(unneededTransfer, 0, "the edge from %q to %q is within machine %q", x.From, x.To, in.Machines[m].ID)
			j.sent[e] = math.NaN()
		}
	}
	return complete
}
