package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/gapwise/gapwise/model"
)

// Curve is one line of a picture of Curves, with a marker at each point.
type Curve struct {
	Label  string
	Points []Point // joined in the order of X
}

// Point is a mean at X. Half is half the width of its 95 % confidence interval,
// drawn as a bar up and down; 0 or NaN without one. If any point has a Label,
// the axis shows the labels, each at its X, instead of numbers.
type Point struct {
	X, Y, Half float64
	Label      string
}

// MaxCurves bounds the curves of a picture: with more of them colours, markers
// and dashes would repeat together.
const MaxCurves = 70

// Size of the picture of curves without its legend in points, and what of the
// width isn't the axis, more or less.
const (
	curvesWidth  = 640.0
	curvesHeight = 400.0
	besideAxis   = 90.0
)

// Curves draws lines with error bars over a common axis (Li et al., Figures 2
// to 7), the legend above the axes in the curves' order. Colours are those of
// Okabe and Ito. Markers and dashes differ, too, so that about ten curves can
// be told apart in print and by everyone. Where curves coincide, those below
// show between the markers and dashes of later ones. If intervals at one X
// overlap, the bars stand side by side there, with a dot at the mean. A curve
// without points is marked so in the legend.
//
// Format is "svg" or "png"; another one is ErrFormat. Coordinates that are NaN
// or above 1e300, negative half-widths and more than MaxCurves curves are
// model.ErrInvalid. O(P log P) for P points.
func Curves(w io.Writer, format, title, xlabel, ylabel string, curves []Curve) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	if len(curves) > MaxCurves {
		return fmt.Errorf("draw: %w picture: %d curves can't be told apart, give %d at most", model.ErrInvalid, len(curves), MaxCurves)
	}
	for _, c := range curves {
		for _, p := range c.Points {
			if !(math.Abs(p.X) <= maxTime && math.Abs(p.Y) <= maxTime) || p.Half < 0 || p.Half > maxTime {
				return fmt.Errorf("draw: %w curve %q: %v ± %v at %v, must be from -%g to %g and the half-width from 0",
					model.ErrInvalid, c.Label, p.Y, p.Half, p.X, maxTime, maxTime)
			}
		}
	}
	f := newFace(labelSize, false)
	p := newPlot(f.shorten(clean(xlabel), curvesWidth-besideAxis), f.shorten(clean(ylabel), curvesHeight-besideAxis))
	setCurveAxes(p, curves)
	legend, err := addCurves(p, curves, sideways(p, curves))
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	x := chart{title: clean(title), width: curvesWidth, height: curvesHeight, plot: p, legend: legend}
	for _, e := range legend {
		x.column = max(x.column, legendThumb+5+f.width(e.text)+legendApart)
	}
	columns := max(1, int((curvesWidth-2*margin+legendApart)/max(x.column, 1)))
	for k := range legend {
		legend[k].line = k / columns
		if k%columns == 0 {
			x.height += legendLine
		}
	}
	return x.write(w, format)
}

// setCurveAxes sets ranges and ticks. The ticks of the horizontal axis are at
// the points, if their labels have room.
func setCurveAxes(p *plot.Plot, curves []Curve) {
	var at []tick
	named := false
	first, last, low, high := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		for _, q := range c.Points {
			first, last = min(first, q.X), max(last, q.X)
			half := q.half()
			low, high = min(low, q.Y-half), max(high, q.Y+half)
			at = append(at, tick{q.X, clean(q.Label)})
			named = named || at[len(at)-1].label != ""
		}
	}
	if len(at) == 0 {
		first, last, low, high = 0, 1, 0, 1
	}
	setY(p, low, high, curvesHeight-besideAxis)
	p.X.Min, p.X.Max = roomy(first, last)

	// One tick at each x, with the label if one of its points has any.
	slices.SortStableFunc(at, func(a, b tick) int {
		return cmp.Or(cmp.Compare(a.at, b.at), -cmp.Compare(min(len(a.label), 1), min(len(b.label), 1)))
	})
	at = slices.CompactFunc(at, func(a, b tick) bool { return a.at == b.at })
	f := newFace(axisSize, false)
	const length, room = curvesWidth - besideAxis, 8
	for k := range at {
		if named {
			at[k].label = f.shorten(at[k].label, 100)
		} else {
			at[k].label = short(at[k].at)
		}
	}
	fits := func(every int) bool {
		end := math.Inf(-1)
		for k := 0; k < len(at); k += every {
			x := (at[k].at - p.X.Min) / (p.X.Max - p.X.Min) * length
			half := f.width(at[k].label) / 2
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
		at = ticks(p.X.Min, p.X.Max, length, f)
	}
	var x plot.ConstantTicks
	for k, t := range at {
		if k%every != 0 {
			t.label = ""
		}
		x = append(x, plot.Tick{Value: t.at, Label: t.label})
	}
	p.X.Tick.Marker = x
}

