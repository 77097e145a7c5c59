package batch_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	"github.com/gapwise/gapwise/model"
)

// random draws an instance of one tier whose times are multiples of a unit.
func random(rng *rand.Rand, most, n, longest int) *model.Batch {
	in := &model.Batch{Name: "random", Processors: 1 + rng.IntN(most), Tiers: 1, KillAtEstimate: rng.IntN(4) == 0}
	unit := []float64{1, 0.001, 3600}[rng.IntN(3)]
	at, gap := 0, rng.IntN(longest)
	for k := range n {
		at += rng.IntN(gap + 1)
		j := model.BatchJob{ID: strconv.Itoa(k), SubmitS: float64(at) * unit, RuntimeS: float64(1+rng.IntN(longest)) * unit, Processes: 1 + rng.IntN(in.Processors)}
		if rng.IntN(2) == 0 {
			j.EstimateS = float64(1+rng.IntN(longest)) * unit
		}
		if rng.IntN(2) == 0 {
			j.Processes = 1 + rng.IntN(min(2, in.Processors))
		}
		in.Jobs = append(in.Jobs, j)
	}
	for k := range in.Jobs { // whole microseconds
		j := &in.Jobs[k]
		j.SubmitS, j.RuntimeS, j.EstimateS = math.Round(j.SubmitS*1e6)/1e6, math.Round(j.RuntimeS*1e6)/1e6, math.Round(j.EstimateS*1e6)/1e6
	}
	return in
}

// brute returns the least mean response time over all orders of the jobs, each of
// which starts as early as it fits beside those before it.
func brute(in *model.Batch) float64 {
	t := in.Ticks()
	n := len(t.Jobs)
	best := int64(math.MaxInt64)
	starts, placed := make([]int64, n), make([]bool, n)
	fits := func(k int, at int64) bool {
		use := func(from int64) int {
			sum := t.Jobs[k].Processes
			for i := range n {
				if placed[i] && starts[i] <= from && from < starts[i]+t.Jobs[i].Length {
					sum += t.Jobs[i].Processes
				}
			}
			return sum
		}
		if use(at) > t.Processors {
			return false
		}
		for i := range n {
			if placed[i] && at < starts[i] && starts[i] < at+t.Jobs[k].Length && use(starts[i]) > t.Processors {
				return false
			}
		}
		return true
	}
	var place func(left int, sum int64)
	place = func(left int, sum int64) {
		if left == 0 {
			best = min(best, sum)
		}
		for k := range n {
			if placed[k] {
				continue
			}
			at := int64(math.MaxInt64)
			if fits(k, t.Jobs[k].Submit) {
				at = t.Jobs[k].Submit
			}
			for i := range n {
				if s := starts[i] + t.Jobs[i].Length; placed[i] && s > t.Jobs[k].Submit && s < at && fits(k, s) {
					at = s
				}
			}
			starts[k], placed[k] = at, true
			place(left-1, sum+at+t.Jobs[k].Length-t.Jobs[k].Submit)
			placed[k] = false
		}
	}
	place(n, 0)
	return t.Seconds(best) / float64(max(1, n))
}

// solve returns the proved optimum.
func solve(t *testing.T, s model.Solver, in *model.Batch) model.Result {
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

// The search finds what all orders give; no bound is above it; each device may be
// off.
func TestSearchBrute(t *testing.T) {
	t.Parallel()
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := random(rng, 6, rng.IntN(7), 2+rng.IntN(8))
		best := brute(in)
		if len(in.Jobs) == 0 {
			best = 0
		}
		s := model.Solver(batchexact.Search{})
		if all := batchexact.Devices(); seed%2 == 1 {
			var err error
			if s, err = batchexact.Without(all[int(seed/2)%len(all)].Name); err != nil {
				t.Fatal(err)
			}
		}
		if r := solve(t, s, in); r.Objective != best || r.Bound > best {
			t.Fatalf("seed %d: %v, bound %v, the least is %v: %+v", seed, r.Objective, r.Bound, best, in)
		}
		all, err := batchbounds.All(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			if b.Value > best {
				t.Fatalf("seed %d: bound %v, the least is %v: %+v", seed, b, best, in)
			}
		}
	}
}

// Two tiers are refused in one line.
func TestUnsupported(t *testing.T) {
	in := &model.Batch{Name: "two", Processors: 1, Tiers: 2}
	for _, a := range batchexact.Engines() {
		if _, err := a.Solver.Solve(context.Background(), in, model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}

// The search and HiGHS agree, also where brute force takes too long.
func TestSearchHiGHS(t *testing.T) {
	t.Parallel()
	rounds := 300
	if testing.Short() {
		rounds = 40
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 2))
		in := random(rng, 8, rng.IntN(8), 2+rng.IntN(5))
		if seed%20 == 0 {
			in = random(rng, 8, 10+rng.IntN(3), 2+rng.IntN(5))
		}
		a, b := solve(t, batchexact.Search{}, in), solve(t, batchexact.HiGHS{}, in)
		if a.Objective != b.Objective {
			t.Fatalf("seed %d: the search proves %v, HiGHS %v: %+v", seed, a.Objective, b.Objective, in)
		}
	}
}
