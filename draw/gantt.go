// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/model"
)

// Sizes in points.
const (
	rowHeight  = 22.0 // of a machine in a small picture
	lowHeight  = 10.0 // in a large one
	laneHeight = 13.0
	linkRows   = 5.5 // most for a link's row, however many lanes it has, in rows of machines
	linkGap    = 6.0 // above the first link
	maxLines   = 4   // of marks' labels
	maxAxes    = 4   // of panels, each with its own

	manyBars, manyLinkBars = 500, 1500 // of a panel: above that the share of busy time
	bandMark               = 2.0       // of the line for critical bars there
	fewTransfers           = 30        // up to so many they are arrows
)

// ganttPanel is one Gantt chart. Panels drawn together share their time axis, unless
// one is less than half as long as another.
type ganttPanel struct {
	timeAxis
	title       string
	rows        []track
	marks       []markBox
	arrows      []ganttArrow
	bars, links int // numbers of bars on machines and on links
	critical    bool
	head        float64 // upper edge
	lines       int     // of the head
	top, bottom float64 // of the rows
}

// track is one row of a panel: a machine, or a link of the network. Bars of a link, and of a machine that runs several
// tasks at once, may overlap. They are stacked in as few lanes as possible, so the height at a time shows how many
// there are.
type track struct {
	label string
	link  bool
	boxes []scene.Box
	y, h  float64
	h0    float64 // the height that it would like to have
	bands bool    // the share of busy time is drawn
	lane  []int   // of each transfer; nil: as the boxes say
	lanes int
}

// ganttArrow leads from a time in a row to a time in another.
type ganttArrow struct {
	fromRow, toRow   int
	fromLane, toLane int
	from, to         float64
	critical         bool // bold
}

type markBox struct {
	scene.Mark
	x      float64
	label  string // "" if there is no room
	labelX float64
	labelW float64
	line   int
}

// newPanel returns the panel of some rows of a scene, links last. It is panel k of the picture.
func newPanel(k int, title string, x *scene.Scene, shown func(row int) bool) (*ganttPanel, error) {
	l := &ganttPanel{title: scene.Clean(title)}
	f := newFace(labelSize, false)
	number, all := make([]int, len(x.Rows)), true
	for _, link := range []bool{false, true} {
		for n, r := range x.Rows {
			if (r.Group == scene.Links) == link && shown(n) {
				number[n] = len(l.rows)
				lanes := 1
				if !link {
					lanes = max(1, r.Lanes)
				}
				l.rows = append(l.rows, track{label: f.shorten(scene.Clean(r.Label), maxLabel), link: link, lanes: lanes})
			}
			all = all && (shown(n) || r.Group == scene.Links)
		}
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("draw: %w panel %d (%q): %s", model.ErrInvalid, k, title, fmt.Sprintf(format, args...))
	}
	time := func(t float64) bool { return math.Abs(t) <= scene.MaxTime }
	times := fmt.Sprintf("times must be from -%g to %g", scene.MaxTime, scene.MaxTime)
	for _, b := range x.Boxes {
		switch row := x.Rows[b.Row].Label; {
		case !time(b.Low) || !time(b.High):
			return nil, bad("row %q: bar %q is from %v to %v, %s", row, b.Label, b.Low, b.High, times)
		case b.High < b.Low:
			return nil, bad("row %q: bar %q is from %v to %v, must not end before it starts", row, b.Label, b.Low, b.High)
		}
		if shown(b.Row) {
			r := &l.rows[number[b.Row]]
			r.boxes = append(r.boxes, b)
		}
	}
	for _, m := range x.Marks {
		if !time(m.At) {
			return nil, bad("mark %q is at %v, %s", m.Label, m.At, times)
		}
		l.marks = append(l.marks, markBox{Mark: m})
	}
	if all && len(x.Arrows) <= fewTransfers { // otherwise they lead to other rows
		for _, a := range x.Arrows {
			from, to := &x.Boxes[a.From], &x.Boxes[a.To]
			l.arrows = append(l.arrows, ganttArrow{number[from.Row], number[to.Row], from.Lane, to.Lane, from.High, to.Low,
				a.Role == scene.Critical})
		}
	}
	return l, nil
}

