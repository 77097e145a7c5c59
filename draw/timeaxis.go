// SPDX-License-Identifier: MIT

package draw

import (
	"math"
	"time"

	"github.com/gapwise/gapwise/internal/text/scale"
)

// timeAxis is a horizontal axis of times.
type timeAxis struct {
	left, right float64   // in points
	low, high   float64   // in seconds
	start       time.Time // of second 0; zero: it isn't known
	shares      bool      // of a host, in per cent, instead of times
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

// unit returns the labels' unit, in seconds, and its name. It is hours if the axis is ten of them or longer, days if it
// is four or longer, up to ten million.
func (a *timeAxis) unit() (float64, string) {
	switch span := a.high - a.low; {
	case a.shares, span < 10*hour, span >= 1e7*day:
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

func (a *timeAxis) ticks() []tick {
	if a.dated() {
		return axisOf(a.low, a.high, a.right-a.left, newFace(axisSize, false)).Dates(a.start)
	}
	unit, _ := a.unit()
	all := ticks(a.low/unit, a.high/unit, a.right-a.left, newFace(axisSize, false))
	for i := range all {
		all[i].At *= unit
	}
	return all
}

// caption describes the labels.
func (a *timeAxis) caption() string {
	if a.shares {
		return "share of the host (%); dashed: all of it"
	}
	if !a.dated() {
		_, unit := a.unit()
		return "time (" + unit + ")"
	}
	return scale.Axis{Low: a.low, High: a.high}.Days(a.start)
}

// grid draws a hair line at each tick from top to bottom.
func (a *timeAxis) grid(p pen, ticks []tick, top, bottom float64) {
	var lines []rect
	for _, t := range ticks {
		lines = append(lines, rect{a.x(t.At) - 0.25, top, 0.5, bottom - top})
	}
	p.fill(gridColour, lines...)
}

// paint draws the axis at y; it takes axisHeight.
func (a *timeAxis) paint(p pen, y float64, ticks []tick) {
	p.line(paleInk, 0.8, a.left, y, a.right, y)
	f := newFace(axisSize, false)
	for _, t := range ticks {
		x := a.x(t.At)
		p.line(paleInk, 0.8, x, y, x, y+3)
		p.text(f, ink, x, y+4+axisSize, 0.5, t.Label)
	}
	p.text(f, paleInk, (a.left+a.right)/2, y+axisHeight-7, 0.5, a.caption())
}
