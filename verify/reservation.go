// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/big"
	"slices"
	"sort"

	"github.com/gapwise/gapwise/model"
)

// Constraints of Reservation (section 3 of its paper). None means that a job keeps its PEs from start to end: a booking
// has one list. invalidStart, for a start that is NaN or infinite, is shared with DAG.
const (
	unknownRequest  = "unknown_request"  // a booking of a request that the instance doesn't have
	repeatedRequest = "repeated_request" // a request is booked twice
	declinedRequest = "declined_request" // a request isn't booked although the goal is all of them
	wrongGoal       = "wrong_goal"       // the bookings are for another goal than the instance's
	peCount         = "pe_count"         // the number of PEs isn't that asked for
	unknownPE       = "unknown_pe"       // a PE number that isn't from 0 to n-1
	peOrder         = "pe_order"         // PEs that aren't listed once each in ascending order
	earlyStart      = "early_start"      // a start before the ready time
	lateEnd         = "late_end"         // start plus duration is after the deadline
	peOverlap       = "pe_overlap"       // two jobs at a time on one PE
	onlineOrder     = "online_order"     // online bookings that aren't in the order of arrival
	onlineConflict  = "online_conflict"  // an online booking of PEs promised to another one
)

// maxPairs bounds the pairs of requests listed under one constraint; one more line notes that there are others. Without
// it, n bookings could make n² lines.
const maxPairs = 10_000

// reservation judges bookings, in integers (see bookingJudge for times). Amounts
// are times as shares of a duration: the request's own, or the shorter one where
// two overlap.
//
// A job that runs holds its PEs over [start, start + runtime). A job that is
// cancelled before its start holds none. Two jobs overlap on a PE if each ends
// after the other's start, by however little.
//
// Online bookings are checked in the order of their requests' arrivals. Over its reserved interval [start, start +
// duration) a booking may take no PE that was promised to an earlier booking when its request arrived. A booking's
// reserved interval is promised until its job ends or, if it is cancelled before its start, until its cancellation.
// A booking that has ended or is cancelled by an arrival promises nothing to it (a start before the arrival is an early
// start).
//
// A booking without a request or a finite start is left out of the other checks;
// of a list of PEs those that exist count, each once. The objectives are computed
// if every booking is of a request of its own and has a finite start.
//
// Let n bookings have r ranges of PEs, k pairs of them overlapping in time and in 64ths of the PEs. The time is O(n log
// n + r), and for each of the k pairs O(log n + the ranges of one of the two); the memory is O(n + r + PEs/64).
func reservation(ctx context.Context, in *model.Reservation, b *model.Bookings, r *Report) {
	j := &bookingJudge{ctx: ctx, in: in, report: r, read: newTickReader(ctx, in), times: make([]requestTicks, len(in.Requests)), pes: make(peBits, (in.PEs+63)/64)}
	shortest := int64(math.MaxInt64)
	for k := range in.Requests {
		if stopped(ctx, k) {
			return
		}
		j.times[k] = j.read.request(&in.Requests[k])
		shortest = min(shortest, j.times[k].runtime)
	}
	j.allowed = r.Tolerance * float64(shortest)
	complete := j.each(b)
	j.sort()
	j.overlaps()
	if b.Online {
		j.online()
	}
	if complete {
		r.Objective, r.Second = j.objectives()
	}
}

// bookingJudge holds bookings in exact figures. A float64 is read as its printed decimal number. All times of the
// instance are integers of ticks.
//
// A tick is 10^-k s with the least k that makes all times of the instance
// integers; nothing is rounded then. If that k is above 22, or the last deadline would be above 2^52 ticks, k is the
// largest without these. Arrivals, ready times, durations, runtimes and cancellations are then rounded down and
// deadlines up, so a plan that is feasible in real time passes. But a job that starts no later than its cancellation,
// in the figures as given, runs, whatever is rounded, and so does a job that can't start later. Instances where the
// rounding matters are invalid (see model.Reservation.Validate). A deadline before ready plus duration, because their
// sum is rounded, means that sum.
//
// Starts may be between ticks. A start is moved to the nearest tick if it is as near as the tolerance times the
// shortest runtime of the instance, or as 4 units in the last place of the float64. Otherwise it is taken as it is. A
// tolerance of 0 moves none. Nothing else is tolerated.
type bookingJudge struct {
	ctx     context.Context
	in      *model.Reservation
	report  *Report
	read    tickReader
	times   []requestTicks // by request
	allowed float64        // largest move of a start to a tick, in ticks
	booked  []booked       // in the order of the solution
	order   []int          // indices in booked, by start
	starts  []moment       // in that order
	pes     peBits         // of the booking being checked
}

