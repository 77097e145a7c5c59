// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
)

func TestGanttSixTasks(t *testing.T) {
	p := parse(t, gantt(t, "svg", "HEFT & <six>", sixPanels(t)))
	require.Same(t, "title", "HEFT & <six>", p.title)
	if got, want := p.bars(), 2*(6+4)+1; got != want {
		t.Errorf("%d bars, want %d: %v", got, want, p.fills())
	}
	outlines := 0
	for _, x := range p.paths {
		if strings.Contains(x.Style, "fill:none") && strings.HasSuffix(x.D, "Z") {
			outlines++
		}
	}
	if outlines != 21 { // and one of the legend
		t.Errorf("%d outlines, want 21", outlines)
	}
	want := []string{"HEFT & <six>", "critical path", "data", "0", "5", "10", "15", "20", "25", "30", "time (s)", "planned", "realistic", "makespan 25", "makespan 32"}
	for range 2 {
		want = append(want, "P1", "P2", "P3", "b1", draw.OtherTransfers, "1", "2", "3", "4", "5", "6", "1→2", "2→5", "3→5", "4→6")
	}
	got := p.values()
	// The axis and two tasks are both called 5.
	slices.Sort(got)
	slices.Sort(want)
	require.Same(t, "texts", want, got)
	noOverlap(t, p)

	w, h := size(t, gantt(t, "png", "HEFT", sixPanels(t)))
	if w < 1000 || w > 2000 || h < 500 || h > 1200 {
		t.Errorf("the PNG is %d × %d", w, h)
	}
}

func TestGanttCases(t *testing.T) {
	t.Parallel()
	bar := func(start, end float64, label string) draw.Bar { return draw.Bar{Start: start, End: end, Label: label} }
	row := func(bars ...draw.Bar) []draw.Row { return []draw.Row{{Label: "P1", Bars: bars}} }
	many := make([]draw.Panel, 500)
	rows := make([]draw.Row, 3000)
	for k := range many {
		many[k] = draw.Panel{Title: fmt.Sprint("panel ", k), Rows: row(bar(0, 1, "a")), Marks: []draw.Mark{{At: 1, Label: "makespan"}}}
	}
	for k := range rows {
		rows[k] = draw.Row{Label: fmt.Sprint("machine ", k), Link: k%2 == 0, Bars: []draw.Bar{bar(0, 1, "a")}}
	}
	for name, c := range map[string]struct {
		title     string
		panels    []draw.Panel
		wantBars  int
		want      []string // among the texts
		wantNever string   // in a text
	}{
		"nothing":       {want: []string{"0", "time (s)"}},
		"no rows":       {panels: []draw.Panel{{Title: "a"}, {}}, want: []string{"a"}},
		"no bars":       {panels: []draw.Panel{{Rows: row()}}, want: []string{"P1", "1.0"}},
		"makespan 0":    {panels: []draw.Panel{{Rows: row(bar(0, 0, "z")), Marks: []draw.Mark{{Label: "makespan 0"}}}}, wantBars: 1, want: []string{"makespan 0"}},
		"zero length":   {panels: []draw.Panel{{Rows: row(bar(0, 5, "a"), bar(5, 5, "z"), bar(5, 9, "b"))}}, wantBars: 3, want: []string{"a", "b"}},
		"does not fit":  {panels: []draw.Panel{{Rows: row(bar(0, 99, "wide"), bar(99, 100, "much too long"))}}, wantBars: 2, want: []string{"wide"}, wantNever: "much"},
		"negative":      {panels: []draw.Panel{{Rows: row(bar(-20, -10, "a"))}}, wantBars: 1, want: []string{"-20", "0", "a"}},
		"huge":          {panels: []draw.Panel{{Rows: row(bar(0, 1e300, "a"))}}, wantBars: 1, want: []string{"1e+300", "a"}},
		"both huge":     {panels: []draw.Panel{{Rows: row(bar(-1e300, 1e300, "a"))}}, wantBars: 1, want: []string{"a"}},
		"tiny":          {panels: []draw.Panel{{Rows: row(bar(0, 1e-290, "a"))}}, wantBars: 1, want: []string{"1e-290", "a"}},
		"denormal":      {panels: []draw.Panel{{Rows: row(bar(0, 5e-324, "a"))}}, wantBars: 1},
		"control":       {title: "a\x00b\nc\xff", panels: []draw.Panel{{Rows: row(bar(0, 1, "x\x01y"))}}, wantBars: 1, want: []string{"a�b c�", "x�y"}},
		"markup":        {title: `<text style="font-family:Liberation Sans;">`, want: []string{`<text style="font-family:Liberation Sans;">`}},
		"long":          {title: strings.Repeat("long ", 1e5), panels: []draw.Panel{{Title: strings.Repeat("w", 40), Rows: []draw.Row{{Label: strings.Repeat("m", 400)}}}}},
		"many panels":   {panels: many, wantBars: 500, wantNever: "panel"},
		"many rows":     {panels: []draw.Panel{{Title: "t", Rows: rows}}, wantBars: 3004, want: []string{"t", "machine 1", "idle"}},
		"close marks":   {panels: []draw.Panel{{Title: "t", Marks: []draw.Mark{{At: 9, Label: "a"}, {At: 9.01, Label: "b"}, {At: 9.02, Label: "c"}, {At: 9.03, Label: "d"}, {At: 9.04, Label: "e"}, {At: 10, Label: "end"}}}}, want: []string{"a", "d", "end"}},
		"mark at title": {panels: []draw.Panel{{Title: "a long title of the panel", Marks: []draw.Mark{{At: 0, Label: "zero"}, {At: 10, Label: ""}}}}, want: []string{"zero"}},
		"mark in bar":   {panels: []draw.Panel{{Rows: row(bar(0, 10, "bar")), Marks: []draw.Mark{{At: 5, Label: "x"}}}}, wantBars: 1, want: []string{"bar"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(t, gantt(t, "svg", c.title, c.panels))
			require.Same(t, "bars", c.wantBars, p.bars())
			texts(t, p, c.want, c.wantNever)
			noOverlap(t, p)
			if w, h := size(t, gantt(t, "png", c.title, c.panels)); w > 4000 || h > 4000 || w < 500 || h < 50 {
				t.Errorf("the PNG is %d × %d", w, h)
			}
		})
	}
}

