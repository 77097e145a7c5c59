// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"math"
	"slices"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// These are the temperatures of the cycles of a search on bookings.
const (
	bookedHot, bookedCold = 0.01, 0.0003 // temperatures at the beginning and the end, of the makespan
	worthJudging          = 0.001        // by which a schedule is better than the last one that was judged
)

// startBooked runs the first cycles.
func (s *search) startBooked() {
	effort := s.firstEffort()
	if s.machines != nil && !meter.Stop(s.Ctx, 1) {
		s.judgeSpread(s.machines)
	}
	s.spreadOut(effort / 8)
	for part := int64(16); part > 1; part /= 2 {
		s.annealBooked(effort / part)
	}
}

// firstEffort returns the effort of the first cycles together: up to about four seconds.
func (s *search) firstEffort() int64 {
	return min(int64(stepsOf(s.g))*int64(1+s.g.Tasks+len(s.g.Data))/5, 4_000_000)
}

// goOn runs cycles until the context ends or the makespan meets a quick bound, on small graphs until some bring
// nothing. The cycles are on estimates, on bookings and by replays in turns, each from the best schedule. Cycles of
// estimates and replays are longer when the one before has brought something, and else shorter. Cycles on bookings are
// longer after one that has brought nothing.
func (s *search) goOn() {
	effort, bound := s.firstEffort(), dagbounds.Lower(s.Ctx, s.d, s.g)
	spread, booked, steps := effort/8, effort/8, s.steps()/8
	gains := func(run func()) bool {
		before := s.lowest
		run()
		return s.lowest < before
	}
	// Rounding may leave a schedule that meets the bound a little above it.
	for stale := 0; s.lowest > bound*(1+1e-9) && !meter.Stop(s.Ctx, 1) && (stale < 5 || s.g.Tasks > fewTasks); stale++ {
		before := s.lowest
		if gains(func() { s.spreadOut(spread) }) {
			spread *= 2
		} else {
			spread = max(spread/2, 1000)
		}
		if !gains(func() { s.annealBooked(booked) }) {
			booked += booked/2 + 1000
		}
		if gains(func() { s.anneal(steps, 0) }) {
			steps *= 2
		} else {
			steps = max(steps/2, 200)
		}
		if s.lowest < before {
			stale = 0
		}
	}
}

// fewTasks is the number of tasks up to which goOn ends after some cycles that have brought
// nothing.
const fewTasks = 16

// spreadOut looks for machines by estimates (spread), from the best ones, and judges them.
func (s *search) spreadOut(effort int64) {
	if meter.Stop(s.Ctx, int64(s.g.Tasks+len(s.g.Data))/10) {
		return
	}
	x := newSpread(s.g, s.booker, s.best.Machine)
	x.anneal(s.Ctx, s.rng, effort)
	s.judgeSpread(x.machine)
}

// judgeSpread judges the schedule that books the tasks by their rank, on some machines.
func (s *search) judgeSpread(machine []int32) {
	s.judge(s.booker.set(byPriority(s.g, newBuilder(newCosts(s.g, nil)).upward()), machine))
}

// annealBooked is simulated annealing over orders and machines, from the best schedule's, on schedules that book links
// (booker). It makes some hundred thousand tries a second on 50 tasks. A try gives a task another machine, another
// place in the order, or both. Every other time the machine is a neighbour's: the machine of a task with which it
// exchanges data. The best are judged.
func (s *search) annealBooked(effort int64) {
	const workEach = 20_000 // between two looks at the context
	b := s.booker
	if meter.Stop(s.Ctx, 1) {
		return
	}
	value := b.set(s.orderOf(), s.best.Machine)
	best, judged := value, value
	order, machine := slices.Clone(b.order), slices.Clone(b.machine) // of the best
	for warmth, spent := -1.0, int64(0); spent < effort; {
		if b.work > workEach || warmth < 0 {
			used := b.effort()
			if spent += used; meter.Stop(s.Ctx, used+s.replay.Effort()) || s.news() {
				break
			}
			warmth = best * bookedHot * math.Pow(bookedCold/bookedHot, float64(spent)/float64(effort))
		}
		s.tried++
		limit := value - warmth*math.Log(1-s.rng.Float64())
		v, undo := s.tryBooked(limit)
		if v > limit {
			undo()
			continue
		}
		b.keep()
		if value = v; !less(v, best) {
			continue
		}
		best = v
		copy(order, b.order)
		copy(machine, b.machine)
		if best < judged*(1-worthJudging) {
			judged = best
			s.judge(best)
		}
	}
	if best < judged {
		s.judge(b.set(order, machine))
	}
}

