package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
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
		all = append(all, tick{k * step, short(k*step, decimals)})
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
				all = append(all, tick{x, tidy(x)})
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

// short prints a number with so many decimals, and with separators of thousands.
func short(x float64, decimals int) string {
	if math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "−", whole[1:]
	}
	for k := len(whole) - 3; k > 0; k -= 3 {
		whole = whole[:k] + "," + whole[k:]
	}
	if rest != "" {
		return sign + whole + "." + rest
	}
	return sign + whole
}

// tidy prints a number to four digits at least, whole numbers whole; "–" if it isn't
// known.
func tidy(x float64) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	case x == 0:
		return "0"
	case size >= 1e15 || size < 1e-4:
		return scientific(x)
	case x == math.Trunc(x) || size >= 1000:
		return short(x, 0)
	default:
		decimals := 3 - int(math.Floor(math.Log10(size)))
		text := short(x, decimals)
		return strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
}

// scientific prints a number as 1.234·10⁻⁵.
func scientific(x float64) string {
	digits, power, _ := strings.Cut(strconv.FormatFloat(x, 'e', 3, 64), "e")
	digits = strings.Replace(strings.TrimRight(strings.TrimRight(digits, "0"), "."), "-", "−", 1)
	n, _ := strconv.Atoi(power)
	raised := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
	if digits == "1" {
		return "10" + raised
	}
	return digits + "·10" + raised
}

// percentOf prints a share in percent, its unit not included.
func percentOf(share float64) string {
	switch x := 100 * share; {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	case x == 0:
		return "0"
	case math.Abs(x) < 0.001:
		return "<0.001"
	case math.Abs(x) >= 1000:
		return short(x, 0)
	default:
		return short(x, max(1, 2-int(math.Floor(math.Log10(math.Abs(x))))))
	}
}

// timeUnit returns the unit in which times up to a longest one are printed, and how
// many seconds it has.
func timeUnit(longest float64) (unit string, seconds float64) {
	switch {
	case longest < 1e-3:
		return "µs", 1e-6
	case longest < 1:
		return "ms", 1e-3
	case longest < 600:
		return "s", 1
	case longest < 6*3600:
		return "min", 60
	case longest < 4*86400:
		return "h", 3600
	}
	return "days", 86400
}

// unitFor returns the unit in which all of some times are printed: that which suits
// the middle of the shortest and the longest on a logarithmic scale.
func unitFor(all []float64) (unit string, seconds float64) {
	low, high := math.Inf(1), 0.0
	for _, s := range all {
		if s > 0 && !math.IsInf(s, 0) {
			low, high = min(low, s), max(high, s)
		}
	}
	if high == 0 {
		return timeUnit(0.5)
	}
	return timeUnit(math.Sqrt(low * high))
}

// duration prints a time with a unit that fits.
func duration(s float64) string {
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return "–"
	}
	unit, seconds := timeUnit(s)
	return fmt.Sprintf("%s %s", three(s/seconds), unit)
}

// three prints a number to three digits at least.
func three(x float64) string {
	if size := math.Abs(x); size >= 100 || x == 0 {
		return short(x, 0)
	} else if size >= 1e-4 {
		return short(x, 2-int(math.Floor(math.Log10(size))))
	}
	return scientific(x)
}

// precise prints a number to six digits at least.
func precise(x float64) string {
	if size := math.Abs(x); size < 1e-3 || size >= 1000 || math.IsNaN(x) || x == math.Trunc(x) {
		return tidy(x)
	}
	text := short(x, 5-int(math.Floor(math.Log10(math.Abs(x)))))
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// aligned returns a function that prints the numbers of a column with the same number
// of decimals, six digits of the largest; as tidy does where that would show a small
// one as 0.
func aligned(x []float64) func(float64) string {
	most, small, whole := 0.0, math.Inf(1), true
	for _, v := range x {
		if size := math.Abs(v); size > 0 && !math.IsInf(v, 0) {
			most, small = max(most, size), min(small, size)
			whole = whole && v == math.Trunc(v)
		}
	}
	decimals := 0
	if most > 0 && !whole {
		decimals = max(0, 5-int(math.Floor(math.Log10(most))))
	}
	if most >= 1e15 || small < 5*math.Pow(10, -float64(decimals)) && !whole || decimals > 8 {
		return tidy
	}
	return func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return tidy(v)
		}
		return short(v, decimals)
	}
}
