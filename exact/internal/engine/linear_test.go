// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// program is an instance of whole numbers within bounds; solutions satisfy rows of whole numbers.
type program struct {
	model.Instance
	maximise bool
	most     []int64 // of each number; the least is 0
	cost     []int64
	rows     [][]int64 // coefficients
	limits   []int64   // of each row: at most
	hidden   []int64   // coefficients of a row of at most hiddenMost that the formulation doesn't have, nil: none
	atMost   int64
}

type numbers []int64

func (numbers) Kind() model.Kind { return "numbers" }

func (p *program) Kind() model.Kind { return "numbers" }

func (p *program) Metrics() []model.Metric {
	if p.maximise {
		return []model.Metric{{Sense: model.Maximise, Whole: true}, {}}
	}
	return []model.Metric{{Sense: model.Minimise, Whole: true}, {}}
}

func times(a []int64, x numbers) (sum int64) {
	for j, v := range x {
		sum += a[j] * v
	}
	return sum
}

func (p *program) Objective(s model.Solution) (model.Objective, error) {
	return model.Objective{Value: float64(times(p.cost, s.(numbers))), Sense: model.SenseOf(p)}, nil
}

func (p *program) feasible(x numbers) bool {
	for i, row := range p.rows {
		if times(row, x) > p.limits[i] {
			return false
		}
	}
	return p.hidden == nil || times(p.hidden, x) <= p.atMost
}

// best returns the best objective by trying all numbers; ok is false if there is no solution.
func (p *program) best() (best int64, ok bool) {
	x := make(numbers, len(p.most))
	var try func(j int)
	try = func(j int) {
		if j == len(x) {
			if v := times(p.cost, x); p.feasible(x) && (!ok || (v > best) == p.maximise && v != best) {
				best, ok = v, true
			}
			return
		}
		for x[j] = 0; x[j] <= p.most[j]; x[j]++ {
			try(j + 1)
		}
		x[j] = 0
	}
	try(0)
	return best, ok
}

func (p *program) formulation() *milp.Formulation[numbers] {
	f := &milp.Formulation[numbers]{Whole: true}
	f.Maximise = p.maximise
	for j, c := range p.cost {
		f.AddVar(milp.Var{Upper: float64(p.most[j]), Cost: float64(c), Integer: true})
		if (c > 0) == p.maximise {
			f.Limit += float64(c * p.most[j])
		}
	}
	for i, row := range p.rows {
		var terms []milp.Term
		for j, a := range row {
			if a != 0 {
				terms = append(terms, milp.Term{Var: j, Coef: float64(a)})
			}
		}
		f.AddRow("", math.Inf(-1), float64(p.limits[i]), terms...)
	}
	f.Value = func(objective float64) float64 { return objective }
	f.Encode = func(x numbers) []float64 {
		all := make([]float64, len(p.most))
		for j, v := range x {
			all[j] = float64(v)
		}
		return all
	}
	f.Decode = func(x []float64) (numbers, error) {
		all := make(numbers, len(x))
		for j, v := range x {
			all[j] = int64(math.Round(v))
		}
		return all, nil
	}
	return f
}

// linear describes what to ask about the program. Exclude adds a row against only the point.
func (p *program) linear(f *milp.Formulation[numbers], starts ...numbers) Linear[numbers] {
	return Linear[numbers]{
		Starts:    starts,
		Formulate: func(float64) (*milp.Formulation[numbers], error) { return f, nil },
		Accept: func(_ context.Context, x numbers) (model.Solution, error) {
			if !p.feasible(x) {
				return nil, nil
			}
			return x, nil
		},
		Exclude: func(x numbers) bool {
			if p.hidden == nil || times(p.hidden, x) <= p.atMost {
				return false
			}
			// No coefficient of hidden is negative, so a point that isn't below x in any place where x has something
			// breaks it, too.
			var terms []milp.Term
			for j, v := range x {
				if p.hidden[j] > 0 && v > 0 {
					if v < p.most[j] { // numbers above are excluded by points of their own
						return false
					}
					terms = append(terms, milp.Term{Var: j, Coef: 1})
				}
			}
			sum := 0.0
			for _, t := range terms {
				sum += float64(p.most[t.Var])
			}
			f.AddRow("", math.Inf(-1), sum-1, terms...)
			return true
		},
	}
}

// draw returns a program: small figures, or some that are too large for a solver's tolerance.
func draw(rng *rand.Rand) *program {
	n := 1 + rng.IntN(5)
	p := &program{maximise: rng.IntN(2) == 0}
	for range n {
		p.most = append(p.most, int64(rng.IntN(4)))
		p.cost = append(p.cost, int64(rng.IntN(12))-3)
	}
	if rng.IntN(6) == 0 {
		p.cost[rng.IntN(n)] *= 100_000_000
	}
	for range rng.IntN(5) {
		row := make([]int64, n)
		for j := range row {
			if row[j] = int64(rng.IntN(9)) - 4; rng.IntN(8) == 0 {
				row[j] *= 100_000_000
			}
		}
		p.rows, p.limits = append(p.rows, row), append(p.limits, int64(rng.IntN(14))-4)
	}
	return p
}

