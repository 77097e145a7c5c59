package model

import (
	"math"
	"math/big"
	"strconv"

	"github.com/gapwise/gapwise/internal/units"
)

// ReservationTicks is a Reservation in whole numbers: times are ticks. Policies,
// bounds and engines all work on it, so that they agree on what fits.
//
// A float64 stands for the decimal number that it prints as: 1.8 is 18 tenths.
// A tick is 10^-Decimals seconds, the coarsest such unit in which all times of
// the instance are whole, if the last one then is at most 2^52 ticks. Then
// nothing is rounded, and every tick is a float64 of its own, so that a start
// that is written down is read as the same tick.
//
// Times of more digits are rounded to the finest tick that keeps below 2^52:
// arrivals, ready times, durations, runtimes and cancellations down, deadlines
// up. Rounding only relaxes: with every start s rounded down to ⌊s⌋, a schedule
// in real time is one in ticks, since
//
//	⌊ready⌋ ≤ ⌊s⌋ ≤ s ≤ ⌈deadline⌉ - ⌊duration⌋, and
//	s + length ≤ s' implies ⌊s⌋ + ⌊length⌋ ≤ ⌊s + length⌋ ≤ ⌊s'⌋.
//
// So what is impossible in ticks is impossible. What is possible in ticks is off
// by less than two ticks, at most a 500th of any runtime (see Validate) and
// about what a float64 holds of the last time. Rounding cancels nothing: a
// request that in the numbers as given starts before any cancellation does so
// in ticks too; else a latest start rounded up would let it pass for one that
// holds no PEs.
type ReservationTicks struct {
	Decimals int            // 0 to 22
	Exact    bool           // nothing is rounded
	Requests []RequestTicks // as in the instance
	near     float64        // seconds; a time so close to a tick, or closer, means it: 1e-9 of the shortest runtime

	PEs  int
	Goal Goal             // the effective one
	Jobs []ReservationJob // the requests that hold PEs, in their order
	// Free are the numbers of the requests that cost nothing to accept and count:
	// booked at their latest start they are cancelled before. FreeWeight is their
	// weight, in the objective's unit. The goal pe_seconds has none.
	Free       []int
	FreeWeight float64
}

// RequestTicks are a request's times in ticks: Arrival ≤ Ready,
// Ready + Duration ≤ Deadline, 1 ≤ Runtime ≤ Duration.
type RequestTicks struct {
	Arrival, Ready, Duration, Deadline, Runtime int64
	Cancel                                      int64 // math.MaxInt64 if it isn't withdrawn before its deadline
}

// Latest returns the latest start.
func (q *RequestTicks) Latest() int64 { return q.Deadline - q.Duration }

// Runs reports whether the job runs if it is to start at the given tick: it
// isn't cancelled before.
func (q *RequestTicks) Runs(start int64) bool { return start <= q.Cancel }

// ReservationJob is a request as the clairvoyant sees it: it holds PEs for Length
// ticks, its runtime, within [Ready, Due).
type ReservationJob struct {
	Request            int   // its number in the instance
	Ready, Due, Length int64 // ticks; Length is at least 1
	Counted            int64 // its weight in PE-ticks is PEs times this: Length, or the ticks of its duration
	PEs                int
	Weight             float64 // what it adds to the objective
}

// Latest returns the latest start.
func (j *ReservationJob) Latest() int64 { return j.Due - j.Length }

// Area returns PEs times ticks.
func (j *ReservationJob) Area() float64 { return float64(j.PEs) * float64(j.Length) }

const (
	// maxTicks is such that ticks below have float64s of their own: their
	// distance, relative to them, is that of neighbouring float64s or more.
	maxTicks = 1 << 52
	// maxDecimals is the last for which 10^maxDecimals is a float64.
	maxDecimals = 22
	// leastTicks is how many ticks of rounded times the shortest runtime needs.
	leastTicks = 1000
)

// Ticks returns the instance, which must be valid, in ticks. O(requests).
//
// A request that is cancelled before its latest start is free where withdrawn
// requests count: some best solution books it there, since it then holds no PEs
// and is in no other booking's way. With the goal pe_seconds only a request that
// runs counts, and it runs if it starts by its cancellation: its window ends there.
// Withdrawn ones add nothing to the objective, so leaving them out loses nothing.
// (Rounded down, a start is no later than a cancellation rounded down, if it wasn't
// before; so rounding relaxes this window, too.) Any other request has started by
// the time of its cancellation, whatever its start, and runs.
func (r *Reservation) Ticks() *ReservationTicks { return viewOf(r, r.makeTicks) }

