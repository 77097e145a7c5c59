// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"math"
	"math/big"
	"slices"
)

// roundings is the tolerated number of units in the last place of a time, for the rounding of times to float64s. A
// start, the end that it was computed from and a cost are off by half a unit each. The arrival of a transfer that
// shares links depends on all others that do: as much again is tolerated for each of them, as a replay in float64s
// rounds their starts and ends.
const roundings = 4

// late returns by how many seconds at comes before due, 0 if that is tolerated.
// Tolerated is, where tasks or transfers of the given lengths (s) meet,
//
//	tolerance * (the shortest of the lengths) + roundings * (unit in the last place of the later time)
//
// The difference is exact. Only the shortest length counts: a long task makes no
// room for a short one. A length of 0 tolerates only the roundings, a tolerance of 0 nothing.
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

// fine reports whether lateness surely finds nothing: at is at least due, or earlier by surely no more than the
// tolerance. The time at is exact, and due is off by at most err, which is 0 or far below a unit in the last place. The
// length shortest is the shortest of the lengths, or close to it. If it reports false, fractions decide.
//
// The difference of two doubles has a relative error below 2^-100, so its sign is the
// true one. What is allowed is computed with roundings far below the thousandth that is
// taken off it; of two floats that err may make of the later time the lesser one counts.
func (j *dagJudge) fine(at, due double, err, roundings, shortest float64) bool {
	by := at.sub(due).hi
	if by > err || by == 0 && err == 0 {
		return true
	}
	if j.tolerance == 0 {
		return false
	}
	later := max(math.Abs(at.hi), math.Abs(due.hi))
	if err > 0 {
		later = math.Nextafter(later, 0)
	}
	return err-by <= 0.999*(j.tolerance*max(0, shortest)+roundings*ulp(later))
}

