// SPDX-License-Identifier: MIT

package highs_test

import (
	"context"
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

var inf = math.Inf(1)

// terms makes a row's terms of pairs of variable and coefficient.
func terms(pairs ...float64) []milp.Term {
	var ts []milp.Term
	for k := 0; k < len(pairs); k += 2 {
		ts = append(ts, milp.Term{Var: int(pairs[k]), Coef: pairs[k+1]})
	}
	return ts
}

// conformance are small models with known answers, in the manner of MathOptInterface's suite, which any backend must
// get right.
var conformance = map[string]struct {
	model      milp.Model
	relax      bool
	wantStatus milp.Status
	wantObj    float64
	wantX      []float64 // nil where it isn't unique
}{
	"lp maximise": {
		model: milp.Model{Maximise: true,
			Vars: []milp.Var{{Name: "x", Upper: inf, Cost: 3}, {Name: "y", Upper: inf, Cost: 2}},
			Rows: []milp.Row{{Name: "a", Lower: -inf, Upper: 4, Terms: terms(0, 1, 1, 1)}, {Name: "b", Lower: -inf, Upper: 6, Terms: terms(0, 1, 1, 3)}}},
		wantStatus: milp.Optimal, wantObj: 12, wantX: []float64{4, 0}},
	"equality only": {
		model: milp.Model{Vars: []milp.Var{{Lower: -inf, Upper: inf, Cost: 1}, {Lower: -inf, Upper: inf, Cost: 1}},
			Rows: []milp.Row{{Lower: 5, Upper: 5, Terms: terms(0, 1, 1, 1)}, {Lower: 1, Upper: 1, Terms: terms(0, 1, 1, -1)}}},
		wantStatus: milp.Optimal, wantObj: 5, wantX: []float64{3, 2}},
	"infeasible": {
		model: milp.Model{Vars: []milp.Var{{Upper: 1}},
			Rows: []milp.Row{{Lower: 2, Upper: inf, Terms: terms(0, 1)}}},
		wantStatus: milp.Infeasible},
	"infeasible rows": {
		model: milp.Model{Vars: []milp.Var{{Lower: -inf, Upper: inf}, {Lower: -inf, Upper: inf}},
			Rows: []milp.Row{{Lower: 2, Upper: inf, Terms: terms(0, 1, 1, 1)}, {Lower: -inf, Upper: 1, Terms: terms(0, 1, 1, 1)}}},
		wantStatus: milp.Infeasible},
	"integer infeasible, lp feasible": {
		model: milp.Model{Vars: []milp.Var{{Upper: 1, Integer: true}, {Upper: 1, Integer: true}},
			Rows: []milp.Row{{Lower: 0.5, Upper: 0.5, Terms: terms(0, 1, 1, -1)}}},
		wantStatus: milp.Infeasible},
	"the same, relaxed": {
		model: milp.Model{Vars: []milp.Var{{Upper: 1, Integer: true, Cost: 1}, {Upper: 1, Integer: true}},
			Rows: []milp.Row{{Lower: 0.5, Upper: 0.5, Terms: terms(0, 1, 1, -1)}}},
		relax: true, wantStatus: milp.Optimal, wantObj: 0.5},
	"degenerate": {
		model: milp.Model{Maximise: true, Vars: []milp.Var{{Upper: inf, Cost: 1}, {Upper: inf, Cost: 1}},
			Rows: []milp.Row{{Lower: -inf, Upper: 1, Terms: terms(0, 1)}, {Lower: -inf, Upper: 1, Terms: terms(1, 1)},
				{Lower: -inf, Upper: 2, Terms: terms(0, 1, 1, 1)}, {Lower: -inf, Upper: 3, Terms: terms(0, 2, 1, 1)}}},
		wantStatus: milp.Optimal, wantObj: 2, wantX: []float64{1, 1}},
	"empty": {wantStatus: milp.Optimal, wantObj: 0},
	"empty with an offset": {
		model: milp.Model{Offset: 7}, wantStatus: milp.Optimal, wantObj: 7},
	"no rows": {
		model:      milp.Model{Maximise: true, Vars: []milp.Var{{Lower: -1, Upper: 2.5, Cost: 2}, {Lower: -1, Upper: 2.5, Cost: -1, Integer: true}}},
		wantStatus: milp.Optimal, wantObj: 6, wantX: []float64{2.5, -1}},
	"a row without terms": {
		model:      milp.Model{Vars: []milp.Var{{Lower: 1, Upper: 3, Cost: 1}}, Rows: []milp.Row{{Lower: -1, Upper: 1}}},
		wantStatus: milp.Optimal, wantObj: 1},
	"range and negative bounds": {
		model: milp.Model{Vars: []milp.Var{{Lower: -10, Upper: -2, Cost: 1}, {Lower: -inf, Upper: 5, Cost: -1}},
			Rows: []milp.Row{{Lower: -4, Upper: 1, Terms: terms(0, 1, 1, 1)}}},
		wantStatus: milp.Optimal, wantObj: -14, wantX: []float64{-9, 5}},
	"huge coefficients": {
		model: milp.Model{Vars: []milp.Var{{Upper: inf, Cost: 1e-4}, {Upper: inf, Cost: 1}},
			Rows: []milp.Row{{Lower: 1e7, Upper: inf, Terms: terms(0, 1e6, 1, 1)}}},
		wantStatus: milp.Optimal, wantObj: 1e-3},
	"fixed variable": {
		model: milp.Model{Vars: []milp.Var{{Lower: 2, Upper: 2, Cost: 1}, {Upper: 9, Cost: 1, Integer: true}},
			Rows: []milp.Row{{Lower: 4.5, Upper: inf, Terms: terms(0, 1, 1, 1)}}},
		wantStatus: milp.Optimal, wantObj: 5, wantX: []float64{2, 3}},
	"knapsack": {
		model: milp.Model{Maximise: true, Offset: 1,
			Vars: []milp.Var{{Upper: 1, Cost: 10, Integer: true}, {Upper: 1, Cost: 13, Integer: true}, {Upper: 1, Cost: 7, Integer: true}},
			Rows: []milp.Row{{Lower: -inf, Upper: 9, Terms: terms(0, 5, 1, 6, 2, 4)}}},
		wantStatus: milp.Optimal, wantObj: 18, wantX: []float64{1, 0, 1}},
}

// eachBinding runs a test by each binding of HiGHS that is there.
func eachBinding(t *testing.T, name string, test func(*testing.T, milp.Backend)) {
	for _, b := range []milp.Backend{highs.Backend, highs.Lanl} {
		t.Run(name+"/"+b.Name, func(t *testing.T) {
			if err := b.Missing(); err != nil {
				t.Skip(err)
			}
			test(t, b)
		})
	}
}

func TestConformance(t *testing.T) {
	for name, c := range conformance {
		eachBinding(t, name, func(t *testing.T, b milp.Backend) {
			r := require.Value(b.Solve(context.Background(), &c.model, milp.Options{Relax: c.relax}))(t)
			require.Is(t, c.wantStatus, r.Status, "status")
			if r.Feasible != (c.wantStatus == milp.Optimal) {
				t.Fatalf("feasible is %v with the status %v", r.Feasible, r.Status)
			}
			if !r.Feasible {
				return
			}
			if math.Abs(r.Objective-c.wantObj) > 1e-6 || math.Abs(r.Bound-c.wantObj) > 1e-6 {
				t.Errorf("objective %v and bound %v, want %v", r.Objective, r.Bound, c.wantObj)
			}
			if got := c.model.Objective(r.X); math.Abs(got-c.wantObj) > 1e-6 {
				t.Errorf("the point's objective is %v, want %v", got, c.wantObj)
			}
			m := c.model
			if c.relax {
				m.Vars = append([]milp.Var(nil), m.Vars...)
				for j := range m.Vars {
					m.Vars[j].Integer = false
				}
			}
			if v := m.Violation(r.X); v > 1e-6 {
				t.Errorf("the point violates the model by %v", v)
			}
			for j := range c.wantX {
				if math.Abs(r.X[j]-c.wantX[j]) > 1e-6 {
					t.Errorf("x = %v, want %v", r.X, c.wantX)
					break
				}
			}
		})
	}
}

// Presolve may not distinguish the two, so either status will do.
func TestUnbounded(t *testing.T) {
	for name, m := range map[string]milp.Model{
		"one variable":  {Vars: []milp.Var{{Upper: inf, Cost: -1}}},
		"along a ray":   {Maximise: true, Vars: []milp.Var{{Upper: inf, Cost: 1}, {Upper: inf}}, Rows: []milp.Row{{Lower: -inf, Upper: 1, Terms: terms(0, 1, 1, -1)}}},
		"integer":       {Maximise: true, Vars: []milp.Var{{Upper: inf, Cost: 1, Integer: true}, {Upper: inf, Integer: true}}, Rows: []milp.Row{{Lower: -inf, Upper: 1, Terms: terms(0, 1, 1, -1)}}},
		"free variable": {Vars: []milp.Var{{Lower: -inf, Upper: inf, Cost: 1}}},
	} {
		eachBinding(t, name, func(t *testing.T, b milp.Backend) {
			r := require.Value(b.Solve(context.Background(), &m, milp.Options{}))(t)
			if r.Status != milp.Unbounded && r.Status != milp.InfeasibleOrUnbounded {
				t.Errorf("status %v, want unbounded", r.Status)
			}
			if r.Feasible {
				t.Error("an unbounded model has no answer, yet the result is feasible")
			}
		})
	}
}
