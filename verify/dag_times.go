package verify

import (
	"math"
	"math/big"
	"slices"
)

// roundings is how many units in the last place of a time are let pass for the
// rounding of the float64s that times are written in: a start, the end that it
// was computed from and a cost are off by half a unit each. When a transfer
// arrives that shares links depends on all others that do: as much again is let
// pass for each of them, whose start and end a replay in float64s rounds.
const roundings = 4

// late is by how many seconds what is at a time comes before it is due, 0 if
// that is no more than is let pass where things of the given lengths meet at
// these times:
//
//	tolerance * (the shortest of the lengths) + roundings * (unit in the last place of the later time)
//
// The difference is exact. Neither a long task elsewhere nor a long one in the
// same place makes room for a short one: what counts is the shortest of those
// that meet. Of a length of 0 only the roundings are let pass, and nothing with the
// tolerance 0.
func (j *dagJudge) late(at, due *big.Rat, lengths ...float64) float64 {
	by, _ := j.lateness(at, due, roundings, lengths...)
	return by
}

// lateness is late with the given number of roundings, and whether the answer is in doubt if the times are off by
// far less than a unit in their last place.
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

// ulp is the unit in the last place of x >= 0.
func ulp(x float64) float64 {
	if x >= math.MaxFloat64 {
		x = math.Nextafter(math.MaxFloat64, 0)
	}
	return math.Nextafter(x, math.Inf(1)) - x
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// cost is how long a task with a machine runs.
func (j *dagJudge) cost(t int) float64 { return j.in.Cost(t, j.on[t]) }

// times looks at all starts and ends.
func (j *dagJudge) times(r *Report) {
	in, zero := j.in, new(big.Rat)
	for t, at := range j.start {
		if at == nil {
			continue
		}
		if by := j.late(at, zero, j.cost(t)); by > 0 {
			r.add(InvalidStart, by, "task %q starts before 0", in.Tasks[t].ID)
		}
	}
	j.overlaps(r)
	arrived, precise := j.arrivals()
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

// edge looks at an edge's times. It reports whether a judgement is in doubt
// because of the arrival; without a report it does no more than that.
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
				r.add(InvalidStart, by, "the transfer from %q to %q starts before 0", x.From, x.To)
			}
			if ready != nil {
				if by := j.late(sent, ready, way, length); by > 0 {
					r.add(TransferPrecedence, by, "the transfer from %q to %q starts before task %q ends", x.From, x.To, x.From)
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
		r.add(TaskPrecedence, by, "task %q starts before the data of task %q are there", x.To, x.From)
	}
	return doubtful
}

// arrivals is when each edge's transfer arrives, nil without one, and whether
// that is exact; otherwise it is off by far less than a unit in the last place
// of a float64.
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
	newFlows(p).play(j.ctx, starts, arrived)
	return arrived, false
}

// overlaps looks at each machine's tasks in the order of their starts. Two of
// them overlap if neither can be moved behind the other's end by as little as is
// let pass: so what is shorter than that can't run amidst another one, either.
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
			a, b := list[k-1], list[k]
			by := j.late(j.start[b], j.finish[a], j.cost(a), j.cost(b))
			if by > 0 {
				by = min(by, j.late(j.start[a], j.finish[b], j.cost(a), j.cost(b)))
			}
			if by > 0 {
				r.add(MachineOverlap, by, "tasks %q and %q on machine %q", j.in.Tasks[a].ID, j.in.Tasks[b].ID, j.in.Machines[m].ID)
			}
			if j.finish[a].Cmp(j.finish[b]) > 0 { // the longer one counts for the next
				list[k] = a
			}
		}
	}
}
