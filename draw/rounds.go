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

	"github.com/gapwise/gapwise/model"
)

// Size of the picture of rounds in points.
const (
	roundsWidth  = 640.0
	roundsHeight = 360.0
)

// Colours of Okabe and Ito, dark enough for lines on white.
var (
	realisticColour = hex(0xD55E00)
	plannedColour   = hex(0x0072B2)
)

// Rounds draws the trace of network-aware HEFT (Yousaf, Welzl, Figure 11): over
// the number of the round, the makespan of its plan if transfers didn't slow
// each other down and the realistic one; both of the first round, which is
// HEFT's own plan, as dashed lines to compare with; a ring around the rounds
// that were better than all before them. Format is "svg" or "png"; another one
// is ErrFormat. A makespan that is NaN or above 1e300 is model.ErrInvalid.
func Rounds(w io.Writer, format, title string, rounds []model.Round) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	for _, r := range rounds {
		for _, x := range []float64{r.Planned, r.Realistic} {
			if !(math.Abs(x) <= maxTime) {
				return fmt.Errorf("draw: %w round %d: planned %v, realistic %v, makespans must be from -%g to %g",
					model.ErrInvalid, r.Round, r.Planned, r.Realistic, maxTime, maxTime)
			}
		}
	}
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "round", "makespan (s)"
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans(labelSize, false), sans(axisSize, false)
		a.Label.TextStyle.Color, a.LineStyle.Color = paleInk, paleInk
		a.Tick.LineStyle.Color = paleInk
		a.Label.Padding = 4
	}
	setAxes(p, rounds)
	var legend []entry
	if len(rounds) > 0 {
		var err error
		if legend, err = addRounds(p, rounds); err != nil {
			return fmt.Errorf("draw: %w", err)
		}
	}
	c := newCanvas(format, roundsWidth, roundsHeight)
	c.pen().fill(white, rect{0, 0, roundsWidth, roundsHeight})
	bold, y := newFace(titleSize, true), margin
	if title = clean(title); title != "" {
		c.pen().text(bold, ink, margin, y+titleSize*0.85, 0, bold.shorten(title, roundsWidth-2*margin))
		y += titleSize * 1.7
	}
	area := vgdraw.New(c)
	y = drawLegend(c.pen(), area, legend, y) + 6
	p.Draw(vgdraw.Crop(area, margin, -margin, margin, vg.Points(-y)))
	return c.write(w, title)
}

// entry is what the legend says about one of the plotters.
type entry struct {
	text   string
	line   int
	thumbs []plot.Thumbnailer
}

// drawLegend writes the legend above the axes, its lines from y down, and
// returns where it ends. gonum's own legend has one column and no room between
// its lines, and lies on the data.
func drawLegend(p pen, area vgdraw.Canvas, legend []entry, y float64) float64 {
	const thumb, high, apart = 22.0, 16.0, 18.0
	f, x := newFace(labelSize, false), margin
	for k, e := range legend {
		if k > 0 && e.line != legend[k-1].line {
			x = margin
			y += high
		}
		c := vgdraw.Canvas{Canvas: area.Canvas, Rectangle: vg.Rectangle{Min: p.at(x, y+high), Max: p.at(x+thumb, y)}}
		for _, t := range e.thumbs {
			t.Thumbnail(&c)
		}
		p.text(f, ink, x+thumb+5, y+high/2+labelSize*capHeight/2, 0, e.text)
		x += thumb + 5 + f.width(e.text) + apart
	}
	if len(legend) > 0 {
		y += high
	}
	return y
}

// setAxes sets ranges and ticks. The makespans' axis doesn't begin at 0: the
// differences between rounds are what the picture is for.
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
	room := 0.06 * (high - low)
	if high-low <= 1e-6*math.Abs(high) { // all the same
		room = 0.05 * math.Abs(high)
	}
	if room < 1e-300 {
		room = 1
	}
	low, high = low-room, high+room
	p.X.Min, p.X.Max = first-0.5, last+0.5
	p.Y.Min, p.Y.Max = low, high

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
	var y plot.ConstantTicks
	for _, t := range ticks(low, high, roundsHeight, newFace(axisSize, false)) {
		y = append(y, plot.Tick{Value: t.at, Label: t.label})
	}
	p.Y.Tick.Marker = y
}

// addRounds adds the lines and points of at least one round.
func addRounds(p *plot.Plot, rounds []model.Round) ([]entry, error) {
	var planned, realistic, kept plotter.XYs
	for _, r := range rounds {
		x := float64(r.Round)
		planned = append(planned, plotter.XY{X: x, Y: r.Planned})
		realistic = append(realistic, plotter.XY{X: x, Y: r.Realistic})
		if r.Kept {
			kept = append(kept, plotter.XY{X: x, Y: r.Realistic})
		}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, gridColour
	p.Add(grid)
	level := func(y float64, c color.Color) (*plotter.Line, error) {
		l, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: y}, {X: p.X.Max, Y: y}})
		if err != nil {
			return nil, err
		}
		l.LineStyle = vgdraw.LineStyle{Color: c, Width: 1, Dashes: []vg.Length{5, 3}}
		return l, nil
	}
	series := func(xy plotter.XYs, c color.Color, shape vgdraw.GlyphDrawer) (*plotter.Line, *plotter.Scatter, error) {
		l, s, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, nil, err
		}
		l.LineStyle = vgdraw.LineStyle{Color: c, Width: 1.5}
		s.GlyphStyle = vgdraw.GlyphStyle{Color: c, Radius: 2.6, Shape: shape}
		return l, s, nil
	}
	firstRealistic, err := level(rounds[0].Realistic, realisticColour)
	if err != nil {
		return nil, err
	}
	firstPlanned, err := level(rounds[0].Planned, plannedColour)
	if err != nil {
		return nil, err
	}
	planLine, planPoints, err := series(planned, plannedColour, vgdraw.BoxGlyph{})
	if err != nil {
		return nil, err
	}
	realLine, realPoints, err := series(realistic, realisticColour, vgdraw.CircleGlyph{})
	if err != nil {
		return nil, err
	}
	p.Add(firstRealistic, firstPlanned, planLine, planPoints, realLine, realPoints)
	legend := []entry{
		{"realistic", 0, []plot.Thumbnailer{realLine, realPoints}},
		{"first round: " + short(rounds[0].Realistic), 0, []plot.Thumbnailer{firstRealistic}},
	}
	if len(kept) > 0 {
		rings, err := plotter.NewScatter(kept)
		if err != nil {
			return nil, err
		}
		rings.GlyphStyle = vgdraw.GlyphStyle{Color: ink, Radius: 5.5, Shape: vgdraw.RingGlyph{}}
		p.Add(rings)
		best := slices.MinFunc(kept, func(a, b plotter.XY) int { return cmp.Compare(a.Y, b.Y) })
		legend = append(legend, entry{"kept; the best: " + short(best.Y), 0, []plot.Thumbnailer{rings}})
	}
	return append(legend,
		entry{"planned, without contention", 1, []plot.Thumbnailer{planLine, planPoints}},
		entry{"first round: " + short(rounds[0].Planned), 1, []plot.Thumbnailer{firstPlanned}}), nil
}

// short prints a time for a label.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
