// SPDX-License-Identifier: MIT

package draw

import (
	"math"

	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// marker is one of five shapes (circle, square, triangle, diamond, inverted
// triangle), filled, or open and white inside.
type marker struct {
	shape int
	open  bool
}

// DrawGlyph draws it.
func (m marker) DrawGlyph(c *vgdraw.Canvas, style vgdraw.GlyphStyle, at vg.Point) {
	r := style.Radius
	if m.open { // the edge's other half is outside
		r -= 0.4
	}
	var path vg.Path
	if m.shape == 0 {
		path.Move(vg.Point{X: at.X + r, Y: at.Y})
		path.Arc(at, r, 0, 2*math.Pi)
	} else {
		// The shapes look equally large.
		corners, from, size := 4, math.Pi/4, 1.22
		switch m.shape {
		case 2:
			corners, from, size = 3, math.Pi/2, 1.4
		case 3:
			from, size = 0, 1.32
		case 4:
			corners, from, size = 3, -math.Pi/2, 1.4
		}
		for k := range corners {
			sin, cos := math.Sincos(from + 2*math.Pi*float64(k)/float64(corners))
			p := vg.Point{X: at.X + r*vg.Length(size*cos), Y: at.Y + r*vg.Length(size*sin)}
			if k == 0 {
				path.Move(p)
			} else {
				path.Line(p)
			}
		}
	}
	path.Close()
	if !m.open {
		c.SetColor(style.Color)
		c.Fill(path)
		return
	}
	c.SetColor(white)
	c.Fill(path)
	c.SetColor(style.Color)
	c.SetLineWidth(1.2)
	c.SetLineDash(nil, 0)
	c.Stroke(path)
}
