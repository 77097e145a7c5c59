// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/gapwise/gapwise/internal/text/look"
	"github.com/gapwise/gapwise/model"
)

// mostConflicting is the number of requests that a picture of a conflict shows.
const mostConflicting = 100

// Conflict draws requests that can't be kept together, in a row each. The row shows the request's window from ready
// time to deadline, and its PEs at the beginning of the window. It also shows when the request runs wherever it starts:
// from its latest start to its earliest end, if that is later. Below are the PEs that these parts take together; where
// that is more than there are, one sees why.
//
// Unknown formats are errFormat. The error is model.ErrInvalid if the instance is invalid or a request unknown. It
// draws at most 100 requests, those with the shortest slack. O(n log n).
func Conflict(w io.Writer, o Options, in *model.Reservation, ids []string, reason string) error {
	if err := o.drawable(in); err != nil {
		return err
	}
	number := make(map[string]int, len(in.Requests))
	for k := range in.Requests {
		number[in.Requests[k].ID] = k
	}
	l := &conflictLayout{sheet: sheet{Options: o}, in: in, all: len(ids)}
	for _, id := range ids {
		k, ok := number[id]
		if !ok {
			return fmt.Errorf("draw: %w conflict: there is no request %q", model.ErrInvalid, id)
		}
		l.requests = append(l.requests, &in.Requests[k])
	}
	if len(l.requests) > mostConflicting {
		slack := func(q *model.Request) float64 { return q.Latest() - q.ReadyS }
		slices.SortStableFunc(l.requests, func(a, b *model.Request) int {
			return cmp.Compare(slack(a), slack(b))
		})
		l.requests = l.requests[:mostConflicting]
	}
	l.title = titled(fmt.Sprintf("%d requests can't be kept together", len(ids)), in.Name, o.By)
	l.reason = clean(reason)
	if n := 0; l.reason != "" {
		if k, _ := fmt.Sscanf(l.reason, "%d requests ", &n); k == 1 && n != len(ids) {
			l.reason = "These and others: " + l.reason // what the search had found before
		}
	}
	if err := l.place(); err != nil {
		return err
	}
	return o.picture(w, l.title, l.width, l.height, l.paint)
}

// conflictLayout holds the drawing's parts and places.
type conflictLayout struct {
	timeAxis
	sheet
	in       *model.Reservation
	reason   string
	requests []*model.Request
	all      int // how many there are
	need     usage

	rowsY, row float64 // upper edge of the rows, height of each
	axisY      float64
}

// compulsory returns the time at which a request runs wherever it starts; nothing if to isn't above from.
func compulsory(q *model.Request) (from, to float64) { return q.Latest(), q.ReadyS + q.DurationS }

func (l *conflictLayout) place() (err error) {
	first := true
	for _, q := range l.requests {
		if first || q.ReadyS < l.low {
			l.low = q.ReadyS
		}
		if first || q.DeadlineS > l.high {
			l.high = q.DeadlineS
		}
		first = false
	}
	l.start = model.StartTime(l.in)
	l.widen()
	if err := l.cut(&l.timeAxis); err != nil {
		return err
	}
	f := newFace(labelSize, false)
	column := 0.0
	for _, q := range l.requests {
		column = max(column, f.width(f.shorten(requestLabel(q), maxLabel)))
	}
	l.left = margin + column + 8
	if l.right, err = l.across(l.left, 1.2*narrowest); err != nil {
		return err
	}
	l.width = l.right + 2*margin
	var changes []model.UsageStep
	for _, q := range l.requests {
		if from, to := compulsory(q); from < to {
			n := float64(q.PEs)
			changes = append(changes, model.UsageStep{AtS: from, Used: n}, model.UsageStep{AtS: to, Used: -n})
		}
	}
	l.need.steps = l.within(model.UsageSteps(changes))
	l.legend.add("window: ready time to deadline", func(p pen, r rect) { window(p, ink, r.x, r.x+r.w, r.y+r.h/2, 4, false) })
	l.legend.add("as early as it may", func(p pen, r rect) { p.dashed(paleInk, r) })
	l.legend.add("runs then, wherever it starts", func(p pen, r rect) { p.filled(look.Pale(look.Tight), look.Tight, []rect{r}) })
	l.legend = wrapped(l.legend, l.width)
	l.height, err = l.fill(func(stretch float64) float64 {
		y := titleEnd(l.title) + l.legendHeight() + 4
		if l.reason != "" {
			y += headLine
		}
		l.rowsY, l.row = y, 18*stretch
		y += l.row*float64(len(l.requests)) + clusterHeading
		l.need.useY, l.need.useHeight = y, useHeight*stretch
		l.axisY = y + l.need.useHeight + 4
		return l.axisY + axisHeight + margin/2
	})
	return err
}

