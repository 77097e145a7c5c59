// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/gapwise/gapwise/internal/core/scene"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// Curve is one line of a picture of Curves, with a marker at each point.
type Curve struct {
	Label string
	// Apart says that nothing is between the points, as where each is of an instance of
	// its own: they aren't joined.
	Apart  bool
	Points []Point // joined in the order of X
	// Step says that each Y holds up to the next X, as a step function's, whose points have no markers.
	Step bool
	// Bound marks the curve as a bound that no solution can beat: it is dashed, has no markers, and takes no colour
	// from the others.
	Bound bool
}

// Axis describes an axis of Curves.
type Axis struct {
	Label string
	Log   bool // logarithmic; all values are to be above 0
	// NotNegative says that there is nothing below 0: intervals and the axis end
	// there.
	NotNegative bool
	// Holds are values that a vertical axis without logarithms shows whatever the points are.
	Holds []float64
}

// Point is a mean at X. Half is half the width of its 95 % confidence interval,
// drawn as a bar up and down; 0 or NaN without one. If any point has a Label,
// the axis shows the labels, each at its X, instead of numbers.
type Point struct {
	X, Y, Half float64
	Label      string
	// Values, if not nil, are drawn at X as a box plot instead of Y: quartiles and median, whiskers to the last values
	// within 1.5 times the box's height (on a logarithmic axis: of logarithms), and the others as rings.
	Values []float64
}

// maxCurves bounds the curves of a picture: with more of them colours, markers
// and dashes would repeat together.
const maxCurves = 70

// These are the size of the picture of curves without its legend in points, and about how much of the width isn't the
// axis.
const (
	curvesWidth  = 640.0
	curvesHeight = 400.0
	besideAxis   = 90.0
)

// on returns where a value is on the axis.
func (a *Axis) on(x float64) float64 {
	if a.Log {
		return math.Log10(x)
	}
	return x
}

// Curves draws lines with error bars over a common axis (Li et al., Figures 2 to 7), the legend above the axes in the
// curves' order. Colours are theme.Series. Markers and dashes differ, too, so that everyone can distinguish about ten
// curves, also in print. Lower curves show between the markers and dashes of later ones where they coincide. Lines and
// markers are at their X, so that a curve is on its side of a bound. If intervals at one X overlap, their bars are
// drawn side by side there, each a few points from the next. A curve without points is marked so in the legend.
//
// Unknown formats are errFormat. Coordinates that are NaN or above 1e300, or not above 0 on a logarithmic axis,
// negative half-widths and more than maxCurves curves are model.ErrInvalid. O(P log P) for P points.
func Curves(w io.Writer, style Style, title string, xaxis, yaxis Axis, curves []Curve) error {
	if err := style.check(); err != nil {
		return err
	}
	if len(curves) > maxCurves {
		return fmt.Errorf("draw: %w picture: %d curves can't be told apart, give %d at most", model.ErrInvalid, len(curves),
			maxCurves)
	}
	for _, c := range curves {
		for _, p := range points(c) {
			if !(math.Abs(p.X) <= scene.MaxTime && math.Abs(p.Y) <= scene.MaxTime) || p.Half < 0 || p.Half > scene.MaxTime {
				return fmt.Errorf("draw: %w curve %q: %v ± %v at %v, must be from -%g to %g and the half-width from 0",
					model.ErrInvalid, c.Label, p.Y, p.Half, p.X, scene.MaxTime, scene.MaxTime)
			}
			if xaxis.Log && !(p.X > 0) || yaxis.Log && !(p.Y > 0) {
				return fmt.Errorf("draw: %w curve %q: %v at %v, a logarithmic axis shows what is above 0 alone", model.ErrInvalid,
					c.Label, p.Y, p.X)
			}
		}
	}
	g := &curveGrid{x: xaxis, y: yaxis, width: curvesWidth, height: curvesHeight}
	if style.Width > 0 {
		g.width = style.width()
	}
	if least := 1.2*besideAxis + 80; g.width < least {
		return style.tooSmall("width", least)
	}
	f := newFace(labelSize, false)
	labels := f.width(confidence)
	for k := range curves {
		labels = max(labels, f.width(f.shorten(curveLabel(&curves[k]), g.widest())))
	}
	column := min(legendThumb+5+labels+legendApart, g.width-2*margin)
	entries := len(curves) + 1
	columns := max(1, int((g.width-2*margin+legendApart)/column))
	lines := (entries + columns - 1) / columns
	if style.Height > 0 {
		if g.height = style.height() - legendLine*float64(lines); g.height < besideAxis+60 {
			return style.tooSmall("height", besideAxis+60+legendLine*float64(lines))
		}
	}
	p := newPlot(fitted(xaxis.Label, f, g.width-besideAxis), fitted(yaxis.Label, f, g.height-besideAxis))
	g.set(p, curves)
	legend := g.add(p, curves)
	x := chart{title: scene.Clean(title), width: g.width, height: g.height, plot: p, legend: legend, column: column}
	for k := range legend {
		legend[k].line = k / columns
		if k%columns == 0 {
			x.height += legendLine
		}
	}
	if style.Height > 0 {
		x.height = style.height()
	}
	return x.write(w, style)
}

