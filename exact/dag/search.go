// SPDX-License-Identifier: MIT

package dag

import (
	"errors"
	"fmt"
	"math"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/exact/internal/engine"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// Search is the exact search for DAG without contention:
//
//  1. list scheduling and local search (dagheur.BestPlan) find a schedule,
//  2. bounds by paths and the machines' time close many instances at once,
//  3. above kernelAlone tasks neighbourhoods improve the schedule for some seconds,
//  4. the learning kernel looks for better ones, and proves the bound (kernelModel;
//     on identical machines without data in turns with cumulativeModel).
//
// Under contention the makespan without it is a lower bound for any schedule. The same machines and orders, played
// without contention, end no later: a transfer's rate is never above its path's rate (see model.TransferModel), and a
// task never starts before its data are there. So the search proves that bound. The schedule is the better one of
// dagheur.Improve's and of the plan without contention and, on small instances, of the best from a search over all
// plans (contended).
//
// It is any-time: when ctx or the time limit ends, the result carries the best schedule and the bound proved so far.
// On machines that run several tasks at once the kernel decides machines and starts; neighbourhoods and contended are
// left out.
//
// What is proved doesn't depend on the number of threads. A node is a conflict of the kernel, from which a nogood is
// learned. Instances of more than maxPairs pairs of tasks on machines get the schedule and the bounds without search.
var Search = engine.Engine[*model.DAG, deviceSet]{ID: "search", Parts: devices, Learns: true, Work: work}

// Kernel is Search without bounds that a proof log doesn't cover: its claims can be written as a proof and replayed
// (Settings.Proof).
var Kernel = engine.Engine[*model.DAG, deviceSet]{ID: "kernel", Parts: devices, Learns: true, Proof: true,
	Work: func(r *engine.Run, d *model.DAG, off deviceSet, without lcg.Device) error {
		return work(r, d, off|devUnproved, without)
	}}

func work(r *engine.Run, d *model.DAG, off deviceSet, without lcg.Device) error {
	free := d.WithoutContention()
	x := &dagSearch{Run: r, d: free, g: view.Shared(r.Ctx, free, view.OfDAG), off: off, without: without}
	if start, ok := r.Set.Start.(*model.Schedule); ok && start != nil {
		// It is for d; its plan serves without contention as well.
		if _, err := d.MachineOf(start); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		plan := *start
		plan.TransferModel = ""
		r.Set.Start = &plan
	}
	first, err := dagplay.Start(x.g, func(effort int64) bool { return meter.Stop(r.Ctx, effort) })
	if err != nil {
		return nowhere(r, err)
	}
	if math.IsInf(dagplay.Ideal(x.g, x.poor()), 1) {
		x.first = &first
	}
	if d.Transfers() == model.TransferIdeal {
		x.beside = r.Set.Others != nil && r.Set.Start != nil
		if err := x.run(); err != nil {
			return err
		}
		if err := r.SetSolution(d, x.schedule()); err != nil {
			return err
		}
	} else if err := x.contended(d); err != nil {
		return err
	}
	r.SetBound(d.Metrics()[0], x.lower, r.Set.GapLimit())
	return nil
}

// nowhere stores that there is no schedule, if the error of a first plan says so.
func nowhere(r *engine.Run, err error) error {
	if !errors.Is(err, dagplay.ErrNowhere) {
		return err
	}
	if r.Set.Proof != nil {
		return fmt.Errorf("%w: proofs are of makespans, and this instance has no schedule", model.ErrUnsupported)
	}
	r.Infeasible("on whatever machines the tasks run, some of their data have no path")
	return err
}

// dagSearch is the state of one run without contention.
type dagSearch struct {
	*engine.Run
	d         *model.DAG
	g         *view.Graph
	off       deviceSet
	without   lcg.Device    // devices of the kernel switched off
	beside    bool          // the heuristics run beside it
	steps     int           // of the local search; 0: by the instance's size
	conflicts int64         // most of the kernel; 0: no limit
	first     *dagplay.Plan // instead of all tasks on the first machine, where these can't be there; nil: they can
	plan      dagplay.Plan
	upper     float64 // its makespan
	lower     float64 // proved
}

// poor returns a plan that is made in no time.
func (s *dagSearch) poor() dagplay.Plan {
	if s.first != nil {
		return *s.first
	}
	return dagplay.OnMachine(s.g, 0)
}

func (s *dagSearch) schedule() *model.Schedule {
	r := dagplay.NewReplay(s.g)
	r.Run(s.plan, nil)
	return s.d.Schedule(s.plan.Machine, r.Start, r.Sent)
}

func (s *dagSearch) run() error {
	if s.g.Tasks == 0 {
		s.plan = dagplay.Plan{Order: make([][]int32, s.g.Machines)}
		if s.Set.Proof != nil {
			return s.kernel()
		}
		return nil
	}
	s.lower = max(s.lower, dagbounds.Lower(s.Ctx, s.d, s.g))
	steps := s.steps
	if steps == 0 {
		steps = 2000 + 100*s.g.Tasks
	}
	if s.off&devLocalSearch != 0 || s.beside {
		steps = 0
	}
	// Round the bound up before any heuristic aims at it: none with the goal 263.5 ends at 264.
	if s.Set.Proof == nil && s.kernelTakes() {
		s.roundUp(s.g.Ticks(dagplay.NewReplay(s.g).Run(s.poor(), nil)))
	}
	if s.off&devStart != 0 {
		s.plan = s.poor()
		s.upper = dagplay.NewReplay(s.g).Run(s.plan, nil)
	} else {
		var err error
		// Rounding may leave a schedule that meets a bound a little above it.
		if s.plan, s.upper, err = dagheur.BestPlan(s.Run, s.d, s.g, steps, s.lower*(1+1e-9)); err != nil {
			return err
		}
	}
	if s.Set.Proof == nil && s.closed() {
		return nil
	}
	for {
		before := s.upper
		if err := s.kernel(); err != nil || s.off&devStart == 0 || s.closed() || s.upper > before/2 {
			return err
		}
		// Ticks are made for the makespan at hand: a much better one asks for finer ones.
	}
}

// neighbourhoods improves the plan by dagheur.Neighbourhoods, up to the deadline if
// nothing else is to be done and there is one.
func (s *dagSearch) neighbourhoods(alone bool) {
	if s.off&devLocalSearch != 0 || s.off&devStart != 0 || s.beside {
		return
	}
	conflicts := int64(3000) // some seconds
	if _, limited := s.Ctx.Deadline(); limited && alone {
		conflicts = 0
	}
	s.plan, s.upper = dagheur.Neighbourhoods(s.Ctx, s.g, s.plan, s.lower, s.Set.Seed, conflicts, func(p dagplay.Plan, makespan float64, _ int64) {
		s.plan, s.upper = p, makespan
		s.progress()
	})
}

// news takes the plan of a schedule that another solver has found, if it is better than the known one.
func (s *dagSearch) news() bool {
	schedule, _ := s.News(s.upper)
	x, ok := schedule.(*model.Schedule)
	if !ok || !s.beside {
		return false
	}
	p, err := dagplay.PlanOf(s.d, s.g, x)
	if err != nil {
		return false
	}
	makespan := dagplay.NewReplay(s.g).Run(p, nil)
	if makespan >= s.upper {
		return false
	}
	s.plan, s.upper = p, makespan
	return true
}

// closed reports whether the gap is small enough to end: a tenth below the gap at which a schedule counts as optimal,
// so that the reported gap, computed again, is small enough, too. Makespans above 10^6 ticks may therefore be a tick
// above the least one.
func (s *dagSearch) closed() bool {
	return s.upper <= s.lower || model.Gap(s.upper, s.lower) <= min(s.Set.GapLimit(), 1)*0.9
}

// better takes a plan if it is better than the known one.
func (s *dagSearch) better(p dagplay.Plan) {
	if makespan := dagplay.NewReplay(s.g).Run(p, nil); makespan < s.upper {
		s.plan, s.upper = p, makespan
		s.progress()
	}
}

func (s *dagSearch) progress() {
	s.Tell(s.upper, s.lower, func() model.Solution { return s.schedule() })
}