// schedules draws the schedules of a DAG in panels. It has a row for each machine with its tasks, and one for each link
// with the transfers over it; a mark shows the makespan, and up to 30 transfers are arrows between machines, too. The
// title and the bound are about the last schedule; the others are there to compare with it.
func schedules(w io.Writer, o Options, frames []Frame) error {
	var panels []*ganttPanel
	title := ""
	for k, f := range frames {
		d, ok := f.Instance.(*model.DAG)
		s, isSchedule := f.Solution.(*model.Schedule)
		if !ok || !isSchedule {
			return wrongFrame(f, "schedules")
		}
		if err := d.Validate(); err != nil {
			return fmt.Errorf("draw: %w", err)
		}
		objective, err := d.Objective(s)
		if err != nil {
			return fmt.Errorf("draw: %w", err)
		}
		last := k == len(frames)-1
		options := scene.Options{Arrived: append([]float64{}, f.Arrived...)}
		if last {
			title = titled("makespan "+short(objective.Value)+" s"+o.boundText(objective, "s"), d.Name, o.By)
			options.Bound = o.Bound
		}
		x, err := scene.Of(d, s, options)
		if err != nil {
			return fmt.Errorf("draw: %w", err)
		}
		from, to, err := o.rows(len(d.Machines), "machine")
		if err != nil {
			return err
		}
		head := fmt.Sprintf("transfers: %s, makespan %.9g", d.Transfers(), objective.Value)
		if f.Label != "" {
			head = f.Label + ", " + head
		}
		p, err := newPanel(k+1, head, x, func(row int) bool {
			return from <= row && row <= to || row >= len(d.Machines) &&
				!o.NoLinks
		})
		if err != nil {
			return err
		}
		panels = append(panels, p)
	}
	return drawGantt(w, o, title, panels)
}

// drawGantt draws panels above each other on one time axis, which begins at 0 or at the earliest time, or on the axis
// from o.From to o.To. Unknown formats are errFormat. A bar that ends before it starts and a time that is NaN or above
// 1e300 are model.ErrInvalid.
//
// The picture grows with the rows and the bars up to 1440 × 1950 points, 2880 × 3900 pixels; beyond that rows get
// lower. All links together are at most as high as all machines. Above 500 bars of machines of a panel, or 1500 of
// links, rows show the share of time in which they are busy. The share is drawn by colour, in steps of 4 points.
// Critical bars lie on it as a dark line. O(B log B) for B bars.
func drawGantt(w io.Writer, o Options, title string, panels []*ganttPanel) error {
	if err := o.check(); err != nil {
		return err
	}
	if len(panels) == 0 {
		panels = []*ganttPanel{{}}
	}
	l := &sheet{Options: o, title: scene.Clean(title)}
	shared, err := l.spanPanels(panels)
	if err != nil {
		return err
	}
	column, wanted, f := 0.0, 0.0, newFace(labelSize, false)
	for _, x := range panels {
		x.cut()
		var labels []scene.Box
		for r := range x.rows {
			row := &x.rows[r]
			column = max(column, f.width(row.label))
			switch row.bands = row.link && x.links > manyLinkBars || !row.link && x.bars > manyBars; {
			case row.bands:
				wanted = maxWidth
			case !row.link:
				labels = append(labels, row.boxes...)
			}
		}
		wanted = max(wanted, x.wanted(labels))
	}
	if err := l.across(column, wanted); err != nil {
		return err
	}
	l.legend = ganttLegend(panels)
	heads, spread := 0.0, 1.0
	for _, x := range panels {
		x.left, x.right = l.left, l.right
		x.prepare()
		x.headOf(l.width)
		heads += x.headHeight() + panelGap
	}
	if l.Height == 0 && heads > maxHeight/2 { // so many panels get no heads
		spread = maxHeight / 2 / heads
	}
	var below float64 // end of the last row label drawn
	for k, x := range panels {
		above, fixed, flexible := x.headHeight(), 0.0, 0.0
		switch {
		case k > 0:
			above += panelGap
		case len(l.legend) > 0:
			above += 5
		}
		for r, row := range x.rows {
			flexible += row.h0
			fixed += x.gap(r)
		}
		if k+1 < len(panels) && !shared {
			fixed += 4 + axisHeight
		}
		l.add(above*spread, fixed*spread, flexible, func(p pen, y, h float64) {
			x.place(y, (h-fixed*spread)/flexible, spread)
			below = x.paintPanel(p, below)
			if k+1 < len(panels) && !shared {
				x.paint(p, x.bottom+4, x.ticks())
			}
		})
	}
	l.timeAxis = panels[len(panels)-1].timeAxis
	return l.write(w)
}

// spanPanels sets the times of each panel's axis, and reports whether it is the same for all: it is unless one is less
// than half as long as another.
func (s *sheet) spanPanels(panels []*ganttPanel) (shared bool, err error) {
	all := timeAxis{}
	for _, x := range panels {
		for _, m := range x.marks {
			x.low, x.high = min(x.low, m.At), max(x.high, m.At)
		}
		for _, r := range x.rows {
			for _, b := range r.boxes {
				x.low, x.high = min(x.low, b.Low), max(x.high, b.High)
			}
		}
		all.low, all.high = min(all.low, x.low), max(all.high, x.high)
	}
	all.widen()
	shared = !slices.ContainsFunc(panels, func(x *ganttPanel) bool { return x.high-x.low < (all.high-all.low)/2 }) ||
		len(panels) == 1 || len(panels) > maxAxes || s.From != nil || s.To != nil
	if shared {
		err = s.Options.cut(&all)
	}
	for _, x := range panels {
		if shared {
			x.timeAxis = all
		}
		x.widen()
	}
	return shared, err
}

