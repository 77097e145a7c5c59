// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/exact"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// without returns the kernel without some devices.
func without(t testing.TB, names ...string) model.Solver {
	t.Helper()
	s, err := batchexact.Kernel.Without(names...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// names returns the names of some devices.
func names(devices []exact.Device) (all []string) {
	for _, d := range devices {
		all = append(all, d.Name)
	}
	return all
}

// exactly returns the optimum, proved without the default gap.
func exactly(t testing.TB, s model.Solver, in *model.Batch) model.Result {
	t.Helper()
	r, err := s.Solve(context.Background(), in, model.Settings{Gap: 1e-15})
	if err != nil || r.Status != model.StatusOptimal {
		t.Fatalf("%v: %s ends with %s, %s: %v, bound %v, on %+v", err, s.Name(), r.Status, r.Reason, r.Objective, r.Bound, in)
	}
	return r
}

// The kernel finds the plain engine's results: whole, without each of its devices in turn, and without all; one in ten
// is at the limits of instances.
func TestKernelAgainstPlain(t *testing.T) {
	t.Parallel()
	submits, runtimes := []float64{0, 0, 1e-6, 1, 1e9 - 1, 1e9}, []float64{1e-6, 1, 9.999999, 10, 1e5, 1e8}
	devices := names(batchexact.Kernel.Devices())
	for seed := range uint64(need.Rounds(1000)) {
		rng := rand.New(rand.NewPCG(seed, 21))
		in := testkit.RandomBatch(rng, 1, 6, rng.IntN(6))
		switch {
		case seed%10 == 9:
			in = &model.Batch{Name: "extreme", Processors: []int{1, 2, 7, 1000}[rng.IntN(4)], Tiers: 1, KillAtEstimate: rng.IntN(2) == 0}
			last := 0
			for k := range 1 + rng.IntN(5) {
				last = min(len(submits)-1, last+rng.IntN(3))
				in.Jobs = append(in.Jobs, model.BatchJob{ID: fmt.Sprint(k), SubmitS: submits[last], RuntimeS: runtimes[rng.IntN(len(runtimes))],
					EstimateS: []float64{0, 1e-6, 5, 1e9}[rng.IntN(4)], Processes: []int{1, in.Processors, (in.Processors + 1) / 2}[rng.IntN(3)]})
			}
		case seed%3 == 0:
			in = busy(rng, 1+rng.IntN(6), 9)
		case seed%3 == 1:
			in = weighted(rng, busy(rng, 1+rng.IntN(6), 4))
		}
		least, _ := plain.Optimum(in)
		s := model.Solver(batchexact.Kernel)
		switch off := int(seed) % (len(devices) + 3); {
		case off < len(devices):
			s = without(t, devices[off])
		case off == len(devices):
			s = without(t, devices...)
		}
		if r := exactly(t, s, in); r.Objective != least || r.Bound > least {
			t.Fatalf("seed %d: %v, bound %v, the least is %v: %+v", seed, r.Objective, r.Bound, least, in)
		}
	}
}

// The kernel and the search agree on larger instances, too.
func TestKernelSearch(t *testing.T) {
	t.Parallel()
	open := 0
	for seed := range uint64(need.Rounds(200)) {
		rng := rand.New(rand.NewPCG(seed, 22))
		in := testkit.RandomBatch(rng, 1, 8, 4+rng.IntN(5))
		if seed%4 == 0 {
			in = busy(rng, 6+rng.IntN(4), 50)
		}
		if seed%2 == 1 {
			in = weighted(rng, in)
		}
		a := exactly(t, batchexact.Search, in)
		b, err := batchexact.Kernel.Solve(t.Context(), in, model.Settings{Gap: 1e-15, TimeLimit: 3 * time.Second})
		if err != nil || b.Bound > a.Objective || a.Objective > b.Objective || b.Status == model.StatusOptimal && a.Objective != b.Objective {
			t.Fatalf("seed %d: the search proves %v, the kernel %v, bound %v (%v): %+v", seed, a.Objective, b.Objective, b.Bound, err, in)
		}
		if b.Status != model.StatusOptimal {
			open++ // a microsecond beside half a second: propagation takes small steps
		}
	}
	if open > need.Rounds(200)/20 {
		t.Errorf("%d aren't proved", open)
	}
}

// Each device is worth its lines: the kernel meets more conflicts without it.
func TestKernelDevices(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("counts conflicts, for long")
	}
	nodes := func(s model.Solver) (sum int64) {
		for seed := range uint64(12) {
			sum += exactly(t, s, busy(rand.New(rand.NewPCG(seed, 23)), 8, 5)).Nodes
		}
		return sum
	}
	whole := nodes(batchexact.Kernel)
	for _, d := range names(batchexact.Kernel.Devices())[:5] {
		n := nodes(without(t, d))
		t.Logf("without %s: %d nodes, with all %d", d, n, whole)
		if n <= whole {
			t.Errorf("without %s the kernel meets %d conflicts, with all %d", d, n, whole)
		}
	}
}

// Other names and orders, units, a later beginning and weights change the optimum as
// they should.
func TestKernelRelations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(need.Rounds(60)) {
		rng := rand.New(rand.NewPCG(seed, 24))
		in := weighted(rng, busy(rng, 1+rng.IntN(6), 7))
		least := exactly(t, batchexact.Kernel, in).Objective
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
		for _, x := range []struct {
			name string
			in   *model.Batch
			want float64
		}{
			{"reversed", reversed, least},
			{"shifted", changed(func(j *model.BatchJob) { j.SubmitS += 12.5 }), least},
			{"scaled", changed(func(j *model.BatchJob) { j.SubmitS *= 0.25; j.RuntimeS *= 0.25 }), 0.25 * least},
			{"a unit of a microsecond", changed(func(j *model.BatchJob) {
				if j.ID == "0" {
					j.RuntimeS += 1e-6
				}
			}), least},
			{"widths times three, two more processors", wide, least},
			{"weights times 77,777", changed(func(j *model.BatchJob) { j.Weight = 77_777 * j.EffectiveWeight() }), least},
		} {
			if got := exactly(t, batchexact.Kernel, x.in).Objective; math.Abs(got-x.want) > 1e-9*x.want+1e-5 {
				t.Fatalf("seed %d, %s: %v, want %v: %+v", seed, x.name, got, x.want, in)
			}
		}
	}
}

