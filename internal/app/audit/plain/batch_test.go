// SPDX-License-Identifier: MIT

package plain_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func TestBatchAgainstBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 45))
	waiting := 0
	for range need.Rounds(1000) {
		in := testkit.RandomBatch(rng, 1, 6, rng.IntN(7))
		total, e := testkit.BruteBatch(in)
		if total >= 1<<50 {
			continue // a mean in float64 doesn't tell totals of a microsecond's difference apart
		}
		if len(in.Jobs) == 0 {
			agree(t, in, 0)
			continue
		}
		agree(t, in, view.OfBatch(in).Mean(total, 1))
		a := solved(t, in, math.NaN())
		if r, err := verify.Verify(t.Context(), in, a.Solution, verify.Options{}); err != nil || !r.Feasible() {
			t.Fatalf("%v, %v\n%+v", r, err, in)
		}
		for k := range e.Runs {
			if e.Runs[k].Segments[0].StartS > in.Jobs[k].SubmitS {
				waiting++
			}
		}
	}
	if waiting < need.Rounds(1000)/2 {
		t.Errorf("%d jobs wait", waiting)
	}
}

func TestBatchRefuses(t *testing.T) {
	two := testkit.RandomBatch(rand.New(rand.NewPCG(12, 46)), 2, 3, 3)
	many := &model.Batch{Processors: 1, Tiers: 1}
	for k := range 1001 {
		many.Jobs = append(many.Jobs, model.BatchJob{ID: fmt.Sprint(k), RuntimeS: 1, Processes: 1})
	}
	for _, in := range []*model.Batch{two, many} {
		if _, err := plain.Solve(in, math.NaN(), enough); !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%v, want ErrUnsupported", err)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	for _, jobs := range []int{6, 8, 10, 12} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(12, 47))
			grow(b, func() model.Instance { return testkit.RandomBatch(rng, 1, 8, jobs) })
		})
	}
}
