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

// Search is the native exact search for Reservation, on counts of PEs (see
// bookings.Number):
//
//  1. a plan by local search (bookings.Offline),
//  2. the instance is cut where no window goes on, and each part bounded by a
//     Lagrangian relaxation of the capacity (relaxation),
//  3. in turn with more local search, a search of each part over partial plans in the order of time (sweep), forwards
//     and backwards. It looks for plans of one value after another from the bound down, first with few nodes, then with
//     more, until the gap is closed. From the second round on it takes turns with the learning kernel (kernelModel),
//     which closes crowds that sweeps don't, as they forget each dead end.
//
// For the goal all, infeasibility is proved by the bounds or by the sweep; the
// result then names a minimal set of requests in conflict.
//
// It is any-time: when ctx or the time limit ends, the result carries the best plan and the bound proved so far. The
// solution doesn't depend on the number of threads: one is used. Memory is bounded by some 2 GB.
var Search = engine.Engine[*model.Reservation, switches]{ID: "search", Parts: devices, Work: search}

func search(r *engine.Run, v *model.Reservation, off switches, _ lcg.Device) error {
	x := newSearcher(r, v, view.Shared(r.Ctx, v, view.OfReservation))
	x.off = off
	if v.EffectiveGoal() == model.GoalAll && x.refutedAtOnce() {
		return x.result()
	}
	return x.solve()
}

const (
	// firstNodes is the limit on the nodes of the first sweeps of a part; each round has nodesGrowth times as many as
	// the one before, and local search twice as many steps. A growth of 2 leaves one in 30 crowds of the plan
	// reservation-exact unproved in 4 s of CPU.
	firstNodes  = 10_000
	nodesGrowth = 8
	// Once the limit is kernelFrom, in the second round, a part goes to the learning kernel before it is swept. The
	// kernel gets a conflict for each kernelShare nodes of the limit. That takes some tenths of a second at first, a
	// tenth of the most that the sweeps of the round take.
	kernelFrom  = firstNodes * nodesGrowth
	kernelShare = 125
	// firstSteps is the share of the local search's steps that come before the bounds. If there are more jobs than
	// manyJobs, all of them do, as multipliers may take all the time that there is: with 10,000 requests in 10 s, 2 %
	// more PE-seconds.
	firstSteps = 1. / 8
	// nearGap is the share of the gap limit at which the search stops, as the
	// objective is added up in another order.
	nearGap = 0.9
)

// searcher is the state of one run. Values are in units of scale.weight.
type searcher struct {
	*engine.Run
	in     *model.Reservation
	t      *view.Reservation
	off    switches
	scale  scale
	starts []int64 // of the ticks' jobs, the best plan's; view.Declined
	total  float64 // of the parts
	parts  []*part

	prepare func(p *part) error        // before the first attempt at a part
	attempt func(p *part, limit int64) // looks for a better plan and bound of a part, for about so many nodes
}

func newSearcher(r *engine.Run, in *model.Reservation, t *view.Reservation) *searcher {
	jobs, u := newJobs(t)
	s := &searcher{Run: r, in: in, t: t, scale: u, total: totalWeight(jobs), starts: make([]int64, len(t.Jobs))}
	s.prepare, s.attempt = s.bound, s.sweeps
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
		if len(s.t.Jobs) <= manyJobs {
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
		if err := s.prepare(p); err != nil {
			return err
		}
		if s.recordInfeasible(p, "the linear relaxation of the capacity") {
			return nil
		}
	}
	for limit := int64(firstNodes); !s.enough() && s.Ctx.Err() == nil && s.open(); limit *= nodesGrowth {
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
			s.attempt(p, limit)
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

// sweeps looks for a better plan of a part and a better bound, by sweeps of at most limit nodes for each value. The
// learning kernel has its turn first from the second round on.
func (s *searcher) sweeps(p *part, limit int64) {
	conflicts := int64(0)
	if limit >= kernelFrom {
		conflicts = limit / kernelShare
	}
	s.turns(p, conflicts, limit)
}

// turns gives a part to the learning kernel, for so many conflicts, and then to sweeps of at most limit nodes. They
// share the best plan and the bound. The kernel keeps what it learned of the part for its next turn; sweeps start over.
func (s *searcher) turns(p *part, conflicts, limit int64) {
	if conflicts > 0 && len(p.jobs) <= kernelJobs && s.off&learning == 0 {
		s.learn(p, 0, 0, conflicts)
	}
	s.improve(p, limit, false)
	if s.off&bothDirections == 0 {
		s.improve(p, limit, true)
	}
}

// refutedAtOnce reports whether areas, energies or flows show that not all requests can be kept, and stores why. It
// refutes 59 of 72 drawn instances of the goal all, in a third of the time of the multipliers and sweeps, for a reason
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
