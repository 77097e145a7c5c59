// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
)

var (
	white      = theme.Paper
	ink        = theme.Ink  // text
	paleInk    = theme.Soft // text of less weight
	gridColour = theme.Line
	rowColour  = theme.Faint
	linkColour = theme.Mix(theme.Faint, theme.Plain, 0.03) // rows of links
)

// Sizes of text in points.
const (
	titleSize = 13.0
	panelSize = 10.0
	labelSize = 9.0 // of rows and bars
	markSize  = 8.5
	axisSize  = 8.5
	leastSize = 6.0 // bars have no labels smaller than that
)

// Widths of edges in points.
const (
	boldEdge = 1.8 // of things with a meaning
	thinEdge = 0.6 // of others
)

// faded is the share of paper in paler colours.
const faded = 0.6

// shape is a box of a scene on paper. Its label is drawn if it fits inside.
type shape struct {
	rect
	style
	label string
}

// style is how a shape looks.
type style struct {
	fill, edge, text theme.Colour
	width            float64 // of the edge
	dashed           bool
}

// plain returns the style of a thing without a meaning, in tint k of a hue.
func plain(hue theme.Colour, k int) style {
	return style{theme.Tint(hue, k), hue, ink, thinEdge, false}
}

// paler returns the style of a thing's lesser part.
func (s style) paler() style {
	return style{theme.Mix(s.fill, white, faded), theme.Mix(s.edge, white, faded), paleInk, thinEdge, false}
}

// hollow returns the style of a thing that never happened or was lost.
func hollow(hue theme.Colour) style { return style{white, hue, paleInk, 0.8, true} }

// bold returns the style of a thing with a meaning, on a pale ground.
func bold(c theme.Colour) style { return style{theme.Pale(c), c, ink, boldEdge, false} }

// shapes paints shapes in their order. Rows too small for edges are nearly all edge. A texture has no edges, and its
// pale shapes lie below the others.
func (p pen) shapes(all []shape, texture bool) {
	if texture {
		for _, pale := range []bool{true, false} {
			var order []theme.Colour
			boxes := map[theme.Colour][]rect{}
			for _, s := range all {
				if (s.text == paleInk) != pale {
					continue
				}
				if boxes[s.fill] == nil {
					order = append(order, s.fill)
				}
				boxes[s.fill] = append(boxes[s.fill], s.rect)
			}
			for _, c := range order {
				p.fill(c, boxes[c]...)
			}
		}
		return
	}
	for from := 0; from < len(all); {
		s, to := all[from].style, from
		var large, thin []rect
		for ; to < len(all) && all[to].style == s; to++ {
			if r := all[to].rect; r.w >= 3 && r.h >= 3 {
				large = append(large, r)
			} else {
				thin = append(thin, r)
			}
		}
		p.fill(s.fill, large...)
		for _, r := range large {
			if s.dashed {
				p.dashed(s.edge, r)
			} else {
				p.outline(s.edge, min(s.width, r.w/2, r.h/2), r)
			}
		}
		p.fill(theme.Mix(s.edge, s.fill, 0.35), thin...)
		from = to
	}
}

// labels writes the labels of shapes in the middle of each, or of the larger part next to lines at some places, if
// there is room.
func (p pen) labels(all []shape, lines ...float64) {
	for _, s := range all {
		left, right := s.x+2, s.x+s.w-2
		for _, x := range lines {
			switch {
			case x+2 <= left || x-2 >= right:
			case x-left > right-x:
				right = x - 2
			default:
				left = x + 2
			}
		}
		p.fit(s.label, s.text, left, right, s.rect)
	}
}

// leastCut is the fewest letters, the ellipsis included, that stand for a longer label.
const leastCut = 9

// fit writes a label between left and right in a rectangle if it fits, in smaller letters if necessary, or without its
// middle if enough of it is left.
func (p pen) fit(label string, c color.Color, left, right float64, r rect) {
	size := min(labelSize, r.h/lineHeight)
	f := newFace(size, false)
	if w := f.width(label); w > right-left {
		size *= max((right-left)/w, 0.75)
		f = newFace(size, false)
	}
	if f.width(label) > right-left {
		if label = f.shorten(label, right-left); utf8.RuneCountInString(label) < leastCut {
			return
		}
	}
	if label != "" && size >= leastSize {
		p.text(f, c, (left+right)/2, r.y+r.h/2+size*capHeight/2, 0.5, label)
	}
}

