// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// moment is an exact time: ticks, and the decimal digits after them (see
// bookingJudge). The digits have no trailing zeros, so they compare as text.
type moment struct {
	ticks  int64
	digits string
}

// beyond is later than all times. The sum of two of them is an int64.
const beyond = 1 << 61

// after returns the moment ticks later.
func (m moment) after(ticks int64) moment { return moment{m.ticks + ticks, m.digits} }

// compare returns -1, 0 or 1 if m is before, at or after x.
func (m moment) compare(x moment) int {
	switch {
	case m.ticks < x.ticks:
		return -1
	case m.ticks > x.ticks:
		return 1
	}
	return strings.Compare(m.digits, x.digits)
}

// since returns m - x in ticks, rounded once.
func (m moment) since(x moment) float64 {
	d := new(big.Rat).SetInt64(m.ticks - x.ticks)
	for digits, sign := range map[string]int64{m.digits: 1, x.digits: -1} {
		if m.digits != x.digits && digits != "" {
			part, _ := new(big.Rat).SetString("0." + digits)
			d.Add(d, part.Mul(part, big.NewRat(sign, 1)))
		}
	}
	f, _ := d.Float64()
	return f
}

// part returns the fraction of a tick, rounded.
func (m moment) part() float64 {
	f, _ := strconv.ParseFloat("0."+m.digits+"0", 64)
	return f
}

// requestTicks holds a request's times in ticks.
type requestTicks struct {
	arrival, ready, duration, deadline, runtime, cancel int64
}

// tickReader reads times as decimal numbers, in ticks of 10^-places s.
type tickReader struct {
	places int
	exact  bool // no time is rounded
}

// digitsOf returns the digits, before and after the point, of the shortest decimal
// number that is read as the float64 x.
func digitsOf(x float64) (before, after string) {
	before, after, _ = strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	return before, after
}

// mostPlaces and mostTicks bound k and the last deadline (see bookingJudge).
const (
	mostPlaces = 22
	mostTicks  = 1 << 52
)

// newTickReader chooses the ticks of an instance, by part of it once the context has ended.
func newTickReader(ctx context.Context, in *model.Reservation) tickReader {
	places, last := 0, 0.0
	see := func(x float64) {
		if _, ok := inTicks(x, places); !ok {
			_, after := digitsOf(x)
			places = max(places, len(after))
		}
	}
	for k := range in.Requests {
		if stopped(ctx, k) {
			break
		}
		q := &in.Requests[k]
		for _, x := range [...]float64{q.ArrivalS, q.ReadyS, q.DurationS, q.DeadlineS} {
			see(x)
		}
		if q.RuntimeS != nil {
			see(*q.RuntimeS)
		}
		if q.CancelS != nil && *q.CancelS <= q.DeadlineS { // a later one cancels nothing
			see(*q.CancelS)
		}
		last = max(last, q.DeadlineS)
	}
	wanted := places
	for places = min(places, mostPlaces); places > 0 && last*math.Pow10(places) > mostTicks; {
		places--
	}
	return tickReader{places, places == wanted}
}

// inTicks returns a time x >= 0 in ticks of 10^-places s if it is an integer n <
// 10^15 of them. It may miss such an integer.
//
// n and 10^places are float64s, so x = n/10^places in float64s means that the decimal number n/10^places is read as x.
// It is the shortest such number but for zeros at its end: two decimal numbers of at most 15 digits are never read as
// one float64.
func inTicks(x float64, places int) (n int64, ok bool) {
	unit := math.Pow10(min(places, mostPlaces)) // a float64
	ticks := math.Round(x * unit)
	if !(ticks < 1e15 && ticks/unit == x) {
		return 0, false
	}
	return int64(ticks), true
}

// moment returns the exact time of x >= 0.
func (r tickReader) moment(x float64) moment {
	if n, ok := inTicks(x, r.places); ok {
		return moment{n, ""}
	}
	before, after := digitsOf(x)
	digits := ""
	if len(after) > r.places {
		after, digits = after[:r.places], after[r.places:]
	}
	n, err := strconv.ParseInt(before+after+strings.Repeat("0", r.places-len(after)), 10, 64)
	if err != nil || n > beyond {
		return moment{beyond, ""}
	}
	return moment{n, digits}
}

// down and up round a time to ticks.
func (r tickReader) down(x float64) int64 { return r.moment(x).ticks }

func (r tickReader) up(x float64) int64 {
	m := r.moment(x)
	if m.digits != "" {
		m.ticks++
	}
	return m.ticks
}

// request returns a request's times.
func (r tickReader) request(q *model.Request) requestTicks {
	t := requestTicks{arrival: r.down(q.ArrivalS), ready: r.down(q.ReadyS), duration: r.down(q.DurationS), runtime: r.down(q.Runtime()), cancel: math.MaxInt64}
	t.deadline = max(r.up(q.DeadlineS), t.ready+t.duration)
	if q.CancelS != nil && *q.CancelS <= q.DeadlineS {
		t.cancel = r.down(*q.CancelS)
		if latest := t.deadline - t.duration; t.cancel < latest && latest-t.cancel <= 2 && neverCancelled(q) {
			t.cancel = latest
		}
	}
	return t
}

// neverCancelled reports whether the latest start, computed exactly, is no later
// than the cancellation.
func neverCancelled(q *model.Request) bool {
	decimal := func(x float64) *big.Rat {
		v, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'f', -1, 64))
		return v
	}
	sum := decimal(q.DurationS)
	return q.ReadyS <= *q.CancelS && sum.Add(sum, decimal(*q.CancelS)).Cmp(decimal(q.DeadlineS)) >= 0
}

// start returns the moment of a booking's start. It is moved to the nearest tick
// if that is no further than allowed (in ticks) or 4 units in the last place of
// the float64; allowed = 0 leaves it where it is.
func (r tickReader) start(x, allowed float64) moment {
	size := math.Abs(x)
	m := r.moment(size)
	if x < 0 { // before all ready times, whatever its digits
		m = moment{-m.ticks, ""}
		if r.up(size) > -m.ticks {
			m.ticks--
		}
		return m
	}
	if m.digits == "" || allowed == 0 {
		return m
	}
	allowed = max(allowed, 4*(math.Nextafter(size, math.Inf(1))-size)*math.Pow10(r.places))
	switch part := m.part(); {
	case part < 0.5 && part <= allowed:
		return moment{m.ticks, ""}
	case part >= 0.5 && 1-part <= allowed:
		return moment{m.ticks + 1, ""}
	}
	return m
}
