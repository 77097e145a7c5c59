// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// number is an instance whose solutions are the whole numbers from 0 to most,
// and whose objective is the number; minimise turns the sense.
type number struct {
	model.Instance
	most     int
	minimise bool
}

type chosen int

func (chosen) Kind() model.Kind { return "number" }

func (n *number) Kind() model.Kind { return "number" }

func (n *number) Metrics() []model.Metric {
	if n.minimise {
		return []model.Metric{{Sense: model.Minimise}}
	}
	return []model.Metric{{Sense: model.Maximise}}
}

func (n *number) Objective(p model.Solution) (model.Objective, error) {
	return model.Objective{Value: float64(p.(chosen)), Sense: model.SenseOf(n)}, nil
}

// formulation is number's, in thirds: nothing is 30 or better.
func (n *number) formulation() *milp.Formulation[chosen] {
	f := &milp.Formulation[chosen]{Scheme: "thirds", Whole: true, Limit: 30, Sensitivity: 2}
	f.Maximise = !n.minimise
	if n.minimise {
		f.Limit = 0
	}
	f.AddVar(milp.Var{Upper: 30, Cost: 1, Integer: true})
	f.Value = func(objective float64) float64 { return objective / 3 }
	f.Encode = func(c chosen) []float64 { return []float64{3 * float64(c)} }
	f.Decode = func(x []float64) (chosen, error) {
		if x[0] != math.Round(x[0]) {
			return 0, fmt.Errorf("%w point", model.ErrInfeasible)
		}
		return chosen(x[0] / 3), nil
	}
	return f
}

// optimal, stopped and none are answers of HiGHS about thirds; x may be NaN for
// no point.
func optimal(x, bound float64) milp.Result {
	return milp.Result{Status: milp.Optimal, Feasible: true, X: []float64{x}, Objective: x, Bound: bound, Tolerance: Tolerance, Nodes: 1}
}

func stopped(x, bound float64) milp.Result {
	r := optimal(x, bound)
	if r.Status = milp.NodeLimit; math.IsNaN(x) {
		r.Feasible, r.X = false, nil
	}
	return r
}

func none() milp.Result {
	return milp.Result{Status: milp.Infeasible, Objective: math.NaN(), Bound: math.NaN(), Tolerance: Tolerance, Nodes: 1}
}

