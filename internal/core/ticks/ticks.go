// SPDX-License-Identifier: MIT

// Package ticks reads the times of requests as whole numbers.
package ticks

import (
	"math"
	"math/big"
	"strconv"
)

// Seconds are a request's times as given.
type Seconds struct {
	Arrival, Ready, Duration, Deadline, Runtime float64
	Cancel                                      float64 // +Inf if it isn't withdrawn
}

// Times are the times of requests in ticks, whole numbers.
//
// A float64 means its printed decimal number: 1.8 is 18 tenths. A tick is 10^-Decimals seconds, the coarsest such unit
// in which all times are whole, if the last one then is at most 2^52 ticks. Then nothing is rounded, and every tick is
// a float64 of its own, so that a start that is written down is read as the same tick.
//
// Times of more digits are rounded to the finest tick that keeps below 2^52:
// arrivals, ready times, durations, runtimes and cancellations down, deadlines
// up. Rounding only relaxes: with every start s rounded down to ⌊s⌋, a schedule
// in real time is one in ticks, since
//
//	⌊ready⌋ ≤ ⌊s⌋ ≤ s ≤ ⌈deadline⌉ - ⌊duration⌋, and
//	s + length ≤ s' implies ⌊s⌋ + ⌊length⌋ ≤ ⌊s + length⌋ ≤ ⌊s'⌋.
//
// So a schedule that is impossible in ticks is impossible. A schedule that is possible in ticks is off by less than two
// ticks, at most a 500th of any runtime (see Validate) and about the precision of a float64 at the last time. Rounding
// cancels nothing: a request that starts before any cancellation in the given numbers does so in ticks too. Otherwise a
// latest start rounded up would make it one that holds no PEs.
type Times struct {
	Decimals int       // 0 to 22
	Exact    bool      // nothing is rounded
	Requests []Request // in their order
	near     float64   // seconds; a time so close to a tick, or closer, means it: 1e-9 of the shortest runtime
}

// Request holds a request's times in ticks: Arrival ≤ Ready,
// Ready + Duration ≤ Deadline, 1 ≤ Runtime ≤ Duration.
type Request struct {
	Arrival, Ready, Duration, Deadline, Runtime int64
	Cancel                                      int64 // math.MaxInt64 if it isn't withdrawn before its deadline
}

// Latest returns the latest start.
func (q *Request) Latest() int64 { return q.Deadline - q.Duration }

// Runs reports whether the job runs if it is to start at the given tick: it
// isn't cancelled before.
func (q *Request) Runs(start int64) bool { return start <= q.Cancel }

const (
	// maxTicks is such that ticks below have float64s of their own: their relative distance is at least the distance of
	// neighbouring float64s.
	maxTicks = 1 << 52
	// maxDecimals is the last for which 10^maxDecimals is a float64.
	maxDecimals = 22
)

// Of reads the times of n requests. O(n).
func Of(n int, at func(k int) Seconds) Times {
	t := Times{Requests: make([]Request, n), near: math.Inf(1)}
	t.Decimals, t.Exact, _ = Unit(n, at)
	var d decimals
	down := func(x float64) int64 { i, _ := d.ticks(x, t.Decimals); return i }
	for k := range t.Requests {
		q := at(k)
		x := Request{Arrival: down(q.Arrival), Ready: down(q.Ready), Duration: down(q.Duration), Runtime: down(q.Runtime), Cancel: math.MaxInt64}
		due, rest := d.ticks(q.Deadline, t.Decimals)
		if rest > 0 {
			due++
		}
		x.Deadline = max(due, x.Ready+x.Duration) // model.Reservation.Validate lets a window be shorter by a rounding
		if q.Cancel <= q.Deadline {
			x.Cancel = down(q.Cancel)
			if !t.Exact && x.Cancel < x.Latest() && x.Latest()-x.Cancel <= 2 && q.runsAlways() {
				x.Cancel = x.Latest()
			}
		}
		t.Requests[k] = x
		t.near = min(t.near, 1e-9*q.Runtime)
	}
	return t
}

// Unit returns the size of a tick, 10^-places s, and whether times are whole
// numbers of ticks; last is the last deadline, in seconds.
func Unit(n int, at func(k int) Seconds) (places int, exact bool, last float64) {
	var d decimals
	see := func(x float64) {
		if _, ok := wholeTicks(x, places); !ok {
			places = max(places, d.places(x))
		}
	}
	for k := range n {
		q := at(k)
		last = max(last, q.Deadline)
		for _, x := range [...]float64{q.Arrival, q.Ready, q.Duration, q.Deadline, q.Runtime} {
			see(x)
		}
		if q.Cancel <= q.Deadline {
			see(q.Cancel)
		}
	}
	for exact = true; places > 0 && (places > maxDecimals || last*math.Pow10(places) > maxTicks); {
		places, exact = places-1, false
	}
	return places, exact, last
}

// runsAlways reports whether a request isn't cancelled before its latest start,
// exactly in the decimal numbers that its times print as.
func (q *Seconds) runsAlways() bool {
	decimal := func(x float64) *big.Rat {
		v, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
		return v
	}
	latest := decimal(q.Deadline)
	return q.Ready <= q.Cancel && latest.Sub(latest, decimal(q.Duration)).Cmp(decimal(q.Cancel)) <= 0
}

// PerSecond returns how many ticks a second has.
func (t *Times) PerSecond() float64 { return math.Pow10(t.Decimals) }

// Seconds returns the time of a tick. Both operands are exact, so the quotient is
// the float64 nearest to the decimal number, and prints as that number.
func (t *Times) Seconds(tick int64) float64 { return float64(tick) / t.PerSecond() }

// Tick returns the last tick at or before a time. It returns the next one if the time misses it by no more than 4 units
// in its last place, as sums of float64s do, or 1e-9 of the shortest runtime. Times out of range are ±2^60.
func (t *Times) Tick(seconds float64) int64 {
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
func (t *Times) slack(seconds float64) float64 {
	size := math.Abs(seconds)
	return max(t.near, 4*(math.Nextafter(size, math.Inf(1))-size))
}

// Starts reports whether request k runs if it is to start at a time: no later
// than its cancellation.
func (t *Times) Starts(k int, startS float64) bool {
	tick, cancel := t.Tick(startS), t.Requests[k].Cancel
	return tick < cancel || tick == cancel && startS-t.Seconds(tick) <= t.slack(startS)
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
