// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// maxRectangles bounds the rectangles (ranges of PEs, over all bookings) that
// Bookings draws.
const maxRectangles = 20_000

// Sizes in points, and numbers of requests.
const (
	fewRequests   = 30 // each has a row of its own with its window
	requestHeight = 14.0
	peHeight      = 22.0  // of a PE if there are few
	pesHeight     = 396.0 // of all PEs at most
	stripHeight   = 10.0
)

// drawBookings draws the PEs of each request over time: time from left to right, PEs from bottom to top. Each booking
// is one rectangle per range of its PEs, with the request's id where it fits. Time that was reserved and not used,
// because the job ended early (runtime_s), is paler. A request cancelled before its start is white with dashed edges.
// Both lie below what really ran, since others may have got the PEs.
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
	if err := o.drawable(in); err != nil {
		return err
	}
	index, err := in.Index(b)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	for i := range b.Bookings {
		x := &b.Bookings[i]
		if math.Abs(x.StartS) > maxTime {
			return fmt.Errorf("draw: %w bookings: %q starts at %v, must be from -%g to %g", model.ErrInvalid, x.ID, x.StartS, maxTime, maxTime)
		}
		for _, r := range x.PEs {
			if r.First < 0 || r.Last < r.First || r.Last >= in.PEs {
				return fmt.Errorf("draw: %w bookings: %q has the PEs %d to %d, there are 0 to %d", model.ErrInvalid, x.ID, r.First, r.Last, in.PEs-1)
			}
		}
	}
	l, err := newBookingsLayout(o, clean(title), in, b, index)
	if err != nil {
		return err
	}
	return l.write(w, l.paint)
}

// bookingsLayout holds the positions of everything in the picture.
type bookingsLayout struct {
	timeAxis
	sheet
	pes      processorAxis
	in       *model.Reservation
	bars     []booked // in the order of the requests
	declined []int    // requests
	accepted []bool   // of each request
	texture  bool
	rows     bool   // one for each request
	usage    *usage // nil without
	beyond   int    // bars that end after the axis

	strip, below, end float64 // upper edges of strip and rows, lower edge of all rows
	column            float64 // width of the labels at the left
}

// booked is a request with its booking.
type booked struct {
	request          int
	label            string
	start, used, end float64 // used until then; reserved until the end
	runs             bool    // it isn't cancelled before
	pes              model.PEList
}

func newBookingsLayout(o Options, title string, in *model.Reservation, b *model.Bookings, index []int) (*bookingsLayout, error) {
	few := len(in.Requests) > 0 && len(in.Requests) <= fewRequests
	l := &bookingsLayout{sheet: sheet{Options: o, title: title}, in: in, rows: few && !o.Usage}
	l.accepted = make([]bool, len(in.Requests))
	for i, k := range index {
		q, start := &in.Requests[k], b.Bookings[i].StartS
		l.accepted[k] = true
		l.bars = append(l.bars, booked{request: k, label: clean(q.ID), start: start, used: start + q.Runtime(), end: start + q.DurationS,
			runs: q.Runs(start), pes: b.Bookings[i].PEs})
	}
	slices.SortFunc(l.bars, func(a, b booked) int { return cmp.Compare(a.request, b.request) })
	for k, accepted := range l.accepted {
		if !accepted {
			l.declined = append(l.declined, k)
		}
	}
	if err := l.span(); err != nil {
		return nil, err
	}
	if o.Usage || !few && len(in.Requests) > 0 {
		use, err := model.UsageOf(in, b)
		if err != nil {
			return nil, fmt.Errorf("draw: %w", err)
		}
		l.usage = &usage{steps: l.within(use.Steps), of: in.PEs, what: "PEs", waiting: "Accepted requests that have not started, over time",
			colours: tierColours}
	}
	first, last, err := o.rows(in.PEs, "PE")
	if err != nil {
		return nil, err
	}
	pesHigh := min(peHeight*float64(last-first+1), pesHeight)
	if len(l.in.Requests) > 10*fewRequests {
		pesHigh = min(peHeight*float64(last-first+1), 2*pesHeight)
	}
	l.pes = newProcessorAxis("PE", first, last, pesHigh)
	if err := l.choose(); err != nil {
		return nil, err
	}
	return l, l.place(pesHigh)
}