// The rules under which HiGHS's word counts, against answers that are right and
// wrong. The script holds what HiGHS answers in turn; every answer must be asked
// for, and no more.
func TestLinearRules(t *testing.T) {
	const most = 8
	nan := math.NaN()
	type config struct {
		start           chosen // -1: none
		better, elastic bool
		minimise        bool
		excludes        int // points that Exclude adds rows against
		notWhole        bool
		fixed           bool
	}
	twice, confirmed, flexible := config{start: -1}, config{start: 3, better: true}, config{start: -1, better: true, elastic: true}
	tests := map[string]struct {
		config config
		script []milp.Result
		status model.Status
		value  float64 // NaN: no solution
		bound  float64 // NaN: none
		reason string
	}{
		"optimal, twice":             {twice, []milp.Result{optimal(24, 24), optimal(24, 24)}, model.StatusOptimal, 8, 8, ""},
		"optimal, confirmed":         {confirmed, []milp.Result{optimal(24, 24), none()}, model.StatusOptimal, 8, 8, ""},
		"the limit needs no proof":   {config{start: 10}, nil, model.StatusOptimal, 10, 10, ""},
		"the limit is reached":       {confirmed, []milp.Result{optimal(30, 30)}, model.StatusOptimal, 10, 10, ""},
		"minimise, confirmed":        {config{start: 3, better: true, minimise: true}, []milp.Result{optimal(3, 3), none()}, model.StatusOptimal, 1, 1, ""},
		"minimise, a wrong optimum":  {config{start: 3, better: true, minimise: true}, []milp.Result{optimal(6, 6), optimal(3, 3), optimal(3, 3), none()}, model.StatusOptimal, 1, 1, ""},
		"a wrong optimum, twice":     {twice, []milp.Result{optimal(15, 15), optimal(24, 24)}, model.StatusOptimal, 8, 8, ""},
		"a wrong optimum, confirmed": {confirmed, []milp.Result{optimal(15, 15), optimal(24, 24), optimal(24, 24), none()}, model.StatusOptimal, 8, 8, ""},
		"a wrong bound":              {confirmed, []milp.Result{optimal(24, 15), none()}, model.StatusFeasible, 8, nan, beaten},
		"a wrong bound, twice":       {twice, []milp.Result{optimal(24, 15), optimal(15, 15)}, model.StatusFeasible, 8, nan, beaten},
		"a wrong bound, stopped":     {confirmed, []milp.Result{stopped(24, 15)}, model.StatusFeasible, 8, nan, beaten},
		"a bound with a gap":         {config{start: 3, better: true, notWhole: true}, []milp.Result{optimal(24, 26), stopped(nan, 27)}, model.StatusFeasible, 8, 9, unconfirmed},
		"no bound":                   {confirmed, []milp.Result{stopped(nan, nan)}, model.StatusFeasible, 3, 10, "node limit"},
		"a gap that tolerance leaves": {config{start: -1, notWhole: true}, []milp.Result{optimal(24, 24+3e-4), optimal(24, 24)}, model.StatusFeasible, 8,
			8 + 1e-4 + 4e-8, leavesGap},
		"a better one that isn't":                 {confirmed, []milp.Result{optimal(24, 24), optimal(24, 27)}, model.StatusFeasible, 8, 9, contradiction},
		"both bounds prove it":                    {confirmed, []milp.Result{optimal(24, 24), optimal(24, 24)}, model.StatusOptimal, 8, 8, ""},
		"infeasible the second time":              {twice, []milp.Result{optimal(24, 24), none()}, model.StatusFeasible, 8, 10, contradiction},
		"infeasible with a solution":              {confirmed, []milp.Result{none()}, model.StatusFeasible, 3, 10, isSolution},
		"infeasible with a solution, twice":       {config{start: 3}, []milp.Result{none(), none()}, model.StatusFeasible, 3, 10, isSolution},
		"infeasible, twice":                       {twice, []milp.Result{none(), none()}, model.StatusInfeasible, nan, nan, "infeasible"},
		"infeasible, refuted":                     {twice, []milp.Result{none(), optimal(24, 24)}, model.StatusOptimal, 8, 8, ""},
		"infeasible, not confirmed":               {twice, []milp.Result{none(), stopped(nan, nan)}, model.StatusUnknown, nan, 10, "node limit"},
		"infeasible, nothing to confirm it":       {config{start: -1, better: true}, []milp.Result{none()}, model.StatusUnknown, nan, 10, "nothing confirms"},
		"infeasible, elastic":                     {flexible, []milp.Result{none(), optimal(27, 27)}, model.StatusInfeasible, nan, nan, "infeasible"},
		"infeasible, elastic, stopped in time":    {flexible, []milp.Result{none(), stopped(27, 28.9)}, model.StatusInfeasible, nan, nan, "infeasible"},
		"infeasible, elastic, refuted":            {flexible, []milp.Result{none(), optimal(30, 30)}, model.StatusOptimal, 10, 10, ""},
		"infeasible, elastic, too weak":           {flexible, []milp.Result{none(), stopped(27, 29.9)}, model.StatusUnknown, nan, 10, contradiction},
		"infeasible, elastic, infeasible":         {flexible, []milp.Result{none(), none()}, model.StatusUnknown, nan, 10, contradiction},
		"a point that doesn't decode":             {twice, []milp.Result{optimal(24.5, 25), optimal(24.5, 25)}, model.StatusUnknown, nan, 8 + 1.0/3, noSolution},
		"a point that isn't feasible":             {twice, []milp.Result{optimal(27, 27), optimal(27, 27)}, model.StatusUnknown, nan, 9, noSolution},
		"a point that is excluded":                {config{start: -1, excludes: 1}, []milp.Result{optimal(27, 27), optimal(27, 27), optimal(24, 24), optimal(24, 24)}, model.StatusOptimal, 8, 8, ""},
		"all points are excluded":                 {config{start: -1, excludes: 1}, []milp.Result{optimal(27, 27), optimal(27, 27), none(), none()}, model.StatusInfeasible, nan, nan, "infeasible"},
		"a point to exclude as the limit strikes": {config{start: -1, excludes: 1}, []milp.Result{stopped(27, 28)}, model.StatusUnknown, nan, 28.0 / 3, "node limit"},
		"stopped with a solution":                 {twice, []milp.Result{stopped(21, 27)}, model.StatusFeasible, 7, 9, "node limit"},
		"stopped without one":                     {twice, []milp.Result{stopped(nan, 27)}, model.StatusUnknown, nan, 9, "node limit"},
		"stopped at the optimum":                  {confirmed, []milp.Result{stopped(24, 24)}, model.StatusOptimal, 8, 8, ""},
		"stopped the second time":                 {twice, []milp.Result{optimal(24, 24), stopped(nan, 26)}, model.StatusFeasible, 8, 26.0 / 3, "node limit"},
		"stopped as it confirms":                  {confirmed, []milp.Result{optimal(24, 24), stopped(nan, 27)}, model.StatusFeasible, 8, 9, unconfirmed},
		"fixed, optimal":                          {config{start: 3, fixed: true}, []milp.Result{optimal(24, 24)}, model.StatusOptimal, 8, 8, ""},
		"fixed, a gap":                            {config{start: 3, fixed: true, notWhole: true}, []milp.Result{optimal(24, 24.3)}, model.StatusFeasible, 8, 8.1, leavesGap},
		"fixed, infeasible":                       {config{start: -1, fixed: true}, []milp.Result{none()}, model.StatusUnknown, nan, 10, "nothing confirms"},
		"fixed, confirmed":                        {config{start: 3, better: true, fixed: true}, []milp.Result{optimal(24, 24), none()}, model.StatusOptimal, 8, 8, ""},
		"a start that isn't feasible":             {config{start: 9}, []milp.Result{optimal(24, 24), optimal(24, 24)}, model.StatusOptimal, 8, 8, ""},
		"nothing as good as the start":            {config{start: 7, better: true}, []milp.Result{stopped(21, 26)}, model.StatusFeasible, 7, 26.0 / 3, "node limit"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			in := &number{most: most, minimise: c.config.minimise}
			f := in.formulation()
			f.Whole = !c.config.notWhole
			left := c.config.excludes
			h := Linear[chosen]{
				Formulate: func(float64) (*milp.Formulation[chosen], error) { return f, nil },
				// 9 is what a point may stand for and no solution; 10 is one for
				// the questions about the limit.
				Accept: func(_ context.Context, s chosen) (model.Solution, error) {
					if s == 9 {
						return nil, nil
					}
					return s, nil
				},
			}
			if c.config.start >= 0 {
				h.Starts = []chosen{c.config.start}
			}
			if c.config.better {
				h.Better = func(f *milp.Formulation[chosen], target float64) (*milp.Formulation[chosen], error) {
					return f.Demand(target), nil
				}
			}
			if c.config.elastic {
				h.Elastic = func() (*milp.Formulation[chosen], chosen, error) { return in.formulation(), 0, nil }
			}
			if left > 0 {
				h.Exclude = func(s chosen) bool {
					if s != 9 {
						t.Errorf("%d is to be excluded", s)
					}
					left--
					return left >= 0
				}
			}
			r := &Run{Result: model.NewResult("test", 0), in: in}
			asked := 0
			d := &driver[chosen]{Run: r, Linear: h, known: nan, Backend: milp.Backend{Title: "Test", Fixed: c.config.fixed, Solve: func(_ context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
				if err := m.Validate(); err != nil {
					t.Error(err)
				}
				if o.Start != nil && len(o.Start) != len(m.Vars) {
					t.Errorf("start %v", o.Start)
				}
				asked++
				if asked > len(c.script) {
					t.Fatal("a question too many")
				}
				return c.script[asked-1], nil
			}}}
			if err := d.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if asked != len(c.script) || r.Nodes != int64(asked) {
				t.Errorf("%d questions and %d nodes, want %d", asked, r.Nodes, len(c.script))
			}
			same := func(got, want float64) bool {
				return math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-6
			}
			if r.Status != c.status || !same(r.Objective, c.value) || !same(r.Bound, c.bound) || !strings.Contains(r.Reason, c.reason) || (r.Reason == "") != (c.reason == "") {
				t.Errorf("%s %v, bound %v, %q\nwant %s %v, bound %v, %q", r.Status, r.Objective, r.Bound, r.Reason, c.status, c.value, c.bound, c.reason)
			}
		})
	}
}