// booked is a booking of a known request with a finite start.
type booked struct {
	*model.Request
	number        int // of the request
	startS        float64
	start         moment
	runs          bool         // it isn't cancelled before its start
	end, reserved moment       // start plus runtime, start plus duration
	pes           model.PEList // the existing ones, ascending
	blocks        uint64       // 64ths of the PEs that it touches, as bits
	at            int          // index in order
}

// each checks each booking by itself. It reports whether the objectives can be
// computed.
func (j *bookingJudge) each(b *model.Bookings) (complete bool) {
	in, r := j.in, j.report
	complete = true
	if b.Goal != "" && b.Goal != in.EffectiveGoal() {
		r.add(wrongGoal, 0, "the bookings are for the goal %q, the instance has %q", b.Goal, in.EffectiveGoal())
		complete = false
	}
	find := finder(j.ctx, len(j.in.Requests), func(k int) string { return j.in.Requests[k].ID })
	seen := make([]bool, len(in.Requests))
	j.booked = make([]booked, 0, len(b.Bookings))
	for i := range b.Bookings {
		if j.ctx.Err() != nil {
			return false
		}
		x := &b.Bookings[i]
		k, ok := find(x.ID)
		switch {
		case !ok:
			r.add(unknownRequest, 0, "request %q isn't in the instance", x.ID)
			complete = false
			continue
		case seen[k]:
			r.add(repeatedRequest, 0, "request %q is booked twice", x.ID)
			complete = false
			continue
		}
		seen[k] = true
		q := &in.Requests[k]
		pes := j.peList(x)
		if n := pes.Len(); n != q.PEs {
			r.add(peCount, 0, "request %q asks for %d PEs and gets %d", x.ID, q.PEs, n)
		}
		if !finite(x.StartS) {
			r.add(invalidStart, 0, "request %q starts at %v", x.ID, x.StartS)
			complete = false
			continue
		}
		t := &j.times[k]
		start := j.read.start(x.StartS, j.allowed)
		reserved := start.after(t.duration)
		if ready := (moment{ticks: t.ready}); ready.compare(start) > 0 {
			r.add(earlyStart, share(ready.since(start), t.duration), "request %q starts at %v and is ready at %v", x.ID, x.StartS, q.ReadyS)
		}
		if due := (moment{ticks: t.deadline}); reserved.compare(due) > 0 {
			r.add(lateEnd, share(reserved.since(due), t.duration), "request %q is reserved until %v, its deadline is %v", x.ID, x.StartS+q.DurationS, q.DeadlineS)
		}
		j.booked = append(j.booked, booked{Request: q, number: k, startS: x.StartS, start: start,
			runs: start.compare(moment{ticks: t.cancel}) <= 0 || q.CancelS != nil && x.StartS <= *q.CancelS,
			end:  start.after(t.runtime), reserved: reserved, pes: pes, blocks: blocksOf(pes, in.PEs)})
	}
	if in.EffectiveGoal() == model.GoalAll {
		for k, s := range seen {
			if !s {
				r.add(declinedRequest, 0, "request %q is declined, the goal is all of them", in.Requests[k].ID)
			}
		}
	}
	return complete
}

