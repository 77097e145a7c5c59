// SPDX-License-Identifier: MIT

package draw

import (
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// newPlot returns a plot with horizontal grid lines and two named axes in the
// style of all pictures.
func newPlot(xlabel, ylabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = white
	p.X.Label.Text, p.Y.Label.Text = xlabel, ylabel
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans(labelSize, false), sans(axisSize, false)
		a.Label.TextStyle.Color, a.LineStyle.Color = paleInk, paleInk
		a.Tick.LineStyle.Color, a.Tick.Label.Color = paleInk, ink
		a.Label.Padding = 4
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, gridColour
	p.Add(grid)
	return p
}

// roomy returns the range from low to high with a margin around it.
func roomy(low, high float64) (float64, float64) {
	room := 0.06 * (high - low)
	if high-low <= 1e-6*math.Abs(high) { // all the same
		room = 0.05 * math.Abs(high)
	}
	if room < 1e-300 {
		room = 1
	}
	return low - room, high + room
}

// setY makes the vertical axis, height points long, hold the values from low to
// high, with marks at least step apart. It doesn't begin at 0: the pictures are there to
// show differences.
func setY(p *plot.Plot, low, high, height, step float64) {
	p.Y.Min, p.Y.Max = roomy(low, high)
	var y plot.ConstantTicks
	for _, t := range axisOf(p.Y.Min, p.Y.Max, height, newFace(axisSize, false)).Linear(step, number) {
		y = append(y, plot.Tick{Value: t.At, Label: t.Label})
	}
	p.Y.Tick.Marker = y
}

// setLog makes an axis, so many points long, hold the powers of ten of the values
// from low to high. Ticks are at powers of ten, of a short axis also at multiples
// of them. gonum's LogScale would lay the axis out as if its title were not in the
// middle.
func setLog(a *plot.Axis, low, high, length float64) {
	a.Min, a.Max = roomy(math.Log10(low), math.Log10(high))
	if decades := a.Max - a.Min; decades < 0.1 {
		a.Min, a.Max = a.Min-0.05, a.Max+0.05
	}
	var all plot.ConstantTicks
	for _, t := range axisOf(a.Min, a.Max, length, newFace(axisSize, false)).Log(short) {
		all = append(all, plot.Tick{Value: t.At, Label: t.Label})
	}
	a.Tick.Marker = all
}

// stroke is how a line and the points on it look.
type stroke struct {
	colour color.Color
	dashes []vg.Length
	shape  vgdraw.GlyphDrawer
	radius vg.Length
}

// linePoints returns a line with its points.
func linePoints(xy plotter.XYs, s stroke) (*plotter.Line, *plotter.Scatter) {
	return &plotter.Line{XYs: xy, LineStyle: vgdraw.LineStyle{Color: s.colour, Width: 1.5, Dashes: s.dashes}},
		&plotter.Scatter{XYs: xy, GlyphStyle: vgdraw.GlyphStyle{Color: s.colour, Radius: s.radius, Shape: s.shape}}
}

// entry is a legend's text about some of the plotters.
type entry struct {
	text   string
	line   int
	thumbs []plot.Thumbnailer
}

// legendEntries are a legend in the making.
type legendEntries []entry

// add adds an entry with a sample that draw draws in a box.
func (all *legendEntries) add(text string, draw func(p pen, r rect)) {
	*all = append(*all, entry{text: text, thumbs: []plot.Thumbnailer{sample(draw)}})
}

// area adds an entry with a coloured box.
func (all *legendEntries) area(text string, c color.Color) {
	all.add(text, func(p pen, r rect) { p.fill(c, r) })
}

// shaped adds an entry with a box in a style.
func (all *legendEntries) shaped(text string, s style) {
	all.add(text, func(p pen, r rect) { p.shapes([]shape{{r, s, ""}}, false) })
}

// height returns the height of the legend's lines.
func (all legendEntries) height() float64 {
	if len(all) == 0 {
		return 0
	}
	return legendLine * float64(all[len(all)-1].line+1)
}

// sample draws an entry's sample.
type sample func(p pen, r rect)

// Thumbnail draws it.
func (s sample) Thumbnail(c *vgdraw.Canvas) {
	base := c.Canvas.(*canvas)
	s(base.pen(), rect{c.Min.X.Points(), base.height - (c.Min.Y+c.Max.Y).Points()/2 - 4, legendThumb, 8})
}

// Sizes of the legend: of a thumbnail, a line and the room between entries.
const (
	legendThumb = 22.0
	legendLine  = 16.0
	legendApart = 18.0
)

// drawLegend writes the legend, its lines from y down, and returns its lower edge. Entries are in columns of the given
// width, or one after the other if it is 0. The legend of gonum itself has one column and no room between its lines,
// and lies on the data.
func drawLegend(p pen, legend []entry, column, y float64) float64 {
	area := vgdraw.New(p.c)
	f, x := newFace(labelSize, false), margin
	for k, e := range legend {
		if k > 0 && e.line != legend[k-1].line {
			x = margin
			y += legendLine
		}
		c := vgdraw.Canvas{Canvas: area.Canvas, Rectangle: vg.Rectangle{Min: p.at(x, y+legendLine),
			Max: p.at(x+legendThumb, y)}}
		for _, t := range e.thumbs {
			t.Thumbnail(&c)
		}
		p.text(f, ink, x+legendThumb+5, y+legendLine/2+labelSize*capHeight/2, 0, e.text)
		if column > 0 {
			x += column
		} else {
			x += legendThumb + 5 + f.width(e.text) + legendApart
		}
	}
	if len(legend) > 0 {
		y += legendLine
	}
	return y
}

// wrapped returns a legend on as many lines as the width of its picture needs, at least
// as many as its entries ask for.
func wrapped(all legendEntries, width float64) legendEntries {
	f, x, line, asked := newFace(labelSize, false), margin, 0, 0
	for k := range all {
		wide := legendThumb + 5 + f.width(all[k].text)
		if k > 0 && (x+wide > width-margin || all[k].line != asked) {
			x, line = margin, line+1
		}
		asked, all[k].line = all[k].line, line
		x += wide + legendApart
	}
	return all
}

// chart is a picture of a plot below its title and its legend.
type chart struct {
	title         string // clean
	width, height float64
	plot          *plot.Plot
	legend        []entry
	column        float64 // of the legend, see drawLegend
}

func (x *chart) write(w io.Writer, style Style) error {
	return style.picture(w, x.title, x.width, x.height, func(p pen) {
		y := p.title(x.title, x.width)
		y = drawLegend(p, x.legend, x.column, y) + 6
		x.plot.Draw(vgdraw.Crop(vgdraw.New(p.c), margin, -margin, margin, vg.Points(-y)))
	})
}

// title writes a clean title, if there is one, at the top of a picture of the
// given width, and returns its lower edge. A title that is too long is written
// smaller; then the name before its colon is cut.
func (p pen) title(title string, width float64) float64 {
	room := width - 2*margin
	size := titleSize
	bold := newFace(size, true)
	if w := bold.width(title); w > room {
		size *= max(room/w*0.99, 0.7)
		bold = newFace(size, true)
	}
	if name, rest, ok := strings.Cut(title, ": "); ok && bold.width(title) > room {
		if left := room - bold.width(": "+rest); left > 40 {
			title = bold.shorten(name, left) + ": " + rest
		} else {
			title = rest
		}
	}
	p.text(bold, ink, margin, margin+titleSize*0.85, 0, bold.clip(title, room))
	return titleEnd(title)
}

// titleEnd returns a title's lower edge.
func titleEnd(title string) float64 {
	if title == "" {
		return margin
	}
	return margin + titleSize*1.7
}
