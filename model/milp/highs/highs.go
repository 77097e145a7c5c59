// Package highs solves linear and mixed-integer linear models with HiGHS
// (version 1.10 or later) through its C API. It knows nothing but models.
//
// HiGHS prints nothing unless a Log is given. Many solves may run at once, each
// with one thread; a solve with more threads runs alone, since HiGHS's thread
// pool belongs to the process.
package highs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/gapwise/gapwise/model/milp"
)

// ErrSolver marks an error that HiGHS itself returned.
var ErrSolver = errors.New("highs: solver error")

// ErrStart marks a start solution whose length isn't the number of variables.
var ErrStart = errors.New("highs: start solution of the wrong length")

// What a solve takes and returns is the same for all solvers.
type (
	Options  = milp.Options
	Progress = milp.Progress
	Status   = milp.Status
	Result   = milp.Result
)

// The termination statuses.
const (
	Unknown               = milp.Unknown
	Optimal               = milp.Optimal
	Infeasible            = milp.Infeasible
	Unbounded             = milp.Unbounded
	InfeasibleOrUnbounded = milp.InfeasibleOrUnbounded
	TimeLimit             = milp.TimeLimit
	Interrupted           = milp.Interrupted
	NodeLimit             = milp.NodeLimit
)

// Backend is HiGHS.
var Backend = milp.Backend{Name: "highs", Title: "HiGHS", Solve: Solve}

// Solve solves the model. It returns within 100 ms of the end of ctx with what is
// known by then; HiGHS, which may take longer to notice the interrupt, then ends in
// the background. A status that isn't optimal is no error; errors are for invalid
// models and options, and HiGHS's own failures.
func Solve(ctx context.Context, m *milp.Model, o Options) (Result, error) {
	none := emptyResult()
	if err := m.Validate(); err != nil {
		return none, err
	}
	if o.Start != nil && len(o.Start) != len(m.Vars) {
		return none, fmt.Errorf("%w: %d values for %d variables", ErrStart, len(o.Start), len(m.Vars))
	}
	if o.Gap < 0 || math.IsNaN(o.Gap) || o.TimeLimit < 0 || o.NodeLimit < 0 || o.Threads < 0 {
		return none, fmt.Errorf("highs: an option is negative: gap %v, time limit %v, node limit %d, threads %d", o.Gap, o.TimeLimit, o.NodeLimit, o.Threads)
	}
	if ctx.Err() != nil {
		none.Status = Interrupted
		return none, nil
	}
	n, err := newNative(o.Log)
	if err != nil {
		return none, err
	}
	if err := errors.Join(n.setOptions(o), n.pass(m, o.Relax)); err != nil {
		n.close()
		return none, err
	}
	if o.Start != nil {
		if err := n.setStart(o.Start); err != nil {
			n.close()
			return none, err
		}
	}
	mip := false
	for i := range m.Vars {
		mip = mip || m.Vars[i].Integer && !o.Relax
	}
	return runAndClose(ctx, n, m, o, mip)
}

func emptyResult() Result { return milp.NoResult(defaultTolerance) }

func (n *native) setOptions(o Options) error {
	errs := []error{n.intOption("threads", max(1, o.Threads)), n.doubleOption("mip_rel_gap", o.Gap)}
	if o.Tolerance != 0 {
		errs = append(errs, n.setTolerance(o.Tolerance))
	}
	if o.TimeLimit > 0 {
		errs = append(errs, n.doubleOption("time_limit", o.TimeLimit.Seconds()))
	}
	if o.NodeLimit > 0 {
		errs = append(errs, n.intOption("mip_max_nodes", int(min(o.NodeLimit, math.MaxInt32))))
	}
	return errors.Join(errs...)
}

