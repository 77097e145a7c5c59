// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// maxRectangles bounds the rectangles (ranges of processors, over all bookings or segments) that are drawn by
// themselves.
const maxRectangles = 20_000

// Sizes in points, and numbers of requests.
const (
	fewRequests    = 30 // each has a row of its own with its window
	requestHeight  = 14.0
	pesHeight      = 396.0 // of all PEs at most
	mostTierHeight = 320.0 // of the processors of a tier
)

// drawExecution draws batch jobs on processors: where each job runs when, the processors in use over time, and the
// number of waiting jobs over time.
//
// The first part shows time from left to right and the processors from bottom to top, with the background's below the
// foreground's. Each segment is one rectangle per range of its processors in the colour of its job, with the job's id
// where it fits. A segment with lost work is white with dashed edges. Above 4000 rectangles there are neither labels
// nor edges, and lost segments are paler. Above maxRectangles it shows instead, in fields of some processors and some
// time, the share that is in use.
//
// An area below shows the mean over each half point of the time axis, and paler the
// maximum. A job waits while it is submitted, hasn't ended and is in no segment.
//
// The axis ends soon after the first half of the time if nine tenths of the segments end in it, unless o.To says where.
// If o.Usage is set, there are the curves alone.
//
// Unknown formats are errFormat. The error is model.ErrInvalid if the instance is invalid, if e isn't a solution of it,
// if it names processors that don't exist, or a segment ends before it starts. The picture has 1440 × 1170 points at
// most. O(R log R) for R processors in all segments.
func drawExecution(w io.Writer, o Options, title string, in *model.Batch, e *model.Execution) error {
	s, x, err := newSheet(o, title, in, e)
	if err != nil {
		return err
	}
	end := make([]float64, len(in.Jobs))
	for k := range in.Jobs {
		end[k] = in.Jobs[k].SubmitS
	}
	low, ends := slices.Min(append(slices.Clone(end), math.Inf(1))), slices.Clone(end)
	segments := 0
	for i := range x.Boxes {
		b := &x.Boxes[i]
		low, end[b.Number] = min(low, b.Low), max(end[b.Number], b.High)
		if i == 0 || b.Number != x.Boxes[i-1].Number || b.Low != x.Boxes[i-1].Low { // it has one range or more
			segments, ends = segments+1, append(ends, b.High)
		}
	}
	if err := s.span(&s.timeAxis, low, ends, segments > 10); err != nil {
		return err
	}
	s.ending(end, fmt.Sprintf("%d jobs", len(in.Jobs)))
	name, title := "processor", "Processors"
	if len(in.Nodes) > 0 {
		name, title = x.Rows[0].Name, x.Rows[0].Name
	}
	tiers, rectangles, want, err := s.fields(x, name, x.Rows[0].Lanes)
	if err != nil {
		return err
	}
	texture := rectangles > textureBars
	if err := s.across(max(newFace(axisSize, false).width("1000000"), tiers[0].column()), want); err != nil {
		return err
	}
	for row, f := range tiers {
		if o.Usage {
			break
		}
		if in.Tiers == 2 {
			f.title = []string{"Foreground", "Background"}[row]
		}
		s.field(f, min(peHeight*float64(f.n), mostTierHeight), func(p pen) {
			if rectangles > maxRectangles {
				p.heat(&s.timeAxis, f.rect, f.n, f.boxes)
				return
			}
			var all []shape
			for i := range f.boxes {
				b := &f.boxes[i]
				as := jobStyle(row, b.Tint)
				if b.Role == scene.Lost && texture {
					as = as.paler()
				} else if b.Role == scene.Lost {
					as = hollow(as.edge)
				}
				all = append(all, shape{s.box(f, b, b.Low, b.High, texture), as, b.Label})
			}
			p.shapes(all, texture)
			if !texture {
				p.labels(all)
			}
		})
	}
	steps, err := s.usage(in, e, title, "Waiting jobs, over time",
		func(foreground, background float64) string {
			text := fmt.Sprintf("%.1f %% on average", foreground)
			if in.Tiers == 2 {
				text += fmt.Sprintf(" in the foreground, %.1f %% in the background", background)
			}
			return text
		})
	if err != nil {
		return err
	}
	switch {
	case o.Usage: // no segments are drawn
	case rectangles > maxRectangles:
		for class, text := range shareTexts("nothing in use") {
			s.legend.area(text, theme.Shares[class])
		}
	case slices.ContainsFunc(tiers, func(f *field) bool {
		return slices.ContainsFunc(f.boxes, func(b scene.Box) bool { return b.Role == scene.Lost })
	}):
		if texture {
			s.legend.area("killed, its work is lost", theme.Mix(theme.Busy, white, faded))
		} else {
			s.legend.shaped("killed, its work is lost", hollow(paleInk))
		}
	}
	uses := func(f func(model.UsageStep) float64) bool {
		return slices.ContainsFunc(steps, func(s model.UsageStep) bool { return f(s) > 0 })
	}
	if uses(func(s model.UsageStep) float64 { return s.Background }) {
		s.legend.area("in use in the foreground", theme.Busy)
		s.legend.area("in the background", theme.Background)
	} else {
		s.legend.area("in use", theme.Busy)
	}
	if uses(waiting) {
		s.legend.area("waiting", theme.Waiting)
	}
	s.legend.area("maximum, paler than the mean", theme.Mix(theme.Busy, white, 0.5))
	return s.write(w)
}

