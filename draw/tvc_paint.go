// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/internal/text/look"
	"github.com/gapwise/gapwise/model"
)

var (
	usedColour      = look.Busy
	waitingColour   = look.Waiting
	suspendedColour = look.Suspended
)

// place sets the sizes.
func (l *clustersLayout) place() error {
	f := newFace(axisSize, false)
	column := f.width("aggregation")
	l.left = math.Ceil(margin + column + 8)
	wide := narrowest * 1.4
	if l.tree.K <= mostPods {
		wide = min(max(wide, pitch*float64(l.tree.Servers())), widestTree-l.left)
	}
	l.right = l.left + math.Ceil(wide)
	if l.Width > 0 {
		var err error
		if l.right, err = l.across(l.left, wide); err != nil {
			return err
		}
	}
	return l.lay(l.right, l.legendOf, l.stack)
}

// stack places everything from the top and returns the height.
func (l *clustersLayout) stack(stretch float64) float64 {
	y := titleEnd(l.title)
	y += l.legendHeight()
	l.treeHigh, l.slotsHigh, l.waitingHigh = treeHeight*stretch, slotsHeight*stretch, waitingHeight*stretch
	l.matrixHigh = min(10*float64(l.tree.Half()), sharesMatrix) * stretch
	if !l.Usage {
		l.treeY = y + clusterHeading + 6
		if l.tree.K <= mostPods {
			l.serversY = l.treeY + l.treeHigh
			y = l.serversY + serverHeight + headLine
		} else {
			y = l.treeY + headLine + l.matrixHigh + headLine
		}
		y += panelGap
	}
	l.slotsY = y + clusterHeading
	y = l.slotsY + l.slotsHigh
	if len(l.without) > 0 {
		l.stripY = y + 6
		y = l.stripY + stripHeight
	}
	if l.in.Queue {
		l.waitingY = y + clusterHeading
		y = l.waitingY + l.waitingHigh
	}
	l.axisY = y + 4
	return math.Ceil(l.axisY + axisHeight + margin/2)
}

func (l *clustersLayout) paint(p pen) {
	if !l.Usage {
		l.heading(p, l.treeY-headLine+3, l.momentText())
		if l.tree.K <= mostPods {
			l.paintTree(p)
		} else {
			l.paintMatrices(p)
		}
	}
	axis := l.ticks()
	slots := float64(l.tree.Servers() * l.tree.Slots)
	most := slots // as high as what there is, so that one sees what is left
	for _, s := range l.steps {
		most = max(most, s.used)
	}
	text := fmt.Sprintf("Slots in use, of %d, over time", l.tree.Servers()*l.tree.Slots)
	if !l.Usage {
		text += "; dashed: the moment above"
	}
	lost := map[bool]string{false: "rejected", true: "refused"}[l.in.Queue]
	if n := len(l.without); n > 0 { // marks of moments that are close fall into one
		text += fmt.Sprintf("; below: %d %s", n, lost)
	}
	l.heading(p, l.slotsY-8, text)
	l.chart(p, axis, l.slotsY, l.slotsHigh, most, func() { l.paintSlots(p, most) })
	at := l.slotsY + l.slotsHigh*(1-slots/most)
	p.line(ink, 1.2, l.left, at, l.right, at, 4, 2)
	if len(l.without) > 0 {
		l.strip(p, l.without, lost, l.stripY)
	}
	if l.in.Queue {
		most = 1
		for _, s := range l.steps {
			most = max(most, s.waiting+s.suspended)
		}
		l.heading(p, l.waitingY-8, "Requests that wait and those suspended, over time")
		l.chart(p, axis, l.waitingY, l.waitingHigh, most, func() {
			l.area(p, suspendedColour, l.waitingY+l.waitingHigh, l.waitingHigh/most, func(s clusterStep) float64 { return s.waiting + s.suspended })
			l.area(p, waitingColour, l.waitingY+l.waitingHigh, l.waitingHigh/most, func(s clusterStep) float64 { return s.waiting })
		})
	}
	l.timeAxis.paint(p, l.axisY, axis)
}

func (l *clustersLayout) heading(p pen, y float64, text string) { p.heading(y, l.width, text) }

// momentText returns the state at the moment as text.
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

// chart draws a chart over time and the moment of the upper part in it.
func (l *clustersLayout) chart(p pen, axis []tick, top, height, most float64, paint func()) {
	l.timeAxis.chart(p, axis, top, height, most, paint)
	if l.Usage {
		return
	}
	x := l.x(l.moment)
	p.line(ink, 0.9, x, top, x, top+height, 3, 2)
}

// area fills the area below a figure over time, with the given height of one.
func (l *clustersLayout) area(p pen, c look.Colour, bottom, one float64, figure func(clusterStep) float64) {
	fillArea(p, &l.timeAxis, c, bottom, one, l.steps, func(s clusterStep) (float64, float64) { return s.at, figure(s) })
}

// paintSlots draws the slots in use, most at a time: few requests stacked, in the
// order of their list, with their names where these fit; otherwise their sum.
func (l *clustersLayout) paintSlots(p pen, most float64) {
	bottom := l.slotsY + l.slotsHigh
	if len(l.in.Requests) > fewClusters {
		l.area(p, usedColour, bottom, l.slotsHigh/most, func(s clusterStep) float64 { return s.used })
		return
	}
	boxes := make([][]rect, len(l.in.Requests))
	for i, s := range l.steps[:max(len(l.steps)-1, 0)] {
		from, to := l.clip(s.at, l.steps[i+1].at)
		if to <= from {
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
			high := l.slotsHigh / most * float64(c.vms)
			y -= high
			box, all := rect{l.x(from), y, l.x(to) - l.x(from), high}, boxes[c.request]
			if n := len(all); n > 0 && all[n-1].y == y && all[n-1].h == high && math.Abs(all[n-1].x+all[n-1].w-box.x) < 1e-6 {
				all[n-1].w = box.x + box.w - all[n-1].x
				continue
			}
			boxes[c.request] = append(all, box)
		}
	}
	for k, all := range boxes {
		p.filled(look.Tint(look.Plain, k), look.Plain, all)
	}
	for k, all := range boxes {
		p.labelLargest(clean(l.in.Requests[k].ID), ink, all)
	}
}

// legendOf explains the colours.
func (l *clustersLayout) legendOf() (all legendEntries) {
	seen := l.classes()
	for class, text := range shareTexts("nothing reserved") {
		if l.Usage || !seen[class] {
			continue
		}
		if class > 0 && l.tree.K <= mostPods {
			text += " reserved"
		}
		all.add(text, func(p pen, r rect) {
			if l.tree.K > mostPods {
				p.fill(look.Shares[class], r)
				return
			}
			p.line(linkShade(class), linkWidth(class), r.x, r.y+r.h/2, r.x+r.w, r.y+r.h/2)
		})
	}
	if !l.Usage && l.tree.K <= mostPods && !l.binds(edgeLinks) {
		all.add("doesn't bind", func(p pen, r rect) { p.line(looseColour, 0.5, r.x, r.y+r.h/2, r.x+r.w, r.y+r.h/2, 1, 2) })
	}
	first := len(all)
	if len(l.in.Requests) > fewClusters {
		all.area("slots in use", usedColour)
	}
	if l.in.Queue {
		all.area("waiting", waitingColour)
		all.area("suspended", suspendedColour)
	}
	if l.in.Queue || len(l.in.Requests) > fewClusters {
		all.area("maximum, paler than the mean", look.Mix(usedColour, white, 0.5))
	}
	for k := range all[first:] {
		all[first+k].line = min(first, 1)
	}
	return all
}
