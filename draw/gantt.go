// SPDX-License-Identifier: MIT

// Package draw makes pictures of results, SVG, PNG or PDF, with gonum's plotting library. It draws schedules as Gantt
// charts, bookings of PEs, virtual machines on hosts and virtual clusters in a fat-tree. It also draws the rounds of
// network-aware HEFT and the curves of an experiment. It draws its input and computes nothing about it but the loads of
// links and the use of machines over time; the same input gives the same bytes.
package draw

import (
	"fmt"
	"io"
	"math"

	"github.com/gapwise/gapwise/model"
)

// ganttPanel is one Gantt chart. Panels drawn together share their time axis, unless
// one is less than half as long as another.
type ganttPanel struct {
	Title  string
	Rows   []ganttRow // from the top; rows of links come after the others
	Marks  []ganttMark
	Arrows []ganttArrow
}

// ganttRow is one line of a panel: a machine, or a link of the network. The bars of a machine should not overlap. Bars
// of a link may overlap. They are stacked in as few lanes as possible, so the height at a time shows how many transfers
// there are.
type ganttRow struct {
	Label string
	Bars  []ganttBar
	Link  bool
}

// ganttBar is something that lasts from Start to End seconds; both may be the same.
// Its label is drawn if it fits inside.
type ganttBar struct {
	Start, End float64
	Label      string
	Group      int  // bars of one group have one tint; there are look.Tints of them
	Faded      bool // in a paler colour
	Critical   bool // in the colour of what is critical, with a bold edge
}

// ganttMark is a dashed line across a panel at a time in seconds, with its label
// above the rows.
type ganttMark struct {
	At    float64
	Label string
	Bound bool // dash-dotted
}

// ganttArrow leads from a time in a row to a time in another, by their numbers among
// the rows that aren't links.
type ganttArrow struct {
	FromRow, ToRow int
	From, To       float64
	Critical       bool // bold
}

// maxTime bounds times, so that their differences don't overflow.
const maxTime = 1e300

// drawGantt draws panels above each other on one time axis, which begins at 0 or at the earliest time, or on the axis
// from o.From to o.To. Unknown formats are errFormat. A bar that ends before it starts and a time that is NaN or above
// 1e300 are model.ErrInvalid.
//
// The picture grows with the rows and the bars up to 1440 × 1950 points, 2880 × 3900 pixels; beyond that rows get
// lower. All links together are at most as high as all machines. Above 500 bars of machines of a panel, or 1500 of
// links, rows show the share of time in which they are busy. The share is drawn by colour, in steps of 6 points.
// Critical bars lie on it as a dark line. O(B log B) for B bars.
func drawGantt(w io.Writer, o Options, title string, panels []ganttPanel) error {
	if err := o.check(); err != nil {
		return err
	}
	for p := range panels {
		if err := panels[p].check(p); err != nil {
			return err
		}
	}
	l, err := newLayout(o, clean(title), panels)
	if err != nil {
		return err
	}
	return l.write(w, l.paint)
}

func (p *ganttPanel) check(index int) error {
	time := func(t float64) bool { return math.Abs(t) <= maxTime }
	for _, m := range p.Marks {
		if !time(m.At) {
			return fmt.Errorf("draw: %w panel %d (%q): mark %q is at %v, times must be from -%g to %g",
				model.ErrInvalid, index+1, p.Title, m.Label, m.At, maxTime, maxTime)
		}
	}
	machines := 0
	for _, r := range p.Rows {
		if !r.Link {
			machines++
		}
		for _, b := range r.Bars {
			bad := ""
			switch {
			case !time(b.Start) || !time(b.End):
				bad = fmt.Sprintf("times must be from -%g to %g", maxTime, maxTime)
			case b.End < b.Start:
				bad = "must not end before it starts"
			default:
				continue
			}
			return fmt.Errorf("draw: %w panel %d (%q): row %q: bar %q is from %v to %v, %s",
				model.ErrInvalid, index+1, p.Title, r.Label, b.Label, b.Start, b.End, bad)
		}
	}
	for _, a := range p.Arrows {
		if min(a.FromRow, a.ToRow) < 0 || max(a.FromRow, a.ToRow) >= machines || !time(a.From) || !time(a.To) {
			return fmt.Errorf("draw: %w panel %d (%q): an arrow from row %d at %v to row %d at %v, there are %d rows that aren't links",
				model.ErrInvalid, index+1, p.Title, a.FromRow, a.From, a.ToRow, a.To, machines)
		}
	}
	return nil
}
