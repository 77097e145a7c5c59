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
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/heuristics/command"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Case holds an instance with its validity, its hash and its quick bounds. Each
// is computed once, when it is first asked for. The instance must not change
// any more. Several goroutines may use a Case.
type Case struct {
	Instance    model.Instance
	Validate    func() error           // model.Instance.Validate
	Hash        func() (string, error) // model.Hash
	QuickBounds func() []bounds.Bound  // Problem.Quick, of a valid instance
}

// NewCase returns the Case of an instance.
func NewCase(in model.Instance) *Case {
	return &Case{
		Instance: in,
		Validate: sync.OnceValue(in.Validate),
		Hash:     sync.OnceValues(func() (string, error) { return model.Hash(in) }),
		QuickBounds: sync.OnceValue(func() []bounds.Bound {
			p, err := ProblemOf(in.Kind())
			if err != nil {
				return nil
			}
			return p.Quick(in)
		}),
	}
}

// Solve solves one instance. It is NewCase followed by Case.Solve.
func Solve(ctx context.Context, in model.Instance, o Options) (model.Result, error) {
	return NewCase(in).Solve(ctx, o)
}

// Solve runs a solver, adds a bound where the solver proves none, has the judge
// check the result, and stamps it with what it was made of. Every solution of
// gapwise goes through Solve.
//
// The error is a *DefectError if a claim is refuted. Otherwise it is for bad
// input (model.ErrInvalid, model.ErrUnsupported, ErrUnknownAlgorithm) or a
// solver's failure. An interrupted solve is no error: the judge then has some
// more seconds for the solution. A context that ends while the judge is at work
// stops the judge, and the result is marked Unverified.
func (c *Case) Solve(ctx context.Context, o Options) (model.Result, error) {
	none := model.NewResult(o.Algorithm, o.Seed)
	solvers, set, err := o.solvers(c.Instance.Kind())
	if err != nil {
		return none, err
	}
	if err := c.Validate(); err != nil {
		return none, err
	}
	if set.Proof != nil {
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
	stated, err := c.stated(ctx, o)
	if err != nil {
		return none, err
	}
	var results []model.Result
	for _, s := range solvers {
		r, err := c.solveOne(ctx, s, set, stated, o.Judging)
		if errors.Is(err, model.ErrUnsupported) && o.auto() && set.Proof == nil {
			return c.bestHeuristic(ctx, set, stated, o.Judging, err)
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
		return c.stamp(ctx, best, set, o.Judging)
	}
	return best, nil
}

// bestHeuristic runs all heuristics that take the instance, which the engine
// refused, until the context ends or the time limit has passed: the strongest
// first, for on a large instance the weakest may use up the time. It returns the
// best result, the first of several.
func (c *Case) bestHeuristic(ctx context.Context, set model.Settings, stated []bounds.Bound, judging func(), refused error) (model.Result, error) {
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	best, started := model.NewResult("auto", set.Seed), time.Now()
	second := c.Instance.Metrics()[1].Sense
	for _, a := range slices.Backward(Algorithms(c.Instance.Kind())) {
		if a.Exact {
			continue
		}
		if best.Solution != nil && ctx.Err() != nil {
			best.Reason = exact.StopReason(ctx)
			break
		}
		r, err := c.solveOne(ctx, a.Solver, set, stated, judging)
		if errors.Is(err, model.ErrUnsupported) {
			continue
		}
		if err != nil {
			return r, err
		}
		if best.Algorithm == "auto" || tellsMore(model.SenseOf(c.Instance), r, best) ||
			r.Solution != nil && r.Objective == best.Objective && second.Better(r.SecondObjective, best.SecondObjective) {
			best = r
		}
	}
	if best.Algorithm == "auto" {
		return best, refused
	}
	best.Elapsed = time.Since(started)
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

// improving returns a Progress that passes on to another what solvers tell. Of
// solutions it passes on those that are better than the ones before, each with the
// objective that the instance computes for it.
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

func (c *Case) solveOne(ctx context.Context, s model.Solver, set model.Settings, stated []bounds.Bound, judging func()) (model.Result, error) {
	in := c.Instance
	start := time.Now()
	r, err := s.Solve(ctx, in, set)
	if r.Elapsed == 0 {
		r.Elapsed = time.Since(start)
	}
	if err != nil {
		return r, err
	}
	// A heuristic proves nothing by itself: it gets the quick bounds.
	if r.Status != model.StatusInfeasible && math.IsNaN(r.Bound) {
		for _, b := range c.QuickBounds() {
			switch {
			case !b.Infeasible:
				r.SetBound(model.SenseOf(in), b.Value, set.GapLimit())
			case r.Solution == nil:
				r.Status, r.Reason = model.StatusInfeasible, b.Reason
			default:
				err := &DefectError{Instance: in, Result: r, Reason: "a bound proves infeasible what was solved: " + b.Reason}
				return r, c.blame(ctx, s, r, set, err)
			}
		}
	}
	for _, b := range stated {
		switch {
		case !b.Infeasible && r.Status != model.StatusInfeasible:
			r.SetBound(model.SenseOf(in), b.Value, set.GapLimit())
		case b.Infeasible && r.Solution == nil:
			r.Status, r.Reason = model.StatusInfeasible, b.Reason
		case b.Infeasible:
			return r, &DefectError{Instance: in, Result: r, Reason: fmt.Sprintf("the stated bound %s says that there is no solution: %s", b.Name, b.Reason)}
		}
	}
	r, err = c.stamp(ctx, r, set, judging)
	if err == nil && set.Progress != nil && r.Solution != nil {
		set.Progress(model.Progress{Algorithm: r.Algorithm, Incumbent: r.Objective, Bound: r.Bound, Nodes: r.Nodes, Elapsed: r.Elapsed, Solution: r.Solution, Done: true})
	}
	return r, c.blame(ctx, s, r, set, err)
}

// blame returns the error of a solver whose result was refuted: of a command that
// has returned a wrong solution that is its author's mistake, a RefusedError. A
// feasible one that contradicts a bound is a defect.
func (c *Case) blame(ctx context.Context, s model.Solver, r model.Result, set model.Settings, err error) error {
	var defect *DefectError
	if _, foreign := s.(*command.Solver); !foreign || r.Solution == nil || !errors.As(err, &defect) {
		return err
	}
	alone := model.NewResult(r.Algorithm, r.Seed)
	if err := alone.SetSolution(c.Instance, r.Solution); err != nil {
		return &RefusedError{Name: s.Name(), Err: err}
	}
	var wrong *DefectError
	if _, e := c.stamp(ctx, alone, set, nil); errors.As(e, &wrong) {
		return &RefusedError{Name: s.Name(), Err: errors.New(wrong.Reason)}
	}
	return err
}

// judgeGrace limits the judge's time for the solution of an interrupted solver.
// Whoever interrupts is in a hurry: a batch system sends its second signal
// after some seconds.
const judgeGrace = 5 * time.Second

// stamp writes into the result which version solved which instance, and has the
// judge check it. If the context ends while the judge is at work, the result is
// Unverified.
func (c *Case) stamp(ctx context.Context, r model.Result, set model.Settings, judging func()) (model.Result, error) {
	in := c.Instance
	hash, err := c.Hash()
	if err != nil {
		return r, err
	}
	r.Instance, r.InstanceHash, r.Kind, r.Version, r.Seed = in.ID(), hash, in.Kind(), Version, set.Seed
	if r.GapLimit = 0; set.GapLimit() != model.DefaultGap {
		r.GapLimit = set.GapLimit()
	}
	patience, stop := ctx, context.CancelFunc(func() {})
	if ctx.Err() != nil { // the solver was interrupted: its solution is judged all the same
		patience, stop = context.WithTimeout(context.WithoutCancel(ctx), judgeGrace)
	}
	defer stop()
	c.addEvidence(patience, &r, set.Proof != nil)
	if judging != nil {
		defer time.AfterFunc(time.Second, judging).Stop()
	}
	report, err := verify.Result(patience, in, r, verify.Options{Hash: hash, Valid: true})
	if err != nil && patience.Err() != nil {
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