func (p *Point) half() float64 {
	if p.Half > 0 {
		return p.Half
	}
	return 0
}

// curveStroke returns the style of curve k; no two of MaxCurves are the same.
func curveStroke(k int) stroke {
	colours := []color.Color{plannedColour, realisticColour, hex(0x009E73), ink, hex(0xCC79A7), hex(0xE69F00), hex(0x56B4E9)}
	dashes := [][]vg.Length{nil, {6, 3}, {1.5, 2.5}, {8, 2.5, 1.5, 2.5}}
	return stroke{
		colour: colours[k%len(colours)],
		dashes: dashes[k%len(dashes)],
		shape:  marker{k % 5, k/5%2 == 1},
		radius: vg.Length(max(4.4-0.25*float64(k), 2.6)), // so that an earlier one looks out from below
	}
}

// sideways returns the distance along the axis between the bars of neighbouring
// curves; 0 if none overlap. Markers and lines aren't moved: steep ones would
// look higher or lower.
func sideways(p *plot.Plot, curves []Curve) float64 {
	at := map[float64][]Bar{} // the intervals
	for _, c := range curves {
		for _, q := range c.Points {
			at[q.X] = append(at[q.X], Bar{Start: q.Y - q.half(), End: q.Y + q.half()})
		}
	}
	overlap := false
	for _, bars := range at {
		_, count := lanes(bars, 0)
		overlap = overlap || count > 1
	}
	if !overlap {
		return 0
	}
	point := (p.X.Max - p.X.Min) / (curvesWidth - besideAxis)
	least := 40 * point // of all together
	places := slices.Sorted(maps.Keys(at))
	for k := 1; k < len(places); k++ {
		least = min(least, 0.3*(places[k]-places[k-1]))
	}
	return min(3.5*point, least/float64(len(curves)))
}

// addCurves adds the lines, points and bars, the bars at the given distance,
// and returns the legend.
func addCurves(p *plot.Plot, curves []Curve, apart float64) ([]entry, error) {
	var legend []entry
	const widest = curvesWidth - 2*margin - legendThumb - 5
	f := newFace(labelSize, false)
	bars := false
	for k, c := range curves {
		if len(c.Points) == 0 {
			legend = append(legend, entry{text: f.shorten(clean(c.Label), widest-60) + " (no values)"})
			continue
		}
		sorted := slices.Clone(c.Points)
		slices.SortStableFunc(sorted, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		s := curveStroke(k)
		s.radius = min(s.radius, vg.Length(max(1.4, 0.4*(curvesWidth-besideAxis)/float64(len(sorted))))) // markers side by side
		interval := &plotter.YErrorBars{LineStyle: vgdraw.LineStyle{Color: s.colour, Width: 0.9}, CapWidth: 5}
		var xy plotter.XYs
		for _, q := range sorted {
			at := plotter.XY{X: q.X, Y: q.Y}
			xy = append(xy, at)
			at.X += apart * (float64(k) - float64(len(curves)-1)/2)
			if half := q.half(); half > 0 {
				interval.XYs = append(interval.XYs, at)
				interval.YErrors = append(interval.YErrors, struct{ Low, High float64 }{half, half})
			}
		}
		line, points, err := linePoints(xy, s)
		if err != nil {
			return nil, err
		}
		p.Add(line, interval, points)
		if dots := (&plotter.Scatter{XYs: interval.XYs}); apart > 0 && len(dots.XYs) > 0 {
			dots.GlyphStyle = vgdraw.GlyphStyle{Color: s.colour, Radius: 1.4, Shape: marker{}}
			p.Add(dots)
		}
		bars = bars || len(interval.XYs) > 0
		legend = append(legend, entry{text: f.shorten(clean(c.Label), widest), thumbs: []plot.Thumbnailer{line, points}})
	}
	if bars {
		legend = append(legend, entry{text: "95 % confidence", thumbs: []plot.Thumbnailer{barThumb{}}})
	}
	return legend, nil
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
