// SPDX-License-Identifier: MIT

package engine

import (
	"context"
	"fmt"
	"math"

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
	// Start is a solution at hand, nil without one. The kernel only looks for solutions with an objective in the model
	// below Upper: Start's objective, or a bound of the solutions worth finding.
	Start model.Solution
	Upper int64
	// Known, if not nil, returns a bound for Upper by the objective of a solution.
	Known func(objective float64) int64
	// Lower is a known bound on the instance's objective; NaN: none.
	Lower float64
	// Solution reads a solution off the variables' values.
	Solution func(values []int64) (model.Solution, error)
	// Lazy, if not nil, returns Kernel.Lazy of package lcg for one of the kernels.
	Lazy func() func(values []int64) (broken []cp.Named, work int64, ok bool)
	// Value turns objectives of the model into the instance's. No solution is
	// better than Value(b) if no assignment has an objective below b: it is
	// monotone, and exact or on the safe side.
	Value func(objective int64) float64
	// ProofUnit is a proof's description of the units of the model.
	ProofUnit string
	// Off are devices of the kernel that are left out.
	Off lcg.Device
	// Explain, if not nil, adds to a result that is proved infeasible.
	Explain func(context.Context, *model.Result) error
}

// Learning returns the work of an engine that asks the learning kernel the question that ask fills in. The error of ask
// may be model.ErrNoSolution if it was stopped.
func Learning[I model.Instance, B any](ask func(r *Run, in I, off B, q *Kernel) error) func(*Run, I, B, lcg.Device) error {
	return func(r *Run, in I, off B, kernel lcg.Device) error {
		q := Kernel{Off: kernel}
		if err := ask(r, in, off, &q); err != nil {
			return err
		}
		return q.Minimise(r)
	}
}

// Minimise has the kernel minimise the model, and stores its solutions and proofs.
//
// Proofs are in whole numbers. The nodes are the kernel's conflicts, from which it learns nogoods.
func (q *Kernel) Minimise(r *Run) error {
	if q.Start != nil {
		if err := r.SetSolution(r.In, q.Start); err != nil {
			return err
		}
	}
	if r.Set.Proof == nil { // the proof only covers the kernel's derivations
		if r.Raise(q.Lower); r.Closed() {
			return nil
		}
	}
	if q.Model == nil {
		if r.Set.Proof != nil {
			return fmt.Errorf("%w: there is no proof: %s", model.ErrUnsupported, q.Reason)
		}
		r.Reason = q.Reason
		return nil
	}
	team := r.Team(lcg.Options{Off: q.Off}, q.Model)
	if q.Known != nil && r.Beside() {
		team.News = func() int64 {
			if s, objective := r.News(r.Objective); s != nil {
				if _, err := r.Improve(s); err == nil {
					return q.Known(objective)
				}
			}
			return math.MaxInt64
		}
	}
	ctx, stop := context.WithCancel(r.Ctx)
	defer stop()
	if q.Lazy != nil {
		for _, k := range team.Kernels {
			lazy := q.Lazy()
			k.Lazy = func(values []int64) (broken []cp.Named, work int64, ok bool) {
				if broken, work, ok = lazy(values); !ok {
					stop()
				}
				return broken, work, ok
			}
		}
	}
	proof, failed := r.Prove(team.Kernels[0], q.ProofUnit, q.Model.High[q.Model.Objective])
	if failed != nil {
		return failed
	}
	best := int64(math.MaxInt64) // objective of the stored solution
	note := func(o *lcg.Outcome) {
		r.Nodes = team.Conflicts()
		if o.Values != nil && o.Best < best {
			best = o.Best
			s, err := q.Solution(o.Values)
			if err == nil {
				_, err = r.Improve(s)
			}
			if failed = err; failed != nil {
				stop()
				return
			}
		}
		if o.Bound >= q.Model.Low[q.Model.Objective] && !o.Infeasible {
			r.Raise(q.Value(o.Bound))
		}
		if r.Closed() && proof == nil {
			stop() // the gap asked for is reached
		}
	}
	r.TellBest() // the start: on a large model the kernel's first news may take long
	var upper *int64
	if q.Start != nil {
		upper = &q.Upper
	}
	o := team.Minimise(ctx, upper, 0, func(o *lcg.Outcome) {
		if note(o); failed == nil {
			r.TellBest()
		}
	})
	note(&o)
	if proof != nil && failed == nil {
		failed = proof.Close()
	}
	switch {
	case failed != nil:
		return failed
	case o.Infeasible && r.Solution == nil:
		r.Infeasible("the kernel derives a contradiction")
		if q.Explain != nil {
			return q.Explain(r.Ctx, &r.Result)
		}
	case !r.Closed() && r.Ctx.Err() == nil:
		if r.Reason = "the optimum of the rounded figures leaves a gap"; ctx.Err() != nil {
			r.Reason = "it takes too long to tell whether a solution is one"
		}
	}
	return nil
}
