// SPDX-License-Identifier: MIT

// Package ask answers the questions about an instance as data, for the command, the service and the page: is
// this solution feasible and how good, what bounds it, does the proof hold, how far is the solver.
package ask

import (
	"context"
	"math"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Verdict is a judgement on a solution or a result.
type Verdict struct {
	Line            int         `json:"line,omitempty" about:"line of the file that the result stands on"`
	Algorithm       string      `json:"algorithm,omitempty"`
	Status          string      `json:"status,omitempty" about:"as the result states it"`
	Accepted        bool        `json:"accepted"`
	Tolerance       float64     `json:"tolerance"`
	Objective       *float64    `json:"objective" about:"computed from the decisions"`
	SecondObjective *float64    `json:"second_objective"`
	Violations      []Violation `json:"violations"`
	Checked         []string    `json:"checked"`
	OnTrust         []string    `json:"on_trust"`
}

// Violation is a constraint that doesn't hold.
type Violation struct {
	Constraint string  `json:"constraint"`
	Where      string  `json:"where"`
	Amount     float64 `json:"amount"`
	Unit       string  `json:"unit,omitempty"`
}

// Judge has a result judged, or the bare solution if there is no result (r is nil).
func Judge(ctx context.Context, in model.Instance, r *model.Result, s model.Solution, o verify.Options) (v Verdict, report verify.Report, err error) {
	if r == nil {
		report, err = verify.Verify(ctx, in, s, o)
	} else {
		v.Algorithm, v.Status = r.Algorithm, string(r.Status)
		report, err = verify.Result(ctx, in, *r, o)
	}
	return v.of(report), report, err
}

// Bounded returns the result of a bare solution that the judge has accepted: with the best of the bounds that need no
// search, as far as they are computed by the end of the time limit.
func Bounded(ctx context.Context, in model.Instance, s model.Solution, limit time.Duration) (model.Result, error) {
	r := model.NewResult(Bare, 0)
	if err := r.SetSolution(in, s); err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	all, err := gapwise.Bounds(ctx, in)
	if err != nil && ctx.Err() == nil {
		return r, err
	}
	for _, b := range all {
		if !b.Infeasible {
			r.SetBound(in.Metrics()[0], b.Value, model.DefaultGap)
		}
	}
	return r, nil
}

// Bare is the algorithm of a solution that comes without a result.
const Bare = "a solution without a result"

// Accept returns an error if the judge refuses a result of an instance with the given hash.
func Accept(ctx context.Context, in model.Instance, hash string, r model.Result) error {
	report, err := verify.Result(ctx, in, r, verify.Options{Hash: hash, Valid: true})
	if err != nil {
		return err
	}
	return report.Err()
}

// of returns the verdict with a report's results.
func (v Verdict) of(r verify.Report) Verdict {
	v.Accepted, v.Tolerance, v.Checked, v.OnTrust = r.Feasible(), r.Tolerance, r.Checked, r.Trusted
	v.Objective, v.SecondObjective = Number(r.Objective), Number(r.Second)
	v.Violations = []Violation{}
	for _, x := range r.Violations {
		v.Violations = append(v.Violations, Violation{x.Constraint, x.Where, x.Amount, x.Unit()})
	}
	if v.OnTrust == nil {
		v.OnTrust = []string{}
	}
	return v
}

// Number returns a number as JSON has it: nil if it isn't known or infinite.
func Number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// AsSolved returns the instance in the solution's variant, if the instance leaves it open and no flag sets it.
func AsSolved(in model.Instance, s model.Solution, given func(flag string) bool) model.Instance {
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil || s == nil || s.Kind() != in.Kind() {
		return in
	}
	for _, v := range p.Variants {
		if made := v.MadeFor(in, s); made != "" && !given(v.Flag) && made != v.Get(in) {
			in = v.With(in, made)
		}
	}
	return in
}
