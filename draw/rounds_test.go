// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// tenTasks are the rounds of the paper's ten-task example.
var tenTasks = []model.Round{
	{Round: 1, Planned: 80, Realistic: 102, Kept: true},
	{Round: 2, Planned: 86, Realistic: 111},
	{Round: 3, Planned: 84.5, Realistic: 91, Kept: true},
	{Round: 4, Planned: 90, Realistic: 104},
}

func rounds(t testing.TB, format, title string, r []model.Round) []byte {
	t.Helper()
	var b bytes.Buffer
	require.OK(t, draw.Rounds(&b, draw.Style{Format: format}, title, r))
	return b.Bytes()
}

func TestRoundsTenTasks(t *testing.T) {
	p := parse(t, rounds(t, "svg", "Ten tasks", tenTasks))
	want := []string{"1", "2", "3", "4", "round", "80", "85", "90", "95", "100", "105", "110", "makespan (s)", "Ten tasks",
		"realistic", "first round: 102", "kept; the best: 91", "planned, without contention", "first round: 80"}
	got := p.values()
	slices.Sort(got)
	slices.Sort(want)
	require.Same(t, "texts", want, got)
	// Each of these once more than there are rounds, in the legend.
	marks := map[string]int{}
	dashed := 0
	for _, x := range p.paths {
		switch {
		case strings.Contains(x.Style, "stroke-dasharray:5,3"):
			dashed++
		case strings.HasPrefix(x.Style, "fill:#"+hex(theme.Series[1])):
			marks["realistic"]++
		case strings.HasPrefix(x.Style, "fill:#"+hex(theme.Series[0])):
			marks["planned"]++
		case strings.Contains(x.Style, "stroke:#"+hex(theme.Ink)):
			marks["kept"]++
		}
	}
	require.Same(t, "marks", map[string]int{"realistic": 5, "planned": 5, "kept": 3}, marks)
	require.Same(t, "dashed lines", 4, dashed)
	if w, h := size(t, rounds(t, "png", "Ten tasks", tenTasks)); w != 1280 || h != 720 {
		t.Errorf("the PNG is %d × %d", w, h)
	}
}

func TestRoundsCases(t *testing.T) {
	t.Parallel()
	number := func(n int, planned, realistic float64) []model.Round {
		var all []model.Round
		for k := range n {
			all = append(all, model.Round{Round: k + 1, Planned: planned, Realistic: realistic + float64(k%3), Kept: k == 0})
		}
		return all
	}
	for name, c := range map[string]struct {
		title     string
		rounds    []model.Round
		want      []string
		wantNever string
	}{
		"none":     {want: []string{"round", "makespan (s)", "1"}, wantNever: "realistic"},
		"one":      {rounds: number(1, 5, 5), want: []string{"1", "5.0", "first round: 5"}},
		"zero":     {rounds: number(1, 0, 0), want: []string{"1", "0", "-1.0", "1.0", "kept; the best: 0"}},
		"fifty":    {rounds: number(50, 70, 90), want: []string{"2", "50"}, wantNever: "."},
		"far off":  {rounds: []model.Round{{Round: 1000000}, {Round: 1000001}}, want: []string{"1000000", "1000001"}},
		"a lot":    {rounds: number(3_000, 70, 90), want: []string{"1000", "3000"}},
		"huge":     {rounds: []model.Round{{Round: 1, Planned: -1e300, Realistic: 1e300}}, want: []string{"first round: 1e+300"}},
		"tiny":     {rounds: []model.Round{{Round: 1, Planned: 1e-320, Realistic: 5e-324}}, want: []string{"1"}},
		"not kept": {rounds: []model.Round{{Round: 7, Planned: 1, Realistic: 2}}, want: []string{"7", "realistic"}, wantNever: "kept"},
		"long":     {title: strings.Repeat("<&> ", 1e4), want: []string{"round"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(t, rounds(t, "svg", c.title, c.rounds))
			texts(t, p, c.want, c.wantNever)
			finite(t, p)
			size(t, rounds(t, "png", c.title, c.rounds))
		})
	}
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bars := func(start, end float64) func() error {
		return func() error {
			return draw.Gantt(new(bytes.Buffer), options("svg"), "", []draw.Panel{{Title: "p", Rows: []draw.Row{{Label: "P1", Bars: []draw.Bar{{Start: start, End: end, Label: "a"}}}}}})
		}
	}
	round := func(planned, realistic float64) func() error {
		return func() error {
			return draw.Rounds(new(bytes.Buffer), draw.Style{Format: "svg"}, "", []model.Round{{Round: 3, Planned: planned, Realistic: realistic}})
		}
	}
	broken := errors.New("broken pipe")
	for name, c := range map[string]struct {
		do   func() error
		is   error
		want string
	}{
		"format":        {func() error { return draw.Gantt(new(bytes.Buffer), options("gif"), "", nil) }, draw.ErrFormat, `"gif", must be svg, png or pdf`},
		"rounds format": {func() error { return draw.Rounds(new(bytes.Buffer), draw.Style{}, "", nil) }, draw.ErrFormat, "must be svg, png or pdf"},
		"nan":           {bars(nan, 1), model.ErrInvalid, `panel 1 ("p"): row "P1": bar "a" is from NaN to 1`},
		"infinite":      {bars(0, inf), model.ErrInvalid, "+Inf"},
		"too large":     {bars(0, 1e301), model.ErrInvalid, "1e+301"},
		"backwards":     {bars(2, 1), model.ErrInvalid, "from 2 to 1, must not end before it starts"},
		"mark": {func() error {
			return draw.Gantt(new(bytes.Buffer), options("png"), "", []draw.Panel{{}, {Marks: []draw.Mark{{At: nan, Label: "makespan"}}}})
		}, model.ErrInvalid, `panel 2 (""): mark "makespan" is at NaN`},
		"planned":   {round(nan, 1), model.ErrInvalid, "round 3: planned NaN"},
		"realistic": {round(1, inf), model.ErrInvalid, "realistic +Inf"},
		"writer":    {func() error { return draw.Gantt(failing{broken}, options("png"), "", nil) }, broken, "broken pipe"},
	} {
		require.Refused(t, name, c.do(), c.is, c.want)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