// runAndClose runs HiGHS in a goroutine of its own, and watches ctx.
func runAndClose(ctx context.Context, n *native, m *milp.Model, o Options, mip bool) (Result, error) {
	start := time.Now()
	cols := len(m.Vars)
	type outcome struct {
		r   Result
		err error
	}
	done := make(chan outcome, 1)
	var settled atomic.Bool // set by the end of HiGHS or by giving up on it, the first
	go func() {
		unlock := lockScheduler(max(1, o.Threads))
		tolerance, err := n.run(o.Tolerance)
		unlock()
		var r Result
		if err == nil {
			r, err = n.result(mip)
			r.Tolerance = tolerance
		}
		if settled.CompareAndSwap(false, true) {
			done <- outcome{r, err}
		} else {
			n.close()
		}
	}()
	finish := func(out outcome) (Result, error) {
		n.close()
		out.r.Elapsed = time.Since(start)
		if out.r.Status == Interrupted && ctx.Err() == nil {
			out.r.Status = TimeLimit
		}
		return out.r, out.err
	}
	var deadline <-chan time.Time
	if o.TimeLimit > 0 {
		// HiGHS notices its own limit late inside a long root LP.
		t := time.NewTimer(o.TimeLimit)
		defer t.Stop()
		deadline = t.C
	}
	var tick <-chan time.Time
	if o.Progress != nil {
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		tick = t.C
	}
	why := Unknown
	var giveUp <-chan time.Time
	ended := ctx.Done()
	for {
		select {
		case out := <-done:
			return finish(out)
		case <-tick:
			if p, _, ok := n.now(cols); ok {
				p.Elapsed = time.Since(start)
				o.Progress(p)
			}
		case <-ended:
			n.stop()
			why, ended, giveUp = Interrupted, nil, time.After(70*time.Millisecond)
		case <-deadline:
			n.stop()
			deadline = nil
			if why == Unknown {
				why, giveUp = TimeLimit, time.After(70*time.Millisecond)
			}
		case <-giveUp:
			r := emptyResult()
			r.Status, r.Elapsed = why, time.Since(start)
			if p, x, ok := n.now(cols); ok {
				r.Bound, r.Nodes, r.Gap = p.Bound, p.Nodes, p.Gap
				if x != nil {
					r.X, r.Feasible, r.Objective = x, true, m.Objective(x)
				}
			}
			if !settled.CompareAndSwap(false, true) {
				return finish(<-done)
			}
			return r, nil
		}
	}
}

// result returns what HiGHS knows after a run.
func (n *native) result(mip bool) (Result, error) {
	r := emptyResult()
	switch n.modelStatus() {
	case 6, 7: // kHighsModelStatusModelEmpty, Optimal
		r.Status = Optimal
	case 8:
		r.Status = Infeasible
	case 9:
		r.Status = InfeasibleOrUnbounded
	case 10:
		r.Status = Unbounded
	case 13:
		r.Status = TimeLimit
	case 17:
		r.Status = Interrupted
	case 14, 16, 11, 12:
		r.Status = NodeLimit
	}
	r.Iterations = int64(n.intInfo("simplex_iteration_count"))
	const feasible = 2 // kHighsSolutionStatusFeasible
	if cols, _ := n.size(); cols == 0 || r.Status == Optimal || n.intInfo("primal_solution_status") == feasible {
		// An unbounded model may come with a feasible point, which is no answer.
		if r.Status != Infeasible && r.Status != Unbounded && r.Status != InfeasibleOrUnbounded {
			x, reduced, _, dual, err := n.solution()
			if err != nil {
				return r, err
			}
			r.X, r.Feasible = x, true
			r.Objective = n.doubleInfo("objective_function_value")
			if !mip && r.Status == Optimal {
				r.Duals, r.Reduced = dual, reduced
			}
		}
	}
	if mip {
		r.Nodes = n.int64Info("mip_node_count")
		r.Bound, r.Gap = n.doubleInfo("mip_dual_bound"), n.doubleInfo("mip_gap")
	} else if r.Status == Optimal {
		r.Bound, r.Gap = r.Objective, 0
	}
	return r, nil
}

// SolveFile solves a model that HiGHS reads from a file in the format that its
// extension names (.mps, .lp), for tests of what was written.
func SolveFile(ctx context.Context, file string, o Options) (Result, error) {
	n, err := newNative(o.Log)
	if err != nil {
		return emptyResult(), err
	}
	if err := errors.Join(n.setOptions(o), n.read(file)); err != nil {
		n.close()
		return emptyResult(), err
	}
	cols, _ := n.size()
	return runAndClose(ctx, n, &milp.Model{Vars: make([]milp.Var, cols)}, o, true)
}
