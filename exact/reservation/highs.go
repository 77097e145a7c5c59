package reservation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	"github.com/gapwise/gapwise/exact"
	resheur "github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// HiGHS solves a formulation of Reservation, as the clairvoyant sees
// it, by HiGHS.
//
// It starts from Settings.Start, moved to the left, or from a serial
// schedule that is better. What HiGHS calls optimal is believed when it also says that
// nothing better exists, asked with a row that demands it; that all requests can't be
// kept is believed when the most that can be kept are fewer. If it contradicts
// itself it is asked again, or nothing is claimed: version 1.10 is wrong now and then.
type HiGHS struct {
	// Formulation is a name of resbounds.Formulations; empty means auto.
	Formulation string
}

// Name is "highs" for the formulation auto and "highs-NAME" for the others.
func (s HiGHS) Name() string {
	if s.Formulation == "" || s.Formulation == "auto" {
		return "highs"
	}
	return "highs-" + s.Formulation
}

// Solve implements model.Solver. The proofs are HiGHS's, in floating-point
// arithmetic. What no formulation can hold is model.ErrUnsupported.
func (s HiGHS) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(s.Name(), set.Seed)
	v, ok := in.(*model.Reservation)
	if !ok {
		return r, fmt.Errorf("%s: %w: it doesn't solve %s instances", s.Name(), model.ErrUnsupported, in.Kind())
	}
	began := time.Now()
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	h := &reservationHiGHS{ctx: ctx, in: v, t: resbounds.NewTicks(v), set: set, r: &r, began: began, formulation: s.Formulation}
	err := h.run()
	r.Elapsed = time.Since(began)
	if err != nil {
		return r, fmt.Errorf("%s: %w", s.Name(), err)
	}
	return r, nil
}

// reservationHiGHS is a run of HiGHS.
type reservationHiGHS struct {
	ctx         context.Context
	in          *model.Reservation
	t           *resbounds.Ticks
	set         model.Settings
	r           *model.Result
	began       time.Time
	formulation string
	f           *resbounds.Model
	total       float64 // units of all jobs together
	upper       float64 // what HiGHS said they can weigh at most, widened
	best        []int64 // starts, nil without a solution
	units       float64 // their weight
}

// reservationAnswer is what HiGHS says of a model.
type reservationAnswer struct {
	status     highs.Status
	improved   bool    // there is a better solution than before, and it is s.best now
	infeasible bool    // HiGHS says that the model has no solution
	complete   bool    // it isn't stopped
	bound      float64 // in units, widened
}

func (s *reservationHiGHS) run() error {
	f, err := resbounds.Build(s.t, s.formulation)
	if err != nil {
		return err
	}
	s.f = f
	for _, w := range f.Weights {
		s.total += w
	}
	s.upper = s.total
	if err := s.first(); err != nil {
		return err
	}
	if s.t.Goal == model.GoalAll {
		return s.all()
	}
	return s.most()
}

// first keeps the better of the start solution and of a few serial schedules.
func (s *reservationHiGHS) first() error {
	var from []int64
	if b, ok := s.set.Start.(*model.Bookings); ok && b != nil {
		var err error
		if from, err = resheur.TicksOf(s.in, s.t, b); err != nil {
			return err
		}
	}
	_, err := s.better(s.t.ShiftLeft(s.serial(s.t, from)))
	return err
}

// serial is the best of some serial schedules and of the given one, if any.
func (s *reservationHiGHS) serial(t *resbounds.Ticks, from []int64) []int64 {
	o := resheur.NewOffline(t, s.set.Seed)
	o.Construct(s.ctx, from)
	return o.Starts()
}

// better keeps a solution that is better than the best so far. With the goal
// "all" others than a complete one are none.
func (s *reservationHiGHS) better(starts []int64) (bool, error) {
	if s.t.Check(starts) != nil || s.best != nil && s.f.Units(starts) <= s.units {
		return false, nil
	}
	b, err := resheur.BookTicks(s.in, s.t, starts)
	if err != nil {
		return false, err
	}
	s.best, s.units = starts, s.f.Units(starts)
	return true, s.r.SetSolution(s.in, b)
}

// all answers the goal "all".
func (s *reservationHiGHS) all() error {
	kept := func() error {
		s.r.SetBound(model.Maximise, s.r.Objective, s.set.GapLimit())
		return nil
	}
	if s.best != nil {
		return kept()
	}
	a, err := s.ask(s.f, nil)
	switch {
	case err != nil:
		return err
	case a.improved:
		return kept()
	case a.infeasible:
		return s.confirmInfeasible(kept)
	}
	s.r.SetBound(model.Maximise, s.value(s.total), s.set.GapLimit())
	if s.r.Reason = "stopped: " + a.status.String(); a.complete {
		s.r.Reason = "HiGHS's point is a solution to within its tolerances only"
	}
	return nil
}

// confirmInfeasible asks for the most requests that can be kept, until they are
// proved to be fewer than all.
func (s *reservationHiGHS) confirmInfeasible(kept func() error) error {
	loose := *s.t
	loose.Goal = model.GoalAccepted
	f, err := resbounds.Build(&loose, s.f.Formulation)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	enough := s.total - 0.5
	o := s.options()
	o.Progress = func(p highs.Progress) {
		s.report(p, s.total)
		if p.Bound+s.widening(f, exact.Tolerance) < enough {
			cancel()
		}
	}
	o.Start = f.Encode(s.serial(&loose, nil))
	h, err := highs.Solve(ctx, &f.Model, o)
	s.r.Nodes += h.Nodes
	if err != nil {
		return err
	}
	if h.Feasible {
		if starts, err := f.Decode(h.X); err == nil {
			if improved, err := s.better(starts); err != nil {
				return err
			} else if improved {
				return kept() // the first answer was wrong
			}
		}
	}
	if h.Status != highs.Infeasible && h.Bound+s.widening(f, h.Tolerance) < enough {
		s.r.Status, s.r.Reason = model.StatusInfeasible, "HiGHS found that not all requests can be kept"
		if s.r.Conflict, err = reservationConflict(s.ctx, s.in, s.set); errors.Is(err, errConflictNotMinimal) {
			s.r.Reason += "; " + err.Error()
			err = nil
		}
		return err
	}
	s.r.SetBound(model.Maximise, s.value(s.total), s.set.GapLimit())
	if s.r.Reason = "HiGHS says infeasible and contradicts itself"; s.ctx.Err() != nil {
		s.r.Reason = "HiGHS says infeasible; it was stopped before it confirmed that"
	}
	return nil
}

