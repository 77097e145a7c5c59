// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// solve returns the proved optimum.
func solve(t testing.TB, s model.Solver, in *model.Batch) model.Result {
	t.Helper()
	r, err := s.Solve(context.Background(), in, model.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != model.StatusOptimal {
		t.Fatalf("%s ends with %s, %s: %v, bound %v, on %+v", s.Name(), r.Status, r.Reason, r.Objective, r.Bound, in)
	}
	return r
}

// busy draws an instance of n jobs that all wait: lengths from 1 to longest and any
// widths, half of the jobs submitted at once.
func busy(rng *rand.Rand, n, longest int) *model.Batch {
	in := &model.Batch{Name: "busy", Processors: 2 + rng.IntN(9), Tiers: 1}
	for k := range n {
		j := model.BatchJob{ID: fmt.Sprint(k), RuntimeS: float64(1 + rng.IntN(longest)), Processes: 1 + rng.IntN(in.Processors)}
		if k > n/2 {
			j.SubmitS = in.Jobs[k-1].SubmitS + float64(rng.IntN(longest))
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// weighted draws weights for the jobs: some few, so that equally long and wide jobs
// have equal ones and others.
func weighted(rng *rand.Rand, in *model.Batch) *model.Batch {
	for k := range in.Jobs {
		in.Jobs[k].Weight = []int{1, 1, 2, 3, 10}[rng.IntN(5)]
	}
	return in
}

// The search finds the plain engine's results, whole and without each of its devices in turn, and no bound is above
// them.
func TestSearchAgainstPlain(t *testing.T) {
	t.Parallel()
	rounds := 2000
	if testing.Short() {
		rounds = 500
	}
	devices := batchexact.Search.Devices()
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := testkit.RandomBatch(rng, 1, 6, rng.IntN(6))
		switch {
		case seed%3 == 0:
			in = busy(rng, 1+rng.IntN(6), 9)
		case seed%3 == 1:
			in = weighted(rng, busy(rng, 1+rng.IntN(6), 4))
		case seed%400 == 2:
			in = busy(rng, 7, 9)
		}
		least, _ := plain.Optimum(in)
		s := model.Solver(batchexact.Search)
		if off := int(seed) % (len(devices) + 1); off < len(devices) {
			var err error
			if s, err = batchexact.Search.Without(devices[off].Name); err != nil {
				t.Fatal(err)
			}
		}
		if r := solve(t, s, in); r.Objective != least || r.Bound > least {
			t.Fatalf("seed %d: %v, bound %v, the least is %v: %+v", seed, r.Objective, r.Bound, least, in)
		}
		all, err := batchbounds.All(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			if b.Value > least {
				t.Fatalf("seed %d: bound %v, the least is %v: %+v", seed, b, least, in)
			}
		}
	}
}

// The test runs at the limits of instances: late and distant submissions, lengths of a microsecond beside the longest,
// jobs as wide as the machine, ties, killed jobs.
func TestSearchExtremes(t *testing.T) {
	t.Parallel()
	submits, runtimes := []float64{0, 0, 1e-6, 1, 1e9 - 1, 1e9}, []float64{1e-6, 1, 9.999999, 10, 1e5, 1e8}
	devices := batchexact.Search.Devices()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 10))
		in := &model.Batch{Name: "extreme", Processors: []int{1, 2, 7, 1000}[rng.IntN(4)], Tiers: 1, KillAtEstimate: rng.IntN(2) == 0}
		last := 0
		for k := range 1 + rng.IntN(5) {
			last = min(len(submits)-1, last+rng.IntN(3))
			in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(k), SubmitS: submits[last], RuntimeS: runtimes[rng.IntN(len(runtimes))],
				EstimateS: []float64{0, 1e-6, 5, 1e9}[rng.IntN(4)], Processes: []int{1, in.Processors, (in.Processors + 1) / 2, min(in.Processors, in.Processors/2+1)}[rng.IntN(4)]})
		}
		least, _ := plain.Optimum(in)
		s, err := batchexact.Search.Without(devices[int(seed)%len(devices)].Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []model.Solver{batchexact.Search, s} {
			if r := solve(t, s, in); r.Objective != least {
				t.Fatalf("seed %d: %v, bound %v, the least is %v: %+v", seed, r.Objective, r.Bound, least, in)
			}
		}
	}
}

