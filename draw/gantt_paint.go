// SPDX-License-Identifier: MIT

package draw

import (
	"slices"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
)

// ganttLegend explains the bands, arrows and bold edges in the picture.
func ganttLegend(panels []*ganttPanel) (all legendEntries) {
	bands, critical, arrows := false, false, false
	for _, x := range panels {
		bands = bands || slices.ContainsFunc(x.rows, func(r track) bool { return r.bands })
		critical = critical || x.critical
		arrows = arrows || len(x.arrows) > 0
	}
	switch {
	case critical && bands:
		all.add("critical path", func(p pen, r rect) {
			p.fill(theme.Critical, rect{r.x, r.y + r.h - bandMark, r.w,
				bandMark})
		})
	case critical:
		all.shaped("critical path", bold(theme.Critical))
	}
	if arrows {
		all.add("data", func(p pen, r rect) { p.arrow(paleInk, 0.7, r.x, r.y+r.h/2, r.x+r.w, r.y+r.h/2) })
	}
	if bands {
		for class, text := range shareTexts("idle") {
			all.area(text, theme.Shares[class])
		}
	}
	return all
}

// paintPanel draws the panel. Row labels begin below the last one, and it returns the end of its own.
func (x *ganttPanel) paintPanel(p pen, below float64) float64 {
	p.text(newFace(panelSize, true), ink, margin, x.head+headLine*0.75, 0, x.title)
	below = x.paintRows(p, below)
	x.grid(p, x.ticks(), x.top, x.bottom)
	shapes := make([][]shape, len(x.rows))
	for r := range x.rows {
		if x.rows[r].bands {
			x.paintBands(p, &x.rows[r])
		} else {
			shapes[r] = x.shapes(&x.rows[r])
			p.shapes(shapes[r], false)
		}
	}
	// Arrows lie above the bars: one that is hidden below a bar seems to leave it.
	for _, critical := range []bool{false, true} {
		for _, a := range x.arrows {
			if a.critical == critical {
				x.paintArrow(p, a)
			}
		}
	}
	var lines []float64
	for _, m := range x.marks {
		lines = append(lines, m.x)
	}
	for r := range x.rows { // labels lie above the arrows
		p.labels(shapes[r], lines...)
	}
	f := newFace(markSize, false)
	for _, m := range x.marks {
		y := x.top
		if m.label != "" && !x.crosses(m) {
			y = x.head + headLine*float64(m.line+1)
		}
		if m.Bound {
			p.line(theme.Bound, 1.2, m.x, y, m.x, x.bottom, 6, 2, 1, 2)
		} else {
			p.line(ink, 0.9, m.x, y, m.x, x.bottom, 3, 2)
		}
		p.text(f, ink, m.labelX, x.head+headLine*(float64(m.line)+0.75), 0, m.label)
	}
	return below
}

// middle returns the middle of a lane, and half of its height.
func (r *track) middle(lane int) (y, half float64) {
	high := r.h / float64(r.lanes)
	return r.y + high*(float64(lane)+0.5), high / 2
}

// paintArrow draws an arrow between the rows of machines. It leaves from the edge of its bar, on the side of the other
// row, and arrives at the middle of the other bar's beginning. A white line below it separates it from the bars under
// it.
func (x *ganttPanel) paintArrow(p pen, a ganttArrow) {
	from, to := &x.rows[a.fromRow], &x.rows[a.toRow]
	c, width := paleInk, 0.7
	if a.critical {
		c, width = theme.Critical, 1.5
	}
	y, edge := from.middle(a.fromLane)
	y1, _ := to.middle(a.toLane)
	switch edge *= 0.75; {
	case to.y > from.y:
		y += edge
	case to.y < from.y:
		y -= edge
	}
	x0, x1 := x.x(a.from), x.x(a.to)
	p.line(white, width+1.6, x0, y, x1, y1)
	p.arrow(c, width, x0, y, x1, y1)
}

// paintBands draws the share of time in which a row is busy, and a line below its critical bars.
func (x *ganttPanel) paintBands(p pen, row *track) {
	pad, mark := min(1, row.h*0.1), 0.0 // and room below for critical bars
	if x.critical {
		mark = min(bandMark, row.h*0.3)
	}
	var critical []rect
	all := slices.Clone(row.boxes)
	for k := range all {
		b := &all[k]
		if b.Lanes = 1; row.link {
			b.Lane = 0
		}
		if b.Role == scene.Critical {
			critical = append(critical, rect{x.x(b.Low), row.y + row.h - pad - mark, max(x.x(b.High)-x.x(b.Low), 0.5), mark})
		}
	}
	p.heat(&x.timeAxis, rect{x.left, row.y + pad, x.right - x.left, row.h - 2*pad - 1.3*mark}, row.lanes, all)
	p.fill(theme.Critical, critical...)
}

// crosses reports whether the line down from a mark's label would meet another
// label.
func (x *ganttPanel) crosses(m markBox) bool {
	return slices.ContainsFunc(x.marks, func(o markBox) bool {
		return o.line > m.line && o.label != "" && o.labelX-1 < m.x && m.x < o.labelX+o.labelW+1
	})
}

// paintRows draws the rows' backgrounds, and as many of their labels as don't
// touch each other.
func (x *ganttPanel) paintRows(p pen, below float64) float64 {
	var plain, links []rect
	for k := range x.rows {
		r := &x.rows[k]
		back := rect{x.left, r.y, x.right - x.left, r.h - r.gap()}
		if r.link {
			links = append(links, back)
		} else {
			plain = append(plain, back)
		}
		size := min(labelSize, max(r.h*0.85, 5))
		middle := r.y + back.h/2
		if middle-size/2 < below {
			continue
		}
		f := newFace(size, false)
		p.text(f, ink, x.left-6, middle+size*capHeight/2, 1, r.label)
		below = middle + size/2
	}
	p.fill(rowColour, plain...)
	p.fill(linkColour, links...)
	return below
}

// gap returns the room below a row, of its height.
func (r *track) gap() float64 {
	if r.h >= 6 {
		return 1
	}
	return 0
}

// shapes returns the shapes of a row, wide enough to be seen. Very short ones come last.
func (x *ganttPanel) shapes(row *track) (all []shape) {
	const thinnest = 1.0
	pad := min(2, row.h*0.1) * row.gap()
	high := (row.h - 2*pad - row.gap()) / float64(row.lanes)
	var short []shape
	for k := range row.boxes {
		b := &row.boxes[k]
		s := shape{rect{x.x(b.Low), row.y + pad, x.x(b.High) - x.x(b.Low), high}, jobStyle(0, b.Tint), scene.Clean(b.Label)}
		if b.Role == scene.Critical {
			s.style = bold(theme.Critical)
		}
		if row.lane != nil {
			s.y += high * float64(row.lane[k])
		} else if !row.link {
			s.y += high * float64(b.Lane)
		}
		if high >= 4 {
			s.h -= 0.5
		}
		if s.w < thinnest {
			s.x, s.w = min(s.x, x.right-thinnest), thinnest
			short = append(short, s)
		} else {
			all = append(all, s)
		}
	}
	return append(all, short...)
}