// most answers the goals that maximise.
func (s *reservationHiGHS) most() error {
	gap := s.set.GapLimit()
	for s.units < s.total {
		a, err := s.ask(s.f, nil)
		if err != nil {
			return err
		}
		if !a.complete || a.infeasible { // declining all is a solution
			s.bound(a.bound, gap)
			s.r.Reason = "stopped: " + a.status.String()
			return nil
		}
		// What the second question asks for.
		target := s.units * (1 + gap/2)
		if s.f.Whole {
			target = math.Floor(target) + 1
		}
		b, err := s.ask(s.f, &target)
		if err != nil {
			return err
		}
		if b.improved {
			continue // the first answer was wrong
		}
		if b.infeasible {
			if s.f.Whole {
				target--
			}
			s.bound(min(target, a.bound), gap)
		} else {
			s.bound(max(a.bound, b.bound), gap)
		}
		switch {
		case !b.infeasible && b.complete:
			s.r.Reason = "HiGHS contradicts itself"
		case !b.infeasible:
			s.r.Reason = "HiGHS was stopped before it confirmed its proof"
		case s.r.Status != model.StatusOptimal:
			s.r.Reason = "HiGHS says optimal; its bound, widened by its tolerance, leaves a gap"
		}
		return nil
	}
	s.bound(s.total, gap)
	return nil
}

// value is the objective of units.
func (s *reservationHiGHS) value(units float64) float64 {
	return units*s.f.Unit + s.t.FreeWeight
}

// bound stores a bound in units.
func (s *reservationHiGHS) bound(units, gap float64) {
	if s.f.Whole {
		units = math.Floor(units + 1e-6)
	}
	bound := s.r.Objective // nothing weighs more than the best
	if units > s.units {
		bound = s.value(units)
		if s.t.Goal == model.GoalPESeconds {
			bound *= 1 + 1e-12 // for the rounding of weights
		}
	}
	s.r.SetBound(model.Maximise, bound, gap)
}

func (s *reservationHiGHS) options() highs.Options {
	o := highs.Options{Threads: s.set.Workers(), Tolerance: exact.Tolerance}
	if s.set.GapLimit() > model.DefaultGap {
		o.Gap = s.set.GapLimit() / 2
	}
	return o
}

// report tells the progress; most is what the bound can't exceed.
func (s *reservationHiGHS) report(p highs.Progress, most float64) {
	if s.set.Progress == nil {
		return
	}
	x := model.Progress{Algorithm: s.r.Algorithm, Incumbent: math.NaN(), Bound: s.value(most), Nodes: s.r.Nodes + p.Nodes, Elapsed: time.Since(s.began)}
	if s.best != nil {
		x.Incumbent = s.r.Objective
		x.Bound = max(x.Bound, x.Incumbent)
	}
	s.set.Progress(x)
}

// widening is what a bound moves by before it is called one: each acceptance
// may be off by the tolerance.
func (s *reservationHiGHS) widening(f *resbounds.Model, tolerance float64) float64 {
	sum := 0.0
	for _, w := range f.Weights {
		sum += w
	}
	return tolerance * (exact.Margin + sum)
}

// ask solves the model, with a row that demands at least so many units if target
// isn't nil.
func (s *reservationHiGHS) ask(f *resbounds.Model, target *float64) (reservationAnswer, error) {
	m := f.Model
	o := s.options()
	if target != nil {
		var row []milp.Term
		for j := range m.Vars {
			if c := m.Vars[j].Cost; c != 0 {
				row = append(row, milp.Term{Var: j, Coef: c})
			}
		}
		m.Rows = append(m.Rows[:len(m.Rows):len(m.Rows)], milp.Row{Name: "better", Lower: *target, Upper: milp.Inf, Terms: row})
	} else if s.best != nil {
		o.Start = f.Encode(s.best)
	}
	optimise := s.t.Goal != model.GoalAll && target == nil
	o.Progress = func(p highs.Progress) {
		most := s.upper
		if optimise && p.Bound < most {
			most = p.Bound
		}
		s.report(p, most)
	}
	h, err := highs.Solve(s.ctx, &m, o)
	s.r.Nodes += h.Nodes
	a := reservationAnswer{status: h.Status, infeasible: h.Status == highs.Infeasible, bound: s.total}
	if err != nil {
		return a, err
	}
	a.complete = a.infeasible || h.Status == highs.Optimal
	if h.Feasible {
		starts, err := f.Decode(h.X)
		if err != nil && !errors.Is(err, model.ErrInfeasible) {
			return a, err
		}
		if err == nil {
			if a.improved, err = s.better(starts); err != nil {
				return a, err
			}
		}
	}
	if !a.infeasible && s.t.Goal != model.GoalAll && !math.IsNaN(h.Bound) {
		a.bound = min(s.total, h.Bound+s.widening(f, h.Tolerance))
	}
	if optimise {
		s.upper = a.bound
	}
	return a, nil
}
