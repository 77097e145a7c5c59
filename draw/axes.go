// SPDX-License-Identifier: MIT

package draw

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// axes are two axes and what is drawn between them. They lay themselves out as plot.Plot of gonum does: that
// package brings twelve fonts, which it parses at each start, and writers of TeX and PostScript.
type axes struct {
	x, y  axis
	marks []mark
}

// mark is drawn between axes.
type mark interface {
	// reach returns the values that the axes must hold, and beside each in points what is
	// drawn there.
	reach() []reached
	draw(c vgdraw.Canvas, a *axes)
	thumbnail(c *vgdraw.Canvas)
}

// xy is a place by its values on both axes.
type xy struct{ x, y float64 }

// reached is a place, and how far what is drawn there goes to each side of it.
type reached struct {
	xy
	wide, high vg.Length
}

// axis is one axis; ticks without a label are short.
type axis struct {
	low, high float64
	label     string
	ticks     []tick
}

// norm returns where a value is, as a share of the axis.
func (a *axis) norm(x float64) float64 { return (x - a.low) / (a.high - a.low) }

// Sizes of axes in points.
const (
	axisLine   = 0.5
	tickLength = 8
	labelApart = 4 // between the axis and its label
	dataApart  = 5 // between the axis and the data
)

var axisStyle = vgdraw.LineStyle{Color: paleInk, Width: axisLine}

// texts returns the style of an axis's label and that of its ticks' labels.
func texts(x text.XAlignment, y text.YAlignment) (label, ticks text.Style) {
	loadFonts()
	plain := text.Plain{Fonts: font.DefaultCache}
	label = text.Style{Color: paleInk, Font: sans(labelSize, false), XAlign: text.XCenter, YAlign: text.YBottom}
	ticks = text.Style{Color: ink, Font: sans(axisSize, false), XAlign: x, YAlign: y}
	label.Handler, ticks.Handler = plain, plain
	return label, ticks
}

// add adds marks, for which the axes become longer if need be.
func (a *axes) add(all ...mark) {
	for _, m := range all {
		for _, r := range m.reach() {
			a.x.low, a.x.high = min(a.x.low, r.x), max(a.x.high, r.x)
			a.y.low, a.y.high = min(a.y.low, r.y), max(a.y.high, r.y)
		}
	}
	a.marks = append(a.marks, all...)
}

// placedBox is a box around a place that is given as shares of the axes.
type placedBox struct {
	x, y float64
	vg.Rectangle
}

// draw draws axes, grid and marks in a part of a picture.
func (a *axes) draw(c vgdraw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	xText, xTicks := texts(text.XCenter, text.YTop)
	yText, yTicks := texts(text.XRight, text.YCenter)

	// What is beside each axis, for the room that it needs.
	xBoxes, yBoxes := []placedBox(nil), []placedBox(nil)
	below, left := vg.Length(0), vg.Length(0)
	if a.x.label != "" {
		box := xText.Rectangle(a.x.label).Add(vg.Point{Y: xText.FontExtents().Descent})
		xBoxes = append(xBoxes, placedBox{x: a.x.norm(0.5 * (a.x.high + a.x.low)), Rectangle: box})
		below = xText.Height(a.x.label) + labelApart
	}
	if a.y.label != "" {
		turned := yText
		turned.Rotation = math.Pi / 2
		descent := yText.FontExtents().Descent
		left = yText.Height(a.y.label)
		box := turned.Rectangle(a.y.label).Add(vg.Point{X: left - descent})
		yBoxes = append(yBoxes, placedBox{y: a.y.norm(0.5 * (a.y.high + a.y.low)), Rectangle: box})
		left += descent + labelApart
	}
	tickHeight, tickWidth := vg.Length(0), vg.Length(0)
	for _, t := range a.x.ticks {
		if t.Label != "" {
			tickHeight = max(tickHeight, xTicks.Rectangle(t.Label).Size().Y)
		}
	}
	for _, t := range a.y.ticks {
		if t.Label != "" {
			tickWidth = max(tickWidth, yTicks.Rectangle(t.Label).Size().X)
		}
	}
	descent := xTicks.FontExtents().Descent
	for _, t := range a.x.ticks {
		if t.Label != "" {
			box := xTicks.Rectangle(t.Label).Add(vg.Point{Y: below + tickHeight + descent})
			xBoxes = append(xBoxes, placedBox{x: a.x.norm(t.At), Rectangle: box})
		}
	}
	extents := yTicks.FontExtents()
	for _, t := range a.y.ticks {
		if t.Label != "" {
			box := yTicks.Rectangle(t.Label).Add(vg.Point{X: left + tickWidth, Y: extents.Height - extents.Ascent})
			yBoxes = append(yBoxes, placedBox{y: a.y.norm(t.At), Rectangle: box})
		}
	}
	width, height := left+axisLine/2+dataApart, below+axisLine/2+dataApart
	if len(a.x.ticks) > 0 {
		height += tickLength + tickHeight
	}
	if len(a.y.ticks) > 0 {
		width += tickLength
		if tickWidth > 0 {
			width += tickWidth + yText.Width(" ")
		}
	}

	boxes := a.boxes()
	a.drawX(padX(boxes, xBoxes, vgdraw.Crop(c, width, 0, 0, 0)), xText, xTicks, tickHeight)
	a.drawY(padY(boxes, yBoxes, vgdraw.Crop(c, 0, 0, height, 0)), yText, yTicks, tickWidth)
	data := padY(boxes, yBoxes, padX(boxes, xBoxes, vgdraw.Crop(c, width, 0, height, 0)))
	for _, t := range a.y.ticks {
		if y := data.Y(a.y.norm(t.At)); t.Label != "" && y >= data.Min.Y && y <= data.Max.Y {
			data.StrokeLine2(vgdraw.LineStyle{Color: gridColour, Width: 0.25}, data.Min.X, y, data.Max.X, y)
		}
	}
	for _, m := range a.marks {
		m.draw(data, a)
	}
}

