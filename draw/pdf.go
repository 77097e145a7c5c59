// SPDX-License-Identifier: MIT

package draw

import (
	"bytes"
	"image"
	"image/color"
	"io"
	"math"
	"sync"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// pdfCanvas draws on a page of a PDF with only the glyphs in use. The vgpdf of gonum has one font a document (every one
// is the file "font.z" in it). Its fonts lack Greek, arrows and the like, and are whole in each picture.
type pdfCanvas struct {
	doc    *fpdf.Fpdf
	height float64 // of the page in points
	stack  []pdfState
}

// pdfState is the state that Push keeps. It is an affine map (x, y) to (a x + c y + e, b x + d y + f), in points from
// the lower left corner.
type pdfState struct{ a, b, c, d, e, f float64 }

// plainPDF makes the same picture the same bytes: without the time of writing,
// and with the fonts in order.
var plainPDF = sync.OnceFunc(func() {
	fpdf.SetDefaultCatalogSort(true)
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
})

// pdfFonts returns the bytes of the normal and the bold font.
var pdfFonts = sync.OnceValue(func() [2][]byte {
	var all [2][]byte
	for k, bold := range []bool{false, true} {
		var b bytes.Buffer
		if _, err := newFace(labelSize, bold).Face.Face.WriteSourceTo(nil, &b); err == nil { // a Buffer takes everything
			all[k] = b.Bytes()
		}
	}
	return all
})

// newPDF returns a page of the given size in points, on which a point is zoom
// points.
func newPDF(width, height, zoom float64) *pdfCanvas {
	plainPDF()
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width, Ht: height}})
	doc.SetMargins(0, 0, 0)
	doc.SetAutoPageBreak(false, 0)
	fonts := pdfFonts()
	doc.AddUTF8FontFromBytes("sans", "", fonts[0])
	doc.AddUTF8FontFromBytes("sans", "B", fonts[1])
	doc.AddPage()
	return &pdfCanvas{doc: doc, height: height, stack: []pdfState{{a: zoom, d: zoom}}}
}

func (c *pdfCanvas) top() *pdfState { return &c.stack[len(c.stack)-1] }

// at returns the place of a point, from the upper left corner.
func (c *pdfCanvas) at(p vg.Point) (x, y float64) {
	s := c.top()
	px, py := p.X.Points(), p.Y.Points()
	return s.a*px + s.c*py + s.e, c.height - (s.b*px + s.d*py + s.f)
}

// size returns how long a length is on the page. The maps scale both axes alike.
func (c *pdfCanvas) size(l vg.Length) float64 {
	return math.Hypot(c.top().a, c.top().b) * l.Points()
}

func (c *pdfCanvas) SetLineWidth(w vg.Length) { c.doc.SetLineWidth(c.size(w)) }

func (c *pdfCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	dashes := make([]float64, len(pattern))
	for k := range pattern {
		dashes[k] = c.size(pattern[k])
	}
	c.doc.SetDashPattern(dashes, c.size(offset))
}

func (c *pdfCanvas) SetColor(x color.Color) {
	r, g, b, _ := x.RGBA()
	c.doc.SetFillColor(int(r>>8), int(g>>8), int(b>>8))
	c.doc.SetDrawColor(int(r>>8), int(g>>8), int(b>>8))
	c.doc.SetTextColor(int(r>>8), int(g>>8), int(b>>8))
}

func (c *pdfCanvas) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	s := *c.top()
	*c.top() = pdfState{a: s.a*cos + s.c*sin, b: s.b*cos + s.d*sin, c: -s.a*sin + s.c*cos, d: -s.b*sin + s.d*cos, e: s.e, f: s.f}
}

func (c *pdfCanvas) Translate(p vg.Point) {
	x, y := c.at(p)
	c.top().e, c.top().f = x, c.height-y
}

func (c *pdfCanvas) Scale(x, y float64) {
	s := c.top()
	s.a, s.b, s.c, s.d = s.a*x, s.b*x, s.c*y, s.d*y
}

func (c *pdfCanvas) Push() { c.stack = append(c.stack, *c.top()) }
func (c *pdfCanvas) Pop()  { c.stack = c.stack[:len(c.stack)-1] }

func (c *pdfCanvas) Stroke(p vg.Path) { c.path(p, "D") }
func (c *pdfCanvas) Fill(p vg.Path)   { c.path(p, "F") }

func (c *pdfCanvas) path(p vg.Path, style string) {
	for _, x := range p {
		switch x.Type {
		case vg.MoveComp:
			c.doc.MoveTo(c.at(x.Pos))
		case vg.LineComp:
			c.doc.LineTo(c.at(x.Pos))
		case vg.CloseComp:
			c.doc.ClosePath()
		case vg.ArcComp:
			c.arc(x)
		}
	}
	c.doc.DrawPath(style)
}

// arc draws a part of a circle as cubic curves of an eighth of it at most, which
// differ from it by less than a millionth of the radius.
func (c *pdfCanvas) arc(x vg.PathComp) {
	n := max(int(math.Ceil(math.Abs(x.Angle)/(math.Pi/4)-1e-9)), 1)
	step := x.Angle / float64(n)
	long := vg.Length(4.0 / 3 * math.Tan(step/4))
	point := func(angle float64, along vg.Length) vg.Point {
		sin, cos := math.Sincos(angle)
		return vg.Point{X: x.Pos.X + x.Radius*(vg.Length(cos)-along*vg.Length(sin)), Y: x.Pos.Y + x.Radius*(vg.Length(sin)+along*vg.Length(cos))}
	}
	c.doc.LineTo(c.at(point(x.Start, 0)))
	for k := range n {
		from, to := x.Start+step*float64(k), x.Start+step*float64(k+1)
		x0, y0 := c.at(point(from, long))
		x1, y1 := c.at(point(to, -long))
		x2, y2 := c.at(point(to, 0))
		c.doc.CurveBezierCubicTo(x0, y0, x1, y1, x2, y2)
	}
}

// FillString writes a text, turned as the map says.
func (c *pdfCanvas) FillString(f font.Face, p vg.Point, s string) {
	style := ""
	if f.Font.Weight > 0 {
		style = "B"
	}
	c.doc.SetFont("sans", style, c.size(f.Font.Size))
	x, y := c.at(p)
	angle := math.Atan2(c.top().b, c.top().a)
	if math.Abs(angle) < 1e-9 {
		c.doc.Text(x, y, s)
		return
	}
	c.doc.TransformBegin()
	c.doc.TransformRotate(angle*180/math.Pi, x, y)
	c.doc.Text(x, y, s)
	c.doc.TransformEnd()
}

// DrawImage does nothing: pictures have no images.
func (c *pdfCanvas) DrawImage(vg.Rectangle, image.Image) {}

// Size isn't asked for: canvas knows the layout's size.
func (c *pdfCanvas) Size() (w, h vg.Length) { return 0, 0 }

// WriteTo ends the document. It ignores how many bytes it writes.
func (c *pdfCanvas) WriteTo(w io.Writer) (int64, error) { return 0, c.doc.Output(w) }
