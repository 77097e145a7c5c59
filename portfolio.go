// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/run/panics"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// portfolio is the algorithm auto: all heuristics of a problem and the engines that
// Problem.Auto names take turns on one instance, with one best solution and one bound.
//
// The quick bounds that end within a short turn come first. Then the heuristics have a turn, the strongest first, in
// which most end. From the second round on the seeded ones, which improve the known solutions, and the engines have
// turns. It ends when the gap asked for is reached or the context ends, or when no worker has anything left to do.
//
// Turns are counted in effort, not in time (package meter). A worker's findings reach the others at the end of a round.
// So the result doesn't depend on the machine unless a limit stops the run, nor on how many have their turn at once.
// The learning kernel runs as many copies as there are threads (lcg.Team). They prove the same, but may find another of
// several optimal solutions. A turn is longer the more the worker's last ones have brought.
type portfolio struct {
	auto
	*attempt // it has run the cheapest heuristic

	stop  context.CancelFunc
	mu    sync.Mutex
	shut  bool // nothing is passed on any more
	r     model.Result
	told  model.Progress // to the caller
	began time.Time
	nodes int64          // of all engines, if their turns count
	known model.Progress // the workers' knowledge of each other
	lost  error          // the last panic of a worker
	left  []string       // notes on these
}

// turnLengths are the turns of auto, in effort (meter.Stop).
type turnLengths struct {
	first, most float64
	// heuristic is the first turn of heuristics, and half the second one: most end in it.
	heuristic int64
}

// turnsOfAuto is shorter in tests, so that workers learn of each other more often.
var turnsOfAuto = turnLengths{first: 20_000, most: 200_000, heuristic: 400_000}

const (
	turnGrowth = 1.5
	// creditPay is by how many turns the turn of the worker that has brought most is longer. With 3, batch of
	// 20 jobs, where the kernel raises the bound often and the search proves the optimum, took 1.5 times as long.
	creditPay = 1
	// strongest is the factor by which the turns of the first heuristic in the list that hasn't ended are longer than
	// the other turns. With 1, sinnen-sousa on 100,000 tasks ended after 8 s of auto instead of 3.
	strongest = 8
)

// worker is a solver that takes turns.
type worker struct {
	model.Algorithm
	seat   *meter.Seat
	best   model.Progress // reported in this turn, with the best solution
	bound  float64        // reported in this turn
	nodes  int64          // last reported
	taken  int64          // nodes at the end of its last turn that counts
	result model.Result   // at its end
	ended  bool
	credit float64 // of the gap, closed by its turns; the older ones count less
}

// auto is the algorithm auto with some of its workers, which are its devices.
type auto struct {
	*Problem
	workers []string
}

// Name implements model.Solver.
func (auto) Name() string { return "auto" }

// Solve implements model.Solver.
func (a auto) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return Solve(ctx, in, Options{Solver: a, Settings: set})
}

// Devices implements exact.Switchable.
func (a auto) Devices() (all []exact.Device) {
	for _, name := range a.workers {
		all = append(all, exact.Device{Name: name, Summary: named(name, a.Algorithms).Summary})
	}
	return all
}

// Without implements exact.Switchable.
func (a auto) Without(names ...string) (model.Solver, error) {
	for _, name := range names {
		if !slices.Contains(a.workers, name) {
			return nil, fmt.Errorf("auto for %s has no worker %q, it has %s", a.Kind, name, strings.Join(a.workers, ", "))
		}
	}
	left := slices.DeleteFunc(slices.Clone(a.workers), func(name string) bool { return slices.Contains(names, name) })
	return auto{a.Problem, left}, nil
}

// Name implements model.Solver.
func (a *portfolio) Name() string { return "auto" }

