// SPDX-License-Identifier: MIT

package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/gapwise/gapwise/internal/text/words"
)

// ranking draws the objectives of algorithms on one axis, a row each, with the bound as
// a line that none can pass. The values are next to the names, where a narrow page begins.
type ranking struct {
	name  string
	axis  axis
	rows  []rank
	bound float64 // NaN: none
}

type rank struct {
	name string
	x    float64
	text string
	hue  int
	// group is the text of a heading above the first row of each group; "" for none.
	group string
}

// svg draws the ranking for a page and for a phone.
func (r *ranking) svg() string {
	return r.sized("chart wide", 1080) + r.sized("chart narrow", 400)
}

func (r *ranking) sized(class string, width float64) string {
	const rowHeight, top = 23.0, 8.0
	longest, widest := 4, 4 // letters of the names, and of their values
	r.axis.empty()
	for _, k := range r.rows {
		longest, widest = max(longest, min(24, len([]rune(k.name)))), max(widest, len([]rune(k.text)))
		longest = max(longest, len([]rune(k.group))-widest)
		if drawable(k.x, false) {
			r.axis.hold(k.x)
		}
	}
	if drawable(r.bound, false) {
		r.axis.low, r.axis.high = min(r.axis.low, r.bound), max(r.axis.high, r.bound)
	}
	r.axis.log = r.axis.low > 1e-90 && r.axis.high/r.axis.low > 30
	r.axis.widen()
	if r.axis.log {
		r.axis.low /= 1.1
		r.axis.high *= 1.1
	} else {
		room := 0.04 * (r.axis.high - r.axis.low)
		r.axis.low, r.axis.high = r.axis.low-room, r.axis.high+room
	}
	names := 16 + 7.4*float64(longest)
	left, right := names+14+7.4*float64(widest), width-24
	var at []float64 // the rows' places
	place := top
	heading := func(k int) bool {
		return r.rows[k].group != "" && (k == 0 || r.rows[k].group != r.rows[k-1].group)
	}
	for k := range r.rows {
		if heading(k) {
			place += rowHeight
		}
		at = append(at, place+rowHeight/2)
		place += rowHeight
	}
	bottom := place
	height := bottom + 44
	px := func(x float64) float64 { return left + (right-left)*r.axis.position(x) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="%s" viewBox="0 0 %s %s" role="img" aria-label="%s"><g class="grid">`, class, n1(width), n1(height), escape(r.name))
	for _, t := range r.axis.ticks(right - left) {
		fmt.Fprintf(&b, `<path d="M%s %sV%s"/><text class="middle" x="%s" y="%s">%s</text>`, n1(px(t.At)), n1(top), n1(bottom), n1(px(t.At)), n1(bottom+16), escape(t.Label))
	}
	fmt.Fprintf(&b, `</g><path class="frame" d="M%s %sV%sH%s"/>`, n1(left), n1(top), n1(bottom), n1(right))
	fmt.Fprintf(&b, `<text class="label middle" x="%s" y="%s">%s</text>`, n1((left+right)/2), n1(height-6), escape(r.axis.title()))
	known := drawable(r.bound, r.axis.log)
	for k, v := range r.rows {
		y := at[k]
		if heading(k) {
			fmt.Fprintf(&b, `<text class="label group" x="8" y="%s">%s</text>`, n1(y-rowHeight+4), escape(v.group))
		}
		fmt.Fprintf(&b, `<text class="end label" x="%s" y="%s">%s</text>`, n1(names-8), n1(y+4), escape(clipText(v.name, 24)))
		if !drawable(v.x, r.axis.log) {
			fmt.Fprintf(&b, `<text x="%s" y="%s">%s</text>`, n1(left+8), n1(y+4), map[bool]string{true: "no solution", false: words.Tidy(v.x)}[math.IsNaN(v.x)])
			continue
		}
		fmt.Fprintf(&b, `<g class="curve c%d">`, v.hue%hues)
		if known {
			fmt.Fprintf(&b, `<path class="rest" d="M%s %sH%s"/>`, n1(px(v.x)), n1(y), n1(px(r.bound)))
		}
		fmt.Fprintf(&b, `<path class="dot" d="%s"><title>%s: %s</title></path></g>`, marker(0, px(v.x), y), escape(v.name), escape(v.text))
		fmt.Fprintf(&b, `<text class="end" x="%s" y="%s">%s</text>`, n1(left-8), n1(y+4), escape(v.text))
	}
	if known {
		fmt.Fprintf(&b, `<g class="curve bound"><path class="line" d="M%s %sV%s"><title>bound %s</title></path></g>`, n1(px(r.bound)), n1(top), n1(bottom), words.Tidy(r.bound))
	}
	b.WriteString("</svg>")
	return b.String()
}
