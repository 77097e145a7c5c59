// SPDX-License-Identifier: MIT

package draw_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/draw"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/text/theme"
	"github.com/gapwise/gapwise/model"
)

// fourJobs run on 4 processors of two tiers. Job a runs on 0 to 2 from 0 s to 100 s. Job b runs in the background of 1
// to 2 and 0 from 10 s on, killed at 50 s, and again from 100 s on. Job c waits from 20 s to 60 s; d shares its
// processor.
func fourJobs() (*model.Batch, *model.Execution) {
	in := &model.Batch{Name: "four", Processors: 4, Tiers: 2, Jobs: []model.BatchJob{
		{ID: "a", SubmitS: 0, RuntimeS: 100, Processes: 3},
		{ID: "b", SubmitS: 10, RuntimeS: 100, Processes: 3, BgEfficiency: 0.5},
		{ID: "c", SubmitS: 20, RuntimeS: 40, Processes: 1},
		{ID: "d", SubmitS: 60, RuntimeS: 20, Processes: 1, BgEfficiency: 1},
	}}
	segment := func(from, to float64, tier model.Tier, lost bool, processors ...int32) model.Segment[model.BatchPlace] {
		return model.Segment[model.BatchPlace]{StartS: from, EndS: to, Lost: lost, Place: model.BatchPlace{Tier: tier, Processors: processors}}
	}
	run := func(id string, all ...model.Segment[model.BatchPlace]) model.Run[model.BatchPlace] {
		return model.Run[model.BatchPlace]{ID: id, Segments: all}
	}
	return in, &model.Execution{Runs: []model.Run[model.BatchPlace]{
		run("b", segment(10, 50, model.TierBackground, true, 2, 1, 3), segment(100, 200, model.TierForeground, false, 3, 0, 1)),
		run("a", segment(0, 100, model.TierForeground, false, 0, 1, 2)),
		run("c", segment(60, 100, model.TierForeground, false, 3)),
		run("d", segment(60, 80, model.TierBackground, false, 3)),
	}}
}

func execution(t testing.TB, format, title string, in *model.Batch, e *model.Execution) []byte {
	t.Helper()
	var b bytes.Buffer
	require.OK(t, draw.Execution(&b, options(format), title, in, e))
	return b.Bytes()
}

// Each segment is a rectangle per range of its processors in its tier. Lost ones are white with dashed edges; areas
// show use and waiting.
func TestExecutionByHand(t *testing.T) {
	t.Parallel()
	in, e := fourJobs()
	var b bytes.Buffer
	require.OK(t, draw.Solution(&b, draw.Options{Style: draw.Style{Format: "svg"}, By: "keasy"},
		[]draw.Frame{{Instance: in, Solution: e}}))
	p := parse(t, b.Bytes())
	// Uses from 0 s to 200 s: a has 3 processors for 100 s, b 3 for 100, c 1 for 40, of 4. Job b has 3 in the
	// background for 40 s, d one for 20.
	texts(t, p, []string{"four, keasy: 4 jobs, response 97.5 s, bounded slowdown 1.475, kills 1", "Foreground", "Background",
		"Processors in use, of 4, over time: 80.0 % on average in the foreground, 17.5 % in the background", "Waiting jobs, over time",
		"killed, its work is lost", "a", "b", "c", "d", "0", "3"}, "up to 25 %")
	noOverlap(t, p)
	finite(t, p)
	back := rectangles(t, p, hex(theme.Faint)) // foreground, background, use, waiting
	require.Is(t, 4, len(back), "backgrounds")
	second, slot := back[0].w/200, back[0].h/4
	for colour, want := range map[string][]rectangle{ // seconds and processors, by tier from 0 or 1
		tint(0):                              {{0, 0, 100, 3}},                     // a
		tint(1):                              {{100, 0, 100, 2}, {100, 3, 100, 1}}, // b, the second time
		tint(2):                              {{60, 3, 40, 1}},                     // c
		hex(theme.Tint(theme.Background, 3)): {{60, 7, 20, 1}},                     // d
	} {
		var got []rectangle
		for _, r := range rectangles(t, p, colour) {
			for tier, area := range back[:2] {
				if r.y >= area.y-0.01 && r.y+r.h <= area.y+area.h+0.01 && r.h > 9 {
					got = append(got, rectangle{round((r.x - area.x) / second), float64(4*tier) + round((r.y-area.y)/slot), round(r.w / second), round(r.h / slot)})
				}
			}
		}
		require.Same(t, colour, want, got, cmp.AllowUnexported(rectangle{}))
	}
	// b waits from 50 s to 100 s, c from 20 s to 60 s.
	seconds := 0.0
	for _, r := range rectangles(t, p, hex(theme.Waiting)) {
		if r.y >= back[3].y-0.01 && r.y < back[3].y+back[3].h {
			seconds += r.w / second * round(2*r.h/back[3].h)
		}
	}
	if seconds < 89.5 || seconds > 90.5 {
		t.Errorf("%v s of waiting, want 90", seconds)
	}
	dashed := 0
	for _, x := range p.paths {
		if strings.Contains(x.Style, "stroke-dasharray") {
			dashed++
		}
	}
	if dashed != 8 { // the edges of b's processors 1 to 3, those in the legend
		t.Errorf("%d dashed lines, want 8", dashed)
	}
	if w, h := size(t, execution(t, "png", "", in, e)); w < 1000 || w > 2880 || h < 500 || h > 2340 {
		t.Errorf("the PNG is %d × %d", w, h)
	}
}

