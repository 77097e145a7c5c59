package vcsched

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/exact"
	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/model"
)

// Search is the native exact search for VCSched. It minimises the
// largest CPU load L of a host (the best minimum yield is min(1, 1/L)):
//
//  1. a lower bound on L by packing arguments (vcbounds.Packing),
//  2. a placement by local search (vcheur.Improver),
//  3. up to 64 tasks: bin completion (partition) on "is there a placement of
//     largest load below L?", and where that takes long, on loads between the
//     bounds, which are refuted faster the lower they are,
//  4. beyond, or where memory leaves bin completion in the dark: the
//     column-generation bound over host patterns and placements built from its
//     patterns,
//  5. up to 64 tasks whose memory needs come to a host's, tolerance included, to
//     within the rounding of 64-bit units: a depth-first search in 128 bits.
//
// It is any-time: when ctx or the time limit ends, the result carries the best
// placement and the bound proved by then. The solution doesn't depend on the
// number of threads.
type Search struct {
	off   vcschedRules // for tests
	phase string       // of vcschedPhases, for audits; "": all of the search
}

// Name is "search", and the phase if it is one alone.
func (e Search) Name() string { return exact.SearchName(e.phase) }

// Solve implements model.Solver.
func (e Search) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(e.Name(), set.Seed)
	v, ok := in.(*model.VCSched)
	if !ok {
		return r, fmt.Errorf("search: %w: it doesn't solve %s instances", model.ErrUnsupported, in.Kind())
	}
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	s := &vcschedSearch{ctx: ctx, in: v, set: set, start: time.Now(), u: v.Units(), off: e.off | vcschedPhases[e.phase]}
	if err := s.run(); err != nil {
		return r, fmt.Errorf("search: %w", err)
	}
	r.Elapsed, r.Nodes = time.Since(s.start), s.nodes
	if s.infeasible != "" {
		r.Status, r.Reason = model.StatusInfeasible, s.infeasible
		return r, nil
	}
	if s.hosts != nil {
		p, err := vcheur.RaiseAverage(ctx, v, v.NewPlacement(s.hosts, v.Yield(s.hosts)))
		if err != nil {
			return r, fmt.Errorf("search: %w", err)
		}
		if err := r.SetSolution(v, p); err != nil {
			return r, err
		}
	}
	r.SetBound(model.Maximise, s.u.YieldBound(s.lower), set.GapLimit())
	if r.Status != model.StatusOptimal {
		r.Reason = s.reason
	}
	r.Elapsed = time.Since(s.start)
	return r, nil
}

// vcschedSearch is the state of one run. Loads are in units.
type vcschedSearch struct {
	ctx   context.Context
	in    *model.VCSched
	set   model.Settings
	start time.Time
	u     *model.VCSchedUnits
	tasks *vcbounds.Tasks
	off   vcschedRules
	view  memoryView

	lower      int64   // no placement has a smaller largest load
	upper      int64   // the largest load of hosts; MaxInt64 without
	hosts      []int32 // the best placement; nil without
	infeasible string
	reason     string
	nodes      int64
}

// closed reports whether the gap asked for is reached, with room for the
// rounding of loads to units.
func (s *vcschedSearch) closed() bool {
	return s.infeasible != "" || s.upper <= s.lower ||
		float64(s.upper-s.lower) <= (s.set.GapLimit()-model.DefaultGap/4)*float64(s.lower)
}

func (s *vcschedSearch) stopped() bool {
	if s.ctx.Err() == nil {
		return false
	}
	s.reason = exact.StopReason(s.ctx)
	return true
}

// found takes a placement if it is better and fits in memory and the migration
// budget exactly, not in units alone: no placement gets past it. It is false if
// the placement doesn't fit.
func (s *vcschedSearch) found(load int64, hosts []int32) bool {
	if load >= s.upper {
		return true
	}
	if !s.u.Fits(hosts) {
		return false
	}
	s.upper, s.hosts = load, slices.Clone(hosts)
	s.report()
	return true
}

// raise takes a proved lower bound.
func (s *vcschedSearch) raise(load int64) {
	if load > s.lower {
		s.lower = load
		s.report()
	}
}

func (s *vcschedSearch) report() {
	if s.set.Progress == nil {
		return
	}
	p := model.Progress{Algorithm: "search", Incumbent: math.NaN(), Bound: s.u.YieldBound(s.lower), Nodes: s.nodes, Elapsed: time.Since(s.start)}
	if s.hosts != nil {
		p.Incumbent = s.in.Yield(s.hosts)
	}
	s.set.Progress(p)
}

