// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/gapwise/gapwise/internal/text/look"
)

// Sizes of text in points.
const (
	titleSize   = 13.0
	panelSize   = 10.0
	labelSize   = 9.0 // of rows and bars
	markSize    = 8.5
	axisSize    = 8.5
	leastSize   = 6.0 // bars have no labels smaller than that
	smallestRow = 5.0 // nor have rows
)

// Widths in points.
const (
	boldEdge = 1.8 // of critical bars
	thinEdge = 0.6 // of others
	bandMark = 2.0 // of the line for critical bars where the share of busy time is drawn
)

func (l *layout) paint(p pen) {
	for k := range l.panels {
		box := &l.panels[k]
		axis := box.ticks()
		l.paintPanel(p, box, axis)
		if !l.shared {
			box.timeAxis.paint(p, box.bottom+4, axis)
		}
	}
	if last := &l.panels[len(l.panels)-1]; l.shared {
		last.timeAxis.paint(p, l.end-axisHeight, last.ticks())
	}
}

func (l *layout) paintPanel(p pen, box *panelBox, axis []tick) {
	p.text(newFace(panelSize, true), ink, margin, box.head+headLine*0.75, 0, box.title)
	l.paintRows(p, box)
	box.grid(p, axis, box.top, box.bottom)
	for r := range box.rows {
		if box.rows[r].bands {
			l.paintBands(p, box, &box.rows[r])
		} else {
			l.paintBars(p, box, &box.rows[r])
		}
	}
	// Above the bars: what is hidden below one seems to leave it.
	for _, critical := range []bool{false, true} {
		for _, x := range box.arrows {
			if x.Critical == critical {
				l.paintArrow(p, box, x)
			}
		}
	}
	for r := range box.rows { // and what tells the bars from each other above the arrows
		if !box.rows[r].bands {
			l.paintLabels(p, box, &box.rows[r])
		}
	}
	f := newFace(markSize, false)
	for _, m := range box.marks {
		y := box.top
		if m.label != "" && !box.crosses(m) {
			y = box.head + headLine*float64(m.line+1)
		}
		if m.bound {
			p.line(look.Bound, 1.2, m.x, y, m.x, box.bottom, 6, 2, 1, 2)
		} else {
			p.line(ink, 0.9, m.x, y, m.x, box.bottom, 3, 2)
		}
	}
	for _, m := range box.marks {
		p.text(f, ink, m.labelX, box.head+headLine*(float64(m.line)+0.75), 0, m.label)
	}
}

