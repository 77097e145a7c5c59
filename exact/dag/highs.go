package dag

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/exact"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// HiGHS solves dagbounds.Build, which knows no contention, by HiGHS.
// The horizon is the makespan of the best schedule of dagheur.Improve or of
// Settings.Start.
//
// HiGHS is asked twice: for the least makespan, and then whether one below it
// exists, which is another model, since heads and tails exclude more for an
// earlier horizon. On one model in some thousands of this kind version 1.10
// calls a makespan optimal that isn't, or a model infeasible that isn't (with
// presolve and without, at any tolerance); it is believed when both answers
// agree, and asked again when they don't.
type HiGHS struct{}

// Name is "highs".
func (HiGHS) Name() string { return "highs" }

// Solve implements model.Solver. The proofs are HiGHS's, in floating-point
// arithmetic. Instances whose transfer model isn't ideal, or for which the
// formulation is too large, are model.ErrUnsupported.
func (HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult("highs", set.Seed)
	d, ok := in.(*model.DAG)
	if !ok {
		return r, fmt.Errorf("highs: %w: it doesn't solve %s instances", model.ErrUnsupported, in.Kind())
	}
	began := time.Now()
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	s := &dagHiGHS{ctx: ctx, d: d, set: set, r: &r, began: began}
	err := s.run()
	r.Elapsed = time.Since(began)
	if err != nil {
		return r, fmt.Errorf("highs: %w", err)
	}
	return r, nil
}

// dagHiGHS is a run of HiGHS.
type dagHiGHS struct {
	ctx   context.Context
	d     *model.DAG
	set   model.Settings
	r     *model.Result
	began time.Time
	best  *model.Schedule
	value float64 // its makespan
}

// dagAnswer is what HiGHS says of one horizon.
type dagAnswer struct {
	unit, bound float64 // seconds; unit is 0 unless makespans are multiples of it
	improved    bool    // there is a better schedule than before, and it is s.best now
	complete    bool    // HiGHS proved what it says
	infeasible  bool
	status      highs.Status
}

func (s *dagHiGHS) run() error {
	if err := dagbounds.Check(s.d); err != nil {
		return err // before the local search starts
	}
	first, _, err := dagheur.Improve(s.ctx, s.d, model.Settings{Seed: s.set.Seed, Start: s.set.Start})
	if err != nil {
		if errors.Is(err, model.ErrNoSolution) {
			s.r.Reason = "stopped before there was a schedule"
			return nil
		}
		return err
	}
	if _, err := s.better(first); err != nil {
		return err
	}
	gap := s.set.GapLimit()
	for {
		a, err := s.ask(s.value)
		if err != nil {
			return err
		}
		if !a.complete {
			s.r.SetBound(model.Minimise, a.bound, gap)
			s.r.Reason = "stopped: " + a.status.String()
			return nil
		}
		if a.infeasible { // a schedule is at hand: HiGHS's word is worth nothing here
			s.r.Reason = "HiGHS finds no schedule where there is one, so it proves nothing"
			return nil
		}
		// Below what the second question's answer must lie.
		target := s.value * (1 - gap/2)
		if a.unit > 0 && gap <= model.DefaultGap {
			target = s.value - a.unit
		}
		bound := s.value
		if target >= 0 && s.value > 0 {
			b, err := s.ask(target)
			if err != nil {
				return err
			}
			if b.improved {
				continue // the first answer was wrong
			}
			if !b.infeasible {
				s.r.SetBound(model.Minimise, min(b.bound, a.bound), gap)
				if s.r.Reason = "stopped: " + b.status.String(); s.r.Status == model.StatusOptimal {
					s.r.Reason = "HiGHS was stopped before it confirmed its proof"
				}
				return nil
			}
			bound = target
			if a.unit > 0 {
				bound = a.unit * (math.Floor(target/a.unit+1e-6) + 1)
			}
		}
		s.r.SetBound(model.Minimise, min(bound, a.bound, s.value), gap)
		if s.r.Status != model.StatusOptimal {
			s.r.Reason = "HiGHS says optimal; its bound, widened by its tolerance, leaves a gap"
		}
		return nil
	}
}

// better keeps a schedule that is better than the best so far.
func (s *dagHiGHS) better(p *model.Schedule) (bool, error) {
	o, err := s.d.Objective(p)
	if err != nil {
		return false, err
	}
	if s.best != nil && o.Value >= s.value {
		return false, nil
	}
	s.best, s.value = p, o.Value
	return true, s.r.SetSolution(s.d, p)
}

// ask solves the model for a horizon in seconds.
func (s *dagHiGHS) ask(horizon float64) (dagAnswer, error) {
	f, err := dagbounds.Build(s.d, horizon)
	if errors.Is(err, model.ErrInfeasible) { // by heads and tails
		return dagAnswer{bound: horizon, complete: true, infeasible: true, status: highs.Infeasible}, nil
	}
	if err != nil {
		return dagAnswer{}, err
	}
	a := dagAnswer{}
	if f.Whole {
		a.unit = f.Unit
	}
	o := highs.Options{Threads: s.set.Workers(), Tolerance: exact.Tolerance}
	if s.set.GapLimit() > model.DefaultGap {
		o.Gap = s.set.GapLimit() / 2
	}
	if s.value <= horizon {
		machine, err := s.d.MachineOf(s.best)
		if err != nil {
			return a, err
		}
		start := make([]float64, len(machine))
		for t := range start {
			start[t] = s.best.Tasks[t].StartS
		}
		o.Start = f.Encode(machine, start)
	}
	if s.set.Progress != nil {
		nodes := s.r.Nodes
		o.Progress = func(p highs.Progress) {
			s.set.Progress(model.Progress{Algorithm: "highs", Incumbent: s.value, Bound: max(0, min(s.value, f.Makespan(p.Bound))),
				Nodes: nodes + p.Nodes, Elapsed: time.Since(s.began)})
		}
	}
	h, err := highs.Solve(s.ctx, &f.Model, o)
	s.r.Nodes += h.Nodes
	if err != nil {
		return a, err
	}
	if h.Feasible {
		p, err := f.Decode(h.X)
		if err != nil {
			return a, err
		}
		if a.improved, err = s.better(p); err != nil {
			return a, err
		}
	}
	a.status = h.Status
	a.infeasible = h.Status == highs.Infeasible
	a.complete = a.infeasible || h.Status == highs.Optimal
	// What no schedule that ends by the horizon undercuts, nor a later one.
	a.bound = horizon
	if !a.infeasible {
		// A binary y that is off by the tolerance lets a task start early by
		// that part of its big coefficient, at most twice the horizon.
		wide := h.Tolerance * (exact.Margin + 2*float64(len(s.d.Tasks))*f.Horizon)
		bound := max(f.Vars[0].Lower, h.Bound-wide)
		if math.IsNaN(bound) {
			bound = f.Vars[0].Lower
		}
		if f.Whole {
			bound = math.Ceil(bound)
		}
		a.bound = min(horizon, f.Makespan(bound))
	}
	return a, nil
}
