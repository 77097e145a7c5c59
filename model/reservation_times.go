package model

import (
	"math"
	"math/big"
	"strconv"
)

// ReservationTimes are the times of a Reservation as whole numbers of ticks.
// Policies, bounds and engines all work on them, so that they agree on what fits.
//
// A float64 stands for the decimal number that it prints as: 1.8 is 18 tenths.
// A tick is 10^-Decimals seconds, the coarsest such unit in which all times of
// the instance are whole, if the last one then is at most 2^52 ticks; nothing
// is rounded then, and every tick is a float64 of its own, so that a start
// that is written down is read as the same tick.
//
// Times of more digits are rounded to the finest tick that keeps below
// 2^52: arrivals, ready times, durations, runtimes and cancellations down,
// deadlines up. Rounding only relaxes. A schedule in real time, its starts rounded down
// by ⌊·⌋, is one of the ticks: ⌊ready⌋ ≤ ⌊s⌋ ≤ s ≤ ⌈deadline⌉ - ⌊duration⌋,
// and where s + length ≤ s' also ⌊s⌋ + ⌊length⌋ ≤ ⌊s + length⌋ ≤ ⌊s'⌋. So what the ticks
// can't do can't be done. But rounding cancels nothing: a request that is never cancelled before it starts in the
// numbers as given isn't in ticks, or else a latest start rounded up would let it pass for one that holds no PEs. What they can do is off by less than two ticks, at most a 500th of
// any runtime (see Validate) and about what a float64 holds of the last time.
type ReservationTimes struct {
	Decimals int  // 0 to 22
	Exact    bool // nothing is rounded
	Requests []RequestTimes
	near     float64 // how many seconds beside a tick mean it, at least: 1e-9 of the shortest runtime
}

// RequestTimes are a request's times in ticks: Arrival ≤ Ready,
// Ready + Duration ≤ Deadline, 1 ≤ Runtime ≤ Duration.
type RequestTimes struct {
	Arrival, Ready, Duration, Deadline, Runtime int64
	Cancel                                      int64 // math.MaxInt64 if it isn't withdrawn before its deadline
}

// Latest is the latest start.
func (q *RequestTimes) Latest() int64 { return q.Deadline - q.Duration }

// Runs reports whether the job runs if it is to start at the given tick: it
// isn't cancelled before.
func (q *RequestTimes) Runs(start int64) bool { return start <= q.Cancel }

const (
	// maxTicks is such that ticks below have float64s of their own: their
	// distance, relative to them, is that of neighbouring float64s or more.
	maxTicks = 1 << 52
	// maxDecimals is the last for which 10^maxDecimals is a float64.
	maxDecimals = 22
	// leastTicks is how many ticks of rounded times the shortest runtime needs.
	leastTicks = 1000
)

// Times are the times of a valid instance. O(requests).
func (r *Reservation) Times() *ReservationTimes {
	var d decimals
	last, most := 0.0, 0
	for k := range r.Requests {
		q := &r.Requests[k]
		last = max(last, q.DeadlineS)
		for _, x := range [...]float64{q.ArrivalS, q.ReadyS, q.DurationS, q.DeadlineS, q.Runtime()} {
			most = max(most, d.places(x))
		}
		if q.CancelS != nil && *q.CancelS <= q.DeadlineS {
			most = max(most, d.places(*q.CancelS))
		}
	}
	t := &ReservationTimes{Decimals: most, Exact: true, Requests: make([]RequestTimes, len(r.Requests)), near: math.Inf(1)}
	for t.Decimals > 0 && (t.Decimals > maxDecimals || last*math.Pow10(t.Decimals) > maxTicks) {
		t.Decimals, t.Exact = t.Decimals-1, false
	}
	down := func(x float64) int64 { n, _ := d.ticks(x, t.Decimals); return n }
	for k := range r.Requests {
		q := &r.Requests[k]
		x := RequestTimes{Arrival: down(q.ArrivalS), Ready: down(q.ReadyS), Duration: down(q.DurationS), Runtime: down(q.Runtime()), Cancel: math.MaxInt64}
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

// runsAlways reports whether a request isn't cancelled before its latest start, exactly in the decimal numbers
// that its times print as.
func (r *Request) runsAlways() bool {
	decimal := func(x float64) *big.Rat {
		v, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
		return v
	}
	latest := decimal(r.DeadlineS)
	return r.ReadyS <= *r.CancelS && latest.Sub(latest, decimal(r.DurationS)).Cmp(decimal(*r.CancelS)) <= 0
}

// PerSecond is how many ticks a second has.
func (t *ReservationTimes) PerSecond() float64 { return math.Pow10(t.Decimals) }

// Seconds is the time of a tick. Both operands are float64s, so the quotient is the
// one nearest to the decimal number, which prints as it.
func (t *ReservationTimes) Seconds(tick int64) float64 { return float64(tick) / t.PerSecond() }

// Tick is the last tick at or before a time, but the nearest one for a time that misses it
// by no more than 4 units in its last place, as sums of float64s do, or 1e-9
// of the shortest runtime. What is out of range is far out of it.
func (t *ReservationTimes) Tick(seconds float64) int64 {
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

// slack is how far from a tick a time may be that means it.
func (t *ReservationTimes) slack(seconds float64) float64 {
	size := math.Abs(seconds)
	return max(t.near, 4*(math.Nextafter(size, math.Inf(1))-size))
}

// runs reports whether request k runs if it is to start at a time: no later
// than its cancellation.
func (t *ReservationTimes) runs(k int, startS float64) bool {
	tick, cancel := t.Tick(startS), t.Requests[k].Cancel
	return tick < cancel || tick == cancel && startS-t.Seconds(tick) <= t.slack(startS)
}

// checkTimes reports a runtime that the rounding of times leaves too little of.
func (r *Reservation) checkTimes(bad func(int, string, ...any) error) error {
	t := r.Times()
	if t.Exact {
		return nil
	}
	last := 0.0
	for k := range r.Requests {
		last = max(last, r.Requests[k].DeadlineS)
	}
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

// decimals reads float64s, not negative, as the decimal numbers that they print
// as; it is scratch.
type decimals struct{ text [32]byte }

// read is x as mantissa times 10^exponent, the mantissa of at most 17 digits.
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

// places is the number of decimal places.
func (d *decimals) places(x float64) int {
	_, e := d.read(x)
	return max(0, -e)
}

// ticks is the whole part of x in units of 10^-places, and the rest.
func (d *decimals) ticks(x float64, places int) (whole int64, rest float64) {
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