// Solve implements model.Solver.
func (a *portfolio) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	ctx, a.stop = set.WithTimeLimit(meter.WithThreads(ctx, set.Workers()))
	defer a.stop()
	a.began = time.Now()
	a.r = model.NewResult(a.Name(), set.Seed)
	if a.first.Solution != nil {
		a.adopt(a.first)
	}
	a.told = model.Progress{Incumbent: a.r.Objective, Bound: math.NaN()}
	if set.Start != nil {
		if err := a.begin(ctx, in, &set); err != nil {
			return a.r, err
		}
	}
	a.publish()
	first, later := a.seats(ctx, in, set)
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.shut = true
		for _, w := range append(first, later...) {
			w.seat.Leave()
		}
	}()
	quick := meter.NewSeat(ctx, func(ctx context.Context) error {
		return panics.Call(func() error { a.computeQuick(ctx); return nil })
	})
	defer quick.Leave()
	err := a.run(ctx, quick, first, later)
	if err == nil && ctx.Err() != nil && !a.over() {
		err = a.last(later)
	}
	a.r.Elapsed = time.Since(a.began)
	a.close(ctx, append(later, first...))
	if a.lost != nil && a.r.Solution == nil && !a.over() {
		return a.r, a.lost // which no other worker has made up for
	}
	return a.r, err
}

// leave notes that a worker has panicked. Its reports of that turn don't count; the others go on.
func (a *portfolio) leave(name string, err error) {
	a.lost = err
	a.left = append(a.left, fmt.Sprintf("%s was left out, it failed (%v): please report it", name, err))
}

// begin takes the start for the best solution if it is, and leaves it to the workers
// if it isn't feasible: some can repair it.
func (a *portfolio) begin(ctx context.Context, in model.Instance, set *model.Settings) error {
	report, err := verify.Verify(ctx, in, set.Start, verify.Options{Valid: true})
	if err != nil || !report.Feasible() {
		return nil // the context has ended, or it can only be repaired
	}
	start := model.NewResult("start", set.Seed)
	if err := start.SetSolution(in, set.Start); err != nil {
		return err
	}
	if a.r.Solution == nil || a.better(start) {
		a.adopt(start)
	}
	set.Start = nil // all start from the best
	return nil
}

// seats makes the workers.
func (a *portfolio) seats(ctx context.Context, in model.Instance, set model.Settings) (first, later []*worker) {
	if set.TimeLimit = 0; set.Effort > 0 { // which ends a run in the same place with any number of threads
		set.Threads = 1
	}
	set.Others = func() model.Progress { return a.known }
	idle := a.Idle(in)
	for _, name := range a.workers {
		if slices.Contains(idle, name) {
			continue
		}
		x := named(name, a.Algorithms)
		w := &worker{Algorithm: x, bound: math.NaN()}
		w.seat = meter.NewSeat(ctx, func(ctx context.Context) error {
			set := set
			if set.Progress = func(p model.Progress) { a.hear(w, p) }; a.known.Solution != nil && set.Start == nil && (x.Exact || x.Seeded) {
				set.Start = a.known.Solution
			}
			return panics.Call(func() (err error) { w.result, err = x.Solver.Solve(ctx, in, set); return err })
		})
		if x.Exact || x.Seeded {
			later = append(later, w)
		} else {
			first = append(first, w)
		}
	}
	return first, later
}

// hear keeps a worker's reports during its turn, and passes on the news.
func (a *portfolio) hear(w *worker, p model.Progress) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shut {
		return
	}
	sense := model.SenseOf(a.Instance)
	if p.Solution != nil && (w.best.Solution == nil || sense.Better(p.Incumbent, w.best.Incumbent)) {
		w.best = p
	}
	if math.IsNaN(w.bound) || sense.Better(w.bound, p.Bound) {
		w.bound = p.Bound
	}
	w.nodes = p.Nodes
	if p.Nodes = a.nodes; w.Exact {
		p.Nodes += w.nodes - w.taken
	}
	a.report(p)
}

// report passes news to the caller. a.mu is held.
func (a *portfolio) report(p model.Progress) {
	if a.set.Progress == nil {
		return
	}
	sense := model.SenseOf(a.Instance)
	if p.Solution == nil || !math.IsNaN(a.told.Incumbent) && !sense.Better(p.Incumbent, a.told.Incumbent) {
		p.Solution, p.Incumbent = nil, a.told.Incumbent
	}
	if math.IsNaN(p.Bound) || sense.Better(p.Bound, a.told.Bound) {
		p.Bound = a.told.Bound
	}
	p.Algorithm, p.Elapsed = a.Name(), time.Since(a.began)+a.first.Elapsed
	a.told = p
	a.set.Progress(p)
}

