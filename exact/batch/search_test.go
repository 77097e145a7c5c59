// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// solve returns the proved optimum.
func solve(t testing.TB, s model.Solver, in *model.Batch) model.Result {
	t.Helper()
	r := require.Value(s.Solve(context.Background(), in, model.Settings{Seed: 1}))(t)
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

// Each device is worth its lines: the engine meets more nodes without it.
func TestDevices(t *testing.T) {
	t.Parallel()
	var all []*model.Batch
	draw := func(s instances.BatchSpec) {
		all = append(all, require.Value(s.Generate())(t))
	}
	spec := instances.NewBatchSpec() // where jobs arrive over time
	spec.Model, spec.Jobs, spec.Processors, spec.Tiers, spec.Load, spec.Seed = "lublin", 16, 16, 1, 2, 3
	draw(spec)
	for _, k := range []int{3, 6, 55} { // and on two tiers
		spec := instances.NewBatchSpec()
		spec.Jobs, spec.Processors, spec.Load, spec.Index, spec.Seed = 4, 4, 2, k, 1
		draw(spec)
	}
	all = append(all, busy(rand.New(rand.NewPCG(2, 4)), 15, 30)) // long enough for prices
	for seed := range uint64(12) {
		all = append(all, busy(rand.New(rand.NewPCG(seed, 4)), 10, 4))
	}
	worth := func(e exact.Switchable, devices []exact.Device, all []*model.Batch) {
		nodes := func(s model.Solver) (sum int64) {
			for _, in := range all {
				sum += solve(t, s, in).Nodes
			}
			return sum
		}
		whole := nodes(e)
		for _, d := range devices {
			n := nodes(require.Value(e.Without(d.Name))(t))
			if t.Logf("%s without %s: %d nodes, with all %d", e.Name(), d.Name, n, whole); n <= whole {
				t.Errorf("without %s %s meets %d nodes, with all %d", d.Name, e.Name(), n, whole)
			}
		}
	}
	worth(batchexact.Search, batchexact.Search.Devices(), all)
	if testing.Short() {
		return // the kernel takes long
	}
	all = nil
	for seed := range uint64(12) {
		all = append(all, busy(rand.New(rand.NewPCG(seed, 23)), 8, 5))
	}
	worth(batchexact.Kernel, batchexact.Kernel.Devices()[:5], all)
}

// No scheduler beats a bound, on one tier and on two, nor the search's optimum on
// one.
func TestBoundsSchedulers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(require.Rounds(300)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		in := testkit.RandomBatch(rng, 1+int(seed%2), 6, 1+rng.IntN(10))
		all := require.Value(batchbounds.All(context.Background(), in))(t)
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
			require.OK(t, err)
			for _, b := range all {
				if b.Value > r.Objective {
					t.Fatalf("seed %d: bound %v, %s gives %v: %+v", seed, b, a.Name, r.Objective, in)
				}
			}
			outcomes := require.Value(in.Outcomes(r.Solution))(t)
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
	require.Refused(t, "HiGHS",
		require.Err(batchexact.Linear(highs.Backend).Solve(context.Background(), in, model.Settings{})),
		model.ErrUnsupported, "")
	require.Refused(t, "formulation", require.Err(batchbounds.Build(view.OfBatch(in), "")), model.ErrUnsupported, "")
	for k := range in.Jobs { // they do in whole units
		in.Jobs[k].SubmitS = math.Round(in.Jobs[k].SubmitS)
	}
	solve(t, batchexact.Search, in)
}

// HiGHS and the kernel refuse two tiers, and HiGHS refuses many jobs, before anything is computed.
func TestUnsupported(t *testing.T) {
	many := busy(rand.New(rand.NewPCG(1, 8)), batchbounds.MaxJobs+1, 9)
	require.Refused(t, "many jobs",
		require.Err(batchexact.Linear(highs.Backend).Solve(context.Background(), many, model.Settings{})),
		model.ErrUnsupported, "")
	in := &model.Batch{Name: "two", Processors: 1, Tiers: 2}
	for _, a := range batchexact.Engines()[1:] {
		require.Refused(t, a.Name, require.Err(a.Solver.Solve(context.Background(), in, model.Settings{})),
			model.ErrUnsupported, "")
	}
}

// An instance that is too large for an engine gets a bound, and the result says why there is no more.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	for jobs, engine := range map[int]model.Solver{65: batchexact.Search, 101: batchexact.Kernel} {
		r, err := engine.Solve(t.Context(), busy(rand.New(rand.NewPCG(1, 7)), jobs, 50), model.Settings{})
		if err != nil || r.Status != model.StatusFeasible || !(r.Bound > 0 && r.Bound < r.Objective) ||
			!strings.Contains(r.Reason, strconv.Itoa(jobs-1)) {
			t.Errorf("%d jobs: %v, %s %v, bound %v: %s", jobs, err, r.Status, r.Objective, r.Bound, r.Reason)
		}
	}
}
