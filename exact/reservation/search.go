package reservation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gapwise/gapwise/bounds"
	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	"github.com/gapwise/gapwise/exact"
	resheur "github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/model"
)

// Search is the native exact search for Reservation, on counts of
// PEs (see resheur.Number):
//
//  1. a plan by local search (resheur.Offline),
//  2. bounds by areas and windows (resbounds.Quick),
//  3. the instance is cut where no window goes on, and each part bounded by
//     prices of the PEs (prices, rentals),
//  4. in turn with more local search, a search of each part over partial plans
//     in the order of time (sweep), forwards and backwards, for plans of one value after another from the
//     bound down, with windows narrowed to what such plans may do (narrow), first with
//     few nodes, then with more, until the gap is closed.
//
// For the goal all, infeasibility is proved by the bounds or by the sweep;
// the result then names a minimal set of requests in conflict.
//
// It is any-time: when ctx or the time limit ends, the result carries the best
// plan and the bound proved by then. The solution doesn't depend on the number
// of threads: one is used. Memory is bounded by some 2 GB.
type Search struct {
	phase string // "sweep": without local search, for audits; "": all of the search
}

// Name is "search", and the phase if it is one alone.
func (s Search) Name() string { return exact.SearchName(s.phase) }

// Solve implements model.Solver.
func (s Search) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(s.Name(), set.Seed)
	v, ok := in.(*model.Reservation)
	if !ok {
		return r, fmt.Errorf("search: %w: it doesn't solve %s instances", model.ErrUnsupported, in.Kind())
	}
	began := time.Now()
	limited, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	x := &reservationSearch{ctx: limited, in: v, t: resbounds.NewTicks(v), set: set, began: began, bare: s.phase == "sweep"}
	if err := x.run(); err != nil {
		return r, fmt.Errorf("search: %w", err)
	}
	r.Nodes = x.nodes
	if x.infeasible != "" {
		r.Status, r.Reason = model.StatusInfeasible, x.infeasible
		var err error
		r.Conflict, err = reservationConflict(limited, v, set)
		if errors.Is(err, errConflictNotMinimal) {
			r.Reason += "; " + err.Error()
		} else if err != nil {
			return r, fmt.Errorf("search: %w", err)
		}
		r.Elapsed = time.Since(began)
		return r, nil
	}
	value := x.value()
	if v.EffectiveGoal() != model.GoalAll || value >= x.total {
		b, err := resheur.BookTicks(v, x.t, x.tidy())
		if err != nil {
			return r, fmt.Errorf("search: %w", err)
		}
		if err := r.SetSolution(v, b); err != nil {
			return r, fmt.Errorf("search: %w", err)
		}
	}
	bound := x.upper()*x.units.weight + x.always
	if v.EffectiveGoal() == model.GoalPESeconds {
		bound *= 1 + float64(len(v.Requests)+4)*0x1p-52 // an objective may add up to more
	}
	if x.upper() <= value && r.Solution != nil {
		bound = r.Objective // the same but for the order of adding up
	}
	r.SetBound(model.Maximise, bound, set.GapLimit())
	if r.Status != model.StatusOptimal {
		r.Reason = exact.StopReason(limited)
	}
	r.Elapsed = time.Since(began)
	return r, nil
}

// reservationSearch is the state of one run. Values are in units.
type reservationSearch struct {
	ctx        context.Context
	in         *model.Reservation
	t          *resbounds.Ticks
	set        model.Settings
	began      time.Time
	units      sweepUnits
	starts     []int64 // of the ticks' jobs, the best plan's
	always     float64 // what costs nothing
	total      float64 // of the parts
	parts      []*sweepPart
	other      float64 // a bound of another kind
	infeasible string
	nodes      int64
	off        sweepRule // rules that tests turn off
	bare       bool      // without local search
}

// sweepPart is jobs that share PEs with no others.
type sweepPart struct {
	jobs         []sweepJob
	value, upper float64
	total        float64
	prices       *prices
	rents        *rentals // nil without rents of each job's own
	done         bool     // value and upper are close enough
}

