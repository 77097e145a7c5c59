// SPDX-License-Identifier: MIT

package tvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	tvcheur "github.com/gapwise/gapwise/heuristics/tvc"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/run/turns"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// solve runs a solver and has the judge check its claims.
func solve(t *testing.T, s model.Solver, in *model.TVC, set model.Settings) model.Result {
	t.Helper()
	r, err := s.Solve(context.Background(), in, set)
	if err != nil {
		t.Fatalf("%v\n%s", err, text(in))
	}
	check(t, in, r)
	return r
}

func check(t *testing.T, in *model.TVC, r model.Result) {
	t.Helper()
	report, err := verify.Result(context.Background(), in, r, verify.Options{})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", r.Algorithm, err, text(in))
	}
}

func text(in *model.TVC) []byte {
	b, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return b
}

// optimal reports whether a result is the optimum within the gap that a solver is
// allowed.
func optimal(r model.Result, want float64) bool {
	return r.Status == model.StatusOptimal && r.Objective <= want*(1+1e-12) && r.Objective >= want*(1-model.DefaultGap)
}

// drawn returns an instance of the paper's kind on k = 4, two slots a server.
func drawn(t *testing.T, rng *rand.Rand, requests int) *model.TVC {
	t.Helper()
	s := instances.NewTVCSpec()
	s.K, s.Slots, s.Requests, s.Seed = 4, 2, requests, rng.Uint64()
	s.Load = []float64{1, 2, 4}[rng.IntN(3)]
	s.Size = []float64{2, 4, 8}[rng.IntN(3)]
	s.Bandwidth = []float64{150, 250, 500}[rng.IntN(3)]
	s.Fabric = model.Fabrics[rng.IntN(2)]
	s.Hose = model.Hoses[rng.IntN(2)]
	s.Goal = model.TVCGoals[rng.IntN(2)]
	in, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// Both engines find the plain engine's results on two pods, and no bound is beaten.
func TestEnginesAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 1))
	for k := range need.Rounds(300) {
		in := testkit.RandomTVC(rng, 2, 1+rng.IntN(6), false)
		want, _ := plain.Optimum(in)
		if r := solve(t, tvcexact.Search, in, model.Settings{}); !optimal(r, want) {
			t.Fatalf("search: %s %v, the optimum is %v\n%s", r.Status, r.Objective, want, text(in))
		}
		if highs.Available() && k%3 == 0 {
			if r := solve(t, tvcexact.Linear(highs.Backend), in, model.Settings{}); !optimal(r, want) {
				t.Fatalf("highs: %s %v (%s), the optimum is %v\n%s", r.Status, r.Objective, r.Reason, want, text(in))
			}
		}
		all, err := tvcbounds.All(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			if b.Value < want*(1-1e-12) {
				t.Fatalf("bound %s is %v, the optimum is %v\n%s", b.Name, b.Value, want, text(in))
			}
		}
	}
}

