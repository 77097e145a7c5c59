// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/lagrange"
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

// randomRelaxation has no good multipliers, but gives bounds.
func randomRelaxation(rng *rand.Rand, pes int, jobs []job) *relaxation {
	g := newGrid(jobs, 8+rng.IntN(20))
	corners := g.corners(jobs)
	y := make([]float64, g.cells())
	for c := range y {
		y[c] = max(0, rng.Float64()-0.3) * g.length(c)
	}
	if rng.IntN(3) == 0 {
		lagrange.Descend(lagrangian(context.Background(), pes, jobs, g, corners), y, newWeight, 0, 0, rng.IntN(30))
	}
	return newRelaxation(pes, jobs, g, corners, charged(pes, jobs, g, y))
}

// The sweep alone finds the optimum, for any multipliers, direction, states to compare with and memory.
func TestSweepAgainstBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 20))
	n := require.Rounds(20_000)
	nodes := int64(0)
	for range n {
		pes := 1 + rng.IntN(9)
		jobs := randomJobs(rng, 1+rng.IntN(7), pes)
		want, _ := plain.Optimum(asReservation(jobs, pes))
		var relax *relaxation
		if rng.IntN(3) > 0 {
			relax = randomRelaxation(rng, pes, jobs)
		}
		for _, target := range []float64{1, want, want + 1} {
			left, r := jobs, relax
			if r != nil {
				if b := r.bound(); b < want*(1-1e-9) {
					t.Fatalf("a bound of %v, the optimum is %v: %d PEs, %+v", b, want, pes, jobs)
				}
				if rng.IntN(2) == 0 {
					r = r.reversed()
				}
				left = r.jobs
			}
			s := newSweep(context.Background(), pes, left, r)
			s.target, s.slack, s.best = target, 1e-9, 0
			if rng.IntN(2) == 0 {
				s.mostOpen, s.mostTrace = rng.IntN(4), rng.IntN(9)
			}
			s.comparisons = []int{0, 3, maxComparisons}[rng.IntN(3)]
			if !s.run() {
				t.Fatal("not all searched")
			}
			nodes += s.nodes
			if target <= want && s.best != want || s.best > want {
				t.Fatalf("%v, want %v (target %v): %d PEs, %+v", s.best, want, target, pes, jobs)
			}
			value, used := 0.0, make(map[tick]int)
			for j, start := range s.plan {
				if value += j.weight; start < j.ready || start > j.latest {
					t.Fatalf("a start out of its window: %+v at %d", j, start)
				}
				for at := start; at < start+j.length; at++ {
					if used[at] += j.pes; used[at] > pes {
						t.Fatalf("%d PEs in use at %d: %d PEs, %+v", used[at], at, pes, jobs)
					}
				}
			}
			if value != s.best {
				t.Fatalf("the trace is worth %v, want %v", value, s.best)
			}
		}
	}
	if nodes < int64(n) {
		t.Errorf("%d states in all: too easy", nodes)
	}
}

// Each device off by itself gives the same optimum as all on, at sizes beyond brute force, with equal jobs and windows
// that just fit.
func TestSweepDevices(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(10, 22))
	more := map[switches]int64{}
	ofSweep := []switches{activeSchedules, identicalJobs, dominance, lagrangianBound, capacityReduction}
	for range 250 {
		pes := 1 + rng.IntN(8)
		jobs := randomJobs(rng, 8+rng.IntN(5), pes)
		if rng.IntN(2) == 0 { // equal ones
			for i := range jobs {
				jobs[i].pes, jobs[i].length = min(pes, 1+jobs[i].pes%2), 1+jobs[i].length%3
				if jobs[i].weight != 1 {
					jobs[i].weight = float64(jobs[i].pes) * float64(jobs[i].length)
				}
			}
		}
		r := randomRelaxation(rng, pes, jobs)
		search := func(off switches) float64 {
			s := newSweep(context.Background(), pes, jobs, r)
			s.target, s.slack, s.off = 1, 1e-9, off
			if !s.run() {
				t.Fatal("not all searched")
			}
			more[off] += s.nodes
			return s.best
		}
		want := search(0)
		for _, off := range ofSweep {
			if got := search(off); got != want {
				t.Fatalf("%v without device %b, %v with all: %d PEs, %+v", got, off, want, pes, jobs)
			}
		}
	}
	for _, off := range ofSweep {
		if more[off] <= more[0] {
			t.Errorf("without device %b %d states, with all %d: the test doesn't need it", off, more[off], more[0])
		}
	}
}

