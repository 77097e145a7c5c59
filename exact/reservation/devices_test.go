// SPDX-License-Identifier: MIT

package reservation_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	resexact "github.com/gapwise/gapwise/exact/reservation"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// The search proves the plain engine's results: without any one device, without it and the local search, which leaves
// little to the sweeps, and without all of them.
func TestWithout(t *testing.T) {
	t.Parallel()
	var sets [][]string
	var all []string
	for _, d := range resexact.Search.Devices() {
		if d.Name == "" || d.Summary == "" {
			t.Errorf("%+v lacks a name or a summary", d)
		}
		sets = append(sets, []string{d.Name}, []string{d.Name, "local-search"})
		all = append(all, d.Name)
	}
	rng := rand.New(rand.NewPCG(17, 29))
	var solvers []model.Solver
	for _, names := range append(sets, all) {
		s, err := resexact.Search.Without(names...)
		if err != nil {
			t.Fatal(err)
		}
		solvers = append(solvers, s)
	}
	for range need.Rounds(40) {
		in := testkit.RandomReservation(rng, 1+rng.IntN(7))
		want, feasible := plain.Optimum(in)
		for k, s := range solvers {
			r, err := s.Solve(context.Background(), in, exactly)
			if err != nil {
				t.Fatalf("without %v: %v: %s", append(sets, all)[k], err, text(in))
			}
			agree(t, in, r, want, feasible)
		}
	}
}

// uglyReservation draws from the families of randomReservation, with equal requests or windows that just fit among
// them. Times range from 1 s to 3e15 s in one instance, so that the weights' sums are beyond 2^53.
func uglyReservation(rng *rand.Rand, n int) *model.Reservation {
	in := testkit.RandomReservation(rng, n)
	switch rng.IntN(6) {
	case 0: // equal ones
		for k := 1; k < n; k++ {
			if q := &in.Requests[rng.IntN(k)]; rng.IntN(2) == 0 {
				id := in.Requests[k].ID
				in.Requests[k] = *q
				in.Requests[k].ID = id
			}
		}
		for k := range in.Requests {
			in.Requests[k].ArrivalS = 0
		}
	case 1: // just fit
		for k := range in.Requests {
			if q := &in.Requests[k]; rng.IntN(2) == 0 {
				q.DeadlineS = q.ReadyS + q.DurationS
			}
		}
	case 2:
		in = &model.Reservation{PEs: 1 + rng.IntN(8), Goal: model.GoalPESeconds}
		figure := func(most int) float64 {
			return float64(rng.IntN(most))*1e14 + float64(rng.IntN(4))
		}
		for k := range n {
			q := model.Request{ID: "r" + strconv.Itoa(k), PEs: 1 + rng.IntN(in.PEs), ReadyS: figure(12), DurationS: 1 + figure(4)}
			if rng.IntN(2) == 0 {
				q.DurationS = 1 + math.Mod(q.DurationS, 1e14)
			}
			q.DeadlineS = q.ReadyS + q.DurationS + figure(3)
			in.Requests = append(in.Requests, q)
		}
	}
	return in
}

// Each device off by itself, forwards and backwards, gives the same optimum as all on and as the plain engine. With a
// large gap limit the bound is still a bound.
func TestReservationDevices(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 24))
	masks, names := []int{0, ^0}, []string{"", "backwards"}
	for _, d := range resexact.SweepDevices() {
		masks, names = append(masks, d.Mask, ^d.Mask), append(names, d.Name, d.Name+" backwards")
	}
	nodes, kinds := make([]int64, len(masks)), map[model.Goal]int{}
	const count = 70
	for range need.Rounds(count) {
		in := uglyReservation(rng, 6+rng.IntN(6))
		if err := in.Validate(); err != nil {
			t.Fatalf("%v: %s", err, text(in))
		}
		kinds[in.EffectiveGoal()]++
		total := 0.0
		for k := range in.Requests {
			total += in.Weight(k)
		}
		results, err := resexact.Sweeps(in, model.Settings{Gap: 1e-12}, masks, []int64{0, 16}[rng.IntN(2)])
		if err != nil {
			t.Fatal(err)
		}
		want := results[0].Value
		best, feasible := plain.Optimum(in)
		if feasible && math.Abs(best-want) > 1e-9*total || !feasible && results[0].Upper > total-1+1e-9*total {
			t.Fatalf("%v (bound %v), the optimum is %v (%v): %s", want, results[0].Upper, best, feasible, text(in))
		}
		for k, r := range results {
			nodes[k] += r.Nodes
			same := math.Abs(r.Value-want) <= 2e-9*total && (in.EffectiveGoal() == model.GoalAll || math.Abs(r.Upper-want) <= 2e-9*total)
			if in.EffectiveGoal() == model.GoalAll {
				// Without grains the search can't know that less than all is at least one less.
				same = (r.Value > total-0.5) == (want > total-0.5) && (strings.HasPrefix(names[k], "whole-values") || (r.Upper > total-0.5) == (want > total-0.5))
			}
			if !same {
				t.Fatalf("without %q: %v (bound %v), with all %v: %s", names[k], r.Value, r.Upper, want, text(in))
			}
		}
		if in.EffectiveGoal() == model.GoalAll {
			continue
		}
		limit := []float64{0.05, 0.15, 0.3, 0.5}[rng.IntN(4)]
		loose, err := resexact.Sweeps(in, model.Settings{Gap: limit}, []int{0, ^0}, 1+rng.Int64N(16))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range loose {
			if r.Value > want+2e-9*total || r.Upper < want-2e-9*total || model.Gap(r.Value, r.Upper) > limit {
				t.Fatalf("gap limit %v: %v, bound %v, the optimum is %v: %s", limit, r.Value, r.Upper, want, text(in))
			}
		}
	}
	t.Logf("%v, states %v", kinds, nodes)
	for k, name := range names {
		if (name == "dominance" || name == "lagrangian-bound") && nodes[k] <= nodes[0] {
			t.Errorf("without %s %d states, with all %d: the test doesn't need it", name, nodes[k], nodes[0])
		}
	}
}