// points returns the points of a curve, one for each value of a box plot.
func points(c Curve) (all []Point) {
	for _, p := range c.Points {
		for _, y := range p.Values {
			all = append(all, Point{X: p.X, Y: y, Label: p.Label})
		}
		if p.Values == nil {
			all = append(all, p)
		}
	}
	return all
}

// boxes adds the box plots of a curve and returns its sample for the legend.
func (g *curveGrid) boxes(p *plot.Plot, c *Curve, s stroke) plot.Thumbnailer {
	width := vg.Length(min(36, 0.6*g.long()/(p.X.Max-p.X.Min)))
	for _, q := range c.Points {
		values := make(plotter.Values, len(q.Values))
		for k, y := range q.Values {
			values[k] = g.y.on(y)
		}
		b, err := plotter.NewBoxPlot(width, q.X, values)
		if err != nil {
			continue // there is no value
		}
		b.BoxStyle.Color, b.BoxStyle.Width, b.MedianStyle.Color, b.MedianStyle.Width = s.colour, 1.2, s.colour, 2.4
		b.WhiskerStyle = vgdraw.LineStyle{Color: s.colour, Width: 1}
		b.GlyphStyle = vgdraw.GlyphStyle{Color: s.colour, Radius: 2.2, Shape: vgdraw.RingGlyph{}}
		p.Add(b)
	}
	return &plotter.Line{LineStyle: vgdraw.LineStyle{Color: s.colour, Width: 2.4}}
}

// confidence is the legend's text about error bars.
const confidence = "95 % confidence"

// fitted returns an axis's label, without the part after its last comma if it is too long.
func fitted(label string, f face, width float64) string {
	label = scene.Clean(label)
	if cut := strings.LastIndex(label, ", "); cut > 0 && f.width(label) > width {
		label = label[:cut]
	}
	return f.shorten(label, width)
}

// curveLabel returns a curve's text in the legend.
func curveLabel(c *Curve) string {
	if len(c.Points) == 0 {
		return scene.Clean(c.Label) + " (no values)"
	}
	return scene.Clean(c.Label)
}

// curveGrid is the grid of a picture of curves.
type curveGrid struct {
	x, y          Axis
	width, height float64 // of the picture without its legend
}

// long returns the length of the horizontal axis, more or less.
func (g *curveGrid) long() float64 { return g.width - besideAxis }

// widest returns the width of the longest text in the legend.
func (g *curveGrid) widest() float64 { return g.width - 2*margin - legendThumb - 5 }

// interval returns the ends of a point's interval: not below 0 where nothing is.
func (g *curveGrid) interval(q *Point) (low, high float64) {
	low, high = q.Y-q.half(), q.Y+q.half()
	if g.y.NotNegative {
		low = max(low, min(q.Y, 0))
	}
	return low, high
}

