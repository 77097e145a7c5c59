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

// reservation judges bookings. Amounts are seconds over the last deadline,
// which the tolerance is relative to as well.
//
// A job that runs holds its PEs over [start, start + runtime); one that is
// cancelled before its start holds none. Two jobs overlap on a PE if
// neither can be moved behind the other's end by as little as the tolerance. So a
// job that is shorter than the tolerance still can't run amidst another one.
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
	j := &bookingJudge{ctx: ctx, in: in, report: r, pes: make(peBits, (in.PEs+63)/64)}
	for k := range in.Requests {
		j.scale = max(j.scale, in.Requests[k].DeadlineS)
	}
	if j.scale == 0 { // no requests
		j.scale = 1
	}
	j.allowed = r.Tolerance * j.scale
	j.allowedRat = new(big.Rat).Mul(exact(r.Tolerance), exact(j.scale))
	complete := j.read(b)
	j.order = make([]int, len(j.booked))
	for i := range j.order {
		j.order[i] = i
	}
	slices.SortStableFunc(j.order, func(x, y int) int { return cmp.Compare(j.booked[x].start, j.booked[y].start) })
	for at, i := range j.order {
		j.booked[i].at = at
	}
	j.overlaps()
	if b.Online {
		j.online()
	}
	if complete {
		r.Objective, r.Second = j.objectives()
	}
}

// bookingJudge is bookings in exact figures.
type bookingJudge struct {
	ctx        context.Context
	in         *model.Reservation
	report     *Report
	scale      float64  // the last deadline
	allowed    float64  // seconds that the tolerance lets pass, rounded
	allowedRat *big.Rat // and exactly
	booked     []booked // in the order of the solution
	order      []int    // of the starts: numbers of booked
	pes        peBits   // of the booking that is looked at
}

// booked is a booking of a request that is there, at a time that is one.
type booked struct {
	*model.Request
	number        int // of the request
	start         float64
	runs          bool
	end, reserved moment       // start plus runtime, start plus duration
	pes           model.PEList // those that there are, in order
	blocks        uint64       // 64ths of the PEs that it touches
	at            int          // place in the order of the starts
}

// read looks at each booking by itself. It reports whether all have an
// objective.
func (j *bookingJudge) read(b *model.Bookings) (complete bool) {
	in, r := j.in, j.report
	complete = true
	if b.Goal != "" && b.Goal != in.Aim() {
		r.add(WrongGoal, 0, "the bookings are for the goal %q, the instance has %q", b.Goal, in.Aim())
		complete = false
	}
	index := make(map[string]int, len(in.Requests))
	for k := range in.Requests {
		index[in.Requests[k].ID] = k
	}
	seen := make([]bool, len(in.Requests))
	j.booked = make([]booked, 0, len(b.Bookings))
	for i := range b.Bookings {
		if j.ctx.Err() != nil {
			return false
		}
		x := &b.Bookings[i]
		k, ok := index[x.ID]
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
		reserved := plus(x.StartS, q.DurationS)
		if ready := plus(q.ReadyS, 0); j.over(ready, x.StartS) {
			r.add(EarlyStart, j.share(seconds(ready, x.StartS)), "request %q starts at %v and is ready at %v", x.ID, x.StartS, q.ReadyS)
		}
		if j.over(reserved, q.DeadlineS) {
			r.add(LateEnd, j.share(seconds(reserved, q.DeadlineS)), "request %q is reserved until %v, its deadline is %v", x.ID, reserved.hi, q.DeadlineS)
		}
		j.booked = append(j.booked, booked{Request: q, number: k, start: x.StartS, runs: q.Runs(x.StartS),
			end: plus(x.StartS, q.Runtime()), reserved: reserved, pes: pes, blocks: blocksOf(pes, in.PEs)})
	}
	if in.Aim() == model.GoalAll {
		for k, s := range seen {
			if !s {
				r.add(DeclinedRequest, 0, "request %q is declined, the goal is all of them", in.Requests[k].ID)
			}
		}
	}
	return complete
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
		pinned.pin(at, b.end.hi, b.blocks)
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
	byArrival, byLeave := slices.Clone(j.order), slices.Clone(j.order)
	leave := func(i int) float64 {
		if b := &j.booked[i]; b.runs {
			return b.end.hi
		}
		return *j.booked[i].CancelS
	}
	slices.SortFunc(byArrival, func(x, y int) int { return cmp.Compare(j.booked[x].number, j.booked[y].number) })
	slices.SortFunc(byLeave, func(x, y int) int { return cmp.Compare(leave(x), leave(y)) })
	pinned, left := newBoard(len(j.booked)), 0
	promises := clash{constraint: OnlineConflict, format: "request %[2]q takes what was promised to %[1]q when it arrived, PEs %[3]s for %.9[4]g s",
		end: func(x *booked) moment { return x.reserved }, still: j.promised}
	for _, i := range byArrival {
		b := &j.booked[i]
		for ; left < len(byLeave) && leave(byLeave[left]) < b.ArrivalS; left++ {
			pinned.unpin(j.booked[byLeave[left]].at)
		}
		before := sort.Search(len(j.order), func(at int) bool { return j.booked[j.order[at]].start > b.reserved.hi })
		if !j.clashes(pinned, before, b, &promises) {
			return
		}
		pinned.pin(b.at, b.reserved.hi, b.blocks)
	}
}