// A bar without length is still there to see, and at the end of the axis within
// it.
func TestShortBars(t *testing.T) {
	for name, c := range map[string]struct{ at, end float64 }{"start": {0, 1000}, "middle": {500, 1000}, "end": {1000, 1000}, "makespan 0": {0, 0}} {
		p := parse(t, gantt(t, "svg", "", []draw.Panel{{Rows: []draw.Row{{Bars: []draw.Bar{{Start: c.at, End: c.at}}}}, Marks: []draw.Mark{{At: c.end}}}}))
		var axis, bar [2]float64
		for _, x := range p.paths {
			var to *[2]float64
			switch {
			case strings.HasPrefix(x.Style, "fill:#"+hex(theme.Faint)):
				to = &axis
			case strings.HasPrefix(x.Style, "fill:#") && !strings.HasPrefix(x.Style, "fill:#"+hex(theme.Paper)) && !strings.HasPrefix(x.Style, "fill:#"+hex(theme.Line)):
				to = &bar
			default:
				continue
			}
			var y float64
			require.OK(t, require.Err(fmt.Sscanf(x.D, "M%g,%gL%g,", &to[0], &y, &to[1])))
		}
		if wide := bar[1] - bar[0]; wide < 0.95 || wide > 1.05 || bar[0] < axis[0] || bar[1] > axis[1] {
			t.Errorf("%s: the bar is from %v to %v, the axis from %v to %v", name, bar[0], bar[1], axis[0], axis[1])
		}
	}
}

// A name that its bar has no room for loses its middle: names differ at their ends.
func TestLongNames(t *testing.T) {
	var row draw.Row
	for k := range 12 {
		row.Bars = append(row.Bars, draw.Bar{Start: float64(k), End: float64(k + 1), Label: fmt.Sprintf("workflow:align:sample:with-a-name-that-is-long:%05d", k)})
	}
	p := parse(t, gantt(t, "svg", "", []draw.Panel{{Rows: []draw.Row{row}}}))
	for k := range row.Bars {
		end := fmt.Sprintf("%05d", k)
		if !slices.ContainsFunc(p.texts, func(x text) bool {
			return strings.HasPrefix(x.Value, "wor") && strings.Contains(x.Value, "…") && strings.HasSuffix(x.Value, end)
		}) {
			t.Errorf("no label ends in %s: %v", end, p.texts)
		}
	}
}

