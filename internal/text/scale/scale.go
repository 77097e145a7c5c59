// SPDX-License-Identifier: MIT

// Package scale divides the axes of pictures and pages: where the marks are, and what
// stands at them.
package scale

import (
	"math"
	"strings"
	"time"
)

// Tick is a place on an axis with its label; a minor one has none.
type Tick struct {
	At    float64
	Label string
}

// Axis is an axis from Low to High, Low < High, so many points long.
type Axis struct {
	Low, High, Length float64
	// Width returns the width of a label, in points.
	Width func(string) float64
}

// Linear returns multiples of 1, 2 or 5 times a power of ten, as finely as the labels
// leave room; least is the least step, such as 1 for counts. Label prints a multiple
// of a step.
func (a Axis) Linear(least float64, label func(x, step float64) string) []Tick {
	const apart = 45 // points, at least
	exponent := math.Floor(math.Log10((a.High - a.Low) * apart / a.Length))
	for k := range 12 {
		step := math.Pow(10, exponent+float64(k/3)) * []float64{1, 2, 5}[k%3]
		if step > a.High-a.Low {
			break
		}
		if !(step > 0) || step < least || (a.High-a.Low)/step*apart > a.Length {
			continue
		}
		var all []Tick
		widest := 0.0
		for i := math.Ceil(a.Low/step - 1e-9); i*step <= a.High+step*1e-9; i++ {
			t := Tick{i * step, label(i*step, step)}
			widest = max(widest, a.Width(t.Label))
			all = append(all, t)
		}
		if len(all) > 0 && widest+10 <= step/(a.High-a.Low)*a.Length {
			return all
		}
	}
	return []Tick{{a.Low, label(a.Low, a.High-a.Low)}}
}

// Log returns the marks of an axis whose Low and High are logarithms to the base 10:
// powers of ten, of a short axis also multiples of them. At is a logarithm, too.
func (a Axis) Log(label func(x float64) string) []Tick {
	const apart = 30 // points for a power of ten
	decades := a.High - a.Low
	every := max(1, int(math.Ceil(decades*apart/a.Length))) // decades between labels
	within := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	if decades < 0.4 {
		within = []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}
	}
	var all []Tick
	for e := int(math.Floor(a.Low)); e <= int(math.Ceil(a.High)); e++ {
		for _, m := range within {
			t := Tick{At: float64(e) + math.Log10(m)}
			if m == 1 && (e%every == 0 || decades < 2) || decades < 2 && (m == 2 || m == 5) || decades < 0.7 {
				t.Label = label(m * math.Pow10(e))
			}
			if (t.Label != "" || every == 1) && t.At >= a.Low-1e-9 && t.At <= a.High+1e-9 {
				all = append(all, t)
			}
		}
	}
	return all
}

// Seconds.
const (
	hour = 3600.0
	day  = 24 * hour
)

// Date returns the date of a time in seconds since start.
func Date(start time.Time, t float64) time.Time {
	return start.Add(time.Duration(math.Round(t)) * time.Second)
}

// Days says from which day to which an axis goes that has Dates, and in which time
// zone.
func (a Axis) Days(start time.Time) string {
	from, to := Date(start, a.Low), Date(start, a.High)
	text := from.Format("2 January 2006") + " to " + to.Format("2 January 2006")
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		text = from.Format("Monday, 2 January 2006")
	}
	return text + ", UTC" + strings.TrimSuffix(from.Format("-07:00"), "+00:00")
}

// Dates returns the full seconds, minutes, hours, days, months or years of the time
// zone of start, as finely as the labels leave room. The axis is one of seconds since
// start.
func (a Axis) Dates(start time.Time) []Tick {
	for _, step := range []float64{1, 5, 15, 30, 60, 300, 900, 1800, hour, 3 * hour, 6 * hour, 12 * hour} {
		text := "00:00"
		switch {
		case step < 60:
			text = "00:00:00"
		case a.High-a.Low >= day:
			text = "30 Sep 00:00"
		}
		if a.room(step, text) {
			return a.times(start, step)
		}
	}
	for _, step := range []dateStep{
		{day, 0, 0, 1, "2 Jan"}, {2 * day, 0, 0, 2, "2 Jan"}, {7 * day, 0, 0, 7, "2 Jan"}, {14 * day, 0, 0, 14, "2 Jan"},
		{28 * day, 0, 1, 0, "Jan 2006"}, {89 * day, 0, 3, 0, "Jan 2006"}, {181 * day, 0, 6, 0, "Jan 2006"},
		{365 * day, 1, 0, 0, "2006"}, {1825 * day, 5, 0, 0, "2006"}, {36500 * day, 100, 0, 0, "2006"},
	} {
		if a.room(step.length, "30 Sep 2000"[:len(step.layout)+1]) {
			return a.days(start, step)
		}
	}
	return []Tick{{a.Low, Date(start, a.Low).Format("2006")}}
}

// room reports whether labels of a text fit at every step.
func (a Axis) room(step float64, text string) bool {
	return step/(a.High-a.Low)*a.Length >= a.Width(text)+12
}

// times returns marks at so many seconds of the day. On an axis of a day or more the
// first of each day has its date.
func (a Axis) times(start time.Time, step float64) (all []Tick) {
	_, zone := start.Zone()
	local := float64(start.Unix() + int64(zone)) // as if it were UTC
	last := ""
	for i := math.Ceil((local + a.Low) / step); i*step <= local+a.High; i++ {
		at := Date(start, i*step-local)
		layout := "15:04"
		if step < 60 {
			layout = "15:04:05"
		}
		label := at.Format(layout)
		if today := at.Format("2 Jan"); a.High-a.Low >= day && today != last {
			label, last = today+" "+label, today
		}
		all = append(all, Tick{i*step - local, label})
	}
	return all
}

// dateStep is a step of some days, months or years, and about how long it is.
type dateStep struct {
	length              float64
	years, months, days int
	layout              string
}

// days returns marks at the beginnings of days; of weeks these are Mondays.
func (a Axis) days(start time.Time, step dateStep) (all []Tick) {
	at := Date(start, a.Low)
	t := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, at.Location())
	switch {
	case step.days == 7 || step.days == 14:
		t = t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
	case step.years > 0:
		t = time.Date(t.Year()-t.Year()%step.years, 1, 1, 0, 0, 0, 0, t.Location())
	case step.months > 0:
		t = time.Date(t.Year(), t.Month()-(t.Month()-1)%time.Month(step.months), 1, 0, 0, 0, 0, t.Location())
	}
	for ; !t.After(Date(start, a.High)); t = t.AddDate(step.years, step.months, step.days) {
		if x := t.Sub(start).Seconds(); x >= a.Low {
			all = append(all, Tick{x, t.Format(step.layout)})
		}
	}
	return all
}
