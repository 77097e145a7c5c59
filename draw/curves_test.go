// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// policies are n curves of m points each, with intervals but for the first.
func policies(n, m int) []draw.Curve {
	var all []draw.Curve
	for k := range n {
		c := draw.Curve{Label: fmt.Sprint("policy ", k)}
		for i := range m {
			p := draw.Point{X: 5 + float64(i), Y: 90 - 3*float64(i) - float64(k), Half: 0.3}
			if i == 0 {
				p.Half = math.NaN()
			}
			c.Points = append(c.Points, p)
		}
		all = append(all, c)
	}
	return all
}

func curves(t testing.TB, format, title string, c []draw.Curve) []byte {
	t.Helper()
	var b bytes.Buffer
	require.OK(t, draw.Curves(&b, draw.Style{Format: format}, title, draw.Axis{Label: "umed"},
		draw.Axis{Label: "acceptance (%)"}, c))
	return b.Bytes()
}

// apart is noOverlap without the vertical axis's name, which is turned.
func apart(t testing.TB, p picture) {
	t.Helper()
	p.texts = slices.DeleteFunc(p.texts, func(x text) bool { return x.Value == "acceptance (%)" })
	noOverlap(t, p)
}

func TestCurvesByHand(t *testing.T) {
	p := parse(t, curves(t, "svg", "Figure <2>", policies(2, 3)))
	want := []string{"5", "6", "7", "umed", "84", "86", "88", "90", "acceptance (%)", "Figure <2>", "policy 0", "policy 1", "95 % confidence"}
	got := p.values()
	slices.Sort(got)
	slices.Sort(want)
	require.Same(t, "texts", want, got)
	// A marker at each point and in the legend, a bar with two caps at each
	// of the two points with an interval, and the lines here and there.
	count := map[string]int{}
	for _, x := range p.paths {
		for name, c := range map[string]string{"first": theme.Hex(theme.Series[0].Light), "second": theme.Hex(theme.Series[1].Light)} {
			if strings.HasPrefix(x.Style, "fill:"+c) {
				count[name+" markers"]++
			}
			if strings.Contains(x.Style, "stroke:"+c) {
				count[name+" lines"]++
				if strings.Contains(x.Style, "dasharray") {
					count[name+" dashes"]++
				}
			}
		}
	}
	require.Same(t, "shapes", map[string]int{"first markers": 4, "second markers": 4, "first lines": 2*3 + 2,
		"second lines": 2*3 + 2, "second dashes": 2}, count)
	apart(t, p)
	if w, h := size(t, curves(t, "png", "Figure 2", policies(2, 3))); w != 1280 || h != 832 {
		t.Errorf("the PNG is %d × %d", w, h)
	}
}

