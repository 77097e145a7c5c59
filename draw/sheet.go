// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// Sizes in points, and numbers of shapes.
const (
	margin     = 12.0
	maxWidth   = 1440.0
	maxHeight  = 1950.0 // unless one is asked for
	narrowest  = 560.0  // of the time axis
	maxLabel   = 150.0  // row labels are cut to it
	panelGap   = 14.0
	headLine   = 14.0 // a line of text: a panel's title and the marks' labels
	axisHeight = 34.0

	textureBars = 4000 // no labels and outlines above that

	peHeight       = 22.0 // of a PE if there are few
	stripHeight    = 10.0
	useHeight      = 130.0
	queueHeight    = 90.0
	clusterHeading = 20.0
	leastPE        = 0.4 // height and, in a texture, width of a rectangle
)

// sheet is a picture over time or of hosts: a title, a legend, and blocks below each other on one horizontal axis.
type sheet struct {
	Options
	timeAxis
	title         string
	width, height float64
	legend        legendEntries
	blocks        []block
	footer        string // a line below the axis
	late          string // beside the axis: how many end after it
	axisless      bool
}

// block is a part of a sheet. Paint draws it from y down, h high.
type block struct {
	above, fixed, flexible float64 // heights of its heading, and of itself as it would like to be
	paint                  func(p pen, y, h float64)
	y, h                   float64
}

// newSheet returns the sheet of an instance, and the scene of a solution of it if there is one.
func newSheet(o Options, title string, in model.Instance, s model.Solution) (*sheet, *scene.Scene, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if err := in.Validate(); err != nil {
		return nil, nil, fmt.Errorf("draw: %w", err)
	}
	l := &sheet{Options: o, title: scene.Clean(title), timeAxis: timeAxis{start: model.StartTime(in)}}
	if s == nil {
		return l, nil, nil
	}
	x, err := scene.Of(in, s, scene.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("draw: %w", err)
	}
	return l, x, nil
}

// across sets the ends of the axis: at its left there is a column of labels, and it would like to be so long.
func (s *sheet) across(column, want float64) (err error) {
	s.left = math.Ceil(margin + column + 8)
	if s.right, err = s.Style.across(s.left, want); err != nil {
		return err
	}
	s.width = s.right + 2*margin
	return nil
}

// add adds a block.
func (s *sheet) add(above, fixed, flexible float64, paint func(p pen, y, h float64)) {
	s.blocks = append(s.blocks, block{above: above, fixed: fixed, flexible: flexible, paint: paint})
}

// write places the blocks from the top and writes the picture.
func (s *sheet) write(w io.Writer) (err error) {
	s.legend = wrapped(s.legend, s.width)
	axisY := 0.0
	s.height, err = s.fill(func(stretch float64) float64 {
		y := titleEnd(s.title) + s.legend.height()
		for k := range s.blocks {
			b := &s.blocks[k]
			from := y + b.above
			y = from + b.fixed + b.flexible*stretch
			b.y = math.Round(2*from) / 2 // whole pixels look sharper
			b.h = math.Round(2*y)/2 - b.y
		}
		axisY = y + 4
		if s.axisless {
			return math.Ceil(axisY + margin/2)
		}
		height := math.Ceil(axisY + axisHeight + margin/2)
		if s.footer != "" {
			height += headLine
		}
		return height
	})
	if err != nil {
		return err
	}
	return s.picture(w, s.title, s.width, s.height, func(p pen) {
		drawLegend(p, s.legend, 0, p.title(s.title, s.width))
		for _, b := range s.blocks {
			b.paint(p, b.y, b.h)
		}
		if !s.axisless {
			s.paint(p, axisY, s.ticks())
			f := newFace(axisSize, false)
			p.text(f, ink, s.right, axisY+axisHeight-7, 1, s.late)
			p.text(f, ink, margin, s.height-margin/2-4, 0, f.clip(s.footer, s.width-2*margin))
		}
	})
}