// clash is how two bookings clash: on one PE at a time until their ends, if
// what the first holds is still its own when the second arrives.
type clash struct {
	constraint, format string // format takes both ids, the one that began first first, the PEs and the seconds
	end                func(*booked) moment
	still              func(first *booked, at float64) bool // nil: always
	pairs              int                                  // reported so far
}

// clashes reports how b clashes with those on the board among the first in the
// order of the starts. It is false when no more are to be reported.
func (j *bookingJudge) clashes(pinned *board, first int, b *booked, c *clash) bool {
	j.pes.add(b.pes)
	defer j.pes.remove(b.pes)
	if j.ctx.Err() != nil {
		return false
	}
	more := pinned.search(first, b.start, b.blocks, func(at int) bool {
		if j.ctx.Err() != nil {
			return false
		}
		a := &j.booked[j.order[at]]
		if !j.meet(a, b, c.end(a), c.end(b)) || !j.pes.meets(a.pes) || c.still != nil && !c.still(a, b.ArrivalS) {
			return true
		}
		if c.pairs++; c.pairs > maxPairs {
			return false
		}
		s := common(a, b, c.end(a), c.end(b))
		j.report.add(c.constraint, j.share(s), c.format, a.ID, b.ID, inWords(a.pes, b.pes), s)
		return true
	})
	if !more {
		j.report.add(c.constraint, 0, "there are more than %d such pairs, the others aren't listed", maxPairs)
	}
	return more
}

// promised reports whether at the given time, as far as anybody knows then, a
// booking needs its reserved interval.
func (j *bookingJudge) promised(a *booked, now float64) bool {
	if a.runs {
		return j.over(a.end, now)
	}
	return *a.CancelS > now
}

// meet reports whether the intervals from two bookings' starts overlap: each ends
// after the other's start, by more than is allowed.
func (j *bookingJudge) meet(a, b *booked, aEnd, bEnd moment) bool {
	return j.over(aEnd, b.start) && j.over(bEnd, a.start)
}

// common is for how many seconds they do.
func common(a, b *booked, aEnd, bEnd moment) float64 {
	return seconds(earlier(aEnd, bEnd), max(a.start, b.start))
}

// share is a violation's amount.
func (j *bookingJudge) share(seconds float64) float64 {
	return min(max(seconds/j.scale, math.SmallestNonzeroFloat64), math.MaxFloat64)
}

// objectives are the number of bookings or their PE-seconds, and the mean slowdown of
// those that run (1 without any), each a fraction that is rounded once.
func (j *bookingJudge) objectives() (weight, slowdown float64) {
	var total sum
	waits := map[float64]*sum{} // by duration: few sums of many terms, and exact
	runs := int64(0)
	for i := range j.booked {
		b := &j.booked[i]
		if j.in.Aim() == model.GoalPESeconds {
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
		w.add(b.start)
		w.add(-b.ReadyS)
	}
	weight = float64(len(j.booked))
	if j.in.Aim() == model.GoalPESeconds {
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
