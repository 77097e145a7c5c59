// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

func generate(t testing.TB, s instances.VCSchedSpec) *model.VCSched {
	t.Helper()
	in, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func search(t testing.TB, ctx context.Context, in *model.VCSched, set model.Settings) model.Result {
	t.Helper()
	r, err := vcexact.Search.Solve(ctx, in, set)
	if err != nil {
		t.Fatal(err)
	}
	if r.Solution != nil {
		if report, err := verify.Result(t.Context(), in, r, verify.Options{}); err != nil || !report.Feasible() {
			t.Fatal(report, err)
		}
	}
	return r
}

// The engines agree beyond what brute force reaches, on the paper's instances.
func TestEnginesAgree(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	proved := 0
	for k := range need.Rounds(20) {
		in := generate(t, instances.VCSchedSpec{Hosts: 3 + k%3, Jobs: 10 - k%4, Slack: 0.1 + 0.1*float64(k%9), CoVCPU: 0.75, CoVMemory: 0.25 + 0.5*float64(k%2),
			MaxTasks: 1 + k%4/3*2, Index: k, Seed: 11})
		a := search(t, context.Background(), in, model.Settings{Seed: 1})
		b, err := vcexact.Linear(highs.Backend, "").Solve(context.Background(), in, model.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != b.Status || a.Status == model.StatusOptimal && math.Abs(a.Objective-b.Objective) > 1e-6 {
			t.Fatalf("%s: search %s %v, highs %s %v", in.Name, a.Status, a.Objective, b.Status, b.Objective)
		}
		if a.Status == model.StatusOptimal {
			proved++
		}
	}
	if proved < need.Rounds(20)/2 {
		t.Errorf("only %d had a solution", proved)
	}
}

// The solution is the same, byte for byte, whatever the number of threads: on a size that needs the parallel phase, and
// on one that needs column generation.
func TestSameSolutionWithAnyThreads(t *testing.T) {
	t.Parallel()
	for _, s := range []instances.VCSchedSpec{
		{Hosts: 8, Jobs: 24, Slack: 0.5, CoVCPU: 0.75, CoVMemory: 0.25, Seed: 1},
		{Hosts: 64, Jobs: 100, Slack: 0.1, CoVCPU: 0.25, CoVMemory: 0.75, Index: 1, Seed: 1},
	} {
		if s.Hosts > 8 && !highs.Available() { // no column generation, and no proof for hours
			continue
		}
		in := generate(t, s)
		want := search(t, context.Background(), in, model.Settings{Seed: 3, Threads: 1})
		if want.Status != model.StatusOptimal {
			t.Fatalf("%s: %s (%s)", in.Name, want.Status, want.Reason)
		}
		for _, threads := range []int{2, 4} {
			got := search(t, context.Background(), in, model.Settings{Seed: 3, Threads: threads})
			if d := cmp.Diff(want.Solution, got.Solution); d != "" {
				t.Errorf("%s with %d threads (-want,+got):\n%s", in.Name, threads, d)
			}
		}
	}
}

// expired is a context that ends by its deadline when the one within is cancelled.
type expired struct{ context.Context }

func (c expired) Err() error {
	if c.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// Value hides the context within; derived contexts would take its error.
func (expired) Value(any) any { return nil }

// Stopped in the middle, the search has a solution and a bound around it.
func TestSearchStops(t *testing.T) {
	t.Parallel()
	in := generate(t, instances.VCSchedSpec{Hosts: 64, Jobs: 250, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.75, Seed: 1})
	for want, limit := range map[string]func(context.Context) context.Context{
		"interrupted":               func(ctx context.Context) context.Context { return ctx },
		"stopped by the time limit": func(ctx context.Context) context.Context { return expired{ctx} },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r := search(t, limit(ctx), in, model.Settings{Progress: func(p model.Progress) {
			if !math.IsNaN(p.Incumbent) {
				cancel()
			}
		}})
		if r.Status != model.StatusFeasible || r.Reason != want || !(r.Bound >= r.Objective) {
			t.Errorf("%s %v %v %q, want %q", r.Status, r.Objective, r.Bound, r.Reason, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := search(t, ctx, in, model.Settings{}); r.Status == model.StatusOptimal {
		t.Error("optimal although it was stopped before it began")
	}
}

// A larger gap that is asked for is met, and called optimal only within it.
func TestSearchGap(t *testing.T) {
	t.Parallel()
	in := generate(t, instances.VCSchedSpec{Hosts: 64, Jobs: 250, Slack: 0.5, CoVCPU: 0.25, CoVMemory: 0.25, Seed: 1})
	r := search(t, context.Background(), in, model.Settings{Gap: 0.01})
	if r.Status != model.StatusOptimal || r.Gap > 0.01 {
		t.Errorf("%s, gap %v", r.Status, r.Gap)
	}
}

// The result is never below a start solution.
func TestStartSolution(t *testing.T) {
	t.Parallel()
	in := generate(t, instances.VCSchedSpec{Hosts: 8, Jobs: 20, Slack: 0.4, CoVCPU: 0.5, CoVMemory: 0.5, Seed: 4})
	best := search(t, context.Background(), in, model.Settings{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := search(t, ctx, in, model.Settings{Start: best.Solution}); r.Objective < best.Objective-1e-12 {
		t.Errorf("objective %v after a start of %v", r.Objective, best.Objective)
	}
	need.HiGHS(t)
	r, err := vcexact.Linear(highs.Backend, "").Solve(context.Background(), in, model.Settings{Start: best.Solution, TimeLimit: 20 * time.Second})
	if err != nil || r.Objective < best.Objective-1e-9 {
		t.Errorf("highs: objective %v after a start of %v: %v", r.Objective, best.Objective, err)
	}
}

// HiGHS has given wrong optima on these six instances.
func TestSymmetryCases(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.FromSlash("../../model/milp/highs/testdata/symmetry/*.json"))
	if len(files) != 6 {
		t.Fatalf("%d files, want 6", len(files))
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var truth struct {
			Best float64 `json:"best_min_yield"`
		}
		if err := json.Unmarshal(data, &truth); err != nil {
			t.Fatal(err)
		}
		text := string(data) // the truth is no part of the format
		in, err := model.DecodeInstance([]byte(text[:strings.LastIndex(text, `, "best_min_yield"`)] + "}"))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []model.Solver{vcexact.Search, vcexact.Linear(highs.Backend, "")} {
			if s.Name() == "highs" && !highs.Available() {
				continue
			}
			r, err := s.Solve(context.Background(), in, model.Settings{})
			if err != nil || r.Status != model.StatusOptimal || math.Abs(r.Objective-truth.Best) > 1e-8 {
				t.Errorf("%s by %s: %s %v, want %v; %v", filepath.Base(f), s.Name(), r.Status, r.Objective, truth.Best, err)
			}
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	for name, s := range map[string]instances.VCSchedSpec{
		"hosts=4/jobs=12":  {Hosts: 4, Jobs: 12, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.25, Seed: 1},
		"hosts=8/jobs=24":  {Hosts: 8, Jobs: 24, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.25, Seed: 1},
		"hosts=12/jobs=36": {Hosts: 12, Jobs: 36, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.25, Seed: 1},
	} {
		in := generate(b, s)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r := search(b, context.Background(), in, model.Settings{Seed: 1}); r.Status != model.StatusOptimal {
					b.Fatal(r.Status)
				}
			}
		})
	}
}
