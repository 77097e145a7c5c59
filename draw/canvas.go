package draw

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ErrFormat marks an unknown picture format.
var ErrFormat = errors.New("unknown picture format")

const (
	formatSVG = "svg"
	formatPNG = "png"

	// dpi makes a point two pixels, so that text in a PNG is crisp.
	dpi = 144
)

func checkFormat(format string) error {
	if format != formatSVG && format != formatPNG {
		return fmt.Errorf("draw: %w %q, must be svg or png", ErrFormat, format)
	}
	return nil
}

// canvas is a picture in one of the formats, its size in points.
type canvas struct {
	vg.CanvasWriterTo
	svg    bool
	height float64
	align  float64  // of the next text, see pen.text
	texts  []string // SVG: what to add to each text
}

func newCanvas(format string, width, height float64) *canvas {
	w, h := vg.Points(width), vg.Points(height)
	if format == formatSVG {
		return &canvas{CanvasWriterTo: vgsvg.New(w, h), svg: true, height: height}
	}
	return &canvas{CanvasWriterTo: vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}, height: height}
}

// FillString writes text. In a PNG the kerning between ones, rounded to whole
// pixels, would push them into each other, so they are drawn apart.
func (c *canvas) FillString(f font.Face, at vg.Point, s string) {
	align, width := c.align, face{f, 0}.width(s)
	c.align = 0
	if c.svg {
		anchor := ""
		if align > 0 {
			anchor = map[bool]string{false: ` text-anchor="middle"`, true: ` text-anchor="end"`}[align == 1]
		}
		c.texts = append(c.texts, fmt.Sprintf(`<text textLength="%.4g" lengthAdjust="spacingAndGlyphs"%s `, max(width, 0.01), anchor))
		c.CanvasWriterTo.FillString(f, at, s)
		return
	}
	at.X -= vg.Points(align * width)
	s = strings.Map(func(r rune) rune { // a browser has other fonts for these
		if !(face{f, 0}).has(r) {
			return '?'
		}
		return r
	}, s)
	for _, part := range parts(s) {
		c.CanvasWriterTo.FillString(f, at, part)
		at.X += f.Width(part)
	}
}

// write ends the picture. In an SVG it adds what vgsvg doesn't write, so that
// the picture looks the same where the font Liberation isn't installed
// (embedding it would take half a megabyte): fonts of the same widths, the
// width and the anchor of each text; and a title for screen readers. The
// replaced patterns can't come from a label, whose quotes and brackets are
// escaped.
func (c *canvas) write(w io.Writer, title string) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	if c.svg {
		const head, text = "http://www.w3.org/1999/xlink\">\n", "<text "
		s := strings.Replace(b.String(), head, head+"<title>"+html.EscapeString(title)+"</title>\n", 1)
		s = strings.ReplaceAll(s, `style="font-family:Liberation Sans;`, `style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`)
		b.Reset()
		for k, part := range strings.Split(s, text) {
			if k > 0 {
				b.WriteString(c.texts[k-1])
			}
			b.WriteString(part)
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	return nil
}

// pen draws in points from the upper left corner, y downwards.
type pen struct{ c *canvas }

func (c *canvas) pen() pen { return pen{c} }

type rect struct{ x, y, w, h float64 }

func (p pen) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Points(x), Y: vg.Points(p.c.height - y)}
}

func (p pen) box(path vg.Path, r rect) vg.Path {
	path.Move(p.at(r.x, r.y))
	path.Line(p.at(r.x+r.w, r.y))
	path.Line(p.at(r.x+r.w, r.y+r.h))
	path.Line(p.at(r.x, r.y+r.h))
	path.Close()
	return path
}

// fill paints rectangles as one shape, in a PNG as several if they are many:
// its rasteriser's time grows with the square of the edges on a line of pixels.
func (p pen) fill(c color.Color, rects ...rect) {
	const most = 128
	for !p.c.svg && len(rects) > most {
		p.fill(c, rects[:most]...)
		rects = rects[most:]
	}
	if len(rects) == 0 {
		return
	}
	path := make(vg.Path, 0, 5*len(rects))
	for _, r := range rects {
		path = p.box(path, r)
	}
	p.c.SetColor(c)
	p.c.Fill(path)
}

// outline draws a rectangle's edge on its inner side.
func (p pen) outline(c color.Color, width float64, r rect) {
	p.c.SetColor(c)
	p.c.SetLineWidth(vg.Points(width))
	p.c.SetLineDash(nil, 0)
	p.c.Stroke(p.box(nil, rect{r.x + width/2, r.y + width/2, r.w - width, r.h - width}))
}

func (p pen) line(c color.Color, width float64, x0, y0, x1, y1 float64, dashes ...vg.Length) {
	var path vg.Path
	path.Move(p.at(x0, y0))
	path.Line(p.at(x1, y1))
	p.c.SetColor(c)
	p.c.SetLineWidth(vg.Points(width))
	p.c.SetLineDash(dashes, 0)
	p.c.Stroke(path)
}

// text writes s with its baseline at y. align is the share of its width that is
// left of x: 0, 0.5 or 1.
func (p pen) text(f face, c color.Color, x, y, align float64, s string) {
	if s == "" {
		return
	}
	p.c.SetColor(c)
	p.c.align = align
	p.c.FillString(f.Face, p.at(x, y), s)
}