// fields returns a field for each row of a scene with n lanes, with the boxes that the axes show. It also returns their
// number and the width that they would like.
func (s *sheet) fields(x *scene.Scene, name string, n int) (all []*field, boxes int, want float64, err error) {
	first, last, err := s.rows(n, name)
	for range x.Rows {
		all = append(all, &field{name: name, first: first, n: last - first + 1})
	}
	for k := range x.Boxes {
		b := x.Boxes[k]
		from, to := max(b.Lane, first), min(b.Lane+b.Lanes, last+1)
		if from < to && s.shows(b.Low, b.High) {
			b.Lane, b.Lanes = from-first, to-from
			f := all[b.Row]
			f.boxes, boxes = append(f.boxes, b), boxes+1
		}
	}
	switch {
	case s.Usage:
		want = narrowest
	case boxes > textureBars:
		want = maxWidth
	default:
		for _, f := range all {
			want = max(want, s.wanted(f.boxes))
		}
	}
	return all, boxes, want, err
}

// jobStyle returns how a job looks in a tier.
func jobStyle(tier, tint int) style {
	return plain([]theme.Colour{theme.Plain, theme.Background}[tier], tint)
}

// executionTitle says how good the execution is.
func executionTitle(in *model.Batch, _ *model.Execution, o model.Objective, bound string) string {
	title := fmt.Sprintf("%d jobs, response %.5g s%s, bounded slowdown %.4g", len(in.Jobs), o.Value, bound, o.Second)
	for i, what := range []string{"migrations", "kills"} {
		if n := o.Others[1+i]; n > 0 {
			title += fmt.Sprintf(", %s %.0f", what, n)
		}
	}
	return title
}

// drawBookings draws the PEs of each request over time: time from left to right, PEs from bottom to top. Each booking
// is one rectangle per range of its PEs, with the request's id where it fits. Time that was reserved and not used,
// because the job ended early (runtime_s), is paler. A request cancelled before its start is white with dashed edges.
// Both lie below the parts that really ran, since others may have got the PEs.
//
// Up to 30 requests have a row each below, with their arrival, their window from ready time to deadline and their
// booking. Above 30 requests, those declined are ticks at their ready times, and a line of text. Below are the PEs in
// use and the requests that wait over time. Above 4000 rectangles there are neither labels nor edges.
//
// The axis ends soon after the first half of the time if nine tenths of the jobs end in it, unless o.To says where. If
// o.Usage is set, there are the curves alone.
//
// Unknown formats are errFormat. The error is model.ErrInvalid if the instance is invalid, if b aren't bookings of it,
// or if they name PEs that don't exist. It is model.ErrUnsupported above maxRectangles rectangles. The picture has 1440
// × 1180 points at most unless sizes are given. O(R + n log n) for R rectangles and n requests, plus O(R) for each
// cancelled request if there are edges.
func drawBookings(w io.Writer, o Options, title string, in *model.Reservation, b *model.Bookings) error {
	s, x, err := newSheet(o, title, in, b)
	if err != nil {
		return err
	}
	few := len(in.Requests) > 0 && len(in.Requests) <= fewRequests
	rows := few && !o.Usage
	booked := make([]*scene.Box, len(in.Requests)) // one of each request's
	low, all := math.Inf(1), make([]*model.Request, len(in.Requests))
	var ends, late, declined []float64
	var ids []string
	for i := range x.Boxes {
		booked[x.Boxes[i].Number] = &x.Boxes[i]
	}
	for k := range in.Requests {
		q := &in.Requests[k]
		all[k] = q
		switch box := booked[k]; {
		case box == nil:
			low, ends = min(low, q.ReadyS), append(ends, q.ReadyS)
		default:
			low, ends, late = min(low, box.Low), append(ends, box.High), append(late, box.High)
		}
		if rows {
			low, ends = min(low, q.ArrivalS), append(ends, q.DeadlineS)
		}
	}
	if err := s.span(&s.timeAxis, low, ends, len(late) > 10); err != nil {
		return err
	}
	s.ending(late, fmt.Sprint(len(in.Requests)))
	for k, q := range all {
		if booked[k] == nil && q.ReadyS >= s.low && q.ReadyS <= s.high {
			declined, ids = append(declined, q.ReadyS), append(ids, scene.Clean(q.ID))
		}
	}
	fields, rectangles, want, err := s.fields(x, "PE", in.PEs)
	if err != nil {
		return err
	}
	f, texture := fields[0], rectangles > textureBars
	if rectangles > maxRectangles && !o.Usage {
		return fmt.Errorf("draw: %w: the bookings are %d rectangles, more than the %d that can be drawn; "+
			"give a part of the time or of the PEs, or draw the use alone",
			model.ErrUnsupported, rectangles, maxRectangles)
	}
	column := f.column()
	if rows && !texture { // ids are there, too
		want = min(want, 1.5*narrowest)
	}
	if rows {
		column = max(column, requestsColumn(all))
	} else if len(declined) > 0 {
		column = max(column, newFace(axisSize, false).width("declined"))
	}
	if err := s.across(column, want); err != nil {
		return err
	}
	if !o.Usage {
		high := min(peHeight*float64(f.n), pesHeight)
		if len(all) > 10*fewRequests {
			high = min(peHeight*float64(f.n), 2*pesHeight)
		}
		s.field(f, high, func(p pen) { s.paintBookings(p, f, texture) })
	}
	if rows {
		s.requests(all, panelGap, requestHeight, 0, true, func(k int) bool { return booked[k] == nil },
			func(k int) []part { return bookingParts(booked[k]) })
	} else {
		s.strip(declined, "declined")
	}
	if o.Usage || !few && len(all) > 0 {
		if _, err := s.usage(in, b, "PEs", "Accepted requests that have not started, over time",
			func(mean, _ float64) string {
				return fmt.Sprintf("%.1f %% on average", mean)
			}); err != nil {
			return err
		}
	}
	if !rows && len(declined) > 0 {
		text := fmt.Sprintf("declined %d of %d: ", len(declined), len(all))
		if o.From != nil || o.To != nil {
			text = fmt.Sprintf("declined in this time: %d: ", len(declined))
		}
		s.footer = text + strings.Join(ids[:min(len(ids), 500)], ", ") // there is no room for more
	}
	s.bookingsLegend(f, rows, texture, len(all) > 0, len(declined) > 0)
	return s.write(w)
}