// liar answers at random: any status, point, and bound; and sometimes as HiGHS does.
func liar(rng *rand.Rand) milp.Backend {
	return milp.Backend{Name: "liar", Title: "Liar", Solve: func(ctx context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
		if rng.IntN(3) == 0 {
			return highs.Solve(ctx, m, o)
		}
		r := milp.NoResult(Tolerance)
		r.Status = []milp.Status{milp.Optimal, milp.Infeasible, milp.NodeLimit, milp.Unknown, milp.Unbounded}[rng.IntN(5)]
		if r.Status != milp.Infeasible && rng.IntN(2) == 0 {
			r.Feasible, r.X = true, make([]float64, len(m.Vars))
			for j := range r.X {
				r.X[j] = math.Floor(rng.Float64() * (m.Vars[j].Upper + 1))
			}
			r.Objective = m.Objective(r.X)
		}
		r.Bound = float64(rng.IntN(100)) - 50
		return r, nil
	}}
}

// lyingLP changes some of HiGHS's answers about relaxations.
type lyingLP struct {
	relaxation
	rng *rand.Rand
}

func newLyingLP(m *milp.Model, rng *rand.Rand) (relaxation, error) {
	lp, err := relaxed(m)
	return &lyingLP{lp, rng}, err
}

func (l *lyingLP) Solve(ctx context.Context, lower, upper []float64) (milp.Result, error) {
	r, err := l.relaxation.Solve(ctx, lower, upper)
	if l.rng.IntN(10) > 0 {
		return r, err
	}
	y := func() []float64 {
		all := append(append([]float64(nil), r.Duals...), r.Ray...)
		for i := range all {
			all[i] += float64(l.rng.IntN(5) - 2)
		}
		return all
	}
	switch l.rng.IntN(3) {
	case 0:
		r.Status, r.Ray, r.X, r.Duals = milp.Infeasible, y(), nil, nil
	case 1:
		if r.Status == milp.Optimal {
			r.Duals, r.Objective = y(), r.Objective+100
		}
	case 2:
		r.Status, r.X = milp.Unbounded, nil
	}
	return r, err
}

// Whatever a solver says of a program, or of its relaxations, the proofs are true. The programs are small enough to try
// out, and some have costs and coefficients beyond any tolerance. Nearly all are proved, with each rule left out, too.
func TestCertificates(t *testing.T) {
	require.HiGHS(t)
	for _, off := range []rules{0, noPropagation, noFixing, noProbing} {
		rng := rand.New(rand.NewPCG(47, uint64(off)))
		count, proved, none := 600, 0, 0
		for k := range count {
			p := draw(rng)
			if k%5 == 0 {
				p.hidden = make([]int64, len(p.most))
				for j := range p.hidden {
					p.hidden[j] = int64(rng.IntN(3))
				}
				p.atMost = int64(rng.IntN(8))
			}
			best, ok := p.best()
			x := make(numbers, len(p.most)) // a start, mostly
			for j, most := range p.most {
				x[j] = rng.Int64N(most + 1)
			}
			ctx, stopped := t.Context(), k%4 == 0
			if stopped {
				ctx = meter.Limit(ctx, 20+rng.Int64N(1000))
			}
			r := &Run{Result: model.NewResult("test", 0), In: p}
			d := &driver[numbers]{Run: r, Linear: p.linear(p.formulation(), x), Backend: liar(rng), known: math.NaN(), off: off,
				relaxed: func(m *milp.Model) (relaxation, error) { return newLyingLP(m, rng) }}
			if err := d.run(ctx); err != nil {
				t.Fatalf("%d: %v\n%+v", k, err, p)
			}
			wrong := r.Solution != nil && !p.feasible(r.Solution.(numbers)) ||
				r.Status == model.StatusInfeasible && ok ||
				r.Status == model.StatusOptimal && (!ok || r.Objective != float64(best)) ||
				ok && (model.SenseOf(p).Better(float64(best), r.Bound) || model.SenseOf(p).Better(float64(best), d.known))
			if wrong {
				t.Fatalf("%d: %s %v, bound %v, %q; the optimum is %v, %v\n%+v", k, r.Status, r.Objective, r.Bound, r.Reason, best, ok, p)
			}
			if r.Status == model.StatusOptimal || r.Status == model.StatusInfeasible {
				proved++
			} else if !stopped && !strings.Contains(r.Reason, "Liar") {
				t.Errorf("%d: %s without a reason: %q", k, r.Status, r.Reason)
			}
			if !ok {
				none++
			}
		}
		if proved < count*7/10 || none < 10 {
			t.Errorf("without %b: %d of %d are proved, %d have no solution", off, proved, count, none)
		}
	}
}

