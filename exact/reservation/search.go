// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

const (
	// firstConflicts is the limit on the kernel's conflicts in its first turn at a part. Each round has roundGrowth times
	// as many as the one before, and local search twice as many steps.
	firstConflicts = 1000
	roundGrowth    = 8
	// firstSteps is the share of the local search's steps that come before the bounds. If there are more jobs than
	// manyJobs and no other algorithm searches for plans, all of them do, as multipliers may take all the time that there
	// is: with 10,000 requests in 10 s, 2 % more PE-seconds.
	firstSteps = 1. / 8
	// nearGap is the share of the gap limit at which the search stops, as the
	// objective is added up in another order.
	nearGap = 0.9
)

// searcher is the state of one run. Values are in units of scale.weight.
type searcher struct {
	*engine.Run
	in      *model.Reservation
	t       *view.Reservation
	off     switches
	without lcg.Device
	scale   scale
	starts  []int64 // of the ticks' jobs, the best plan's; view.Declined
	total   float64 // of the parts
	parts   []*part
}

func newSearcher(r *engine.Run, in *model.Reservation, t *view.Reservation) *searcher {
	jobs, u := newJobs(t)
	s := &searcher{Run: r, in: in, t: t, scale: u, total: totalWeight(jobs), starts: make([]int64, len(t.Jobs))}
	for k := range s.starts {
		s.starts[k] = view.Declined
	}
	for _, group := range split(jobs) {
		s.parts = append(s.parts, newPart(group))
	}
	return s
}

// solve runs the search, and stores its results and proofs.
func (s *searcher) solve() error {
	if err := s.run(); err != nil {
		return err
	}
	return s.result()
}

func (s *searcher) run() error {
	var from []int64
	if b, ok := s.Set.Start.(*model.Bookings); ok && b != nil {
		var err error
		if from, err = bookings.TicksOf(s.in, s.t, b); err != nil {
			return fmt.Errorf("start: %w", err)
		}
	}
	offline := bookings.NewOffline(s.t, s.Set.Seed)
	steps := bookings.Steps(len(s.t.Jobs))
	if s.off&localSearch == 0 {
		offline.Construct(s.Ctx, from)
		first := float64(steps)
		if len(s.t.Jobs) <= manyJobs || s.Set.Others != nil {
			first *= firstSteps
		}
		s.improveOffline(offline, int(first), math.Inf(1))
	} else if from != nil {
		offline.Set(from)
	}
	s.adopt(offline)
	for _, p := range s.parts {
		if p.closed() || s.enough() || s.Ctx.Err() != nil && len(p.jobs) > manyJobs {
			continue
		}
		s.bound(p)
		if s.recordInfeasible(p, "the linear relaxation of the capacity") {
			return nil
		}
	}
	for conflicts := int64(firstConflicts); !s.enough() && s.Ctx.Err() == nil && s.open(); conflicts *= roundGrowth {
		if b, _ := s.News(s.objective(s.value())); b != nil {
			starts, err := bookings.TicksOf(s.in, s.t, b.(*model.Bookings))
			if err != nil {
				return err
			}
			offline.Set(starts)
			s.adopt(offline)
		}
		if s.off&localSearch == 0 {
			offline.Set(s.starts)
			s.improveOffline(offline, steps, s.objective(s.upper()))
			steps *= 2
			s.adopt(offline)
		}
		for _, p := range s.parts {
			if p.closed() || s.enough() || s.Ctx.Err() != nil {
				continue
			}
			if len(p.jobs) > kernelJobs {
				p.given = fmt.Sprintf("%d requests with windows that overlap are more than the kernel takes", len(p.jobs))
				continue
			}
			s.learn(p, conflicts)
			if s.recordInfeasible(p, "a search of all plans") {
				return nil
			}
		}
	}
	s.progress()
	return nil
}

// improveOffline is offline.Improve. It reports better plans soon if other engines run beside it.
func (s *searcher) improveOffline(offline *bookings.Offline, steps int, enough float64) {
	each := steps
	if s.Set.Others != nil {
		each = max(500, len(s.starts))
	}
	for steps > 0 && s.Ctx.Err() == nil {
		before := offline.Value()
		offline.Improve(s.Ctx, min(each, steps), enough)
		if steps -= each; steps > 0 && offline.Value() > before {
			s.adopt(offline)
		}
	}
}

// open reports whether there is a part that may yet be closed.
func (s *searcher) open() bool {
	return slices.ContainsFunc(s.parts, func(p *part) bool { return !p.closed() && p.given == "" })
}