// peList returns a booking's existing PEs, as ascending ranges.
func (j *bookingJudge) peList(x *model.Booking) model.PEList {
	n := j.in.PEs
	ordered, known := true, true
	for i, s := range x.PEs {
		if ordered && (s.Last < s.First || i > 0 && s.First <= x.PEs[i-1].Last) {
			ordered = false
			j.report.add(peOrder, 0, "request %q lists the PEs %d-%d where they aren't in ascending order, each once", x.ID, s.First, s.Last)
		}
		if known && s.First <= s.Last && (s.First < 0 || s.Last >= n) {
			known = false
			bad := s.First
			if bad >= 0 {
				bad = max(bad, n)
			}
			j.report.add(unknownPE, 0, "request %q is on PE %d, there are 0 to %d", x.ID, bad, n-1)
		}
	}
	if ordered && known {
		return x.PEs
	}
	var clipped, merged model.PEList
	for _, s := range x.PEs {
		if s.First, s.Last = max(s.First, 0), min(s.Last, n-1); s.First <= s.Last {
			clipped = append(clipped, s)
		}
	}
	slices.SortFunc(clipped, func(a, b model.PERange) int { return cmp.Compare(a.First, b.First) })
	for _, s := range clipped {
		if k := len(merged) - 1; k >= 0 && s.First <= merged[k].Last {
			merged[k].Last = max(merged[k].Last, s.Last)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// sort orders the bookings by start, and equal starts as in the solution.
func (j *bookingJudge) sort() {
	type begin struct {
		at moment
		i  int
	}
	all := make([]begin, len(j.booked)) // a compact slice sorts faster than the bookings
	for i := range j.booked {
		all[i] = begin{j.booked[i].start, i}
	}
	slices.SortFunc(all, func(x, y begin) int { return cmp.Or(x.at.compare(y.at), cmp.Compare(x.i, y.i)) })
	j.order, j.starts = make([]int, len(all)), make([]moment, len(all))
	for at, x := range all {
		j.order[at], j.starts[at], j.booked[x.i].at = x.i, x.at, at
	}
}

// overlaps reports the pairs of jobs that hold a PE at the same time, each pair
// once. In the order of the starts it compares a job with those before it.
func (j *bookingJudge) overlaps() {
	pinned := newBoard(len(j.booked))
	runs := clash{constraint: peOverlap, format: "requests %q and %q on PEs %s for %.9g s", end: func(x *booked) moment { return x.end }}
	for at, i := range j.order {
		b := &j.booked[i]
		if !b.runs {
			continue
		}
		if !j.clashes(pinned, at, b, &runs) {
			return
		}
		pinned.pin(at, b.end.ticks, b.blocks)
	}
}

// online reports bookings that weren't possible in the order of arrival.
func (j *bookingJudge) online() {
	latest := -1
	for i := range j.booked {
		if stopped(j.ctx, i) {
			return
		}
		b := &j.booked[i]
		if latest >= 0 && b.number < j.booked[latest].number {
			j.report.add(onlineOrder, 0, "request %q is booked after %q and comes before it in the order of arrival", b.ID, j.booked[latest].ID)
			continue
		}
		latest = i
	}
	// Bookings that have left are unpinned for speed only: promised decides.
	type leaver struct {
		tick int64
		i    int
	}
	byArrival, byLeave := make([]int, len(j.in.Requests)), make([]leaver, len(j.booked))
	for k := range byArrival {
		byArrival[k] = -1 // the request isn't booked
	}
	for i := range j.booked {
		b := &j.booked[i]
		byArrival[b.number], byLeave[i] = i, leaver{j.times[b.number].cancel, i}
		if b.runs {
			byLeave[i].tick = b.end.ticks
		}
	}
	slices.SortFunc(byLeave, func(x, y leaver) int { return cmp.Compare(x.tick, y.tick) })
	pinned, left := newBoard(len(j.booked)), 0
	promises := clash{constraint: onlineConflict, format: "request %[2]q takes what was promised to %[1]q when it arrived, PEs %[3]s for %.9[4]g s",
		end: func(x *booked) moment { return x.reserved }, still: j.promised}
	for k, i := range byArrival {
		if stopped(j.ctx, k) {
			return
		}
		if i < 0 {
			continue
		}
		b := &j.booked[i]
		for ; left < len(byLeave) && byLeave[left].tick < j.times[b.number].arrival; left++ {
			pinned.unpin(j.booked[byLeave[left].i].at)
		}
		before := sort.Search(len(j.starts), func(at int) bool { return j.starts[at].compare(b.reserved) > 0 })
		if !j.clashes(pinned, before, b, &promises) {
			return
		}
		pinned.pin(b.at, b.reserved.ticks, b.blocks)
	}
}

// clash is a kind of conflict: two bookings have a PE in common and the intervals
// from start to end overlap, if the first is still valid when the second arrives.
type clash struct {
	constraint string
	format     string                             // of the ids (earlier start first), the PEs, the seconds
	end        func(*booked) moment               // of the interval
	still      func(first *booked, at int64) bool // nil: always
	pairs      int                                // reported so far
}

// clashes reports the conflicts of b with the pinned bookings among the first
// ones in the order of the starts. It returns false to end the search: there are
// too many, or the context has ended.
func (j *bookingJudge) clashes(pinned *board, first int, b *booked, c *clash) bool {
	j.pes.add(b.pes)
	defer j.pes.remove(b.pes)
	if j.ctx.Err() != nil {
		return false
	}
	more := pinned.search(first, b.start.ticks, b.blocks, func(at int) bool {
		if j.ctx.Err() != nil {
			return false
		}
		a := &j.booked[j.order[at]]
		if !meet(a, b, c.end(a), c.end(b)) || !j.pes.meets(a.pes) || c.still != nil && !c.still(a, j.times[b.number].arrival) {
			return true
		}
		if c.pairs++; c.pairs > maxPairs {
			return false
		}
		s := common(a, b, c.end(a), c.end(b))
		shorter := min(c.end(a).ticks-a.start.ticks, c.end(b).ticks-b.start.ticks)
		j.report.add(c.constraint, share(s, shorter), c.format, a.ID, b.ID, inWords(a.pes, b.pes), s/math.Pow10(j.read.places))
		return true
	})
	if !more {
		j.report.add(c.constraint, 0, "there are more than %d such pairs, the others aren't listed", maxPairs)
	}
	return more
}

// promised reports whether at a time (in ticks) a booking's reserved interval is
// still promised to it.
func (j *bookingJudge) promised(a *booked, now int64) bool {
	if a.runs {
		return a.end.compare(moment{ticks: now}) > 0
	}
	return j.times[a.number].cancel > now
}

// meet reports whether the intervals from the starts of two bookings to the given
// ends overlap: each ends after the other's start.
func meet(a, b *booked, aEnd, bEnd moment) bool {
	return aEnd.compare(b.start) > 0 && bEnd.compare(a.start) > 0
}

// common returns the length of that overlap, in ticks.
func common(a, b *booked, aEnd, bEnd moment) float64 {
	from, to := a.start, aEnd
	if b.start.compare(from) > 0 {
		from = b.start
	}
	if bEnd.compare(to) < 0 {
		to = bEnd
	}
	return to.since(from)
}

// share returns a violation's amount, above 0: ticks as a share of a duration.
func share(ticks float64, duration int64) float64 {
	return max(ticks/float64(duration), math.SmallestNonzeroFloat64)
}

// objectives returns the number of bookings or their PE-seconds, used or reserved according to the goal, exact but for
// one rounding. It also returns the mean slowdown of the bookings that run (1 if none does), computed to more than 200
// bits.
func (j *bookingJudge) objectives() (weight, slowdown float64) {
	var total sum
	goal := j.in.EffectiveGoal()
	waits := map[float64]*sum{} // by duration: exact, few sums of many terms
	runs := int64(0)
	for i := range j.booked {
		if stopped(j.ctx, i) {
			return weight, slowdown
		}
		b := &j.booked[i]
		seconds := b.DurationS
		if goal == model.GoalPESeconds {
			if seconds = b.Runtime(); !b.runs {
				seconds = 0
			}
		}
		if goal.PESeconds() {
			// The product's rounding error is a float64, too.
			product := float64(b.PEs) * seconds
			total.add(product)
			total.add(math.FMA(float64(b.PEs), seconds, -product))
		}
		if !b.runs {
			continue
		}
		runs++
		w := waits[b.DurationS]
		if w == nil {
			w = new(sum)
			waits[b.DurationS] = w
		}
		w.add(b.startS)
		w.add(-b.ReadyS)
	}
	weight = float64(len(j.booked))
	if goal.PESeconds() {
		weight, _ = total.rat().Float64()
	}
	if runs == 0 {
		return weight, 1
	}
	float := func(x *big.Int) *big.Float { return new(big.Float).SetPrec(256).SetInt(x) }
	all := float(big.NewInt(runs)) // of (wait + duration)/duration
	for k, d := range slices.Sorted(maps.Keys(waits)) {
		if stopped(j.ctx, k) {
			return weight, slowdown
		}
		var duration sum
		duration.add(d)
		wait := float(waits[d].units())
		all.Add(all, wait.Quo(wait, float(duration.units())))
	}
	slowdown, _ = all.Quo(all, float(big.NewInt(runs))).Float64()
	return weight, slowdown
}
