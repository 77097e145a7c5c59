// SPDX-License-Identifier: MIT

package report

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// queue is a machine of 8 processors with 20 days of jobs of five users.
func queue(rng *rand.Rand) *model.Batch {
	in := &model.Batch{Name: "machine", StartTime: "2026-01-05T00:00:00Z", Processors: 8, Tiers: 1}
	at := 0.0
	for k := range 400 {
		run := math.Round(60 + 20000*rng.Float64()*rng.Float64())
		in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(k + 1), SubmitS: at, RuntimeS: run, EstimateS: run * float64(1+rng.IntN(5)), Processes: 1 + rng.IntN(6),
			Log: &model.JobLog{User: fmt.Sprint("u", rng.IntN(5)), Queue: []string{"short", "long"}[rng.IntN(2)]}})
		at += math.Round(9000 * rng.Float64())
	}
	return in
}

func changesOf(t *testing.T, texts ...string) (all []Change) {
	t.Helper()
	for _, text := range texts {
		all = append(all, require.Value(ParseChange(text))(t))
	}
	return all
}

// A case equal to today changes nothing. Other figures equal a plain computation, and the change lies in its interval.
func TestWhatIf(t *testing.T) {
	t.Parallel()
	in := queue(rand.New(rand.NewPCG(27, 7)))
	x := require.Value(Solving{Seed: 1, Effort: 50_000}.whatIf(t.Context(), in, "easy",
		changesOf(t, "processors=1x,policy=easy,estimates=users", "processors=1.25x,policy=easy-saf",
			"estimates=exact", "load=1.2x", "estimates=predicted"), nil))(t)
	if x.block != "day" || len(x.blocks) < fewestBlocks || x.cases[2].in.Processors != 10 || x.cases[3].in.Jobs[7].EstimateS != in.Jobs[7].RuntimeS || in.Jobs[7].EstimateS == in.Jobs[7].RuntimeS {
		t.Fatalf("%d blocks by %s, %d processors", len(x.blocks), x.block, x.cases[2].in.Processors)
	}
	for _, c := range x.cases {
		starts := map[string]float64{}
		for _, r := range c.run.Solution.(*model.Execution).Runs {
			starts[r.ID] = r.Segments[0].StartS
		}
		var waits []float64
		sum, area, weighted := 0.0, 0.0, 0.0
		for _, j := range c.in.Jobs {
			wait := starts[j.ID] - j.SubmitS
			waits = append(waits, wait)
			sum += wait
			area += j.RuntimeS * float64(j.Processes)
			weighted += wait * j.RuntimeS * float64(j.Processes)
		}
		slices.Sort(waits)
		for i, want := range []float64{sum / 400, waits[199], waits[379], weighted / area} {
			if m := &whatIfMeasures[i]; math.Abs(m.valueOf(c)-want) > 1e-6*math.Max(1, want) {
				t.Errorf("%s: %s is %v, want %v", c.name, m.name, m.valueOf(c), want)
			}
		}
		if !(c.bound() <= *c.seer.Objective+1e-9) || !(*c.seer.Objective <= *c.run.Objective+1e-9) {
			t.Errorf("%s: bound %v, clairvoyant %v, policy %v", c.name, c.bound(), *c.seer.Objective, *c.run.Objective)
		}
		for i := range whatIfMeasures {
			m := &whatIfMeasures[i]
			low, high := x.interval(m, c)
			change := m.valueOf(c) - m.valueOf(x.cases[0])
			switch {
			case c == x.cases[1] && (change != 0 || !math.IsNaN(low) && (low != 0 || high != 0)):
				t.Errorf("%s of the same is another by %v, %v to %v", m.name, change, low, high)
			case m.percent == 0 && m.values != nil && !(low <= change && change <= high):
				t.Errorf("%s: the change %v of %s isn't in %v to %v", c.name, change, m.name, low, high)
			}
		}
	}
	// A percentile of resampled jobs equals the percentile of the jobs written out.
	m := whatIfMeasures[2]
	for k, y := range x.percentiles(x.cases[0].waits, 95)[:20] {
		var all []float64
		for _, b := range x.draws[k] {
			for _, j := range x.blocks[b] {
				all = append(all, x.cases[0].waits[j])
			}
		}
		slices.Sort(all)
		require.Same(t, fmt.Sprintf("draw %d: %s", k, m.name), all[(95*len(all)+99)/100-1], y)
	}
}

