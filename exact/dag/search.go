package dag

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/exact"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
)

// Search is the native exact search for DAG without contention:
//
//  1. list scheduling and local search (dagheur.BestPlan) find a schedule,
//  2. bounds by paths and the machines' time close many instances at once,
//  3. a beam search over partial schedules (levels) improves the schedule,
//  4. a search over assignments of tasks to machines (assigner) decides one
//     makespan after another, from the bound up,
//  5. where that reaches its limit of nodes, the levels are searched exactly.
//
// With phases 3 to 5 the learning kernel (Kernel) takes turns, which comes first
// (takeTurns). Beyond 128 tasks it is alone.
//
// Under contention the makespan without it is a lower bound for any schedule: the
// same machines and orders, played without contention, end no later, since a
// transfer's rate is never above its path's rate (see model.TransferModel) and a
// task never starts before its data are there. So the search proves that bound,
// and the schedule is the better of that of dagheur.Improve and of the plan without
// contention and, on small instances, the best of a search over all plans
// (contended).
//
// It is any-time: when ctx or the time limit ends, the result carries the best
// schedule and the bound proved by then. The solution doesn't depend on the
// number of threads. A node is a partial schedule, a partial assignment, or a
// conflict of the kernel.
type Search struct {
	phase string    // of phases, for audits; "": all of the search
	off   deviceSet // switched off, see Without
}

// Name returns "search", and the phase if it is one alone.
func (s Search) Name() string { return exact.SearchName(s.phase) }

// Solve implements model.Solver.
func (s Search) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	t := phases[s.phase]
	t.off |= s.off
	return solve(ctx, s.Name(), t, in, set)
}

// solve runs a search with some tuning.
func solve(ctx context.Context, name string, t tuning, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(name, set.Seed)
	d, ok := in.(*model.DAG)
	if !ok {
		return r, fmt.Errorf("%s: %w: it doesn't solve %s instances", name, model.ErrUnsupported, in.Kind())
	}
	began := time.Now()
	limited, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	free := d.WithoutContention()
	x := dagSearch{ctx: limited, name: name, d: free, g: free.Graph(), set: set, tuning: t, began: began}
	if start, ok := set.Start.(*model.Schedule); ok && start != nil {
		// It is for d; its plan serves without contention as well.
		if _, err := d.MachineOf(start); err != nil {
			return r, fmt.Errorf("%s: start: %w", name, err)
		}
		plan := *start
		plan.TransferModel = ""
		x.set.Start = &plan
	}
	if d.Transfers() == model.TransferIdeal {
		if err := x.run(); err != nil {
			return r, err
		}
		if err := r.SetSolution(d, x.schedule()); err != nil {
			return r, err
		}
	} else if err := x.contended(d, &r); err != nil {
		return r, err
	}
	r.Nodes = x.nodes
	r.SetBound(model.Minimise, x.lower, set.GapLimit())
	if r.Status != model.StatusOptimal && r.Reason == "" {
		r.Reason = x.reason
	}
	r.Elapsed = time.Since(began)
	return r, nil
}

// dagSearch is the state of one run without contention.
type dagSearch struct {
	ctx    context.Context
	name   string // of the engine
	d      *model.DAG
	g      *model.Graph
	set    model.Settings
	tuning tuning
	began  time.Time
	plan   dagheur.Plan
	upper  float64 // its makespan
	lower  float64 // proved
	nodes  int64
	learnt int64 // of nodes: the kernel's conflicts
	reason string
	told   model.Told
}

func (s *dagSearch) schedule() *model.Schedule {
	r := dagheur.NewReplay(s.g)
	r.Run(s.plan, nil)
	return s.d.Schedule(s.plan.Machine, r.Start, r.Sent)
}

