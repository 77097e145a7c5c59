// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/internal/text/visible"
)

// chart is a picture of curves. Colours and fonts follow the page's style, by class; a curve has the class c and its
// number modulo hues.
type chart struct {
	name   string // its content, for screen readers
	x, y   axis
	curves []curve
	wide   bool // as wide as the page: a chart over time
	// zero makes the y axis begin at 0, fixed keeps both ends of it as they are.
	zero, fixed bool
}

// curve is one curve of a chart.
type curve struct {
	name   string
	points []point
	step   bool    // each value holds until the next point
	dots   bool    // points are marked
	bare   bool    // they aren't joined
	line   []point // drawn in addition, as of a fit
	bound  bool    // a bound: dashed, in the colour of text
	hidden bool    // until its name is clicked
	hue    int
}

// class returns the class of the curve's colour.
func (v *curve) class() string {
	class := fmt.Sprintf("c%d", v.hue%hues)
	if v.bound {
		return "bound"
	} else if v.hue >= hues {
		class += " again"
	}
	return class
}

// point is a point of a curve; title is shown when the mouse rests on it.
type point struct {
	x, y  float64
	title string
}

// hues is the number of colours of curves.
const hues = len(theme.Series)

// usable reports whether a point can be drawn on the chart's axes.
func (c *chart) usable(p point) bool {
	return drawable(p.x, c.x.log) && drawable(p.y, c.y.log)
}

// drawable reports whether an axis can show a number: those beyond 10^100 it can't.
func drawable(x float64, log bool) bool {
	return math.Abs(x) <= 1e100 && (!log || x >= 1e-100)
}

// span sets the axes' ends to hold all points.
func (c *chart) span() {
	low, high := c.y.low, c.y.high
	c.x.empty()
	c.y.empty()
	for _, k := range c.curves {
		for _, p := range slices.Concat(k.points, k.line) {
			if !c.usable(p) {
				continue
			}
			c.x.hold(p.x)
			c.y.hold(p.y)
		}
	}
	if c.zero {
		c.y.low = min(c.y.low, 0)
	}
	c.x.widen()
	if c.fixed {
		c.y.low, c.y.high = low, high
		return
	}
	c.y.widen()
	if c.y.log {
		room := math.Pow(c.y.high/c.y.low, 0.04)
		c.y.low, c.y.high = c.y.low/room, c.y.high*room
		return
	}
	room := 0.05 * (c.y.high - c.y.low)
	if !c.zero || c.y.low < 0 {
		c.y.low -= room
	}
	c.y.high += room
}

// empty reports whether the chart has nothing to show.
func (c *chart) empty() bool {
	for _, k := range c.curves {
		for _, p := range k.points {
			if c.usable(p) {
				return false
			}
		}
	}
	return true
}

// svg draws the chart for a page and, all of it narrow enough, for a phone.
func (c *chart) svg() string {
	c.span()
	large := c.sized("chart", 600, 230)
	if c.wide {
		large = c.sized("chart wide", 1080, 270)
	}
	return large + c.sized("chart narrow", 360, 250)
}