// What the driver asks for: the start, the least improvement that counts, the
// tolerances, and that a solution is confirmed by another question.
func TestLinearQuestions(t *testing.T) {
	in := &number{}
	f := in.formulation()
	var targets []float64
	var o []milp.Options
	r := &Run{Result: model.NewResult("test", 0), in: in, Set: model.Settings{Gap: 0.1, Threads: 2}}
	d := &driver[chosen]{Run: r, known: math.NaN(), Linear: Linear[chosen]{
		Starts:    []chosen{3, 5, 4},
		Formulate: func(float64) (*milp.Formulation[chosen], error) { return f, nil },
		Accept:    func(_ context.Context, s chosen) (model.Solution, error) { return s, nil },
		Better: func(f *milp.Formulation[chosen], target float64) (*milp.Formulation[chosen], error) {
			targets = append(targets, target)
			return nil, model.ErrInfeasible
		},
	}, Backend: milp.Backend{Solve: func(_ context.Context, _ *milp.Model, options milp.Options) (milp.Result, error) {
		o = append(o, options)
		return optimal(24, 25), nil
	}}}
	if err := d.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	// 24 and a twentieth is 25.2: nothing of 26 exists, so 25 bounds.
	if len(targets) != 1 || targets[0] != 26 || r.Bound != 25.0/3 || r.Status != model.StatusOptimal {
		t.Errorf("targets %v, %s, bound %v", targets, r.Status, r.Bound)
	}
	if len(o) != 1 || o[0].Tolerance != Tolerance || o[0].Gap != 0.05 || o[0].Threads != 2 || len(o[0].Start) != 1 || o[0].Start[0] != 15 || o[0].Progress != nil {
		t.Errorf("options %+v", o)
	}
}