// heading writes the heading of a part of a picture, its baseline at y.
func (s *sheet) heading(p pen, y float64, text string) {
	f := newFace(panelSize, true)
	p.text(f, ink, margin, y, 0, f.clip(text, s.width-2*margin))
}

// back draws the background of a block over the axis, and its grid.
func (s *sheet) back(p pen, c color.Color, y, h float64) {
	p.fill(c, rect{s.left, y, s.right - s.left, h})
	s.grid(p, s.ticks(), y, y+h)
}

// ending notes how many of all end after the axis, at the given times.
func (s *sheet) ending(ends []float64, all string) {
	n := 0
	for _, t := range ends {
		if t > s.high {
			n++
		}
	}
	if n > 0 && s.From == nil && s.To == nil {
		s.late = fmt.Sprintf("%d of %s end later", n, all)
	}
}

// strip adds ticks at the given times, as many as a reader can distinguish, with their label at the left.
func (s *sheet) strip(times []float64, label string) {
	if len(times) == 0 {
		return
	}
	s.add(6, stripHeight, 0, func(p pen, y, _ float64) {
		p.fill(linkColour, rect{s.left, y, s.right - s.left, stripHeight})
		p.text(newFace(axisSize, false), theme.Declined, s.left-6, y+stripHeight/2+axisSize*capHeight/2, 1, label)
		var marks []rect
		seen := map[float64]bool{}
		for _, t := range times {
			x := math.Round(s.x(t)*2) / 2
			if !seen[x] {
				marks = append(marks, rect{min(x, s.right-0.5), y, 0.5, stripHeight})
			}
			seen[x] = true
		}
		p.fill(theme.Declined, marks...)
	})
}

// field is a row with numbered lanes, which count upwards: processors or PEs.
type field struct {
	name, title string
	first, n    int
	boxes       []scene.Box // within the field and the axis
	rect
}

// field adds a field.
func (s *sheet) field(f *field, high float64, paint func(p pen)) {
	above := axisSize + 9
	if f.title != "" {
		above += 4
	}
	s.add(above, 0, high, func(p pen, y, h float64) {
		f.rect = rect{s.left, y, s.right - s.left, h}
		p.fill(rowColour, f.rect)
		small := newFace(axisSize, false)
		p.text(small, paleInk, s.left-6, y-8, 1, f.name)
		p.text(newFace(panelSize, true), ink, s.left, y-6, 0, f.title)
		var lines []rect
		for _, t := range laneTicks(f.n, h) {
			at := y + h - t.At/float64(f.n)*h
			p.text(small, ink, s.left-6, at+axisSize*capHeight/2, 1, fmt.Sprint(f.first+int(t.At)))
			lines = append(lines, rect{s.left, y + h - math.Floor(t.At)/float64(f.n)*h - 0.25, f.w, 0.5})
		}
		p.fill(gridColour, lines...)
		s.grid(p, s.ticks(), y, y+h)
		paint(p)
	})
}

// column returns the width of the field's labels.
func (f *field) column() float64 {
	small := newFace(axisSize, false)
	return max(small.width(f.name), small.width(fmt.Sprint(f.first+f.n)))
}

// box returns the rectangle of a part of a box in a field, as far as the axis shows it. It is large enough to be seen,
// less so in a texture.
func (s *sheet) box(f *field, b *scene.Box, low, high float64, texture bool) rect {
	thinnest := 1.0
	if texture {
		thinnest = leastPE
	}
	each := f.h / float64(f.n)
	from, to := s.clip(low, high)
	w := max(s.x(to)-s.x(from), thinnest)
	return rect{min(s.x(from), s.right-w), f.y + f.h - each*float64(b.Lane+b.Lanes), w,
		max(each*float64(b.Lanes), leastPE)}
}