// A label is never where a mark's line is.
func TestLabelsBesideMarks(t *testing.T) {
	p := parse(t, gantt(t, "svg", "", []draw.Panel{{Rows: []draw.Row{{Bars: []draw.Bar{{Start: 0, End: 10, Label: "middle"}}}},
		Marks: []draw.Mark{{At: 5.1, Label: ""}}}}))
	i := slices.Index(p.values(), "middle")
	l := slices.IndexFunc(p.paths, func(x path) bool { return strings.Contains(x.Style, "stroke-dasharray:3,2") })
	if i < 0 || l < 0 {
		t.Fatalf("label %d, line %d", i, l)
	}
	var x float64
	require.OK(t, require.Err(fmt.Sscanf(p.paths[l].D, "M%g,", &x)))
	if left, right := p.texts[i].span(); left < x && x < right {
		t.Errorf("the label from %v to %v is crossed at %v", left, right, x)
	}
}

// texture is a panel of a large schedule.
func texture(rows, each int) []draw.Panel {
	r := rand.New(rand.NewPCG(7, 7))
	p := draw.Panel{Title: "large", Rows: make([]draw.Row, rows)}
	for k := range p.Rows {
		p.Rows[k] = draw.Row{Label: fmt.Sprint("m", k), Link: k%8 == 7}
		at := 0.0
		for i := range each {
			length := 20 * r.Float64()
			p.Rows[k].Bars = append(p.Rows[k].Bars, draw.Bar{Start: at, End: at + length, Label: "t", Group: i})
			at += length * r.Float64()
			if !p.Rows[k].Link {
				at = p.Rows[k].Bars[i].End
			}
		}
	}
	return []draw.Panel{p}
}

// Many bars are drawn as the share of busy time, without labels.
func TestBands(t *testing.T) {
	t.Parallel()
	svg := gantt(t, "svg", "", texture(64, 250))
	p := parse(t, svg)
	if slices.Contains(p.values(), "t") {
		t.Error("a bar has a label")
	}
	texts(t, p, []string{"idle", "up to 25 %", "up to 100 %"}, "")
	noOverlap(t, p)
	b := gantt(t, "png", "", texture(64, 250))
	if w, h := size(t, b); w < 1000 || w > 4000 || h < 1000 || h > 4000 {
		t.Errorf("the PNG is %d × %d", w, h)
	}
	// A machine that is busy from 0 to 1 and from 2 to 3 of 4 s, in 251 pieces
	// each; another that is busy to a fifth everywhere, with a critical bar.
	halves, fifth := draw.Row{Label: "halves"}, draw.Row{Label: "fifth"}
	for k := range 251 {
		for _, from := range []float64{0, 2} {
			halves.Bars = append(halves.Bars, draw.Bar{Start: from + float64(k)/251, End: from + float64(k+1)/251})
		}
	}
	for k := range 2000 {
		fifth.Bars = append(fifth.Bars, draw.Bar{Start: float64(k) / 500, End: (float64(k) + 0.2) / 500, Critical: k == 77})
	}
	p = parse(t, gantt(t, "svg", "", []draw.Panel{{Rows: []draw.Row{halves, fifth}}}))
	fills := p.fills()
	if n := fills[hex(theme.Shares[4])]; n < 3 || n > 4 { // two, and the legend; perhaps a step where they begin
		t.Errorf("%d rectangles are dark, want those of two spans and the legend: %v", n, fills)
	}
	if n := fills[hex(theme.Shares[1])]; n < 2 || n > 5 {
		t.Errorf("%d rectangles are pale, want one as long as the axis and the legend: %v", n, fills)
	}
	require.Same(t, "lines for critical bars", 2, fills[hex(theme.Critical)])
	// A link is busy to a fifth, however many transfers go over it at a time.
	link := draw.Row{Label: "link", Link: true}
	for k := range 3000 {
		at := float64(k/3) / 250
		link.Bars = append(link.Bars, draw.Bar{Start: at, End: at + 0.2/250})
	}
	fills = parse(t, gantt(t, "svg", "", []draw.Panel{{Rows: []draw.Row{link}}})).fills()
	if n := fills[hex(theme.Shares[2])] + fills[hex(theme.Shares[3])] + fills[hex(theme.Shares[4])]; n > 3 { // the legend has three
		t.Errorf("a link that is busy to a fifth has %d rectangles of more than a quarter", n-3)
	}
}

