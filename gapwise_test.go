// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// three tasks of CPU 0.8, 0.6, 0.5 on two hosts; memory keeps a and b apart.
// The best placement has {a}, {b, c}: load 1.1, yield 1/1.1.
func small() *model.VCSched {
	return &model.VCSched{Name: "small", Hosts: 2, Jobs: []model.VCSchedJob{
		{ID: "a", Tasks: 1, CPU: 0.8, Memory: 0.7}, {ID: "b", Tasks: 1, CPU: 0.6, Memory: 0.5}, {ID: "c", Tasks: 1, CPU: 0.5, Memory: 0.2}}}
}

// fake is a solver that returns a given result.
type fake func(model.Instance, *model.Result) error

func (fake) Name() string { return "fake" }

func (f fake) Solve(_ context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult("fake", set.Seed)
	return r, f(in, &r)
}

// placed makes a fake of the hosts of small's tasks and the yield of all.
func placed(yield float64, hosts ...int32) func(model.Instance, *model.Result) error {
	return func(in model.Instance, r *model.Result) error {
		return r.SetSolution(in, in.(*model.VCSched).NewPlacement(hosts, yield))
	}
}

func TestSolveReportsDefects(t *testing.T) {
	tests := map[string]struct {
		solver   fake
		wantPart string
	}{
		"too much memory": {placed(0.5, 0, 0, 1), "memory"},
		"too much CPU":    {placed(1, 0, 1, 1), "cpu"},
		"wrong objective": {func(in model.Instance, r *model.Result) error {
			err := placed(0.5, 0, 1, 1)(in, r)
			r.Objective = 0.6
			return err
		}, "wrong_objective"},
		"beaten bound": {func(in model.Instance, r *model.Result) error {
			err := placed(0.5, 0, 1, 1)(in, r)
			r.SetBound(model.Metric{Sense: 1}, 0.4, 1e-6)
			return err
		}, "beaten_bound"},
		"optimal, no bound": {func(in model.Instance, r *model.Result) error { r.Status = model.StatusOptimal; return nil }, "wrong_status"},
		"infeasible, solved": {func(in model.Instance, r *model.Result) error {
			err := placed(0.5, 0, 1, 1)(in, r)
			r.Status = model.StatusInfeasible
			return err
		}, "wrong_status"},
		"not this problem's": {func(in model.Instance, r *model.Result) error {
			r.Solution, r.Status = other{}, model.StatusFeasible
			return nil
		}, "wrong_kind"},
		"jobs are left out": {func(in model.Instance, r *model.Result) error {
			r.Solution, r.Status = &model.Placement{}, model.StatusFeasible
			return nil
		}, "missing_job"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := small()
			r, err := Solve(context.Background(), in, Options{Solver: tc.solver})
			var defect *DefectError
			if !errors.As(err, &defect) {
				t.Fatalf("result %+v, error %v, want a DefectError", r, err)
			}
			if defect.Instance != in || defect.Report.Feasible() {
				t.Errorf("the defect holds instance %v and the report %v", defect.Instance, defect.Report)
			}
			if !strings.Contains(err.Error(), tc.wantPart) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %q, want one line with %q", err, tc.wantPart)
			}
		})
	}
}

type other struct{}

func (other) Kind() model.Kind { return "other" }

// A bound that proves an instance infeasible refutes a solver that solved it.
func TestSolveInfeasibleByBound(t *testing.T) {
	in := small()
	for i := range in.Jobs {
		in.Jobs[i].Memory = 0.9
	}
	r, err := Solve(context.Background(), in, Options{Algorithm: "mcb8"})
	if err != nil || r.Status != model.StatusInfeasible || r.Reason == "" {
		t.Errorf("status %s (%q), error %v, want infeasible with a reason", r.Status, r.Reason, err)
	}
	_, err = Solve(context.Background(), in, Options{Solver: fake(placed(0.1, 0, 0, 1))})
	var defect *DefectError
	if !errors.As(err, &defect) || !strings.Contains(err.Error(), "infeasible") {
		t.Errorf("error is %v, want a DefectError about the bound", err)
	}
}

// Several engines solve the instance, in the order in which they are named.
func TestEngines(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	for engine, want := range map[string]string{
		"": "search", "search": "search", "highs": "highs", "both": "search+highs", "highs,search": "highs+search",
	} {
		r, err := Solve(t.Context(), small(), Options{Algorithm: "exact", Engine: engine})
		if err != nil || r.Algorithm != want || r.Status != model.StatusOptimal {
			t.Errorf("engine %q: %s by %s, %v, want %s", engine, r.Status, r.Algorithm, err, want)
		}
	}
	r, err := Solve(t.Context(), small(), Options{Algorithm: "exact", Engine: "both", Formulation: "paper"})
	if err != nil || r.Algorithm != "search+highs-paper" {
		t.Errorf("both with a formulation: by %s, %v", r.Algorithm, err)
	}
}