// span sets the times of the axis. It begins at 0 unless the first bar begins
// much later.
func (l *bookingsLayout) span() error {
	low := math.Inf(1)
	var ends []float64
	for _, b := range l.bars {
		low = min(low, b.start)
		ends = append(ends, b.end)
	}
	for k := range l.in.Requests {
		q := &l.in.Requests[k]
		if l.rows {
			low = min(low, q.ArrivalS)
			ends = append(ends, q.DeadlineS)
		}
	}
	for _, k := range l.declined {
		low = min(low, l.in.Requests[k].ReadyS)
		ends = append(ends, l.in.Requests[k].ReadyS)
	}
	l.start = model.StartTime(l.in)
	if err := l.Options.span(&l.timeAxis, low, ends, len(l.bars) > 10); err != nil {
		return err
	}
	for _, b := range l.bars {
		if b.end > l.high && l.From == nil && l.To == nil {
			l.beyond++
		}
	}
	return nil
}

// choose leaves the bars that the axes show, and counts their rectangles.
func (l *bookingsLayout) choose() error {
	l.bars = slices.DeleteFunc(l.bars, func(b booked) bool { return !l.shows(b.start, b.end) })
	l.declined = slices.DeleteFunc(l.declined, func(k int) bool { return l.in.Requests[k].ReadyS < l.low || l.in.Requests[k].ReadyS > l.high })
	rectangles := 0
	for _, b := range l.bars {
		for _, r := range b.pes {
			if l.pes.shows(r.First, r.Last) {
				rectangles++
			}
		}
	}
	if rectangles > maxRectangles && !l.Usage {
		return fmt.Errorf("draw: %w: the bookings are %d rectangles, more than the %d that can be drawn; give a part of the time or of the PEs, or draw the use alone",
			model.ErrUnsupported, rectangles, maxRectangles)
	}
	l.texture = rectangles > textureBars
	return nil
}

// place sets the sizes: as wide as most ids need to fit, within limits.
func (l *bookingsLayout) place(pesHigh float64) error {
	f, small := newFace(labelSize, false), newFace(axisSize, false)
	var wanted []float64
	for _, b := range l.bars {
		if b.end > b.start && !l.texture && !l.Usage {
			wanted = append(wanted, (f.width(b.label)+6)/(b.end-b.start)*(l.high-l.low))
		}
	}
	want := mostFit(wanted)
	switch {
	case l.texture && !l.Usage:
		want = maxWidth
	case l.rows: // ids are there, too
		want = min(want, 1.5*narrowest)
	}
	l.column = l.pes.column
	if l.rows {
		for k := range l.in.Requests {
			l.column = max(l.column, f.width(f.shorten(l.rowLabel(k), maxLabel)))
		}
	} else if len(l.declined) > 0 {
		l.column = max(l.column, small.width("declined"))
	}
	l.left = math.Ceil(margin + l.column + 8)
	var err error
	if l.right, err = l.across(l.left, want); err != nil {
		return err
	}
	return l.lay(l.right, l.legendOf, func(stretch float64) float64 { return l.stack(pesHigh, stretch) })
}

// stack places everything from the top and returns the height.
func (l *bookingsLayout) stack(pesHigh, stretch float64) float64 {
	y := titleEnd(l.title) + l.legendHeight()
	if !l.Usage {
		l.pes = newProcessorAxis("PE", l.pes.first, l.pes.first+l.pes.n-1, pesHigh*stretch)
		y = l.pes.put(y)
	}
	switch {
	case l.rows:
		l.below = y + panelGap
		y = l.below + requestHeight*float64(len(l.in.Requests))
	case len(l.declined) > 0:
		l.strip = y + 6
		y = l.strip + stripHeight
	}
	if l.usage != nil {
		y = l.usage.place(y, stretch)
	}
	l.end = y
	height := math.Ceil(y + 4 + axisHeight + margin/2)
	if !l.rows && len(l.declined) > 0 {
		height += headLine
	}
	return height
}

// rowLabel names a request and its demand.
func (l *bookingsLayout) rowLabel(k int) string { return requestLabel(&l.in.Requests[k]) }

// declinedText lists the declined requests.
func (l *bookingsLayout) declinedText() string {
	var ids []string
	length := 0
	for _, k := range l.declined {
		ids = append(ids, clean(l.in.Requests[k].ID))
		if length += len(ids[len(ids)-1]) + 2; length > 1000 { // there is no room for more
			break
		}
	}
	if l.From != nil || l.To != nil {
		return fmt.Sprintf("declined in this time: %d: %s", len(l.declined), strings.Join(ids, ", "))
	}
	return fmt.Sprintf("declined %d of %d: %s", len(l.declined), len(l.in.Requests), strings.Join(ids, ", "))
}
