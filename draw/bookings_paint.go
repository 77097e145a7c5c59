// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/gapwise/gapwise/internal/text/look"
)

// edge is the dash pattern of cancelled requests.
var edge = []vg.Length{2, 1.5}

func (l *bookingsLayout) paint(p pen) {
	axis := l.ticks()
	if !l.Usage {
		l.pes.paint(p, &l.timeAxis, axis)
		l.paintBars(p)
	}
	if l.usage != nil {
		mean, _ := l.usage.means(&l.timeAxis)
		l.usage.paint(p, &l.timeAxis, l.width, axis, fmt.Sprintf("%.1f %% on average", mean))
	}
	switch {
	case l.rows:
		l.paintRequests(p, axis)
	case len(l.declined) > 0:
		l.paintDeclined(p)
	}
	l.timeAxis.paint(p, l.end+4, axis)
	l.late(p, l.end+4, l.beyond, fmt.Sprint(len(l.in.Requests)))
}

// colour returns the request's colour.
func (b *booked) colour(faded bool) look.Colour {
	return (&ganttBar{Group: b.request, Faded: faded}).colour()
}

// paintBars draws reserved and unused time first, so that later bookings of the PEs lie on it.
func (l *bookingsLayout) paintBars(p pen) {
	boxes := make([][]rect, len(l.bars))   // of what ran
	shapes := make([][]rect, 2*look.Tints) // of a texture: what didn't run first
	for i := range l.bars {
		b := &l.bars[i]
		g := b.request % look.Tints
		switch {
		case !b.runs && l.texture:
			shapes[g] = append(shapes[g], l.boxes(b, b.start, b.end)...)
		case !b.runs:
			unused := l.boxes(b, b.start, b.end)
			p.fill(white, unused...)
			for _, r := range unused {
				p.dashed(look.Plain, r)
			}
		default:
			boxes[i] = l.boxes(b, b.start, b.used)
			shapes[look.Tints+g] = append(shapes[look.Tints+g], boxes[i]...)
			if b.used < b.end {
				unused := l.boxes(b, b.used, b.end)
				shapes[g] = append(shapes[g], unused...)
				if !l.texture {
					p.filled(b.colour(true), look.Mix(look.Plain, white, faded), unused)
				}
			}
		}
	}
	if l.texture {
		p.texture(look.Plain, shapes)
		return
	}
	for i := range l.bars {
		if b := &l.bars[i]; b.runs {
			p.filled(b.colour(false), look.Plain, boxes[i])
			p.labelEach(b.label, ink, boxes[i])
		}
	}
	for i := range l.bars {
		b := &l.bars[i]
		if b.runs {
			continue
		}
		free := l.boxes(b, b.start, b.end)
		free = slices.DeleteFunc(free, func(r rect) bool {
			return slices.ContainsFunc(boxes, func(other []rect) bool { return slices.ContainsFunc(other, r.meets) })
		})
		p.labelEach(b.label, paleInk, free)
	}
}

// boxes returns the rectangles of a booking.
func (l *bookingsLayout) boxes(b *booked, from, to float64) []rect {
	var all []rect
	for _, r := range b.pes {
		if !l.pes.shows(r.First, r.Last) || !l.shows(from, to) {
			continue
		}
		all = append(all, l.pes.box(&l.timeAxis, r.First, r.Last, from, to, l.texture))
	}
	return all
}

// meets reports whether two rectangles share more than an edge.
func (r rect) meets(o rect) bool {
	return r.x < o.x+o.w && o.x < r.x+r.w && r.y < o.y+o.h && o.y < r.y+r.h
}

// texture paints rectangles in the tints of a hue, the paler ones first.
func (p pen) texture(hue look.Colour, shapes [][]rect) {
	for g, all := range shapes {
		c := look.Tint(hue, g)
		if g < look.Tints {
			c = look.Mix(c, white, faded)
		}
		p.fill(c, all...)
	}
}

// filled paints rectangles and their edges. Rows too small for that are nearly all edge.
func (p pen) filled(c, edge look.Colour, boxes []rect) {
	var thin []rect
	p.fill(c, boxes...)
	for _, r := range boxes {
		if r.w >= 3 && r.h >= 3 {
			p.outline(edge, thinEdge, r)
		} else {
			thin = append(thin, r)
		}
	}
	p.fill(look.Mix(edge, c, 0.35), thin...)
}

// labelLargest writes a label into the largest of some rectangles, if it fits.
func (p pen) labelLargest(label string, c color.Color, boxes []rect) {
	best := -1
	for k, r := range boxes {
		if best < 0 || r.w*r.h > boxes[best].w*boxes[best].h {
			best = k
		}
	}
	if best >= 0 && label != "" {
		r := boxes[best]
		p.fit(label, c, r.x+2, r.x+r.w-2, r)
	}
}

// labelEach writes a label into each of some rectangles that lie apart, if it fits.
func (p pen) labelEach(label string, c color.Color, boxes []rect) {
	for _, r := range boxes {
		p.fit(label, c, r.x+2, r.x+r.w-2, r)
	}
}

