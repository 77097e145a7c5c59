package verify

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
	"sort"

	"github.com/gapwise/gapwise/model"
)

// Constraints of Reservation (section 3 of its paper). That a job keeps its PEs
// from its start to its end needs none: a booking has one list for all of it.
// InvalidStart, for a start that is NaN or infinite, stands with DAG's.
const (
	UnknownRequest  = "unknown_request"  // a booking of a request that the instance doesn't have
	RepeatedRequest = "repeated_request" // a request is booked twice
	DeclinedRequest = "declined_request" // a request isn't booked although the goal is all of them
	WrongGoal       = "wrong_goal"       // the bookings are for another goal than the instance's
	PECount         = "pe_count"         // another number of PEs than asked for
	UnknownPE       = "unknown_pe"       // a PE number that isn't from 0 to n-1
	PEOrder         = "pe_order"         // PEs that aren't listed once each in ascending order
	EarlyStart      = "early_start"      // a start before the ready time
	LateEnd         = "late_end"         // start plus duration is after the deadline
	PEOverlap       = "pe_overlap"       // two jobs at a time on one PE
	OnlineOrder     = "online_order"     // claimed to be online, but not in the order of arrival
	OnlineConflict  = "online_conflict"  // claimed to be online, but on PEs promised to another at the time
)

// maxPairs is how many pairs of requests are listed under one constraint; a
// line more says that there are others. Bookings that are wrong throughout would
// else make as many lines as the square of their number.
const maxPairs = 10_000

// reservation judges bookings. All is decided in whole numbers (see
// bookingJudge for what a time is). Amounts are times as shares of a duration: of the request's own,
// of the shorter one's where two overlap.
//
// A job that runs holds its PEs over [start, start + runtime); one that is
// cancelled before its start holds none. Two jobs overlap on a PE if each ends after the
// other's start, by however little.
//
// Bookings that claim to be online are looked at in the order of the requests:
// a booking may take no PE over its reserved interval, [start, start +
// duration), that was promised to an earlier one when its request arrived. An
// earlier one is promised its reserved interval as long as nobody knows better:
// until its job has ended, and until it is cancelled unless it has started by
// then. What has ended or is cancelled by the arrival promises nothing any
// more (a start before that, back in time, is an early one).
//
// What has no request or no time is left out of the rest; a list of PEs counts
// as the set of those that there are. The objectives are told if every booking
// is of a request of its own with a finite start.
//
// For n bookings with r ranges of PEs and k pairs of bookings that overlap in
// time (and in 64ths of the PEs): O(n log n + r) and for each pair O(log n)
// and the ranges of one of them, in memory O(n + r + PEs/64). The mean slowdown
// takes O(d^1.6) more for d different durations, 14 ms for 10,000.
func reservation(ctx context.Context, in *model.Reservation, b *model.Bookings, r *Report) {
	j := &bookingJudge{ctx: ctx, in: in, report: r, read: newTickReader(in), times: make([]requestTicks, len(in.Requests)), pes: make(peBits, (in.PEs+63)/64)}
	shortest := int64(math.MaxInt64)
	for k := range in.Requests {
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

// bookingJudge is bookings in exact figures. A float64 is read as the decimal
// number that it prints as, and all times are whole numbers of ticks.
//
// A tick is 10^-k s with the least k that makes all times of the instance
// whole, and then nothing is rounded. If the last deadline would be more than 2^52
// ticks, or k more than 22, it is 10^-k s with the largest k for which it isn't: arrivals, ready times,
// durations, runtimes and cancellations are rounded down and deadlines up, so
// what is feasible in real time passes. But a job that starts at its cancellation or before, in the figures as
// given, runs, whatever is rounded, and so does one that can't start later. Instances in which that is much are no
// valid ones (see model.Reservation.Validate). A deadline that is before ready
// plus duration, by the rounding of their sum, means that sum.
//
// Starts may be between ticks: a start is set to the nearest tick
// if it is as near as the tolerance times the shortest runtime of the
// instance, or 4 units in the last place of the float64, and is taken as it is otherwise. With the tolerance 0
// none is set. Nothing else is tolerated.
type bookingJudge struct {
	ctx     context.Context
	in      *model.Reservation
	report  *Report
	read    tickReader
	times   []requestTicks // of the requests
	allowed float64        // how many ticks a start may be moved to be on one
	booked  []booked       // in the order of the solution
	order   []int          // of the starts: numbers of booked
	starts  []moment       // in that order
	pes     peBits         // of the booking that is looked at
}

// booked is a booking of a request that is there, at a time that is one.
type booked struct {
	*model.Request
	number        int // of the request
	startS        float64
	start         moment
	runs          bool
	end, reserved moment       // start plus runtime, start plus duration
	pes           model.PEList // those that there are, in order
	blocks        uint64       // 64ths of the PEs that it touches
	at            int          // place in the order of the starts
}

// each looks at each booking by itself. It reports whether all have an
// objective.
func (j *bookingJudge) each(b *model.Bookings) (complete bool) {
	in, r := j.in, j.report
	complete = true
	if b.Goal != "" && b.Goal != in.EffectiveGoal() {
		r.add(WrongGoal, 0, "the bookings are for the goal %q, the instance has %q", b.Goal, in.EffectiveGoal())
		complete = false
	}
	find := j.finder()
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
			r.add(UnknownRequest, 0, "request %q isn't in the instance", x.ID)
			complete = false
			continue
		case seen[k]:
			r.add(RepeatedRequest, 0, "request %q is booked twice", x.ID)
			complete = false
			continue
		}
		seen[k] = true
		q := &in.Requests[k]
		pes := j.peList(x)
		if n := pes.Len(); n != q.PEs {
			r.add(PECount, 0, "request %q asks for %d PEs and gets %d", x.ID, q.PEs, n)
		}
		if !finite(x.StartS) {
			r.add(InvalidStart, 0, "request %q starts at %v", x.ID, x.StartS)
			complete = false
			continue
		}
		t := &j.times[k]
		start := j.read.start(x.StartS, j.allowed)
		reserved := start.after(t.duration)
		if ready := (moment{ticks: t.ready}); ready.compare(start) > 0 {
			r.add(EarlyStart, share(ready.since(start), t.duration), "request %q starts at %v and is ready at %v", x.ID, x.StartS, q.ReadyS)
		}
		if due := (moment{ticks: t.deadline}); reserved.compare(due) > 0 {
			r.add(LateEnd, share(reserved.since(due), t.duration), "request %q is reserved until %v, its deadline is %v", x.ID, x.StartS+q.DurationS, q.DeadlineS)
		}
		j.booked = append(j.booked, booked{Request: q, number: k, startS: x.StartS, start: start,
			runs: start.compare(moment{ticks: t.cancel}) <= 0 || q.CancelS != nil && x.StartS <= *q.CancelS,
			end:  start.after(t.runtime), reserved: reserved, pes: pes, blocks: blocksOf(pes, in.PEs)})
	}
	if in.EffectiveGoal() == model.GoalAll {
		for k, s := range seen {
			if !s {
				r.add(DeclinedRequest, 0, "request %q is declined, the goal is all of them", in.Requests[k].ID)
			}
		}
	}
	return complete
}