// The engines agree on four pods, where requests have a choice of routes.
func TestEnginesAgree(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 2))
	proved, rounds := 0, need.Rounds(30)
	for k := range rounds {
		in := testkit.RandomTVC(rng, 4, 2+rng.IntN(5), false)
		if k%3 == 0 {
			in = drawn(t, rng, 6+rng.IntN(5))
		}
		r := solve(t, tvcexact.Search, in, model.Settings{})
		if r.Status != model.StatusOptimal {
			t.Fatalf("search: %s\n%s", r.Reason, text(in))
		}
		// Without an end a certificate's branching may go on for long: some relaxations say little.
		var h model.Result
		if err := turns.Within(t.Context(), 1_000_000, func(ctx context.Context) (err error) {
			h, err = tvcexact.Linear(highs.Backend).Solve(ctx, in, model.Settings{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		check(t, in, h)
		if h.Status == model.StatusOptimal {
			proved++
		}
		if h.Status == model.StatusOptimal && !(optimal(h, r.Objective) || optimal(r, h.Objective)) || h.Bound < r.Objective*(1-1e-9) || r.Bound < h.Objective*(1-1e-9) {
			t.Fatalf("search %v ≤ %v, highs %v ≤ %v\n%s", r.Objective, r.Bound, h.Objective, h.Bound, text(in))
		}
	}
	if 4*proved < rounds {
		t.Errorf("of %d instances HiGHS's models prove %d", rounds, proved)
	}
}

// The search proves the same without any one device, and without all of them.
func TestWithout(t *testing.T) {
	t.Parallel()
	var sets [][]string
	var all []string
	for _, d := range tvcexact.Search.Devices() {
		if d.Name == "" || d.Summary == "" {
			t.Errorf("%+v lacks a name or a summary", d)
		}
		sets = append(sets, []string{d.Name})
		if d.Name != "construction" { // it leaves little to the others
			sets = append(sets, []string{d.Name, "construction"})
		}
		all = append(all, d.Name)
	}
	sets = append(sets, all)
	rng := rand.New(rand.NewPCG(11, 3))
	for k := range need.Rounds(30) {
		in := testkit.RandomTVC(rng, 2+2*(k%2), 2+rng.IntN(5), false)
		if k%4 == 1 {
			in = drawn(t, rng, 7)
		}
		var want float64
		if in.FatTree.K == 2 {
			want, _ = plain.Optimum(in)
		} else {
			want = solve(t, tvcexact.Search, in, model.Settings{}).Objective
		}
		for _, names := range sets {
			if len(names) == len(all) && in.FatTree.K > 2 && len(in.Requests) > 5 {
				continue // without any device it takes long
			}
			s, err := tvcexact.Search.Without(names...)
			if err != nil {
				t.Fatal(err)
			}
			if r := solve(t, s, in, model.Settings{Gap: 1e-9}); r.Status != model.StatusOptimal || r.Objective < want*(1-1e-12) || r.Objective > want*(1+1e-6) {
				t.Fatalf("without %v: %s %v, want %v\n%s", names, r.Status, r.Objective, want, text(in))
			}
		}
	}
}

// Engines that only take loss mode refuse a queue in one line.
func TestQueueMode(t *testing.T) {
	t.Parallel()
	in := testkit.RandomTVC(rand.New(rand.NewPCG(11, 4)), 2, 3, true)
	for _, s := range []model.Solver{tvcexact.Kernel, tvcexact.Linear(highs.Backend)} {
		if _, err := s.Solve(context.Background(), in, model.Settings{}); !errors.Is(err, model.ErrUnsupported) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want ErrUnsupported in one line", s.Name(), err)
		}
	}
}

// The relations hold between whole instances: a change of times, rates or names changes the optimum as it must.
func TestRelations(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 5))
	changed := func(in *model.TVC, f func(q *model.TVCRequest)) *model.TVC {
		x := *in
		x.Requests = slices.Clone(in.Requests)
		for k := range x.Requests {
			f(&x.Requests[k])
		}
		return &x
	}
	for k := range need.Rounds(20) {
		s := []model.Solver{tvcexact.Search, tvcexact.Kernel}[k%2]
		in := drawn(t, rng, 8+rng.IntN(7))
		first := solve(t, s, in, model.Settings{})
		want := first.Objective
		revenue := func(factor float64) float64 {
			if in.Goal == model.GoalRevenue {
				return factor
			}
			return 1
		}
		// near allows for the gaps of both runs.
		near := func(what string, x *model.TVC, want float64) {
			t.Helper()
			if r := solve(t, s, x, model.Settings{}); r.Status != model.StatusOptimal || r.Objective < want*(1-2e-6) || r.Objective > want*(1+2e-6) {
				t.Fatalf("%s: %s %v, want %v\n%s", what, r.Status, r.Objective, want, text(x))
			}
		}
		near("twice the time", changed(in, func(q *model.TVCRequest) { q.ArrivalS, q.DurationS = 2*q.ArrivalS, 2*q.DurationS }), want*revenue(2))
		faster := changed(in, func(q *model.TVCRequest) { q.BandwidthMbps *= 4 })
		faster.FatTree.LinkMbps *= 4
		near("four times the rates", faster, want*revenue(4))
		near("other names", changed(in, func(q *model.TVCRequest) { q.ID = "x" + q.ID }), want)
		end := 0.0
		for _, q := range in.Requests {
			end = max(end, q.ArrivalS+q.DurationS)
		}
		second := changed(in, func(q *model.TVCRequest) {
			q.ID, q.ArrivalS = q.ID+"b", math.Round((q.ArrivalS+math.Ceil(end))*1e6)/1e6
		})
		second.Requests = append(slices.Clone(in.Requests), second.Requests...)
		near("once more after the end", second, 2*want)

		// What gives more room can't lower the optimum.
		atLeast := func(what string, x *model.TVC) {
			t.Helper()
			if r := solve(t, s, x, model.Settings{}); r.Bound < want*(1-1e-9) {
				t.Fatalf("%s: at most %v, before %v\n%s", what, r.Bound, want, text(x))
			}
		}
		open := *in
		open.FatTree.Fabric = model.FabricNonBlocking
		atLeast("only the servers' links bind", &open)
		cut := *in
		cut.Hose = model.HoseCut
		atLeast("the cut instead of the sum by server", &cut)
		if in.Goal != model.GoalRevenue {
			atLeast("half the durations", changed(in, func(q *model.TVCRequest) { q.DurationS = max(1, math.Floor(q.DurationS/2)) }))
		}

		// The optimum stays if it is the start, and so does its proof.
		r := solve(t, s, in, model.Settings{Start: first.Solution})
		if r.Objective < want || r.Status != model.StatusOptimal {
			t.Fatalf("from the optimum: %s %v, before %v\n%s", r.Status, r.Objective, want, text(in))
		}
	}
}

