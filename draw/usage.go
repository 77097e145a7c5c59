package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
)

// usageStep holds what is true from a time on, or a change at it: how much is in
// use, in two shares of which the second lies on the first, and how much waits.
type usageStep struct {
	at      float64
	used    [2]float64
	waiting float64
}

// usage is how much of some processors is in use over time and how many jobs
// wait, in two charts.
type usage struct {
	steps   []usageStep // by time, between the ends of the axis
	of      int         // processors
	what    string      // they are called, in the plural
	waiting string      // heading of the second chart
	colours [2]color.RGBA

	useY, useHeight, queueY, queueHeight float64
}

// sum makes steps of changes, from the start of an axis to its end. O(n log n).
func (u *usage) sum(a *timeAxis, changes []usageStep) {
	slices.SortStableFunc(changes, func(a, b usageStep) int { return cmp.Compare(a.at, b.at) })
	now := usageStep{at: a.low}
	u.steps = []usageStep{now}
	for i := 0; i < len(changes) && changes[i].at < a.high; {
		at := changes[i].at
		for ; i < len(changes) && changes[i].at == at; i++ {
			for t := range now.used {
				now.used[t] += changes[i].used[t]
			}
			now.waiting += changes[i].waiting
		}
		if now.at = max(at, a.low); now.at == a.low {
			u.steps[0] = now
		} else {
			u.steps = append(u.steps, now)
		}
	}
}

// place puts the charts below y, so many times as high as they would like to be,
// and returns their lower edge.
func (u *usage) place(y, stretch float64) float64 {
	u.useHeight, u.queueHeight = useHeight*stretch, queueHeight*stretch
	u.useY = y + clusterHeading + 6
	u.queueY = u.useY + u.useHeight + clusterHeading + 6
	return u.queueY + u.queueHeight
}

// means returns the mean shares in use in percent.
func (u *usage) means(a *timeAxis) (mean [2]float64) {
	for i, s := range u.steps {
		until := a.high
		if i+1 < len(u.steps) {
			until = u.steps[i+1].at
		}
		for t := range mean {
			mean[t] += s.used[t] * ((until - s.at) / (a.high - a.low))
		}
	}
	for t := range mean {
		mean[t] *= 100 / float64(u.of)
	}
	return mean
}

// paint draws both charts with a heading for the first. The first is as high as
// the capacity, where that is in use by a third, so that what is idle shows.
func (u *usage) paint(p pen, a *timeAxis, width float64, axis []tick, heading string) {
	most, longest := 1.0, 1.0
	for _, s := range u.steps {
		most, longest = max(most, s.used[0]+s.used[1]), max(longest, s.waiting)
	}
	area := func(c color.RGBA, bottom, one float64, figure func(usageStep) float64) {
		fillArea(p, a, c, bottom, one, u.steps, func(s usageStep) (float64, float64) { return s.at, figure(s) })
	}
	if 3*most >= float64(u.of) {
		most = max(most, float64(u.of))
	}
	p.heading(u.useY-6, width, fmt.Sprintf("%s in use, of %d, over time: %s", u.what, u.of, heading))
	a.chart(p, axis, u.useY, u.useHeight, most, func() {
		if slices.ContainsFunc(u.steps, func(s usageStep) bool { return s.used[1] > 0 }) {
			area(u.colours[1], u.useY+u.useHeight, u.useHeight/most, func(s usageStep) float64 { return s.used[0] + s.used[1] })
		}
		area(u.colours[0], u.useY+u.useHeight, u.useHeight/most, func(s usageStep) float64 { return s.used[0] })
	})
	p.heading(u.queueY-6, width, u.waiting)
	a.chart(p, axis, u.queueY, u.queueHeight, longest, func() {
		area(waitingColour, u.queueY+u.queueHeight, u.queueHeight/longest, func(s usageStep) float64 { return s.waiting })
	})
}

// outliers returns where an axis from low should end, by the ends of what is drawn
// on it, at least one: where nine tenths of them take less than half of the axis,
// it ends a little after those; otherwise after the last.
func outliers(low float64, ends []float64) (high float64) {
	ends = slices.Sorted(slices.Values(ends))
	last := ends[len(ends)-1]
	most := ends[int(math.Ceil(0.9*float64(len(ends))))-1]
	if most-low >= (last-low)/2 || most <= low {
		return last
	}
	return most + 0.05*(most-low)
}
