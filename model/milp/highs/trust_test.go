// SPDX-License-Identifier: MIT

//go:build !js

package highs_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// These are models on which some version of HiGHS, with some options, has given false results. Each binding that is
// there has to get them right.

// HiGHS 1.15.1 calls such models infeasible at its own tolerance of MIPs.
func TestBigM(t *testing.T) {
	for _, big := range []float64{1e6, 5e6, 1e7, 1e8, 1e9} {
		eachBinding(t, fmt.Sprint(big), func(t *testing.T, b milp.Backend) {
			m := milp.Model{Vars: []milp.Var{{Lower: 3, Upper: 5, Cost: 1}, {Upper: 1, Cost: 2, Integer: true}},
				Rows: []milp.Row{{Lower: -inf, Upper: 0, Terms: terms(0, 1, 1, -big)}}}
			r, err := b.Solve(t.Context(), &m, milp.Options{})
			if err != nil || r.Status == milp.Infeasible || !r.Feasible {
				t.Errorf("%+v, %v: x = 3, y = 1 is a point", r, err)
			}
		})
	}
}

// A feasible point is drawn first, then rows with a big M that it satisfies. No result may then be infeasible, and no
// bound may be better than the point.
func TestBigMDrawn(t *testing.T) {
	for k := range require.Rounds(200) {
		rng := rand.New(rand.NewPCG(46, uint64(k)))
		m := &milp.Model{}
		n := 2 + rng.IntN(4)
		x := make([]float64, 2*n)
		for j := range n {
			x[j] = float64(rng.IntN(9))
			m.AddVar(milp.Var{Upper: 10, Cost: float64(1 + rng.IntN(5))})
		}
		for j := range n {
			x[n+j] = float64(min(1, int(x[j])))
			m.AddVar(milp.Var{Upper: 1, Cost: float64(rng.IntN(20)), Integer: true})
			m.AddRow("", -inf, 0, milp.Term{Var: j, Coef: 1}, milp.Term{Var: n + j, Coef: -math.Pow(10, float64(4+rng.IntN(6)))})
		}
		sum, demand := []milp.Term(nil), 0.0
		for j := range n {
			sum, demand = append(sum, milp.Term{Var: j, Coef: 1}), demand+x[j]
		}
		m.AddRow("", demand, inf, sum...)
		eachBinding(t, fmt.Sprint(k), func(t *testing.T, b milp.Backend) {
			r, err := b.Solve(t.Context(), m, milp.Options{})
			if err != nil || r.Status == milp.Infeasible || r.Bound > m.Objective(x)+1e-6 {
				t.Errorf("status %v, bound %v, %v; a point has %v", r.Status, r.Bound, err, m.Objective(x))
			}
		})
	}
}

// HiGHS's tolerances on the objective are absolute: costs of 1e-8 are nothing to it, and its bounds are false.
func TestSmallCosts(t *testing.T) {
	require.HiGHS(t)
	rng := rand.New(rand.NewPCG(46, 1))
	for k := range require.Rounds(1000) {
		m := randomMILP(rng)
		scale := math.Pow(10, float64(-rng.IntN(13)))
		m.Offset *= scale
		for j := range m.Vars {
			m.Vars[j].Cost *= scale
		}
		want, ok := enumerate(m)
		r := solve(t, m, milp.Options{})
		if ok != (r.Status == milp.Optimal) || ok && (math.Abs(r.Objective-want) > 1e-6*scale || math.Abs(r.Bound-want) > 1e-6*scale) {
			t.Fatalf("model %d, costs of %v: %v, objective %v, bound %v, want %v: %+v", k, scale, r.Status, r.Objective, r.Bound, want, m)
		}
		relaxed := solve(t, m, milp.Options{Relax: true})
		if ok && (relaxed.Status != milp.Optimal || !m.Maximise && relaxed.Objective > want+1e-6*scale || m.Maximise && relaxed.Objective < want-1e-6*scale) {
			t.Fatalf("model %d: the relaxation has %v %v, the optimum is %v", k, relaxed.Status, relaxed.Objective, want)
		}
	}
}

