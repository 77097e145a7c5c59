// SPDX-License-Identifier: MIT

package report

import (
	"math"
	"time"

	"github.com/gapwise/gapwise/internal/text/scale"
	"github.com/gapwise/gapwise/internal/text/words"
)

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

// title returns the label, which marks a logarithmic axis, and states the span of an axis of dates.
func (a *axis) title() string {
	if a.begin != nil {
		return scale.Axis{Low: a.low, High: a.high}.Days(*a.begin)
	}
	if a.log {
		return a.label + ", log scale"
	}
	return a.label
}

// hold makes an axis hold a value; it begins with ends that are none.
func (a *axis) hold(x float64) {
	a.whole, a.low, a.high = a.whole && x == math.Trunc(x), min(a.low, x), max(a.high, x)
}

// empty makes an axis hold nothing.
func (a *axis) empty() { a.whole, a.low, a.high = true, math.Inf(1), math.Inf(-1) }

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
	// Values that differ by less than a hundred-thousandth look the same: an axis that magnified the difference would
	// show rounding errors.
	if !(a.high-a.low > 1e-5*max(math.Abs(a.low), math.Abs(a.high))) {
		by := max(0.5, math.Abs(a.low)*0.05)
		a.low, a.high = a.low-by, a.high+by
	}
}

// ticks returns the labelled marks of an axis that is so many points long.
func (a *axis) ticks(length float64) (all []scale.Tick) {
	line := scale.Axis{Low: a.low, High: a.high, Length: length, Width: textWidth}
	switch {
	case a.begin != nil:
		return line.Dates(*a.begin)
	case a.log:
		line.Low, line.High = math.Log10(a.low), math.Log10(a.high)
		for _, t := range line.Log(words.Tidy) {
			if t.Label != "" {
				all = append(all, scale.Tick{At: math.Pow(10, t.At), Label: t.Label})
			}
		}
		return all
	}
	least := 0.0
	if a.whole {
		least = 1
	}
	return line.Linear(least, func(x, step float64) string {
		return words.Short(x, max(0, int(math.Ceil(-math.Log10(step)-1e-9))))
	})
}

// textWidth returns about how wide a label is, in points.
func textWidth(s string) float64 { return 6.8 * float64(len([]rune(s))) }
