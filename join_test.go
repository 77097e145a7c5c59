// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// All algorithms on instances of every kind: joined, they have one bound, the
// best, nothing is lost, and the judge accepts each of them still.
func TestJoin(t *testing.T) {
	var all []model.Instance
	for k := range 6 {
		v := require.Value(instances.VCSchedSpec{Hosts: 2, Jobs: 6, Slack: 0.35, MeanCPU: 0.5, CoVCPU: 0.5,
			CoVMemory: 0.5, MaxTasks: 1, Index: k, Seed: 3}.Generate())(t)
		d := require.Value(instances.DAGSpec{Tasks: 8, Fat: 0.5, Density: 0.5, Regular: 0.5, Jump: 2, MaxCost: 20,
			MaxData: 20, Machines: 3, Platform: "uniform", Index: k, Seed: 3}.Generate())(t)
		r := require.Value(instances.ReservationSpec{Requests: 8, PEs: 64, UMed: 5, ArrivalFactor: 8, ARTime: 1,
			Deadline: 1, Index: k, Seed: 3}.Generate())(t)
		all = append(all, v, d, r)
	}
	risen := 0 // statuses that became optimal
	for _, in := range all {
		var results []model.Result
		best := math.NaN()
		for _, a := range Algorithms(in.Kind()) {
			if strings.HasPrefix(a.Name, "highs") {
				continue // slow, and of no other kind than search
			}
			r, err := Solve(context.Background(), in, Options{Algorithm: a.Name, Settings: model.Settings{Seed: 1}})
			if errors.Is(err, model.ErrUnsupported) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			if !math.IsNaN(r.Bound) && (math.IsNaN(best) || model.SenseOf(in).Better(best, r.Bound)) {
				best = r.Bound
			}
			results = append(results, r)
		}
		before := slices.Clone(results)
		require.OK(t, Join(in, results, model.DefaultGap))
		for i, r := range results {
			if r.Status == model.StatusInfeasible {
				continue
			}
			if r.Bound != best {
				t.Errorf("%s by %s: bound %v, the best is %v", in.ID(), r.Algorithm, r.Bound, best)
			}
			if r.Objective != before[i].Objective && r.Solution != nil || before[i].Status == model.StatusOptimal && r.Status != model.StatusOptimal {
				t.Errorf("%s by %s: %s %v was %s %v", in.ID(), r.Algorithm, r.Status, r.Objective, before[i].Status, before[i].Objective)
			}
			if r.Status != before[i].Status {
				risen++
			}
			if r.Solution == nil {
				continue
			}
			report, err := verify.Result(context.Background(), in, r, verify.Options{})
			if err != nil || !report.Feasible() {
				t.Errorf("%s by %s: %v %v", in.ID(), r.Algorithm, err, report)
			}
		}
	}
	if risen < 5 {
		t.Errorf("%d results became optimal by another's bound: the test says little", risen)
	}
}

func TestJoinContradictions(t *testing.T) {
	in := small()
	solved := func(objective float64) model.Result {
		r := model.NewResult("mine", 1)
		require.OK(t, r.SetSolution(in, in.NewPlacement([]int32{0, 1, 1}, objective)))
		return r
	}
	bounded := func(bound float64) model.Result {
		r := model.NewResult("theirs", 1)
		r.SetBound(in.Metrics()[0], bound, model.DefaultGap)
		return r
	}
	impossible := model.NewResult("theirs", 1)
	impossible.Status = model.StatusInfeasible
	unseen := impossible
	unseen.Unverified = true
	for name, c := range map[string]struct {
		other      model.Result
		want       string
		wantStatus model.Status
	}{
		"a bound above":      {bounded(0.95), "", model.StatusFeasible},
		"a bound that's met": {bounded(0.9), "", model.StatusOptimal},
		"a beaten bound":     {bounded(0.89), "the objective 0.9 of mine beats the bound 0.89 of theirs", ""},
		"said infeasible":    {impossible, "theirs says infeasible, mine has a solution", ""},
		"nobody has judged":  {unseen, "", model.StatusFeasible},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][]model.Result{{solved(0.9), c.other}, {c.other, solved(0.9)}} {
				err := Join(in, order, model.DefaultGap)
				var defect *DefectError
				if c.want != "" {
					if !errors.As(err, &defect) || !strings.Contains(err.Error(), c.want) {
						t.Errorf("error %v, want a defect with %q", err, c.want)
					}
					continue
				}
				k := slices.IndexFunc(order, func(r model.Result) bool { return r.Algorithm == "mine" })
				if err != nil || order[k].Status != c.wantStatus {
					t.Errorf("status %q, error %v, want %q", order[k].Status, err, c.wantStatus)
				}
			}
		})
	}
	// A result that the judge hasn't judged to the end takes no status either.
	r := solved(0.9)
	r.Unverified = true
	results := []model.Result{r, bounded(0.9)}
	if err := Join(in, results, model.DefaultGap); err != nil || results[0].Status != model.StatusFeasible {
		t.Errorf("status %q of an unverified result, error %v", results[0].Status, err)
	}
}