// Dominance hardly matters for few jobs; it loses no optimum of more of them.
func TestDominance(t *testing.T) {
	t.Parallel()
	weak, err := batchexact.Search.Without("dominance", "prices")
	if err != nil {
		t.Fatal(err)
	}
	strong, err := batchexact.Search.Without("prices")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 9))
		in := busy(rng, 9, 9)
		if seed%2 == 1 {
			in = weighted(rng, in)
		}
		if a, b := solve(t, weak, in).Objective, solve(t, strong, in).Objective; a != b {
			t.Fatalf("seed %d: %v without dominance, %v with it: %+v", seed, a, b, in)
		}
	}
}

// Each device is worth its lines: the search meets more nodes without it.
func TestDevices(t *testing.T) {
	t.Parallel()
	nodes := func(s model.Solver) (sum int64) {
		for seed := range uint64(12) {
			rng := rand.New(rand.NewPCG(seed, 4))
			in := busy(rng, 10, 4)
			sum += solve(t, s, in).Nodes
		}
		sum += solve(t, s, busy(rand.New(rand.NewPCG(2, 4)), 15, 30)).Nodes // long enough for prices
		spec := instances.NewBatchSpec()                                    // where jobs arrive over time
		spec.Model, spec.Jobs, spec.Processors, spec.Tiers, spec.Load, spec.Seed = "lublin", 16, 16, 1, 2, 3
		in, err := spec.Generate()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{3, 6, 55} { // and on two tiers
			spec := instances.NewBatchSpec()
			spec.Jobs, spec.Processors, spec.Load, spec.Index, spec.Seed = 4, 4, 2, k, 1
			two, err := spec.Generate()
			if err != nil {
				t.Fatal(err)
			}
			sum += solve(t, s, two).Nodes
		}
		return sum + solve(t, s, in).Nodes
	}
	whole := nodes(batchexact.Search)
	for _, d := range batchexact.Search.Devices() {
		s, err := batchexact.Search.Without(d.Name)
		if err != nil {
			t.Fatal(err)
		}
		n := nodes(s)
		t.Logf("without %s: %d nodes, with all %d", d.Name, n, whole)
		if n <= whole {
			t.Errorf("without %s the search meets %d nodes, with all %d", d.Name, n, whole)
		}
	}
}

// The search and HiGHS agree on larger instances, too.
func TestSearchHiGHS(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	rounds := 80
	if testing.Short() {
		rounds = 20
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 2))
		in := testkit.RandomBatch(rng, 1, 8, rng.IntN(6))
		if seed%20 == 0 {
			in = busy(rng, 10+rng.IntN(3), 4)
		}
		if seed%2 == 1 {
			in = weighted(rng, in)
		}
		a, b := solve(t, batchexact.Search, in), solve(t, batchexact.Linear(highs.Backend), in)
		if math.Abs(a.Objective-b.Objective) > model.DefaultGap*a.Objective {
			t.Fatalf("seed %d: the search proves %v, HiGHS %v: %+v", seed, a.Objective, b.Objective, in)
		}
	}
}

