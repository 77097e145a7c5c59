package verify

import (
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Constraints of DAG.
const (
	TransferModel      = "transfer_model"      // the schedule is for another one
	MissingTask        = "missing_task"        // a task of the instance isn't scheduled
	UnknownTask        = "unknown_task"        // a task that the instance doesn't have
	RepeatedTask       = "repeated_task"       // a task is scheduled twice
	UnknownMachine     = "unknown_machine"     // a task is on a machine that isn't there
	InvalidStart       = "invalid_start"       // NaN, infinite or before 0
	MachineOverlap     = "machine_overlap"     // two tasks at a time on one machine
	MissingTransfer    = "missing_transfer"    // an edge between two machines has no transfer
	UnknownTransfer    = "unknown_transfer"    // a transfer of no edge
	RepeatedTransfer   = "repeated_transfer"   // an edge is transferred twice
	UnneededTransfer   = "unneeded_transfer"   // of an edge within a machine
	TransferPrecedence = "transfer_precedence" // a transfer starts before its task ends
	TaskPrecedence     = "task_precedence"     // a task starts before its data are there
)

// dag judges a schedule. Amounts are seconds over the makespan, which the
// tolerance is relative to as well.
func dag(in *model.DAG, s *model.Schedule, r *Report) {
	if s.TransferModel != "" && s.TransferModel != in.Transfers() {
		r.add(TransferModel, 0, "the schedule is for %q, the instance has %q", s.TransferModel, in.Transfers())
		return
	}
	task := make(map[string]int, len(in.Tasks))
	for t := range in.Tasks {
		task[in.Tasks[t].ID] = t
	}
	machine := make(map[string]int, len(in.Machines))
	for m := range in.Machines {
		machine[in.Machines[m].ID] = m
	}
	j := dagJudge{in: in, on: make([]int, len(in.Tasks)), start: make([]*big.Rat, len(in.Tasks)), finish: make([]*big.Rat, len(in.Tasks))}
	for t := range j.on {
		j.on[t] = -1
	}
	complete := true
	for _, x := range s.Tasks {
		t, ok := task[x.ID]
		m, there := machine[x.Machine]
		switch {
		case !ok:
			r.add(UnknownTask, 0, "task %q isn't in the instance", x.ID)
			continue
		case j.start[t] != nil:
			r.add(RepeatedTask, 0, "task %q is scheduled twice", x.ID)
			continue
		case !there:
			r.add(UnknownMachine, 0, "task %q is on machine %q", x.ID, x.Machine)
			complete = false
		case math.IsNaN(x.StartS) || math.IsInf(x.StartS, 0):
			r.add(InvalidStart, 0, "task %q starts at %v", x.ID, x.StartS)
			complete = false
		default:
			j.on[t] = m
		}
		if j.start[t] = new(big.Rat); j.on[t] >= 0 {
			j.start[t].SetFloat64(x.StartS)
		}
	}
	for t := range in.Tasks {
		switch {
		case j.start[t] == nil:
			r.add(MissingTask, 0, "task %q is not scheduled", in.Tasks[t].ID)
			complete = false
		case j.on[t] >= 0:
			j.finish[t] = new(big.Rat).Add(j.start[t], exact(in.Cost(t, j.on[t])))
		}
	}
	type pair struct{ from, to string }
	edge := make(map[pair]int, len(in.Edges))
	for e, x := range in.Edges {
		edge[pair{x.From, x.To}] = e
	}
	sent := make([]*big.Rat, len(in.Edges))
	for _, x := range s.Transfers {
		e, ok := edge[pair{x.From, x.To}]
		switch {
		case !ok:
			r.add(UnknownTransfer, 0, "there is no edge from %q to %q", x.From, x.To)
		case sent[e] != nil:
			r.add(RepeatedTransfer, 0, "the edge from %q to %q is transferred twice", x.From, x.To)
		case math.IsNaN(x.StartS) || math.IsInf(x.StartS, 0) || x.StartS < 0:
			r.add(InvalidStart, 0, "the transfer from %q to %q starts at %v", x.From, x.To, x.StartS)
			complete = false
			sent[e] = new(big.Rat)
		default:
			sent[e] = exact(x.StartS)
		}
	}
	if !complete {
		return // what is there can't be played
	}
	for e, x := range in.Edges {
		switch crosses := j.on[task[x.From]] != j.on[task[x.To]]; {
		case crosses && sent[e] == nil:
			r.add(MissingTransfer, 0, "the edge from %q to %q is between two machines and isn't transferred", x.From, x.To)
			complete = false
		case !crosses && sent[e] != nil:
			r.add(UnneededTransfer, 0, "the edge from %q to %q is within machine %q", x.From, x.To, in.Machines[j.on[task[x.From]]].ID)
			sent[e] = nil
		}
	}
	if !complete {
		return
	}
	makespan, total := new(big.Rat), sum{}
	for _, f := range j.finish {
		if f.Cmp(makespan) > 0 {
			makespan = f
		}
		rounded, _ := f.Float64()
		total.add(rounded)
	}
	scale := makespan
	if scale.Sign() == 0 {
		scale = big.NewRat(1, 1)
	}
	allowed := new(big.Rat).Mul(exact(r.Tolerance), scale)
	// late is (due - at)/scale if at is before due by more than is allowed, else 0.
	late := func(at, due *big.Rat) float64 {
		if at.Cmp(due) >= 0 {
			return 0
		}
		d := new(big.Rat).Sub(due, at)
		if d.Cmp(allowed) <= 0 {
			return 0
		}
		f, _ := d.Quo(d, scale).Float64()
		return max(f, math.SmallestNonzeroFloat64)
	}
	zero := new(big.Rat)
	for t, at := range j.start {
		if by := late(at, zero); by > 0 {
			r.add(InvalidStart, by, "task %q starts before 0", in.Tasks[t].ID)
		}
	}
	j.overlaps(r, late)
	arrived := j.replay(sent, func(e int) (from, to int) { return task[in.Edges[e].From], task[in.Edges[e].To] })
	for e, x := range in.Edges {
		f, t := task[x.From], task[x.To]
		ready := j.finish[f]
		if sent[e] != nil {
			if by := late(sent[e], ready); by > 0 {
				r.add(TransferPrecedence, by, "the transfer from %q to %q starts before task %q ends", x.From, x.To, x.From)
			}
			ready = arrived[e]
		}
		if by := late(j.start[t], ready); by > 0 {
			r.add(TaskPrecedence, by, "task %q starts before the data of task %q are there", x.To, x.From)
		}
	}
	r.Objective, _ = makespan.Float64()
	r.Second = 0
	if n := len(in.Tasks); n > 0 {
		mean := total.rat()
		r.Second, _ = mean.Quo(mean, new(big.Rat).SetInt64(int64(n))).Float64()
	}
}

// dagJudge is a schedule in exact figures.
type dagJudge struct {
	in            *model.DAG
	on            []int // machine of each task
	start, finish []*big.Rat
}

// overlaps looks at each machine's tasks in the order of their starts.
func (j *dagJudge) overlaps(r *Report, late func(at, due *big.Rat) float64) {
	tasks := make([][]int, len(j.in.Machines))
	for t, m := range j.on {
		tasks[m] = append(tasks[m], t)
	}
	for m, list := range tasks {
		slices.SortStableFunc(list, func(a, b int) int {
			if c := j.start[a].Cmp(j.start[b]); c != 0 {
				return c
			}
			return j.finish[a].Cmp(j.finish[b])
		})
		for k := 1; k < len(list); k++ {
			a, b := list[k-1], list[k]
			if by := late(j.start[b], j.finish[a]); by > 0 {
				r.add(MachineOverlap, by, "tasks %q and %q on machine %q", j.in.Tasks[a].ID, j.in.Tasks[b].ID, j.in.Machines[m].ID)
			}
			if j.finish[a].Cmp(j.finish[b]) > 0 { // the longer one counts for the next
				list[k] = a
			}
		}
	}
}