// A coefficient of 1e-10 counts: HiGHS by itself takes it for 0. One that it can't be made to consider is refused.
func TestSmallCoefficients(t *testing.T) {
	require.HiGHS(t)
	m := func(c float64) *milp.Model {
		return &milp.Model{Maximise: true, Vars: []milp.Var{{Name: "x", Upper: 1e12, Cost: 1}}, Rows: []milp.Row{{Lower: -inf, Upper: 1, Terms: terms(0, c)}}}
	}
	if r := solve(t, m(1e-10), milp.Options{}); r.Status != milp.Optimal || math.Abs(r.Objective-1e10) > 1 {
		t.Errorf("%v %v, want 1e10", r.Status, r.Objective)
	}
	require.Refused(t, "a coefficient of 1e-13", require.Err(highs.Solve(t.Context(), m(1e-13), milp.Options{})),
		model.ErrUnsupported, "")
}

// Rays of infeasible linear programs prove it in rational arithmetic.
func TestRay(t *testing.T) {
	require.HiGHS(t)
	rng := rand.New(rand.NewPCG(46, 2))
	proved, infeasible := 0, 0
	for range require.Rounds(2000) {
		m := randomMILP(rng)
		r := solve(t, m, milp.Options{Relax: true})
		if (r.Ray != nil) && r.Status != milp.Infeasible {
			t.Fatalf("%v with a ray", r.Status)
		}
		if r.Status != milp.Infeasible {
			continue
		}
		if infeasible++; r.Ray != nil && farkas(m, r.Ray) {
			proved++
		}
	}
	if infeasible < 20 || proved < infeasible*9/10 {
		t.Errorf("%d of %d infeasible programs are proved", proved, infeasible)
	}
	// A planted fault: a ray of another sign proves nothing.
	m := &milp.Model{Vars: []milp.Var{{Upper: 1}}, Rows: []milp.Row{{Lower: 2, Upper: inf, Terms: terms(0, 1)}}}
	if !farkas(m, []float64{1}) || farkas(m, []float64{-1}) {
		t.Error("the check of rays is wrong")
	}
}

// farkas reports whether the multipliers y prove that no x has A x between the sides of all rows and lies between its
// bounds: Σ y_i side_i > max of (A'y) x over the bounds.
func farkas(m *milp.Model, y []float64) bool {
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	left, right := new(big.Rat), new(big.Rat)
	d := make([]*big.Rat, len(m.Vars))
	for j := range d {
		d[j] = new(big.Rat)
	}
	for i, row := range m.Rows {
		side := row.Lower
		if y[i] < 0 {
			side = row.Upper
		}
		if y[i] == 0 || math.IsInf(side, 0) {
			continue
		}
		left.Add(left, new(big.Rat).Mul(rat(y[i]), rat(side)))
		for _, term := range row.Terms {
			d[term.Var].Add(d[term.Var], new(big.Rat).Mul(rat(y[i]), rat(term.Coef)))
		}
	}
	for j, v := range m.Vars {
		bound := v.Upper
		if d[j].Sign() < 0 {
			bound = v.Lower
		}
		if d[j].Sign() == 0 {
			continue
		}
		if math.IsInf(bound, 0) {
			return false
		}
		right.Add(right, new(big.Rat).Mul(d[j], rat(bound)))
	}
	return left.Cmp(right) > 0
}

// A model is solved the same in a new instance and in one that has solved others.
func TestSameInUsedInstances(t *testing.T) {
	require.HiGHS(t)
	results := map[int][]milp.Result{}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 2, 0, 3, 1}} {
		for _, k := range order {
			m := knapsack(20 + k)
			if k == 3 {
				m = hard()
			}
			results[k] = append(results[k], solve(t, m, milp.Options{NodeLimit: 1}))
		}
	}
	for k, all := range results {
		for _, r := range all[1:] {
			if a := all[0]; a.Nodes != r.Nodes || a.Bound != r.Bound || a.Iterations != r.Iterations || !slices.Equal(a.X, r.X) {
				t.Errorf("model %d: %+v, then %+v", k, a, r)
			}
		}
	}
}

// A context that has ended before the first solve is no error.
func TestLPEndedBefore(t *testing.T) {
	require.HiGHS(t)
	lp := require.Value(highs.NewLP(knapsack(3)))(t)
	defer lp.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := lp.Solve(ctx, nil, nil); err != nil || r.Status != milp.Interrupted {
		t.Errorf("%v, %v", r.Status, err)
	}
	if r, err := lp.Solve(t.Context(), nil, nil); err != nil || r.Status != milp.Optimal {
		t.Errorf("after it: %v, %v", r.Status, err)
	}
}
