// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// Size of the picture of rounds in points.
const (
	roundsWidth  = 640.0
	roundsHeight = 360.0
)

var realisticColour, plannedColour = theme.Series[1], theme.Series[0]

// Rounds draws the trace of network-aware HEFT (Yousaf, Welzl, Figure 11). It shows, over the number of the round, the
// makespan of its plan if transfers didn't slow each other down and the realistic one. Both values of the first round,
// which is HEFT's own plan, are dashed lines to compare with. A ring marks the rounds that were better than all before
// them. Format is "svg" or "png"; another one is errFormat. A makespan that is NaN or above 1e300 is model.ErrInvalid.
func Rounds(w io.Writer, style Style, title string, rounds []model.Round) error {
	if err := style.check(); err != nil {
		return err
	}
	for _, r := range rounds {
		for _, x := range []float64{r.Planned, r.Realistic} {
			if !(math.Abs(x) <= scene.MaxTime) {
				return fmt.Errorf("draw: %w round %d: planned %v, realistic %v, makespans must be from -%g to %g",
					model.ErrInvalid, r.Round, r.Planned, r.Realistic, scene.MaxTime, scene.MaxTime)
			}
		}
	}
	p := newPlot("round", "makespan (s)")
	setAxes(p, rounds)
	var legend []entry
	if len(rounds) > 0 {
		legend = addRounds(p, rounds)
	}
	x := chart{title: scene.Clean(title), width: roundsWidth, height: roundsHeight, plot: p, legend: legend}
	return x.write(w, style)
}

// setAxes sets ranges and ticks.
func setAxes(p *plot.Plot, rounds []model.Round) {
	first, last, low, high := 1.0, 1.0, 0.0, 1.0
	if len(rounds) > 0 {
		first, last = math.Inf(1), math.Inf(-1)
		low, high = first, last
	}
	for _, r := range rounds {
		first, last = min(first, float64(r.Round)), max(last, float64(r.Round))
		low, high = min(low, r.Planned, r.Realistic), max(high, r.Planned, r.Realistic)
	}
	p.X.Min, p.X.Max = first-0.5, last+0.5
	setY(p, low, high, roundsHeight, 0)

	const most = 25.0 // labels
	step, next := 1.0, []float64{2, 2.5, 2}
	for k := 0; (last-first)/step > most; k++ {
		step *= next[k%len(next)]
	}
	var x plot.ConstantTicks
	for i := math.Ceil(first / step); i*step <= last; i++ {
		x = append(x, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'f', 0, 64)})
	}
	p.X.Tick.Marker = x
}

// addRounds adds the lines and points of at least one round.
func addRounds(p *plot.Plot, rounds []model.Round) []entry {
	var planned, realistic, kept plotter.XYs
	for _, r := range rounds {
		x := float64(r.Round)
		planned = append(planned, plotter.XY{X: x, Y: r.Planned})
		realistic = append(realistic, plotter.XY{X: x, Y: r.Realistic})
		if r.Kept {
			kept = append(kept, plotter.XY{X: x, Y: r.Realistic})
		}
	}
	level := func(y float64, c color.Color) *plotter.Line {
		return &plotter.Line{XYs: plotter.XYs{{X: p.X.Min, Y: y}, {X: p.X.Max, Y: y}},
			LineStyle: vgdraw.LineStyle{Color: c, Width: 1, Dashes: []vg.Length{5, 3}}}
	}
	firstRealistic, firstPlanned := level(rounds[0].Realistic, realisticColour), level(rounds[0].Planned, plannedColour)
	planLine, planPoints := linePoints(planned, stroke{plannedColour, nil, vgdraw.BoxGlyph{}, 2.6})
	realLine, realPoints := linePoints(realistic, stroke{realisticColour, nil, vgdraw.CircleGlyph{}, 2.6})
	p.Add(firstRealistic, firstPlanned, planLine, planPoints, realLine, realPoints)
	legend := []entry{
		{"realistic", 0, []plot.Thumbnailer{realLine, realPoints}},
		{"first round: " + short(rounds[0].Realistic), 0, []plot.Thumbnailer{firstRealistic}},
	}
	if len(kept) > 0 {
		rings := &plotter.Scatter{XYs: kept,
			GlyphStyle: vgdraw.GlyphStyle{Color: ink, Radius: 5.5, Shape: vgdraw.RingGlyph{}}}
		p.Add(rings)
		best := slices.MinFunc(kept, func(a, b plotter.XY) int { return cmp.Compare(a.Y, b.Y) })
		legend = append(legend, entry{"kept; the best: " + short(best.Y), 0, []plot.Thumbnailer{rings}})
	}
	return append(legend,
		entry{"planned, without contention", 1, []plot.Thumbnailer{planLine, planPoints}},
		entry{"first round: " + short(rounds[0].Planned), 1, []plot.Thumbnailer{firstPlanned}})
}

// short prints a time for a label.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