// wanted returns the width of the axis at which three quarters of the labels of boxes fit; the least width without
// labels.
func (a *timeAxis) wanted(boxes []scene.Box) float64 {
	var all []float64
	f := newFace(labelSize, false)
	for k := range boxes {
		if b := &boxes[k]; b.High > b.Low {
			all = append(all, (f.width(scene.Clean(b.Label))+6)/(b.High-b.Low)*(a.high-a.low))
		}
	}
	if len(all) == 0 {
		return narrowest
	}
	slices.Sort(all)
	return all[len(all)*3/4]
}

// laneTicks returns the labelled lanes of n: each in the middle of its row if there is
// room, otherwise some of them at the lower edges of their rows.
func laneTicks(n int, length float64) (all []tick) {
	if length/float64(n) >= axisSize*lineHeight {
		for p := range n {
			all = append(all, tick{At: float64(p) + 0.5})
		}
		return all
	}
	const apart = 30.0
	step := 1
	for k := 0; step < n && float64(step)/float64(n)*length < apart; k++ {
		if n&(n-1) == 0 { // a power of two is divided by such
			step *= 2
		} else {
			step = step / []int{1, 2, 5}[k%3] * []int{2, 5, 10}[k%3]
		}
	}
	for p := 0; p <= n; p += step {
		all = append(all, tick{At: float64(p)})
	}
	return all
}

// part is a part of a row, such as the used part of a booking.
type part struct {
	low, high float64
	style
}

// requests adds a row for each request: its window from ready time to deadline, the parts that lie in it, and perhaps
// its arrival.
func (s *sheet) requests(all []*model.Request, above, fixed, flexible float64, arrivals bool, declined func(k int) bool,
	parts func(k int) []part) {
	n := float64(len(all))
	s.add(above, n*fixed, n*flexible, func(p pen, y, h float64) {
		s.back(p, linkColour, y, h)
		row := h / n
		f := newFace(min(labelSize, row*0.85), false)
		for k, q := range all {
			top, c := y+row*float64(k), ink
			if declined(k) {
				c = theme.Declined
			}
			middle := top + row/2
			p.text(f, c, s.left-6, middle+f.size*capHeight/2, 1, f.shorten(requestLabel(q), maxLabel))
			var shapes []shape
			for _, x := range parts(k) {
				if from, to := s.clip(x.low, x.high); s.shows(x.low, x.high) {
					shapes = append(shapes, shape{rect{s.x(from), top + row*0.2, max(s.x(to)-s.x(from), 1), row * 0.6}, x.style, ""})
				}
			}
			p.shapes(shapes, false)
			if from, to := s.clip(q.ReadyS, q.DeadlineS); s.shows(q.ReadyS, q.DeadlineS) {
				window(p, c, s.x(from), s.x(to), middle, declined(k))
				if to < q.DeadlineS { // it goes on
					p.arrow(c, 0.8, s.x(to)-8, middle, s.x(to)+6, middle)
				}
			}
			if arrivals && s.shows(q.ArrivalS, q.ArrivalS) {
				arrival(p, c, s.x(q.ArrivalS), middle)
			}
		}
	})
}

// requestsColumn returns the width of the labels of requests.
func requestsColumn(all []*model.Request) (column float64) {
	f := newFace(labelSize, false)
	for _, q := range all {
		column = max(column, f.width(f.shorten(requestLabel(q), maxLabel)))
	}
	return column
}

// requestLabel names a request and its demand.
func requestLabel(q *model.Request) string {
	unit := "PEs"
	if q.PEs == 1 {
		unit = "PE"
	}
	return fmt.Sprintf("%s: %d %s", scene.Clean(q.ID), q.PEs, unit)
}

// window draws a line from the ready time to the deadline.
func window(p pen, c color.Color, from, to, y float64, declined bool) {
	if declined {
		p.line(c, 0.8, from, y, to, y, 3, 2)
	} else {
		p.line(c, 0.8, from, y, to, y)
	}
	p.line(c, 0.8, from, y-4, from, y+4)
	p.line(c, 0.8, to, y-4, to, y+4)
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
