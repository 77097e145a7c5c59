// SPDX-License-Identifier: MIT

package highs

import (
	"context"
	"fmt"
	"time"

	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/model/milp"
)

// LP is a linear program that is solved repeatedly while columns are added, each time
// from the last basis: the restricted master of a column generation. It must be used by
// one goroutine at a time, and closed.
type LP struct {
	n    *object
	rows int
}

// NewLP returns an LP of the model without integrality. It uses the
// primal simplex method, for which the last basis stays feasible when columns are
// added. An error may be that of ctx.
func NewLP(ctx context.Context, m *milp.Model) (*LP, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	n, err := newObject(ctx, nil)
	if err != nil {
		return nil, err
	}
	l := &LP{n: n, rows: len(m.Rows)}
	for _, set := range []func() error{
		func() error { return n.apply(optionsOf(milp.Options{})) },
		func() error { return n.stringOption("presolve", "off") },
		func() error { return n.stringOption("solver", "simplex") },
		func() error { return n.intOption("simplex_strategy", 4) },
		func() error { return n.pass(m, true) },
	} {
		if err := set(); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// AddColumns appends variables.
func (l *LP) AddColumns(cols []Column) error {
	for i := range cols {
		for _, t := range cols[i].Terms {
			if t.Row < 0 || t.Row >= l.rows {
				return fmt.Errorf("highs: column %d names row %d of %d", i, t.Row, l.rows)
			}
		}
	}
	if len(cols) == 0 {
		return nil
	}
	return l.n.addColumns(cols)
}

// Solve solves the program from the last basis. When ctx ends, HiGHS stops at its next
// callback, and the status is Interrupted.
func (l *LP) Solve(ctx context.Context) (milp.Result, error) {
	if turns.Stop(ctx, 20*int64(l.rows)) {
		r := emptyResult()
		r.Status = milp.Interrupted
		return r, nil
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
	r.Elapsed = time.Since(start)
	return r, err
}

// Close frees the solver.
func (l *LP) Close() { l.n.close() }