// tryBooked changes a random task's machine, or place in the order, or both, and tries that. It returns the makespan
// and a function that undoes the change.
func (s *search) tryBooked(limit float64) (float64, func()) {
	g, b := s.g, s.booker
	b.work += 10
	t := int32(s.rng.IntN(g.Tasks))
	place, machine := b.place[t], b.machine[t]
	kind := s.rng.IntN(3)
	if kind > 0 {
		b.machine[t] = otherMachine(g, b.machine, t, s.rng)
	}
	if kind < 2 {
		first, last := b.room(t)
		b.move(t, first+int32(s.rng.IntN(int(last-first+1))))
	}
	moved := b.machine[t] != machine
	if moved {
		b.tails()
	}
	undo := func() {
		b.move(t, place)
		if b.machine[t] = machine; moved {
			b.tails()
		}
	}
	if !moved && b.place[t] == place || !g.Runs(t, b.machine[t]) {
		return math.Inf(1), undo
	}
	return b.try(min(place, b.place[t]), limit, nil), undo
}

// judge takes the best of three under the transfer model: the booker's schedule, of the given makespan, its plan, or
// the plan with transfers in booked order. If that is the best so far, judge reports it.
func (s *search) judge(value float64) {
	g, b, before := s.g, s.booker, s.lowest
	x := times{make([]float64, g.Tasks), make([]float64, len(g.Data))}
	b.try(0, math.Inf(1), &x)
	p := dagplay.NewPlan(g, slices.Clone(b.machine), x.start, b.tried.finish)
	s.adoptIfBetter(state{Plan: p})
	s.adoptIfBetter(state{Plan: p, holds: s.holdsOf(x.sent, p)})
	if g.Parts() > 1 { // acknowledgements of others make a booked transfer longer
		value = s.replay.RunFrom(p, x.sent)
		x = times{slices.Clone(s.replay.Start), slices.Clone(s.replay.Sent)}
	}
	if less(value, s.lowest) {
		s.best, s.lowest, s.booked = state{Plan: p}, value, &x
	}
	if s.lowest < before {
		s.report(s.schedule)
	}
}

// report reports the best makespan, with its schedule.
func (s *search) report(schedule func() *model.Schedule) {
	s.Tell(s.lowest, math.NaN(), func() model.Solution { return schedule() })
}

// schedule returns the best schedule.
func (s *search) schedule() *model.Schedule {
	if s.booked != nil {
		return s.d.Schedule(s.best.Machine, s.booked.start, s.booked.sent)
	}
	s.replay.Run(s.best.Plan, s.best.holds)
	return s.d.Schedule(s.best.Machine, s.replay.Start, s.replay.Sent)
}

// orderOf returns the tasks of the best schedule by their start.
func (s *search) orderOf() []int32 {
	start := s.replay.Start
	if s.booked != nil {
		start = s.booked.start
	} else {
		s.replay.Run(s.best.Plan, s.best.holds)
	}
	order := slices.Clone(s.g.Order)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(start[a], start[b]) })
	return order
}

// news takes a schedule that another algorithm has found, if it is better than the best, and
// reports whether there was one.
func (s *search) news() bool {
	news, makespan := s.News(s.lowest)
	x, ok := news.(*model.Schedule)
	if !ok || !less(makespan, min(s.lowest, s.heard)) {
		return false
	}
	s.heard = makespan
	before := s.lowest
	return s.takeSchedule(x) == nil && s.takeTimes(x) == nil && s.lowest < before
}

// effort returns the effort of tries since it was last called, for meter.Stop.
func (b *booker) effort() int64 {
	effort := b.work / 100
	b.work -= effort * 100
	return effort
}
