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

// MaxRectangles bounds the rectangles (ranges of PEs, over all bookings) that
// Bookings draws.
const MaxRectangles = 20_000

// Sizes in points, and numbers of requests.
const (
	fewRequests   = 30 // each has a row of its own with its window
	requestHeight = 14.0
	peHeight      = 22.0  // of a PE if there are few
	pesHeight     = 396.0 // of all PEs at most
	stripHeight   = 10.0
)

// Bookings draws who has which PEs when: time from left to right, PEs from
// bottom to top, each booking as one rectangle per range of its PEs, with the
// request's id where it fits. Time that was reserved and not used, because the
// job ended early (runtime_s), is paler. A request cancelled before its start
// is white with dashed edges. Both lie below what really ran, since others may
// have got the PEs.
//
// Up to 30 requests have a row each below, with their arrival, their window
// from ready time to deadline and what they got. Of more requests those
// declined are ticks at their ready times, and a line of text. Above 4000
// rectangles there are neither labels nor edges.
//
// Format is "svg" or "png"; another one is ErrFormat. The error is
// model.ErrInvalid if the instance is invalid, if b aren't bookings of it, or
// if they name PEs that don't exist, and model.ErrUnsupported above
// MaxRectangles rectangles. The picture has 1440 × 960 points at most. O(R + n
// log n) for R rectangles and n requests, plus O(R) for each cancelled request
// if there are edges.
func Bookings(w io.Writer, format, title string, in *model.Reservation, b *model.Bookings) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	if err := in.Validate(); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	index, err := in.Index(b)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	rectangles := 0
	for i := range b.Bookings {
		x := &b.Bookings[i]
		rectangles += len(x.PEs)
		if math.Abs(x.StartS) > maxTime {
			return fmt.Errorf("draw: %w bookings: %q starts at %v, must be from -%g to %g", model.ErrInvalid, x.ID, x.StartS, maxTime, maxTime)
		}
		for _, r := range x.PEs {
			if r.First < 0 || r.Last < r.First || r.Last >= in.PEs {
				return fmt.Errorf("draw: %w bookings: %q has the PEs %d to %d, there are 0 to %d", model.ErrInvalid, x.ID, r.First, r.Last, in.PEs-1)
			}
		}
	}
	if rectangles > MaxRectangles {
		return fmt.Errorf("draw: %w: the bookings are %d rectangles, more than the %d that can be drawn; take a part of the requests", model.ErrUnsupported, rectangles, MaxRectangles)
	}
	l := newBookingsLayout(clean(title), in, b, index, rectangles)
	c := newCanvas(format, l.width, l.height)
	l.paint(c.pen())
	return c.write(w, clean(title))
}

// bookingsLayout holds the positions of everything in the picture.
type bookingsLayout struct {
	timeAxis
	pes      processorAxis
	in       *model.Reservation
	title    string
	bars     []booked // in the order of the requests
	declined []int    // requests
	texture  bool
	rows     bool // one for each request
	legend   []entry

	width, height     float64
	strip, below, end float64 // upper edges of strip and rows, lower edge of all rows
	column            float64 // width of the labels at the left
}

// booked is what a request got.
type booked struct {
	request          int
	label            string
	start, used, end float64 // used until then; reserved until the end
	runs             bool    // it isn't cancelled before
	pes              model.PEList
}

func newBookingsLayout(title string, in *model.Reservation, b *model.Bookings, index []int, rectangles int) *bookingsLayout {
	l := &bookingsLayout{in: in, title: title, texture: rectangles > textureBars, rows: len(in.Requests) > 0 && len(in.Requests) <= fewRequests}
	taken := make([]bool, len(in.Requests))
	for i, k := range index {
		q, start := &in.Requests[k], b.Bookings[i].StartS
		taken[k] = true
		l.bars = append(l.bars, booked{request: k, label: clean(q.ID), start: start, used: start + q.Runtime(), end: start + q.DurationS,
			runs: q.Runs(start), pes: b.Bookings[i].PEs})
	}
	slices.SortFunc(l.bars, func(a, b booked) int { return cmp.Compare(a.request, b.request) })
	for k := range taken {
		if !taken[k] {
			l.declined = append(l.declined, k)
		}
	}
	l.span()
	l.place()
	return l
}

// span sets the times of the axis. It begins at 0 unless the first bar begins
// much later.
func (l *bookingsLayout) span() {
	low, high := math.Inf(1), math.Inf(-1)
	for _, b := range l.bars {
		low, high = min(low, b.start), max(high, b.end)
	}
	for k := range l.in.Requests {
		q := &l.in.Requests[k]
		if l.rows {
			low, high = min(low, q.ArrivalS), max(high, q.DeadlineS)
		}
	}
	for _, k := range l.declined {
		low, high = min(low, l.in.Requests[k].ReadyS), max(high, l.in.Requests[k].ReadyS)
	}
	if low > high {
		low, high = 0, 0
	}
	if low > 0 && low < (high-low)/2 {
		low = 0
	}
	l.low, l.high = low, high
	l.widen()
}

// place sets the sizes: as wide as most ids need to fit, within limits.
func (l *bookingsLayout) place() {
	f, small := newFace(labelSize, false), newFace(axisSize, false)
	var wanted []float64
	for _, b := range l.bars {
		if b.end > b.start && !l.texture {
			wanted = append(wanted, (f.width(b.label)+6)/(b.end-b.start)*(l.high-l.low))
		}
	}
	want := mostFit(wanted)
	switch {
	case l.texture:
		want = maxWidth
	case l.rows: // ids are there, too
		want = min(want, 1.5*narrowest)
	}
	pesHigh := min(peHeight*float64(l.in.PEs), pesHeight)
	if len(l.in.Requests) > 10*fewRequests {
		pesHigh = min(peHeight*float64(l.in.PEs), 2*pesHeight)
	}
	l.pes = newProcessorAxis("PE", l.in.PEs, pesHigh)
	l.column = l.pes.column
	if l.rows {
		for k := range l.in.Requests {
			l.column = max(l.column, f.width(f.shorten(l.rowLabel(k), maxLabel)))
		}
	} else if len(l.declined) > 0 {
		l.column = max(l.column, small.width("declined"))
	}
	l.left = margin + l.column + 8
	l.right = l.left + min(max(want, narrowest), maxWidth-l.left-2*margin)
	l.width = l.right + 2*margin

	l.legend = l.legendOf()
	y := titleEnd(l.title) + legendLine*float64(min(len(l.legend), 1))
	y = l.pes.put(y)
	switch {
	case l.rows:
		l.below = y + panelGap
		y = l.below + requestHeight*float64(len(l.in.Requests))
	case len(l.declined) > 0:
		l.strip = y + 6
		y = l.strip + stripHeight
	}
	l.end = y
	l.height = math.Ceil(y + 4 + axisHeight + margin/2)
	if !l.rows && len(l.declined) > 0 {
		l.height += headLine
	}
}

// rowLabel names a request and what it asks for.
func (l *bookingsLayout) rowLabel(k int) string {
	q := &l.in.Requests[k]
	unit := "PEs"
	if q.PEs == 1 {
		unit = "PE"
	}
	return fmt.Sprintf("%s: %d %s", clean(q.ID), q.PEs, unit)
}

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
	return fmt.Sprintf("declined %d of %d: %s", len(l.declined), len(l.in.Requests), strings.Join(ids, ", "))
}