// No scheduler beats a bound, on one tier and on two, nor the search's optimum on
// one.
func TestBoundsSchedulers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(need.Rounds(300)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		in := testkit.RandomBatch(rng, 1+int(seed%2), 6, 1+rng.IntN(10))
		all, err := batchbounds.All(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		ticks := view.OfBatch(in)
		slowdown, most := batchbounds.Slowdown(context.Background(), ticks, 20, 5).Value, batchbounds.MostSlowdown(context.Background(), ticks).Value
		optimum := 0.0
		if in.Tiers == 1 {
			optimum = solve(t, batchexact.Search, in).Objective
		}
		for _, a := range batchheur.Algorithms() {
			r, err := a.Solver.Solve(context.Background(), in, model.Settings{Seed: 1})
			if errors.Is(err, model.ErrUnsupported) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range all {
				if b.Value > r.Objective {
					t.Fatalf("seed %d: bound %v, %s gives %v: %+v", seed, b, a.Name, r.Objective, in)
				}
			}
			outcomes, err := in.Outcomes(r.Solution)
			if err != nil {
				t.Fatal(err)
			}
			largest := 0.0
			for k := range outcomes {
				largest = max(largest, outcomes[k].Slowdown())
			}
			if optimum > r.Objective || slowdown > r.SecondObjective || most > largest*(1+1e-12) {
				t.Fatalf("seed %d: %s gives %v, %v and %v, the bounds are %v, %v and %v: %+v", seed, a.Name, r.Objective, r.SecondObjective, largest, optimum, slowdown, most, in)
			}
		}
	}
}

// Other names, another order of jobs submitted together, another unit of time, a
// later beginning and another such day change the optimum as they should.
func TestSearchRelations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		in := busy(rng, 1+rng.IntN(8), 7)
		if seed%2 == 1 {
			in = weighted(rng, in)
		}
		least := solve(t, batchexact.Search, in).Objective
		changed := func(f func(j *model.BatchJob)) *model.Batch {
			other := *in
			other.Jobs = slices.Clone(in.Jobs)
			for k := range other.Jobs {
				f(&other.Jobs[k])
			}
			return &other
		}
		reversed := changed(func(j *model.BatchJob) { j.ID = "x" + j.ID })
		slices.Reverse(reversed.Jobs)
		slices.SortStableFunc(reversed.Jobs, func(a, b model.BatchJob) int { return int(a.SubmitS - b.SubmitS) })
		wide := changed(func(j *model.BatchJob) { j.Processes *= 3 })
		wide.Processors = 3*in.Processors + 2
		joined := changed(func(*model.BatchJob) {})
		joined.Jobs = append(joined.Jobs, changed(func(j *model.BatchJob) { j.ID += "again"; j.SubmitS += 10_000 }).Jobs...)
		for _, x := range []struct {
			name string
			in   *model.Batch
			want float64
		}{
			{"reversed", reversed, least},
			{"shifted", changed(func(j *model.BatchJob) { j.SubmitS += 12.5 }), least},
			{"scaled", changed(func(j *model.BatchJob) { j.SubmitS *= 0.25; j.RuntimeS *= 0.25 }), 0.25 * least},
			{"widths times three, two more processors", wide, least},
			{"joined", joined, least},
			{"weights times 77,777", changed(func(j *model.BatchJob) { j.Weight = 77_777 * j.EffectiveWeight() }), least},
		} {
			if got := solve(t, batchexact.Search, x.in).Objective; math.Abs(got-x.want) > 1e-9*x.want {
				t.Fatalf("seed %d, %s: %v, want %v: %+v", seed, x.name, got, x.want, in)
			}
		}
	}
}