// If a gap limit ends the search, the bound is no less than the optimum. The steps of the value looked for are whole
// grains, or a value between two of them would be denied. It begins with a value that few states find.
func TestSweepGapLimit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 26))
	open := 0
	for range 600 {
		pes := 1 + rng.IntN(8)
		jobs := randomJobs(rng, 8+rng.IntN(4), pes)
		search := func(limit int64) float64 {
			s := newSweep(context.Background(), pes, jobs, nil)
			s.target, s.limit = 1, limit
			s.run()
			return s.best
		}
		want := search(0)
		x := newSearcher(&engine.Run{Ctx: context.Background(), Set: model.Settings{Gap: 0.05 + 0.5*rng.Float64()}}, &model.Reservation{}, &view.Reservation{})
		x.starts = make([]int64, len(jobs))
		x.scale, x.total = scale{pes: pes, weight: 1, grain: 1}, totalWeight(jobs)
		p := newPart(jobs)
		p.value = search(1 + rng.Int64N(20))
		g := newGrid(jobs, 20)
		p.relax = newRelaxation(pes, jobs, g, g.corners(jobs), newUniform(jobs, g, make([]float64, g.cells())))
		x.parts = []*part{p}
		for !p.closed() && !x.enough() {
			x.improve(p, 0, rng.IntN(2) == 0)
		}
		if p.value > want || p.upper < want || model.Gap(p.value, p.upper) > x.Set.Gap {
			t.Fatalf("gap limit %v: %v, bound %v, the optimum is %v: %d PEs, %+v", x.Set.Gap, p.value, p.upper, want, pes, jobs)
		}
		if p.upper > p.value {
			open++
		}
	}
	if open < 100 {
		t.Errorf("only %d end by the gap limit", open)
	}
}

// A weight that would be lost in the sum of a plan is rounded up to one that isn't. The search had two jobs of 2^60 and
// one of weight 1 between them. It dropped the second, in favour of the small one, and the small one, since it added
// nothing.
func TestSweepLostWeight(t *testing.T) {
	t.Parallel()
	const long = 1 << 50
	requests := []model.Request{
		{ID: "a", ReadyS: 0, DurationS: long, DeadlineS: long, PEs: 1000},
		{ID: "small", ReadyS: long - 1, DurationS: 1, DeadlineS: long + 3, PEs: 1},
		{ID: "b", ReadyS: long + 2, DurationS: long, DeadlineS: 2*long + 3, PEs: 1000},
	}
	in := &model.Reservation{PEs: 1000, Goal: model.GoalPESeconds, Requests: requests}
	if err := in.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := Phases()[0].Solve(t.Context(), in, model.Settings{})
	if err != nil || r.Objective < 2000*long || r.Objective > r.Bound {
		t.Errorf("%v, bound %v: %v", r.Objective, r.Bound, err)
	}
	jobs, u := newJobs(view.OfReservation(in))
	s := newSweep(context.Background(), u.pes, jobs, nil)
	s.target, s.grain = 1, 0
	if !s.run() || s.best != totalWeight(jobs) {
		t.Errorf("%v of %v", s.best, totalWeight(jobs))
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

// The capacity term adds up over time, and fewer PEs never have a larger one.
// Time backwards leaves the bound as it is.
func TestRelaxation(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 21))
	for range 300 {
		pes := 1 + rng.IntN(9)
		r := randomRelaxation(rng, pes, randomJobs(rng, 8, pes))
		first, last := r.grid[0], r.grid.end()
		mid := first + tick(rng.Int64N(int64(last-first+1)))
		whole := r.capacity(pes, first, last)
		if parts := r.capacity(pes, first, mid) + r.capacity(pes, mid, last); math.Abs(parts-whole) > 1e-9 {
			t.Fatalf("%v in parts, %v in all", parts, whole)
		}
		if b := r.reversed().bound(); math.Abs(b-r.bound()) > 1e-9 {
			t.Fatalf("bound %v backwards, %v forwards", b, r.bound())
		}
		for f := range pes {
			if r.capacity(f, first, last) > r.capacity(f+1, first, last)+1e-12 {
				t.Fatalf("the capacity term of %d PEs is above that of %d", f, f+1)
			}
		}
	}
}

// The value of L that lagrangian gives at a point is the bound at it, and the subgradient supports L: L(z) ≥ L(y) +
// g(z - y).
func TestDual(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(16, 28))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 300 {
		pes := 1 + rng.IntN(9)
		jobs := randomJobs(rng, 1+rng.IntN(8), pes)
		g := newGrid(jobs, 8+rng.IntN(20))
		corners := g.corners(jobs)
		draw := func() []float64 {
			y := make([]float64, g.cells())
			for k := range y {
				y[k] = max(0, 2*rng.Float64()-0.5)
			}
			return y
		}
		y, z, sub := draw(), draw(), make([]float64, g.cells())
		if at := lagrangian(ended, pes, jobs, g, corners)(y, sub); !math.IsInf(at, 1) {
			t.Fatalf("L is %v without any time", at)
		}
		of := lagrangian(t.Context(), pes, jobs, g, corners)
		at := of(z, sub) // z's; overwritten
		here := of(y, sub)
		linear := here
		for k := range y {
			linear += sub[k] * (z[k] - y[k])
		}
		if at < linear-1e-9 {
			t.Fatalf("L is %v, below %v, its support: %d PEs, %+v", at, linear, pes, jobs)
		}
		if b := newRelaxation(pes, jobs, g, corners, charged(pes, jobs, g, y)).bound(); math.Abs(b-here) > 1e-9*max(1, b) {
			t.Fatalf("L is %v, the bound %v: %d PEs, %+v", here, b, pes, jobs)
		}
	}
}

func BenchmarkSweep(b *testing.B) {
	for _, n := range []int{20, 40, 80} {
		rng := rand.New(rand.NewPCG(3, uint64(n)))
		jobs := randomJobs(rng, n, 8)
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			for range b.N {
				newSweep(context.Background(), 8, jobs, randomRelaxation(rng, 8, jobs)).run()
			}
		})
	}
}
