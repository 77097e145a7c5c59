// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/heuristics/command"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Case holds an instance with its validity, its hash and its quick bounds. Each
// is computed once, when it is first asked for. The instance must not change
// any more. Several goroutines may use a Case.
type Case struct {
	Instance model.Instance
	Validate func() error           // model.Instance.Validate
	Hash     func() (string, error) // model.Hash

	mu    sync.Mutex
	quick []bounds.Bound // nil: not computed to the end
	early []bounds.Bound // those that were computed when a context last ended; nil: it didn't
}

// NewCase returns the Case of an instance.
func NewCase(in model.Instance) *Case {
	if err := given(in); err != nil {
		return &Case{Validate: func() error { return err }, Hash: func() (string, error) { return "", err }}
	}
	return &Case{
		Instance: in,
		Validate: sync.OnceValue(in.Validate),
		Hash:     sync.OnceValues(func() (string, error) { return model.Hash(in) }),
	}
}

// computeQuick returns Problem.Quick of the instance, which must be valid: those that
// are computed by the time that ctx ends.
func (c *Case) computeQuick(ctx context.Context) []bounds.Bound {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quick != nil {
		return c.quick
	}
	p, err := ProblemOf(c.Instance.Kind())
	if err != nil {
		return nil
	}
	all := p.Quick(ctx, c.Instance)
	if c.early = all; ctx.Err() == nil {
		c.quick = all
		view.Keep(ctx, c.Instance, view.QuickBounds, all)
	}
	return all
}

// keepQuick hands the quick bounds on to the solvers, if they are known.
func (c *Case) keepQuick(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quick != nil {
		view.Keep(ctx, c.Instance, view.QuickBounds, c.quick)
	}
}

// Solve solves one instance. It is NewCase followed by Case.Solve.
func Solve(ctx context.Context, in model.Instance, o Options) (model.Result, error) {
	return NewCase(in).Solve(ctx, o)
}

// Solve runs a solver, adds a bound if the solver proves none, has the judge check the result, and stamps it with its
// inputs. Every solution of gapwise goes through Solve.
//
// A result is never worse than Settings.Start, if that is feasible, whatever the algorithm does with it. Before an
// engine begins, the problem's cheapest heuristic has a tenth of the limit or a second; before auto, the limit and a
// microsecond more for each item. Its solution is reported as the first incumbent, and the result is never worse.
//
// The instance must not be changed afterwards: a solver that auto or Options.Patience has stopped may read it a while
// longer.
//
// The error is a *DefectError if a claim is refuted. Otherwise it is for bad
// input (model.ErrInvalid, model.ErrUnsupported, ErrUnknownAlgorithm) or a
// solver's failure. An interrupted solve is no error: the judge then has
// a little more time for the solution. A context that ends while the judge is at work
// stops the judge, and the result is marked Unverified.
func (c *Case) Solve(ctx context.Context, o Options) (model.Result, error) {
	none := model.NewResult(o.Algorithm, o.Seed)
	if err := given(c.Instance); err != nil {
		return none, err
	}
	algorithms, set, err := o.solvers(c.Instance.Kind())
	if err != nil {
		return none, err
	}
	if err := c.Validate(); err != nil {
		return none, err
	}
	if set.Proof == nil {
		go func() { _, _ = c.Hash() }() // stamp waits for it
	} else {
		hash, err := c.Hash()
		if err != nil {
			return none, err
		}
		set.Proof = &model.ProofWriter{Writer: set.Proof.Writer, Instance: hash}
	}
	if set.Start != nil {
		if set.Start, _, err = CompleteStart(ctx, c.Instance, set.Start); err != nil {
			return none, err
		}
	}
	if set.Progress != nil {
		set.Progress = improving(c.Instance, set.Progress)
	}
	ctx = view.NewCase(c.Instance).Context(ctx) // solvers, bounds and checkers of evidence share it; judges read the instance
	t := &attempt{Case: c, ctx: ctx, set: set, patience: o.Patience, judging: o.Judging, judge: verify.NewJudge(c.Instance),
		proves: slices.ContainsFunc(algorithms, func(a model.Algorithm) bool { return a.Exact })}
	if set.TimeLimit > 0 {
		t.ends = time.Now().Add(set.TimeLimit)
	}
	if t.stated, err = c.stated(ctx, o); err != nil {
		return none, err
	}
	if err := t.cheapest(algorithms); err != nil {
		return none, err
	}
	var results []model.Result
	for _, a := range algorithms {
		s := a.Solver
		if a, ok := s.(auto); ok {
			s = &portfolio{auto: a, attempt: t}
		}
		r, err := t.bounded(s)
		if err == nil {
			r, err = t.finish(s, r)
		}
		if err != nil {
			return r, err
		}
		results = append(results, r)
	}
	best := results[0]
	for _, r := range results[1:] {
		if best, err = reconcile(c.Instance, best, r, set.GapLimit()); err != nil {
			return best, err
		}
	}
	if len(results) > 1 {
		return t.stamp(best)
	}
	return best, nil
}