// A larger gap limit is kept, a start is never made worse, and a stopped search returns its best result.
func TestSearchSettings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 6))
		in := busy(rng, 8, 9)
		least := solve(t, batchexact.Search, in)
		set := model.Settings{Seed: 1, Gap: 0.1}
		bound, incumbent := 0.0, math.Inf(1)
		set.Progress = func(p model.Progress) {
			if p.Bound < bound || p.Incumbent > incumbent || p.Bound > least.Objective || p.Incumbent < least.Objective {
				t.Errorf("seed %d: progress from %v, %v to %v, %v, the optimum is %v", seed, bound, incumbent, p.Bound, p.Incumbent, least.Objective)
			}
			bound, incumbent = p.Bound, p.Incumbent
		}
		r, err := batchexact.Search.Solve(context.Background(), in, set)
		if err != nil || r.Status != model.StatusOptimal || r.Bound > least.Objective || r.Objective > least.Objective*1.12 {
			t.Fatalf("seed %d: %v %s %v, bound %v, the optimum is %v", seed, err, r.Status, r.Objective, r.Bound, least.Objective)
		}
		stopped, cancel := context.WithCancel(context.Background())
		cancel()
		r, err = batchexact.Search.Solve(stopped, in, model.Settings{Start: least.Solution})
		if err != nil || r.Objective != least.Objective || r.Bound > least.Objective || r.Nodes != 0 || r.Bound == r.Objective && best(t, in) < r.Objective {
			t.Fatalf("seed %d: %v, from the optimum %v comes %v, bound %v", seed, err, least.Objective, r.Objective, r.Bound)
		}
	}
}

// best returns the best of the quick bounds.
func best(t testing.TB, in *model.Batch) (x float64) {
	t.Helper()
	for _, b := range batchbounds.Quick(t.Context(), in) {
		x = max(x, b.Value)
	}
	return x + 1e-9*x
}

// An instance that can't be ended in time has a bound, and the search ends soon after its limit.
func TestSearchStops(t *testing.T) {
	t.Parallel()
	in := busy(rand.New(rand.NewPCG(1, 7)), 60, 50)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	r, err := batchexact.Search.Solve(ctx, in, model.Settings{})
	if err != nil || r.Status != model.StatusFeasible || !(r.Bound > 0 && r.Bound < r.Objective) || r.Reason != "stopped by the time limit" {
		t.Errorf("%v, %s, %v, bound %v: %s", err, r.Status, r.Objective, r.Bound, r.Reason)
	}
	if r, err = batchexact.Search.Solve(context.Background(), busy(rand.New(rand.NewPCG(1, 7)), 65, 50), model.Settings{}); err != nil || r.Status != model.StatusFeasible || r.Reason == "" {
		t.Errorf("65 jobs: %v, %s: %s", err, r.Status, r.Reason)
	}
}

// If sums of responses don't fit whole numbers, the search proves bounds and says why it does no more; HiGHS and the
// formulation refuse the instance.
func TestSumsDontFit(t *testing.T) {
	in := &model.Batch{Name: "large", Processors: 1, Tiers: 1}
	for k, submit := range []float64{0, 1e-6, 1e9} {
		in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(k), SubmitS: submit, RuntimeS: 1e8, Processes: 1, Weight: model.MostWeight - k})
	}
	r, err := batchexact.Search.Solve(context.Background(), in, model.Settings{})
	if err != nil || !(r.Bound > 1e8 && r.Bound <= r.Objective) || r.Status != model.StatusOptimal && r.Reason != batchbounds.SumsDontFit {
		t.Errorf("%v, %s %v, bound %v: %s", err, r.Status, r.Objective, r.Bound, r.Reason)
	}
	if _, err := batchexact.Linear(highs.Backend).Solve(context.Background(), in, model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("HiGHS: %v", err)
	}
	if _, err := batchbounds.Build(view.OfBatch(in), ""); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("formulation: %v", err)
	}
	for k := range in.Jobs { // they do in whole units
		in.Jobs[k].SubmitS = math.Round(in.Jobs[k].SubmitS)
	}
	solve(t, batchexact.Search, in)
}

// HiGHS and the kernel refuse two tiers, and HiGHS refuses many jobs, before anything is computed.
func TestUnsupported(t *testing.T) {
	many := busy(rand.New(rand.NewPCG(1, 8)), batchbounds.MaxJobs+1, 9)
	if _, err := batchexact.Linear(highs.Backend).Solve(context.Background(), many, model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("%d jobs: %v", len(many.Jobs), err)
	}
	in := &model.Batch{Name: "two", Processors: 1, Tiers: 2}
	for _, a := range batchexact.Engines()[1:] {
		if _, err := a.Solver.Solve(context.Background(), in, model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}
