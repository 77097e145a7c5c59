// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// RationalReport is the report of dag with each time compared in fractions. Both read the schedule by the same code, and
// report an edge or a lateness by the same fractions: what floats leave undecided must be all that there is to report.
func RationalReport(in *model.DAG, s *model.Schedule, tolerance float64) Report {
	r := Report{Tolerance: tolerance, Objective: math.NaN(), Second: math.NaN()}
	r.Checked = []string{"each constraint on the solution"}
	if s.TransferModel != "" && s.TransferModel != in.Transfers() {
		r.add(transferModel, 0, "the schedule is for %q, the instance has %q", s.TransferModel, in.Transfers())
		return r
	}
	j := newDAGJudge(context.Background(), in, tolerance)
	complete := j.place(s, &r)
	complete = j.send(s, &r) && complete
	if !complete {
		free := *in
		free.TransferModel = model.TransferIdeal
		j.in = &free
	}
	j.rationalTimes(&r)
	if !complete {
		return r
	}
	makespan, total := new(big.Rat), sum{}
	for t := range j.start {
		finish := j.rationalFinish(t)
		if finish.Cmp(makespan) > 0 {
			makespan = finish
		}
		total.add(floor(finish))
	}
	r.Objective, r.Second = floor(makespan), 0
	if n := int64(len(in.Tasks)); n > 0 {
		mean := total.rat()
		r.Second = floor(mean.Quo(mean, big.NewRat(n, 1)))
	}
	return r
}

// rationalFinish is the end of a task that has a start.
func (j *dagJudge) rationalFinish(t int) *big.Rat {
	start := exact(j.start[t])
	return start.Add(start, exact(j.length[t]))
}

// rationalTimes checks all starts and ends as times does, where no float decides.
func (j *dagJudge) rationalTimes(r *Report) {
	for t, at := range j.start {
		if math.IsNaN(at) {
			continue
		}
		if by := j.late(exact(at), new(big.Rat), j.length[t]); by > 0 {
			r.add(invalidStart, by, "task %q starts before 0", j.in.Tasks[t].ID)
		}
	}
	j.rationalOverlaps(r)
	p := newPaths(j.in)
	arrived, replayed := j.arrivals(p)
	for e := range j.in.Edges {
		if replayed == nil && j.sharing > 0 && j.edge(e, j.exactArrival(p, e, arrived, nil), nil) {
			replayed = j.replay()
		}
		j.edge(e, j.exactArrival(p, e, arrived, replayed), r)
	}
}

// rationalOverlaps checks each machine's tasks as overlaps does.
func (j *dagJudge) rationalOverlaps(r *Report) {
	tasks := make([][]int, len(j.in.Machines))
	for t, m := range j.on {
		if !math.IsNaN(j.start[t]) {
			tasks[m] = append(tasks[m], t)
		}
	}
	for m, list := range tasks {
		slices.SortStableFunc(list, func(a, b int) int {
			if c := exact(j.start[a]).Cmp(exact(j.start[b])); c != 0 {
				return c
			}
			return j.rationalFinish(a).Cmp(j.rationalFinish(b))
		})
		for k := 1; k < len(list); k++ {
			a, b := list[k-1], list[k]
			by := j.late(exact(j.start[b]), j.rationalFinish(a), j.length[a], j.length[b])
			if by > 0 {
				by = min(by, j.late(exact(j.start[a]), j.rationalFinish(b), j.length[a], j.length[b]))
			}
			if by > 0 {
				r.add(machineOverlap, by, "tasks %q and %q on machine %q", j.in.Tasks[a].ID, j.in.Tasks[b].ID, j.in.Machines[m].ID)
			}
			if j.rationalFinish(a).Cmp(j.rationalFinish(b)) > 0 { // the longer one counts for the next
				list[k] = a
			}
		}
	}
}