func (s *vcschedSearch) run() error {
	s.upper = math.MaxInt64
	s.tasks = vcbounds.NewTasks(s.u)
	load, why := s.tasks.PackingLoad()
	if why != "" {
		s.infeasible = why
		return nil
	}
	if s.off&noPacking != 0 {
		load = s.tasks.AreaLoad()
	}
	// Loads up to a whole host all give the yield 1.
	s.lower = max(load, s.u.Scale)
	if s.in.MigrationBudget != nil {
		return s.runWithBudget()
	}
	from, err := vcheur.Start(s.ctx, s.in, s.u, s.set)
	if err != nil {
		return err
	}
	imp := vcheur.NewImprover(s.u, from, s.set.Seed)
	improve := func(steps int) {
		if s.off&noStart != 0 {
			return
		}
		// A gap that is asked for need not be closed further.
		enough := s.lower + int64((s.set.GapLimit()-model.DefaultGap)*float64(s.lower))
		imp.Improve(s.ctx, enough, steps)
		if l, h, ok := imp.Best(); ok {
			s.found(max(l, s.u.Scale), h)
		}
	}
	n := len(s.u.CPU)
	s.report()
	if s.off&treeOnly != 0 {
		s.view = exactView
	}
	if n <= maxItems {
		// Bin completion closes a dozen tasks in the time of some thousand steps.
		improve(20 * n * n)
		if !s.closed() && !s.stopped() {
			s.complete(1 << 22)
		}
	} else {
		improve(vcheur.AnnealSteps(n))
	}
	// Few tasks per host leave few patterns, and little else to try; with many,
	// loads can be evened out for long before a pattern knows more than the area.
	if n > 3*s.u.Hosts && n > maxItems {
		for range 8 {
			if before := s.upper; s.closed() || s.stopped() {
				return nil
			} else if improve(vcheur.AnnealSteps(n)); s.hosts != nil && float64(before-s.upper) < 1e-2*float64(s.upper-s.lower) {
				break
			}
		}
	}
	if s.closed() || s.stopped() {
		return nil
	}
	if (n <= 3*s.u.Hosts || s.hosts == nil) && s.off&noPatterns == 0 {
		if err := s.patterns(); err != nil {
			return err
		}
	}
	for !s.closed() && !s.stopped() {
		switch {
		case n > maxItems:
			improve(vcheur.AnnealSteps(n))
		case s.view == exactView:
			s.tree(improve)
		default:
			s.complete(math.MaxInt64)
		}
	}
	return nil
}

// memoryView is what the search for up to 64 tasks takes for a task's memory.
// Views but the last are relaxations, so that "no" is a proof in each of them.
// A placement that fits in a view and not exactly, which takes memory needs that
// come to 1 + FitTolerance to within the view's rounding, sends the search to
// the next.
type memoryView int

const (
	unitsView memoryView = iota // the instance's units
	fineView                    // as fine a unit as 64 bits allow; exact for needs of 1/16 and more
	exactView                   // 128 bits, by the budget tree
)

// memory is the tasks' memory needs and the hosts' capacity in the view.
// Rounding down is a relaxation: the sum of needs rounded down is at most the
// sum rounded down, which is at most the capacity rounded down if the sum is at
// most the capacity.
func (s *vcschedSearch) memory() (needs []int64, capacity int64) {
	if s.view == unitsView {
		return s.u.Memory, s.u.MemoryCap
	}
	n := len(s.u.Memory)
	k := uint(62 - bits.Len(uint(n)))
	needs = make([]int64, n)
	for i := range needs {
		needs[i] = s.u.Exact[s.u.Job[i]].Floor(k)
	}
	return needs, s.u.ExactCap.Floor(k)
}

// complete runs bin completion until the gap is closed, about the given number
// of nodes is spent, ctx ends or a placement shows that another memoryView is
// needed. Without a bound on the nodes (MaxInt64) it uses
// all threads.
func (s *vcschedSearch) complete(effort int64) {
	n := len(s.u.CPU)
	view := s.view
	if view == exactView {
		return
	}
	memory, capacity := s.memory()
	// No more bins than items are used, and their capacities don't overflow.
	p := &partition{bins: min(s.u.Hosts, n), cap: [2]int64{0, capacity}, threads: s.set.Workers(), off: s.off}
	// A bin's first item is the one that is hardest to place.
	order := make([]int32, n)
	hard := make([]float64, n)
	at := min(float64(s.upper), 2*float64(s.lower))
	for i := range order {
		order[i] = int32(i)
		hard[i] = max(float64(s.u.CPU[i])/at, float64(s.u.Memory[i])/float64(s.u.MemoryCap))
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(hard[b], hard[a]) })
	for _, i := range order {
		p.size[0], p.size[1] = append(p.size[0], s.u.CPU[i]), append(p.size[1], memory[i])
	}
	var spent int64
	ask := func(load, limit int64) answer {
		a := p.decide(s.ctx, load, limit)
		s.nodes += p.nodes
		spent += p.nodes + 1
		switch a {
		case yes:
			hosts := make([]int32, n)
			for b, items := range p.chosen {
				for k, i := range order {
					if items>>k&1 == 1 {
						hosts[i] = int32(b)
					}
				}
			}
			if !s.found(max(s.u.MaxLoad(hosts), s.u.Scale), hosts) {
				s.view++
			}
		case no:
			if load >= s.any() {
				s.infeasible = "bin completion found no placement that fits in memory"
			} else {
				s.raise(load + s.tasks.Unit)
			}
		}
		return a
	}
	// Halving the interval beats asking for the next better load: low loads
	// are refuted at once, and an answer "yes" halves it too. Loads on which
	// the limit is hit are left for lower ones, then for a larger limit.
	over := func() bool { return s.closed() || s.ctx.Err() != nil || s.view != view }
	for limit := int64(1 << 15); !over() && spent < effort; limit *= 4 {
		if effort == math.MaxInt64 {
			limit = effort
		}
		if s.hosts == nil && ask(s.any(), limit) == no {
			return
		}
		for share := int64(2); share <= 64 && !over(); {
			load := s.lower + (min(s.upper, 2*s.lower)-s.lower)/share
			if ask(load-load%s.tasks.Unit, limit) == unknown {
				share *= 2
			}
		}
		if s.hosts != nil && !over() {
			ask(s.upper-s.tasks.Unit, limit)
		}
	}
}

// any is a load that every host can take.
func (s *vcschedSearch) any() int64 { return s.tasks.TotalLoad() }