// refutedAtOnce reports whether areas, energies or flows show that not all requests can be kept, and stores why. It
// refutes 59 of 72 drawn instances of the goal all, in a third of the time of the multipliers and the search, for a reason
// that a reader can check. For the other goals the bound by multipliers is the better one (94 instances).
func (s *searcher) refutedAtOnce() bool {
	if s.Ctx.Err() != nil {
		return false
	}
	// Free requests are left out: their weight may be so large that nothing is left of the others' digits.
	held := *s.t
	held.Free, held.FreeWeight = nil, 0
	for _, b := range resbounds.Quick(s.Ctx, &held) {
		if b.Infeasible {
			s.Infeasible(b.Reason)
			return true
		}
	}
	return false
}

// adopt makes a plan the best.
func (s *searcher) adopt(o *bookings.Offline) {
	s.starts = slices.Clone(o.Starts())
	for _, p := range s.parts {
		p.value = 0
		for k := range p.jobs {
			if s.starts[p.jobs[k].id] != view.Declined {
				p.value += p.jobs[k].weight
			}
		}
	}
	s.progress()
}

func (s *searcher) value() float64 {
	sum := 0.0
	for _, p := range s.parts {
		sum += p.value
	}
	return sum
}

func (s *searcher) upper() float64 {
	sum := 0.0
	for _, p := range s.parts {
		sum += p.upper
	}
	return max(sum, s.value())
}

// objective returns the objective of a value, with the requests that cost
// nothing.
func (s *searcher) objective(value float64) float64 {
	return value*s.scale.weight + s.t.FreeWeight
}

// partial reports whether the goal is all and the best plan doesn't have all
// requests.
func (s *searcher) partial() bool {
	return s.in.EffectiveGoal() == model.GoalAll && s.value() < s.total
}

// enough reports whether the gap asked for is reached. Then the search stops, with its current value and bound. It
// claims nothing of its own, as both give the status in the end (model.Result.SetBound).
func (s *searcher) enough() bool {
	if s.partial() {
		return false
	}
	value, upper := s.value(), s.upper()
	free := s.t.FreeWeight / s.scale.weight
	return upper <= value || model.Gap(value+free, upper+free) <= s.Set.GapLimit()*nearGap
}

func (s *searcher) progress() {
	incumbent := s.objective(s.value())
	if s.partial() {
		incumbent = math.NaN()
	}
	s.Tell(incumbent, s.objective(s.upper()), func() model.Solution {
		if b, err := bookings.BookTicks(s.in, s.t, s.starts); err == nil {
			return b
		}
		return nil
	})
}

// result stores the solution and the proof.
func (s *searcher) result() error {
	if s.Status == model.StatusInfeasible {
		addConflict(s.Ctx, s.in, s.Set.Seed, &s.Result)
		return nil
	}
	if !s.partial() {
		// Move jobs to earlier starts that fit, for the second objective.
		o := bookings.NewOffline(s.t, 0)
		o.Set(s.starts)
		o.ShiftLeft(s.Ctx)
		b, err := bookings.BookTicks(s.in, s.t, o.Starts())
		if err != nil {
			return err
		}
		if err := s.SetSolution(s.in, b); err != nil {
			return err
		}
	}
	s.SetBound(s.in.Metrics()[0], s.objectiveBound(), s.Set.GapLimit())
	s.Reason = meter.StopReason(s.Ctx)
	for _, p := range s.parts {
		s.Reason = cmp.Or(s.Reason, p.given)
	}
	s.Reason = cmp.Or(s.Reason, "what is left of the gap is rounding")
	return nil
}

// objectiveBound returns a bound on the objective. If weights are whole multiples of a common unit u, plans are worth
// whole numbers of u, and float64s add them up exactly. So upper ≤ value proves Σ w ≤ value for every plan. The plan's
// objective u·value + free is the optimum, and the bound is the objective as the result has it, added up in another
// order than here. If u is whole, so is the bound: no plan is worth more than ⌊upper⌋ units.
func (s *searcher) objectiveBound() float64 {
	upper := s.upper()
	if s.scale.grain > 0 && upper <= s.value() && s.Solution != nil {
		return s.Objective
	}
	bound := s.objective(upper)
	if whole := math.Floor(upper); s.scale.grain > 0 && s.scale.weight == math.Trunc(s.scale.weight) && s.t.FreeWeight == math.Trunc(s.t.FreeWeight) {
		return s.objective(whole) // float64s add whole weights up exactly
	}
	if s.in.EffectiveGoal().PESeconds() {
		bound *= 1 + float64(len(s.in.Requests)+4)*0x1p-52 // an objective may add up to more
	}
	return bound
}
