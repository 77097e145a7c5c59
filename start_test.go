// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// drawnSmall draws a small instance of a kind in one of its variants.
func drawnSmall(rng *rand.Rand, kind model.Kind) model.Instance {
	n := 1 + rng.IntN(8)
	switch kind {
	case model.KindVCSched:
		return testkit.RandomVCSched(rng, rng.IntN(2) == 0)
	case model.KindConsolidation:
		return testkit.Consolidation(rng, n, 1+rng.IntN(4))
	case model.KindReservation:
		return testkit.RandomReservation(rng, n)
	case model.KindTVC:
		return testkit.RandomTVC(rng, 2, n, rng.IntN(2) == 0)
	case model.KindBatch:
		return testkit.RandomBatch(rng, 1+rng.IntN(2), 4, n)
	}
	d := testkit.RandomDAG(rng, n, 1+rng.IntN(3))
	d.TransferModel = model.TransferModels[rng.IntN(len(model.TransferModels))]
	return d
}

// No result of any algorithm is worse than a feasible start, and a result reports it if its solution is the start.
func TestNeverWorseThanTheStart(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		rng := rand.New(rand.NewPCG(41, 7))
		kept := 0
		for range require.Rounds(24) {
			in := drawnSmall(rng, p.Kind)
			c := gapwise.NewCase(in)
			var starts []model.Result
			for _, a := range append(gapwise.Algorithms(p.Kind), model.Algorithm{Name: "auto"}) {
				r, err := c.Solve(t.Context(), gapwise.Options{Algorithm: a.Name, Settings: model.Settings{Seed: 1, Effort: 100_000}})
				if err == nil && r.Solution != nil {
					starts = append(starts, r)
				}
			}
			if len(starts) == 0 {
				continue
			}
			start := starts[rng.IntN(len(starts))]
			for _, a := range gapwise.Algorithms(p.Kind) {
				r, err := c.Solve(t.Context(), gapwise.Options{Algorithm: a.Name, Settings: model.Settings{Seed: 2, Start: start.Solution, Effort: 100_000}})
				if errors.Is(err, model.ErrUnsupported) {
					continue
				}
				if err != nil {
					t.Fatalf("%s from the solution of %s: %v\n%s", a.Name, start.Algorithm, err, marshal(t, in))
				}
				if r.Solution == nil || model.SenseOf(in).Better(start.Objective, r.Objective) {
					t.Fatalf("%s from the solution of %s: %v, %s: the start has %v\n%s", a.Name, start.Algorithm, r.Objective, r.Status, start.Objective, marshal(t, in))
				}
				if r.SolutionOf == "start" {
					kept++
				}
			}
		}
		if kept == 0 && !testing.Short() {
			t.Error("no algorithm found anything worse than its start: too few to tell")
		}
	})
}

// A session's step is never worse than the completed start where that is feasible, for
// jobs on one tier and on two that come and go.
func TestSessionKeepsItsPromise(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 552))
	for round := range require.Rounds(60) {
		s := gapwise.Session{Options: gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: 5 * time.Millisecond}}}
		all := testkit.RandomBatch(rng, 1+round%2, 4, 10)
		var last model.Solution
		for range 8 {
			in := *all
			in.Jobs = nil
			for _, k := range rng.Perm(len(all.Jobs))[:1+rng.IntN(len(all.Jobs))] {
				in.Jobs = append(in.Jobs, all.Jobs[k])
			}
			if in.Validate() != nil {
				continue // out of the order of submissions
			}
			var start model.Solution
			if last != nil {
				start, _, _ = gapwise.CompleteStart(t.Context(), &in, last)
			}
			_, r, err := s.Step(t.Context(), &in)
			if err != nil {
				t.Fatal(err)
			}
			last = s.Last()
			if start == nil {
				continue
			}
			o, err := in.Objective(start)
			if err != nil {
				t.Fatal(err)
			}
			report, err := verify.Verify(t.Context(), &in, start, verify.Options{})
			if err == nil && report.Feasible() && o.Value < r.Objective {
				t.Fatalf("round %d: %v, the completed start has %v", round, r.Objective, o.Value)
			}
		}
	}
}

// stuck reports a solution and a bound, and then doesn't return.
type stuck struct {
	s     model.Solution
	bound float64
	end   chan bool
}

func (stuck) Name() string { return "stuck" }

func (s stuck) Solve(_ context.Context, _ model.Instance, set model.Settings) (model.Result, error) {
	set.Progress(model.Progress{Algorithm: "stuck", Solution: s.s, Bound: s.bound})
	<-s.end
	set.Progress(model.Progress{Algorithm: "stuck", Bound: 1e9}) // no one listens any more
	return model.Result{}, errors.New("too late")
}

// A solver that doesn't return is left behind, and its reports count.
func TestPatience(t *testing.T) {
	t.Parallel()
	d := testkit.SixTasks()
	best, err := gapwise.Solve(t.Context(), d, gapwise.Options{Algorithm: "heft"})
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan bool)
	defer close(end)
	ctx, cancel := context.WithCancel(t.Context())
	var told []string
	o := gapwise.Options{Solver: stuck{best.Solution, 3, end}, Patience: 10 * time.Millisecond}
	o.Progress = func(p model.Progress) {
		told = append(told, fmt.Sprint(p.Incumbent, p.Done))
		cancel()
	}
	r, err := gapwise.Solve(ctx, d, o)
	if err != nil || r.Objective != best.Objective || r.Status != model.StatusFeasible || r.Reason != "interrupted, but it did not return" || len(told) != 2 {
		t.Errorf("%+v, %v, told %v", r, err, told)
	}
	o = gapwise.Options{Solver: stuck{best.Solution, 3, end}, Patience: 10 * time.Millisecond, Settings: model.Settings{TimeLimit: 10 * time.Millisecond}}
	if r, err := gapwise.Solve(t.Context(), d, o); err != nil || r.Objective != best.Objective || r.Reason != "stopped by the time limit, but it did not return" {
		t.Errorf("%+v, %v", r, err)
	}
}

// wrong returns a schedule that doesn't keep the edges, and is long.
type wrong struct{ s *model.Schedule }

func (wrong) Name() string { return "wrong" }

func (w wrong) Solve(_ context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult("wrong", set.Seed)
	return r, r.SetSolution(in, w.s)
}

// A wrong solution is a defect, also where a better start takes its place.
func TestWrongBesideAStart(t *testing.T) {
	t.Parallel()
	d := testkit.SixTasks()
	start, err := gapwise.Solve(t.Context(), d, gapwise.Options{Algorithm: "heft"})
	if err != nil {
		t.Fatal(err)
	}
	s := *start.Solution.(*model.Schedule)
	s.Tasks = append([]model.TaskStart(nil), s.Tasks...)
	s.Tasks[0].StartS = 1e6
	var defect *gapwise.DefectError
	if r, err := gapwise.Solve(t.Context(), d, gapwise.Options{Solver: wrong{&s}, Settings: model.Settings{Start: start.Solution}}); !errors.As(err, &defect) {
		t.Errorf("%v, %+v", err, r)
	}
}
