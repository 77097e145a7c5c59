// SPDX-License-Identifier: MIT

//go:build native

package highs

/*
#cgo pkg-config: highs
const char* Highs_version(void);
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	lanl "github.com/lanl/highs"

	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model/milp"
)

// Lanl is HiGHS by github.com/lanl/highs, which links a library of this machine: a second opinion, and the field's own
// binding. It has no callbacks, interrupt, start or added columns, for which package highs exists. So there is no
// progress, a cancelled solve goes on in the background, one that reaches its time limit returns nothing, and it uses
// one thread. It refuses coefficients below 1e-9.
var Lanl = milp.Backend{Name: "lanl", Title: "HiGHS (lanl/highs)", Solve: solveLanl, Missing: func() error { return nil }}

// nativeVersion returns the version of the library that Lanl is linked with.
func nativeVersion() string { return C.GoString(C.Highs_version()) }

// solveLanl is Lanl.Solve. HiGHS goes on in the background after the end of ctx, for
// the binding has no interrupt, until a time limit or the end of the program.
func solveLanl(ctx context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
	if err := checkSolve(m, o); err != nil {
		return emptyResult(), err
	}
	raw, err := lanlModel(m, o)
	if err != nil {
		return emptyResult(), fmt.Errorf("%w: %w", errSolver, err)
	}
	start := time.Now()
	done := make(chan struct{})
	r := emptyResult()
	go func() {
		defer close(done)
		err = panics.Call(func() error {
			s, err := raw.Solve()
			var call lanl.CallStatus
			switch {
			case errors.As(err, &call) && call.IsWarning() && o.TimeLimit > 0 && time.Since(start) >= o.TimeLimit:
				r.Status = milp.TimeLimit // the binding drops the solution found
				return nil
			case err != nil:
				return fmt.Errorf("%w: %w", errSolver, err)
			}
			r = lanlResult(s, m, o)
			runtime.KeepAlive(raw)
			return nil
		})
	}()
	select {
	case <-done:
		r.Elapsed = time.Since(start)
		return r, err
	case <-ctx.Done():
		stopped := emptyResult()
		stopped.Status, stopped.Elapsed = milp.Interrupted, time.Since(start)
		return stopped, nil
	}
}

// lanlModel passes a model and its options. A fixed variable and a row without terms come last: the binding takes no
// model without variables or rows.
func lanlModel(m *milp.Model, o milp.Options) (*lanl.RawModel, error) {
	l := lanl.Model{Maximize: m.Maximise, Offset: m.Offset}
	for _, v := range m.Vars {
		kind := lanl.ContinuousType
		if v.Integer && !o.Relax {
			kind = lanl.IntegerType
		}
		l.ColCosts, l.VarTypes = append(l.ColCosts, v.Cost), append(l.VarTypes, kind)
		l.ColLower, l.ColUpper = append(l.ColLower, v.Lower), append(l.ColUpper, v.Upper)
	}
	for i, row := range m.Rows {
		l.RowLower, l.RowUpper = append(l.RowLower, row.Lower), append(l.RowUpper, row.Upper)
		for _, t := range row.Terms {
			l.ConstMatrix = append(l.ConstMatrix, lanl.Nonzero{Row: i, Col: t.Var, Val: t.Coef})
		}
	}
	l.ColCosts, l.VarTypes = append(l.ColCosts, 0), append(l.VarTypes, lanl.ContinuousType)
	l.ColLower, l.ColUpper = append(l.ColLower, 0), append(l.ColUpper, 0)
	l.RowLower, l.RowUpper = append(l.RowLower, -1), append(l.RowUpper, 1)
	l.ConstMatrix = append(l.ConstMatrix, lanl.Nonzero{Row: len(m.Rows), Col: len(m.Vars), Val: 1})
	raw, err := l.ToRawModel()
	if err != nil {
		return nil, err
	}
	options := append(slices.Concat(safeOptions, optionsOf(o)), option{"output_flag", false}, option{"threads", 1})
	if t := o.Tolerance; t != 0 {
		options = append(options, option{"primal_feasibility_tolerance", t}, option{"dual_feasibility_tolerance", t}, option{"mip_feasibility_tolerance", t})
	}
	return raw, apply(raw.SetBoolOption, raw.SetIntOption, raw.SetFloat64Option, options)
}

// lanlResult reads HiGHS's result, without the variable that lanlModel added.
func lanlResult(s *lanl.RawSolution, m *milp.Model, o milp.Options) milp.Result {
	r := emptyResult()
	if o.Tolerance != 0 {
		r.Tolerance = o.Tolerance
	}
	switch s.Status {
	case lanl.Optimal, lanl.ModelEmpty:
		r.Status, r.Feasible = milp.Optimal, true
		r.X, r.Objective = s.ColumnPrimal[:len(m.Vars)], s.Objective
		r.Bound, r.Gap = s.Objective, 0
	case lanl.Infeasible:
		r.Status = milp.Infeasible
	case lanl.UnboundedOrInfeasible:
		r.Status = milp.InfeasibleOrUnbounded
	case lanl.Unbounded:
		r.Status = milp.Unbounded
	}
	if mip(m, o) {
		for name, to := range map[string]*float64{"mip_dual_bound": &r.Bound, "mip_gap": &r.Gap} {
			if v, err := s.GetFloat64Info(name); err == nil {
				*to = v
			}
		}
		r.Nodes, _ = s.GetInt64Info("mip_node_count")
	} else if r.Status == milp.Optimal && len(s.RowDual) > 0 {
		r.Duals, r.Reduced = s.RowDual[:len(m.Rows)], s.ColumnDual[:len(m.Vars)]
	}
	return r
}
