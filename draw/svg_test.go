// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
)

// path and text are the parts of an SVG of vgsvg.
type path struct{ D, Style string }

type text struct {
	X, Y, Width, Size float64
	Anchor, Value     string
}

type picture struct {
	width, height float64
	title         string
	paths         []path
	texts         []text
}

// parse reads an SVG; it must be well-formed XML with an svg element at the root.
func parse(t testing.TB, svg []byte) picture {
	t.Helper()
	var p picture
	d := xml.NewDecoder(bytes.NewReader(svg))
	root := true
	attr := func(e xml.StartElement, name string) string {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	num := func(s string) (x float64) {
		require.OK(t, require.Err(fmt.Sscan(strings.TrimSuffix(s, "pt"), &x)), s)
		return x
	}
	for {
		tok, err := d.Token()
		if tok == nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			return p
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		require.Is(t, e.Name.Local == "svg", root, "element", e.Name.Local, "root")
		root = false
		switch e.Name.Local {
		case "svg":
			p.width, p.height = num(attr(e, "width")), num(attr(e, "height"))
		case "title":
			require.OK(t, d.DecodeElement(&p.title, &e))
		case "path":
			p.paths = append(p.paths, path{attr(e, "d"), attr(e, "style")})
		case "text":
			x := text{X: num(attr(e, "x")), Y: -num(attr(e, "y")), Width: num(attr(e, "textLength")), Anchor: attr(e, "text-anchor")}
			if _, size, ok := strings.Cut(attr(e, "style"), "font-size:"); ok {
				x.Size = num(size[:strings.Index(size, "px")])
			}
			require.OK(t, d.DecodeElement(&x.Value, &e))
			p.texts = append(p.texts, x)
		}
	}
}

// span is where a text is from left to right.
func (x text) span() (left, right float64) {
	left = x.X - map[string]float64{"": 0, "middle": 0.5, "end": 1}[x.Anchor]*x.Width
	return left, left + x.Width
}

func (p picture) values() []string {
	var all []string
	for _, x := range p.texts {
		all = append(all, x.Value)
	}
	return all
}

// fills counts the filled rectangles by colour.
func (p picture) fills() map[string]int {
	n := map[string]int{}
	for _, x := range p.paths {
		if c, ok := strings.CutPrefix(x.Style, "fill:#"); ok {
			n[c] += strings.Count(x.D, "Z")
		}
	}
	return n
}

// bars are the rectangles that are no background: it and the grid are the grey
// tints. The heads of arrows aren't any either.
func (p picture) bars() int {
	n := 0
	for c, k := range p.fills() {
		if !slices.Contains([]string{hex(theme.Paper), hex(theme.Faint), hex(theme.Mix(theme.Faint, theme.Plain, 0.03)), hex(theme.Line), hex(theme.Ink), hex(theme.Soft), hex(theme.Critical)}, c) {
			n += k
		}
	}
	return n
}

// hex returns a colour as a picture on light paper has it, tint the colour of a thing.
func hex(c theme.Colour) string { return theme.Hex(c.Light)[1:] }
func tint(k int) string         { return hex(theme.Tint(theme.Plain, k)) }

// options returns the options of a picture of everything.
func options(format string) draw.Options { return draw.Options{Style: draw.Style{Format: format}} }

func gantt(t testing.TB, format, title string, panels []draw.Panel) []byte {
	t.Helper()
	var b bytes.Buffer
	require.OK(t, draw.Gantt(&b, options(format), title, panels))
	return b.Bytes()
}

func size(t testing.TB, b []byte) (w, h int) {
	t.Helper()
	m := require.Value(png.Decode(bytes.NewReader(b)))(t)
	return m.Bounds().Dx(), m.Bounds().Dy()
}

// reporter is a *testing.T or a *rapid.T.
type reporter interface {
	Helper()
	Errorf(string, ...any)
}

// noOverlap checks that the boxes of texts, from capitals to descenders, are apart and within the picture.
func noOverlap(t reporter, p picture) {
	t.Helper()
	for i, a := range p.texts {
		al, ar := a.span()
		if al < 0 || ar > p.width || a.Y < 0 || a.Y > p.height {
			t.Errorf("%q is at %v to %v, %v, outside of %v × %v", a.Value, al, ar, a.Y, p.width, p.height)
		}
		for _, b := range p.texts[:i] {
			if bl, br := b.span(); al < br && bl < ar && a.Y-0.72*a.Size < b.Y+0.2*b.Size && b.Y-0.72*b.Size < a.Y+0.2*a.Size {
				t.Errorf("%q (%v to %v, %v) lies on %q (%v to %v, %v)", a.Value, al, ar, a.Y, b.Value, bl, br, b.Y)
			}
		}
	}
}

// texts compares a picture's texts with the wanted ones, and with a part that none may have.
func texts(t *testing.T, p picture, want []string, never string) {
	t.Helper()
	for _, x := range want {
		if !slices.Contains(p.values(), x) {
			t.Errorf("no text %q in %q", x, p.values())
		}
	}
	for _, x := range p.values() {
		if never != "" && strings.Contains(x, never) {
			t.Errorf("there is a text %q", x)
		}
	}
}

// finite looks for coordinates that aren't numbers.
func finite(t *testing.T, p picture) {
	t.Helper()
	for _, x := range p.paths {
		if strings.Contains(x.D, "NaN") || strings.Contains(x.D, "Inf") {
			t.Errorf("path %q", x.D)
		}
	}
}
