// SPDX-License-Identifier: MIT

package draw

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// layer is a figure over time in a chart, the area below it in a colour.
type layer struct {
	colour theme.Colour
	figure func(model.UsageStep) float64
}

// Figures of a step: how much is in use, with the background too, and how many wait.
func used(s model.UsageStep) float64    { return s.Used }
func busy(s model.UsageStep) float64    { return s.Used + s.Background }
func waiting(s model.UsageStep) float64 { return s.Waiting }

// most returns the largest value of a figure, at least 1.
func most(steps []model.UsageStep, figure func(model.UsageStep) float64) float64 {
	y := 1.0
	for _, s := range steps {
		y = max(y, figure(s))
	}
	return y
}

// chart adds a chart of figures over time from 0 to most, a whole number, with a heading. A dashed line shows the
// capacity if it isn't 0. Inside, if not nil, draws more between the areas and the labels.
func (s *sheet) chart(heading string, high, most, capacity float64, steps []model.UsageStep,
	inside func(p pen, y, h float64), layers ...layer) {
	s.add(clusterHeading+6, 0, high, func(p pen, y, h float64) {
		s.heading(p, y-8, heading)
		s.back(p, rowColour, y, h)
		for _, x := range layers {
			s.area(p, x, y+h, h/most, steps)
		}
		if inside != nil {
			inside(p, y, h)
		}
		f := newFace(axisSize, false)
		at := ticks(0, most, h, f)
		if len(at) < 2 {
			at = append(at, tick{At: most})
		}
		for _, t := range at {
			if t.At != math.Trunc(t.At) {
				continue
			}
			up := y + h*(1-t.At/most)
			p.text(f, ink, s.left-6, up+axisSize*capHeight/2, 1, number(t.At, 1))
			p.line(paleInk, 0.8, s.left-3, up, s.left, up)
		}
		if capacity > 0 {
			up := y + h*(1-capacity/most)
			p.line(ink, 1.2, s.left, up, s.right, up, 4, 2)
		}
	})
}

// area fills the area below a figure over time, with the given height of one: below its mean and, paler, its
// maximum in each half point of the axis (one pixel of a PNG).
func (s *sheet) area(p pen, x layer, bottom, one float64, steps []model.UsageStep) {
	const wide = 0.5
	n := int((s.right - s.left) / wide)
	sum, most := make([]float64, n), make([]float64, n)
	column := func(t float64) float64 { return (s.x(t) - s.left) / wide }
	for i, step := range steps {
		y, from, to := x.figure(step), column(step.AtS), float64(n)
		if i+1 < len(steps) {
			to = column(steps[i+1].AtS)
		}
		if from >= float64(n) && i > 0 {
			break // the steps are by time
		}
		for k := min(max(int(from), 0), n-1); k < n && float64(k) < to; k++ {
			sum[k] += y * max(0, min(float64(k+1), to)-max(float64(k), from))
			most[k] = max(most[k], y)
		}
	}
	for _, part := range []struct {
		c    theme.Colour
		high []float64
	}{{theme.Mix(x.colour, white, 0.5), most}, {x.colour, sum}} {
		var bars []rect
		for k, y := range part.high {
			switch last := len(bars) - 1; {
			case y <= 0:
			case k > 0 && part.high[k-1] == y:
				bars[last].w += wide
			default:
				bars = append(bars, rect{s.left + wide*float64(k), bottom - one*y, wide, one * y})
			}
		}
		p.fill(part.c, bars...)
		for k := range bars { // an edge parts it from the area behind, in black and white, too
			bars[k].h = min(bars[k].h, thinEdge)
		}
		p.fill(theme.Mix(part.c, ink, 0.5), bars...)
	}
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

// usage adds charts of the processors in use, of so many, and of the waiting requests. The first is as high as the
// capacity if a third of it is in use, so that the idle part shows. Text says the mean shares in use in percent.
func (s *sheet) usage(in model.Instance, solution model.Solution, what, waits string,
	text func(foreground, background float64) string) ([]model.UsageStep, error) {
	all, err := model.UsageOf(in, solution)
	if err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	all.Steps = s.within(all.Steps)
	mean, n := all.Means(s.low, s.high, 1)[0], all.Capacity
	high := most(all.Steps, busy)
	if 3*high >= n {
		high = max(high, n)
	}
	layers := []layer{{theme.Busy, used}}
	if slices.ContainsFunc(all.Steps, func(x model.UsageStep) bool { return x.Background > 0 }) {
		layers = []layer{{theme.Background, busy}, layers[0]}
	}
	s.chart(fmt.Sprintf("%s in use, of %.0f, over time: %s", what, n, text(100*mean.Used/n, 100*mean.Background/n)),
		useHeight, high, 0, all.Steps, nil, layers...)
	s.chart(waits, queueHeight, most(all.Steps, waiting), 0, all.Steps, nil, layer{theme.Waiting, waiting})
	return all.Steps, nil
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