func (s *dagSearch) run() error {
	if s.g.Tasks == 0 {
		s.plan = dagheur.Plan{Order: make([][]int32, s.g.Machines)}
		if s.set.Proof != nil {
			return s.prove()
		}
		return nil
	}
	for _, b := range dagbounds.Quick(s.ctx, s.g) {
		s.lower = max(s.lower, b.Value)
	}
	steps := s.tuning.improve
	if steps < 0 {
		steps = min(dagheur.Steps(s.g), 2000+100*s.g.Tasks)
	}
	if s.tuning.off&devLocalSearch != 0 {
		steps = 0
	}
	if s.tuning.poor {
		s.plan = dagheur.OnMachine(s.g, 0)
		s.upper = dagheur.NewReplay(s.g).Run(s.plan, nil)
	} else {
		var err error
		// Rounding may leave a schedule that meets a bound a little above it.
		if s.plan, s.upper, err = dagheur.BestPlan(s.ctx, s.d, s.g, s.set, steps, s.lower*(1+1e-9)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if s.set.Proof != nil {
		return s.prove()
	}
	if s.closed() {
		return nil
	}
	if s.tuning.learn || s.learns() && s.g.Tasks > maxTasks {
		return s.kernel()
	}
	if s.g.Tasks > maxTasks || s.g.Machines > math.MaxInt8 {
		s.neighbourhoods(true)
		s.reason = fmt.Sprintf("more than %d tasks or %d machines: bounds without search", maxTasks, math.MaxInt8)
		return nil
	}
	if s.learns() && s.g.Tasks > kernelAlone {
		if s.neighbourhoods(false); s.closed() {
			return nil
		}
	}
	for {
		before := s.upper
		if err := s.search(); err != nil || !s.tuning.poor || s.closed() || s.upper > before/2 {
			return err
		}
		// Ticks are made for the makespan at hand: a much better one asks for finer ones.
	}
}

// neighbourhoods improves the plan by dagheur.Neighbourhoods, up to the deadline if
// nothing else is to be done and there is one.
func (s *dagSearch) neighbourhoods(alone bool) {
	if s.tuning.off&devLocalSearch != 0 || s.tuning.poor {
		return
	}
	conflicts := int64(3000) // some seconds
	if _, limited := s.ctx.Deadline(); limited && alone {
		conflicts = 0
	}
	s.plan, s.upper = dagheur.Neighbourhoods(s.ctx, s.g, s.plan, s.set.Seed, conflicts, func(p dagheur.Plan, makespan float64, _ int64) {
		s.plan, s.upper = p, makespan
		s.progress()
	})
}

// closed reports whether the gap is small enough to end: a tenth below the gap at
// which a schedule counts as optimal, so that the reported one, computed anew,
// does. Makespans above 10^6 ticks may therefore be a tick above the least one.
func (s *dagSearch) closed() bool {
	return s.upper <= s.lower || model.Gap(s.upper, s.lower) <= min(s.set.GapLimit(), 1)*0.9
}

// search runs the phases: beams, which improve the schedule; assignments, for one
// makespan after another; the exact levels.
func (s *dagSearch) search() error {
	k := newTicks(s.g, s.upper, s.tuning.off)
	if s.roundUp(k); s.closed() {
		return nil
	}
	if err := k.findWeights(s.ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	upper, end, on := k.fit(s.g, s.plan)
	l := &levels{ticks: k, ctx: s.ctx, workers: s.set.Workers(), upper: upper, best: end, on: on}
	l.report = func() { s.found(l) }
	if s.learns() {
		return s.takeTurns(l)
	}
	s.runPhases(l)
	return nil
}

// runPhases runs the phases one after another.
func (s *dagSearch) runPhases(l *levels) {
	if s.tuning.off&devBeams == 0 {
		for _, width := range s.tuning.widths {
			if s.searchLevels(l, width) {
				return
			}
		}
	}
	if s.tuning.off&devAssignments == 0 {
		for _, nodes := range s.tuning.assignNodes {
			if !s.closed() {
				s.searchAssignments(l, nodes)
			}
		}
	}
	if float64(l.upper)*l.unit > s.lower && !s.closed() && s.tuning.levels && s.tuning.off&devLevels == 0 {
		s.searchLevels(l, 0)
	}
}

// stateBytes returns the bytes that the level search keeps per state.
func (v *ticks) stateBytes() int { return 5*v.n + 8*v.m + 64 }

// searchLevels runs the level search with a beam of the given width, exact if
// that is 0, and reports whether the search is over: the gap is closed, nothing
// was dropped, or ctx has ended.
func (s *dagSearch) searchLevels(l *levels, width int) bool {
	l.width = width
	l.block = max(1, s.tuning.block/l.stateBytes())
	if width == 0 {
		l.block = max(1, l.block/l.n)
	}
	l.dropped = never
	l.run(l.root(), 0)
	s.nodes = s.learnt + l.nodes
	// What was dropped is no better than its bound, what was searched no better
	// than the best schedule.
	s.lower = max(s.lower, float64(min(l.dropped, l.upper))*l.unit)
	if l.dropped >= l.upper || s.closed() {
		return true
	}
	s.progress()
	s.reason = exact.StopReason(s.ctx)
	return l.ctx.Err() != nil
}

// searchAssignments asks for one makespan after another, from the bound up, with
// at most the given number of nodes for each, and raises the bound by a tick
// for each that is disproved. It ends at the first that stays open.
func (s *dagSearch) searchAssignments(l *levels, nodes int64) {
	x := newAssigner(l.ctx, l.ticks, leafBytes/l.stateBytes(), s.tuning.leafWidth)
	lower := s.roundUp(l.ticks)
	if l.pause != nil {
		x.pause = func() {
			l.nodes, x.nodes = l.nodes+x.nodes, 0
			l.work, x.effort = l.work+x.effort, 0
			if l.pause(); s.roundUp(l.ticks) > lower {
				x.left = 0 // disproved by the other
			}
		}
	}
	for step := 0; lower < l.upper && step < s.tuning.assignSteps && l.ctx.Err() == nil; step++ {
		x.nodes, x.effort = 0, 0
		found, complete := x.within(lower+1, nodes)
		l.nodes += x.nodes
		l.work += x.effort
		s.nodes = s.learnt + l.nodes
		if found {
			if x.upper < l.upper {
				l.upper, l.best, l.on = x.upper, x.best, x.bestOn
				s.found(l)
			}
			continue
		}
		if now := s.roundUp(l.ticks); now > lower {
			lower = now
			continue
		}
		if !complete {
			break
		}
		lower++
		s.lower = max(s.lower, float64(lower)*l.unit)
		s.progress()
	}
}

// roundUp returns the bound in ticks, rounded up. Where no time was rounded, makespans
// are whole ticks, so this is a bound, too. The bound was made of whole figures
// without rounding, or is less than they give by more than 1e-12 of it. Elsewhere the
// result is where to begin, no more.
func (s *dagSearch) roundUp(v *ticks) int32 {
	lower := int32(math.Ceil(s.lower/v.unit*(1-1e-14) - 1e-9))
	if v.whole {
		s.lower = max(s.lower, float64(lower)*v.unit)
	}
	return lower
}

// found takes the levels' best schedule if it is better than the one known.
func (s *dagSearch) found(l *levels) { s.better(l.ticks, l.best, l.on) }

// better takes a schedule in ticks if it is better than the one known.
func (s *dagSearch) better(v *ticks, end []int32, on []int8) {
	p := v.planOf(end, on)
	if makespan := dagheur.NewReplay(s.g).Run(p, nil); makespan < s.upper {
		s.plan, s.upper = p, makespan
		s.progress()
	}
}

func (s *dagSearch) progress() {
	if s.set.Progress != nil {
		p := model.Progress{Algorithm: s.name, Incumbent: s.upper, Bound: s.lower, Nodes: s.nodes, Elapsed: time.Since(s.began)}
		if s.told.News(s.upper) {
			p.Solution = s.schedule()
		}
		s.set.Progress(p)
	}
}

// root returns the level of the empty schedule.
func (v *ticks) root() *level {
	return &level{n: v.n, m: v.m, bound: []int32{0}, score: []int32{0}, done: make([]taskSet, 1), free: make([]int32, v.m), end: make([]int32, v.n), on: make([]int8, v.n)}
}

// planOf returns the plan of a schedule in the instance's task numbers.
func (v *ticks) planOf(end []int32, on []int8) dagheur.Plan {
	p := dagheur.Plan{Machine: make([]int32, v.n), Order: make([][]int32, v.m)}
	byEnd := make([]int32, v.n)
	for i := range byEnd {
		byEnd[i] = int32(i)
	}
	// Ends and, for tasks of length zero, the topological numbers are in
	// the order of the machine.
	slices.SortFunc(byEnd, func(a, b int32) int {
		sa, sb := v.startOf(int(a), end, on), v.startOf(int(b), end, on)
		return cmp.Or(cmp.Compare(sa, sb), cmp.Compare(end[a], end[b]), cmp.Compare(a, b))
	})
	for _, i := range byEnd {
		t, m := v.task[i], int32(on[i])
		p.Machine[t] = m
		p.Order[m] = append(p.Order[m], t)
	}
	return p
}