// stated computes the user's own bounds.
func (c *Case) stated(ctx context.Context, o Options) (all []bounds.Bound, err error) {
	for _, of := range o.Bounds {
		b, err := of(ctx, c.Instance)
		if err != nil {
			return nil, fmt.Errorf("stated bound %s: %w", b.Name, err)
		}
		all = append(all, b)
	}
	return all, nil
}

// improving returns a Progress that passes on the reports of solvers. It passes on only solutions better than those
// before, each with the objective that the instance computes for it.
func improving(in model.Instance, tell func(model.Progress)) func(model.Progress) {
	sense, best := model.SenseOf(in), math.NaN()
	return func(p model.Progress) {
		if p.Solution != nil {
			o, err := in.Objective(p.Solution)
			if err != nil || !math.IsNaN(best) && !sense.Better(o.Value, best) {
				p.Solution = nil
			} else {
				best, p.Incumbent = o.Value, o.Value
			}
		}
		tell(p)
	}
}

// finish completes a solver's result: by a better solution that was at hand, by bounds, by the judge.
func (t *attempt) finish(s model.Solver, r model.Result) (model.Result, error) {
	in, gap := t.Instance, t.set.GapLimit()
	r.Elapsed += t.first.Elapsed
	t.own = r.Bound
	if lacksBounds(r) {
		for _, b := range t.quickBounds() {
			switch {
			case !b.Infeasible:
				r.SetBound(in.Metrics()[0], b.Value, gap)
			case r.Solution == nil:
				r.Status, r.Reason = model.StatusInfeasible, b.Reason
			default:
				err := &DefectError{Instance: in, Result: r, Reason: "a bound proves infeasible what was solved: " + b.Reason}
				return r, t.blame(s, r, err)
			}
		}
	}
	if err := t.atLeast(&r); err != nil {
		return r, t.blame(s, r, err)
	}
	for _, b := range t.stated {
		switch {
		case !b.Infeasible && r.Status != model.StatusInfeasible:
			r.SetBound(in.Metrics()[0], b.Value, gap)
		case b.Infeasible && r.Solution == nil:
			r.Status, r.Reason = model.StatusInfeasible, b.Reason
		case b.Infeasible:
			return r, &DefectError{Instance: in, Result: r, Reason: fmt.Sprintf("the stated bound %s says that there is no solution: %s", b.Name, b.Reason)}
		}
	}
	r, err := t.stamp(r)
	if err == nil && t.set.Progress != nil && r.Solution != nil {
		t.set.Progress(model.Progress{Algorithm: r.Algorithm, Incumbent: r.Objective, Bound: r.Bound, Nodes: r.Nodes, Elapsed: r.Elapsed, Solution: r.Solution, Done: true})
	}
	return r, t.blame(s, r, err)
}

// atLeast gives a result the start or the cheapest heuristic's solution if that is
// feasible and better. The replaced solution is judged first.
func (t *attempt) atLeast(r *model.Result) error {
	for _, held := range []struct {
		solution model.Solution
		what     string
		details  model.Details
		mayFail  bool
	}{{t.set.Start, "start", nil, true}, {t.first.Solution, t.first.Algorithm, t.first.Details, false}} {
		if held.solution == nil {
			continue
		}
		o := t.first.Value(t.Instance.Metrics())
		if held.mayFail {
			var err error
			if o, err = t.Instance.Objective(held.solution); err != nil {
				return err
			}
		}
		if r.Solution != nil && !o.Better(r.Value(t.Instance.Metrics())) {
			continue
		}
		// A start may be infeasible. Our own is judged with the result.
		if held.mayFail || r.Status == model.StatusInfeasible {
			ctx, cancel := t.toJudge()
			report, err := verify.Verify(ctx, t.Instance, held.solution, verify.Options{Valid: true})
			late := ctx.Err() != nil
			cancel()
			switch {
			case late: // it counts if it is all that there is: the result will be Unverified
				if r.Solution != nil || r.Status == model.StatusInfeasible {
					continue
				}
			case err != nil:
				return err
			case !report.Feasible():
				continue
			}
		}
		if r.Status == model.StatusInfeasible {
			return &DefectError{Instance: t.Instance, Result: *r, Reason: "the solution of " + held.what + " is feasible"}
		}
		if r.Solution != nil { // the replaced solution may be wrong all the same
			if _, err := t.stamp(*r); err != nil {
				return err
			}
		}
		bound := r.Bound
		if err := r.SetSolution(t.Instance, held.solution); err != nil {
			return err
		}
		r.SolutionOf, r.Details = held.what, held.details
		if r.SetBound(t.Instance.Metrics()[0], bound, t.set.GapLimit()); r.Status == model.StatusOptimal {
			r.Reason = ""
		}
	}
	return nil
}

