// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// tens models the numbers x from 0 to 9 that three coins of 2, 3 and 4 make, at
// least so much; the objective is x, or 9-x to be maximised.
func tens(in *number, least int64) Kernel {
	q := Kernel{Model: &cp.Model{}, Lower: math.NaN()}
	m := q.Model
	m.Objective = m.Int(0, 9)
	pays, makes := &cp.Linear{Terms: []cp.Term{{Times: 1, Var: m.Objective}}, AtMost: 9}, &cp.Linear{Terms: []cp.Term{{Times: -1, Var: m.Objective}}}
	for _, coin := range []int64{2, 3, 4} {
		x := m.Bool()
		m.Decisions = append(m.Decisions, x)
		pays.Groups = append(pays.Groups, []cp.Choice{{If: x.AtMost(0), Value: coin}, {If: x.Is()}})
		makes.Groups = append(makes.Groups, []cp.Choice{{If: x.Is(), Value: coin}, {If: x.AtMost(0)}})
	}
	// 9 - sum + x ≤ 9 and sum - x ≤ 0: x is the sum.
	m.Add(pays, makes, &cp.Linear{Terms: []cp.Term{{Times: -1, Var: m.Objective}}, AtMost: -least})
	q.Value = func(o int64) float64 {
		if in.minimise {
			return float64(o)
		}
		return float64(9 - o)
	}
	q.Solution = func(v []int64) (model.Solution, error) { return chosen(q.Value(v[m.Objective])), nil }
	return q
}

// byKernel answers one call of a model.Solver by the question that ask returns.
func byKernel(t *testing.T, in model.Instance, set model.Settings, ask func() (Kernel, error)) (model.Result, error) {
	return Engine[*number, uint16]{ID: "kernel", Work: func(r *Run, _ *number, _ uint16, _ lcg.Device) error {
		q, err := ask()
		if err != nil {
			return err
		}
		return q.Minimise(r)
	}}.Solve(t.Context(), in, set)
}

// An engine that is called by itself keeps its effort, too, and a panic in it is its caller's.
func TestEffort(t *testing.T) {
	t.Parallel()
	steps := 0
	endless := Engine[*number, uint16]{ID: "endless", Work: func(r *Run, _ *number, _ uint16, _ lcg.Device) error {
		for r.Raise(0); !meter.Stop(r.Ctx, 10); steps++ {
		}
		return nil
	}}
	r, err := endless.Solve(t.Context(), &number{most: 9, minimise: true}, model.Settings{Effort: 1000, Threads: 4})
	if err != nil || steps < 90 || steps > 110 || r.Reason != "stopped by the limit of its effort" || r.Bound != 0 {
		t.Errorf("%d steps, %q, bound %v, %v", steps, r.Reason, r.Bound, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("the panic is lost")
		}
	}()
	_, _ = Engine[*number, uint16]{ID: "failing", Work: func(*Run, *number, uint16, lcg.Device) error { panic("nothing there") }}.Solve(
		t.Context(), &number{most: 9}, model.Settings{Effort: 1000})
}

func TestMinimise(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		minimise bool
		change   func(q *Kernel)
		least    int64
		set      model.Settings
		status   model.Status
		value    float64
		bound    float64
		reported bool
	}{
		"minimise":           {minimise: true, least: 8, status: model.StatusOptimal, value: 9, bound: 9, reported: true},
		"maximise":           {least: 1, status: model.StatusOptimal, value: 7, bound: 7, reported: true},
		"from the optimum":   {minimise: true, least: 8, change: func(q *Kernel) { q.Start, q.Upper = chosen(9), 9 }, status: model.StatusOptimal, value: 9, bound: 9},
		"from a worse start": {minimise: true, least: 4, change: func(q *Kernel) { q.Start, q.Upper = chosen(9), 9 }, status: model.StatusOptimal, value: 4, bound: 4, reported: true},
		"infeasible":         {minimise: true, least: 10, status: model.StatusInfeasible, value: math.NaN(), bound: math.NaN()},
		"a known bound":      {minimise: true, least: 9, change: func(q *Kernel) { q.Start, q.Upper, q.Lower = chosen(9), 9, 9 }, status: model.StatusOptimal, value: 9, bound: 9},
		"a gap":              {minimise: true, least: 4, change: func(q *Kernel) { q.Start, q.Upper, q.Lower = chosen(9), 9, 3 }, set: model.Settings{Gap: 0.9}, status: model.StatusOptimal, value: 9, bound: 3},
	} {
		in := &number{most: 9, minimise: x.minimise}
		reports := 0
		x.set.Progress = func(p model.Progress) {
			reports++
			if model.SenseOf(in).Better(p.Incumbent, p.Bound) {
				t.Errorf("%s: an incumbent of %v beats the bound %v", name, p.Incumbent, p.Bound)
			}
		}
		r, err := byKernel(t, in, x.set, func() (Kernel, error) {
			q := tens(in, x.least)
			if x.change != nil {
				x.change(&q)
			}
			return q, nil
		})
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if err != nil || r.Status != x.status || !same(r.Objective, x.value) || !same(r.Bound, x.bound) || r.Elapsed <= 0 || x.reported && reports == 0 {
			t.Errorf("%s: %v, %s %v, bound %v, %s, %d reports", name, err, r.Status, r.Objective, r.Bound, r.Reason, reports)
		}
	}
}

// The answers of the problem's functions and limits are passed on.
func TestMinimiseEnds(t *testing.T) {
	t.Parallel()
	in := &number{most: 9, minimise: true}
	unread := errors.New("unread")
	_, err := byKernel(t, in, model.Settings{}, func() (Kernel, error) {
		q := tens(in, 1)
		q.Solution = func([]int64) (model.Solution, error) { return nil, unread }
		return q, nil
	})
	require.Refused(t, "a solution that can't be read", err, unread, "")
	_, err = byKernel(t, in, model.Settings{}, func() (Kernel, error) {
		return Kernel{}, model.ErrUnsupported
	})
	require.Refused(t, "an instance that it doesn't take", err, model.ErrUnsupported, "")
	r, err := byKernel(t, in, model.Settings{TimeLimit: time.Hour}, func() (Kernel, error) {
		return Kernel{}, model.ErrNoSolution
	})
	if err != nil || r.Status != model.StatusUnknown || r.Reason == "" {
		t.Errorf("stopped before it began: %v, %v", r, err)
	}
	explained := false
	if r, err = byKernel(t, in, model.Settings{}, func() (Kernel, error) {
		q := tens(in, 10)
		q.Explain = func(context.Context, *model.Result) error { explained = true; return nil }
		return q, nil
	}); err != nil || !explained || r.Reason == "" {
		t.Errorf("infeasible: %v, %v", r, err)
	}
}

// number is an instance with the whole numbers from 0 to most as solutions and as objectives; minimise turns the sense.
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
		return []model.Metric{{Sense: model.Minimise}, {}}
	}
	return []model.Metric{{Sense: model.Maximise}, {}}
}

func (n *number) Objective(p model.Solution) (model.Objective, error) {
	return model.Objective{Value: float64(p.(chosen)), Sense: model.SenseOf(n)}, nil
}
