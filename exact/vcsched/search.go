// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/exact/internal/engine"
	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/num/vectors"
	"github.com/gapwise/gapwise/internal/problem/vcsched/placement"
	"github.com/gapwise/gapwise/model"
)

// Search is the native exact search for VCSched. Inside, it minimises the largest
// CPU load L of a host, as a share of its CPU; outside, the minimum yield Y = min(1, 1/L) is maximised. So
// a lower bound on L is an upper bound on Y, and the best L found is a lower bound
// on the optimal Y. It runs these phases until the bounds meet, in the order and
// with the limits of the constants below:
//
//  1. a lower bound on L by packing arguments (vcbounds.Packing);
//  2. an upper bound by local search (placement.Improver);
//  3. up to 64 tasks: bin completion (partition) on the decision "is there a placement with L ≤ C?" for loads C between
//     the bounds. The lower they are, the sooner they are refuted (destructive bounds);
//  4. more tasks, or a gap that bin completion leaves: a lower bound by column
//     generation over host patterns, and placements made of its patterns;
//  5. up to 64 tasks with some set so close to a host's memory that 64 bits can't show whether it fits: a depth-first
//     search in 128 bits (hostTree).
//
// If there is a migration budget, phases 3 to 5 are turns of hostTree, of the learning kernel (learner) and of bounds
// that price moves (vcbounds.Moves).
//
// It is an anytime search: when ctx or the time limit ends, the result carries the best placement and the bound proved
// so far. The solution doesn't depend on the number of threads.
var Search = engine.Engine[*model.VCSched, deviceSet]{ID: "search", Parts: devices, Work: worker((*run).search)}

// The order and the limits of the phases.
const (
	// firstSteps times n² steps of local search precede bin completion. More would be wasted: bin completion closes a
	// dozen tasks in the time of some thousand steps.
	firstSteps = 20
	// firstNodes is the number of nodes that bin completion expands before column generation gets its turn: some
	// seconds, in which it closes most instances of 48 tasks.
	firstNodes = 1 << 22
	// decisionNodes limits bin completion's first attempt at each load. A load left open comes again with limitGrowth
	// times as many, after lower loads, which are refuted sooner.
	decisionNodes = 1 << 15
	limitGrowth   = 4
	// maxProbe is the finest share of the interval of loads that is probed:
	// loads down to lower + (upper - lower)/maxProbe.
	maxProbe = 64
	// tasksPerHost is the largest mean number of tasks on a host with which
	// column generation is worth its time. More tasks make more patterns, and
	// then loads can be evened out until little is left beyond the area bound.
	tasksPerHost = 3
	// Beyond it, up to polishRounds rounds of local search follow each other
	// while each closes polishGain of the gap.
	polishRounds = 8
	polishGain   = 1e-2
	// firstTree is the number of nodes that the host tree expands before the learning kernel gets its turn: some
	// milliseconds, in which it closes four hosts and a dozen tasks.
	firstTree = 1 << 14
	// treeNodes limits the first run of the host tree alone; the next ones have limitGrowth times as many. Local search
	// gets as many steps in between, up to treeSteps.
	treeNodes = 1 << 16
	treeSteps = 1 << 22
)

// worker returns the work of a search, which gets a function that takes so many steps
// of local search, after the bounds by packing arguments.
func worker(search func(s *run, improve func(steps int)) error) func(*engine.Run, *model.VCSched, deviceSet, lcg.Device) error {
	return func(r *engine.Run, v *model.VCSched, off deviceSet, _ lcg.Device) error {
		s := &run{Run: r, in: v, u: view.Shared(r.Ctx, v, view.OfVCSched), off: off}
		if err := s.solve(search); err != nil || s.Status == model.StatusInfeasible {
			return err
		}
		if s.hosts != nil {
			p, err := placement.RaiseAverage(r.Ctx, v, v.NewPlacement(s.hosts, v.Yield(s.hosts)))
			if err != nil {
				return err
			}
			if err := r.SetSolution(v, p); err != nil {
				return err
			}
		}
		r.SetBound(v.Metrics()[0], s.u.YieldBound(s.lower), r.Set.GapLimit())
		return nil
	}
}

