// SPDX-License-Identifier: MIT

package draw

import (
	"math"
	"sort"
	"strconv"
	"strings"

	_ "gonum.org/v1/plot" // fills the font cache
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"github.com/gapwise/gapwise/internal/text/scale"
	"github.com/gapwise/gapwise/internal/text/words"
)

// capHeight is the height of a capital of Liberation Sans, lineHeight the room
// that a line of text takes, in sizes of the font.
const (
	capHeight  = 0.72
	lineHeight = 1.2
)

// sans returns the font of all pictures. Bold is
// golang.org/x/image/font.WeightBold.
func sans(size float64, bold bool) font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = 3
	}
	return f
}

// face is a font that can be measured.
type face struct {
	font.Face
	size float64
}

func newFace(size float64, bold bool) face {
	return face{font.DefaultCache.Lookup(sans(size, bold), vg.Points(size)), size}
}

// width returns the width of s in points.
func (f face) width(s string) float64 {
	w := 0.0
	for _, part := range parts(s) {
		w += f.Width(part).Points()
	}
	return w
}

// parts cuts s between ones, see canvas.FillString.
func parts(s string) []string {
	var all []string
	for {
		cut := strings.Index(s, "11")
		if cut < 0 {
			return append(all, s)
		}
		all, s = append(all, s[:cut+1]), s[cut+1:]
	}
}

// has reports whether the font has a glyph for r.
func (f face) has(r rune) bool {
	glyph, err := f.Face.Face.GlyphIndex(nil, r)
	return err == nil && glyph != 0
}

// shorten cuts a name to a width, in its middle: names differ at their ends.
func (f face) shorten(name string, width float64) string {
	if f.width(name) <= width {
		return name
	}
	n := sort.Search(len([]rune(name)), func(n int) bool { return n > 0 && f.width(words.Shorten(name, n)) > width })
	if n <= 2 {
		return ""
	}
	return words.Shorten(name, n-1)
}

// clip cuts a sentence to a width, an ellipsis at its end.
func (f face) clip(s string, width float64) string {
	if f.width(s) <= width {
		return s
	}
	r := []rune(s)
	n := sort.Search(len(r), func(n int) bool { return f.width(string(r[:n])+"…") > width })
	if n <= 1 {
		return ""
	}
	return strings.TrimRight(string(r[:n-1]), " ") + "…"
}

// tick is a labelled place on an axis.
type tick = scale.Tick

// axisOf returns the axis from low to high, low < high, which is so many points long
// and has labels of a font.
func axisOf(low, high, length float64, f face) scale.Axis {
	return scale.Axis{Low: low, High: high, Length: length, Width: f.width}
}

// ticks divides an axis as finely as the labels leave room.
func ticks(low, high, length float64, f face) []tick {
	return axisOf(low, high, length, f).Linear(0, number)
}

// number prints a multiple of a step.
func number(x, step float64) string {
	if x == 0 {
		return "0"
	}
	if math.Abs(x) < 1e7 && step >= 1e-4 {
		return strconv.FormatFloat(x, 'f', max(0, -int(math.Floor(math.Log10(step)+1e-9))), 64)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}
