// SPDX-License-Identifier: MIT

// Package theme holds the design values of pictures and pages: each colour once, for
// light and for dark. What a colour means, it means everywhere. What carries no meaning
// is drawn in tints of one hue, Plain, with a clear edge.
package theme

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// Colour is a colour on light and on dark paper. As a color.Color it is the first.
type Colour struct{ Light, Dark color.RGBA }

// RGBA returns the colour on light paper, as color.Color has it.
func (c Colour) RGBA() (r, g, b, a uint32) { return c.Light.RGBA() }

// pair returns a colour of two values 0xRRGGBB.
func pair(light, dark uint32) Colour { return Colour{rgb(light), rgb(dark)} }

func rgb(x uint32) color.RGBA { return color.RGBA{uint8(x >> 16), uint8(x >> 8), uint8(x), 255} }

// The surface, and text on it.
var (
	Paper      = pair(0xFFFFFF, 0x171D26) // behind pictures and sections
	Ground     = pair(0xF5F6F8, 0x0F141B) // of a page, behind its sections
	Ink        = pair(0x1B2430, 0xE6EBF2) // text
	Soft       = pair(0x566270, 0xA3AFBD) // text of less weight, axes
	Line       = pair(0xD9DEE5, 0x313B48) // grids and borders
	Faint      = pair(0xF1F3F6, 0x232B36) // rows and tracks
	Accent     = pair(0x0B5FAE, 0x7CB8F5) // links and buttons of a page
	AccentSoft = pair(0xE3EEFA, 0x1D3047)
)

// Colours with a meaning: it is the same in all pictures, and nothing else wears them.
var (
	Critical   = pair(0xA8141F, 0xF26A90) // on the critical path: it holds the makespan up
	Tight      = pair(0xB85A1E, 0xFE9B15) // full, or held down by what is: a host, a link, a window
	Moved      = pair(0x00635B, 0x90DAA0) // elsewhere than before
	Declined   = pair(0x680395, 0xAC67EF) // rejected, refused, not kept
	Waiting    = pair(0xC8880C, 0xF9E03F) // submitted and not started
	Suspended  = pair(0x6E4F12, 0xC9962F) // started, and waiting again
	Background = pair(0x91917C, 0x78743A) // the second tier of processors
	Bound      = Ink                      // what no solution beats; its lines are dashed
	Plain      = pair(0x2F6BA6, 0x7FB0E0) // the hue of all that carries no meaning, and of its edges
)

// Shares holds the colours of shares: none, up to a quarter, a half, three quarters, and
// more.
var Shares = [5]Colour{pair(0xF1F3F6, 0x232B36), pair(0xC9DDF0, 0x1F3F5F),
	pair(0x86B4DC, 0x2F699D), pair(0x3D7DB9, 0x63A5DE), pair(0x0D3F70, 0xBEDFFF)}

// Series holds the colours of curves, whose markers and dashes differ, too. Of neighbours,
// no two look alike.
var Series = [7]Colour{pair(0x1261DB, 0x6E97DA), pair(0xA23A06, 0xE06A24), pair(0x3F937C, 0x7DB590), pair(0x2A0E93, 0x8567E8),
	pair(0x97346F, 0xCB4E88), pair(0x927517, 0xEACC56), pair(0x0F91D3, 0x71C9FA)}

// Busy is what is in use, all together.
var Busy = Mix(Plain, Paper, 0.35)

// tints holds the shares of paper in the tints of a hue: of neighbours, they differ.
var tints = [...]float64{0.52, 0.8, 0.62, 0.72}

// Tints is the number of tints of a hue.
const Tints = len(tints)

// Tint returns a tint of a hue, in which things without a meaning are told apart. Tint k
// is tint k + Tints. Ink on it has a contrast of 4.5 at least, the hue itself is its
// edge.
func Tint(hue Colour, k int) Colour { return Mix(hue, Paper, tints[((k%Tints)+Tints)%Tints]) }

// Pale returns a colour with a meaning as the ground of a label.
func Pale(c Colour) Colour { return Mix(c, Paper, 0.8) }

// Mix returns a colour between a and b: the given share of b, the rest of a.
func Mix(a, b Colour, share float64) Colour {
	m := func(x, y uint8) uint8 { return uint8(math.Round(float64(x)*(1-share) + float64(y)*share)) }
	one := func(x, y color.RGBA) color.RGBA { return color.RGBA{m(x.R, y.R), m(x.G, y.G), m(x.B, y.B), 255} }
	return Colour{one(a.Light, b.Light), one(a.Dark, b.Dark)}
}

// Hex returns a colour as #RRGGBB.
func Hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// Fonts of pages, which have no other than those of the system. Pictures are in
// Liberation Sans, which is as wide as Arial.
const (
	Sans = `system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif`
	Mono = `ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace`
)

// value is a variable of the style sheet.
type value struct {
	name string
	Colour
}

// values lists the colours in the order of the style sheet.
func values() []value {
	all := []value{{"paper", Paper}, {"ground", Ground}, {"ink", Ink}, {"soft", Soft}, {"line", Line}, {"faint", Faint},
		{"accent", Accent}, {"accent-soft", AccentSoft},
		{"critical", Critical}, {"tight", Tight}, {"moved", Moved}, {"declined", Declined}, {"waiting", Waiting},
		{"suspended", Suspended},
		{"background", Background}, {"bound", Bound}, {"plain", Plain}, {"busy", Busy}}
	for k := range Tints {
		all = append(all, value{fmt.Sprint("tint-", k), Tint(Plain, k)})
	}
	for k, c := range Shares {
		all = append(all, value{fmt.Sprint("share-", k), c})
	}
	for k, c := range Series {
		all = append(all, value{fmt.Sprint("series-", k), c})
	}
	return all
}

// CSS returns the values as variables of a style sheet, --ink and so on. Which of the
// two colours holds, the reader's system says, or data-theme of the root element, light
// or dark. Paper that is printed on is light.
func CSS() string {
	var b strings.Builder
	b.WriteString(":root {\n  color-scheme: light dark;\n")
	for _, v := range values() {
		light, dark := strings.ToLower(Hex(v.Light)), strings.ToLower(Hex(v.Dark))
		fmt.Fprintf(&b, "  --%s: light-dark(%s, %s);\n", v.name, light, dark)
	}
	fmt.Fprintf(&b, "  --sans: %s;\n  --mono: %s;\n}\n", Sans, Mono)
	b.WriteString(":root[data-theme=\"light\"] { color-scheme: light; }\n:root[data-theme=\"dark\"] { color-scheme: dark; }\n")
	b.WriteString("@media print { :root, :root[data-theme] { color-scheme: light; } }\n")
	return b.String()
}
