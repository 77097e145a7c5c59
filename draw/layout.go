// SPDX-License-Identifier: MIT

package draw

import (
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/text/look"
)

// Sizes in points.
const (
	margin     = 12.0
	maxWidth   = 1440.0
	maxHeight  = 1950.0
	narrowest  = 560.0 // of the time axis
	maxLabel   = 150.0 // row labels are cut to it
	rowHeight  = 22.0  // of a machine in a small picture
	lowHeight  = 10.0  // in a large one
	laneHeight = 13.0
	linkRows   = 5.5 // most for a link's row, however many lanes it has, in rows of machines
	linkGap    = 6.0 // above the first link
	panelGap   = 14.0
	headLine   = 14.0 // the panel's title and the marks' labels
	maxLines   = 4    // of marks' labels
	maxAxes    = 4    // of panels, each with its own
	axisHeight = 34.0

	textureBars = 4000 // no labels and outlines above that

	manyBars, manyLinkBars = 500, 1500 // of a panel: above that the share of busy time
	bandCell               = 6.0       // width of its steps
)

// layout holds the positions of everything in the picture.
type layout struct {
	sheet
	left, right float64
	shared      bool // one time axis for all panels
	panels      []panelBox
	end         float64 // lower edge of the last axis
	below       float64 // end of the last row label drawn
}

type panelBox struct {
	timeAxis
	title       string
	head        float64 // upper edge
	top, bottom float64 // of the rows
	marks       []markBox
	rows        []rowBox
	lines       int  // of the head
	critical    bool // there are critical bars
	arrows      []ganttArrow
}

type markBox struct {
	x      float64
	bound  bool
	label  string // "" if there is no room
	labelX float64
	labelW float64
	line   int
}

type rowBox struct {
	*ganttRow
	label string
	y, h  float64
	h0    float64 // the height that it would like to have
	bands bool    // the share of busy time is drawn
	lane  []int   // of each bar; nil: all in lane 0
	lanes int
}

func newLayout(o Options, title string, panels []ganttPanel) (*layout, error) {
	l := &layout{sheet: sheet{Options: o, title: title}, panels: make([]panelBox, len(panels))}
	if err := l.span(o, panels); err != nil {
		return nil, err
	}
	panels = l.cut(panels)

	column, wanted, f := 0.0, 0.0, newFace(labelSize, false)
	for p := range panels {
		machines, links := count(panels[p].Rows)
		for r := range panels[p].Rows {
			row := &panels[p].Rows[r]
			column = max(column, f.width(f.shorten(clean(row.Label), maxLabel)))
			switch many := row.Link && links > manyLinkBars || !row.Link && machines > manyBars; {
			case many:
				wanted = max(wanted, min(bandCell*float64(len(row.Bars)), maxWidth))
			case !row.Link || machines <= manyBars && links <= machines:
				wanted = max(wanted, l.panels[p].wanted(row, f))
			}
		}
	}
	l.left = math.Ceil(margin + column + 8)
	var err error
	if l.right, err = l.across(l.left, wanted); err != nil {
		return nil, err
	}
	l.width = l.right + 2*margin
	for p := range l.panels {
		l.panels[p].left, l.panels[p].right = l.left, l.right
	}
	for p := range panels {
		l.prepare(&l.panels[p], &panels[p])
	}
	l.legend = wrapped(l.legendOf(), l.width)
	l.height, err = l.fill(l.stack)
	return l, err
}

// count returns the numbers of bars on machines and on links.
func count(rows []ganttRow) (machines, links int) {
	for r := range rows {
		if rows[r].Link {
			links += len(rows[r].Bars)
		} else {
			machines += len(rows[r].Bars)
		}
	}
	return machines, links
}

// span sets the times of each panel's axis: the same for all, unless one is less
// than half as long as another.
func (l *layout) span(o Options, panels []ganttPanel) error {
	all := timeAxis{}
	for k, p := range panels {
		a := &l.panels[k].timeAxis
		for _, m := range p.Marks {
			a.low, a.high = min(a.low, m.At), max(a.high, m.At)
		}
		for _, r := range p.Rows {
			for _, b := range r.Bars {
				a.low, a.high = min(a.low, b.Start), max(a.high, b.End)
			}
		}
		all.low, all.high = min(all.low, a.low), max(all.high, a.high)
	}
	all.widen()
	l.shared = true
	for k := range l.panels {
		a := &l.panels[k].timeAxis
		l.shared = l.shared && a.high-a.low >= (all.high-all.low)/2
	}
	l.shared = l.shared || len(panels) > maxAxes || o.From != nil || o.To != nil
	if len(panels) == 0 {
		l.panels = append(l.panels, panelBox{timeAxis: all})
	}
	if l.shared {
		if err := o.cut(&all); err != nil {
			return err
		}
	}
	for k := range l.panels {
		if l.shared {
			l.panels[k].timeAxis = all
		}
		l.panels[k].widen()
	}
	return nil
}