func TestCurvesCases(t *testing.T) {
	point := func(x, y float64, label string) draw.Point { return draw.Point{X: x, Y: y, Label: label} }
	named := func(n int) []draw.Curve {
		c := draw.Curve{Label: "a"}
		for k := range n {
			c.Points = append(c.Points, point(float64(k), float64(k%7), fmt.Sprintf("{%d,%d}", k, k)))
		}
		return []draw.Curve{c}
	}
	for name, c := range map[string]struct {
		title     string
		curves    []draw.Curve
		want      []string
		wantNever string
	}{
		"none":            {want: []string{"umed", "acceptance (%)"}, wantNever: "confidence"},
		"no points":       {curves: []draw.Curve{{Label: "ff"}, {Label: "du-b", Points: []draw.Point{point(1, 2, "")}}}, want: []string{"ff (no values)", "du-b", "1"}, wantNever: "confidence"},
		"one point":       {curves: []draw.Curve{{Label: "a", Points: []draw.Point{point(3, 0, "")}}}, want: []string{"3", "a"}},
		"categories":      {curves: named(5), want: []string{"{0,0}", "{1,1}", "{4,4}"}},
		"too many":        {curves: named(60), want: []string{"{0,0}", "{10,10}"}, wantNever: "{1,1}"},
		"a label is long": {curves: []draw.Curve{{Points: []draw.Point{point(0, 1, strings.Repeat("long ", 50)), point(1, 1, "b")}}}, want: []string{"b"}},
		"one label only":  {curves: []draw.Curve{{Points: []draw.Point{point(0, 1, ""), point(1, 1, "")}}, {Points: []draw.Point{point(0, 2, "zero")}}}, want: []string{"zero"}},
		"numbers crowded": {curves: policies(2, 80), want: []string{"10", "20", "80"}, wantNever: "83"},
		"decimals":        {curves: []draw.Curve{{Points: []draw.Point{point(0.5, 1, ""), point(0.75, 1, ""), point(1.25, 2, "")}}}, want: []string{"0.5", "0.75", "1.25"}},
		"twelve":          {curves: policies(12, 5), want: []string{"policy 0", "policy 11"}},
		"the most":        {curves: policies(draw.MaxCurves, 3), want: []string{"policy 69"}},
		"all the same":    {curves: []draw.Curve{{Points: []draw.Point{point(1, 100, ""), point(2, 100, "")}}}, want: []string{"100"}},
		"huge":            {curves: []draw.Curve{{Points: []draw.Point{point(-1e300, -1e300, ""), point(1e300, 1e300, "")}}}, want: []string{"umed"}},
		"tiny":            {curves: []draw.Curve{{Points: []draw.Point{point(0, 5e-324, ""), point(5e-324, 0, "")}}}, want: []string{"umed"}},
		"long":            {title: strings.Repeat("<&> ", 1e4), curves: []draw.Curve{{Label: strings.Repeat("w", 1000)}, {Label: strings.Repeat("v ", 1000), Points: []draw.Point{point(0, 0, "")}}}},
		"control":         {title: "a\x00b", curves: []draw.Curve{{Label: "x\ny\xff"}}, want: []string{"a�b", "x y� (no values)"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(t, curves(t, "svg", c.title, c.curves))
			texts(t, p, c.want, c.wantNever)
			finite(t, p)
			apart(t, p)
			if p.width != 640 || p.height < 400 || p.height > 800 {
				t.Errorf("the picture is %v × %v", p.width, p.height)
			}
		})
	}
}

// No two of ten curves share marker and filling, or colour and dashes; no two
// of all share everything.
func TestCurvesDiffer(t *testing.T) {
	looks := func(n int) (marks, lines, both map[string]bool) {
		marks, lines, both = map[string]bool{}, map[string]bool{}, map[string]bool{}
		for k := range n {
			all := make([]draw.Curve, k+1)
			all[k] = draw.Curve{Label: "x", Points: []draw.Point{{X: 1, Y: 1}, {X: 2, Y: 1}}}
			p := parse(t, curves(t, "svg", "", all))
			// The legend comes first: a line and a marker of one or two paths.
			line := slices.IndexFunc(p.paths, func(x path) bool { return strings.Contains(x.Style, "stroke-width:1.5") })
			colour, dashes := p.paths[line].Style, ""
			mark := ""
			for _, x := range p.paths[line+1 : line+3] {
				if strings.HasSuffix(x.D, "Z") { // the outline is the shape, the fill what tells open from filled
					mark += fmt.Sprint(strings.Count(x.D, "L"), strings.Count(x.D, "A"), strings.Contains(x.Style, "FFFFFF"), corner(x.D))
				}
			}
			marks[mark], lines[colour+dashes], both[mark+colour] = true, true, true
		}
		return
	}
	marks, lines, _ := looks(10)
	if len(marks) != 10 || len(lines) != 10 {
		t.Errorf("%d markers and %d lines among ten", len(marks), len(lines))
	}
	if _, _, both := looks(draw.MaxCurves); len(both) != draw.MaxCurves {
		t.Errorf("%d looks among %d", len(both), draw.MaxCurves)
	}
}