func round(x float64) float64 { return float64(int(x + 0.5)) }

// manyJobs are n jobs on some processors of some tiers, one after the other, each
// fourth of two tiers killed once.
func manyJobs(n, processors, tiers int) (*model.Batch, *model.Execution) {
	r := rand.New(rand.NewPCG(1, uint64(processors)))
	in, e := &model.Batch{Name: "many", Processors: processors, Tiers: tiers}, &model.Execution{}
	for i := range n {
		j := model.BatchJob{ID: fmt.Sprint("j", i), SubmitS: float64(10 * i), RuntimeS: float64(1 + r.IntN(2000)), Processes: 1 + r.IntN(min(16, processors)), BgEfficiency: 1}
		in.Jobs = append(in.Jobs, j)
		list := model.ProcessorList{}
		first, step := r.IntN(processors), 1
		for c := range j.Processes {
			list = append(list, int32((first+c*step)%processors))
		}
		x := model.Run[model.BatchPlace]{ID: j.ID}
		from, place := j.SubmitS+float64(r.IntN(500)), model.BatchPlace{Processors: list}
		if tiers == 2 && i%4 == 0 {
			place.Tier = model.TierBackground
			x.Segments = append(x.Segments, model.Segment[model.BatchPlace]{StartS: from, EndS: from + 100, Place: place, Lost: true})
			from += 150
			place.Tier = model.TierForeground
		}
		x.Segments = append(x.Segments, model.Segment[model.BatchPlace]{StartS: from, EndS: from + j.RuntimeS, Place: place})
		e.Runs = append(e.Runs, x)
	}
	return in, e
}

func TestExecutionCases(t *testing.T) {
	for name, c := range map[string]struct {
		n, processors, tiers int
		wantTexts            []string
		wantNever            string
		shapesBelow          int
	}{
		"nothing":       {0, 4, 1, []string{"processor", "0", "3", "in use"}, "Background", 80},
		"one processor": {20, 1, 2, []string{"Background", "killed, its work is lost", "j1"}, "up to", 400},
		"a few":         {60, 16, 1, []string{"in use", "j1", "15"}, "killed", 700},
		"many":          {3000, 320, 2, []string{"Background", "killed, its work is lost", "300"}, "up to", 20000},
		"a texture":     {6000, 320, 2, []string{"Background", "killed, its work is lost"}, "j1", 200},
		"a whole log":   {40_000, 128, 2, []string{"nothing in use", "up to 25 %", "up to 100 %", "Background"}, "killed", 200},
		"large":         {30_000, 100_000, 1, []string{"up to 100 %", "100000"}, "Background", 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, e := manyJobs(c.n, c.processors, c.tiers)
			p := parse(t, execution(t, "svg", strings.Repeat("long <title> ", 99), in, e))
			texts(t, p, c.wantTexts, c.wantNever)
			finite(t, p)
			if len(p.paths) > c.shapesBelow {
				t.Errorf("%d shapes, want %d at most", len(p.paths), c.shapesBelow)
			}
			if p.width > 1440 || p.height > 1170 || p.width < 500 || p.height < 80 {
				t.Errorf("the picture is %v × %v", p.width, p.height)
			}
		})
	}
}