func TestReconcile(t *testing.T) {
	in := small()
	result := func(algorithm string, status model.Status, objective, bound float64) model.Result {
		r := model.NewResult(algorithm, 1)
		if !math.IsNaN(objective) {
			require.OK(t, r.SetSolution(in, in.NewPlacement([]int32{0, 1, 1}, objective)))
		}
		r.SetBound(model.Metric{Sense: model.Maximise}, bound, 1e-6)
		r.Status, r.Nodes, r.Elapsed, r.Reason = status, 5, time.Second, "stopped"
		return r
	}
	nan := math.NaN()
	tests := map[string]struct {
		a, b          model.Result
		want          model.Status
		wantObjective float64
		wantBound     float64
		wantErr       string
	}{
		"agree":                        {result("a", "optimal", 0.5, 0.5), result("b", "optimal", 0.5, 0.5000001), "optimal", 0.5, 0.5, ""},
		"two infeasible":               {result("a", "infeasible", nan, nan), result("b", "infeasible", nan, nan), "infeasible", nan, nan, ""},
		"a proof beside nothing":       {result("a", "unknown", nan, 0.9), result("b", "infeasible", nan, nan), "infeasible", nan, 0.9, ""},
		"solution here, bound there":   {result("a", "feasible", 0.5, 0.9), result("b", "unknown", nan, 0.5), "optimal", 0.5, 0.5, ""},
		"the better of each":           {result("a", "feasible", 0.4, 0.6), result("b", "feasible", 0.5, 0.9), "feasible", 0.5, 0.6, ""},
		"two optima":                   {result("a", "optimal", 0.5, 0.5), result("b", "optimal", 0.6, 0.6), "", 0, 0, "beats the bound"},
		"a bound that is too low":      {result("a", "feasible", 0.5, 0.9), result("b", "unknown", nan, 0.4), "", 0, 0, "beats the bound"},
		"infeasible, yet solved":       {result("a", "infeasible", nan, nan), result("b", "feasible", 0.5, 0.9), "", 0, 0, "says infeasible"},
		"solved, yet infeasible":       {result("a", "feasible", 0.5, 0.9), result("b", "infeasible", nan, nan), "", 0, 0, "says infeasible"},
		"optima apart under own bound": {result("a", "optimal", 0.5, 0.7), result("b", "optimal", 0.6, 0.7), "", 0, 0, "optima"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := reconcile(in, tc.a, tc.b, 1e-6)
			if tc.wantErr != "" {
				var defect *DefectError
				if !errors.As(err, &defect) || !strings.Contains(err.Error(), tc.wantErr) || !strings.Contains(err.Error(), "a and b disagree") {
					t.Errorf("error is %v, want a DefectError with %q", err, tc.wantErr)
				}
				return
			}
			require.OK(t, err)
			got := fmt.Sprintln(r.Status, r.Objective, r.Bound, r.Algorithm, r.Nodes, r.Elapsed)
			require.Same(t, "result", fmt.Sprintln(tc.want, tc.wantObjective, tc.wantBound, "a+b", 10,
				2*time.Second), got)
			require.Same(t, fmt.Sprintf("an optimum without a reason (status %s, reason %q)", r.Status, r.Reason), r.Reason == "",
				r.Status == model.StatusOptimal)
		})
	}
}

func TestSolveRefuses(t *testing.T) {
	invalid := small()
	invalid.Jobs[1].CPU = math.NaN()
	tests := map[string]struct {
		in   model.Instance
		o    Options
		want error
	}{
		"unknown algorithm":               {small(), Options{Algorithm: "mcb9"}, ErrUnknownAlgorithm},
		"unknown engine":                  {small(), Options{Algorithm: "exact", Engine: "cplex"}, ErrUnknownAlgorithm},
		"an engine that isn't there":      {small(), Options{Algorithm: "exact", Engine: "search,cplex"}, ErrUnknownAlgorithm},
		"an engine twice":                 {small(), Options{Algorithm: "exact", Engine: "search,search"}, ErrUnknownAlgorithm},
		"a formulation as an engine":      {small(), Options{Algorithm: "exact", Engine: "highs-paper"}, ErrUnknownAlgorithm},
		"unknown formulation":             {small(), Options{Algorithm: "exact", Engine: "highs", Formulation: "big"}, ErrUnknownAlgorithm},
		"engine of a heuristic":           {small(), Options{Algorithm: "mcb8", Engine: "highs"}, ErrUnknownAlgorithm},
		"formulation of the search":       {small(), Options{Algorithm: "exact", Formulation: "paper"}, ErrUnknownAlgorithm},
		"formulation of another engine":   {small(), Options{Algorithm: "exact", Engine: "search", Formulation: "paper"}, ErrUnknownAlgorithm},
		"invalid instance":                {invalid, Options{}, model.ErrInvalid},
		"invalid instance, own solver":    {invalid, Options{Solver: fake(placed(0.5, 0, 1, 1))}, model.ErrInvalid},
		"the solver fails":                {small(), Options{Solver: fake(func(model.Instance, *model.Result) error { return errBroken })}, errBroken},
		"the start is another instance's": {small(), Options{Settings: model.Settings{Start: &model.Placement{Jobs: []model.JobPlacement{{ID: "x", Hosts: []int{0}, CPU: []float64{1}}}}}}, model.ErrInvalid},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Solve(context.Background(), tc.in, tc.o)
			require.Refused(t, name, err, tc.want, "")
		})
	}
}

