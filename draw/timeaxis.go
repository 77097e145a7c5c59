package draw

import (
	"math"
	"strings"
	"time"
)

// timeAxis is a horizontal axis of times.
type timeAxis struct {
	left, right float64   // in points
	low, high   float64   // in seconds
	start       time.Time // of second 0; zero: it isn't known
}

// x returns the position of a time.
func (a *timeAxis) x(t float64) float64 {
	return a.left + (t-a.low)/(a.high-a.low)*(a.right-a.left)
}

// widen makes a span of times that can be divided.
func (a *timeAxis) widen() {
	if a.high-a.low < 1e-300 { // nothing lasts, or nothing that could be divided
		a.high = a.low + 1
	}
}

// Seconds.
const (
	hour = 3600.0
	day  = 24 * hour
)

// unit returns the unit of the labels, in seconds, and its name: hours if the axis
// is ten of them or longer, days if it is four or longer, up to ten million.
func (a *timeAxis) unit() (float64, string) {
	switch span := a.high - a.low; {
	case span < 10*hour || span >= 1e7*day:
		return 1, "s"
	case span < 4*day:
		return hour, "h"
	}
	return day, "d"
}

// dated reports whether the labels are dates.
func (a *timeAxis) dated() bool {
	return !a.start.IsZero() && a.high-a.low >= 10 && math.Abs(a.low) < 1e10 && math.Abs(a.high) < 1e10
}

// date returns the date of a time on the axis.
func (a *timeAxis) date(t float64) time.Time {
	return a.start.Add(time.Duration(math.Round(t)) * time.Second)
}

func (a *timeAxis) ticks() []tick {
	if a.dated() {
		return a.dates()
	}
	unit, _ := a.unit()
	all := ticks(a.low/unit, a.high/unit, a.right-a.left, newFace(axisSize, false))
	for i := range all {
		all[i].at *= unit
	}
	return all
}

// dates divides the axis at the full seconds, minutes, hours, days, months or
// years of its time zone, as finely as the labels leave room.
func (a *timeAxis) dates() []tick {
	f := newFace(axisSize, false)
	room := func(step float64, text string) bool {
		return step/(a.high-a.low)*(a.right-a.left) >= f.width(text)+12
	}
	var all []tick
	for _, step := range []float64{1, 5, 15, 30, 60, 300, 900, 1800, hour, 3 * hour, 6 * hour, 12 * hour} {
		text := "00:00"
		switch {
		case step < 60:
			text = "00:00:00"
		case a.high-a.low >= day:
			text = "30 Sep 00:00"
		}
		if !room(step, text) {
			continue
		}
		_, zone := a.start.Zone()
		local := float64(a.start.Unix() + int64(zone)) // as if it were UTC
		last := ""
		for i := math.Ceil((local + a.low) / step); i*step <= local+a.high; i++ {
			at := a.date(i*step - local)
			layout := "15:04"
			if step < 60 {
				layout = "15:04:05"
			}
			label := at.Format(layout)
			if today := at.Format("2 Jan"); a.high-a.low >= day && today != last {
				label, last = today+" "+label, today
			}
			all = append(all, tick{i*step - local, label})
		}
		return all
	}
	at := a.date(a.low)
	from := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, at.Location())
	for _, step := range []struct {
		length              float64
		years, months, days int
		layout              string
	}{
		{day, 0, 0, 1, "2 Jan"}, {2 * day, 0, 0, 2, "2 Jan"}, {7 * day, 0, 0, 7, "2 Jan"}, {14 * day, 0, 0, 14, "2 Jan"},
		{28 * day, 0, 1, 0, "Jan 2006"}, {89 * day, 0, 3, 0, "Jan 2006"}, {181 * day, 0, 6, 0, "Jan 2006"},
		{365 * day, 1, 0, 0, "2006"}, {1825 * day, 5, 0, 0, "2006"}, {36500 * day, 100, 0, 0, "2006"},
	} {
		if !room(step.length, "30 Sep 2000"[:len(step.layout)+1]) {
			continue
		}
		t := from
		switch {
		case step.days == 7 || step.days == 14: // Mondays
			t = t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
		case step.years > 0:
			t = time.Date(t.Year()-t.Year()%step.years, 1, 1, 0, 0, 0, 0, t.Location())
		case step.months > 0:
			t = time.Date(t.Year(), t.Month()-(t.Month()-1)%time.Month(step.months), 1, 0, 0, 0, 0, t.Location())
		}
		for ; !t.After(a.date(a.high)); t = t.AddDate(step.years, step.months, step.days) {
			if x := t.Sub(a.start).Seconds(); x >= a.low {
				all = append(all, tick{x, t.Format(step.layout)})
			}
		}
		return all
	}
	return []tick{{a.low, at.Format("2006")}}
}

// caption says what the labels are.
func (a *timeAxis) caption() string {
	if !a.dated() {
		_, unit := a.unit()
		return "time (" + unit + ")"
	}
	from, to := a.date(a.low), a.date(a.high)
	text := from.Format("2 January 2006") + " to " + to.Format("2 January 2006")
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		text = from.Format("Monday, 2 January 2006")
	}
	return text + ", UTC" + strings.TrimSuffix(from.Format("-07:00"), "+00:00")
}

// grid draws a hair line at each tick from top to bottom.
func (a *timeAxis) grid(p pen, ticks []tick, top, bottom float64) {
	var lines []rect
	for _, t := range ticks {
		lines = append(lines, rect{a.x(t.at) - 0.25, top, 0.5, bottom - top})
	}
	p.fill(gridColour, lines...)
}

// paint draws the axis at y; it takes axisHeight.
func (a *timeAxis) paint(p pen, y float64, ticks []tick) {
	p.line(paleInk, 0.8, a.left, y, a.right, y)
	f := newFace(axisSize, false)
	for _, t := range ticks {
		x := a.x(t.at)
		p.line(paleInk, 0.8, x, y, x, y+3)
		p.text(f, ink, x, y+4+axisSize, 0.5, t.label)
	}
	p.text(f, paleInk, (a.left+a.right)/2, y+axisHeight-7, 0.5, a.caption())
}

// strip draws a tick for each of some times, as many as can be told apart, in a
// strip at y with its label at the left; it takes stripHeight.
func (a *timeAxis) strip(p pen, times []float64, label string, y float64) {
	p.fill(linkColour, rect{a.left, y, a.right - a.left, stripHeight})
	p.text(newFace(axisSize, false), realisticColour, a.left-6, y+stripHeight/2+axisSize*capHeight/2, 1, label)
	var marks []rect
	seen := map[float64]bool{}
	for _, t := range times {
		x := math.Round(a.x(t)*2) / 2
		if !seen[x] {
			marks = append(marks, rect{min(x, a.right-0.5), y, 0.5, stripHeight})
		}
		seen[x] = true
	}
	p.fill(realisticColour, marks...)
}
