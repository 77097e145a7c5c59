package report

import (
	"math"
	"time"

	"github.com/gapwise/gapwise/internal/words"
)

// tick is a mark on an axis.
type tick struct {
	at    float64
	label string
}

// axis is one axis of a chart.
type axis struct {
	label     string
	log       bool
	whole     bool // all that it shows are whole numbers: so are its marks
	low, high float64
	// begin, if not nil, makes the axis one of dates: its values are seconds since
	// then.
	begin *time.Time
}

// position returns where a value lies between the ends of the axis, from 0 to 1.
func (a *axis) position(x float64) float64 {
	if a.log {
		return (math.Log(x) - math.Log(a.low)) / (math.Log(a.high) - math.Log(a.low))
	}
	return (x - a.low) / (a.high - a.low)
}

// title returns the label, which says so of a logarithmic axis.
func (a *axis) title() string {
	if a.log {
		return a.label + ", log scale"
	}
	return a.label
}

// widen makes an axis of some length of one without, and gives a logarithmic one
// positive ends.
func (a *axis) widen() {
	if !(a.low <= a.high) { // nothing is shown
		a.low, a.high = 0, 1
	}
	if a.log {
		a.low = max(a.low, math.SmallestNonzeroFloat64*1e20)
		if !(a.high > a.low*1.0001) {
			a.low, a.high = a.low/1.5, a.low*1.5
		}
		return
	}
	// What differs by less than a hundred-thousandth is the same to the eye: an axis that
	// magnified it would show rounding errors.
	if !(a.high-a.low > 1e-5*max(math.Abs(a.low), math.Abs(a.high))) {
		by := max(0.5, math.Abs(a.low)*0.05)
		a.low, a.high = a.low-by, a.high+by
	}
}

// ticks returns about n marks.
func (a *axis) ticks(n int) []tick {
	switch {
	case a.begin != nil:
		return a.dates(n)
	case a.log:
		return a.logTicks(n)
	}
	step := niceStep((a.high - a.low) / float64(n))
	if a.whole {
		step = max(step, 1)
	}
	var all []tick
	for k := math.Ceil(a.low/step - 1e-9); k*step <= a.high+1e-9*step; k++ {
		if len(all) > 50 {
			break // the numbers are too near to each other to tell them apart
		}
		decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
		all = append(all, tick{k * step, words.Short(k*step, decimals)})
	}
	return all
}

// niceStep returns the smallest of 1, 2, 5, 10, ... that is at least x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

func (a *axis) logTicks(n int) []tick {
	low, high := math.Log10(a.low), math.Log10(a.high)
	every := max(1, int(math.Ceil((high-low)/float64(n))))
	within := []float64{1}
	if high-low < 2 {
		within = []float64{1, 2, 5}
	}
	if high-low < 0.4 {
		within = []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}
	}
	var all []tick
	for e := int(math.Floor(low)); e <= int(math.Ceil(high)); e++ {
		if e%every != 0 {
			continue
		}
		for _, m := range within {
			if x := m * math.Pow(10, float64(e)); x >= a.low*(1-1e-9) && x <= a.high*(1+1e-9) {
				all = append(all, tick{x, words.Tidy(x)})
			}
		}
	}
	return all
}

// dates returns marks at the beginnings of hours, days, weeks, months or years.
func (a *axis) dates(n int) []tick {
	at := func(s float64) time.Time { return a.begin.Add(time.Duration(s * float64(time.Second))) }
	from, to := at(a.low), at(a.high)
	var all []tick
	add := func(t time.Time, format string) {
		if s := t.Sub(*a.begin).Seconds(); s >= a.low && s <= a.high {
			all = append(all, tick{s, t.Format(format)})
		}
	}
	const day = 24 * time.Hour
	y, m, d := from.Date()
	switch length := to.Sub(from); {
	case length <= 3*day:
		step := niceTime(length/time.Duration(n), []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day})
		for t := time.Date(y, m, d, 0, 0, 0, 0, from.Location()); !t.After(to); t = t.Add(step) {
			add(t, "2 Jan 15:04")
		}
	case length <= 90*day:
		step := int(niceTime(length/time.Duration(n), []time.Duration{day, 2 * day, 7 * day, 14 * day}) / day)
		for t := time.Date(y, m, d, 0, 0, 0, 0, from.Location()); !t.After(to); t = t.AddDate(0, 0, step) {
			add(t, "2 Jan 2006")
		}
	default:
		months := int(math.Ceil(length.Hours() / 24 / 30.4 / float64(n)))
		for _, k := range []int{1, 2, 3, 4, 6, 12, 24, 60, 120} {
			if k >= months {
				months = k
				break
			}
		}
		for t := time.Date(y, 1, 1, 0, 0, 0, 0, from.Location()); !t.After(to) && len(all) < 100; t = t.AddDate(0, months, 0) {
			add(t, "Jan 2006")
		}
	}
	return all
}

// niceTime returns the first of some steps that is at least x, or the last.
func niceTime(x time.Duration, steps []time.Duration) time.Duration {
	for _, s := range steps {
		if s >= x {
			return s
		}
	}
	return steps[len(steps)-1]
}
