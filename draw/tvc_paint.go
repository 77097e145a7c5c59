package draw

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/gapwise/gapwise/model"
)

var (
	usedColour      = palette[0]
	waitingColour   = palette[1]
	suspendedColour = palette[4]
)

// place sets the sizes.
func (l *clustersLayout) place() {
	f := newFace(axisSize, false)
	column := f.width("aggregation")
	l.left = math.Ceil(margin + column + 8)
	wide := narrowest * 1.4
	if l.tree.K <= mostPods {
		wide = min(max(wide, pitch*float64(l.tree.Servers())), widestTree-l.left)
	}
	l.right = l.left + math.Ceil(wide)
	l.width = l.right + 2*margin

	l.legend = l.legendOf()
	y := titleEnd(l.title)
	if n := len(l.legend); n > 0 {
		y += legendLine * float64(l.legend[n-1].line+1)
	}
	l.treeY = y + clusterHeading + 6
	if l.tree.K <= mostPods {
		l.serversY = l.treeY + treeHeight
		y = l.serversY + serverHeight + headLine
	} else {
		y = l.treeY + headLine + l.matrixHeight() + headLine
	}
	l.slotsY = y + clusterHeading + panelGap
	y = l.slotsY + slotsHeight
	if len(l.without) > 0 {
		l.stripY = y + 6
		y = l.stripY + stripHeight
	}
	if l.in.Queue {
		l.waitingY = y + clusterHeading
		y = l.waitingY + waitingHeight
	}
	l.axisY = y + 4
	l.height = math.Ceil(l.axisY + axisHeight + margin/2)
}

func (l *clustersLayout) paint(p pen) {
	p.fill(white, rect{0, 0, l.width, l.height})
	drawLegend(p, l.legend, 0, p.title(l.title, l.width))
	l.heading(p, l.treeY-headLine+3, l.momentText())
	if l.tree.K <= mostPods {
		l.paintTree(p)
	} else {
		l.paintMatrices(p)
	}
	axis := l.ticks()
	most := 1.0
	for _, s := range l.steps {
		most = max(most, s.used)
	}
	l.heading(p, l.slotsY-6, fmt.Sprintf("Slots in use, of %d, over time; dashed: the moment above", l.tree.Servers()*l.tree.Slots))
	l.chart(p, axis, l.slotsY, slotsHeight, most, func() { l.paintSlots(p, most) })
	if len(l.without) > 0 {
		l.strip(p, l.without, map[bool]string{false: "rejected", true: "refused"}[l.in.Queue], l.stripY)
	}
	if l.in.Queue {
		most = 1
		for _, s := range l.steps {
			most = max(most, s.waiting+s.suspended)
		}
		l.heading(p, l.waitingY-6, "Requests that wait and those suspended, over time")
		l.chart(p, axis, l.waitingY, waitingHeight, most, func() {
			l.area(p, suspendedColour, l.waitingY+waitingHeight, waitingHeight/most, func(s clusterStep) float64 { return s.waiting + s.suspended })
			l.area(p, waitingColour, l.waitingY+waitingHeight, waitingHeight/most, func(s clusterStep) float64 { return s.waiting })
		})
	}
	l.timeAxis.paint(p, l.axisY, axis)
}

func (l *clustersLayout) heading(p pen, y float64, text string) {
	f := newFace(panelSize, true)
	p.text(f, ink, margin, y, 0, f.shorten(text, l.width-2*margin))
}

// momentText tells the state at the moment.
func (l *clustersLayout) momentText() string {
	used := 0
	for s := range l.used {
		used += l.usedSlots(s)
	}
	text := fmt.Sprintf("At %s s: %d of %d slots in use; reserved: %s of the servers' links", strconv.FormatFloat(l.moment, 'f', -1, 64), used, l.tree.Servers()*l.tree.Slots, l.mean(serverLinks))
	if l.tree.EffectiveFabric() == model.FabricOnePath {
		text += fmt.Sprintf(", %s of those from edge to aggregation switches, %s of those to core switches", l.mean(edgeLinks), l.mean(aggregationLinks))
	}
	return text
}

// mean returns the mean share of a layer of links as text.
func (l *clustersLayout) mean(layer int) string {
	sum := 0.0
	for _, x := range l.share[layer] {
		sum += x
	}
	return fmt.Sprintf("%.1f %%", 100*sum/float64(len(l.share[layer])))
}

// chart draws the background of a chart over time, what paint draws, and the
// labels of its vertical axis from 0 to most, a whole number.
func (l *clustersLayout) chart(p pen, axis []tick, top, height, most float64, paint func()) {
	f := newFace(axisSize, false)
	p.fill(rowColour, rect{l.left, top, l.right - l.left, height})
	l.grid(p, axis, top, top+height)
	paint()
	at := ticks(0, most, height, f)
	if len(at) < 2 {
		at = append(at, tick{at: most})
	}
	for _, t := range at {
		if t.at != math.Trunc(t.at) {
			continue
		}
		y := top + height*(1-t.at/most)
		p.text(f, ink, l.left-6, y+axisSize*capHeight/2, 1, number(t.at, 1))
		p.line(paleInk, 0.8, l.left-3, y, l.left, y)
	}
	x := l.x(l.moment)
	p.line(markColour, 0.9, x, top, x, top+height, 3, 2)
}