func (s *reservationSearch) run() error {
	var from []int64
	if b, ok := s.set.Start.(*model.Bookings); ok && b != nil {
		var err error
		if from, err = resheur.TicksOf(s.in, s.t, b); err != nil {
			return fmt.Errorf("start: %w", err)
		}
	}
	jobs, units := sweepJobs(s.t)
	s.units, s.total, s.other = units, worth(jobs), math.Inf(1)
	quick := []bounds.Bound{}
	if s.ctx.Err() == nil {
		// Without what is free: its weight may be so large that nothing is left of the others' digits.
		others := *s.t
		others.Free, others.FreeWeight = nil, 0
		quick = resbounds.Quick(&others)
	}
	for _, b := range quick {
		if b.Infeasible {
			s.infeasible = b.Reason
			return nil
		}
		s.other = min(s.other, b.Value)
	}
	offline := resheur.NewOffline(s.t, s.set.Seed)
	if !s.bare {
		offline.Construct(s.ctx, from)
	}
	steps := resheur.ClairvoyantSteps(len(s.t.Jobs))
	first := steps / 8
	if len(jobs) > fewJobs {
		first = steps // prices may take all the time there is
	}
	if s.bare {
		first, steps = 0, 0
	}
	offline.Improve(s.ctx, first, math.Inf(1))
	s.always = s.t.FreeWeight
	for _, part := range sweepParts(jobs) {
		p := &sweepPart{jobs: part, total: worth(part)}
		p.upper = p.total
		s.parts = append(s.parts, p)
	}
	// Its rounding is some 2^-53 of the total for each job, and a value is a whole number of grains.
	s.other = s.other/units.weight + (1e-12+float64(len(jobs))*0x1p-50)*s.total
	if units.grain > 0 {
		s.other = math.Floor(s.other + 1e-6)
	}
	s.take(offline)
	for _, p := range s.parts {
		if p.closed() || s.enough() {
			continue
		}
		if err := s.root(p); err != nil {
			return err
		}
		if s.failed(p, "the linear relaxation over sets of requests that may run together") {
			return nil
		}
	}
	for limit := int64(10_000); !s.enough() && s.ctx.Err() == nil; limit *= 8 {
		offline.Set(s.starts)
		offline.Improve(s.ctx, steps, s.upper()*units.weight+s.always)
		steps *= 2
		s.take(offline)
		for _, p := range s.parts {
			if p.closed() || s.enough() || s.ctx.Err() != nil {
				continue
			}
			if len(p.jobs) > fewJobs {
				s.rent(p)
			}
			for _, backwards := range [...]bool{false, true} {
				s.attempt(p, limit, backwards)
			}
			if s.failed(p, "a search of all plans") {
				return nil
			}
		}
	}
	s.progress()
	return nil
}

// take makes a plan the best.
func (s *reservationSearch) take(o *resheur.Offline) {
	s.starts = slices.Clone(o.Starts())
	for _, p := range s.parts {
		p.value = 0
		for k := range p.jobs {
			if s.starts[p.jobs[k].id] != resheur.Declined {
				p.value += p.jobs[k].weight
			}
		}
	}
	s.progress()
}

func (p *sweepPart) closed() bool { return p.done || p.upper <= p.value }

// impossible reports whether not all of a part's jobs fit, if they have to.
func (p *sweepPart) impossible(s *reservationSearch) bool {
	return s.in.EffectiveGoal() == model.GoalAll && p.upper < p.total
}

// failed notes that not all of a part's jobs fit, if they have to.
func (s *reservationSearch) failed(p *sweepPart, by string) bool {
	if !p.impossible(s) {
		return false
	}
	first, last := p.span()
	s.infeasible = fmt.Sprintf("the %d requests with windows between %g s and %g s can't all be kept, by %s",
		len(p.jobs), float64(first)/s.t.PerSecond(), float64(last)/s.t.PerSecond(), by)
	return true
}

// span is from the first ready time to the last due time.
func (p *sweepPart) span() (first, last int64) {
	first = p.jobs[0].ready
	for i := range p.jobs {
		last = max(last, p.jobs[i].due())
	}
	return first, last
}

func (s *reservationSearch) value() float64 {
	sum := 0.0
	for _, p := range s.parts {
		sum += p.value
	}
	return sum
}

func (s *reservationSearch) upper() float64 {
	sum := 0.0
	for _, p := range s.parts {
		sum += p.upper
	}
	return max(min(sum, s.other), s.value())
}

// enough reports whether the gap asked for is reached: the search stops then, with the value and the bound that it
// has. It claims nothing of its own, as the status is found by both in the end (model.Result.SetBound); it stops at 0.9 of the
// limit since the objective is added up in another order.
func (s *reservationSearch) enough() bool {
	value, upper := s.value(), s.upper()
	if s.in.EffectiveGoal() == model.GoalAll && value < s.total {
		return false
	}
	return upper <= value || model.Gap(value+s.always/s.units.weight, upper+s.always/s.units.weight) <= s.set.GapLimit()*0.9
}

