package draw

import "math"

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
	axisHeight = 34.0

	textureBars = 4000 // no labels and outlines above that
)

// layout holds the positions of everything in the picture.
type layout struct {
	title         string
	width, height float64
	timeAxis
	texture bool
	panels  []panelBox
	axisY   float64
	below   float64 // end of the last row label drawn
}

type panelBox struct {
	title       string
	head        float64 // upper edge
	top, bottom float64 // of the rows
	marks       []markBox
	rows        []rowBox
}

type markBox struct {
	x      float64
	label  string // "" if there is no room
	labelX float64
	labelW float64
	line   int
}

type rowBox struct {
	*Row
	label string
	y, h  float64
	lane  []int // of each bar; nil: all in lane 0
	lanes int
}

func newLayout(title string, panels []Panel) *layout {
	l := &layout{panels: make([]panelBox, len(panels))}
	bars, most, rows, wanted := 0, 0, 0, 0.0
	for p := range panels {
		for r := range panels[p].Rows {
			row := &panels[p].Rows[r]
			bars += len(row.Bars)
			most = max(most, len(row.Bars))
			rows++
		}
	}
	l.texture = bars > textureBars
	l.span(panels)

	column, f := 0.0, newFace(labelSize, false)
	for p := range panels {
		for r := range panels[p].Rows {
			row := &panels[p].Rows[r]
			column = max(column, f.width(f.shorten(clean(row.Label), maxLabel)))
			if !l.texture {
				wanted = max(wanted, l.wanted(row, f))
			}
		}
	}
	if l.texture {
		wanted = 8 * float64(most)
	}
	l.left = margin + column + 8
	l.right = l.left + min(max(wanted, narrowest), maxWidth-l.left-2*margin)
	l.width = l.right + 2*margin
	l.title = title
	l.stack(panels, rows)
	return l
}

// span sets the times of the axis.
func (l *layout) span(panels []Panel) {
	for _, p := range panels {
		for _, m := range p.Marks {
			l.low, l.high = min(l.low, m.At), max(l.high, m.At)
		}
		for _, r := range p.Rows {
			for _, b := range r.Bars {
				l.low, l.high = min(l.low, b.Start), max(l.high, b.End)
			}
		}
	}
	l.widen()
}

// wanted returns the width of the time axis at which most of a row's labels
// fit: the labels' width over the share of the time that the bars take.
func (l *layout) wanted(row *Row, f face) float64 {
	need, busy := 0.0, 0.0
	for b := range row.Bars {
		need += f.width(clean(row.Bars[b].Label)) + 8
		busy += (row.Bars[b].End - row.Bars[b].Start) / (l.high - l.low)
	}
	if row.Link { // lanes share the width
		busy = max(busy, 1)
	}
	return 1.3 * need / max(busy, 0.3)
}

// stack places the panels and their rows from the top and sets the height. A
// picture above the limit gets lower rows; with so many panels that their heads
// alone take half of the height, it gets none.
func (l *layout) stack(panels []Panel, rows int) {
	height := lowHeight + (rowHeight-lowHeight)*min(1, 24/float64(max(rows, 1)))
	fixed, flexible := 0.0, 0.0
	for p := range panels {
		box := &l.panels[p]
		box.title = clean(panels[p].Title)
		lines := l.head(box, panels[p].Marks)
		box.top = headLine*float64(lines) + 3 // for now: the head's height
		fixed += box.top + panelGap
		box.rows = l.rows(panels[p].Rows, height)
		for k, r := range box.rows {
			flexible += r.h
			if k > 0 && r.Link && !box.rows[k-1].Link {
				fixed += linkGap
			}
		}
	}
	top := titleEnd(l.title)
	room := maxHeight - top - axisHeight - margin
	spread, lower := 1.0, 1.0
	if fixed > room/2 {
		spread = room / 2 / fixed
	}
	if flexible > room-fixed*spread {
		lower = (room - fixed*spread) / flexible
	}
	y := top
	for p := range l.panels {
		box := &l.panels[p]
		if p > 0 {
			y += panelGap * spread
		}
		box.head = y
		y += box.top * spread
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
			r.y, r.h = y, r.h*lower
			if r.h >= 6 { // whole pixels look sharper
				r.y = math.Round(y*2) / 2
				r.h = math.Round((y+r.h)*2)/2 - r.y
			}
			y = r.y + r.h
		}
		box.bottom = y
	}
	l.axisY = y + 4
	l.height = math.Ceil(min(l.axisY+axisHeight+margin/2, maxHeight))
}

// rows returns a panel's rows, links last, with their preferred heights; one
// empty row if it has none.
func (l *layout) rows(all []Row, height float64) []rowBox {
	var boxes []rowBox
	f := newFace(labelSize, false)
	for _, links := range []bool{false, true} {
		for r := range all {
			row := &all[r]
			if row.Link != links {
				continue
			}
			box := rowBox{Row: row, label: f.shorten(clean(row.Label), maxLabel), h: height, lanes: 1}
			if row.Link {
				box.lane, box.lanes = lanes(row.Bars, 1e-9*(l.high-l.low))
				box.lanes = max(box.lanes, 1)
				box.h = min(max(laneHeight*height/rowHeight*float64(box.lanes)+4, height*0.8), linkRows*height)
			}
			boxes = append(boxes, box)
		}
	}
	if boxes == nil {
		boxes = []rowBox{{Row: &Row{}, h: height, lanes: 1}}
	}
	return boxes
}

// head places the labels of the marks on as few lines as they need beside the
// title and each other, and returns the number of lines.
func (l *layout) head(box *panelBox, marks []Mark) int {
	f := newFace(markSize, false)
	all := []Bar{{Start: margin, End: margin + newFace(panelSize, true).width(box.title) + 10}}
	for _, m := range marks {
		label := f.shorten(clean(m.Label), maxLabel)
		w := f.width(label)
		x := l.x(m.At)
		at := min(max(x-w/2, margin), l.width-margin/2-w)
		box.marks = append(box.marks, markBox{x: x, label: label, labelX: at, labelW: w})
		all = append(all, Bar{Start: at, End: at + w + 8})
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
	if box.title == "" && len(marks) == 0 {
		return 0
	}
	return min(count, maxLines)
}