// tellResult passes the result so far to the caller if it is news. a.mu is held.
func (a *portfolio) tellResult() {
	if a.r.Objective != a.told.Incumbent && a.r.Solution != nil || a.r.Bound != a.told.Bound && !math.IsNaN(a.r.Bound) {
		a.report(model.Progress{Incumbent: a.r.Objective, Bound: a.r.Bound, Nodes: a.nodes, Solution: a.r.Solution})
	}
}

// publish gives the workers the known solution and bound.
func (a *portfolio) publish() {
	a.known = model.Progress{Algorithm: a.Name(), Incumbent: a.r.Objective, Bound: a.r.Bound, Solution: a.r.Solution}
}

// run gives turns until there is nothing left to do.
func (a *portfolio) run(ctx context.Context, quick *meter.Seat, first, later []*worker) error {
	gap := a.set.GapLimit()
	length := turnsOfAuto.first
	active := first
	for round, bounded := 0, false; (len(active) > 0 || round == 0) && ctx.Err() == nil; round++ {
		if !bounded {
			var err error
			before := quick.Spent
			bounded, err = quick.Turn(int64(turnsOfAuto.first) << min(round, 20)) // slow ones wait for the heuristics
			if err != nil {
				a.leave("the quick bounds", err)
			}
			meter.Stop(ctx, quick.Spent-before)
			if bounded && err == nil && ctx.Err() == nil {
				for _, b := range a.computeQuick(ctx) {
					if !b.Infeasible {
						before := a.r.Bound
						if a.r.SetBound(a.Instance.Metrics()[0], b.Value, gap); a.r.Bound != before && !math.IsNaN(a.r.Bound) {
							a.r.BoundOf = b.Name
						}
					} else if a.r.Solution == nil {
						return a.explain(later, b.Reason)
					}
				}
				a.mu.Lock()
				a.tellResult()
				a.mu.Unlock()
			}
		}
		most := 0.0
		for _, w := range active {
			most = max(most, w.credit)
		}
		if err := a.round(ctx, active, func(w *worker) int64 {
			if !w.Exact && !w.Seeded {
				turn := turnsOfAuto.heuristic << min(round, 10)
				if w == active[0] { // half a schedule is of no use: the first comes to its end
					turn *= strongest
				}
				return turn
			}
			if most == 0 {
				return int64(length)
			}
			return int64(length * (1 + creditPay*w.credit/most))
		}); err != nil || a.over() || ctx.Err() != nil {
			return err
		}
		a.publish()
		length = min(length*turnGrowth, turnsOfAuto.most)
		active = slices.DeleteFunc(slices.Clone(active), func(w *worker) bool { return w.ended })
		if round == 0 {
			active = append(active, later...)
		}
	}
	return nil
}