// run is the state of one search. Loads are in units of 1/u.Scale of a host.
type run struct {
	*engine.Run
	in    *model.VCSched
	u     *view.VCSched
	tasks *vcbounds.Tasks
	off   deviceSet
	view  memoryView
	moves *vcbounds.Moves // nil without a migration budget

	lower int64   // no placement has a smaller largest load
	upper int64   // the largest load of hosts; MaxInt64 without
	hosts []int32 // the best placement; nil without
}

// closed reports whether the gap asked for is reached,
// upper - lower ≤ (gap - ε) lower, where ε leaves room for the rounding of loads.
func (s *run) closed() bool {
	return s.Status == model.StatusInfeasible || s.upper <= s.lower ||
		float64(s.upper-s.lower) <= s.gapLimit(model.DefaultGap/4)*float64(s.lower)
}

// beside reports whether the run is one of several that start from a placement: the
// local search is another.
func (s *run) beside() bool { return s.Set.Others != nil && s.Set.Start != nil }

// gapLimit returns the gap asked for, less the part reserved for rounding, but not below 0.
func (s *run) gapLimit(less float64) float64 { return max(s.Set.GapLimit()-less, 0) }

// stopped reports whether the run has to end, and takes over solutions of other solvers.
func (s *run) stopped() bool {
	if s.hosts != nil {
		if p, _ := s.News(s.in.Yield(s.hosts)); p != nil {
			hosts := p.(*model.Placement).TaskHosts()
			s.found(max(s.u.MaxLoad(hosts), s.u.Scale), hosts)
		}
	}
	return s.Ctx.Err() != nil
}

