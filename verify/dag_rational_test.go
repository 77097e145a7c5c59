// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// rationalDAG is the judge of schedules in fractions throughout, as it was before floats decided most cases: the
// reference for dag. It shares with it the replay of transfers that share links, and the words.
func rationalDAG(ctx context.Context, in *model.DAG, s *model.Schedule, r *Report) {
	if s.TransferModel != "" && s.TransferModel != in.Transfers() {
		r.add(transferModel, 0, "the schedule is for %q, the instance has %q", s.TransferModel, in.Transfers())
		return // its times mean something else
	}
	n := len(in.Tasks)
	j := &rationalJudge{ctx: ctx, in: in, tolerance: r.Tolerance, task: make(map[string]int, n), on: make([]int, n),
		start: make([]*big.Rat, n), finish: make([]*big.Rat, n), sent: make([]*big.Rat, len(in.Edges))}
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

// rationalJudge holds a schedule in exact figures, by the instance's indices.
type rationalJudge struct {
	ctx           context.Context
	in            *model.DAG
	tolerance     float64
	task          map[string]int
	on            []int      // machine of each task, -1 for one without
	start, finish []*big.Rat // nil for a task without machine or time
	sent          []*big.Rat // start of each edge's transfer; nil: none
	shares        []bool     // edges with transfers that share links
	sharing       int        // their number
}

// place reads the tasks and reports whether each has a machine and a start.
func (j *rationalJudge) place(s *model.Schedule, r *Report) bool {
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
func (j *rationalJudge) send(s *model.Schedule, r *Report) bool {
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

func (j *rationalJudge) late(at, due *big.Rat, lengths ...float64) float64 {
	by, _ := j.lateness(at, due, roundings, lengths...)
	return by
}

// lateness is late with the given number of roundings. doubtful reports that the
// answer could change if a time changed by far less than a unit in its last
// place.
func (j *rationalJudge) lateness(at, due *big.Rat, roundings float64, lengths ...float64) (by float64, doubtful bool) {
	if at.Cmp(due) >= 0 {
		return 0, false
	}
	seconds := max(floor(new(big.Rat).Sub(due, at)), math.SmallestNonzeroFloat64)
	if j.tolerance == 0 {
		return min(seconds, math.MaxFloat64), true
	}
	allowed := j.tolerance*max(0, slices.Min(lengths)) + roundings*ulp(max(math.Abs(floor(at)), math.Abs(floor(due))))
	doubtful = math.Abs(seconds-allowed) <= 1e-6*allowed
	if seconds <= allowed {
		return 0, doubtful
	}
	return min(seconds, math.MaxFloat64), doubtful
}

// cost returns the run time, in seconds, of a task that has a machine.
func (j *rationalJudge) cost(t int) float64 { return j.in.Cost(t, j.on[t]) }

// times checks all starts and ends.
func (j *rationalJudge) times(r *Report) {
	in, zero := j.in, new(big.Rat)
	for t, at := range j.start {
		if stopped(j.ctx, t) {
			return
		}
		if at == nil {
			continue
		}
		if by := j.late(at, zero, j.cost(t)); by > 0 {
			r.add(invalidStart, by, "task %q starts before 0", in.Tasks[t].ID)
		}
	}
	j.overlaps(r)
	arrived, precise := j.arrivals()
	if j.ctx.Err() != nil {
		return
	}
	for e := range in.Edges {
		if j.ctx.Err() != nil {
			return
		}
		if !precise && j.edge(e, arrived[e], nil) {
			arrived, precise = j.replay(), true
			if j.ctx.Err() != nil {
				return
			}
		}
		j.edge(e, arrived[e], r)
	}
}

// edge checks an edge's times. It reports whether the judgement is in doubt
// because of the arrival's rounding; if r is nil it does nothing else.
func (j *rationalJudge) edge(e int, arrived *big.Rat, r *Report) (doubtful bool) {
	x := &j.in.Edges[e]
	f, t := j.task[x.From], j.task[x.To]
	ready, length, roundings := j.finish[f], math.Inf(1), float64(roundings) // of the events before the task
	if ready != nil {
		length = j.cost(f)
	}
	if sent := j.sent[e]; sent != nil {
		way := max(0, floor(new(big.Rat).Sub(arrived, sent)))
		if r != nil {
			if by := j.late(sent, new(big.Rat), way); by > 0 {
				r.add(invalidStart, by, "the transfer from %q to %q starts before 0", x.From, x.To)
			}
			if ready != nil {
				if by := j.late(sent, ready, way, length); by > 0 {
					r.add(transferPrecedence, by, "the transfer from %q to %q starts before task %q ends", x.From, x.To, x.From)
				}
			}
		}
		ready, length = arrived, way
		if j.shares[e] {
			roundings *= 1 + float64(j.sharing)
		}
	}
	if ready == nil || j.start[t] == nil {
		return false
	}
	by, doubtful := j.lateness(j.start[t], ready, roundings, length, j.cost(t))
	if by > 0 && r != nil {
		r.add(taskPrecedence, by, "task %q starts before the data of task %q are there", x.To, x.From)
	}
	return doubtful
}

// arrivals returns the arrival of each edge's transfer, nil without one, and
// whether they are exact. Otherwise they are off by far less than a unit in the
// last place of a float64.
func (j *rationalJudge) arrivals() (arrived []*big.Rat, precise bool) {
	p := newPaths(j.in)
	starts, arrived := j.depart(p, j.sent)
	j.shares, j.sharing = make([]bool, len(j.sent)), len(starts)
	for _, x := range starts {
		j.shares[x.edge] = true
	}
	if len(starts) == 0 {
		return arrived, true
	}
	outside := func(x transfer) bool {
		return math.Abs(x.at.hi) > latestStart || x.data < leastData
	}
	if j.tolerance == 0 || slices.ContainsFunc(starts, outside) {
		return j.replay(), true
	}
	if j.ctx.Err() == nil {
		played := make([]arrival, len(arrived))
		newFlows(p).play(j.ctx, starts, played)
		for _, x := range starts {
			arrived[x.edge] = played[x.edge].rat()
		}
	}
	return arrived, false
}

// overlaps checks each machine's tasks in the order of their starts. Two tasks
// overlap if neither fits behind the other within the tolerance: so a task
// shorter than the tolerance can't run amidst another one, either.
func (j *rationalJudge) overlaps(r *Report) {
	tasks := make([][]int, len(j.in.Machines))
	for t, m := range j.on {
		if j.start[t] != nil {
			tasks[m] = append(tasks[m], t)
		}
	}
	for m, list := range tasks {
		if j.ctx.Err() != nil {
			return
		}
		slices.SortStableFunc(list, func(a, b int) int {
			if c := j.start[a].Cmp(j.start[b]); c != 0 {
				return c
			}
			return j.finish[a].Cmp(j.finish[b])
		})
		for k := 1; k < len(list); k++ {
			if stopped(j.ctx, k) {
				return
			}
			a, b := list[k-1], list[k]
			by := j.late(j.start[b], j.finish[a], j.cost(a), j.cost(b))
			if by > 0 {
				by = min(by, j.late(j.start[a], j.finish[b], j.cost(a), j.cost(b)))
			}
			if by > 0 {
				r.add(machineOverlap, by, "tasks %q and %q on machine %q", j.in.Tasks[a].ID, j.in.Tasks[b].ID, j.in.Machines[m].ID)
			}
			if j.finish[a].Cmp(j.finish[b]) > 0 { // the longer one counts for the next
				list[k] = a
			}
		}
	}
}

// depart returns the transfers that share links, in the order of their starts,
// and the arrivals, by edge, of those that share none; nil for the rest.
func (j *rationalJudge) depart(p *paths, sent []*big.Rat) (starts []transfer, arrived []*big.Rat) {
	in := j.in
	arrived = make([]*big.Rat, len(sent))
	for e, at := range sent {
		if stopped(j.ctx, e) {
			return nil, arrived
		}
		if at == nil {
			continue
		}
		m, n := j.on[j.task[in.Edges[e].From]], j.on[j.task[in.Edges[e].To]]
		begin := new(big.Rat).Add(at, exact(in.Machines[m].StartupS))
		data := exact(in.Edges[e].Data)
		if m == n { // within a machine there is no startup
			arrived[e] = begin.Set(at)
			continue
		}
		k := p.class(m, n)
		if k < 0 || data.Sign() == 0 {
			if data.Sign() > 0 {
				data.Quo(data, p.alone(m, n))
			}
			arrived[e] = begin.Add(begin, data)
			continue
		}
		starts = append(starts, transfer{int32(e), int32(k), doubleOf(begin), floor(data)})
	}
	slices.SortStableFunc(starts, func(a, b transfer) int { return a.at.rat().Cmp(b.at.rat()) })
	return starts, arrived
}

// replay returns the arrivals by the judge's replay in fractions.
func (j *rationalJudge) replay() []*big.Rat {
	f := newDAGJudge(j.ctx, j.in, j.tolerance)
	for t, m := range j.on {
		f.on[t] = int32(m)
	}
	for e, at := range j.sent {
		if at != nil {
			f.sent[e] = floor(at)
		}
	}
	return f.replay()
}

// RationalReport is the report of the judge in fractions.
func RationalReport(in *model.DAG, s *model.Schedule, tolerance float64) Report {
	r := Report{Tolerance: tolerance, Objective: math.NaN(), Second: math.NaN()}
	r.Checked = []string{"each constraint on the solution"}
	rationalDAG(context.Background(), in, s, &r)
	return r
}