var errBroken = errors.New("broken")

// Auto has a time limit of its own, which a given one replaces.
func TestAutoTimeLimit(t *testing.T) {
	tests := map[string]struct {
		o    Options
		want time.Duration
	}{
		"auto":              {Options{Algorithm: "auto"}, AutoTimeLimit},
		"by default":        {Options{}, AutoTimeLimit},
		"auto with a limit": {Options{Algorithm: "auto", Settings: model.Settings{TimeLimit: time.Second}}, time.Second},
		"exact":             {Options{Algorithm: "exact"}, 0},
		"a heuristic":       {Options{Algorithm: "mcb8"}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, set, err := tc.o.solvers(model.KindVCSched)
			if err != nil || set.TimeLimit != tc.want {
				t.Errorf("limit %v, error %v, want %v", set.TimeLimit, err, tc.want)
			}
		})
	}
}

// planned hands over a schedule and looks at no context.
type planned struct{ s *model.Schedule }

func (planned) Name() string { return "planned" }

func (p planned) Solve(_ context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult("planned", set.Seed)
	err := r.SetSolution(in, p.s)
	o, _ := in.Objective(p.s)
	r.SetBound(in.Metrics()[0], o.Value, set.GapLimit())
	return r, err
}

// A context that ends while the judge is at work leaves the solution
// unverified, and no longer called optimal; one that ended before doesn't.
func TestInterruptedJudge(t *testing.T) {
	d := &model.DAG{Name: "many", TransferModel: model.TransferFair, Machines: []model.Machine{{ID: "A"}, {ID: "B"}},
		Network: model.Network{Bandwidth: 1, Links: []model.Link{{ID: "l"}}, Routes: []model.Route{{From: "A", To: "B", Links: []string{"l"}}}}}
	var machine []int32
	var start, sent []float64
	for k := range 50 {
		a, b := fmt.Sprint("a", k), fmt.Sprint("b", k)
		d.Tasks = append(d.Tasks, model.DAGTask{ID: a, CostS: []float64{1, 1}}, model.DAGTask{ID: b, CostS: []float64{1, 1}})
		d.Edges = append(d.Edges, model.DAGEdge{From: a, To: b, Data: 1})
		machine, start, sent = append(machine, 0, 1), append(start, float64(k), float64(1000+k)), append(sent, float64(k+1))
	}
	o := Options{Solver: planned{d.Schedule(machine, start, sent)}}
	r, err := Solve(t.Context(), d, o)
	if err != nil || r.Status != model.StatusOptimal || r.Unverified {
		t.Fatalf("not interrupted: %v, %s, unverified %v", err, r.Status, r.Unverified)
	}
	var unverified []model.Result // the context ended while the judge was at work
	for looks := range 1000 {
		x, err := Solve(&testkit.StopAfter{Context: t.Context(), Looks: looks}, d, o)
		switch {
		case err != nil || x.Solution == nil || x.InstanceHash == "" || x.Unverified == (x.Status == model.StatusOptimal):
			t.Fatalf("%d looks: %v, %s, unverified %v", looks, err, x.Status, x.Unverified)
		case x.Unverified:
			unverified = append(unverified, x)
		}
	}
	if len(unverified) == 0 {
		t.Fatal("the judge was never interrupted")
	}
	r = unverified[0]
	data := require.Value(json.Marshal(r))(t)
	if back, err := model.DecodeResult(data); err != nil || !back.Unverified {
		t.Errorf("read back: %v, unverified %v", err, back.Unverified)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err = Solve(ctx, d, o); err != nil || r.Status != model.StatusOptimal || r.Unverified {
		t.Errorf("interrupted before: %v, %s, unverified %v", err, r.Status, r.Unverified)
	}
}

// A problem may lack all but an engine and a generator.
func TestDefineLeast(t *testing.T) {
	p := define(definition[*model.VCSched]{kind: model.KindVCSched, engines: vcschedProblem.Algorithms[:1]})
	if p.Quick(t.Context(), small()) != nil {
		t.Error("quick bounds from nowhere")
	}
	if all, err := p.Bounds(t.Context(), small()); all != nil || err != nil {
		t.Errorf("bounds %v, error %v", all, err)
	}
	require.Refused(t, "error", require.Err(p.Formulation(t.Context(), small(), "")), model.ErrUnsupported, "")
}