func TestDeterminism(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"svg", "png"} {
		for name, picture := range map[string]func() []byte{
			"six":     func() []byte { return gantt(t, format, "six", sixPanels(t)) },
			"texture": func() []byte { return gantt(t, format, "large", texture(30, 200)) },
			"rounds":  func() []byte { return rounds(t, format, "rounds", tenTasks) },
		} {
			if !bytes.Equal(picture(), picture()) {
				t.Errorf("%s as %s is another the second time", name, format)
			}
		}
	}
}

// There is a picture with any bars, all of them drawn and no text on another.
func TestGanttAnything(t *testing.T) {
	t.Parallel()
	label := rapid.StringN(0, 12, 40)
	rapid.Check(t, func(rt *rapid.T) {
		var panels []draw.Panel
		bars := 0
		for range rapid.IntRange(0, 3).Draw(rt, "panels") {
			p := draw.Panel{Title: label.Draw(rt, "title")}
			for range rapid.IntRange(0, 6).Draw(rt, "rows") {
				r := draw.Row{Label: label.Draw(rt, "row"), Link: rapid.Bool().Draw(rt, "link")}
				at := 0.0
				for range rapid.IntRange(0, 6).Draw(rt, "bars") {
					length := rapid.Float64Range(0, 100).Draw(rt, "length")
					r.Bars = append(r.Bars, draw.Bar{Start: at, End: at + length, Label: label.Draw(rt, "bar"),
						Group: rapid.Int().Draw(rt, "group")})
					bars++
					if !r.Link || rapid.Bool().Draw(rt, "next") {
						at += length
					}
				}
				p.Rows = append(p.Rows, r)
			}
			for range rapid.IntRange(0, 3).Draw(rt, "marks") {
				p.Marks = append(p.Marks, draw.Mark{At: rapid.Float64Range(-10, 400).Draw(rt, "at"), Label: label.Draw(rt, "mark")})
			}
			panels = append(panels, p)
		}
		p := parse(t, gantt(t, "svg", label.Draw(rt, "picture"), panels))
		require.Is(rt, bars, p.bars(), "bars")
		noOverlap(rt, p)
		if len(panels) > 0 && panels[0].Title != "" {
			m, _, err := image.Decode(bytes.NewReader(gantt(t, "png", "", panels[:1])))
			if err != nil || m.Bounds().Dx() > 4000 || m.Bounds().Dy() > 4000 {
				rt.Fatal(m, err)
			}
		}
	})
}

func BenchmarkGantt(b *testing.B) {
	for _, c := range []struct{ rows, each int }{{8, 25}, {16, 250}, {64, 800}} {
		panels := texture(c.rows, c.each)
		for _, format := range []string{"svg", "png"} {
			b.Run(fmt.Sprintf("%s/bars=%d", format, c.rows*c.each), func(b *testing.B) {
				for b.Loop() {
					gantt(b, format, "", panels)
				}
			})
		}
	}
}

// An arrow between machines is drawn above the bars, and from the edge of the task's bar: a partly hidden arrow seems
// to leave another task.
func TestArrowsLieAboveBars(t *testing.T) {
	bar := func(from, to float64, group int) draw.Bar { return draw.Bar{Start: from, End: to, Group: group} }
	var b bytes.Buffer
	panel := draw.Panel{Rows: []draw.Row{{Label: "P1", Bars: []draw.Bar{bar(0, 3, 0), bar(3, 7, 1)}}, {Label: "P2", Bars: []draw.Bar{bar(4, 6, 2), bar(7, 11, 3)}}},
		Arrows: []draw.Arrow{{FromRow: 0, ToRow: 1, From: 3, To: 7}}}
	require.OK(t, draw.Gantt(&b, draw.Options{Style: draw.Style{Format: "svg"}}, "", []draw.Panel{panel}))
	text := b.String()
	last := strings.LastIndex(text, "#"+tint(2)) // of the bar that the arrow crosses
	if line := strings.LastIndex(text, "#"+hex(theme.Soft)+";stroke-width:0.7"); last < 0 || line < last {
		t.Errorf("the arrow is drawn at %d, the bar below it at %d", line, last)
	}
}