// cut returns the parts of the panels that their axes show.
func (l *layout) cut(panels []ganttPanel) []ganttPanel {
	all := slices.Clone(panels)
	for k := range all {
		a, p := &l.panels[k].timeAxis, &all[k]
		p.Rows = slices.Clone(p.Rows)
		for r := range p.Rows {
			row := &p.Rows[r]
			if !slices.ContainsFunc(row.Bars, func(b ganttBar) bool { return b.Start < a.low || b.End > a.high }) {
				continue
			}
			var bars []ganttBar
			for _, b := range row.Bars {
				if a.shows(b.Start, b.End) {
					b.Start, b.End = a.clip(b.Start, b.End)
					bars = append(bars, b)
				}
			}
			row.Bars = bars
		}
		p.Marks = slices.DeleteFunc(slices.Clone(p.Marks), func(m ganttMark) bool { return m.At < a.low || m.At > a.high })
		p.Arrows = slices.DeleteFunc(slices.Clone(p.Arrows), func(x ganttArrow) bool { return min(x.From, x.To) < a.low || max(x.From, x.To) > a.high })
	}
	return all
}

// wanted returns the width of the time axis at which most of a row's labels
// fit: the labels' width over the share of the time that the bars take.
func (a *timeAxis) wanted(row *ganttRow, f face) float64 {
	need, busy := 0.0, 0.0
	for b := range row.Bars {
		need += f.width(clean(row.Bars[b].Label)) + 8
		busy += (row.Bars[b].End - row.Bars[b].Start) / (a.high - a.low)
	}
	if row.Link { // lanes share the width
		busy = max(busy, 1)
	}
	return 1.3 * need / max(busy, 0.3)
}

// prepare fills a panel's box except for the places.
func (l *layout) prepare(box *panelBox, p *ganttPanel) {
	box.title, box.arrows = clean(p.Title), p.Arrows
	box.rows = l.rows(box, p.Rows)
	for r := range p.Rows {
		box.critical = box.critical || slices.ContainsFunc(p.Rows[r].Bars, func(b ganttBar) bool { return b.Critical })
	}
	l.head(box, p.Marks)
}

// stack places the panels and their rows from the top, the rows so many times as
// high as they would like to be, and returns the height. A picture above the limit
// gets lower rows; with so many panels that their heads alone take half of the
// height, it gets none.
func (l *layout) stack(stretch float64) (height float64) {
	fixed, flexible := 0.0, 0.0
	for p := range l.panels {
		box := &l.panels[p]
		fixed += box.headHeight() + panelGap
		if !l.shared {
			fixed += axisHeight
		}
		for k, r := range box.rows {
			flexible += r.h0
			if k > 0 && r.Link && !box.rows[k-1].Link {
				fixed += linkGap
			}
		}
	}
	top := titleEnd(l.title)
	if len(l.legend) > 0 {
		top += l.legendHeight() + 5
	}
	highest := maxHeight
	if l.Height > 0 {
		highest = math.Inf(1)
	}
	room := highest - top - axisHeight - margin
	spread, lower := 1.0, stretch
	if fixed > room/2 {
		spread = room / 2 / fixed
	}
	if flexible*stretch > room-fixed*spread {
		lower = (room - fixed*spread) / flexible
	}
	y := top
	for p := range l.panels {
		box := &l.panels[p]
		if p > 0 {
			y += panelGap * spread
		}
		box.head = y
		y += box.headHeight() * spread
		if spread < 1 {
			box.title = ""
			for m := range box.marks {
				box.marks[m].label = ""
			}
		}
		box.top = y
		for k := range box.rows {
			r := &box.rows[k]
			if k > 0 && r.Link && !box.rows[k-1].Link {
				y += linkGap * spread
			}
			r.y, r.h = y, r.h0*lower
			if r.h >= 6 && l.Height == 0 { // whole pixels look sharper
				r.y = math.Round(y*2) / 2
				r.h = math.Round((y+r.h)*2)/2 - r.y
			}
			y = r.y + r.h
		}
		box.bottom = y
		if !l.shared {
			y += 4 + axisHeight
		}
	}
	if l.shared {
		y += 4 + axisHeight
	}
	l.end = y
	return math.Ceil(min(y+margin/2, highest))
}