// ulp returns the unit in the last place of x >= 0.
func ulp(x float64) float64 {
	if x >= math.MaxFloat64 {
		x = math.Nextafter(math.MaxFloat64, 0)
	}
	return math.Nextafter(x, math.Inf(1)) - x
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// times checks all starts and ends.
func (j *dagJudge) times(r *Report) {
	in, zero := j.in, new(big.Rat)
	for t, at := range j.start {
		if stopped(j.ctx, t) {
			return
		}
		if at >= 0 || math.IsNaN(at) {
			continue
		}
		if by := j.late(exact(at), zero, j.length[t]); by > 0 {
			r.add(invalidStart, by, "task %q starts before 0", in.Tasks[t].ID)
		}
	}
	j.overlaps(r)
	if j.ctx.Err() != nil {
		return
	}
	p := newPaths(in)
	arrived, replayed := j.arrivals(p)
	if j.ctx.Err() != nil {
		return
	}
	precise := j.sharing == 0 || replayed != nil
	for e := range in.Edges {
		if stopped(j.ctx, e) {
			return
		}
		if (replayed == nil || !j.share(e)) && j.edgeFine(e, j.arrival(p, e, arrived)) {
			continue
		}
		at := j.exactArrival(p, e, arrived, replayed)
		if !precise && j.edge(e, at, nil) {
			replayed, precise = j.replay(), true
			if j.ctx.Err() != nil {
				return
			}
			at = j.exactArrival(p, e, arrived, replayed)
		}
		j.edge(e, at, r)
	}
}

// arrival returns an edge's arrival, of no use without a transfer: of one that shares links
// what arrivals returned.
func (j *dagJudge) arrival(p *paths, e int, arrived []arrival) arrival {
	at := j.sent[e]
	if math.IsNaN(at) {
		return arrival{}
	}
	if j.carries == nil {
		return j.flightArrival(p, e, arrived)
	}
	last := arrival{double{hi: at}, 0}
	for _, k := range j.carries[e] {
		x := j.flightArrival(p, int(k), arrived)
		if last.less(x.double) {
			last.double = x.double
		}
		last.err = max(last.err, x.err)
	}
	return last
}

// flightArrival returns the arrival of a flight.
func (j *dagJudge) flightArrival(p *paths, k int, arrived []arrival) arrival {
	if j.shares[k] {
		return arrived[k]
	}
	x := j.flight(k)
	if x.from == x.to { // within a machine there is no startup
		return arrival{double{hi: x.at}, 0}
	}
	return p.way(int(x.from), int(x.to)).arrival(x.at, x.data)
}

// share reports whether an edge's data share links.
func (j *dagJudge) share(e int) bool {
	if j.carries == nil {
		return j.shares[e]
	}
	return slices.ContainsFunc(j.carries[e], func(k int32) bool { return j.shares[k] })
}

// exactArrival returns an edge's arrival in fractions, nil without a transfer. It is the replayed arrival if the edge
// shares links, else the one that arrivals returned.
func (j *dagJudge) exactArrival(p *paths, e int, arrived []arrival, replayed []*big.Rat) *big.Rat {
	flight := func(k int) *big.Rat {
		switch {
		case !j.shares[k]:
			return j.alone(p, k)
		case replayed != nil:
			return replayed[k]
		}
		return arrived[k].rat()
	}
	switch {
	case math.IsNaN(j.sent[e]):
		return nil
	case j.carries == nil:
		return flight(e)
	}
	last := exact(j.sent[e])
	for _, k := range j.carries[e] {
		if at := flight(int(k)); at.Cmp(last) > 0 {
			last = at
		}
	}
	return last
}

// edgeFine reports whether edge surely finds nothing wrong or in doubt.
func (j *dagJudge) edgeFine(e int, arrived arrival) bool {
	f, t := j.from[e], j.to[e]
	start, ends := j.start[t], !math.IsNaN(j.start[f])
	ready, err, length, roundings := double{}, 0.0, math.Inf(1), float64(roundings)
	if ends {
		if j.within(e).Sign() > 0 {
			return false // fractions decide
		}
		ready, length = j.finish(int(f)), j.length[f]
	}
	if sent := j.sent[e]; !math.IsNaN(sent) {
		at := double{hi: sent}
		way := max(0, arrived.sub(at).hi)
		if sent < 0 || ends && !j.fine(at, ready, 0, roundings, min(way, length)) {
			return false
		}
		ready, err, length, ends = arrived.double, arrived.err, way, true
		if j.share(e) {
			roundings *= 1 + float64(j.sharing)
		}
	}
	return !ends || math.IsNaN(start) || j.fine(double{hi: start}, ready, err, roundings, min(length, j.length[t]))
}

// edge checks an edge's times in fractions. It reports whether the judgement is in doubt
// because of the arrival's rounding; if r is nil it does nothing else.
func (j *dagJudge) edge(e int, arrived *big.Rat, r *Report) (doubtful bool) {
	x := &j.in.Edges[e]
	f, t := j.from[e], j.to[e]
	var ready *big.Rat // the events before the task, and its length
	length, roundings := math.Inf(1), float64(roundings)
	if !math.IsNaN(j.start[f]) {
		ready, length = j.finish(int(f)).rat(), j.length[f]
		if stay := j.within(e); stay.Sign() > 0 {
			ready, length = ready.Add(ready, stay), min(length, floor(stay))
		}
	}
	if !math.IsNaN(j.sent[e]) {
		sent := exact(j.sent[e])
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
		if j.share(e) {
			roundings *= 1 + float64(j.sharing)
		}
	}
	if ready == nil || math.IsNaN(j.start[t]) {
		return false
	}
	by, doubtful := j.lateness(exact(j.start[t]), ready, roundings, length, j.length[t])
	if by > 0 && r != nil {
		r.add(taskPrecedence, by, "task %q starts before the data of task %q are there", x.To, x.From)
	}
	return doubtful
}

// within returns how long the data of an edge take within a machine: 0 if they leave it.
func (j *dagJudge) within(e int) *big.Rat {
	m := j.on[j.from[e]]
	if m < 0 || m != j.on[j.to[e]] || j.in.Machines[m].LocalRate == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Quo(exact(largest(&j.in.Edges[e])), exact(j.in.Machines[m].LocalRate))
}

// arrival is when a transfer arrives, off by at most err.
type arrival struct {
	double
	err float64
}

// arrivals returns the arrivals, by flight, of those that share links, nil if there are
// none. They are off by far less than a unit in the last place of a float64, which their
// err doesn't count; where that isn't enough, all are replayed in fractions.
func (j *dagJudge) arrivals(p *paths) (arrived []arrival, replayed []*big.Rat) {
	j.launch()
	starts := j.depart(p)
	j.shares, j.sharing = make([]bool, j.flying()), len(starts)
	for _, x := range starts {
		j.shares[x.flight] = true
	}
	if len(starts) == 0 {
		return nil, nil
	}
	outside := func(x transfer) bool { return math.Abs(x.at.hi) > latestStart || x.data < leastData }
	if j.tolerance == 0 || slices.ContainsFunc(starts, outside) {
		return nil, j.replay()
	}
	if arrived = make([]arrival, j.flying()); j.ctx.Err() == nil {
		newFlows(p).play(j.ctx, starts, arrived)
	}
	return arrived, nil
}

// stay is a task's time on its machine.
type stay struct {
	start  float64
	finish double
	task   int32
}

// overlaps checks each machine's tasks in the order of their starts. Two tasks
// overlap if neither fits behind the other within the tolerance: so a task
// shorter than the tolerance can't run amidst another one, either.
func (j *dagJudge) overlaps(r *Report) {
	count := make([]int, len(j.in.Machines))
	for t, m := range j.on {
		if !math.IsNaN(j.start[t]) {
			count[m]++
		}
	}
	tasks := make([][]stay, len(j.in.Machines))
	for m, n := range count {
		tasks[m] = make([]stay, 0, n)
	}
	for t, m := range j.on {
		if !math.IsNaN(j.start[t]) {
			tasks[m] = append(tasks[m], stay{j.start[t], j.finish(t), int32(t)})
		}
	}
	for m, list := range tasks {
		if j.ctx.Err() != nil {
			return
		}
		slices.SortFunc(list, func(a, b stay) int {
			return cmp.Or(cmp.Compare(a.start, b.start), a.finish.compare(b.finish), cmp.Compare(a.task, b.task))
		})
		if len(j.in.Resources) > 0 {
			j.crowds(r, m, list)
			continue
		}
		for k := 1; k < len(list); k++ {
			if stopped(j.ctx, k) {
				return
			}
			a, b := &list[k-1], &list[k]
			if by := j.overlap(a, b); by > 0 {
				r.add(machineOverlap, by, "tasks %q and %q on machine %q",
					j.in.Tasks[a.task].ID, j.in.Tasks[b.task].ID, j.in.Machines[m].ID)
			}
			if b.finish.less(a.finish) { // the longer one counts for the next
				list[k] = *a
			}
		}
	}
}

// overlap returns by how many seconds two tasks overlap, of which the first starts no later; 0 if that is tolerated.
func (j *dagJudge) overlap(a, b *stay) float64 {
	la, lb := j.length[a.task], j.length[b.task]
	if j.fine(double{hi: b.start}, a.finish, 0, roundings, min(la, lb)) {
		return 0
	}
	by := j.late(exact(b.start), a.finish.rat(), la, lb)
	if by > 0 {
		by = min(by, j.late(exact(a.start), b.finish.rat(), la, lb))
	}
	return by
}