// A component of more requests than sets hold gets a bound, and the result says so.
func TestManyRequests(t *testing.T) {
	t.Parallel()
	s := instances.NewTVCSpec()
	s.Requests, s.K, s.Load, s.Fabric = 400, 4, 2, model.FabricNonBlocking
	in, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	r := solve(t, tvcexact.Search, in, model.Settings{})
	if r.Status != model.StatusFeasible || !(r.Bound >= r.Objective) || !strings.Contains(r.Reason, "256") {
		t.Errorf("%s, %v ≤ %v, reason %q; want feasible with a bound and the reason", r.Status, r.Objective, r.Bound, r.Reason)
	}
}

// A wide gap ends the search sooner, and is kept.
func TestWideGap(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 8))
	tight, wide := int64(0), int64(0)
	for range 20 {
		in := drawn(t, rng, 14)
		r := solve(t, tvcexact.Search, in, model.Settings{})
		x := solve(t, tvcexact.Search, in, model.Settings{Gap: 0.1})
		if x.Status != model.StatusOptimal || x.Gap > 0.1 || x.Objective < r.Objective/1.1*(1-1e-9) {
			t.Fatalf("%s %v with gap %v, the optimum is %v\n%s", x.Status, x.Objective, x.Gap, r.Objective, text(in))
		}
		tight, wide = tight+r.Nodes, wide+x.Nodes
	}
	if wide >= tight {
		t.Errorf("%d nodes with a gap of 0.1, %d without", wide, tight)
	}
}

// The result states the gap for which it was proved.
func TestGapLimit(t *testing.T) {
	t.Parallel()
	in := drawn(t, rand.New(rand.NewPCG(11, 6)), 40)
	r := solve(t, tvcexact.Search, in, model.Settings{Gap: 0.5})
	if r.Status != model.StatusOptimal || r.Gap > 0.5 || r.GapLimit != 0.5 {
		t.Errorf("%s with gap %v of %v, want optimal within 0.5", r.Status, r.Gap, r.GapLimit)
	}
}

// On four pods any solution has a point in the formulation, whatever switches host
// it, and the point gives back a solution of the same objective.
func TestFormulationOfSolutions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 7))
	for k := range need.Rounds(30) {
		in := testkit.RandomTVC(rng, 4, 2+rng.IntN(8), false)
		if k%2 == 0 {
			in = drawn(t, rng, 12)
		}
		f, err := tvcbounds.Build(t.Context(), in, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range tvcheur.Algorithms() {
			r, err := a.Solver.Solve(context.Background(), in, model.Settings{})
			if errors.Is(err, model.ErrUnsupported) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			x := f.Encode(r.Solution.(*model.Embeddings))
			if x == nil {
				t.Fatalf("%s: the solution has no point\n%s", a.Name, text(in))
			}
			if off := f.Violation(x); off > 1e-9 {
				t.Fatalf("%s: the solution's point is off by %v\n%s", a.Name, off, text(in))
			}
			s, err := f.Decode(x)
			if err != nil {
				t.Fatal(err)
			}
			again := model.NewResult(a.Name, 0)
			if err := again.SetSolution(in, s); err != nil {
				t.Fatal(err)
			}
			if again.Objective != r.Objective {
				t.Fatalf("%s: objective %v, decoded %v", a.Name, r.Objective, again.Objective)
			}
			check(t, in, again)
		}
	}
}
