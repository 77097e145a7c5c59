// SPDX-License-Identifier: MIT

//go:build cgo && !nohighs

package highs

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gapwise/gapwise/internal/caught"
	"github.com/gapwise/gapwise/model/milp"
)

// Built reports whether this program was built with HiGHS.
const Built = true

var missing error

// solve is Solve of a valid model with valid options.
func solve(ctx context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
	n, err := newNative(o.Log)
	if err != nil {
		return emptyResult(), err
	}
	if err := errors.Join(n.setOptions(o), n.pass(m, o.Relax)); err != nil {
		n.close()
		return emptyResult(), err
	}
	if o.Start != nil {
		if err := n.setStart(o.Start); err != nil {
			n.close()
			return emptyResult(), err
		}
	}
	return runAndClose(ctx, n, m, o, mip(m, o))
}

// runAndClose runs HiGHS in a goroutine of its own, and watches ctx.
func runAndClose(ctx context.Context, n *native, m *milp.Model, o milp.Options, mip bool) (milp.Result, error) {
	start := time.Now()
	cols := len(m.Vars)
	type outcome struct {
		r   milp.Result
		err error
	}
	done := make(chan outcome, 1)
	c := newCounter(n, o)
	defer close(c.gone)
	var settled atomic.Bool // set by the end of HiGHS or by giving up on it, the first
	go func() {
		var r milp.Result
		err := caught.Call(func() error {
			unlock := lockScheduler(max(1, o.Threads))
			tolerance, err := n.run(o.Tolerance)
			unlock()
			if err == nil {
				r, err = n.result(mip)
				r.Tolerance = tolerance
			}
			return err
		})
		if settled.CompareAndSwap(false, true) {
			done <- outcome{r, err}
		} else {
			n.close()
		}
	}()
	finish := func(out outcome) (milp.Result, error) {
		n.close()
		out.r.Elapsed = time.Since(start)
		if out.r.Status == milp.Interrupted && ctx.Err() == nil {
			out.r.Status = milp.TimeLimit
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
	if o.Progress != nil && o.Count == nil {
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		tick = t.C
	}
	why := milp.Unknown
	var giveUp <-chan time.Time
	ended := ctx.Done()
	tell := func() {
		if p, _, ok := n.now(cols); ok && o.Progress != nil {
			p.Elapsed = time.Since(start)
			o.Progress(p)
		}
	}
	for {
		select {
		case out := <-done:
			return finish(out)
		case <-tick:
			tell()
		case iterations := <-c.ask:
			tell()
			stop := o.Count(iterations - c.before)
			c.before = iterations
			c.stop <- stop
			if stop { // HiGHS ends at once, in the same place in each run
				ended, deadline, giveUp = nil, nil, nil
			}
		case <-ended:
			n.stop()
			why, ended, giveUp = milp.Interrupted, nil, time.After(70*time.Millisecond)
		case <-deadline:
			n.stop()
			deadline = nil
			if why == milp.Unknown {
				why, giveUp = milp.TimeLimit, time.After(70*time.Millisecond)
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

// counter passes what HiGHS counts from its goroutine to that of the solve, which may let it wait.
type counter struct {
	ask    chan int64 // the iterations so far
	stop   chan bool  // the answer
	gone   chan struct{}
	before int64
}

// newCounter has HiGHS ask at each place where it may stop, if Options.Count is there. Once gone is closed nobody
// answers, and the answer is to stop.
func newCounter(n *native, o milp.Options) *counter {
	c := &counter{ask: make(chan int64), stop: make(chan bool), gone: make(chan struct{})}
	if o.Count != nil {
		n.count(func(iterations int64) bool {
			select {
			case c.ask <- iterations:
				return <-c.stop
			case <-c.gone:
				return true
			}
		})
	}
	return c
}

// result returns what HiGHS knows after a run.
func (n *native) result(mip bool) (milp.Result, error) {
	r := emptyResult()
	switch n.modelStatus() {
	case 6, 7: // kHighsModelStatusModelEmpty, Optimal
		r.Status = milp.Optimal
	case 8:
		r.Status = milp.Infeasible
	case 9:
		r.Status = milp.InfeasibleOrUnbounded
	case 10:
		r.Status = milp.Unbounded
	case 13:
		r.Status = milp.TimeLimit
	case 17:
		r.Status = milp.Interrupted
	case 14, 16, 11, 12:
		r.Status = milp.NodeLimit
	}
	r.Iterations = int64(n.intInfo("simplex_iteration_count"))
	const feasible = 2 // kHighsSolutionStatusFeasible
	if cols, _ := n.size(); cols == 0 || r.Status == milp.Optimal || n.intInfo("primal_solution_status") == feasible {
		// An unbounded model may come with a feasible point, which is no answer.
		if r.Status != milp.Infeasible && r.Status != milp.Unbounded && r.Status != milp.InfeasibleOrUnbounded {
			x, reduced, _, dual, err := n.solution()
			if err != nil {
				return r, err
			}
			r.X, r.Feasible = x, true
			r.Objective = n.doubleInfo("objective_function_value")
			if !mip && r.Status == milp.Optimal {
				r.Duals, r.Reduced = dual, reduced
			}
		}
	}
	if mip {
		r.Nodes = n.int64Info("mip_node_count")
		r.Bound, r.Gap = n.doubleInfo("mip_dual_bound"), n.doubleInfo("mip_gap")
	} else if r.Status == milp.Optimal {
		r.Bound, r.Gap = r.Objective, 0
	}
	return r, nil
}

func solveFile(ctx context.Context, file string, o milp.Options) (milp.Result, error) {
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