// No policy does better than the clairvoyant, which can copy any policy of the page, whatever the search has found.
func TestClairvoyantIsBest(t *testing.T) {
	t.Parallel()
	in := queue(rand.New(rand.NewPCG(27, 9)))
	for k := range in.Jobs { // more than there is room for: policies differ
		in.Jobs[k].SubmitS = math.Round(in.Jobs[k].SubmitS / 4)
	}
	x := require.Value(Solving{Seed: 1, Effort: 1}.whatIf(t.Context(), in, "fcfs",
		changesOf(t, "policy=sjf", "policy=spt", "processors=1.5x,policy=easy-saf"), nil))(t)
	differ := false
	for _, c := range x.cases {
		for _, o := range x.cases {
			if differ = differ || *c.run.Objective > *o.run.Objective; c.seer.Hash == o.run.Hash && *c.seer.Objective > *o.run.Objective {
				t.Errorf("%s: the clairvoyant has %v, %s of %s %v", c.name, *c.seer.Objective, o.Policy, o.name, *o.run.Objective)
			}
		}
	}
	if !differ {
		t.Error("all policies are alike")
	}
	all := require.Value(Solving{Seed: 1, TimeLimit: 1}.solve(t.Context(), in, nil))(t)
	last := all.runs[len(all.runs)-1]
	for _, r := range all.runs {
		if last.Algorithm != "auto" || *r.Objective < *last.Objective {
			t.Errorf("%s has %v, what anybody could reach %v of %s", r.Algorithm, *r.Objective, *last.Objective, last.Algorithm)
		}
	}
}

// Page and summary are the same again, the summary fits a terminal, and both name their parts.
func TestWhatIfPage(t *testing.T) {
	t.Parallel()
	in := queue(rand.New(rand.NewPCG(27, 8)))
	var pages, texts [2]bytes.Buffer
	for k := range pages {
		require.OK(t, WhatIf(t.Context(), &pages[k], &texts[k], in, "easy",
			changesOf(t, "processors=12", "policy=spt", "policy=fcfs", "load=0.9x"), nil,
			Solving{Seed: 3, Effort: 50_000}, Options{}))
	}
	if pages[0].String() != pages[1].String() || texts[0].String() != texts[1].String() {
		t.Error("another page from the same")
	}
	for _, line := range strings.Split(texts[0].String(), "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	require.Says(t, "the summary", texts[0].String(), "today: easy (online) on 8 processors",
		"B: policy=spt: spt (offline)", "D: load=0.9x", "mean wait (min)", "clairvoyant response (min)", "its error isn't known", "1000 resamples",
		"Steady: the tenth")
	require.Says(t, "the page", pages[0].String(), "By user", "By queue", "By size", "Between bound and clairvoyant", "offline",
		"processors=12", "mean response (min)</text>", "mean wait (min)", " min</")
}

// Each impossible change is refused in one line that shows a valid one.
func TestChangeRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "isn't key=value; give processors", "processors=0": "must be a number such as 120", "processors=1.5": "must be a number", "processors=-1x": "must be",
		"load=2": "must be a number of times", "policy=esy": "esy", "policy=auto": "auto is no policy but the yardstick", "policy=exact": "give an algorithm such as easy", "estimates=mine": "must be one of users, exact, predicted", "speed=2": `no key "speed"`, "processors=NaNx": "must be"} {
		require.Refused(t, text, require.Err(ParseChange(text)), model.ErrInvalid, want)
	}
	in := queue(rand.New(rand.NewPCG(27, 9)))
	for text, want := range map[string]string{"processors=0.5x": "jobs need more than 4 processors, up to 6", "policy=measy": "one tier", "speed=2x": `no key "speed"`, "policy=spt,estimates=predicted": "prediction",
		"policy=online:true,estimates=predicted": "predicts for itself"} {
		if _, err := (Solving{Effort: 50_000}).whatIf(t.Context(), in, "easy", changesOf(t, text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	in.Tiers = 2
	require.Refused(t, "error", require.Err((Solving{Effort: 50_000}).whatIf(t.Context(), in, "easy", nil, nil)),
		model.ErrUnsupported, "")
}

// The page and the summary of what-ifs that are stopped have the cases that have ended, and name the others; without
// today there are none.
func TestWhatIfStopped(t *testing.T) {
	t.Parallel()
	in := queue(rand.New(rand.NewPCG(27, 7)))
	changes := changesOf(t, "load=1.1x", "load=1.2x", "policy=fcfs")
	for ended := range 4 {
		ctx, stop := context.WithCancel(t.Context())
		if ended == 0 {
			stop()
		}
		said := 0
		s := Solving{Seed: 1, Effort: 20_000, Said: func(string) {
			if said++; said == ended {
				stop()
			}
		}}
		var page, text bytes.Buffer
		err := WhatIf(ctx, &page, &text, in, "easy", changes, nil, s, Options{})
		stop()
		if ended == 0 {
			require.Refused(t, "stopped before today", err, context.Canceled, "stopped before its end")
			continue
		}
		require.OK(t, err)
		var left []string
		for _, c := range changes[ended-1:] {
			left = append(left, c.Text)
		}
		want := "What the command was stopped before: " + strings.Join(left, "; ") + "."
		require.Says(t, "the summary", strings.Join(strings.Fields(text.String()), " "), want)
		require.Says(t, "the page", page.String(), want)
	}
}
