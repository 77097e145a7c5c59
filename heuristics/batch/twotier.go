// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/internal/processors"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// twoTierPolicy is what heuristics for two tiers differ in.
type twoTierPolicy struct {
	rule
	shortFirst bool // step 2 takes jobs of short estimates first, see PEASY
}

// onTwoTiers simulates a heuristic for two tiers.
func onTwoTiers(ctx context.Context, in *model.Batch, set model.Settings, h twoTierPolicy) (*model.Execution, error) {
	s, err := newTwoTierSimulation(view.OfBatch(in), h, set)
	if err != nil {
		return nil, err
	}
	if set.Trace != nil {
		s.tracer = &tracer{in, set.Trace}
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	return s.execution(in), nil
}

// phase is where a job is.
type phase uint8

const (
	waits phase = iota // or hasn't arrived
	inBackground
	inForeground
	hasEnded
)

// stay is a time of a job in a tier.
type stay struct {
	job        int32
	tier       phase
	lost       bool // its work
	start, end int64
	list       []int32
}

// twoTierSimulation runs jobs on two tiers. What a machine holds is about the
// foreground.
//
// A job's rate changes only at events: in the background when a foreground of its
// processors changes. Its end is computed from its rate, as the first whole
// microsecond at which its work is done. At one instant all ends come first, then
// all arrivals, then one pass, then new rates.
//
// An event takes O(log n), and time linear in the number of the processors on which
// something starts or ends and of those of the background jobs on them.
type twoTierSimulation struct {
	machine
	twoTiers
	lifts
	rule         rule
	ticks        *view.Batch
	unknown      bool // CPU uses are
	arrived      int32
	head         int32 // jobs before it are in the foreground or have ended
	phases       []phase
	lists        [][]int32      // processors of each job in a tier
	entered      []int64        // when it came there
	stays        []stay         // those that have ended, by end
	left         []int64        // work left at since, in ten-thousandths of a microsecond
	since, rates []int64        // the job works at this rate since then
	finish       []int64        // by its rate; never: it doesn't work, or has ended
	list         *waiting       // by position: jobs that may go to the foreground
	shortest     *waiting       // by rank: jobs that wait
	rank         []int32        // of each job by its estimate, ties by index
	byEstimate   []int32        // the jobs in this order
	positions    []int32        // of each job in the list; nil: its index
	at           []int32        // job at each position; nil: the position
	ends         *estimatedEnds // of the foreground
	completions  heap.Heap[completion]
	ended        int
	array        []int32 // to cut lists from
	order        []int32 // of processes, kept for dispatch
	places       []int32
}

// newTwoTierSimulation returns the simulation at its beginning. Estimates are at the
// foreground's rate (see processors.Lengths). The error wraps model.ErrUnsupported.
func newTwoTierSimulation(t *view.Batch, h twoTierPolicy, set model.Settings) (*twoTierSimulation, error) {
	if t.Tiers != 2 {
		return nil, fmt.Errorf("%w: the platform has one tier, jobs need two: foreground and background", model.ErrUnsupported)
	}
	_, estimates, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	n := len(t.Jobs)
	if err := lowestAlone(set); err != nil {
		return nil, err
	}
	if err := estimatesAlone(set); err != nil {
		return nil, err
	}
	if order := orderOf(set); order != "" && order != model.BatchOrderBatch {
		return nil, fmt.Errorf("%w order %q, two tiers have %q only", model.ErrUnsupported, order, model.BatchOrderBatch)
	}
	one := machine{processors: int32(t.Processors), free: int32(t.Processors), jobs: make([]request, n), starts: make([]int64, n)}
	for k := range t.Jobs {
		one.jobs[k], one.starts[k] = request{t.Jobs[k].Submit, estimates[k], int32(t.Jobs[k].Processes)}, -1
	}
	p, _ := set.Parameters.(*model.BatchParameters)
	unknown := p != nil && p.Uses == model.BatchUsesUnknown
	if uses := []model.BatchKnowledge{"", model.BatchUsesKnown, model.BatchUsesUnknown}; p != nil && !slices.Contains(uses, p.Uses) {
		return nil, fmt.Errorf("%w uses %q, must be one of %q", model.ErrUnsupported, p.Uses, uses[1:])
	}
	tiers, err := newTwoTiers(t, unknown)
	if err != nil {
		return nil, err
	}
	s := &twoTierSimulation{machine: one, twoTiers: tiers, lifts: lifts{up: make([]bool, n), wake: never}, rule: h.rule, ticks: t, unknown: unknown, phases: make([]phase, n), lists: make([][]int32, n), entered: make([]int64, n), stays: make([]stay, 0, n),
		left: make([]int64, n), since: make([]int64, n), rates: make([]int64, n), finish: make([]int64, n), list: newWaiting(n), shortest: newWaiting(n),
		ends: newEstimatedEnds(), completions: heap.Heap[completion]{Less: completion.before}}
	if h.shortFirst {
		s.at, s.positions = ranked(n, func(a, b int32) int {
			return cmp.Compare(min(short, s.jobs[a].estimate), min(short, s.jobs[b].estimate))
		})
	}
	for k := range t.Jobs {
		s.left[k], s.finish[k] = t.Jobs[k].Work(), never
	}
	s.byEstimate, s.rank = ranked(n, func(a, b int32) int { return cmp.Compare(s.jobs[a].estimate, s.jobs[b].estimate) })
	s.promotable = func(k int32, is bool) {
		switch {
		case h.rule != pinned:
		case is:
			s.list.add(s.position(k), s.jobs[k].width, s.jobs[k].estimate)
		default:
			s.list.remove(s.position(k))
		}
	}
	return s, nil
}

// run simulates the jobs. The error wraps model.ErrNoSolution if ctx ends before all
// jobs have.
func (s *twoTierSimulation) run(ctx context.Context) error {
	n := int32(len(s.jobs))
	var due []int32
	for events := 0; ; events++ {
		if events%1024 == 0 && turns.Stop(ctx, 2048) {
			return fmt.Errorf("%w: stopped when %d of %d jobs had ended", model.ErrNoSolution, s.ended, n)
		}
		now := min(s.next(), s.wake)
		if s.arrived < n {
			now = min(now, s.jobs[s.arrived].submit)
		}
		if now == never {
			return nil
		}
		if now > view.MostTime {
			return processors.TooLate()
		}
		s.now = now
		due = due[:0]
		for s.next() == now {
			k := s.completions.Pop().job
			s.finish[k] = never
			due = append(due, k)
		}
		all := s.arrived < n && s.jobs[s.arrived].submit == now || s.wake == now
		if s.wake == now {
			s.awake()
		}
		for _, k := range due {
			all = s.end(k) == inForeground || all
		}
		for ; s.arrived < n && s.jobs[s.arrived].submit == now; s.arrived++ {
			j := &s.jobs[s.arrived]
			s.list.add(s.position(s.arrived), j.width, j.estimate)
			s.shortest.add(s.rank[s.arrived], j.width, j.estimate)
		}
		if all {
			s.pass()
		} else {
			s.background()
		}
		s.refresh()
	}
}

// position returns the position of job k in the list.
func (s *twoTierSimulation) position(k int32) int32 {
	if s.positions == nil {
		return k
	}
	return s.positions[k]
}

// next returns the next end of a job. It drops completions that a change of the rate
// has made wrong.
func (s *twoTierSimulation) next() int64 {
	for s.completions.Len() > 0 {
		if c := s.completions.Items[0]; s.finish[c.job] == c.at {
			return c.at
		}
		s.completions.Pop()
	}
	return never
}

// end ends job k and returns its tier.
func (s *twoTierSimulation) end(k int32) phase {
	tier := s.phases[k]
	s.toldEnd(k)
	if tier == inBackground {
		s.leaveBackground(k, false)
		s.list.remove(s.position(k))
	} else {
		s.leaveForeground(k)
	}
	s.phases[k] = hasEnded
	s.ended++
	return tier
}

// settle counts the work of job k up to now.
func (s *twoTierSimulation) settle(k int32) {
	s.left[k] -= s.rates[k] * (s.now - s.since[k])
	s.since[k] = s.now
}

// complete computes when job k ends by its rate.
func (s *twoTierSimulation) complete(k int32) {
	rate := s.rates[k]
	if rate == 0 {
		s.finish[k] = never
		return
	}
	s.finish[k] = s.since[k] + (s.left[k]+rate-1)/rate
	s.completions.Push(completion{at: s.finish[k], job: k})
	// Wrong completions are at most about as many as right ones: memory stays linear,
	// for O(log n) per completion.
	if most := 2*(len(s.fore)+len(s.back)) + 64; s.completions.Len() > most {
		s.completions.Items = slices.DeleteFunc(s.completions.Items, func(c completion) bool { return s.finish[c.job] != c.at })
		s.completions.Init()
	}
}

// refresh computes the rates of jobs in the background whose foreground has
// changed.
func (s *twoTierSimulation) refresh() {
	for _, k := range s.touched {
		s.isTouched[k] = false
		if s.phases[k] != inBackground {
			continue
		}
		s.lift(k)
		rate := s.ticks.Jobs[k].Foreground
		if !s.up[k] {
			rate = s.twoTiers.rate(&s.ticks.Jobs[k], s.lists[k])
		}
		if rate != s.rates[k] {
			s.settle(k)
			s.rates[k] = rate
			s.complete(k)
		}
	}
	s.touched = s.touched[:0]
}

// execution returns the runs.
func (s *twoTierSimulation) execution(in *model.Batch) *model.Execution {
	type segment = model.Segment[model.BatchPlace]
	e := &model.Execution{Runs: make([]model.Run[model.BatchPlace], len(in.Jobs))}
	counts := make([]int, len(in.Jobs))
	for i := range s.stays {
		counts[s.stays[i].job]++
	}
	array := make([]segment, len(s.stays))
	for k := range in.Jobs {
		e.Runs[k] = model.Run[model.BatchPlace]{ID: in.Jobs[k].ID, Segments: array[:0:counts[k]]}
		array = array[counts[k]:]
	}
	for i := range s.stays {
		x := &s.stays[i]
		place := model.BatchPlace{Processors: x.list}
		if x.tier == inBackground {
			place.Tier = model.TierBackground
		}
		run := &e.Runs[x.job]
		run.Segments = append(run.Segments, segment{StartS: s.ticks.Seconds(x.start), EndS: s.ticks.Seconds(x.end), Place: place, Lost: x.lost})
	}
	return e
}
