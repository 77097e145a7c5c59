// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// sweep looks for plans of at least a given value: a search over partial plans in the order of time. A state holds the
// jobs started so far; its children start one more job each, none before the last one, each as early as it fits.
//
// That finds a best plan. Take one with the least sum of starts. Each job, in the order of their starts, begins as
// early as it fits after the jobs before it: those jobs only use fewer PEs from the last start on. So if it fitted
// earlier, it could be moved there, since the jobs after it don't begin until its start.
//
// A state is dropped if the Lagrangian bound of its completions is below the
// target (propagate), or if a state expanded before it, of the same time or
// earlier, dominates it (dominates). Values never fall from a state to the one
// that dominates it, and grow with each start, so states don't drop each other
// in a ring. Children are left out by expand.
//
// No clock decides anything; with too many states open the search goes deep
// first, which needs less memory and compares less.
type sweep struct {
	ctx   context.Context
	pes   int
	jobs  []job       // by ready time
	relax *relaxation // of the same jobs; nil without bounds
	alive []tick      // the largest latest start of jobs 0 to i
	words int         // of a state's sets of jobs

	comparisons int     // most states that one is compared with
	mostOpen    int     // states open at a time, above which the search goes deep
	mostTrace   int     // length at which the trace is shortened
	step        float64 // plans better by less aren't looked for
	grain       float64 // values are multiples of it; 0: unknown
	slack       float64 // more than sums are rounded by
	limit       int64   // on nodes; 0: none
	off         switches

	target float64 // plans worth less aren't looked for, up to rounding
	best   float64
	bestAt int32 // in the trace; -1: none
	nodes  int64 // states expanded or dominated

	trace    []placement
	open     queue
	expanded []expanded
	lightest float64  // the least weight of a job
	unused   []*state // to overwrite
	made     int64    // states opened

	// Scratch.
	children   []candidate
	candidates []candidate
	sums       bitset.Set
	child      state
}

const (
	// maxOpen and maxTrace keep a sweep below some 2 GB, maxComparisons the
	// comparisons of a state below a millisecond. With 500 comparisons the
	// crowds of the plan reservation-exact take 0.4 % more nodes.
	maxComparisons = 4000
	maxOpen        = 2_000_000
	maxTrace       = 50_000_000
)

// newSweep returns a sweep of jobs that looks for any plan, without a limit.
func newSweep(ctx context.Context, pes int, jobs []job, relax *relaxation) *sweep {
	s := &sweep{ctx: ctx, pes: pes, jobs: jobs, relax: relax, comparisons: maxComparisons, mostOpen: maxOpen, mostTrace: maxTrace,
		bestAt: -1, grain: 1, step: 1, slack: 1e-6, open: newQueue(), lightest: math.Inf(1), sums: bitset.New(pes + 1)}
	latest, longest := tick(math.MinInt64), tick(0)
	for i := range jobs {
		s.lightest = min(s.lightest, jobs[i].weight)
		latest, longest = max(latest, jobs[i].latest), max(longest, jobs[i].length)
		s.alive = append(s.alive, latest)
	}
	for i := range jobs {
		// A state looks no further ahead than the end of the running jobs.
		s.words = max(s.words, i>>6-s.firstAlive(jobs[i].ready-longest)>>6+1)
	}
	return s
}

// firstAlive returns a job before which all have their latest start before t.
func (s *sweep) firstAlive(t tick) int {
	return sort.Search(len(s.alive), func(i int) bool { return s.alive[i] >= t })
}

// run searches until nothing is open. It reports whether everything was
// searched: then best is the best of all plans, or none reaches the target.
func (s *sweep) run() bool {
	all := slices.Repeat([]uint64{^uint64(0)}, s.words)
	root := &state{time: math.MinInt64, at: -1, bound: math.Inf(1), possible: all}
	if len(s.jobs) > 0 && s.propagate(root) {
		s.open.Push(root)
	}
	for s.open.Len() > 0 {
		if s.nodes%64 == 0 && meter.Stop(s.ctx, 64*int64(1+len(s.jobs)/16)) || s.limit > 0 && s.nodes >= s.limit {
			return false
		}
		if s.open.Len() > s.mostOpen {
			s.open.turn(true)
		} else if s.open.Len() < s.mostOpen/2 {
			s.open.turn(false)
		}
		if len(s.trace) > s.mostTrace {
			s.shorten()
		}
		x := s.open.Pop()
		s.nodes++
		if x.bound < s.target-s.slack || s.off&dominance == 0 && s.dominated(x) {
			s.unused = append(s.unused, x)
			continue
		}
		s.expand(x)
		s.keep(x)
	}
	return true
}

// bound returns an upper bound on the value of all plans, also if the search was stopped.
func (s *sweep) bound() float64 {
	b := max(s.best, s.target-s.grain)
	for _, x := range s.open.Items {
		b = max(b, x.bound)
	}
	return b
}

// fresh returns a state to overwrite.
func (s *sweep) fresh() *state {
	if n := len(s.unused); n > 0 {
		x := s.unused[n-1]
		s.unused = s.unused[:n-1]
		return x
	}
	return &state{}
}