// bookingParts returns the parts of a booking, the unused one first; none of a declined request.
func bookingParts(b *scene.Box) []part {
	if b == nil {
		return nil
	}
	whole := jobStyle(0, b.Tint)
	switch {
	case b.Cancelled:
		return []part{{b.Low, b.High, hollow(whole.edge)}}
	case b.Used < b.High:
		return []part{{b.Used, b.High, whole.paler()}, {b.Low, b.Used, whole}}
	}
	return []part{{b.Low, b.High, whole}}
}

// paintBookings draws reserved and unused time first, so that later bookings of the PEs lie on it.
func (s *sheet) paintBookings(p pen, f *field, texture bool) {
	var unused, ran, free []shape
	for i := range f.boxes {
		b := &f.boxes[i]
		for _, part := range bookingParts(b) {
			if !s.shows(part.low, part.high) {
				continue
			}
			x := shape{s.box(f, b, part.low, part.high, texture), part.style, b.Label}
			switch {
			case b.Cancelled && texture:
				x.style = jobStyle(0, b.Tint).paler()
				unused = append(unused, x)
			case b.Cancelled:
				unused, free = append(unused, x), append(free, x)
			case x.text == paleInk:
				unused = append(unused, x)
			default:
				ran = append(ran, x)
			}
		}
	}
	p.shapes(append(unused, ran...), texture)
	if texture {
		return
	}
	p.labels(ran)
	p.labels(slices.DeleteFunc(free, func(x shape) bool {
		return slices.ContainsFunc(ran, func(o shape) bool { return o.meets(x.rect) })
	}))
}

// meets reports whether two rectangles share more than an edge.
func (r rect) meets(o rect) bool {
	return r.x < o.x+o.w && o.x < r.x+r.w && r.y < o.y+o.h && o.y < r.y+r.h
}

// bookingsLegend explains the kinds of bars that are in the picture and need it.
func (s *sheet) bookingsLegend(f *field, rows, texture, any, declined bool) {
	early, cancelled := false, false
	for i := range f.boxes {
		b := &f.boxes[i]
		early = early || b.Used < b.High && !b.Cancelled || b.Cancelled && texture
		cancelled = cancelled || b.Cancelled && !texture
	}
	if early {
		s.legend.area("reserved, not used", jobStyle(0, 0).paler().fill)
	}
	if cancelled {
		s.legend.shaped("cancelled before its start", hollow(theme.Plain))
	}
	if rows && any {
		s.legend.add("arrival", func(p pen, r rect) { arrival(p, ink, r.x+r.w/2, r.y+r.h/2) })
		s.legend.add("ready time to deadline", func(p pen, r rect) { window(p, ink, r.x, r.x+r.w, r.y+r.h/2, false) })
		if declined {
			s.legend.add("declined", func(p pen, r rect) { window(p, theme.Declined, r.x, r.x+r.w, r.y+r.h/2, true) })
		}
	}
}

// bookingsTitle says how good the bookings are.
func bookingsTitle(in *model.Reservation, b *model.Bookings, o model.Objective, bound string) string {
	title := fmt.Sprintf("%d of %d requests accepted", len(b.Bookings), len(in.Requests))
	if in.EffectiveGoal().PESeconds() {
		title += fmt.Sprintf(", %.6g %s", o.Value, in.Metrics()[0])
	}
	return title + bound + fmt.Sprintf(", mean slowdown %.4g", o.Second)
}
