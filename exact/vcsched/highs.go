package vcsched

import (
	"context"
	"fmt"
	"time"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/exact"
	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// HiGHS solves a formulation of VCSched by HiGHS.
type HiGHS struct {
	// Formulation is a name of vcbounds.Formulations; empty means compact.
	Formulation string
}

// Name is "highs" for the compact formulation and "highs-NAME" for the others.
func (s HiGHS) Name() string {
	if s.Formulation == "" || s.Formulation == "compact" {
		return "highs"
	}
	return "highs-" + s.Formulation
}

// Solve implements model.Solver. The proofs are HiGHS's, in floating-point
// arithmetic.
func (s HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(s.Name(), set.Seed)
	v, ok := in.(*model.VCSched)
	if !ok {
		return r, fmt.Errorf("%s: %w: it doesn't solve %s instances", s.Name(), model.ErrUnsupported, in.Kind())
	}
	name := s.Formulation
	if name == "" {
		name = "compact"
	}
	f, err := vcbounds.Build(v, name)
	if err != nil {
		return r, fmt.Errorf("%s: %w", s.Name(), err)
	}
	start := time.Now()
	o := highs.Options{TimeLimit: set.TimeLimit, Threads: set.Workers(), Tolerance: exact.Tolerance}
	if set.GapLimit() > model.DefaultGap {
		o.Gap = set.GapLimit() / 2
	}
	if p, ok := set.Start.(*model.Placement); ok && p != nil {
		if err := v.CheckShape(p); err != nil {
			return r, err
		}
		o.Start = f.Encode(p.TaskHosts())
	}
	if set.Progress != nil {
		o.Progress = func(p highs.Progress) {
			set.Progress(model.Progress{Algorithm: s.Name(), Incumbent: f.Yield(p.Incumbent), Bound: f.Yield(p.Bound), Nodes: p.Nodes, Elapsed: p.Elapsed})
		}
	}
	h, p, err := askHiGHS(ctx, newCovers(v, v.Units(), f), o)
	r.Elapsed, r.Nodes = time.Since(start), h.Nodes
	if err != nil {
		return r, fmt.Errorf("%s: %w", s.Name(), err)
	}
	if p != nil {
		if p, err = vcheur.RaiseAverage(ctx, v, p); err != nil {
			return r, fmt.Errorf("%s: %w", s.Name(), err)
		}
		if err := r.SetSolution(v, p); err != nil {
			return r, err
		}
	}
	wide := widening(f, h)
	switch h.Status {
	case highs.Infeasible:
		r.Status, r.Reason = model.StatusInfeasible, "HiGHS found the model infeasible"
	default:
		r.SetBound(model.Maximise, min(1, f.Yield(h.Bound+wide)), set.GapLimit())
		switch {
		case r.Status == model.StatusOptimal:
		case h.Status == highs.Optimal && p == nil:
			r.Reason = "HiGHS's placement doesn't fit, and it finds no other"
		case h.Status == highs.Optimal:
			r.Reason = "HiGHS says optimal; its bound, widened by its tolerance, leaves a gap"
		default:
			r.Reason = "stopped: " + h.Status.String()
		}
	}
	return r, nil
}

// askHiGHS solves the model until HiGHS's placement fits exactly, forbidding
// what doesn't. The placement is nil without one; the bound and the proof of
// infeasibility are those of the last model, a relaxation that holds every
// placement that fits.
func askHiGHS(ctx context.Context, c *covers, o highs.Options) (highs.Result, *model.Placement, error) {
	start := time.Now()
	limit := o.TimeLimit
	var nodes int64
	for {
		h, err := highs.Solve(ctx, &c.m, o)
		if err == nil && (h.Status == highs.Optimal || h.Status == highs.Infeasible) {
			h, err = secondOpinion(ctx, c, o, h)
		}
		nodes += h.Nodes
		h.Nodes = nodes
		if err != nil || !h.Feasible {
			return h, nil, err
		}
		p, err := c.f.Decode(h.X)
		if err != nil {
			return h, nil, err
		}
		hosts := p.TaskHosts()
		if c.u.Fits(hosts) {
			return h, p, nil
		}
		if h.Status != highs.Optimal || !c.forbid(hosts) {
			return h, nil, nil
		}
		o.Start = nil // it has no values for the new variables
		if limit > 0 {
			if o.TimeLimit = limit - time.Since(start); o.TimeLimit <= 0 {
				h.Status = highs.TimeLimit
				return h, nil, nil
			}
		}
	}
}

// widening is what a bound moves by before it is called one, in the model's sense.
func widening(f *vcbounds.Model, h highs.Result) float64 {
	if f.Maximise {
		return exact.Margin * h.Tolerance
	}
	return -exact.Margin * h.Tolerance
}

// secondOpinion asks HiGHS again with its own tolerances, and takes that answer
// if it refutes the first: at 1e-8 version 1.10 calls wrong optima optimal now
// and then, at its own hardly ever, but these are too wide for a gap of 1e-6.
func secondOpinion(ctx context.Context, c *covers, o highs.Options, first highs.Result) (highs.Result, error) {
	f := c.f
	o.Tolerance = 0
	again, err := highs.Solve(ctx, &c.m, o)
	if err != nil {
		return first, err
	}
	again.Nodes += first.Nodes
	if again.Feasible && (!first.Feasible || f.Yield(again.Objective) > f.Yield(first.Bound+widening(f, first))+1e-6) {
		return again, nil
	}
	first.Nodes = again.Nodes
	return first, nil
}