// finder returns a function that finds a request's number by its id. As long as
// it is asked in the order of the requests it goes on from the last one that it
// found; the first id that isn't ahead has it make a map.
func (j *bookingJudge) finder() func(id string) (int, bool) {
	all, ahead := j.in.Requests, 0
	var index map[string]int
	return func(id string) (int, bool) {
		for ; index == nil && ahead < len(all); ahead++ {
			if all[ahead].ID == id {
				ahead++
				return ahead - 1, true
			}
		}
		if index == nil {
			index = make(map[string]int, len(all))
			for k := range all {
				index[all[k].ID] = k
			}
		}
		k, ok := index[id]
		return k, ok
	}
}

// peList is the set of a booking's PEs that there are, as ranges in order.
func (j *bookingJudge) peList(x *model.Booking) model.PEList {
	n := j.in.PEs
	ordered, known := true, true
	for i, s := range x.PEs {
		if ordered && (s.Last < s.First || i > 0 && s.First <= x.PEs[i-1].Last) {
			ordered = false
			j.report.add(PEOrder, 0, "request %q lists the PEs %d-%d where they aren't in ascending order, each once", x.ID, s.First, s.Last)
		}
		if known && s.First <= s.Last && (s.First < 0 || s.Last >= n) {
			known = false
			bad := s.First
			if bad >= 0 {
				bad = max(bad, n)
			}
			j.report.add(UnknownPE, 0, "request %q is on PE %d, there are 0 to %d", x.ID, bad, n-1)
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

// sort puts the bookings in the order of their starts, equal ones in that of
// the solution.
func (j *bookingJudge) sort() {
	type begin struct {
		at moment
		i  int
	}
	all := make([]begin, len(j.booked)) // side by side, which sorts faster than the bookings
	for i := range j.booked {
		all[i] = begin{j.booked[i].start, i}
	}
	slices.SortFunc(all, func(x, y begin) int { return cmp.Or(x.at.compare(y.at), cmp.Compare(x.i, y.i)) })
	j.order, j.starts = make([]int, len(all)), make([]moment, len(all))
	for at, x := range all {
		j.order[at], j.starts[at], j.booked[x.i].at = x.i, x.at, at
	}
}

// overlaps reports the pairs of jobs that run on one PE at a time, each once.
// In the order of the starts, a job is held against those before it.
func (j *bookingJudge) overlaps() {
	pinned := newBoard(len(j.booked))
	runs := clash{constraint: PEOverlap, format: "requests %q and %q on PEs %s for %.9g s", end: func(x *booked) moment { return x.end }}
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

// online reports what could not have been decided in the order of arrival.
func (j *bookingJudge) online() {
	latest := -1
	for i := range j.booked {
		b := &j.booked[i]
		if latest >= 0 && b.number < j.booked[latest].number {
			j.report.add(OnlineOrder, 0, "request %q is booked after %q and comes before it in the order of arrival", b.ID, j.booked[latest].ID)
			continue
		}
		latest = i
	}
	// Who leaves is taken off the board to keep it small; promised decides.
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
	promises := clash{constraint: OnlineConflict, format: "request %[2]q takes what was promised to %[1]q when it arrived, PEs %[3]s for %.9[4]g s",
		end: func(x *booked) moment { return x.reserved }, still: j.promised}
	for _, i := range byArrival {
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

// clash is how two bookings clash: on one PE at a time until their ends, if
// what the first holds is still its own when the second arrives.
type clash struct {
	constraint, format string // format takes both ids, the one that began first first, the PEs and the seconds
	end                func(*booked) moment
	still              func(first *booked, at int64) bool // nil: always
	pairs              int                                // reported so far
}

// clashes reports how b clashes with those on the board among the first in the
// order of the starts. It is false when no more are to be reported.
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

// promised reports whether at the given time, as far as anybody knows then, a
// booking needs its reserved interval.
func (j *bookingJudge) promised(a *booked, now int64) bool {
	if a.runs {
		return a.end.compare(moment{ticks: now}) > 0
	}
	return j.times[a.number].cancel > now
}

// meet reports whether the intervals from two bookings' starts overlap: each ends
// after the other's start.
func meet(a, b *booked, aEnd, bEnd moment) bool {
	return aEnd.compare(b.start) > 0 && bEnd.compare(a.start) > 0
}

// common is for how many ticks they do.
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

// share is a violation's amount: ticks as a share of a duration, above 0.
func share(ticks float64, duration int64) float64 {
	return max(ticks/float64(duration), math.SmallestNonzeroFloat64)
}

// objectives are the number of bookings or their PE-seconds, and the mean slowdown of
// those that run (1 without any), each a fraction that is rounded once.
func (j *bookingJudge) objectives() (weight, slowdown float64) {
	var total sum
	waits := map[float64]*sum{} // by duration: few sums of many terms, and exact
	runs := int64(0)
	for i := range j.booked {
		b := &j.booked[i]
		if j.in.EffectiveGoal() == model.GoalPESeconds {
			// The product's rounding error is a float64, too.
			product := float64(b.PEs) * b.DurationS
			total.add(product)
			total.add(math.FMA(float64(b.PEs), b.DurationS, -product))
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
	if j.in.EffectiveGoal() == model.GoalPESeconds {
		weight, _ = total.rat().Float64()
	}
	if runs == 0 {
		return weight, 1
	}
	all := make([]fraction, 0, len(waits))
	for d, w := range waits {
		var duration sum
		duration.add(d)
		f := fraction{&w.total, &duration.total}
		common := f.den.TrailingZeroBits() // keeps the numbers short
		if f.num.Sign() != 0 {
			common = min(common, f.num.TrailingZeroBits())
		}
		f.num.Rsh(f.num, common)
		f.den.Rsh(f.den, common)
		all = append(all, f)
	}
	f := add(all)
	// (wait + duration)/duration, on the mean.
	f.den.Mul(f.den, big.NewInt(runs))
	f.num.Add(f.num, f.den)
	quotient := new(big.Float).SetPrec(53).Quo(new(big.Float).SetInt(f.num), new(big.Float).SetInt(f.den))
	slowdown, _ = quotient.Float64()
	return weight, slowdown
}
