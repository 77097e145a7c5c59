// SPDX-License-Identifier: MIT

package bookings

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/lns"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// For up to seven requests one neighbourhood is the whole: the plan is optimal.
func TestWindowsReachTheOptimum(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 1))
	better := 0
	for range require.Rounds(3000) {
		in := testkit.RandomReservation(rng, 1+rng.IntN(7))
		if in.EffectiveGoal() == model.GoalAll {
			in.Goal = model.GoalAccepted
		}
		v := view.OfReservation(in)
		want, _ := plain.Optimum(in)
		p := NewOffline(v, rng.Uint64())
		if rng.IntN(2) == 0 {
			p.Construct(t.Context(), nil)
		}
		before := p.Value()
		p.Windows(t.Context(), false, math.Inf(1), func() {}, func() {})
		if got := p.Value() + v.FreeWeight; math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Fatalf("%v, the optimum is %v\n%+v", got, want, in)
		}
		if p.Value() > before {
			better++
		}
		require.OK(t, v.Check(p.Starts()))
	}
	if better < require.Rounds(3000)/20 {
		t.Errorf("better %d times only", better)
	}
}

// Neighbourhoods that are smaller than the instance never make a plan worse, nor better
// than the optimum, and keep to the PEs. The same seed gives the same plan.
func TestWindowsOfSomeJobs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 2))
	better := 0
	for range require.Rounds(1000) {
		n := 3 + rng.IntN(5)
		in := testkit.RandomReservation(rng, n)
		v := view.OfReservation(in)
		want, _ := plain.Optimum(in)
		seed := rng.Uint64()
		var starts [2][]int64
		for i := range starts {
			p := NewOffline(v, seed)
			x := newWindows(p)
			for round := range 20 {
				if !slices.Contains(p.starts, view.Declined) {
					break
				}
				before := p.Value()
				var o lns.Outcome
				if kind := round % kinds; kind == byHeat {
					p.anneal(meter.Limit(t.Context(), int64(1+100*round)), math.Inf(1))
					o.Better = p.Value() > before*(1+1e-12)
				} else {
					o = x.search(t.Context(), x.choose(kind, 1+round%max(1, len(p.starts)-1)))
				}
				if o.Better != (p.Value() > before*(1+1e-12)) || p.Value() < before*(1-1e-12) {
					t.Fatalf("better %v: from %v to %v", o.Better, before, p.Value())
				}
				if o.Better {
					better++
				}
				sum := 0.0
				for k, s := range p.Starts() {
					if s != view.Declined {
						sum += v.Jobs[k].Weight
					}
				}
				if math.Abs(sum-p.Value()) > 1e-9*sum || in.EffectiveGoal() != model.GoalAll && sum+v.FreeWeight > want*(1+1e-9) {
					t.Fatalf("the value %v of a plan of %v, the optimum is %v", p.Value(), sum, want)
				}
				relaxed := *v
				relaxed.Goal = model.GoalAccepted
				require.OK(t, relaxed.Check(p.Starts()))
			}
			starts[i] = p.Starts()
		}
		if !slices.Equal(starts[0], starts[1]) {
			t.Fatalf("one seed gives %v and %v", starts[0], starts[1])
		}
	}
	if better < require.Rounds(1000) {
		t.Errorf("better %d times only", better)
	}
}

// Windows find more than only the steps of Improve, and end with the effort.
func TestWindowsBringMore(t *testing.T) {
	t.Parallel()
	v := view.OfReservation(testkit.RandomReservation(rand.New(rand.NewPCG(26, 3)), 150))
	p := NewOffline(v, 1)
	p.Construct(t.Context(), nil)
	before := p.Value()
	told := 0
	p.Windows(meter.Limit(context.Background(), 50_000), true, math.Inf(1), func() { told++ }, func() {})
	if p.Value() <= before || told == 0 {
		t.Errorf("from %v to %v, told %d times", before, p.Value(), told)
	}
	relaxed := *v
	relaxed.Goal = model.GoalAccepted
	require.OK(t, relaxed.Check(p.Starts()))
}
