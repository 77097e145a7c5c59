package draw

import (
	"image/color"
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

func (l *layout) paint(p pen) {
	p.fill(white, rect{0, 0, l.width, l.height})
	p.title(l.title, l.width)
	axis := l.ticks()
	for k := range l.panels {
		l.paintPanel(p, &l.panels[k], axis)
	}
	l.timeAxis.paint(p, l.axisY, axis)
}

func (l *layout) paintPanel(p pen, box *panelBox, axis []tick) {
	p.text(newFace(panelSize, true), ink, margin, box.head+headLine*0.75, 0, box.title)
	l.paintRows(p, box)
	l.grid(p, axis, box.top, box.bottom)
	for r := range box.rows {
		l.paintBars(p, &box.rows[r], box.marks)
	}
	f := newFace(markSize, false)
	for _, m := range box.marks {
		y := box.top
		if m.label != "" && !box.crosses(m) {
			y = box.head + headLine*float64(m.line+1)
		}
		p.line(markColour, 0.9, m.x, y, m.x, box.bottom, 3, 2)
	}
	for _, m := range box.marks {
		p.text(f, ink, m.labelX, box.head+headLine*(float64(m.line)+0.75), 0, m.label)
	}
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

// paintBars draws a row's bars. Those too short to be seen come last and are
// widened.
func (l *layout) paintBars(p pen, row *rowBox, marks []markBox) {
	pad, thinnest := 0.0, 1.0
	if row.h >= 6 {
		pad = min(2, row.h*0.1)
	}
	if l.texture {
		thinnest = 0.4
	}
	laneH := (row.h - 2*pad) / float64(row.lanes)
	if row.h >= 6 {
		laneH -= 1 / float64(row.lanes) // the gap below
	}
	box := func(b int) rect {
		r := rect{l.x(row.Bars[b].Start), row.y + pad, l.x(row.Bars[b].End) - l.x(row.Bars[b].Start), laneH}
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
	if l.texture {
		shapes := map[color.RGBA][]rect{}
		var order []color.RGBA
		for b := range row.Bars {
			c := row.Bars[b].colour()
			if shapes[c] == nil {
				order = append(order, c)
			}
			shapes[c] = append(shapes[c], box(b))
		}
		for _, c := range order {
			p.fill(c, shapes[c]...)
		}
		return
	}
	var short []int
	for b := range row.Bars {
		if l.x(row.Bars[b].End)-l.x(row.Bars[b].Start) < thinnest {
			short = append(short, b)
			continue
		}
		r, c := box(b), row.Bars[b].colour()
		p.fill(c, r)
		if r.w >= 3 && r.h >= 4 {
			p.outline(mix(c, ink, 0.45), 0.5, r)
		}
		l.paintLabel(p, &row.Bars[b], r, marks)
	}
	for _, b := range short {
		p.fill(mix(row.Bars[b].colour(), ink, 0.3), box(b))
	}
}

// paintLabel writes a bar's label in the middle of it, or of the larger part
// beside a mark's line, if there is room.
func (l *layout) paintLabel(p pen, b *Bar, r rect, marks []markBox) {
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