// set sets ranges and ticks. The ticks of the horizontal axis are at the points, if
// their labels have room.
func (g *curveGrid) set(p *plot.Plot, curves []Curve) {
	var at []tick
	named, wholeX, wholeY := false, true, true
	first, last, low, high := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		for _, q := range points(c) {
			first, last = min(first, q.X), max(last, q.X)
			from, to := g.interval(&q)
			if g.y.Log && from <= 0 {
				from = q.Y / 2 // it goes down to wherever the axis ends
			}
			low, high = min(low, from), max(high, to)
			wholeX, wholeY = wholeX && q.X == math.Trunc(q.X), wholeY && q.Y == math.Trunc(q.Y) && q.half() == 0
			at = append(at, tick{At: q.X, Label: scene.Clean(q.Label)})
			named = named || at[len(at)-1].Label != ""
		}
	}
	if len(at) == 0 {
		first, last, low, high = 1, 2, 1, 2
	}
	for _, y := range g.y.Holds {
		low, high = min(low, y), max(high, y)
	}
	if g.y.Log {
		setLog(&p.Y, low, high, g.height-besideAxis)
	} else {
		setY(p, low, high, g.height-besideAxis, least(wholeY))
		if g.y.NotNegative {
			p.Y.Min = max(p.Y.Min, min(low, 0))
		}
	}
	if g.x.Log {
		setLog(&p.X, first, last, g.long())
	} else {
		p.X.Min, p.X.Max = roomy(first, last)
	}

	// One tick at each x, with the label if one of its points has any.
	slices.SortStableFunc(at, func(a, b tick) int {
		return cmp.Or(cmp.Compare(a.At, b.At), -cmp.Compare(min(len(a.Label), 1), min(len(b.Label), 1)))
	})
	at = slices.CompactFunc(at, func(a, b tick) bool { return a.At == b.At })
	f := newFace(axisSize, false)
	const room = 8
	for k := range at {
		if named {
			at[k].Label = f.shorten(at[k].Label, 100)
		} else {
			at[k].Label = short(at[k].At)
		}
	}
	fits := func(every int) bool {
		end := math.Inf(-1)
		for k := 0; k < len(at); k += every {
			x := p.X.Norm(g.x.on(at[k].At)) * g.long()
			half := f.width(at[k].Label) / 2
			if x-half < end {
				return false
			}
			end = x + half + room
		}
		return true
	}
	every := 1
	for named && !fits(every) {
		every++
	}
	if !named && !fits(1) {
		if g.x.Log {
			return // the ticks are set
		}
		at = axisOf(p.X.Min, p.X.Max, g.long(), f).Linear(least(wholeX), number)
	}
	var x plot.ConstantTicks
	for k, t := range at {
		if k%every != 0 {
			t.Label = ""
		}
		x = append(x, plot.Tick{Value: g.x.on(t.At), Label: t.Label})
	}
	p.X.Tick.Marker = x
}

// least returns the least step of an axis: 1 if it shows only counts.
func least(whole bool) float64 {
	if whole {
		return 1
	}
	return 0
}

func (p *Point) half() float64 {
	if p.Half > 0 {
		return p.Half
	}
	return 0
}

// curveStroke returns the style of curve k; no two of maxCurves are the same.
func curveStroke(k int) stroke {
	dashes := [][]vg.Length{nil, {6, 3}, {1.5, 2.5}, {8, 2.5, 1.5, 2.5}}
	return stroke{
		colour: theme.Series[k%len(theme.Series)],
		dashes: dashes[k%len(dashes)],
		shape:  marker{k % 5, k/5%2 == 1},
		radius: vg.Length(max(4.4-0.25*float64(k), 2.6)), // so that an earlier one looks out from below
	}
}

// sideways returns the distance in points between the bars of neighbouring curves at
// one x; 0 if no intervals overlap.
func (g *curveGrid) sideways(p *plot.Plot, curves []Curve) float64 {
	at := map[float64][]scene.Box{} // the intervals
	for _, c := range curves {
		for _, q := range c.Points {
			if !c.Bound {
				at[q.X] = append(at[q.X], scene.Box{Low: q.Y - q.half(), High: q.Y + q.half()})
			}
		}
	}
	overlap := false
	for _, bars := range at {
		_, count := scene.Lanes(bars, 0)
		overlap = overlap || count > 1
	}
	if !overlap {
		return 0
	}
	least := 40.0 // of all together
	places := slices.Sorted(maps.Keys(at))
	for k := 1; k < len(places); k++ {
		least = min(least, 0.3*(p.X.Norm(g.x.on(places[k]))-p.X.Norm(g.x.on(places[k-1])))*g.long())
	}
	return min(3.5, least/float64(len(curves)))
}

