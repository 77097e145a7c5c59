// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/text/look"
)

func (l *placementLayout) paint(p pen) {
	if l.many() {
		l.paintSorted(p)
		return
	}
	f := newFace(axisSize, false)
	axis := timeAxis{left: l.left, right: l.right, high: l.high}
	all := ticks(0, 100*l.high, l.right-l.left, f)
	for k := range all {
		all[k].At /= 100
	}
	for h := range l.hosts {
		l.paintHost(p, &axis, all, h)
	}
	end := l.axisY - hostGap/2
	if len(l.hosts) > 0 {
		p.line(ink, 1, axis.x(1), l.hosts[0].y-2, axis.x(1), end, 4, 2)
	}
	p.line(paleInk, 0.8, l.left, l.axisY, l.right, l.axisY)
	for _, t := range all {
		x := axis.x(t.At)
		p.line(paleInk, 0.8, x, l.axisY, x, l.axisY+3)
		p.text(f, ink, x, l.axisY+4+axisSize, 0.5, t.Label)
	}
	p.text(f, paleInk, (l.left+l.right)/2, l.axisY+axisHeight-7, 0.5, "share of the host (%); dashed: all of it")
}

// paintHost draws the bars of a host.
func (l *placementLayout) paintHost(p pen, axis *timeAxis, grid []tick, h int) {
	host := &l.hosts[h]
	name, small := newFace(min(labelSize, l.bar*0.85), host.tight), newFace(min(axisSize, l.bar*0.8), false)
	c := ink
	if host.tight {
		c = look.Tight
	}
	middle := host.y + l.bar*float64(len(l.resources))/2
	p.text(name, c, margin, middle+name.size*capHeight/2, 0, name.shorten(clean(host.name), maxLabel))
	high := l.bar - 1
	for r, text := range l.resources {
		y := host.y + l.bar*float64(r)
		p.fill(rowColour, rect{l.left, y, l.right - l.left, high})
		axis.grid(p, grid, y, y+high)
		p.text(small, paleInk, l.left-6, y+high/2+small.size*capHeight/2, 1, text)
		at := 0.0
		draw := func(x hostPart, share float64, faded bool) {
			if share <= 0 || at >= l.high {
				return
			}
			box := rect{axis.x(at), y, axis.x(min(at+share, l.high)) - axis.x(at), high}
			at += share
			bar := ganttBar{Group: x.job, Faded: faded}
			switch {
			case x.from != "" && !faded:
				p.moved(box)
			default:
				p.fill(bar.colour(), box)
				if box.w >= 3 {
					p.outline(bar.edge(), thinEdge, box)
				}
			}
			if !faded {
				p.fit(l.partName(x), ink, box.x+2, box.x+box.w-2, box)
			}
		}
		for _, x := range host.parts {
			draw(x, x.given[r], false)
		}
		for _, x := range host.parts {
			draw(x, x.need[r]-x.given[r], true)
		}
	}
	if host.tight {
		p.outline(look.Tight, 1.6, rect{l.left - 1, host.y - 1, axis.x(1) - l.left + 2, l.bar*float64(l.tightIn) + 1})
	}
	if host.note != "" {
		p.text(small, paleInk, l.left+6, host.y+high/2+small.size*capHeight/2, 0, small.shorten(clean(host.note), axis.x(1)-l.left-12))
	}
}

// moved draws what comes from elsewhere.
func (p pen) moved(r rect) {
	p.fill(look.Pale(look.Moved), r)
	p.outline(look.Moved, min(boldEdge, r.w/2, r.h/2), r)
}

// paintSorted draws a chart of each resource, the hosts sorted by its use.
func (l *placementLayout) paintSorted(p pen) {
	f := newFace(axisSize, false)
	y := l.axisY
	wide := (l.right - l.left) / float64(len(l.hosts))
	for r, name := range l.resources {
		type share struct {
			given, need float64
			tight       bool
		}
		var all []share
		sum, most, full := 0.0, 1.0, 0
		for h := range l.hosts {
			given, need := l.hosts[h].sums(r)
			all = append(all, share{given, need, l.hosts[h].tight && r < l.tightIn})
			sum += given
			most = max(most, need)
			if given >= 1-1e-6 {
				full++
			}
		}
		slices.SortStableFunc(all, func(a, b share) int { return cmp.Or(-cmp.Compare(a.need, b.need), -cmp.Compare(a.given, b.given)) })
		most = min(most, l.high)
		p.heading(y+clusterHeading-6, l.width, fmt.Sprintf("Hosts by %s, the most used first: %.1f %% on average, %d of %d full", name, 100*sum/float64(len(all)), full, len(all)))
		y += clusterHeading
		p.fill(rowColour, rect{l.left, y, l.right - l.left, l.bar})
		var given, need, tight []rect
		for k, x := range all {
			box := func(from, to float64) rect {
				from, to = min(from, most)/most*l.bar, min(to, most)/most*l.bar
				left, right := math.Round(2*(l.left+wide*float64(k)))/2, math.Round(2*(l.left+wide*float64(k+1)))/2 // no seams
				return rect{left, y + l.bar - to, right - left, to - from}
			}
			if x.tight {
				tight = append(tight, box(0, x.given))
			} else {
				given = append(given, box(0, x.given))
			}
			if x.need > x.given {
				need = append(need, box(x.given, x.need))
			}
		}
		p.fill(look.Busy, given...)
		p.fill(look.Tight, tight...)
		p.fill(look.Mix(look.Busy, white, faded), need...)
		if wide >= 4 {
			var lines []rect
			for k := range all {
				lines = append(lines, rect{l.left + wide*float64(k) - 0.2, y, 0.4, l.bar})
			}
			p.fill(white, lines...)
		}
		for _, t := range ticks(0, 100*most, l.bar*1.4, f) {
			at := y + l.bar*(1-t.At/100/most)
			p.text(f, ink, l.left-6, at+axisSize*capHeight/2, 1, t.Label+" %")
			p.line(paleInk, 0.8, l.left-3, at, l.left, at)
		}
		if one := y + l.bar*(1-1/most); most > 1 {
			p.line(ink, 1, l.left, one, l.right, one, 4, 2)
		}
		y += l.bar + 14
	}
	p.text(f, paleInk, (l.left+l.right)/2, y+4, 0.5, fmt.Sprintf("%d hosts, sorted in each chart by itself", len(l.hosts)))
}

// legendOf explains the kinds of bars that are in the picture.
func (l *placementLayout) legendOf() (all legendEntries) {
	tight, moved, unmet := false, false, false
	for h := range l.hosts {
		tight = tight || l.hosts[h].tight
		for _, x := range l.hosts[h].parts {
			moved = moved || x.from != ""
			unmet = unmet || x.need[0] > x.given[0]*(1+1e-9)
		}
	}
	given, needed := look.Busy, look.Mix(look.Busy, white, faded)
	if !l.many() {
		given, needed = look.Tint(look.Plain, 0), (&ganttBar{Faded: true}).colour()
	}
	all.area(l.taken, given)
	if unmet {
		all.area("needed, not given", needed)
	}
	if moved && !l.many() {
		all.add("moves here", func(p pen, r rect) { p.moved(r) })
	}
	if tight {
		all.add(l.tightness, func(p pen, r rect) {
			if l.many() {
				p.fill(look.Tight, r)
			} else {
				p.outline(look.Tight, 1.6, r)
			}
		})
	}
	return all
}
