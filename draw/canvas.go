// SPDX-License-Identifier: MIT

package draw

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/model"
)

// errFormat marks an unknown picture format.
var errFormat = errors.New("unknown picture format")

const (
	formatSVG = "svg"
	formatPNG = "png"
	formatPDF = "pdf"

	// defaultDPI makes a point two pixels, so that text in a PNG is crisp.
	defaultDPI = 144
)

// canvas is a picture in one of the formats, its size in points of the layout,
// see Style.zoom.
type canvas struct {
	vg.CanvasWriterTo
	format string
	zoom   float64
	// of the layout
	width, height float64
	align         float64  // of the next text, see pen.text
	texts         []string // SVG: an addition to each text
	dark          bool
	// SVG: the dark colours of those that are used, and the order of the first use
	darker map[color.RGBA]color.RGBA
	used   []color.RGBA
}

// newCanvas returns a canvas for a layout. The error is model.ErrInvalid for a PNG
// of too many pixels.
func newCanvas(s Style, width, height float64) (*canvas, error) {
	c := &canvas{format: s.Format, zoom: s.zoom(), width: width, height: height, dark: s.Dark,
		darker: map[color.RGBA]color.RGBA{}}
	w, h := vg.Points(width), vg.Points(height)
	switch s.Format {
	case formatSVG:
		c.CanvasWriterTo = vgsvg.New(w, h)
	case formatPDF:
		c.CanvasWriterTo = newPDF(width*c.zoom, height*c.zoom, c.zoom)
	default:
		dpi := max(int(math.Round(cmp.Or(s.DPI, defaultDPI)*c.zoom)), 1)
		if most := cmp.Or(s.MostPixels, mostPixels); width*height*float64(dpi*dpi)/72/72 > most {
			return nil, fmt.Errorf("draw: %w picture: it has more than %.3g million pixels, give a lower resolution or a smaller size", model.ErrInvalid, most/1e6)
		}
		c.CanvasWriterTo = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}
	}
	return c, nil
}

// picture writes a picture that paint draws on white.
func (s Style) picture(w io.Writer, title string, width, height float64, paint func(pen)) error {
	c, err := newCanvas(s, width, height)
	if err != nil {
		return err
	}
	p := c.pen()
	p.fill(white, rect{0, 0, width, height})
	paint(p)
	return c.write(w, title)
}

// Size returns the size of the layout, whatever the size of the picture is.
func (c *canvas) Size() (w, h vg.Length) { return vg.Points(c.width), vg.Points(c.height) }

// SetColor takes the side of a colour that the paper asks for. An SVG keeps the other,
// too, see darkStyle.
func (c *canvas) SetColor(x color.Color) {
	two, ok := x.(theme.Colour)
	switch {
	case !ok:
	case c.dark:
		x = two.Dark
	default:
		x = two.Light
		if _, seen := c.darker[two.Light]; !seen && c.format == formatSVG {
			c.darker[two.Light] = two.Dark
			c.used = append(c.used, two.Light)
		}
	}
	c.CanvasWriterTo.SetColor(x)
}

// darkStyle returns the style sheet of an SVG that makes it dark where its surroundings
// are. Programs that know no such rules draw it light.
func (c *canvas) darkStyle() string {
	if c.dark || len(c.used) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<style>@media (prefers-color-scheme: dark) {\n")
	for _, light := range c.used {
		for _, what := range []string{"fill", "stroke"} {
			fmt.Fprintf(&b, `[style*="%s:%s"]{%s:%s!important}`, what, theme.Hex(light), what, theme.Hex(c.darker[light]))
		}
		b.WriteString("\n")
	}
	b.WriteString("}</style>\n")
	return b.String()
}

// FillString writes text. Kerning between ones, rounded to whole pixels, would push them into each other in a PNG, so
// they are drawn apart.
func (c *canvas) FillString(f font.Face, at vg.Point, s string) {
	align, width := c.align, face{f, 0}.width(s)
	c.align = 0
	if c.format == formatSVG {
		anchor := ""
		if align > 0 {
			anchor = map[bool]string{false: ` text-anchor="middle"`, true: ` text-anchor="end"`}[align == 1]
		}
		c.texts = append(c.texts, fmt.Sprintf(`<text textLength="%.4g" lengthAdjust="spacingAndGlyphs"%s `,
			max(width, 0.01), anchor))
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
	if c.format == formatPDF {
		c.CanvasWriterTo.FillString(f, at, s)
		return
	}
	for _, part := range parts(s) {
		c.CanvasWriterTo.FillString(f, at, part)
		at.X += f.Width(part)
	}
}

// write ends the picture. It adds to an SVG some things that vgsvg leaves out, so that it looks the same where the font
// Liberation isn't installed (embedding it would take half a megabyte): fonts of the same widths, the width and the
// anchor of each text, and a title for screen readers. The replaced patterns can't come from a label, as its quotes and
// brackets are escaped.
func (c *canvas) write(w io.Writer, title string) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	if c.format == formatSVG {
		if c.zoom != 1 {
			b = *bytes.NewBufferString(c.resize(b.String()))
		}
		const head, text = "http://www.w3.org/1999/xlink\">\n", "<text "
		title = "<title>" + html.EscapeString(visible.Text(title, "")) + "</title>\n"
		s := strings.Replace(b.String(), head, head+title+c.darkStyle(), 1)
		s = strings.ReplaceAll(s, `style="font-family:Liberation Sans;`,
			`style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`)
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

// resize gives an SVG its size, which the coordinates of its content don't show.
func (c *canvas) resize(svg string) string {
	const head = "<svg "
	from := strings.Index(svg, head) + len(head)
	to := from + strings.Index(svg[from:], " viewBox")
	return fmt.Sprintf(`%swidth="%.5gpt" height="%.5gpt"%s`, svg[:from], c.width*c.zoom, c.height*c.zoom, svg[to:])
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

// fill paints rectangles as one shape, in a PNG as several if they are many. The PNG rasteriser's time grows with the
// square of the edges on a line of pixels.
func (p pen) fill(c color.Color, rects ...rect) {
	const most = 128
	for p.c.format == formatPNG && len(rects) > most {
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
