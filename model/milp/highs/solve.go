// SPDX-License-Identifier: MIT

package highs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// solve is Solve of a valid model with valid options.
func solve(ctx context.Context, m *milp.Model, o milp.Options) (milp.Result, error) {
	return prepared(ctx, o, func(n *object) error {
		if err := n.pass(m, o.Relax); err != nil || o.Start == nil {
			return err
		}
		return n.setStart(o.Start)
	}, m, mip(m, o))
}

// prepared solves the model that pass gives an object.
func prepared(ctx context.Context, o milp.Options, pass func(*object) error, m *milp.Model, mip bool) (milp.Result, error) {
	if o.Count != nil && !counts {
		return emptyResult(), fmt.Errorf("%w: HiGHS doesn't count its work here", model.ErrUnsupported)
	}
	began, waiting := time.Now(), ctx
	if o.TimeLimit > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, o.TimeLimit)
		defer cancel()
	}
	n, err := newObject(waiting, o.Log)
	if err != nil && waiting.Err() != nil && errors.Is(err, waiting.Err()) {
		r := emptyResult()
		if r.Status = milp.TimeLimit; ctx.Err() != nil {
			r.Status = milp.Interrupted
		}
		return r, nil
	}
	if err != nil {
		return emptyResult(), err
	}
	if o.TimeLimit > 0 {
		o.TimeLimit = max(o.TimeLimit-time.Since(began), time.Millisecond)
	}
	err = errors.Join(n.apply(tolerances(o.Tolerance, integerTolerance(m))), n.apply(optionsOf(o)), pass(n))
	if err == nil && !mip {
		// Presolve costs more than it saves on linear programs of our kinds: half of the time of 18 of up to 2,500
		// rows, and 15 % at 17,000. Without it an infeasible one has its ray at hand, too.
		err = n.stringOption("presolve", "off")
	}
	if err != nil {
		n.close()
		return emptyResult(), err
	}
	return runAndClose(ctx, n, m, o, mip)
}

// runAndClose runs HiGHS in a goroutine of its own, and watches ctx.
func runAndClose(ctx context.Context, n *object, m *milp.Model, o milp.Options, mip bool) (milp.Result, error) {
	start := time.Now()
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
		err := panics.Call(func() error {
			tolerance, err := n.run(o.Tolerance)
			if err == nil {
				r, err = n.result(mip)
				r.Tolerance = tolerance
			}
			if err == nil && !mip && r.Status == milp.Infeasible {
				r.Ray, err = n.ray(len(m.Rows))
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
		if s := &out.r.Status; *s == milp.Interrupted || *s == milp.TimeLimit { // the clock stops it, too
			if *s = milp.TimeLimit; ctx.Err() != nil {
				*s = milp.Interrupted
			}
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
		if p, _, ok := n.progress(); ok && o.Progress != nil {
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
		case <-c.ask:
			tell()
			stop := o.Count(looksCounted)
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
			if p, x, ok := n.progress(); ok {
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

// counter passes HiGHS's counts from its goroutine to the goroutine of the solve, which may let it wait.
type counter struct {
	ask  chan struct{}
	stop chan bool // the answer
	gone chan struct{}
}

// looksCounted is how often HiGHS looks at the clock between two calls of Options.Count.
const looksCounted = 50

// newCounter has HiGHS ask at every so many looks at the clock, if Options.Count is there. Once gone is closed there is
// no answer, which means to stop. HiGHS's callbacks won't do: it has none in the MIPs of its heuristics.
func newCounter(n *object, o milp.Options) *counter {
	c := &counter{ask: make(chan struct{}), stop: make(chan bool), gone: make(chan struct{})}
	if o.Count == nil {
		return c
	}
	n.looked = func() {
		select {
		case c.ask <- struct{}{}:
			if <-c.stop {
				n.stop()
			}
		case <-c.gone:
			n.stop()
		}
	}
	return c
}

// result returns HiGHS's result after a run.
func (o *object) result(mip bool) (milp.Result, error) {
	r := emptyResult()
	status, err := o.call("Highs_getModelStatus", o.highs)
	if err != nil {
		return r, err
	}
	switch status {
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
	r.Iterations = int64(o.intInfo("simplex_iteration_count"))
	const feasible = 2 // kHighsSolutionStatusFeasible
	if r.Status == milp.Optimal || o.intInfo("primal_solution_status") == feasible {
		// An unbounded model may come with a feasible point, which is no answer.
		if r.Status != milp.Infeasible && r.Status != milp.Unbounded && r.Status != milp.InfeasibleOrUnbounded {
			x, reduced, dual, err := o.solution()
			if err != nil {
				return r, err
			}
			r.X, r.Feasible = x, true
			r.Objective = o.doubleInfo("objective_function_value") / o.scale
			if !mip && r.Status == milp.Optimal {
				r.Duals, r.Reduced = dual, reduced
			}
		}
	}
	if mip {
		r.Nodes = o.int64Info("mip_node_count")
		r.Bound, r.Gap = o.doubleInfo("mip_dual_bound")/o.scale, o.doubleInfo("mip_gap")
	} else if r.Status == milp.Optimal {
		r.Bound, r.Gap = r.Objective, 0
	}
	return r, nil
}