// dashed draws a rectangle's edge on its inner side.
func (p pen) dashed(c color.Color, r rect) {
	r = rect{r.x + 0.4, r.y + 0.4, max(r.w-0.8, 0), max(r.h-0.8, 0)}
	for _, s := range [][4]float64{{r.x, r.y, r.x + r.w, r.y}, {r.x, r.y + r.h, r.x + r.w, r.y + r.h}, {r.x, r.y, r.x, r.y + r.h}, {r.x + r.w, r.y, r.x + r.w, r.y + r.h}} {
		p.line(c, 0.8, s[0], s[1], s[2], s[3], edge...)
	}
}

// paintRequests draws a row for each request.
func (l *bookingsLayout) paintRequests(p pen, axis []tick) {
	n := float64(len(l.in.Requests))
	p.fill(linkColour, rect{l.left, l.below, l.right - l.left, requestHeight * n})
	l.grid(p, axis, l.below, l.below+requestHeight*n)
	f := newFace(labelSize, false)
	of := map[int]*booked{}
	for i := range l.bars {
		of[l.bars[i].request] = &l.bars[i]
	}
	for k := range l.in.Requests {
		q, b := &l.in.Requests[k], of[k]
		top := l.below + requestHeight*float64(k)
		middle := top + requestHeight/2
		text := ink
		if !l.accepted[k] {
			text = look.Declined
		}
		p.text(f, text, l.left-6, middle+labelSize*capHeight/2, 1, f.shorten(l.rowLabel(k), maxLabel))
		if b != nil {
			bar := func(from, to float64) rect {
				from, to = l.clip(from, to)
				return rect{l.x(from), top + 3, max(l.x(to)-l.x(from), 1), requestHeight - 6}
			}
			switch {
			case !b.runs:
				p.fill(white, bar(b.start, b.end))
				p.dashed(look.Plain, bar(b.start, b.end))
			default:
				if b.used < b.end {
					p.filled(b.colour(true), look.Mix(look.Plain, white, faded), []rect{bar(b.used, b.end)})
				}
				p.filled(b.colour(false), look.Plain, []rect{bar(b.start, b.used)})
			}
		}
		if from, to := l.clip(q.ReadyS, q.DeadlineS); from < to || l.shows(q.ReadyS, q.DeadlineS) {
			window(p, text, l.x(from), l.x(to), middle, 4, !l.accepted[k])
			if to < q.DeadlineS { // it goes on
				p.arrow(text, 0.8, l.x(to)-8, middle, l.x(to)+6, middle)
			}
		}
		if l.shows(q.ArrivalS, q.ArrivalS) {
			arrival(p, text, l.x(q.ArrivalS), middle)
		}
	}
}

// window draws a line from the ready time to the deadline.
func window(p pen, c color.Color, from, to, y, half float64, declined bool) {
	if declined {
		p.line(c, 0.8, from, y, to, y, 3, 2)
	} else {
		p.line(c, 0.8, from, y, to, y)
	}
	p.line(c, 0.8, from, y-half, from, y+half)
	p.line(c, 0.8, to, y-half, to, y+half)
}

// arrival draws a dot.
func arrival(p pen, c color.Color, x, y float64) {
	var path vg.Path
	at := p.at(x, y)
	path.Move(vg.Point{X: at.X + 2, Y: at.Y})
	path.Arc(at, 2, 0, 2*math.Pi)
	path.Close()
	p.c.SetColor(c)
	p.c.Fill(path)
}

// paintDeclined draws a tick for each declined request and lists them below the
// axis.
func (l *bookingsLayout) paintDeclined(p pen) {
	var at []float64
	for _, k := range l.declined {
		at = append(at, l.in.Requests[k].ReadyS)
	}
	l.timeAxis.strip(p, at, "declined", l.strip)
	f := newFace(axisSize, false)
	p.text(f, ink, margin, l.height-margin/2-4, 0, f.shorten(l.declinedText(), l.width-2*margin))
}

// legendOf explains the kinds of bars that are in the picture and need it.
func (l *bookingsLayout) legendOf() (all legendEntries) {
	early, cancelled := false, false
	for i := range l.bars {
		b := &l.bars[i]
		early = early || b.runs && b.used < b.end || !b.runs && l.texture
		cancelled = cancelled || !b.runs && !l.texture
	}
	blue := booked{}
	if early {
		all.area("reserved, not used", blue.colour(true))
	}
	if cancelled {
		all.add("cancelled before its start", func(p pen, r rect) { p.dashed(look.Plain, r) })
	}
	if l.rows && len(l.in.Requests) > 0 {
		all.add("arrival", func(p pen, r rect) { arrival(p, ink, r.x+r.w/2, r.y+r.h/2) })
		all.add("ready time to deadline", func(p pen, r rect) { window(p, ink, r.x, r.x+r.w, r.y+r.h/2, 4, false) })
		if len(l.declined) > 0 {
			all.add("declined", func(p pen, r rect) { window(p, look.Declined, r.x, r.x+r.w, r.y+r.h/2, 4, true) })
		}
	}
	return all
}