// A processor that is in use half of the time has the colour of a half in fields.
func TestExecutionShares(t *testing.T) {
	t.Parallel()
	in, e := &model.Batch{Name: "halves", Processors: 2, Tiers: 1}, &model.Execution{}
	const n = 20_001 // so many rectangles aren't drawn by themselves
	for i := range n {
		at := float64(2 * i)
		in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(i), SubmitS: at, RuntimeS: 1, Processes: 1})
		e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: fmt.Sprint(i), Segments: []model.Segment[model.BatchPlace]{{StartS: at, EndS: at + 1, Place: model.BatchPlace{Processors: model.ProcessorList{1}}}}})
	}
	p := parse(t, execution(t, "svg", "", in, e))
	area := 0.0
	back := rectangles(t, p, hex(theme.Faint))
	for _, c := range []string{share(2), share(3)} { // up to a half, or just above at the edges of fields
		for _, r := range rectangles(t, p, c) {
			if r.w > 30 || r.h > 9 { // not the legend's
				area += r.w * r.h
			}
		}
	}
	// Two rows of processors: the upper one is in use.
	if tier := back[1]; area < 0.49*tier.w*tier.h || area > 0.51*tier.w*tier.h {
		t.Errorf("%v of the fields are in use, want half of %v", area, tier.w*tier.h)
	}
}

func TestExecutionErrors(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		change string
		is     error
		want   string
	}{
		"format":        {"gif", "", draw.ErrFormat, `"gif"`},
		"instance":      {"svg", "Instance.Tiers=3", model.ErrInvalid, "tiers is 3"},
		"no job":        {"svg", "Solution.Runs.0.ID=z", model.ErrInvalid, `"z"`},
		"left out":      {"svg", "Solution.Runs=[1:]", model.ErrInvalid, `"b" doesn't run`},
		"no processor":  {"svg", "Solution.Runs.0.Segments.0.Place.Processors.1=4", model.ErrInvalid, `"b" is on processor 4, there are 0 to 3`},
		"negative":      {"svg", "Solution.Runs.0.Segments.0.Place.Processors.1=-1", model.ErrInvalid, `processor -1`},
		"twice":         {"svg", "Solution.Runs.0.Segments.0.Place.Processors.1=3", model.ErrInvalid, `"b" is on processor 3 twice`},
		"no background": {"svg", "Instance.Tiers=1", model.ErrInvalid, `"b" is in tier "background", there are 1 tiers`},
		"backwards":     {"svg", "Solution.Runs.1.Segments.0.StartS=101", model.ErrInvalid, `"a" runs from 101 to 100`},
	} {
		in, e := fourJobs()
		require.Set(t, &draw.Frame{Instance: in, Solution: e}, c.change)
		require.Refused(t, name, draw.Execution(new(bytes.Buffer), options(c.format), "", in, e), c.is, c.want)
	}
	in, e := fourJobs()
	tvc, _ := fourClusters()
	require.Refused(t, "an execution of a tvc",
		draw.Solution(new(bytes.Buffer), options("svg"), []draw.Frame{{Instance: tvc, Solution: e}}),
		model.ErrInvalid, "")
	at := 5.0
	require.Refused(t, "a moment of a batch",
		draw.Solution(new(bytes.Buffer), draw.Options{Style: draw.Style{Format: "svg"}, At: &at},
			[]draw.Frame{{Instance: in, Solution: e}}), model.ErrUnsupported, "")
}

// There is a picture within its bounds for any segments, feasible or not, the same again.
func TestExecutionAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in, e := manyJobs(rapid.IntRange(0, 60).Draw(rt, "jobs"), rapid.IntRange(1, 50).Draw(rt, "processors"), rapid.IntRange(1, 2).Draw(rt, "tiers"))
		for i := range e.Runs {
			for j := range e.Runs[i].Segments {
				s := &e.Runs[i].Segments[j]
				s.StartS = rapid.Float64Range(0, 1e4).Draw(rt, "start")
				s.EndS = s.StartS + rapid.SampledFrom([]float64{0, 1, 500, 1e9}).Draw(rt, "length")
			}
		}
		p := parse(t, execution(t, "svg", "t", in, e))
		if p.width > 1440 || p.height > 1170 {
			rt.Fatalf("%v × %v", p.width, p.height)
		}
		finite(t, p)
		again := parse(t, execution(t, "svg", "t", in, e))
		require.Same(rt, "another picture the second time", p, again, cmp.AllowUnexported(picture{}))
	})
}
