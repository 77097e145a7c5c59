// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"math"
	"slices"
)

const leastPE = 0.4 // height and, in a texture, width of a rectangle

// processorAxis is a vertical axis of n processors, numbered upwards from the first.
type processorAxis struct {
	name        string
	first, n    int
	top, bottom float64
	ticks       []tick
	column      float64 // width of its labels
}

// newProcessorAxis returns an axis of some processors of the given length, which is
// to be put somewhere.
func newProcessorAxis(name string, first, last int, length float64) processorAxis {
	f := newFace(axisSize, false)
	n := last - first + 1
	a := processorAxis{name: name, first: first, n: n, bottom: length, column: f.width(name)}
	for _, t := range peTicks(n, length) {
		if first > 0 {
			t.At += float64(first)
			t.Label = fmt.Sprint(int(t.At))
		}
		a.ticks = append(a.ticks, t)
		a.column = max(a.column, f.width(t.Label))
	}
	return a
}

// put puts the axis, its name above it, below y and returns its lower edge.
func (a *processorAxis) put(y float64) float64 {
	length := a.bottom - a.top
	a.top = math.Ceil(y + axisSize + 9)
	a.bottom = a.top + length
	return a.bottom
}

// y returns the height of a processor's lower edge.
func (a *processorAxis) y(k float64) float64 {
	return a.bottom - (k-float64(a.first))/float64(a.n)*(a.bottom-a.top)
}

// paint draws the background, the labels and the grid.
func (a *processorAxis) paint(p pen, x *timeAxis, times []tick) {
	p.fill(rowColour, rect{x.left, a.top, x.right - x.left, a.bottom - a.top})
	f := newFace(axisSize, false)
	p.text(f, paleInk, x.left-6, a.top-8, 1, a.name)
	var lines []rect
	for _, t := range a.ticks {
		p.text(f, ink, x.left-6, a.y(t.At)+axisSize*capHeight/2, 1, t.Label)
		lines = append(lines, rect{x.left, a.y(math.Floor(t.At)) - 0.25, x.right - x.left, 0.5})
	}
	p.fill(gridColour, lines...)
	x.grid(p, times, a.top, a.bottom)
}

// shows reports whether any of some processors is on the axis.
func (a *processorAxis) shows(first, last int) bool { return first < a.first+a.n && last >= a.first }

// box returns the rectangle of some processors for some time, as far as the axes show it; it must not be empty. It is
// large enough to be seen, less so in a texture.
func (a *processorAxis) box(t *timeAxis, first, last int, from, to float64, texture bool) rect {
	thinnest := 1.0
	if texture {
		thinnest = leastPE
	}
	first, last = max(first, a.first), min(last, a.first+a.n-1)
	from, to = t.clip(from, to)
	x, y := t.x(from), a.y(float64(last+1))
	w, h := max(t.x(to)-x, thinnest), max(a.y(float64(first))-y, leastPE)
	return rect{min(x, t.right-w), y, w, h}
}

// mostFit returns the width of the time axis at which three quarters of the labels
// fit, of the widths at which each does; the least width without labels.
func mostFit(wanted []float64) float64 {
	if len(wanted) == 0 {
		return narrowest
	}
	slices.Sort(wanted)
	return wanted[len(wanted)*3/4]
}

// peTicks returns the labels of PEs: each in the middle of its row if there is
// room, otherwise some of them at the lower edges of their rows.
func peTicks(pes int, length float64) []tick {
	if high := length / float64(pes); high >= axisSize*lineHeight {
		var all []tick
		for p := range pes {
			all = append(all, tick{At: float64(p) + 0.5, Label: fmt.Sprint(p)})
		}
		return all
	}
	const apart = 30.0
	step := 1
	for k := 0; step < pes && float64(step)/float64(pes)*length < apart; k++ {
		if pes&(pes-1) == 0 { // a power of two is divided by such
			step *= 2
		} else {
			step = step / []int{1, 2, 5}[k%3] * []int{2, 5, 10}[k%3]
		}
	}
	var all []tick
	for p := 0; p <= pes; p += step {
		all = append(all, tick{At: float64(p), Label: fmt.Sprint(p)})
	}
	return all
}
