// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

func generate(t testing.TB, s instances.VCSchedSpec) *model.VCSched {
	t.Helper()
	return require.Value(s.Generate())(t)
}

func search(t testing.TB, ctx context.Context, in *model.VCSched, set model.Settings) model.Result {
	t.Helper()
	r := require.Value(vcexact.Search.Solve(ctx, in, set))(t)
	if r.Solution != nil {
		require.Feasible(verify.Result(t.Context(), in, r, verify.Options{}))(t)
	}
	return r
}

// The solution is the same, byte for byte, whatever the number of threads: on a size that needs the parallel phase, and
// on one that needs column generation.
func TestSameSolutionWithAnyThreads(t *testing.T) {
	t.Parallel()
	for _, s := range []instances.VCSchedSpec{
		{Hosts: 8, Jobs: 24, Slack: 0.5, CoVCPU: 0.75, CoVMemory: 0.25, Seed: 1},
		{Hosts: 64, Jobs: 100, Slack: 0.1, CoVCPU: 0.25, CoVMemory: 0.75, Index: 1, Seed: 1},
	} {
		in := generate(t, s)
		want := search(t, context.Background(), in, model.Settings{Seed: 3, Threads: 1})
		if want.Status != model.StatusOptimal {
			t.Fatalf("%s: %s (%s)", in.Name, want.Status, want.Reason)
		}
		for _, threads := range []int{2, 4} {
			got := search(t, context.Background(), in, model.Settings{Seed: 3, Threads: threads})
			require.Same(t, fmt.Sprintf("%s with %d threads", in.Name, threads), want.Solution, got.Solution)
		}
	}
}

// HiGHS has given wrong optima on these six instances.
func TestSymmetryCases(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.FromSlash("../../model/milp/highs/testdata/symmetry/*.json"))
	require.Is(t, 6, len(files), "files")
	for _, f := range files {
		data := require.Value(os.ReadFile(f))(t)
		var truth struct {
			Best float64 `json:"best_min_yield"`
		}
		require.OK(t, json.Unmarshal(data, &truth))
		text := string(data) // the truth is no part of the format
		in := require.Value(model.DecodeInstance([]byte(text[:strings.LastIndex(text, `, "best_min_yield"`)] + "}")))(t)
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