// boxes returns boxes around all that the marks draw within the axes.
func (a *axes) boxes() (all []placedBox) {
	for _, m := range a.marks {
		for _, r := range m.reach() {
			box := vg.Rectangle{Min: vg.Point{X: -r.wide, Y: -r.high}, Max: vg.Point{X: r.wide, Y: r.high}}
			b := placedBox{a.x.norm(r.x), a.y.norm(r.y), box}
			if b.x >= 0 && b.x <= 1 && b.y >= 0 && b.y <= 1 {
				all = append(all, b)
			}
		}
	}
	return all
}

// padX cuts from a canvas what boxes need at its sides, those of the axis to the right.
func padX(boxes, axis []placedBox, c vgdraw.Canvas) vgdraw.Canvas {
	left, right := placedBox{}, placedBox{x: 1}
	least, most := c.Min.X, c.Max.X
	for _, b := range boxes {
		if x := c.X(b.x) + b.Min.X; b.Size().X > 0 && x < least && b.x >= 0 {
			least, left = x, b
		}
	}
	for _, all := range [][]placedBox{boxes, axis} {
		for _, b := range all {
			if x := c.X(b.x) + b.Min.X + b.Size().X; b.Size().X > 0 && x > most && b.x <= 1 {
				most, right = x, b
			}
		}
	}
	c.Min.X, c.Max.X = padded(left.x, right.x, c.Min.X-left.Min.X, c.Max.X-(right.Min.X+right.Size().X))
	return c
}

// padY cuts from a canvas what boxes need below and above, those of the axis above.
func padY(boxes, axis []placedBox, c vgdraw.Canvas) vgdraw.Canvas {
	bottom, top := placedBox{}, placedBox{y: 1}
	least, most := c.Min.Y, c.Max.Y
	for _, b := range boxes {
		if y := c.Y(b.y) + b.Min.Y; b.Size().Y > 0 && y < least && b.y >= 0 {
			least, bottom = y, b
		}
	}
	for _, all := range [][]placedBox{boxes, axis} {
		for _, b := range all {
			if y := c.Y(b.y) + b.Min.Y + b.Size().Y; b.Size().Y > 0 && y > most && b.y <= 1 {
				most, top = y, b
			}
		}
	}
	c.Min.Y, c.Max.Y = padded(bottom.y, top.y, c.Min.Y-bottom.Min.Y, c.Max.Y-(top.Min.Y+top.Size().Y))
	return c
}

// padded returns the ends of an axis on which the shares from and to are at low and high.
func padded(from, to float64, low, high vg.Length) (first, last vg.Length) {
	f, t := vg.Length(from), vg.Length(to)
	return (f*high - t*low) / (f - t), ((f-1)*high - t*low + low) / (f - t)
}

// drawX draws the horizontal axis along the lower edge of a canvas.
func (a *axes) drawX(c vgdraw.Canvas, label, ticks text.Style, tickHeight vg.Length) {
	y := c.Min.Y
	if a.x.label != "" {
		c.FillText(label, vg.Point{X: c.Center().X, Y: y + label.FontExtents().Descent}, a.x.label)
		y += label.Height(a.x.label) + labelApart
	}
	for _, t := range a.x.ticks {
		if x := c.X(a.x.norm(t.At)); t.Label != "" && c.ContainsX(x) {
			c.FillText(ticks, vg.Point{X: x, Y: y + tickHeight + ticks.FontExtents().Descent}, t.Label)
		}
	}
	if len(a.x.ticks) == 0 {
		y += axisLine / 2
	} else {
		y += tickHeight
		for _, t := range a.x.ticks {
			if x := c.X(a.x.norm(t.At)); c.ContainsX(x) {
				c.StrokeLine2(axisStyle, x, y+shortened(t), x, y+tickLength)
			}
		}
		y += tickLength
	}
	c.StrokeLine2(axisStyle, c.Min.X, y, c.Max.X, y)
}

