package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// Kernel is a question to the learning kernel (package lcg) about an instance: the
// model of its solutions, and how to read the answers.
type Kernel struct {
	// Model is nil if the instance isn't one for the kernel; then Reason says why, and
	// Start and Lower are the answer.
	Model  *cp.Model
	Reason string
	// Start is a solution at hand, nil without one. Only solutions whose objective
	// in the model is below Upper are looked for: what Start's is, or a bound of
	// what is worth finding.
	Start model.Solution
	Upper int64
	// Lower is a bound on the instance's objective that is known; NaN: none.
	Lower float64
	// Solution reads a solution off the variables' values.
	Solution func(values []int64) (model.Solution, error)
	// Value turns objectives of the model into the instance's. No solution is
	// better than Value(b) if no assignment has an objective below b: it is
	// monotone, and exact or on the safe side.
	Value func(objective int64) float64
	// ProofUnit is what a proof says of the units of the model.
	ProofUnit string
	// Off are devices of the kernel that are left out.
	Off lcg.Device
	// Explain, if not nil, adds to a result that is proved infeasible.
	Explain func(context.Context, *model.Result) error
}

// SolveKernel answers one call of a model.Solver by the learning kernel, on the
// question that prepare returns for the instance; prepare's error may be
// model.ErrNoSolution if it was stopped. Instances of another type than I are
// model.ErrUnsupported.
//
// Proofs are in whole numbers. The nodes of the result are the kernel's conflicts:
// what it learned a nogood from.
func SolveKernel[I model.Instance](ctx context.Context, name string, in model.Instance, set model.Settings,
	prepare func(context.Context, I) (Kernel, error)) (model.Result, error) {
	r := model.NewResult(name, set.Seed)
	typed, ok := in.(I)
	if !ok {
		return r, fmt.Errorf("%s: %w: it doesn't solve %s instances", name, model.ErrUnsupported, in.Kind())
	}
	began := time.Now()
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	q, err := prepare(ctx, typed)
	if errors.Is(err, model.ErrNoSolution) {
		r.Reason, err = "stopped before there was a first solution", nil
	} else if err == nil {
		err = q.minimise(ctx, in, set, &r, began)
	}
	r.Elapsed = time.Since(began)
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// minimise has the kernel minimise the model, and stores what it finds and proves.
func (q *Kernel) minimise(ctx context.Context, in model.Instance, set model.Settings, r *model.Result, began time.Time) error {
	sense := model.SenseOf(in)
	if q.Start != nil {
		if err := r.SetSolution(in, q.Start); err != nil {
			return err
		}
	}
	if set.Proof == nil { // the proof is of what the kernel derives alone
		r.SetBound(sense, q.Lower, set.GapLimit())
		if r.Status == model.StatusOptimal {
			return nil
		}
	}
	if q.Model == nil {
		if set.Proof != nil {
			return fmt.Errorf("%w: there is no proof: %s", model.ErrUnsupported, q.Reason)
		}
		r.Reason = q.Reason
		return nil
	}
	k := lcg.NewWith(q.Model, lcg.Options{Off: q.Off})
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var proof *lcg.Proof
	var failed error
	if set.Proof != nil {
		proof, failed = k.Prove(set.Proof, lcg.Header{Kind: string(in.Kind()), Instance: set.Proof.Instance,
			Unit: q.ProofUnit, Upper: q.Model.High[q.Model.Objective]})
		if failed != nil {
			return failed
		}
	}
	best := int64(math.MaxInt64) // objective of what has been stored
	note := func(o *lcg.Outcome) {
		r.Nodes = k.Conflicts
		if o.Values != nil && o.Best < best {
			best = o.Best
			if failed = q.keep(in, o.Values, sense, r); failed != nil {
				stop()
				return
			}
		}
		if o.Bound >= q.Model.Low[q.Model.Objective] && !o.Infeasible {
			r.SetBound(sense, rounded(sense, q.Value(o.Bound), r.Objective), set.GapLimit())
		}
		if r.Status == model.StatusOptimal && proof == nil {
			stop() // the gap asked for is reached
		}
	}
	var told model.Told
	tell := func() {
		if set.Progress == nil || failed != nil {
			return
		}
		p := model.Progress{Algorithm: r.Algorithm, Incumbent: r.Objective, Bound: r.Bound, Nodes: r.Nodes, Elapsed: time.Since(began)}
		if told.News(r.Objective) {
			p.Solution = r.Solution
		}
		set.Progress(p)
	}
	tell() // the start: on a large model the kernel's first news may take long
	var upper *int64
	if q.Start != nil {
		upper = &q.Upper
	}
	o := k.Minimise(inner, upper, 0, func(o *lcg.Outcome) {
		note(o)
		tell()
	})
	note(&o)
	if proof != nil && failed == nil {
		failed = proof.Close()
	}
	switch {
	case failed != nil:
		return failed
	case o.Infeasible && r.Solution == nil:
		r.Status, r.Reason = model.StatusInfeasible, "the kernel derives a contradiction"
		r.Bound, r.Gap = math.NaN(), math.NaN()
		if q.Explain != nil {
			return q.Explain(ctx, r)
		}
	case r.Status != model.StatusOptimal:
		if r.Reason = StopReason(ctx); r.Reason == "" {
			r.Reason = "the optimum of the rounded figures leaves a gap"
		}
	}
	return nil
}

// keep stores the solution that the values describe if it is better than those
// before.
func (q *Kernel) keep(in model.Instance, values []int64, sense model.Sense, r *model.Result) error {
	s, err := q.Solution(values)
	if err != nil {
		return err
	}
	o, err := in.Objective(s)
	if err != nil || r.Solution != nil && !sense.Better(o.Value, r.Objective) {
		return err
	}
	return r.SetSolution(in, s)
}

// rounded returns the bound, or the objective if that beats it by no more than the
// rounding of either.
func rounded(sense model.Sense, bound, objective float64) float64 {
	if sense.Better(objective, bound) && math.Abs(bound-objective) <= 1e-9*math.Abs(objective) {
		return objective
	}
	return bound
}
