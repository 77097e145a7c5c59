// SPDX-License-Identifier: MIT

package draw

import (
	"math"

	"github.com/gapwise/gapwise/internal/text/look"
)

// chart draws the background of a chart over time, calls paint, and draws the labels of its vertical axis from 0 to
// most, a whole number.
func (a *timeAxis) chart(p pen, axis []tick, top, height, most float64, paint func()) {
	f := newFace(axisSize, false)
	p.fill(rowColour, rect{a.left, top, a.right - a.left, height})
	a.grid(p, axis, top, top+height)
	paint()
	at := ticks(0, most, height, f)
	if len(at) < 2 {
		at = append(at, tick{At: most})
	}
	for _, t := range at {
		if t.At != math.Trunc(t.At) {
			continue
		}
		y := top + height*(1-t.At/most)
		p.text(f, ink, a.left-6, y+axisSize*capHeight/2, 1, number(t.At, 1))
		p.line(paleInk, 0.8, a.left-3, y, a.left, y)
	}
}

// fillArea fills the area below a figure over time, with the given height of one: below its mean and, paler, its
// maximum in each half point of the axis (one pixel of a PNG). For each step, by time, figure returns the time and the
// figure from then on.
func fillArea[S any](p pen, a *timeAxis, c look.Colour, bottom, one float64, steps []S, figure func(S) (at, y float64)) {
	const wide = 0.5
	n := int((a.right - a.left) / wide)
	sum, most := make([]float64, n), make([]float64, n)
	column := func(t float64) float64 { return (a.x(t) - a.left) / wide }
	for i, s := range steps {
		at, y := figure(s)
		from, to := column(at), float64(n)
		if i+1 < len(steps) {
			next, _ := figure(steps[i+1])
			to = column(next)
		}
		if from >= float64(n) && i > 0 {
			break // the steps are by time
		}
		for k := min(max(int(from), 0), n-1); k < n && float64(k) < to; k++ {
			sum[k] += y * max(0, min(float64(k+1), to)-max(float64(k), from))
			most[k] = max(most[k], y)
		}
	}
	for _, x := range []struct {
		c    look.Colour
		high []float64
	}{{look.Mix(c, white, 0.5), most}, {c, sum}} {
		var bars []rect
		for k, y := range x.high {
			switch last := len(bars) - 1; {
			case y <= 0:
			case k > 0 && x.high[k-1] == y:
				bars[last].w += wide
			default:
				bars = append(bars, rect{a.left + wide*float64(k), bottom - one*y, wide, one * y})
			}
		}
		p.fill(x.c, bars...)
		for k := range bars { // an edge parts it from what lies behind, in black and white, too
			bars[k].h = min(bars[k].h, thinEdge)
		}
		p.fill(look.Mix(x.c, ink, 0.5), bars...)
	}
}

// heading writes the heading of a part of a picture of the given width, its
// baseline at y.
func (p pen) heading(y, width float64, text string) {
	f := newFace(panelSize, true)
	p.text(f, ink, margin, y, 0, f.shorten(text, width-2*margin))
}
