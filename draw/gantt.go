// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
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

// track is one row of a panel: a machine, or a link of the network. The bars of a machine should not overlap. Bars
// of a link may overlap. They are stacked in as few lanes as possible, so the height at a time shows how many transfers
// there are.
type track struct {
	label string
	link  bool
	boxes []scene.Box
	y, h  float64
	h0    float64 // the height that it would like to have
	bands bool    // the share of busy time is drawn
	lane  []int   // of each box; nil: all in lane 0
	lanes int
}

// ganttArrow leads from a time in a row to a time in another.
type ganttArrow struct {
	fromRow, toRow int
	from, to       float64
	critical       bool // bold
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
				l.rows = append(l.rows, track{label: f.shorten(scene.Clean(r.Label), maxLabel), link: link, lanes: 1})
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
			l.arrows = append(l.arrows, ganttArrow{number[from.Row], number[to.Row], from.High, to.Low,
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

// paintArrow draws an arrow between the rows of machines. It leaves from the edge of its bar, on the side of the other
// row, and arrives at the middle of the other bar's beginning. A white line below it separates it from the bars under
// it.
func (x *ganttPanel) paintArrow(p pen, a ganttArrow) {
	from, to := &x.rows[a.fromRow], &x.rows[a.toRow]
	c, width := paleInk, 0.7
	if a.critical {
		c, width = theme.Critical, 1.5
	}
	y := from.y + from.h/2
	switch edge := from.h / 2 * 0.75; {
	case to.y > from.y:
		y += edge
	case to.y < from.y:
		y -= edge
	}
	x0, x1, y1 := x.x(a.from), x.x(a.to), to.y+to.h/2
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
		b.Lane, b.Lanes = 0, 1
		if b.Role == scene.Critical {
			critical = append(critical, rect{x.x(b.Low), row.y + row.h - pad - mark, max(x.x(b.High)-x.x(b.Low), 0.5), mark})
		}
	}
	p.heat(&x.timeAxis, rect{x.left, row.y + pad, x.right - x.left, row.h - 2*pad - 1.3*mark}, 1, all)
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