func (r *Reservation) makeTicks() *ReservationTicks {
	t := r.times()
	t.PEs, t.Goal = r.PEs, r.EffectiveGoal()
	for k := range r.Requests {
		q := &t.Requests[k]
		latest, counted := q.Latest(), q.Duration
		if t.Goal == GoalPESeconds {
			if latest, counted = min(latest, q.Cancel), q.Runtime; latest < q.Ready {
				continue // it never runs
			}
		} else if !q.Runs(latest) {
			t.Free = append(t.Free, k)
			t.FreeWeight += r.WithdrawnWeight(k)
			continue
		}
		t.Jobs = append(t.Jobs, ReservationJob{Request: k, Ready: q.Ready, Due: latest + q.Runtime, Length: q.Runtime,
			Counted: counted, PEs: r.Requests[k].PEs, Weight: r.Weight(k)})
	}
	return t
}

// WeightUnit returns the common unit of the jobs' weights for a goal in
// PE-seconds, in PE-ticks: the greatest whole number of which PEs times Counted
// of each job is a multiple. It is 0 if a time is rounded, a product exceeds
// 2^62, or there are no jobs.
func (t *ReservationTicks) WeightUnit() int64 {
	if !t.Exact {
		return 0
	}
	weights := make([]int64, len(t.Jobs))
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if float64(j.PEs)*float64(j.Counted) > 1<<62 {
			return 0
		}
		weights[i] = int64(j.PEs) * j.Counted
	}
	return units.Common(weights, 1<<62)
}

// tick returns the size of a tick, 10^-places s, and whether times are whole
// numbers of ticks; last is the last deadline, in seconds.
func (r *Reservation) tick() (places int, exact bool, last float64) {
	var d decimals
	see := func(x float64) {
		if _, ok := wholeTicks(x, places); !ok {
			places = max(places, d.places(x))
		}
	}
	for k := range r.Requests {
		q := &r.Requests[k]
		last = max(last, q.DeadlineS)
		for _, x := range [...]float64{q.ArrivalS, q.ReadyS, q.DurationS, q.DeadlineS, q.Runtime()} {
			see(x)
		}
		if q.CancelS != nil && *q.CancelS <= q.DeadlineS {
			see(*q.CancelS)
		}
	}
	for exact = true; places > 0 && (places > maxDecimals || last*math.Pow10(places) > maxTicks); {
		places, exact = places-1, false
	}
	return places, exact, last
}

// times returns the ticks without the jobs.
func (r *Reservation) times() *ReservationTicks {
	t := &ReservationTicks{Requests: make([]RequestTicks, len(r.Requests)), near: math.Inf(1)}
	t.Decimals, t.Exact, _ = r.tick()
	var d decimals
	down := func(x float64) int64 { n, _ := d.ticks(x, t.Decimals); return n }
	for k := range r.Requests {
		q := &r.Requests[k]
		x := RequestTicks{Arrival: down(q.ArrivalS), Ready: down(q.ReadyS), Duration: down(q.DurationS), Runtime: down(q.Runtime()), Cancel: math.MaxInt64}
		due, rest := d.ticks(q.DeadlineS, t.Decimals)
		if rest > 0 {
			due++
		}
		x.Deadline = max(due, x.Ready+x.Duration) // see timeSlack
		if q.CancelS != nil && *q.CancelS <= q.DeadlineS {
			x.Cancel = down(*q.CancelS)
			if !t.Exact && x.Cancel < x.Latest() && x.Latest()-x.Cancel <= 2 && q.runsAlways() {
				x.Cancel = x.Latest()
			}
		}
		t.Requests[k] = x
		t.near = min(t.near, 1e-9*q.Runtime())
	}
	return t
}

// runsAlways reports whether a request isn't cancelled before its latest start,
// exactly in the decimal numbers that its times print as.
func (r *Request) runsAlways() bool {
	decimal := func(x float64) *big.Rat {
		v, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
		return v
	}
	latest := decimal(r.DeadlineS)
	return r.ReadyS <= *r.CancelS && latest.Sub(latest, decimal(r.DurationS)).Cmp(decimal(*r.CancelS)) <= 0
}

// PerSecond returns how many ticks a second has.
func (t *ReservationTicks) PerSecond() float64 { return math.Pow10(t.Decimals) }

// Seconds returns the time of a tick. Both operands are exact, so the quotient is
// the float64 nearest to the decimal number, and prints as that number.
func (t *ReservationTicks) Seconds(tick int64) float64 { return float64(tick) / t.PerSecond() }