// paintArrow draws an arrow between the rows of machines. It leaves from the edge of its bar, on the side of the other
// row, and arrives at the middle of the other bar's beginning. A white line below it separates it from the bars under
// it.
func (l *layout) paintArrow(p pen, box *panelBox, x ganttArrow) {
	from, to := &box.rows[x.FromRow], &box.rows[x.ToRow]
	c, width := paleInk, 0.7
	if x.Critical {
		c, width = look.Critical, 1.5
	}
	y := from.y + from.h/2
	switch edge := from.h / 2 * 0.75; {
	case to.y > from.y:
		y += edge
	case to.y < from.y:
		y -= edge
	}
	x0, x1, y1 := box.x(x.From), box.x(x.To), to.y+to.h/2
	p.line(white, width+1.6, x0, y, x1, y1)
	p.arrow(c, width, x0, y, x1, y1)
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

// paintBands draws the share of time in which a row is busy, and a line below its critical bars. A link, on which
// several bars may lie at a time, is busy while any does.
func (l *layout) paintBands(p pen, box *panelBox, row *rowBox) {
	spans := make([]rect, 0, len(row.Bars)) // x and w
	for _, b := range row.Bars {
		spans = append(spans, rect{x: box.x(b.Start), w: box.x(b.End) - box.x(b.Start)})
	}
	slices.SortFunc(spans, func(a, b rect) int { return cmp.Compare(a.x, b.x) })
	n := max(int((l.right-l.left)/bandCell), 1)
	busy, cell, until := make([]float64, n), (l.right-l.left)/float64(n), math.Inf(-1)
	for _, s := range spans {
		from, to := max(s.x, until), s.x+s.w
		until = max(until, to)
		for k := min(max(int((from-l.left)/cell), 0), n-1); k < n && l.left+cell*float64(k) < to; k++ {
			at := l.left + cell*float64(k)
			busy[k] += max(0, min(at+cell, to)-max(at, from)) / cell
		}
	}
	pad := min(1, row.h*0.1)
	mark := 0.0 // room below for critical bars
	if box.critical {
		mark = min(bandMark, row.h*0.3)
	}
	shapes := make([][]rect, len(look.Shares))
	last := 0
	for k, share := range busy {
		class := heatOf(share)
		if share < 1e-6 {
			class = 0
		}
		if all := shapes[class]; k > 0 && class == last && len(all) > 0 {
			all[len(all)-1].w += cell
		} else {
			shapes[class] = append(all, rect{l.left + cell*float64(k), row.y + pad, cell, row.h - 2*pad - 1.3*mark})
		}
		last = class
	}
	for class, all := range shapes {
		if class > 0 {
			p.fill(look.Shares[class], all...)
		}
	}
	var critical []rect
	for _, b := range row.Bars {
		if b.Critical {
			critical = append(critical, rect{box.x(b.Start), row.y + row.h - pad - mark, max(box.x(b.End)-box.x(b.Start), 0.5), mark})
		}
	}
	p.fill(look.Critical, critical...)
}

// crosses reports whether the line down from a mark's label would meet another
// label.
func (box *panelBox) crosses(m markBox) bool {
	for _, o := range box.marks {
		if o.line > m.line && o.label != "" && o.labelX-1 < m.x && m.x < o.labelX+o.labelW+1 {
			return true
		}
	}
	return false
}

// paintRows draws the rows' backgrounds, and as many of their labels as don't
// touch each other.
func (l *layout) paintRows(p pen, box *panelBox) {
	var plain, links []rect
	for k := range box.rows {
		r := &box.rows[k]
		gap := 0.0
		if r.h >= 6 {
			gap = 1
		}
		back := rect{l.left, r.y, l.right - l.left, r.h - gap}
		if r.Link {
			links = append(links, back)
		} else {
			plain = append(plain, back)
		}
		size := min(labelSize, max(r.h*0.85, smallestRow))
		middle := r.y + (r.h-gap)/2
		if middle-size/2 < l.below {
			continue
		}
		f := newFace(size, false)
		p.text(f, ink, l.left-6, middle+size*capHeight/2, 1, r.label)
		l.below = middle + size/2
	}
	p.fill(rowColour, plain...)
	p.fill(linkColour, links...)
}

// shape returns the rectangle of a bar of a row, wide enough to be seen.
func (l *layout) shape(at *panelBox, row *rowBox, b int) rect {
	pad := 0.0
	if row.h >= 6 {
		pad = min(2, row.h*0.1)
	}
	laneH := (row.h - 2*pad) / float64(row.lanes)
	if row.h >= 6 {
		laneH -= 1 / float64(row.lanes) // the gap below
	}
	r := rect{at.x(row.Bars[b].Start), row.y + pad, at.x(row.Bars[b].End) - at.x(row.Bars[b].Start), laneH}
	if row.lane != nil {
		r.y += laneH * float64(row.lane[b])
	}
	if laneH >= 4 {
		r.h -= 0.5
	}
	if r.w < thinnest {
		r.w = thinnest
		r.x = min(r.x, l.right-r.w)
	}
	return r
}

// thinnest is the least width of a bar.
const thinnest = 1.0

// paintBars draws a row's bars. Very short ones come last and are widened.
func (l *layout) paintBars(p pen, at *panelBox, row *rowBox) {
	var short []int
	for b := range row.Bars {
		if at.x(row.Bars[b].End)-at.x(row.Bars[b].Start) < thinnest {
			short = append(short, b)
			continue
		}
		r := l.shape(at, row, b)
		p.fill(row.Bars[b].colour(), r)
		switch {
		case row.Bars[b].Critical:
			p.outline(look.Critical, min(boldEdge, r.w/2, r.h/2), r)
		case r.w >= 3 && r.h >= 4:
			p.outline(row.Bars[b].edge(), thinEdge, r)
		}
	}
	for _, b := range short {
		p.fill(row.Bars[b].edge(), l.shape(at, row, b))
	}
}

// paintLabels writes the labels of a row's bars.
func (l *layout) paintLabels(p pen, at *panelBox, row *rowBox) {
	for b := range row.Bars {
		if r := l.shape(at, row, b); at.x(row.Bars[b].End)-at.x(row.Bars[b].Start) >= thinnest {
			l.paintLabel(p, &row.Bars[b], r, at.marks)
		}
	}
}

// paintLabel writes a bar's label in the middle of it, or of the larger part next to a mark's line, if there is room.
func (l *layout) paintLabel(p pen, b *ganttBar, r rect, marks []markBox) {
	label := clean(b.Label)
	if label == "" {
		return
	}
	left, right := r.x+2, r.x+r.w-2
	for _, m := range marks {
		switch {
		case m.x+2 <= left || m.x-2 >= right:
		case m.x-left > right-m.x:
			right = m.x - 2
		default:
			left = m.x + 2
		}
	}
	c := ink
	if b.Faded {
		c = paleInk
	}
	p.fit(label, c, left, right, r)
}

// fit writes a label between left and right in a rectangle if it fits, in
// smaller letters if necessary, and reports whether it does.
func (p pen) fit(label string, c color.Color, left, right float64, r rect) bool {
	size := min(labelSize, r.h/lineHeight)
	f := newFace(size, false)
	if w := f.width(label); w > right-left {
		size *= max((right-left)/w, 0.75)
		f = newFace(size, false)
	}
	if size < leastSize || f.width(label) > right-left {
		return false
	}
	p.text(f, c, (left+right)/2, r.y+r.h/2+size*capHeight/2, 0.5, label)
	return true
}