// drawY draws the vertical axis along the left edge of a canvas.
func (a *axes) drawY(c vgdraw.Canvas, label, ticks text.Style, tickWidth vg.Length) {
	x := c.Min.X
	if a.y.label != "" {
		turned, descent := label, label.FontExtents().Descent
		turned.Rotation = math.Pi / 2
		x += label.Height(a.y.label)
		c.FillText(turned, vg.Point{X: x - descent, Y: c.Center().Y}, a.y.label)
		x += descent + labelApart
	}
	x += tickWidth
	named := false
	for _, t := range a.y.ticks {
		if y := c.Y(a.y.norm(t.At)); t.Label != "" && c.ContainsY(y) {
			c.FillText(ticks, vg.Point{X: x, Y: y + ticks.FontExtents().Descent}, t.Label)
			named = true
		}
	}
	if named {
		x += ticks.Width(" ")
	}
	for _, t := range a.y.ticks {
		if y := c.Y(a.y.norm(t.At)); c.ContainsY(y) {
			c.StrokeLine2(axisStyle, x+shortened(t), y, x+tickLength, y)
		}
	}
	if len(a.y.ticks) > 0 {
		x += tickLength
	}
	c.StrokeLine2(axisStyle, x, c.Min.Y, x, c.Max.Y)
}

// shortened returns by how much a tick is shorter than one with a label.
func shortened(t tick) vg.Length {
	if t.Label == "" {
		return tickLength / 2
	}
	return 0
}

// at returns the place of values on a canvas.
func (a *axes) at(c *vgdraw.Canvas, p xy) vg.Point {
	return vg.Point{X: c.X(a.x.norm(p.x)), Y: c.Y(a.y.norm(p.y))}
}

// line joins places.
type line struct {
	places []xy
	vgdraw.LineStyle
}

func (l *line) reach() (all []reached) {
	for _, p := range l.places {
		all = append(all, reached{p, 0.5 * l.Width, 0.5 * l.Width})
	}
	return all
}

func (l *line) draw(c vgdraw.Canvas, a *axes) {
	var points []vg.Point
	for _, p := range l.places {
		points = append(points, a.at(&c, p))
	}
	c.StrokeLines(l.LineStyle, c.ClipLinesXY(points)...)
}

func (l *line) thumbnail(c *vgdraw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(l.LineStyle, c.Min.X, y, c.Max.X, y)
}

// points are shapes at places.
type points struct {
	places []xy
	vgdraw.GlyphStyle
}

func (s *points) reach() (all []reached) {
	for _, p := range s.places {
		all = append(all, reached{p, s.Radius, s.Radius})
	}
	return all
}

func (s *points) draw(c vgdraw.Canvas, a *axes) {
	for _, p := range s.places {
		c.DrawGlyph(s.GlyphStyle, a.at(&c, p))
	}
}

func (s *points) thumbnail(c *vgdraw.Canvas) { c.DrawGlyph(s.GlyphStyle, c.Center()) }

// bars are intervals up and down, each from low to high at x.
type bars struct {
	all    []bar
	colour color.Color
}

type bar struct{ x, low, high float64 }

const (
	barWidth = 0.9
	barCap   = 5 // the width of its ends
)

func (b *bars) reach() (all []reached) {
	for _, v := range b.all {
		for _, y := range []float64{v.low, v.high} {
			all = append(all, reached{xy{v.x, y}, barCap / 2.0, barWidth / 2})
		}
	}
	return all
}

func (b *bars) draw(c vgdraw.Canvas, a *axes) {
	style := vgdraw.LineStyle{Color: b.colour, Width: barWidth}
	for _, v := range b.all {
		low, high := a.at(&c, xy{v.x, v.low}), a.at(&c, xy{v.x, v.high})
		c.StrokeLines(style, c.ClipLinesY([]vg.Point{low, high})...)
		for _, end := range []vg.Point{low, high} {
			if c.Contains(end) {
				c.StrokeLine2(style, end.X-barCap/2.0, end.Y, end.X+barCap/2.0, end.Y)
			}
		}
	}
}

// thumbnail draws a bar as in the legend, for those of all curves.
func (b *bars) thumbnail(c *vgdraw.Canvas) {
	style := vgdraw.LineStyle{Color: b.colour, Width: barWidth}
	x, low, high := (c.Min.X+c.Max.X)/2, c.Min.Y+3, c.Max.Y-3
	c.StrokeLine2(style, x, low, x, high)
	for _, y := range []vg.Length{low, high} {
		c.StrokeLine2(style, x-2.5, y, x+2.5, y)
	}
}