// found keeps a placement that is better than the best so far and fits in memory
// and in the migration budget exactly, not only in units. It returns false if the
// placement doesn't fit.
func (s *run) found(load int64, hosts []int32) bool {
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

// raise keeps a proved lower bound on L.
func (s *run) raise(load int64) {
	if load > s.lower {
		s.lower = load
		s.report()
	}
}

func (s *run) report() {
	incumbent := math.NaN()
	if s.hosts != nil {
		incumbent = s.in.Yield(s.hosts)
	}
	s.Tell(incumbent, s.u.YieldBound(s.lower), func() model.Solution { return s.in.NewPlacement(s.hosts, incumbent) })
}

func (s *run) solve(search func(s *run, improve func(steps int)) error) error {
	s.upper = math.MaxInt64
	s.tasks = vcbounds.NewTasks(s.u)
	load, why := s.tasks.PackingLoad(s.Ctx, s.in)
	if why != "" && s.Set.Proof == nil {
		s.Infeasible(why)
		return nil
	}
	if s.off&devPacking != 0 {
		load = s.tasks.AreaLoad()
	}
	// All loads up to a whole host have yield 1.
	s.lower = max(load, s.u.Scale)
	from, err := vcheur.Start(s.Ctx, s.in, s.u, s.Set)
	if err != nil {
		return err
	}
	imp := placement.NewImprover(s.u, from, s.Set.Seed)
	improve := func(steps int) {
		if s.off&devLocalSearch != 0 || s.beside() && len(s.u.CPU) > maxItems {
			return
		}
		if l, _, ok := imp.Best(); s.hosts != nil && (!ok || s.upper < l) { // by others
			imp = placement.NewImprover(s.u, s.hosts, s.Set.Seed)
		}
		// A gap that is asked for need not be closed further.
		enough := s.lower + int64(s.gapLimit(model.DefaultGap)*float64(s.lower))
		imp.Improve(s.Ctx, enough, steps)
		if l, h, ok := imp.Best(); ok {
			s.found(max(l, s.u.Scale), h)
		}
	}
	s.report()
	if s.Set.Proof != nil {
		return s.prove(improve)
	}
	return search(s, improve)
}

// search runs the engine Search.
func (s *run) search(improve func(steps int)) error {
	if s.in.MigrationBudget != nil {
		return s.searchWithBudget(improve)
	}
	n := len(s.u.CPU)
	if s.off&devCompletion != 0 || len(s.u.Classes) > maxClasses {
		s.view = exactView
	}
	if n <= maxItems {
		improve(firstSteps * n * n)
		if !s.closed() && !s.stopped() {
			s.complete(firstNodes)
		}
	} else {
		improve(placement.Steps(n))
	}
	many := n > tasksPerHost*s.u.Hosts
	for k := 0; many && n > maxItems && k < polishRounds && !s.beside(); k++ {
		before := s.upper
		if s.closed() || s.stopped() {
			return nil
		}
		improve(placement.Steps(n))
		if s.hosts != nil && float64(before-s.upper) < polishGain*float64(s.upper-s.lower) {
			break
		}
	}
	if s.closed() || s.stopped() {
		return nil
	}
	if (!many || s.hosts == nil) && s.off&devColumns == 0 {
		s.patterns(false)
	}
	for !s.closed() && !s.stopped() {
		switch {
		case n > maxItems && (s.off&devLocalSearch != 0 || s.beside()):
			s.Reason = "nothing is left to try without the local search"
			return nil
		case n > maxItems:
			improve(placement.Steps(n))
		case s.view == exactView:
			s.tree(newHostTree(s), improve)
		default:
			s.complete(math.MaxInt64)
		}
	}
	return nil
}

// memoryView is the precision of the memory needs in the search for up to 64 tasks. All but the last round needs and
// are relaxations, in which "no" is a proof. If a placement fits in one view and not exactly, the search goes on in the
// next; that takes needs with a sum of 1 + FitTolerance to within the rounding.
type memoryView int

const (
	unitsView memoryView = iota // the instance's units
	fineView                    // the finest unit that 64 bits allow, which is exact for needs of 1/16 and more
	exactView                   // 128 bits, by the host tree
)

// rigid returns the needs of the tasks of a rigid resource, and the capacity of a host of each class for it, in the
// view. Rounding down is a relaxation: Σ ⌊m⌋ ≤ ⌊Σ m⌋ ≤ ⌊capacity⌋ if Σ m ≤ capacity.
func (s *run) rigid(r int) (needs, capacity []int64) {
	if s.view == unitsView {
		for k := range s.u.Classes {
			capacity = append(capacity, s.u.Classes[k].Cap[r])
		}
		return s.u.Rigid[r], capacity
	}
	// Sums of the needs, and of the capacities of as many hosts of each class, fit.
	n := len(s.u.CPU)
	k := uint(62 - bits.Len(uint(n)))
	if most := s.mostCaps()[r] / s.u.Scale; most > 1 || len(s.u.Classes) > 1 {
		k -= uint(bits.Len64(uint64(most)+1)) + uint(bits.Len(uint(len(s.u.Classes))))
	}
	needs = make([]int64, n)
	for i := range needs {
		needs[i] = s.u.ExactRigid[r][s.u.Job[i]].Floor(k)
	}
	for c := range s.u.Classes {
		capacity = append(capacity, s.u.Classes[c].ExactCap[r].Floor(k))
	}
	return needs, capacity
}

// complete runs bin completion until the gap is closed, about effort nodes are
// expanded, ctx ends or a placement shows that another memoryView is needed. With
// an effort of math.MaxInt64 it uses all threads.
func (s *run) complete(effort int64) {
	switch vectors.Size(1 + len(s.u.Rigid)) {
	case 2:
		completeBins(s, effort, &partition[[2]int64]{})
	case 3:
		completeBins(s, effort, &partition[[3]int64]{})
	case 4:
		completeBins(s, effort, &partition[[4]int64]{})
	case 6:
		completeBins(s, effort, &partition[[6]int64]{})
	case 11:
		completeBins(s, effort, &partition[[11]int64]{})
	case 24:
		completeBins(s, effort, &partition[[24]int64]{})
	default:
		completeBins(s, effort, &partition[[vectors.Most]int64]{})
	}
}

// completeBins is complete by an empty partition.
func completeBins[V vectors.Vector](s *run, effort int64, p *partition[V]) {
	n := len(s.u.CPU)
	view := s.view
	if view == exactView {
		return
	}
	// No class uses more bins than items, so the sum of the capacities doesn't overflow.
	if p.threads, p.off = s.Set.Workers(), s.off; s.Set.Others != nil {
		p.threads = 1 // its turns end by effort that is counted, which several walkers don't
	}
	for k := range s.u.Classes {
		p.bins = append(p.bins, min(len(s.u.Classes[k].Hosts), n))
	}
	p.cap, p.size = make([]V, len(p.bins)), make([]V, n)
	// Items are in the order of decreasing difficulty, the larger share of a resource.
	order := make([]int32, n)
	hard, most := make([]float64, n), s.mostCaps()
	at := min(float64(s.upper), 2*float64(s.lower))
	for i := range order {
		order[i] = int32(i)
		hard[i] = float64(s.u.CPU[i]) / at
		for r, needs := range s.u.Rigid {
			hard[i] = max(hard[i], float64(needs[i])/float64(most[r]))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(hard[b], hard[a]) })
	for at, i := range order {
		p.size[at][0] = s.u.CPU[i]
	}
	for r := range s.u.Rigid {
		needs, capacity := s.rigid(r)
		for at, i := range order {
			p.size[at][1+r] = needs[i]
		}
		for c, has := range capacity {
			p.cap[c][1+r] = has
		}
	}
	room := func(class int, load int64) int64 { return s.u.Classes[class].Room(load) }
	var spent int64
	ask := func(load, limit int64) answer {
		a := p.decide(s.Ctx, load, room, limit)
		s.Nodes += p.nodes
		spent += p.nodes + 1
		switch a {
		case yes:
			hosts := make([]int32, n)
			used := make([]int, len(p.bins))
			for _, b := range p.chosen {
				h := s.u.Classes[b.class].Hosts[used[b.class]]
				used[b.class]++
				for k, i := range order {
					if b.items>>k&1 == 1 {
						hosts[i] = h
					}
				}
			}
			if !s.found(max(s.u.MaxLoad(hosts), s.u.Scale), hosts) {
				s.view++
			}
		case no:
			if load >= s.unboundedLoad() {
				s.Infeasible("bin completion found no placement that fits in memory")
			} else {
				s.raise(load + s.tasks.Unit)
			}
		}
		return a
	}
	// Bisection beats deciding on the next better load: low loads are refuted at
	// once, and a "yes" halves the interval, too.
	over := func() bool { return s.closed() || s.Ctx.Err() != nil || s.view != view }
	for limit := int64(decisionNodes); !over() && spent < effort; limit *= limitGrowth {
		if effort == math.MaxInt64 {
			limit = effort
		}
		if s.hosts == nil && ask(s.unboundedLoad(), limit) == no {
			return
		}
		for share := int64(2); share <= maxProbe && !over() && s.off&devProbing == 0; {
			load := s.lower + (min(s.upper, 2*s.lower)-s.lower)/share
			if ask(load-load%s.tasks.Unit, limit) == unknown {
				share *= 2
			}
		}
		for s.hosts != nil && !over() {
			if ask(s.upper-s.tasks.Unit, limit) != yes || s.off&devProbing == 0 {
				break
			}
		}
	}
}

// unboundedLoad returns the sum of all loads, which no host can exceed.
func (s *run) unboundedLoad() int64 { return s.tasks.TotalLoad() }