// A larger gap limit is kept, a start is never made worse, and a stopped kernel returns its best result.
func TestKernelSettings(t *testing.T) {
	t.Parallel()
	for seed := range uint64(need.Rounds(30)) {
		in := busy(rand.New(rand.NewPCG(seed, 25)), 7, 9)
		least := solve(t, batchexact.Search, in)
		r, err := batchexact.Kernel.Solve(context.Background(), in, model.Settings{Seed: 1, Gap: 0.1})
		if err != nil || r.Status != model.StatusOptimal || r.Bound > least.Objective || r.Objective > least.Objective*1.12 {
			t.Fatalf("seed %d: %v %s %v, bound %v, the optimum is %v", seed, err, r.Status, r.Objective, r.Bound, least.Objective)
		}
		stopped, cancel := context.WithCancel(context.Background())
		cancel()
		r, err = batchexact.Kernel.Solve(stopped, in, model.Settings{Start: least.Solution})
		if err != nil || r.Objective != least.Objective || r.Bound > least.Objective || r.Bound == r.Objective && best(t, in) < r.Objective {
			t.Fatalf("seed %d: %v, from the optimum %v comes %v, bound %v", seed, err, least.Objective, r.Objective, r.Bound)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	r, err := batchexact.Kernel.Solve(ctx, busy(rand.New(rand.NewPCG(1, 7)), 60, 50), model.Settings{})
	if err != nil || r.Status != model.StatusFeasible || !(r.Bound > 0 && r.Bound < r.Objective) || r.Reason != "stopped by the time limit" {
		t.Errorf("%v, %s, %v, bound %v: %s", err, r.Status, r.Objective, r.Bound, r.Reason)
	}
	r, err = batchexact.Kernel.Solve(context.Background(), busy(rand.New(rand.NewPCG(1, 7)), 101, 50), model.Settings{})
	if err != nil || r.Status != model.StatusFeasible || !strings.Contains(r.Reason, "100") {
		t.Errorf("101 jobs: %v, %s: %s", err, r.Status, r.Reason)
	}
}
