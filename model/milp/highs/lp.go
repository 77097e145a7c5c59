// SPDX-License-Identifier: MIT

package highs

import (
	"context"
	"errors"
	"time"

	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model/milp"
)

// LP is a linear program that is solved repeatedly while bounds of variables change, each time from the last basis, as
// at the nodes of a branch and bound. It must be used by one goroutine at a time, and closed.
type LP struct {
	m    *milp.Model
	n    *object // nil before the first Solve, which has a context to wait for HiGHS in
	rows int
}

// The simplex methods of HiGHS's option simplex_strategy.
const dualSimplex, primalSimplex = 1, 4

// NewLP returns an LP of the model, which must not change, without integrality. It uses the primal simplex method, and
// the dual one when bounds have changed.
func NewLP(m *milp.Model) (*LP, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return &LP{m: m, rows: len(m.Rows)}, missing()
}

// begin makes the object.
func (l *LP) begin(ctx context.Context) error {
	n, err := newObject(ctx, nil)
	if err != nil {
		return err
	}
	for _, set := range []func() error{
		func() error { return errors.Join(n.apply(tolerances(0, 1e-9)), n.apply(optionsOf(milp.Options{}))) },
		func() error { return n.stringOption("presolve", "off") },
		func() error { return n.stringOption("solver", "simplex") },
		func() error { return n.intOption("simplex_strategy", primalSimplex) },
		func() error { return n.pass(l.m, true) },
	} {
		if err := set(); err != nil {
			n.close()
			return err
		}
	}
	l.n, l.m = n, nil
	return nil
}

// Solve solves the program from the last basis, with other bounds of all variables if lower isn't nil. When ctx ends, HiGHS stops at its next
// callback, and the status is Interrupted.
func (l *LP) Solve(ctx context.Context, lower, upper []float64) (milp.Result, error) {
	interrupted := emptyResult()
	interrupted.Status = milp.Interrupted
	if meter.Stop(ctx, 20*int64(l.rows)) {
		return interrupted, nil
	}
	if l.n == nil {
		if err := l.begin(ctx); err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return interrupted, nil
		} else if err != nil {
			return emptyResult(), err
		}
	}
	if lower != nil {
		err := errors.Join(l.n.intOption("simplex_strategy", dualSimplex),
			l.n.do("Highs_changeColsBoundsByRange", 0, len(lower)-1, lower, upper))
		if err != nil {
			return emptyResult(), err
		}
	}
	start := time.Now()
	stopped := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() { l.n.stop(); close(stopped) })
	_, err := l.n.run(0)
	if !cancel() {
		<-stopped
	}
	if err != nil {
		return emptyResult(), err
	}
	r, err := l.n.result(false)
	if err == nil && r.Status == milp.Infeasible {
		r.Ray, err = l.n.ray(l.rows)
	}
	r.Elapsed = time.Since(start)
	return r, err
}

// Close frees the solver.
func (l *LP) Close() {
	if l.n != nil {
		l.n.close()
	}
}
