// SPDX-License-Identifier: MIT

package theme

import (
	"flag"
	"image/color"
	"math"
	"os"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

var update = flag.Bool("update", false, "write theme.css")

// theme.css is what pages take that Go doesn't write.
func TestStyleSheet(t *testing.T) {
	const file = "theme.css"
	want := "/* Written by go test ./internal/text/theme -update from theme.go. */\n" + CSS()
	if *update {
		require.OK(t, os.WriteFile(file, []byte(want), 0o644))
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s isn't that of theme.go: go test ./internal/text/theme -update", file)
	}
}

// linear is a colour as linear light, from 0 to 1.
type linear [3]float64

func light(c color.RGBA) (l linear) {
	for k, x := range [...]uint8{c.R, c.G, c.B} {
		if v := float64(x) / 255; v <= 0.04045 {
			l[k] = v / 12.92
		} else {
			l[k] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return l
}

// contrast is WCAG 2's contrast ratio.
func contrast(a, b color.RGBA) float64 {
	luminance := func(c color.RGBA) float64 {
		l := light(c)
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// sights are how people see: all colours, and without one kind of cones (Machado,
// Oliveira, Fernandes 2009, severity 1).
var sights = map[string][3][3]float64{
	"all":          {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// distance returns how different two colours look (Ottosson's Oklab): 0.02 is just seen,
// black and white are 1 apart.
func distance(a, b color.RGBA, sight [3][3]float64) float64 {
	lab := func(c color.RGBA) (out [3]float64) {
		l := light(c)
		var s linear
		for k := range s {
			s[k] = min(max(sight[k][0]*l[0]+sight[k][1]*l[1]+sight[k][2]*l[2], 0), 1)
		}
		x := math.Cbrt(0.4122214708*s[0] + 0.5363325363*s[1] + 0.0514459929*s[2])
		y := math.Cbrt(0.2119034982*s[0] + 0.6806995451*s[1] + 0.1073969566*s[2])
		z := math.Cbrt(0.0883024619*s[0] + 0.2817188376*s[1] + 0.6299787005*s[2])
		return [3]float64{0.2104542553*x + 0.7936177850*y - 0.0040720468*z, 1.9779984951*x - 2.4285922050*y + 0.4505937099*z, 0.0259040371*x + 0.7827717662*y - 0.8086757660*z}
	}
	p, q := lab(a), lab(b)
	return math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
}

// themes calls f with the light and with the dark side of colours.
func themes(f func(theme string, side func(Colour) color.RGBA)) {
	f("light", func(c Colour) color.RGBA { return c.Light })
	f("dark", func(c Colour) color.RGBA { return c.Dark })
}

// Any two colours of a set can be told apart by everyone.
func TestDifferent(t *testing.T) {
	meanings := []value{{"critical", Critical}, {"tight", Tight}, {"moved", Moved}, {"declined", Declined}, {"waiting", Waiting},
		{"background", Background}, {"plain", Plain}, {"a tint", Tint(Plain, 0)}, {"ink", Ink}, {"paper", Paper}}
	named := func(what string, all []Colour) (v []value) {
		for _, c := range all {
			v = append(v, value{what, c})
		}
		return v
	}
	tinted := []Colour{Paper, Plain}
	for k := range Tints {
		tinted = append(tinted, Tint(Plain, k))
	}
	for name, set := range map[string]struct {
		all   []value
		least float64
	}{
		"meanings": {meanings, 0.08},
		"waiting":  {[]value{{"waiting", Waiting}, {"suspended", Suspended}, {"half", Mix(Waiting, Paper, 0.5)}}, 0.08},
		"series":   {named("series", Series[:]), 0.075},
		"shares":   {named("share", Shares[:]), 0.06},
		"tints":    {named("tint", tinted), 0.015},
	} {
		themes(func(theme string, side func(Colour) color.RGBA) {
			for sight, m := range sights {
				for i, a := range set.all {
					for j, b := range set.all[:i] {
						least := set.least
						if sight == "tritanopia" {
							least /= 2 // one in ten thousand
						}
						if d := distance(side(a.Colour), side(b.Colour), m); d < least {
							t.Errorf("%s, %s, %s: %s (%d) and %s (%d) are %.3f apart, want %v", name, theme, sight, b.name, j, a.name, i, d, least)
						}
					}
				}
			}
		})
	}
}

// What stands beside each other in a picture can be told apart in black and white, too.
func TestPrint(t *testing.T) {
	grey := [3][3]float64{{0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}}
	for _, pair := range [][2]value{
		{{"busy", Busy}, {"tight", Tight}}, {{"busy", Busy}, {"busy, paler", Mix(Busy, Paper, 0.5)}},
		{{"waiting", Waiting}, {"suspended", Suspended}}, {{"waiting", Waiting}, {"waiting, paler", Mix(Waiting, Paper, 0.5)}},
		{{"critical", Critical}, {"plain", Mix(Plain, Paper, 0.5)}}, {{"moved", Moved}, {"plain", Mix(Plain, Paper, 0.5)}},
	} {
		themes(func(theme string, side func(Colour) color.RGBA) {
			if d := distance(side(pair[0].Colour), side(pair[1].Colour), grey); d < 0.06 {
				t.Errorf("%s: %s and %s are %.3f apart in grey", theme, pair[0].name, pair[1].name, d)
			}
		})
	}
}

// Text has WCAG's contrast of 4.5, what is drawn one of 3.
func TestContrast(t *testing.T) {
	themes(func(theme string, side func(Colour) color.RGBA) {
		holds := func(what string, a, b Colour, least float64) {
			t.Helper()
			if c := contrast(side(a), side(b)); c < least {
				t.Errorf("%s: %s: contrast %.2f, want %v", theme, what, c, least)
			}
		}
		for _, paper := range []value{{"paper", Paper}, {"ground", Ground}, {"faint", Faint}} {
			holds("ink on "+paper.name, Ink, paper.Colour, 7)
			holds("soft on "+paper.name, Soft, paper.Colour, 4.5)
		}
		holds("accent on paper", Accent, Paper, 4.5)
		for _, v := range []value{{"critical", Critical}, {"tight", Tight}, {"moved", Moved}, {"declined", Declined}, {"bound", Bound}} {
			holds(v.name+" as a line", v.Colour, Faint, 3)
		}
		for _, v := range []value{{"waiting", Waiting}, {"suspended", Suspended}, {"background", Background}, {"plain", Plain}} {
			holds(v.name+" as an area", v.Colour, Paper, 3)
		}
		for _, v := range []value{{"critical", Critical}, {"tight", Tight}, {"moved", Moved}} {
			holds("ink on pale "+v.name, Ink, Pale(v.Colour), 4.5)
		}
		for _, text := range []value{{"declined", Declined}, {"critical", Critical}} {
			holds(text.name+" as text", text.Colour, Paper, 4.5)
		}
		for k, c := range Series {
			holds("series "+string(rune('0'+k)), c, Paper, 3)
		}
		for _, hue := range []value{{"plain", Plain}, {"background", Background}} {
			for k := range Tints {
				holds("ink on a tint of "+hue.name, Ink, Tint(hue.Colour, k), 4.5)
			}
		}
		holds("edge of the lightest tint", Plain, Tint(Plain, 1), 3)
	})
}