// cut leaves the parts of the panel that its axis shows, and counts its bars.
func (x *ganttPanel) cut() {
	for r := range x.rows {
		row := &x.rows[r]
		var boxes []scene.Box
		for _, b := range row.boxes {
			if x.shows(b.Low, b.High) {
				b.Low, b.High = x.clip(b.Low, b.High)
				boxes = append(boxes, b)
				x.critical = x.critical || b.Role == scene.Critical
			}
		}
		if row.boxes = boxes; row.link {
			x.links += len(boxes)
		} else {
			x.bars += len(boxes)
		}
	}
	x.marks = slices.DeleteFunc(x.marks, func(m markBox) bool { return m.At < x.low || m.At > x.high })
	x.arrows = slices.DeleteFunc(x.arrows, func(a ganttArrow) bool {
		return min(a.from, a.to) < x.low || max(a.from,
			a.to) > x.high
	})
}

// prepare sets the preferred heights of a panel's rows; one empty row if it has none. All links together are no higher
// than the machines, or than a few of them.
func (x *ganttPanel) prepare() {
	machines, linked := 0, 0.0
	for r := range x.rows {
		if !x.rows[r].link {
			machines++
		}
	}
	if len(x.rows) == 0 {
		x.rows = []track{{lanes: 1}}
	}
	height := lowHeight + (rowHeight-lowHeight)*min(1, 24/float64(max(machines, 1)))
	for r := range x.rows {
		row := &x.rows[r]
		row.h0 = height
		if !row.link {
			if row.lanes > 1 {
				row.h0 = max(height, laneHeight*height/rowHeight*float64(row.lanes)+4)
			}
			continue
		}
		if !row.bands {
			row.lane, row.lanes = scene.Lanes(row.boxes, 1e-9*(x.high-x.low))
			row.lanes = max(row.lanes, 1)
		}
		row.h0 = min(max(laneHeight*height/rowHeight*float64(row.lanes)+4, height*0.8), linkRows*height)
		linked += row.h0
	}
	if most := height * max(float64(machines), linkRows); linked > most {
		for r := range x.rows {
			if x.rows[r].link {
				x.rows[r].h0 *= most / linked
			}
		}
	}
}

// gap returns the room above a row: the first link lies apart.
func (x *ganttPanel) gap(row int) float64 {
	if row > 0 && x.rows[row].link && !x.rows[row-1].link {
		return linkGap
	}
	return 0
}

// place places the rows from y down, so many times as high as they would like to be. A panel whose head has too little
// room gets none.
func (x *ganttPanel) place(y, stretch, spread float64) {
	x.top, x.head = y, y-x.headHeight()
	if spread < 1 {
		x.title = ""
		for m := range x.marks {
			x.marks[m].label = ""
		}
	}
	for k := range x.rows {
		r := &x.rows[k]
		y += x.gap(k) * spread
		r.y, r.h = y, r.h0*stretch
		if r.h >= 6 { // whole pixels look sharper
			r.y = math.Round(y*2) / 2
			r.h = math.Round((y+r.h)*2)/2 - r.y
		}
		y += r.h0 * stretch
	}
	x.bottom = y
}

// headHeight returns the room that a panel's title and the labels of its marks
// take.
func (x *ganttPanel) headHeight() float64 { return headLine*float64(x.lines) + 3 }

// headOf places the labels of the marks on as few lines as they need next to the title and each other. The title is on
// the first line.
func (x *ganttPanel) headOf(width float64) {
	f := newFace(markSize, false)
	all := []scene.Box{{Low: margin, High: margin + newFace(panelSize, true).width(x.title) + 10}}
	for k := range x.marks {
		m := &x.marks[k]
		m.label = f.shorten(scene.Clean(m.Label), maxLabel)
		m.x, m.labelW = x.x(m.At), f.width(m.label)
		m.labelX = min(max(m.x-m.labelW/2, margin), width-margin/2-m.labelW)
		all = append(all, scene.Box{Low: m.labelX, High: m.labelX + m.labelW + 8})
	}
	lane, count := scene.Lanes(all, 0)
	for k := range x.marks {
		m := &x.marks[k]
		switch m.line = lane[k+1]; m.line { // the title changes places with its line
		case 0:
			m.line = lane[0]
		case lane[0]:
			m.line = 0
		}
		if m.line >= maxLines {
			m.label = ""
		}
	}
	x.lines = min(count, maxLines)
	if x.title == "" && len(x.marks) == 0 {
		x.lines = 0
	}
}