// dashed draws a rectangle's edge on its inner side.
func (p pen) dashed(c color.Color, r rect) {
	r = rect{r.x + 0.4, r.y + 0.4, max(r.w-0.8, 0), max(r.h-0.8, 0)}
	for _, s := range [][4]float64{{r.x, r.y, r.x + r.w, r.y}, {r.x, r.y + r.h, r.x + r.w, r.y + r.h}, {r.x, r.y, r.x,
		r.y + r.h}, {r.x + r.w, r.y, r.x + r.w, r.y + r.h}} {
		p.line(c, 0.8, s[0], s[1], s[2], s[3], 2, 1.5)
	}
}

// arrow draws a line with a head at its end.
func (p pen) arrow(c color.Color, width, x0, y0, x1, y1 float64) {
	p.line(c, width, x0, y0, x1, y1)
	length := math.Hypot(x1-x0, y1-y0)
	if length < 1 {
		return
	}
	const long, wide = 5.0, 2.0
	dx, dy := (x1-x0)/length, (y1-y0)/length
	var head vg.Path
	head.Move(p.at(x1, y1))
	head.Line(p.at(x1-long*dx+wide*dy, y1-long*dy-wide*dx))
	head.Line(p.at(x1-long*dx-wide*dy, y1-long*dy+wide*dx))
	head.Close()
	p.c.SetColor(c)
	p.c.Fill(head)
}

// cellSize is the size of the fields in which many boxes are shares, in points.
const cellSize = 4.0

// heat draws, in cells of some of n lanes and some time, the share in use. Lanes count upwards. A lane by itself is in
// use while any of its boxes lasts, of which several may at a time.
func (p pen) heat(a *timeAxis, r rect, n int, boxes []scene.Box) {
	rows, columns := max(min(n, int(r.h/cellSize)), 1), max(int(r.w/cellSize), 1)
	if n == 1 {
		boxes = slices.Clone(boxes)
		slices.SortStableFunc(boxes, func(a, b scene.Box) int { return cmp.Compare(a.Low, b.Low) })
	}
	lanes := make([]float64, rows) // of each row of cells
	for k := range n {
		lanes[k*rows/n]++
	}
	used, length, until := make([]float64, rows*columns), (a.high-a.low)/float64(columns), math.Inf(-1)
	for i := range boxes {
		from, to := (boxes[i].Low-a.low)/length, (boxes[i].High-a.low)/length
		if n == 1 {
			from, until = max(from, until), max(to, until)
		}
		for c := max(int(from), 0); c < columns && float64(c) < to; c++ {
			share := max(0, min(to, float64(c+1))-max(from, float64(c)))
			for k := range boxes[i].Lanes {
				used[(boxes[i].Lane+k)*rows/n*columns+c] += share
			}
		}
	}
	p.cells(r, rows, columns, func(row, column int) float64 { return used[row*columns+column]/lanes[row] - 1e-6 })
}

// cells paints a rectangle's cells, rows counted from the bottom, in the colours of their shares.
func (p pen) cells(r rect, rows, columns int, share func(row, column int) float64) {
	wide, high := r.w/float64(columns), r.h/float64(rows)
	shapes := make([][]rect, len(theme.Shares))
	for k := range rows {
		last := 0
		for c := range columns {
			class := heatOf(share(k, c))
			if all := shapes[class]; c > 0 && class == last {
				all[len(all)-1].w += wide
			} else {
				shapes[class] = append(all, rect{r.x + wide*float64(c), r.y + r.h - high*float64(k+1), wide, high})
			}
			last = class
		}
	}
	for class, all := range shapes {
		if class > 0 {
			p.fill(theme.Shares[class], all...)
		}
	}
}

// heatOf returns the number of a share's colour.
func heatOf(share float64) int {
	if !(share > 0) {
		return 0
	}
	return min(1+int(4*share*(1-1e-12)), len(theme.Shares)-1)
}

// shareTexts returns the meanings of the colours of shares.
func shareTexts(none string) [len(theme.Shares)]string {
	return [...]string{none, "up to 25 %", "up to 50 %", "up to 75 %", "up to 100 %"}
}
