// Package draw makes pictures of results, SVG or PNG, with gonum's plotting
// library: schedules as Gantt charts, bookings of PEs, virtual clusters in a
// fat-tree, the rounds of network-aware HEFT and the curves of an experiment. It
// draws what it is given and computes nothing about it but the loads of links;
// the same input gives the same bytes.
package draw

import (
	"fmt"
	"io"
	"math"

	"github.com/gapwise/gapwise/model"
)

// Panel is one Gantt chart. Panels drawn together share their time axis.
type Panel struct {
	Title string
	Rows  []Row // from the top; rows of links come after the others
	Marks []Mark
}

// Row is one line of a panel: a machine, or a link of the network. The bars of
// a machine should not overlap. Those of a link may: they are stacked in as few
// lanes as it takes, so the height at a time shows how many transfers there
// are.
type Row struct {
	Label string
	Bars  []Bar
	Link  bool
}

// Bar is something that lasts from Start to End seconds; both may be the same.
// Its label is drawn if it fits inside.
type Bar struct {
	Start, End float64
	Label      string
	Group      int  // bars of one group have one colour; there are Colours of them
	Faded      bool // in a paler colour
}

// Mark is a dashed line across a panel at a time in seconds, with its label
// above the rows.
type Mark struct {
	At    float64
	Label string
}

// maxTime bounds times, so that their differences don't overflow.
const maxTime = 1e300

// Gantt draws panels above each other on one time axis, which begins at 0 or at
// the earliest time. Format is "svg" or "png"; another one is ErrFormat. A bar
// that ends before it starts and a time that is NaN or above 1e300 are
// model.ErrInvalid.
//
// The picture grows with the rows and the bars up to 1440 × 1950 points, 2880 ×
// 3900 pixels; beyond that rows get lower. Pictures of more than 4000 bars have
// neither labels nor outlines on them, so they are a texture, in which the bars
// of a row and a colour are one shape. O(B log B) for B bars.
func Gantt(w io.Writer, format, title string, panels []Panel) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	for p := range panels {
		if err := panels[p].check(p); err != nil {
			return err
		}
	}
	l := newLayout(clean(title), panels)
	c := newCanvas(format, l.width, l.height)
	l.paint(c.pen())
	return c.write(w, clean(title))
}

func (p *Panel) check(index int) error {
	time := func(t float64) bool { return math.Abs(t) <= maxTime }
	for _, m := range p.Marks {
		if !time(m.At) {
			return fmt.Errorf("draw: %w panel %d (%q): mark %q is at %v, times must be from -%g to %g",
				model.ErrInvalid, index+1, p.Title, m.Label, m.At, maxTime, maxTime)
		}
	}
	for _, r := range p.Rows {
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
	return nil
}