func requestLabel(q *model.Request) string {
	unit := "PEs"
	if q.PEs == 1 {
		unit = "PE"
	}
	return fmt.Sprintf("%s: %d %s", clean(q.ID), q.PEs, unit)
}

func (l *conflictLayout) paint(p pen) {
	title := l.title
	if l.all > len(l.requests) {
		title += fmt.Sprintf(" (the %d with the least slack are drawn)", len(l.requests))
	}
	y := drawLegend(p, l.legend, 0, p.title(title, l.width))
	f := newFace(labelSize, false)
	if l.reason != "" {
		p.text(f, ink, margin, y+headLine*0.75, 0, f.shorten(l.reason, l.width-2*margin))
	}
	axis := l.ticks()
	bottom := l.rowsY + l.row*float64(len(l.requests))
	p.fill(rowColour, rect{l.left, l.rowsY, l.right - l.left, bottom - l.rowsY})
	l.grid(p, axis, l.rowsY, bottom)
	name := newFace(min(labelSize, l.row*0.85), false)
	for k, q := range l.requests {
		top := l.rowsY + l.row*float64(k)
		middle := top + l.row/2
		p.text(name, ink, l.left-6, middle+name.size*capHeight/2, 1, name.shorten(requestLabel(q), maxLabel))
		if !l.shows(q.ReadyS, q.DeadlineS) {
			continue
		}
		box := func(from, to float64) rect {
			from, to = l.clip(from, to)
			return rect{l.x(from), top + l.row*0.15, max(l.x(to)-l.x(from), 1), l.row * 0.7}
		}
		if from, to := compulsory(q); from < to && l.shows(from, to) {
			p.filled(look.Pale(look.Tight), look.Tight, []rect{box(from, to)})
		}
		if l.shows(q.ReadyS, q.ReadyS+q.DurationS) {
			p.dashed(paleInk, box(q.ReadyS, q.ReadyS+q.DurationS))
		}
		from, to := l.clip(q.ReadyS, q.DeadlineS)
		window(p, ink, l.x(from), l.x(to), middle, l.row*0.3, false)
	}
	most := float64(l.in.PEs)
	for _, s := range l.need.steps {
		most = max(most, s.Used)
	}
	text := fmt.Sprintf("PEs that must be in use; dashed: the %d that there are", l.in.PEs)
	if most > float64(l.in.PEs) {
		text += fmt.Sprintf(", and %.0f are needed", most)
	} else {
		text += fmt.Sprintf(". What may move is not in it: no starts of all %d fit in what is left", l.all)
	}
	p.heading(l.need.useY-6, l.width, text)
	l.chart(p, axis, l.need.useY, l.need.useHeight, most, func() {
		fillArea(p, &l.timeAxis, look.Tight, l.need.useY+l.need.useHeight, l.need.useHeight/most, l.need.steps, func(s model.UsageStep) (float64, float64) { return s.AtS, s.Used })
	})
	at := l.need.useY + l.need.useHeight*(1-float64(l.in.PEs)/most)
	p.line(ink, 1.2, l.left, at, l.right, at, 4, 2)
	l.timeAxis.paint(p, l.axisY, axis)
}