// area fills the area below a figure over time, with the given height of one: below
// its mean and, paler, below its maximum in each half point of the axis, which is
// one pixel of a PNG.
func (l *clustersLayout) area(p pen, c color.RGBA, bottom, one float64, figure func(clusterStep) float64) {
	const wide = 0.5
	n := int((l.right - l.left) / wide)
	sum, most := make([]float64, n), make([]float64, n)
	column := func(t float64) float64 { return (l.x(t) - l.left) / wide }
	for i, s := range l.steps {
		from, to := column(s.at), float64(n)
		if i+1 < len(l.steps) {
			to = column(l.steps[i+1].at)
		}
		y := figure(s)
		for k := min(int(from), n-1); k < n && float64(k) < to; k++ {
			sum[k] += y * max(0, min(float64(k+1), to)-max(float64(k), from))
			most[k] = max(most[k], y)
		}
	}
	for _, x := range []struct {
		c    color.RGBA
		high []float64
	}{{mix(c, white, 0.5), most}, {c, sum}} {
		var bars []rect
		for k, y := range x.high {
			switch last := len(bars) - 1; {
			case y <= 0:
			case k > 0 && x.high[k-1] == y:
				bars[last].w += wide
			default:
				bars = append(bars, rect{l.left + wide*float64(k), bottom - one*y, wide, one * y})
			}
		}
		p.fill(x.c, bars...)
	}
}

// paintSlots draws the slots in use, most at a time: few requests stacked, in the
// order of their list, with their names where these fit; otherwise their sum.
func (l *clustersLayout) paintSlots(p pen, most float64) {
	bottom := l.slotsY + slotsHeight
	if len(l.in.Requests) > fewClusters {
		l.area(p, usedColour, bottom, slotsHeight/most, func(s clusterStep) float64 { return s.used })
		return
	}
	boxes := make([][]rect, len(l.in.Requests))
	for i, s := range l.steps[:max(len(l.steps)-1, 0)] {
		to := l.steps[i+1].at
		if to <= s.at {
			continue
		}
		var running []*cluster
		for j := range l.clusters {
			if c := &l.clusters[j]; c.start <= s.at && s.at < c.end {
				running = append(running, c)
			}
		}
		slices.SortStableFunc(running, func(a, b *cluster) int { return a.request - b.request })
		y := bottom
		for _, c := range running {
			high := slotsHeight / most * float64(c.vms)
			y -= high
			box, all := rect{l.x(s.at), y, l.x(to) - l.x(s.at), high}, boxes[c.request]
			if n := len(all); n > 0 && all[n-1].y == y && all[n-1].h == high && math.Abs(all[n-1].x+all[n-1].w-box.x) < 1e-6 {
				all[n-1].w = box.x + box.w - all[n-1].x
				continue
			}
			boxes[c.request] = append(all, box)
		}
	}
	for k, all := range boxes {
		p.filled((&Bar{Group: k}).colour(), all)
	}
	for k, all := range boxes {
		p.labelLargest(clean(l.in.Requests[k].ID), ink, all)
	}
}

// legendOf explains the colours.
func (l *clustersLayout) legendOf() []entry {
	var all []entry
	line := 0
	add := func(text string, draw func(p pen, x, y float64)) {
		all = append(all, entry{text, line, []plot.Thumbnailer{sample{draw}}})
	}
	for class, text := range []string{"nothing reserved", "up to 25 %", "up to 50 %", "up to 75 %", "up to 100 %"} {
		add(text, func(p pen, x, y float64) {
			if l.tree.K > mostPods {
				p.fill(heat[class], rect{x, y - 4, legendThumb, 8})
				return
			}
			p.line(heat[class], linkWidth(class), x, y, x+legendThumb, y)
		})
	}
	if l.tree.K <= mostPods && !l.binds(edgeLinks) {
		add("doesn't bind", func(p pen, x, y float64) {
			p.line(gridColour, 0.5, x, y, x+legendThumb, y, vg.Length(1), 2)
		})
	}
	line++
	area := func(text string, c color.RGBA) {
		add(text, func(p pen, x, y float64) { p.fill(c, rect{x, y - 4, legendThumb, 8}) })
	}
	if len(l.in.Requests) > fewClusters {
		area("slots in use", usedColour)
	}
	if l.in.Queue {
		area("waiting", waitingColour)
		area("suspended", suspendedColour)
	}
	if l.in.Queue || len(l.in.Requests) > fewClusters {
		area("maximum, paler than the mean", mix(usedColour, white, 0.5))
	}
	return all
}