// sized draws the chart in a size, once its axes have their ends.
func (c *chart) sized(class string, width, height float64) string {
	top, bottom := 10.0, height-42
	yTicks := c.y.ticks(bottom - top)
	longest := 0
	for _, t := range yTicks {
		longest = max(longest, len([]rune(t.Label)))
	}
	left, right := 26+7.2*float64(max(longest, 2)), width-14
	px := func(x float64) float64 { return left + (right-left)*c.x.position(x) }
	py := func(y float64) float64 { return bottom - (bottom-top)*c.y.position(y) }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="%s" viewBox="0 0 %g %g" role="img" aria-label="%s" preserveAspectRatio="xMidYMid meet">`, class, width, height, escape(c.name))
	b.WriteString(`<g class="grid">`)
	for _, t := range yTicks {
		y := py(t.At)
		fmt.Fprintf(&b, `<path d="M%s %sH%s"/><text class="end" x="%s" y="%s">%s</text>`, n1(left), n1(y), n1(right), n1(left-6), n1(y+4), escape(t.Label))
	}
	last := math.Inf(-1)
	for _, t := range c.x.ticks(right - left) {
		x, half := px(t.At), textWidth(t.Label)/2
		fmt.Fprintf(&b, `<path d="M%s %sV%s"/>`, n1(x), n1(top), n1(bottom))
		if middle := min(x, width-half-2); middle-half > last {
			fmt.Fprintf(&b, `<text class="middle" x="%s" y="%s">%s</text>`, n1(middle), n1(bottom+16), escape(t.Label))
			last = middle + half + 4
		}
	}
	b.WriteString("</g>")
	fmt.Fprintf(&b, `<path class="frame" d="M%s %sV%sH%s"/>`, n1(left), n1(top), n1(bottom), n1(right))
	fmt.Fprintf(&b, `<text class="label middle" x="%s" y="%s">%s</text>`, n1((left+right)/2), n1(height-6), escape(clipText(c.x.title(), int((right-left)/5.8))))
	fmt.Fprintf(&b, `<text class="label middle" transform="translate(12 %s) rotate(-90)">%s</text>`, n1((top+bottom)/2), escape(clipText(c.y.title(), int((bottom-top)/5.4))))
	for k, v := range c.curves {
		hidden := ""
		if v.hidden {
			hidden = ` hidden=""`
		}
		fmt.Fprintf(&b, `<g class="curve %s" data-curve="%d"%s>`, v.class(), k, hidden)
		c.draw(&b, v, px, py)
		b.WriteString("</g>")
	}
	b.WriteString("</svg>")
	return b.String()
}

func (c *chart) draw(b *strings.Builder, v curve, px, py func(float64) float64) {
	var path strings.Builder
	inside := func(y float64) float64 { return min(max(y, c.y.low), c.y.high) }
	lastY, open := "", false
	for _, p := range v.points {
		if !c.usable(p) {
			open = false
			continue
		}
		x, y := n1(px(p.x)), n1(py(inside(p.y)))
		switch {
		case !open:
			fmt.Fprintf(&path, "M%s %s", x, y)
		case v.step && y != lastY:
			fmt.Fprintf(&path, "H%sV%s", x, y)
		case v.step:
			fmt.Fprintf(&path, "H%s", x)
		default:
			fmt.Fprintf(&path, "L%s %s", x, y)
		}
		open, lastY = true, y
	}
	if !v.bare && path.Len() > 0 {
		fmt.Fprintf(b, `<path class="line" d="%s"><title>%s</title></path>`, path.String(), escape(v.name))
	}
	if n := len(v.line); n > 1 {
		a, z := v.line[0], v.line[n-1]
		fmt.Fprintf(b, `<path class="line" d="M%s %sL%s %s"/>`, n1(px(a.x)), n1(py(inside(a.y))), n1(px(z.x)), n1(py(inside(z.y))))
	}
	if !v.dots {
		return
	}
	for _, p := range v.points {
		if c.usable(p) {
			title := v.name
			if p.title != "" {
				title += ": " + p.title
			}
			fmt.Fprintf(b, `<path class="dot" d="%s"><title>%s</title></path>`, marker(v.hue, px(p.x), py(inside(p.y))), escape(title))
		}
	}
}

// marker returns the path of a mark at a place. Neighbouring hues have different shapes, for readers who can't
// distinguish the colours.
func marker(hue int, x, y float64) string {
	switch hue % 4 {
	case 1:
		return fmt.Sprintf("M%s %sh7v7h-7z", n1(x-3.5), n1(y-3.5))
	case 2:
		return fmt.Sprintf("M%s %sl4.5 8h-9z", n1(x), n1(y-5))
	case 3:
		return fmt.Sprintf("M%s %sl5 5l-5 5l-5-5z", n1(x), n1(y-5))
	}
	return fmt.Sprintf("M%s %sa4 4 0 1 0 8 0a4 4 0 1 0-8 0z", n1(x-4), n1(y))
}

// n1 prints a coordinate with one decimal at most.
func n1(x float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
}

// escape writes a plain text for an element or an attribute: none of its characters is markup, and each can be seen.
func escape(s string) string { return html.EscapeString(visible.Text(s, "\n\t")) }

// clipText shortens a text to n letters.
func clipText(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
