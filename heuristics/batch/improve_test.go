// SPDX-License-Identifier: MIT

package batch

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// improve is never worse than the best list, PEASY and its start, reports each better execution, and may be stopped at
// any moment.
func TestImprove(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 6))
	better, rounds := 0, require.Rounds(200)
	for round := range rounds {
		in := testkit.RandomBatch(rng, 1+round%2, 8, 2+rng.IntN(40))
		worst := func(e *model.Execution, err error) model.Objective {
			if err != nil {
				t.Fatal(err)
			}
			o, err := in.Objective(e)
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		best := worst(bestList(run.New(t.Context(), "test", in, model.Settings{}), in))
		list := best
		set := model.Settings{Seed: rng.Uint64()}
		if rng.IntN(2) == 0 {
			e, err := Conservative(t.Context(), in, model.Settings{})
			if o := worst(e, err); o.Better(best) {
				best = o
			}
			set.Start = e
		}
		if in.Tiers == 2 {
			e, err := PEASY(t.Context(), in, model.Settings{})
			if o := worst(e, err); o.Better(best) {
				best = o
			}
			if rng.IntN(2) == 0 {
				set.Start = e
			}
		}
		told := []model.Progress{}
		set.Progress = func(p model.Progress) { told = append(told, p) }
		ctx := &testkit.StopAfter{Context: t.Context(), Looks: rng.IntN(60)}
		e, err := improve(run.New(ctx, "test", in, set), in)
		o := worst(e, err)
		if ctx.Looks > 12 && best.Better(o) {
			t.Fatalf("%+v, there was %+v\n%+v", o, best, in)
		}
		if report, err := verify.Verify(t.Context(), in, e, verify.Options{}); err != nil || report.Err() != nil {
			t.Fatalf("%v, %v\n%+v", err, report, in)
		}
		if o.Better(list) {
			better++
		}
		for i, p := range told {
			if p.Solution == nil {
				continue // it was reported before
			}
			if x := worst(p.Solution.(*model.Execution), nil); x.Value != p.Incumbent || i > 0 && told[i-1].Incumbent < x.Value {
				t.Fatalf("told %v, its value is %v; before %v", p.Incumbent, x, told[max(0, i-1)].Incumbent)
			}
		}
		if last := told[len(told)-1].Incumbent; last != o.Value {
			t.Fatalf("told %v at last, returned %v", last, o.Value)
		}
	}
	if better < rounds/4 {
		t.Errorf("better than the lists %d times of %d only", better, rounds)
	}
}