// quickBounds returns the quick bounds for a solver that has ended: with a time limit they
// have a tenth of it.
func (t *attempt) quickBounds() []bounds.Bound {
	if t.quick == nil {
		ctx, cancel := t.toJudge()
		defer cancel()
		if t.set.TimeLimit > 0 {
			ctx, cancel = context.WithTimeout(ctx, max(t.set.TimeLimit/10, 100*time.Millisecond))
			defer cancel()
		}
		if t.quick = t.stopped(); t.quick != nil {
			return t.quick
		}
		if t.ctx.Err() == nil || t.patience == 0 {
			t.quick = t.computeQuick(ctx)
			return t.quick
		}
		// An interrupt doesn't wait for the part of them that takes linear time.
		var all []bounds.Bound
		returned, err := panics.Within(ctx, func() time.Duration { return 0 }, func() error { all = t.computeQuick(ctx); return nil })
		panics.Pass(err)
		if t.quick = []bounds.Bound{}; returned { // else not asked for again
			t.quick = all
		}
	}
	return t.quick
}

// stopped returns the quick bounds that were computed when they were stopped, if the time limit is over: then no time
// is left to begin anew.
func (t *attempt) stopped() []bounds.Bound {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Case.quick != nil || t.ends.IsZero() || time.Now().Before(t.ends) {
		return nil
	}
	return t.early
}

// blame returns the error of a solver with a refuted result. A command's wrong solution is its author's mistake: a
// RefusedError. A feasible one that contradicts a bound is a defect.
func (t *attempt) blame(s model.Solver, r model.Result, err error) error {
	var defect *DefectError
	if _, foreign := s.(*command.Solver); !foreign || r.Solution == nil || !errors.As(err, &defect) {
		return err
	}
	alone := model.NewResult(r.Algorithm, r.Seed)
	if err := alone.SetSolution(t.Instance, r.Solution); err != nil {
		return &RefusedError{Name: s.Name(), Err: err}
	}
	var wrong *DefectError
	if _, e := t.stamp(alone); errors.As(e, &wrong) {
		return &RefusedError{Name: s.Name(), Err: errors.New(wrong.Reason)}
	}
	return err
}

// toJudge returns the context for the judge and for bounds: the solution of a solver that was interrupted is
// judged all the same.
func (t *attempt) toJudge() (context.Context, context.CancelFunc) { return meter.Grace(t.ctx) }

// stamp writes into the result which version solved which instance, and has the
// judge check it. If the context ends while the judge is at work, the result is
// Unverified.
func (t *attempt) stamp(r model.Result) (model.Result, error) {
	in, set := t.Instance, t.set
	hash, err := t.Hash()
	if err != nil {
		return r, err
	}
	r.Instance, r.InstanceHash, r.Kind, r.Version, r.Seed = in.ID(), hash, in.Kind(), Version, set.Seed
	r.Account = model.AccountOf(in)
	if r.GapLimit = 0; set.GapLimit() != model.DefaultGap {
		r.GapLimit = set.GapLimit()
	}
	ctx, stop := t.toJudge()
	defer stop()
	t.addEvidence(ctx, &r)
	if t.judging != nil {
		defer time.AfterFunc(time.Second, t.judging).Stop()
	}
	report, err := t.judge.Result(ctx, r, verify.Options{Hash: hash, Valid: true})
	if err != nil && ctx.Err() != nil {
		// The solution is returned without any claim of optimality.
		r.Unverified = true
		if r.Status == model.StatusOptimal {
			r.Status = model.StatusFeasible
		}
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if err := report.Err(); err != nil {
		return r, &DefectError{Instance: in, Result: r, Report: report, Reason: err.Error()}
	}
	r.Unverified = false
	return r, nil
}
