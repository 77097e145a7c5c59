// SPDX-License-Identifier: MIT

package planstate_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/verify"
)

// TestStateJudges compares the state of any plan, made and unmade task by task, with the judge: whether it is feasible,
// and its figures.
func TestStateJudges(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	feasible := 0
	for k := range 30_000 {
		in := testkit.Consolidation(rng, 2+rng.IntN(6), 1+rng.IntN(4))
		if k >= 20_000 {
			in = testkit.Loosen(rng, in)
		}
		c := view.OfConsolidation(in, -1)
		s := planstate.Of(c, c.Today())
		for range 12 {
			i := rng.IntN(len(c.Jobs))
			k := rng.IntN(len(c.Jobs[i].Current))
			if s.Plan[i][k] >= 0 {
				s.Remove(i, k)
			}
			h := rng.IntN(len(c.Hosts)+1) - 1
			if h < 0 || c.Jobs[i].Current[k] != int32(h) && (c.Jobs[i].Pinned || !c.Jobs[i].Allowed.Has(h)) {
				continue
			}
			over := s.Over
			can := s.Can(i, k, h)
			s.Add(i, k, h)
			if can && (s.Over > over) {
				t.Fatalf("a task can be placed on host %d, which is over then", h)
			}
		}
		if cost, moves := c.Figures(s.Plan); s.Cost != cost || s.Moves != moves {
			t.Fatalf("the state has %d and %d, the plan %d and %d", s.Cost, s.Moves, cost, moves)
		}
		pinned := false
		for i := range c.Jobs {
			for k := range s.Plan[i] {
				pinned = pinned || c.Jobs[i].Pinned && s.Plan[i][k] != c.Jobs[i].Current[k]
			}
		}
		if pinned {
			continue
		}
		r := require.Value(verify.Verify(t.Context(), in, c.Assignment(s.Plan), verify.Options{}))(t)
		if r.Feasible() != s.Feasible() {
			t.Fatalf("feasible: the state says %v, the judge %v: %v\n%+v", s.Feasible(), r.Feasible(), r.Violations, s)
		}
		if first, second := s.Value(); r.Feasible() && (r.Objective != float64(first) || r.Second != float64(second)) {
			t.Fatalf("figures: the state says %d, %d, the judge %v, %v", first, second, r.Objective, r.Second)
		}
		if r.Feasible() {
			feasible++
		}
	}
	if feasible < 2000 {
		t.Errorf("only %d plans are feasible", feasible)
	}
}
