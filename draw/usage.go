// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/text/look"
	"github.com/gapwise/gapwise/model"
)

// usage is how much of some processors is in use over time and how many jobs
// wait, in two charts.
type usage struct {
	steps   []model.UsageStep // between the ends of the axis
	of      int               // processors
	what    string            // they are called, in the plural
	waiting string            // heading of the second chart
	colours [2]look.Colour    // of what is in use, the background's on top

	useY, useHeight, queueY, queueHeight float64
}

// within returns the steps between the ends of the axis, the first at its start.
func (a *timeAxis) within(steps []model.UsageStep) []model.UsageStep {
	shown := []model.UsageStep{{AtS: a.low}}
	for _, s := range steps {
		if s.AtS >= a.high {
			break
		}
		if s.AtS = max(s.AtS, a.low); s.AtS == a.low {
			shown[0] = s
		} else {
			shown = append(shown, s)
		}
	}
	return shown
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
func (u *usage) means(a *timeAxis) (foreground, background float64) {
	all := model.Usage{Steps: u.steps}
	mean, of := all.Means(a.low, a.high, 1)[0], float64(u.of)
	return 100 * mean.Used / of, 100 * mean.Background / of
}

// paint draws both charts with a heading for the first. The first is as high as the capacity if a third of that is in
// use, so that the idle part shows.
func (u *usage) paint(p pen, a *timeAxis, width float64, axis []tick, heading string) {
	most, longest := 1.0, 1.0
	for _, s := range u.steps {
		most, longest = max(most, s.Used+s.Background), max(longest, s.Waiting)
	}
	area := func(c look.Colour, bottom, one float64, figure func(model.UsageStep) float64) {
		fillArea(p, a, c, bottom, one, u.steps, func(s model.UsageStep) (float64, float64) { return s.AtS, figure(s) })
	}
	if 3*most >= float64(u.of) {
		most = max(most, float64(u.of))
	}
	p.heading(u.useY-8, width, fmt.Sprintf("%s in use, of %d, over time: %s", u.what, u.of, heading))
	a.chart(p, axis, u.useY, u.useHeight, most, func() {
		if slices.ContainsFunc(u.steps, func(s model.UsageStep) bool { return s.Background > 0 }) {
			area(u.colours[1], u.useY+u.useHeight, u.useHeight/most, func(s model.UsageStep) float64 { return s.Used + s.Background })
		}
		area(u.colours[0], u.useY+u.useHeight, u.useHeight/most, func(s model.UsageStep) float64 { return s.Used })
	})
	p.heading(u.queueY-8, width, u.waiting)
	a.chart(p, axis, u.queueY, u.queueHeight, longest, func() {
		area(waitingColour, u.queueY+u.queueHeight, u.queueHeight/longest, func(s model.UsageStep) float64 { return s.Waiting })
	})
}

// outliers returns where an axis from low should end, by the ends of the bars on it, at least one. If nine tenths of
// them take less than half of the axis, it ends a little after those; otherwise after the last.
func outliers(low float64, ends []float64) (high float64) {
	ends = slices.Sorted(slices.Values(ends))
	last := ends[len(ends)-1]
	most := ends[int(math.Ceil(0.9*float64(len(ends))))-1]
	if most-low >= (last-low)/2 || most <= low {
		return last
	}
	return most + 0.05*(most-low)
}