// last takes the unfinished work of the seeded heuristics that a limit has interrupted: a half schedule is completed.
func (a *portfolio) last(workers []*worker) error {
	for _, w := range workers {
		if w.Exact || w.ended {
			continue
		}
		var err error
		if w.ended, err = w.seat.Last(); !w.ended {
			continue
		}
		switch {
		case errors.As(err, new(*panics.Panic)):
			a.leave(w.Name, err)
		case err == nil:
			if err := a.adoptFindings(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// explain stores that there is no solution, in the words of the default engine, which may know more than why.
func (a *portfolio) explain(engines []*worker, why string) (err error) {
	a.r.Status, a.r.Reason = model.StatusInfeasible, why
	k := slices.IndexFunc(engines, func(w *worker) bool { return w.Name == a.Default })
	if k < 0 {
		return nil
	}
	w := engines[k]
	for !w.ended && err == nil {
		w.ended, err = w.seat.Turn(int64(turnsOfAuto.most))
	}
	if panics.PassPanic(err); err == nil && w.result.Status == model.StatusInfeasible {
		return a.adoptFindings(w)
	}
	return err
}

// over reports whether the result is final.
func (a *portfolio) over() bool {
	return a.r.Status == model.StatusOptimal || a.r.Status == model.StatusInfeasible
}

// round gives each worker a turn, to as many at once as there are threads. It takes their findings in their order,
// until one of them ends the run: the findings of later ones don't count.
func (a *portfolio) round(ctx context.Context, workers []*worker, length func(*worker) int64) (err error) {
	rested := make([]chan error, len(workers))
	for k := range rested {
		rested[k] = make(chan error, 1)
	}
	spent := make([]int64, len(workers))
	turn := func(k int) {
		var err error
		if w := workers[k]; ctx.Err() == nil {
			before := w.seat.Spent
			w.ended, err = w.seat.Turn(length(w))
			spent[k] = w.seat.Spent - before
		}
		rested[k] <- err
	}
	threads := a.set.Workers()
	if threads > 1 {
		go meter.Each(ctx, len(workers), turn)
	}
	for k, w := range workers {
		if threads == 1 {
			turn(k) // not before it is known whether the one before has ended all
		}
		switch told := <-rested[k]; {
		case errors.Is(told, model.ErrUnsupported):
		case errors.As(told, new(*panics.Panic)):
			a.leave(w.Name, told)
		case told != nil:
			err = told
		case errors.Is(context.Cause(ctx), meter.ErrSpent): // with one thread it had no turn any more
		case err == nil && !a.over():
			err = a.adoptFindings(w)
		}
		meter.Stop(ctx, spent[k]) // auto may itself be one of the solvers that take turns
		if err != nil || a.over() {
			a.stop()
		}
	}
	return err
}

// adoptFindings takes a worker's findings of its turn.
func (a *portfolio) adoptFindings(w *worker) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	sense, gap := model.SenseOf(a.Instance), a.set.GapLimit()
	before := a.r
	told := w.result
	if !w.ended {
		told = model.NewResult(w.Name, a.set.Seed)
		told.Nodes = w.nodes
		if w.best.Solution != nil {
			if err := told.SetSolution(a.Instance, w.best.Solution); err != nil {
				return err
			}
		}
		told.SetBound(a.Instance.Metrics()[0], w.bound, gap)
	}
	if w.Exact {
		a.nodes += told.Nodes - w.taken
		w.taken = told.Nodes
	}
	if err := contradiction(a.Instance, a.r, told); err != nil {
		return err
	}
	if told.Status == model.StatusInfeasible {
		a.r = told
		a.r.Algorithm = a.Name()
		return nil
	}
	bound, evidence := a.r.Bound, a.r.Evidence
	if told.Solution != nil && (a.r.Solution == nil || a.better(told) || a.r.SolutionOf == w.Name && told.Objective == a.r.Objective) {
		a.adopt(told)
	}
	if math.IsNaN(bound) || sense.Better(bound, told.Bound) {
		if bound, evidence = told.Bound, told.Evidence; !math.IsNaN(bound) {
			a.r.BoundOf = w.Name
		}
	}
	a.r.Bound, a.r.Evidence = math.NaN(), nil
	a.r.SetBound(a.Instance.Metrics()[0], bound, gap)
	a.r.Evidence = evidence
	w.best, w.bound = model.Progress{}, math.NaN()
	w.credit = w.credit/2 + brought(sense, before, a.r)
	a.tellResult()
	return nil
}

// adopt makes a result's solution the best.
func (a *portfolio) adopt(r model.Result) {
	a.r.Solution, a.r.Objective, a.r.SecondObjective, a.r.Status = r.Solution, r.Objective, r.SecondObjective, model.StatusFeasible
	a.r.SolutionOf, a.r.Details = r.Algorithm, r.Details
}

// better reports whether a result's solution is better than the best so far.
func (a *portfolio) better(r model.Result) bool {
	m := a.Instance.Metrics()
	return r.Value(m).Better(a.r.Value(m))
}

// brought returns which part of the gap a turn has closed; without a bound, by which part
// the objective has improved.
func brought(sense model.Sense, before, after model.Result) float64 {
	switch {
	case before.Solution == nil:
		return 1
	case math.IsNaN(before.Bound):
		return min(1, model.Gap(before.Objective, after.Objective))
	case before.Objective == before.Bound:
		return 0
	}
	was, is := math.Abs(before.Objective-before.Bound), math.Abs(after.Objective-after.Bound)
	return max(0, 1-is/was)
}

// close completes the result when all have left.
func (a *portfolio) close(ctx context.Context, workers []*worker) {
	a.r.Nodes = a.nodes
	if a.over() {
		if a.r.Status == model.StatusOptimal {
			a.r.Reason = strings.Join(a.left, "; ")
		}
		return
	}
	why := meter.StopReason(ctx)
	for _, w := range workers {
		if why == "" && w.ended {
			why = w.result.Reason
		}
	}
	if why != "" {
		a.left = append(a.left, why)
	}
	a.r.Reason = strings.Join(a.left, "; ")
}