// Tick returns the last tick at or before a time; or the next one if the time
// misses it by no more than 4 units in its last place, as sums of float64s do,
// or 1e-9 of the shortest runtime. Times out of range are ±2^60.
func (t *ReservationTicks) Tick(seconds float64) int64 {
	const far = 1 << 60
	if limit := far / t.PerSecond(); !(seconds < limit) {
		return far
	} else if seconds < -limit {
		return -far
	}
	var d decimals
	n, rest := d.ticks(math.Abs(seconds), t.Decimals)
	if seconds < 0 {
		if n = -n; rest > 0 {
			n, rest = n-1, 1-rest
		}
	}
	if rest >= 0.5 && 1-rest <= t.slack(seconds)*t.PerSecond() {
		n++
	}
	return n
}

// slack returns how far from a tick, in seconds, a time may be that means it.
func (t *ReservationTicks) slack(seconds float64) float64 {
	size := math.Abs(seconds)
	return max(t.near, 4*(math.Nextafter(size, math.Inf(1))-size))
}

// runs reports whether request k runs if it is to start at a time: no later
// than its cancellation.
func (t *ReservationTicks) runs(k int, startS float64) bool {
	tick, cancel := t.Tick(startS), t.Requests[k].Cancel
	return tick < cancel || tick == cancel && startS-t.Seconds(tick) <= t.slack(startS)
}

// checkTimes reports a runtime of which rounding leaves fewer than leastTicks.
func (r *Reservation) checkTimes(bad func(int, string, ...any) error) error {
	_, exact, last := r.tick()
	if exact {
		return nil
	}
	t := r.times()
	for k := range t.Requests {
		if t.Requests[k].Runtime < leastTicks {
			key := "duration_s"
			if r.Requests[k].RuntimeS != nil {
				key = "runtime_s"
			}
			return bad(k, "%s is %v, too short beside the deadline of %v with times of as many digits: they can be kept to 1e-%d s; round all times to %d decimals",
				key, r.Requests[k].Runtime(), last, t.Decimals, t.Decimals)
		}
	}
	return nil
}

// decimals reads float64s that aren't negative as the decimal numbers that they
// print as. It holds scratch memory only.
type decimals struct{ text [32]byte }

// read returns x as mantissa times 10^exponent, the mantissa of at most 17 digits.
func (d *decimals) read(x float64) (mantissa uint64, exponent int) {
	if x < 1<<53 && x == math.Trunc(x) {
		return uint64(x), 0
	}
	text := strconv.AppendFloat(d.text[:0], x, 'e', -1, 64)
	for k, c := range text {
		switch {
		case c >= '0' && c <= '9':
			mantissa = mantissa*10 + uint64(c-'0')
			if k > 0 {
				exponent--
			}
		case c == 'e':
			e, _ := strconv.Atoi(string(text[k+1:]))
			return mantissa, exponent + e
		}
	}
	return 0, 0 // infinite or not a number
}

// wholeTicks returns x, not negative, in units of 10^-places if it is a whole
// number n < 10^15 of them, without a look at its digits.
//
// The float64 quotient n/10^places is the one nearest to that decimal number.
// If it is x, the number is the one that x prints as: of the decimal numbers of
// at most 15 digits no two are nearest to the same float64.
func wholeTicks(x float64, places int) (n int64, ok bool) {
	if places > maxDecimals {
		return 0, false
	}
	unit := math.Pow10(places)
	ticks := math.Round(x * unit)
	if !(ticks < 1e15 && ticks/unit == x) {
		return 0, false
	}
	return int64(ticks), true
}

// places returns the number of decimal places of x.
func (d *decimals) places(x float64) int {
	_, e := d.read(x)
	return max(0, -e)
}

// ticks returns the whole part of x in units of 10^-places, and the rest.
func (d *decimals) ticks(x float64, places int) (whole int64, rest float64) {
	if n, ok := wholeTicks(x, places); ok {
		return n, 0
	}
	m, e := d.read(x)
	e += places
	for ; e > 0 && m < math.MaxInt64/10; e-- {
		m *= 10
	}
	if e >= 0 {
		return int64(m), 0
	}
	if e < -18 { // below 10^17 times 10^-19
		if m > 0 {
			rest = 1e-18
		}
		return 0, rest
	}
	p := uint64(math.Pow10(-e))
	return int64(m / p), float64(m%p) / float64(p)
}