// add adds the lines, points and bars and returns the legend.
func (g *curveGrid) add(p *plot.Plot, curves []Curve) (legend []entry) {
	f := newFace(labelSize, false)
	apart, bars, number := g.sideways(p, curves), false, 0
	drawn := 0
	for k := range curves {
		if !curves[k].Bound {
			drawn++
		}
	}
	for k := range curves {
		c := &curves[k]
		text := f.shorten(curveLabel(c), g.widest())
		if len(c.Points) == 0 {
			legend = append(legend, entry{text: text})
			number++
			continue
		}
		sorted := slices.Clone(c.Points)
		slices.SortStableFunc(sorted, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		s := stroke{colour: theme.Bound, dashes: []vg.Length{5, 2, 1, 2}}
		beside := 0.0
		if !c.Bound {
			s = curveStroke(number)
			s.radius = min(s.radius, vg.Length(max(1.4, 0.4*g.long()/float64(len(sorted))))) // markers side by side
			beside = apart * (float64(number) - float64(drawn-1)/2)
			number++
		}
		if c.Points[0].Values != nil {
			legend = append(legend, entry{text: text, thumbs: []plot.Thumbnailer{g.boxes(p, c, s)}})
			continue
		}
		interval := &plotter.YErrorBars{LineStyle: vgdraw.LineStyle{Color: s.colour, Width: 0.9}, CapWidth: 5}
		var xy plotter.XYs
		for _, q := range sorted {
			at := plotter.XY{X: g.x.on(q.X), Y: g.y.on(q.Y)}
			xy = append(xy, at)
			if q.half() > 0 {
				at.X += beside / g.long() * (p.X.Max - p.X.Min)
				low, high := g.interval(&q)
				interval.XYs = append(interval.XYs, at)
				bottom := p.Y.Min
				if !g.y.Log || low > 0 {
					bottom = max(g.y.on(low), bottom)
				}
				interval.YErrors = append(interval.YErrors, struct{ Low, High float64 }{at.Y - bottom, g.y.on(high) - at.Y})
			}
		}
		line, points := linePoints(xy, s)
		thumbs := []plot.Thumbnailer{line}
		if c.Apart {
			points.Radius = max(points.Radius, 2.6)
			if c.Bound {
				points.Shape = dashMark{}
			}
			p.Add(interval, points)
			thumbs[0] = points
		} else if p.Add(line); c.Step {
			line.StepStyle = plotter.PostStep
		} else if !c.Bound {
			p.Add(interval, points)
			thumbs = append(thumbs, points)
		}
		bars = bars || len(interval.XYs) > 0 && (c.Apart || !c.Bound)
		legend = append(legend, entry{text: text, thumbs: thumbs})
	}
	if bars {
		legend = append(legend, entry{text: confidence, thumbs: []plot.Thumbnailer{barThumb{}}})
	}
	return legend
}

// dashMark is a short line, the mark of a bound if its points aren't joined.
type dashMark struct{}

// DrawGlyph draws it.
func (dashMark) DrawGlyph(c *vgdraw.Canvas, s vgdraw.GlyphStyle, at vg.Point) {
	c.StrokeLine2(vgdraw.LineStyle{Color: s.Color, Width: 1.5}, at.X-5, at.Y, at.X+5, at.Y)
}

// barThumb is an error bar in the legend.
type barThumb struct{}

// Thumbnail draws it.
func (barThumb) Thumbnail(c *vgdraw.Canvas) {
	style := vgdraw.LineStyle{Color: paleInk, Width: 0.9}
	x, low, high := (c.Min.X+c.Max.X)/2, c.Min.Y+3, c.Max.Y-3
	c.StrokeLine2(style, x, low, x, high)
	for _, y := range []vg.Length{low, high} {
		c.StrokeLine2(style, x-2.5, y, x+2.5, y)
	}
}
