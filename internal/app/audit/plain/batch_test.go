// SPDX-License-Identifier: MIT

package plain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func TestBatch(t *testing.T) {
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
			weights := 0
			for k := range in.Jobs {
				weights += in.Jobs[k].EffectiveWeight()
			}
			agree(t, in, c.want/max(1, float64(weights)))
		})
	}
}

// No execution in which jobs start in a random order, as early as others leave room or later,
// is better than the best one.
func TestBatchRandomStarts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 45))
	waiting, compared, rounds := 0, 0, require.Rounds(1000)
	for range rounds {
		in := testkit.RandomBatch(rng, 1, 6, 1+rng.IntN(6))
		micros := func(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }
		longest := int64(1)
		for k := range in.Jobs {
			longest = max(longest, micros(in.Jobs[k].RuntimeS))
		}
		if float64(longest)*float64(model.MostWeight) > 1<<50 {
			continue // a mean in float64 doesn't distinguish totals that differ by a microsecond
		}
		a := consistent(t, in)
		for k, r := range a.Solution.(*model.Execution).Runs {
			if r.Segments[0].StartS > in.Jobs[k].SubmitS {
				waiting++
			}
		}
		for range 5 {
			starts := make([]int64, len(in.Jobs))
			for k := range in.Jobs {
				starts[k] = micros(in.Jobs[k].SubmitS) + rng.Int64N(2*longest)*int64(rng.IntN(2))
			}
			r := require.Value(verify.Verify(t.Context(), in, plain.BatchStarts(in, starts), verify.Options{}))(t)
			if r.Feasible() {
				if compared++; r.Objective < a.Value*(1-1e-14) {
					t.Fatalf("%v is below %v\n%+v\n%v", r.Objective, a.Value, in, starts)
				}
			}
		}
	}
	if waiting < rounds/2 || compared < rounds/30 {
		t.Errorf("%d jobs wait, %d random executions are feasible", waiting, compared)
	}
}

func TestBatchRefuses(t *testing.T) {
	two := testkit.RandomBatch(rand.New(rand.NewPCG(12, 46)), 2, 3, 3)
	many := &model.Batch{Processors: 1, Tiers: 1}
	for k := range 1001 {
		many.Jobs = append(many.Jobs, model.BatchJob{ID: fmt.Sprint(k), RuntimeS: 1, Processes: 1})
	}
	for _, in := range []*model.Batch{two, many} {
		require.Refused(t, "error", require.Err(plain.Solve(in, math.NaN(), enough)), model.ErrUnsupported, "")
	}
}