// corner is the direction of a path's first corner from its second.
func corner(d string) string {
	var x0, y0, x1, y1 float64
	if n, _ := fmt.Sscanf(d, "M%g,%gL%g,%g", &x0, &y0, &x1, &y1); n < 4 {
		return ""
	}
	sign := func(x float64) int {
		switch {
		case x > 0.01:
			return 1
		case x < -0.01:
			return -1
		}
		return 0
	}
	return fmt.Sprint(sign(x1-x0), sign(y1-y0))
}

// Bars that would lie on each other are drawn side by side around their x; lines and markers stay there.
func TestCurvesSideways(t *testing.T) {
	at := func(half float64) (bars, lines []float64) {
		var all []draw.Curve
		for k := range 3 {
			all = append(all, draw.Curve{Label: fmt.Sprint(k), Points: []draw.Point{{X: 1, Y: 10 + float64(k), Half: half}, {X: 2, Y: 20, Half: 0.1 * half}}})
		}
		p := parse(t, curves(t, "svg", "", all))
		for _, x := range p.paths {
			var x0, y0, x1, y1 float64
			n, _ := fmt.Sscanf(x.D, "M%g,%gL%g,%g", &x0, &y0, &x1, &y1)
			switch {
			case n == 4 && x0 == x1 && strings.Contains(x.Style, "stroke-width:0.9") && !strings.Contains(x.Style, hex(theme.Soft)):
				bars = append(bars, x0)
			case n == 4 && x0 != x1 && strings.Contains(x.Style, "stroke-width:1.5"):
				lines = append(lines, x0, x1)
			}
		}
		return bars, lines[len(lines)-6:] // the others are the legend's
	}
	for name, c := range map[string]struct {
		half float64
		want bool
	}{"overlap": {3, true}, "point intervals": {0, false}} {
		bars, lines := at(c.half)
		if !c.want {
			if len(bars) > 0 || lines[0] != lines[2] || lines[0] != lines[4] {
				t.Errorf("%s: bars at %v, lines at %v", name, bars, lines)
			}
			continue
		}
		require.Is(t, 6, len(bars), name, "bars at", bars)
		// The bars of the first curve at both x come first, and so on: side by side, around the line's end, where the
		// marker is.
		for k := 2; k < len(bars); k++ {
			if got := bars[k] - bars[k-2]; math.Abs(got-3.5) > 0.3 {
				t.Errorf("%s: bars are %v apart, want 3.5", name, got)
			}
			if lines[k] != lines[k-2] {
				t.Errorf("%s: line %d is at %v, another at %v", name, k, lines[k], lines[k-2])
			}
		}
		if math.Abs(bars[2]-lines[2]) > 1e-3 {
			t.Errorf("%s: the bar in the middle is at %v, its marker at %v", name, bars[2], lines[2])
		}
	}
}

// Points that aren't to be joined have no line, nor has the bound. A line is at the x of its points, so that an optimum
// is never drawn on the wrong side of a bound.
func TestCurvesApart(t *testing.T) {
	joined := func(apart bool) int {
		points := []draw.Point{{X: 1, Y: 10}, {X: 2, Y: 30}, {X: 3, Y: 20}}
		p := parse(t, curves(t, "svg", "", []draw.Curve{{Label: "a", Points: points, Apart: apart}, {Label: "bound", Points: points, Bound: true, Apart: apart}}))
		n := 0
		for _, x := range p.paths {
			if strings.Count(x.D, "L") == 2 && strings.Contains(x.Style, "stroke-width:1.5") {
				n++
			}
		}
		return n
	}
	if a, b := joined(false), joined(true); a < 2 || b != 0 {
		t.Errorf("%d lines of joined points, %d of others", a, b)
	}
}