// A worker of auto that panics is left out with a note, first or later, and costs nothing else; if all do, that is an error.
func TestAutoGoesOn(t *testing.T) {
	p := require.Value(ProblemOf(model.KindBatch))(t)
	in := &model.Batch{Name: "two", Processors: 2, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 5, Processes: 2},
		{ID: "b", RuntimeS: 1, Processes: 1}, {ID: "c", RuntimeS: 2, Processes: 2}}}
	failing := model.Algorithm{Name: "fails", Solver: failingSolver{}}
	exactly := failing
	exactly.Name, exactly.Exact = "fails-later", true
	q := *p
	q.Algorithms = append(slices.Clone(p.Algorithms), failing, exactly)
	for _, workers := range [][]string{{"fails", "easy", "search"}, {"easy", "fails-later", "search"}, {"search", "fails", "fails-later"}} {
		r, err := Solve(t.Context(), in, Options{Solver: auto{&q, workers}, Settings: model.Settings{Seed: 1}})
		if err != nil || r.Status != model.StatusOptimal || !strings.Contains(r.Reason, "was left out, it failed (panic: nothing to draw): please report it") {
			t.Errorf("%q: %s, %q, %v", workers, r.Status, r.Reason, err)
		}
	}
}

// A seeded heuristic completes its half-made solution when the effort is spent, and auto takes it.
func TestAutoTakesHalves(t *testing.T) {
	p := require.Value(ProblemOf(model.KindBatch))(t)
	in := &model.Batch{Name: "three", Processors: 2, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 50, Processes: 2},
		{ID: "b", RuntimeS: 10, Processes: 2}, {ID: "c", RuntimeS: 1, Processes: 2}}}
	q := *p
	q.Algorithms = append(slices.Clone(p.Algorithms), model.Algorithm{Name: "slow", Seeded: true, Solver: slowSolver{named("search", p.Algorithms).Solver}})
	for _, threads := range []int{1, 2} {
		r, err := Solve(t.Context(), in, Options{Solver: auto{&q, []string{"slow"}}, Settings: model.Settings{Seed: 1, Effort: 1_000_000, Threads: threads}})
		if err != nil || r.SolutionOf != "slow" || r.Objective != 73./3 {
			t.Errorf("%d threads: %v of %s, %v; it has 24.33 when it is stopped", threads, r.Objective, r.SolutionOf, err)
		}
	}
}

// slowSolver hands out a solution when it is stopped, not before.
type slowSolver struct{ model.Solver }

func (s slowSolver) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	for !meter.Stop(ctx, 1000) {
	}
	r, err := s.Solver.Solve(context.WithoutCancel(ctx), in, model.Settings{Seed: set.Seed})
	r.Algorithm = "slow"
	return r, err
}

type failingSolver struct{}

func (failingSolver) Name() string { return "fails" }

func (failingSolver) Solve(context.Context, model.Instance, model.Settings) (model.Result, error) {
	panic("nothing to draw")
}