// rows returns a panel's rows, links last, with their preferred heights; one
// empty row if it has none. All links together are no higher than the machines,
// or than a few of them.
func (l *layout) rows(box *panelBox, all []ganttRow) []rowBox {
	var boxes []rowBox
	f := newFace(labelSize, false)
	machines, links := count(all)
	rows := 0
	for r := range all {
		if !all[r].Link {
			rows++
		}
	}
	height := lowHeight + (rowHeight-lowHeight)*min(1, 24/float64(max(rows, 1)))
	linked := 0.0
	for _, link := range []bool{false, true} {
		for r := range all {
			row := &all[r]
			if row.Link != link {
				continue
			}
			x := rowBox{ganttRow: row, label: f.shorten(clean(row.Label), maxLabel), h0: height, lanes: 1, bands: machines > manyBars}
			if row.Link {
				x.bands = links > manyLinkBars
				if !x.bands {
					x.lane, x.lanes = lanes(row.Bars, 1e-9*(box.high-box.low))
					x.lanes = max(x.lanes, 1)
				}
				x.h0 = min(max(laneHeight*height/rowHeight*float64(x.lanes)+4, height*0.8), linkRows*height)
				linked += x.h0
			}
			boxes = append(boxes, x)
		}
	}
	if most := height * max(float64(rows), linkRows); linked > most {
		for k := range boxes {
			if boxes[k].Link {
				boxes[k].h0 *= most / linked
			}
		}
	}
	if boxes == nil {
		boxes = []rowBox{{ganttRow: &ganttRow{}, h0: height, lanes: 1}}
	}
	return boxes
}

// headHeight returns the room that a panel's title and the labels of its marks
// take.
func (box *panelBox) headHeight() float64 { return headLine*float64(box.lines) + 3 }

// head places the labels of the marks on as few lines as they need next to the title and each other.
func (l *layout) head(box *panelBox, marks []ganttMark) {
	f := newFace(markSize, false)
	all := []ganttBar{{Start: margin, End: margin + newFace(panelSize, true).width(box.title) + 10}}
	for _, m := range marks {
		label := f.shorten(clean(m.Label), maxLabel)
		w := f.width(label)
		x := box.x(m.At)
		at := min(max(x-w/2, margin), l.width-margin/2-w)
		box.marks = append(box.marks, markBox{x: x, bound: m.Bound, label: label, labelX: at, labelW: w})
		all = append(all, ganttBar{Start: at, End: at + w + 8})
	}
	lane, count := lanes(all, 0)
	for m := range box.marks {
		// The title starts at the left edge, so it is on the first line
		// unless a label starts there, too, and is shorter.
		box.marks[m].line = lane[m+1]
	}
	if lane[0] != 0 {
		for m := range box.marks {
			if box.marks[m].line == 0 {
				box.marks[m].line = lane[0]
			} else if box.marks[m].line == lane[0] {
				box.marks[m].line = 0
			}
		}
	}
	for m := range box.marks {
		if box.marks[m].line >= maxLines {
			box.marks[m].label = ""
		}
	}
	box.lines = min(count, maxLines)
	if box.title == "" && len(marks) == 0 {
		box.lines = 0
	}
}

// legendOf explains the bands, arrows and bold edges in the picture.
func (l *layout) legendOf() (all legendEntries) {
	bands, critical, arrows := false, false, false
	for p := range l.panels {
		for _, r := range l.panels[p].rows {
			bands = bands || r.bands
		}
		critical = critical || l.panels[p].critical
		arrows = arrows || len(l.panels[p].arrows) > 0
	}
	if critical {
		all.add("critical path", func(p pen, r rect) {
			if bands {
				p.fill(look.Critical, rect{r.x, r.y + r.h - bandMark, r.w, bandMark})
			} else {
				p.fill(look.Pale(look.Critical), r)
				p.outline(look.Critical, boldEdge, r)
			}
		})
	}
	if arrows {
		all.add("data", func(p pen, r rect) { p.arrow(paleInk, 0.7, r.x, r.y+r.h/2, r.x+r.w, r.y+r.h/2) })
	}
	if bands {
		for class, text := range shareTexts("idle") {
			c := look.Shares[class]
			all.area(text, c)
		}
	}
	return all
}