func TestCurvesErrors(t *testing.T) {
	one := func(p draw.Point) []draw.Curve { return []draw.Curve{{Label: "pe-w", Points: []draw.Point{p}}} }
	for name, c := range map[string]struct {
		format string
		curves []draw.Curve
		is     error
		want   string
	}{
		"format":        {"gif", nil, draw.ErrFormat, `"gif", must be svg, png or pdf`},
		"nan":           {"svg", one(draw.Point{Y: math.NaN()}), model.ErrInvalid, `curve "pe-w": NaN ± 0 at 0`},
		"infinite":      {"svg", one(draw.Point{X: math.Inf(1)}), model.ErrInvalid, "+Inf"},
		"too large":     {"png", one(draw.Point{Y: -1e301}), model.ErrInvalid, "1e+301"},
		"negative half": {"svg", one(draw.Point{Half: -1}), model.ErrInvalid, "± -1"},
		"infinite half": {"svg", one(draw.Point{Half: math.Inf(1)}), model.ErrInvalid, "± +Inf"},
		"too many":      {"svg", make([]draw.Curve, draw.MaxCurves+1), model.ErrInvalid, "71 curves can't be told apart, give 70 at most"},
	} {
		require.Refused(t, name, draw.Curves(new(bytes.Buffer), draw.Style{Format: c.format}, "", draw.Axis{},
			draw.Axis{}, c.curves), c.is, c.want)
	}
	broken := errors.New("broken pipe")
	require.Refused(t, "writer",
		draw.Curves(failing{broken}, draw.Style{Format: "svg"}, "", draw.Axis{}, draw.Axis{}, nil), broken, "")
}

func TestCurvesDeterminism(t *testing.T) {
	for _, format := range []string{"svg", "png"} {
		shuffled := policies(3, 5)
		for k := range shuffled {
			slices.Reverse(shuffled[k].Points)
		}
		if !bytes.Equal(curves(t, format, "x", policies(3, 5)), curves(t, format, "x", shuffled)) {
			t.Errorf("%s depends on the order of the points", format)
		}
	}
}

// A box plot has its values' quartiles, whiskers and outliers, and one entry in the legend; a step function has corners
// and no markers, and an axis shows what it is to hold.
func TestCurvesBoxesAndSteps(t *testing.T) {
	box := func(values ...float64) []draw.Curve {
		return []draw.Curve{{Label: "class", Points: []draw.Point{{X: 1, Label: "a", Values: values}, {X: 2, Label: "b", Values: []float64{50, 60}}}}}
	}
	shapes := func(c []draw.Curve) int { return len(parse(t, curves(t, "svg", "", c)).paths) }
	require.Same(t, "rings beyond the whiskers", 1, shapes(box(1, 2, 3, 4, 50))-shapes(box(1, 2, 3, 4, 5)))
	p := parse(t, curves(t, "svg", "", box(1, 2, 3, 4, 50)))
	require.Says(t, "texts", strings.Join(p.values(), " "), "class", "a", "b")
	var out bytes.Buffer
	require.Refused(t, "a value", draw.Curves(&out, draw.Style{Format: "svg"}, "", draw.Axis{}, draw.Axis{}, box(math.NaN())), model.ErrInvalid, "NaN")
	require.Refused(t, "a logarithm", draw.Curves(&out, draw.Style{Format: "svg"}, "", draw.Axis{}, draw.Axis{Log: true}, box(0)), model.ErrInvalid, "above 0")

	steps := []draw.Curve{{Label: "a", Step: true, Points: []draw.Point{{X: 1, Y: 40}, {X: 2, Y: 60}, {X: 3, Y: 60}}}}
	joined := []draw.Curve{{Label: "a", Points: steps[0].Points}}
	if a, b := shapes(steps), shapes(joined); a >= b {
		t.Errorf("%d shapes of steps, %d with markers", a, b)
	}
	require.OK(t, draw.Curves(&out, draw.Style{Format: "svg"}, "", draw.Axis{}, draw.Axis{Holds: []float64{0, 100}}, steps))
	require.Says(t, "the axis", strings.Join(parse(t, out.Bytes()).values(), " "), "0", "100")
}
