// SPDX-License-Identifier: MIT

package testkit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func TestBruteBatch(t *testing.T) {
	t.Parallel()
	job := func(submit, runtime float64, processes int) model.BatchJob {
		return model.BatchJob{SubmitS: submit, RuntimeS: runtime, Processes: processes}
	}
	weighted := func(weight int, j model.BatchJob) model.BatchJob {
		j.Weight = weight
		return j
	}
	killed := job(0, 9, 2)
	killed.EstimateS = 1
	for name, c := range map[string]struct {
		jobs []model.BatchJob
		want float64
	}{
		"nothing":             {nil, 0},
		"one":                 {[]model.BatchJob{job(5, 2.5, 2)}, 2.5},
		"side by side":        {[]model.BatchJob{job(0, 3, 1), job(0, 4, 1)}, 7},
		"shortest first":      {[]model.BatchJob{job(0, 3, 2), job(0, 1, 2)}, 1 + 4},
		"as another ends":     {[]model.BatchJob{job(0, 3, 2), job(3, 1, 2)}, 3 + 1},
		"a microsecond later": {[]model.BatchJob{job(0, 3.000001, 2), job(3, 1, 2)}, 3.000001 + 1.000001},
		"waiting pays":        {[]model.BatchJob{job(0, 100, 2), job(1, 1, 1), job(1, 1, 1)}, 102 + 1 + 1},
		"backfilled":          {[]model.BatchJob{job(0, 2, 1), job(0, 2, 2), job(0, 1, 1)}, 2 + 4 + 1},
		"heaviest first":      {[]model.BatchJob{weighted(4, job(0, 3, 2)), job(0, 1, 2)}, 4*3 + 4},
		"too light":           {[]model.BatchJob{weighted(2, job(0, 3, 2)), job(0, 1, 2)}, 2*4 + 1},
		"killed":              {[]model.BatchJob{killed, job(0, 2, 2)}, 1 + 3},
	} {
		t.Run(name, func(t *testing.T) {
			in := &model.Batch{Processors: 2, Tiers: 1, KillAtEstimate: true, Jobs: c.jobs}
			for k := range in.Jobs {
				in.Jobs[k].ID = fmt.Sprint(k)
			}
			got, e := testkit.BruteBatch(in)
			if want := int64(c.want*1e6 + 0.5); got != want {
				t.Errorf("%d, want %d", got, want)
			}
			if r, err := verify.Verify(t.Context(), in, e, verify.Options{}); err != nil || !r.Feasible() {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
}

// What is drawn is valid and has all that the families promise; the best execution
// is feasible, has the total that is claimed, and no execution in which jobs start
// in a random order, as early as others leave room or later, is better.
func TestRandomBatch(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 44))
	seen := map[string]int{}
	rounds := need.Rounds(600)
	for round := range rounds {
		in := testkit.RandomBatch(rng, 1+round%2, 5, 1+rng.IntN(6))
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		for k := range in.Jobs {
			j := &in.Jobs[k]
			for name, is := range map[string]bool{
				"together": k > 0 && j.SubmitS == in.Jobs[k-1].SubmitS, "apart": k > 0 && j.SubmitS > in.Jobs[k-1].SubmitS,
				"no estimate": j.EstimateS == 0, "exact": j.EstimateS == j.RuntimeS, "too long": j.EstimateS > j.RuntimeS, "too short": j.EstimateS > 0 && j.EstimateS < j.RuntimeS,
				"killed": in.Work(k) < j.RuntimeS, "no uses": len(j.CPU) == 0, "one use": len(j.CPU) == 1 && j.Processes > 1, "many uses": len(j.CPU) > 1, "all processors": j.Processes == in.Processors && j.Processes > 1,
				"no progress": in.Tiers == 2 && j.BgEfficiency == 0, "all progress": j.BgEfficiency == 1, "at the threshold": in.Tiers == 2 && slices.Contains(j.CPU, in.EffectiveThreshold()),
				"light": j.Weight < 2, "heavy": j.Weight > 1, "heaviest": j.Weight == model.MostWeight,
				"endless": in.Threshold > 1, "free migration": in.Tiers == 2 && in.MigrationS == 0, "long migration": in.MigrationS > j.RuntimeS,
			} {
				if is {
					seen[name]++
				}
			}
		}
		if in.Tiers == 2 {
			continue
		}
		least, e := testkit.BruteBatch(in)
		r, err := verify.Verify(t.Context(), in, e, verify.Options{})
		if mean := view.OfBatch(in).Mean(least, 1); err != nil || !r.Feasible() || math.Abs(r.Objective-mean) > 1e-14*mean {
			t.Fatalf("%v, %v, the mean is %v\n%+v\n%+v", r, err, mean, in, e)
		}
		for range 5 {
			starts := make([]int64, len(in.Jobs))
			total, longest := int64(0), int64(1)
			for k := range in.Jobs {
				longest = max(longest, int64(in.Jobs[k].RuntimeS*1e6+0.5))
			}
			for k := range in.Jobs {
				starts[k] = int64(in.Jobs[k].SubmitS*1e6+0.5) + rng.Int64N(2*longest)*int64(rng.IntN(2))
				total += int64(in.Jobs[k].EffectiveWeight()) * (starts[k] + int64(in.Work(k)*1e6+0.5) - int64(in.Jobs[k].SubmitS*1e6+0.5))
			}
			r, err := verify.Verify(t.Context(), in, testkit.BatchStarts(in, starts), verify.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Feasible() {
				seen["random starts"]++
				if total < least {
					t.Fatalf("a total of %d is below %d\n%+v\n%v", total, least, in, starts)
				}
			}
		}
	}
	if len(seen) != 21 || slices.Min(values(seen)) < rounds/30 {
		t.Errorf("seen: %v", seen)
	}
}

func values(m map[string]int) (all []int) {
	for _, n := range m {
		all = append(all, n)
	}
	return all
}