// A cancelled run and one without a first solution say so; other instances and
// errors of preparing are errors.
func TestSolveLinear(t *testing.T) {
	need.HiGHS(t)
	in := &number{most: 8}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	f := in.formulation()
	ask := func(ctx context.Context, in model.Instance, fail error) (model.Result, error) {
		return LinearEngine[*number, chosen]{Backend: highs.Backend, ID: "test", Prepare: func(*Run, *number) (Linear[chosen], error) {
			return Linear[chosen]{
				Formulate: func(float64) (*milp.Formulation[chosen], error) { return f, nil },
				Accept:    func(_ context.Context, s chosen) (model.Solution, error) { return s, nil },
			}, fail
		}}.Solve(ctx, in, model.Settings{Seed: 3, Progress: func(model.Progress) {}})
	}
	if r, err := ask(cancelled, in, nil); err != nil || r.Status != model.StatusUnknown || r.Reason != "interrupted" || r.Bound != 10 || r.Seed != 3 {
		t.Errorf("cancelled: %+v %v", r, err)
	}
	if r, err := ask(t.Context(), in, nil); err != nil || r.Status != model.StatusOptimal || r.Objective != 10 || r.Elapsed == 0 {
		t.Errorf("%+v %v, want 10", r, err)
	}
	if r, err := ask(t.Context(), in, fmt.Errorf("%w: stopped", model.ErrNoSolution)); err != nil || r.Status != model.StatusUnknown || r.Reason == "" {
		t.Errorf("no first solution: %+v %v", r, err)
	}
	if _, err := ask(t.Context(), in, model.ErrInvalid); !errors.Is(err, model.ErrInvalid) || !strings.HasPrefix(err.Error(), "test: ") {
		t.Errorf("%v, want ErrInvalid", err)
	}
	if _, err := ask(t.Context(), &model.DAG{}, nil); !errors.Is(err, model.ErrUnsupported) || !strings.Contains(err.Error(), "dag") {
		t.Errorf("another instance: %v", err)
	}
}

// Progress reports the problem's figures: the best solution, and a bound that is
// never worse than it.
func TestLinearProgress(t *testing.T) {
	in := &number{}
	f := in.formulation()
	var got []model.Progress
	r := &Run{Result: model.NewResult("test", 0), in: in, Set: model.Settings{Progress: func(p model.Progress) { got = append(got, p) }}}
	d := &driver[chosen]{Run: r, known: math.NaN(), Linear: Linear[chosen]{
		Starts:    []chosen{5},
		Formulate: func(float64) (*milp.Formulation[chosen], error) { return f, nil },
		Accept:    func(_ context.Context, s chosen) (model.Solution, error) { return s, nil },
	}, Backend: milp.Backend{Solve: func(_ context.Context, _ *milp.Model, o milp.Options) (milp.Result, error) {
		o.Progress(milp.Progress{Incumbent: math.NaN(), Bound: math.NaN()})
		o.Progress(milp.Progress{Incumbent: 18, Bound: 27, Nodes: 7})
		o.Progress(milp.Progress{Incumbent: 9, Bound: 6})
		return stopped(18, 27), nil
	}}}
	if err := d.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := [][2]float64{{5, 10}, {6, 9}, {5, 5}}
	if len(got) != len(want) {
		t.Fatalf("%+v, want %v", got, want)
	}
	for k, w := range want {
		if got[k].Incumbent != w[0] || got[k].Bound != w[1] || got[k].Algorithm != "test" {
			t.Errorf("%+v, want %v", got[k], w)
		}
	}
}
