// SPDX-License-Identifier: MIT

package verify

import (
	"math"
	"math/big"
	"slices"
)

// roundings is the tolerated number of units in the last place of a time, for the
// rounding of times to float64s: a start, the end that it was computed from and
// a cost are off by half a unit each. The arrival of a transfer that shares links
// depends on all others that do: as much again is tolerated for each of them, as
// a replay in float64s rounds their starts and ends.
const roundings = 4

// late returns by how many seconds at comes before due, 0 if that is tolerated.
// Tolerated is, where tasks or transfers of the given lengths (s) meet,
//
//	tolerance * (the shortest of the lengths) + roundings * (unit in the last place of the later time)
//
// The difference is exact. Only the shortest length counts: a long task makes no
// room for a short one. With a length of 0 only the roundings are tolerated, with
// a tolerance of 0 nothing.
func (j *dagJudge) late(at, due *big.Rat, lengths ...float64) float64 {
	by, _ := j.lateness(at, due, roundings, lengths...)
	return by
}

// lateness is late with the given number of roundings. doubtful reports that the
// answer could change if a time changed by far less than a unit in its last
// place.
func (j *dagJudge) lateness(at, due *big.Rat, roundings float64, lengths ...float64) (by float64, doubtful bool) {
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

// ulp returns the unit in the last place of x >= 0.
func ulp(x float64) float64 {
	if x >= math.MaxFloat64 {
		x = math.Nextafter(math.MaxFloat64, 0)
	}
	return math.Nextafter(x, math.Inf(1)) - x
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// cost returns the run time, in seconds, of a task that has a machine.
func (j *dagJudge) cost(t int) float64 { return j.in.Cost(t, j.on[t]) }

// times checks all starts and ends.
func (j *dagJudge) times(r *Report) {
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
			arrived, precise = j.replay(j.sent), true
			if j.ctx.Err() != nil {
				return
			}
		}
		j.edge(e, arrived[e], r)
	}
}

// edge checks an edge's times. It reports whether the judgement is in doubt
// because of the arrival's rounding; if r is nil it does nothing else.
func (j *dagJudge) edge(e int, arrived *big.Rat, r *Report) (doubtful bool) {
	x := &j.in.Edges[e]
	f, t := j.task[x.From], j.task[x.To]
	ready, length, roundings := j.finish[f], math.Inf(1), float64(roundings) // of what comes before the task
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
func (j *dagJudge) arrivals() (arrived []*big.Rat, precise bool) {
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
		return math.Abs(floor(x.at)) > latestStart || floor(x.data) < leastData
	}
	if j.tolerance == 0 || slices.ContainsFunc(starts, outside) {
		return j.replay(j.sent), true
	}
	if j.ctx.Err() == nil {
		newFlows(p).play(j.ctx, starts, arrived)
	}
	return arrived, false
}

// overlaps checks each machine's tasks in the order of their starts. Two tasks
// overlap if neither fits behind the other within the tolerance: so a task
// shorter than the tolerance can't run amidst another one, either.
func (j *dagJudge) overlaps(r *Report) {
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
