// SPDX-License-Identifier: MIT

package reservation

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// randomJobs returns some jobs of similar size; all of their windows may touch.
func randomJobs(rng *rand.Rand, n, pes int) []job {
	jobs := make([]job, n)
	longest, slack, span, heavy := 1+rng.Int64N(8), 1+rng.Int64N(8), 1+rng.Int64N(int64(2*n)), rng.IntN(2)
	for i := range jobs {
		j := job{ready: tick(rng.Int64N(span)), length: tick(1 + rng.Int64N(longest)), pes: 1 + rng.IntN(pes), weight: 1, id: int32(i)}
		j.latest = j.ready + tick(rng.Int64N(slack))
		if heavy == 1 {
			j.weight = float64(j.pes) * float64(j.length)
		}
		jobs[i] = j
	}
	slices.SortFunc(jobs, byReady)
	return jobs
}

// asReservation returns the jobs as requests, of which the weights are counted.
func asReservation(jobs []job, pes int) *model.Reservation {
	in := &model.Reservation{PEs: pes, Goal: model.GoalAccepted}
	for k, j := range jobs {
		if j.weight > 1 {
			in.Goal = model.GoalPESeconds
		}
		in.Requests = append(in.Requests, model.Request{ID: strconv.Itoa(k), ReadyS: float64(j.ready),
			DurationS: float64(j.length), DeadlineS: float64(j.latest + j.length), PEs: j.pes})
	}
	return in
}

// The bound of a part is no less than the optimum after it is rounded down to a whole grain.
func TestPartsAgainstBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 20))
	tight, n := 0, require.Rounds(6000)
	for range n {
		pes := 1 + rng.IntN(9)
		jobs := randomJobs(rng, 1+rng.IntN(7), pes)
		in := asReservation(jobs, pes)
		want, _ := plain.Optimum(in)
		x := newSearcher(&engine.Run{Ctx: t.Context()}, in, view.OfReservation(in))
		sum := 0.0
		for _, p := range x.parts {
			x.bound(p)
			sum += p.upper
		}
		if sum *= x.scale.weight; sum < want {
			t.Fatalf("the parts' bounds sum to %v, the optimum is %v: %d PEs, %+v", sum, want, pes, jobs)
		}
		if sum == want {
			tight++
		}
	}
	if tight < n*4/5 {
		t.Errorf("only %d of %d bounds are tight", tight, n)
	}
}

// If a gap limit ends the search, the bound is no less than the optimum, and the plan no more.
func TestGapLimit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 26))
	open := 0
	for range 400 {
		pes := 1 + rng.IntN(8)
		in := asReservation(randomJobs(rng, 8+rng.IntN(4), pes), pes)
		whole, err := Kernel.Solve(t.Context(), in, model.Settings{})
		if err != nil || whole.Status != model.StatusOptimal {
			t.Fatal(whole.Status, err)
		}
		gap := 0.05 + 0.5*rng.Float64()
		x := newSearcher(&engine.Run{Ctx: t.Context(), Set: model.Settings{Gap: gap}}, in, view.OfReservation(in))
		x.off = localSearch | charges
		require.OK(t, x.run())
		value, upper := x.objective(x.value()), x.objective(x.upper())
		if value > whole.Objective || upper < whole.Objective || model.Gap(value, upper) > gap {
			t.Fatalf("gap limit %v: %v, bound %v, the optimum is %v: %+v", gap, value, upper, whole.Objective, in)
		}
		if upper > value {
			open++
		}
	}
	if open < 60 {
		t.Errorf("only %d end by the gap limit", open)
	}
}

// A weight that would be lost in the sum of a plan is rounded up to one that isn't: two jobs of 2^60, and one of
// weight 1 between them.
func TestLostWeight(t *testing.T) {
	t.Parallel()
	const long = 1 << 50
	in := &model.Reservation{PEs: 1000, Goal: model.GoalPESeconds, Requests: []model.Request{
		{ID: "a", ReadyS: 0, DurationS: long, DeadlineS: long, PEs: 1000},
		{ID: "small", ReadyS: long - 1, DurationS: 1, DeadlineS: long + 3, PEs: 1},
		{ID: "b", ReadyS: long + 2, DurationS: long, DeadlineS: 2*long + 3, PEs: 1000},
	}}
	require.OK(t, in.Validate())
	x := newSearcher(&engine.Run{Ctx: t.Context()}, in, view.OfReservation(in))
	x.off = localSearch
	if err := x.run(); err != nil || x.value() != x.total || x.objective(x.upper()) < 2000*long+1 {
		t.Errorf("%v of %v, bound %v: %v", x.value(), x.total, x.upper(), err)
	}
}

// Weights of whole numbers of PE-ticks are whole units, without a quotient of
// rounded seconds.
func TestJobWeights(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(15, 27))
	whole := 0
	for range 2000 {
		in := &model.Reservation{PEs: 8, Goal: model.GoalPESeconds}
		decimals := rng.IntN(8)
		scale := math.Pow10(decimals)
		var ticks []int64
		for k := range 3 {
			n := 1 + rng.Int64N(1<<46)
			pes := 1 + rng.IntN(8)
			ticks = append(ticks, n*int64(pes))
			in.Requests = append(in.Requests, model.Request{ID: string(rune('a' + k)), DurationS: float64(n) / scale, DeadlineS: float64(n+5) / scale, PEs: pes})
		}
		jobs, u := newJobs(view.OfReservation(in))
		unit := units.GCD(units.GCD(ticks[0], ticks[1]), ticks[2])
		for i := range jobs {
			if u.grain == 1 && jobs[i].weight != float64(ticks[jobs[i].id]/unit) {
				t.Fatalf("weight %v, want %v/%d: %+v", jobs[i].weight, ticks[jobs[i].id], unit, in.Requests)
			}
		}
		if u.grain == 1 {
			whole++
		}
	}
	if whole < 1000 {
		t.Errorf("only %d of 2000 have whole weights", whole)
	}
}