func (s *reservationSearch) progress() {
	if s.set.Progress == nil {
		return
	}
	p := model.Progress{Algorithm: "search", Incumbent: s.value()*s.units.weight + s.always, Bound: s.upper()*s.units.weight + s.always,
		Nodes: s.nodes, Elapsed: time.Since(s.began)}
	if s.in.EffectiveGoal() == model.GoalAll && s.value() < s.total {
		p.Incumbent = math.NaN()
	}
	s.set.Progress(p)
}

// tidy is the best plan with jobs moved to earlier starts where they fit, for the second
// objective.
func (s *reservationSearch) tidy() []int64 {
	o := resheur.NewOffline(s.t, 0)
	o.Set(s.starts)
	o.ShiftLeft(s.ctx)
	return o.Starts()
}

// slack is more than the rounding errors of bounds by the part's prices, and than what rounding up
// its weights adds (weightStep).
func (p *sweepPart) slack() float64 {
	slack := max(1e-10, float64(len(p.jobs))*0x1p-47) * p.total
	if p.prices != nil {
		slack = max(slack, 4*p.prices.rounding) // others made of them are much alike
	}
	return slack
}

// grainOf is what all values of a part are multiples of, as far as bounds can tell them apart: 0 if a grain
// isn't four times as much as the slack.
func (s *reservationSearch) grainOf(p *sweepPart) float64 {
	if p.slack() >= s.units.grain/4 || s.off&sweepGrainRule != 0 {
		return 0
	}
	return s.units.grain
}

// floor is a bound rounded down to what a plan may be worth. All plans are worth value ≤ bound + slack, as sums are rounded by less than
// the slack; and value is a multiple of the grain, so it is at most the last multiple there.
func (s *reservationSearch) floor(p *sweepPart, bound float64) float64 {
	bound += p.slack()
	if grain := s.grainOf(p); grain > 0 {
		bound = math.Floor(bound/grain) * grain
	}
	return bound
}

// attempt sweeps a part for better plans, within a limit of nodes for each
// value looked for, with time running forwards or backwards.
//
// A sweep to its end without a plan of the target shows value < target for all plans. Targets are multiples of the
// grain, as is each value, so value ≤ target - grain is a bound (target itself without grains). What is better by less than half the gap
// asked for isn't looked for: the step from the best value to the next target, too, has to be whole grains, or else
// target - grain lies below a value that a plan may have.
func (s *reservationSearch) attempt(p *sweepPart, limit int64, backwards bool) {
	grain := s.grainOf(p)
	least := max(grain, 4*p.slack())
	if s.off&sweepStopRule == 0 {
		least = max(least, s.set.GapLimit()/2*p.value)
	}
	if grain > 0 {
		least = math.Floor(least/grain) * grain
	}
	for !p.closed() && !p.impossible(s) && !s.enough() && s.ctx.Err() == nil {
		gap := p.upper - p.value
		target := p.value + max(least, gap*0.75)
		if grain > 0 {
			target = math.Ceil(target/grain) * grain
		}
		if s.in.EffectiveGoal() == model.GoalAll {
			target = p.total
		}
		whole, upper := true, target-grain
		steps := narrowSteps
		if s.off&sweepNarrowRule != 0 {
			steps = 0
		}
		if prices, ok := narrow(s.ctx, p.prices, target, p.slack(), steps); ok {
			if backwards {
				prices = prices.mirror()
			}
			w := newSweep(s.ctx, s.units.pes, prices.jobs, prices)
			w.grain, w.step, w.slack, w.limit, w.best, w.target, w.off = grain, least, p.slack(), limit, p.value, target, s.off
			whole = w.run()
			s.nodes += w.nodes
			if w.bestAt >= 0 {
				p.value = w.best
				for k := range p.jobs {
					s.starts[p.jobs[k].id] = resheur.Declined
				}
				for at := w.bestAt; at >= 0; at = w.trace[at].before {
					x := w.trace[at]
					if j := &w.jobs[x.job]; backwards {
						s.starts[j.id] = -x.start - j.length
					} else {
						s.starts[j.id] = x.start
					}
				}
			}
			if upper = w.target - grain; !whole {
				upper = s.floor(p, w.bound())
			}
			target = w.target
		}
		p.upper = max(p.value, min(p.upper, upper))
		p.done = whole && target <= p.value+least
		s.progress()
		if !whole || s.in.EffectiveGoal() == model.GoalAll {
			return
		}
	}
}