// Objectives of millions are optimal only if no smaller whole number is left, whatever the relative gap is.
func TestWholeGap(t *testing.T) {
	require.HiGHS(t)
	p := &program{most: []int64{1, 3}, cost: []int64{100_000_000, 1}, rows: [][]int64{{-1, 0}, {0, -1}}, limits: []int64{-1, -1}}
	in := p.formulation()
	stop := milp.Backend{Title: "Test", Solve: func(context.Context, *milp.Model, milp.Options) (milp.Result, error) {
		return milp.NoResult(0), nil
	}}
	r := &Run{Result: model.NewResult("test", 0), In: p}
	d := &driver[numbers]{Run: r, Linear: p.linear(in, numbers{1, 3}), Backend: stop, known: math.NaN(), relaxed: relaxed}
	if err := d.run(t.Context()); err != nil || r.Objective != 100_000_001 || r.Bound != 100_000_001 {
		t.Errorf("%v: %s %v, bound %v", err, r.Status, r.Objective, r.Bound)
	}
}

// A cancelled run and one without a first solution say so; other instances and
// errors of preparing are errors.
func TestSolveLinear(t *testing.T) {
	require.HiGHS(t)
	in := &program{maximise: true, most: []int64{8, 9}, cost: []int64{3, 2}, rows: [][]int64{{3, 2}}, limits: []int64{11}}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	ask := func(ctx context.Context, from model.Instance, fail error) (model.Result, error) {
		return LinearEngine[*program, numbers]{Backend: highs.Backend, ID: "test", Prepare: func(*Run, *program) (Linear[numbers], error) {
			return in.linear(in.formulation()), fail
		}}.Solve(ctx, from, model.Settings{Seed: 3, Progress: func(model.Progress) {}})
	}
	if r, err := ask(cancelled, in, nil); err != nil || r.Status != model.StatusUnknown || r.Reason != "interrupted" || r.Bound != 42 || r.Seed != 3 {
		t.Errorf("cancelled: %+v %v", r, err)
	}
	if r, err := ask(t.Context(), in, nil); err != nil || r.Status != model.StatusOptimal || r.Objective != 11 || r.Elapsed == 0 {
		t.Errorf("%+v %v, want 11", r, err)
	}
	if r, err := ask(t.Context(), in, fmt.Errorf("%w: stopped", model.ErrNoSolution)); err != nil || r.Status != model.StatusUnknown || r.Reason == "" {
		t.Errorf("no first solution: %+v %v", r, err)
	}
	if _, err := ask(t.Context(), in, model.ErrInvalid); !errors.Is(err, model.ErrInvalid) || !strings.HasPrefix(err.Error(), "test: ") {
		t.Errorf("%v, want ErrInvalid", err)
	}
	require.Refused(t, "another instance", require.Err(ask(t.Context(), &model.DAG{}, nil)), model.ErrUnsupported,
		"dag")
}

// The test checks the driver's questions and reports: the best start, the tolerance, half of the gap; a bound that is
// certified, never the solver's, and never worse than the incumbent.
func TestLinearQuestions(t *testing.T) {
	require.HiGHS(t)
	in := &program{maximise: true, most: []int64{8, 9}, cost: []int64{3, 2}, rows: [][]int64{{3, 2}, {4, 1}}, limits: []int64{11, 9}}
	var o []milp.Options
	var got []model.Progress
	set := model.Settings{Gap: 0.01, Threads: 2, Progress: func(p model.Progress) { got = append(got, p) }}
	r := &Run{Result: model.NewResult("test", 0), In: in, Set: set}
	d := &driver[numbers]{Run: r, known: math.NaN(), relaxed: relaxed, Linear: in.linear(in.formulation(), numbers{1, 0}, numbers{0, 2}, numbers{1, 0}),
		Backend: milp.Backend{Title: "Test", Solve: func(_ context.Context, _ *milp.Model, options milp.Options) (milp.Result, error) {
			o = append(o, options)
			got = nil
			options.Progress(milp.Progress{Incumbent: math.NaN(), Bound: 5, Nodes: 7})
			options.Progress(milp.Progress{Incumbent: 6, Bound: 5})
			options.Progress(milp.Progress{Incumbent: 60, Bound: 5})
			r := milp.NoResult(Tolerance)
			r.Status, r.Nodes = milp.Optimal, 7
			return r, nil
		}}}
	require.OK(t, d.run(t.Context()))
	if len(o) != 1 || o[0].Tolerance != Tolerance || o[0].Gap != 0.005 || o[0].Threads != 2 || fmt.Sprint(o[0].Start) != "[0 2]" {
		t.Errorf("options %+v", o)
	}
	for k, want := range []float64{4, 6, 4} {
		if got[k].Incumbent != want || !(got[k].Bound >= 11 && got[k].Bound < 12) || got[k].Algorithm != "test" {
			t.Errorf("report %d: %+v, want %v and the bound of the root", k, got[k], want)
		}
	}
	if best, _ := in.best(); r.Status != model.StatusOptimal || r.Objective != float64(best) {
		t.Errorf("%s %v, want %d", r.Status, r.Objective, best)
	}
}
