// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// twoTierPolicy is the part in which heuristics for two tiers differ.
type twoTierPolicy struct {
	rule
	shortFirst bool // step 2 takes jobs of short estimates first, see PEASY
}

// onTwoTiers runs a heuristic for two tiers.
func onTwoTiers(ctx context.Context, in *model.Batch, set model.Settings, h twoTierPolicy) (*model.Execution, error) {
	s, err := newTwoTierScheduler(h, set)
	if err != nil {
		return nil, err
	}
	e, err := online.TwoTier(ctx, in, s)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// phase is where a job is.
type phase uint8

const (
	waits phase = iota
	inBackground
	inForeground
	hasEnded
)

// twoTierScheduler decides in which tier and on which processors jobs run. The fields of machine are about the
// foreground.
//
// At one instant all ends come first, then all arrivals, then one pass, and then jobs are lifted and lowered (see
// PEASY). The state of each job is decided by then.
//
// An event takes O(log n), and time linear in the number of processors on which something starts or ends, and of
// processors of their background jobs.
type twoTierScheduler struct {
	machine
	twoTiers
	lifts
	rule      rule
	unknown   bool // CPU uses are
	migration int64
	arrived   int32
	head      int32          // jobs before it are in the foreground or have ended
	list      *waiting       // by index: jobs that may go to the foreground
	sorted    *ordered       // used instead, if not nil
	shortest  *ordered       // by estimate: jobs that wait
	ends      *estimatedEnds // of the foreground
	events    []online.TwoTierEvent
	changed   []int32 // jobs whose place has changed at this instant
	made      []online.TwoTierDecision
	array     []int32 // to cut lists from
	places    []int32
	called    int64 // the next call that is asked for
}

// newTwoTierScheduler returns the scheduler before its first event. The error wraps
// model.ErrUnsupported.
func newTwoTierScheduler(h twoTierPolicy, set model.Settings) (*twoTierScheduler, error) {
	if err := estimatesAlone(set); err != nil {
		return nil, err
	}
	p := parametersOf(set)
	if p.Order != "" && p.Order != model.BatchOrderBatch {
		return nil, fmt.Errorf("%w order %q, two tiers have %q only",
			model.ErrUnsupported, p.Order, model.BatchOrderBatch)
	}
	uses := []model.BatchKnowledge{"", model.BatchUsesKnown, model.BatchUsesUnknown}
	if !slices.Contains(uses, p.Uses) {
		return nil, fmt.Errorf("%w uses %q, must be one of %q", model.ErrUnsupported, p.Uses, uses[1:])
	}
	s := &twoTierScheduler{rule: h.rule, unknown: p.Uses == model.BatchUsesUnknown,
		lifts: lifts{wakes: never}, ends: newEstimatedEnds(), called: never}
	byEstimate := func(most int64) *ordered {
		return newOrdered(func(a, b int32) bool {
			return cmp.Or(cmp.Compare(min(most, s.jobs[a].estimate), min(most, s.jobs[b].estimate)), cmp.Compare(a, b)) < 0
		})
	}
	if s.shortest = byEstimate(math.MaxInt64); h.shortFirst {
		s.sorted = byEstimate(short)
	} else {
		s.list = newWaiting(0)
	}
	return s, nil
}

// Begin implements online.TwoTierPolicy.
func (s *twoTierScheduler) Begin(p online.TwoTierPlatform) error {
	s.processors, s.free, s.migration = int32(p.Processors), int32(p.Processors), p.Migration
	s.twoTiers = newTwoTiers(p.Processors, p.Threshold, s.unknown)
	s.touches = s.rule == lifted
	s.promotable = func(k int32, is bool) {
		switch {
		case s.rule != pinned:
		case is:
			s.enlist(k)
		default:
			s.unlist(k)
		}
	}
	return nil
}

// Event implements online.TwoTierPolicy.
func (s *twoTierScheduler) Event(e online.TwoTierEvent) error {
	if s.events = append(s.events, e); e.Type == online.Submitted {
		return s.learn(e.Job.Use)
	}
	return nil
}

// Decide implements online.TwoTierPolicy.
func (s *twoTierScheduler) Decide() ([]online.TwoTierDecision, error) {
	all := false
	for i := range s.events {
		e := &s.events[i]
		s.now = e.At
		if e.Type != online.Ended {
			all = true
		}
		if e.Type == online.Called {
			s.called = never
			s.awake()
		}
	}
	for i := range s.events {
		switch e := &s.events[i]; e.Type {
		case online.Ended:
			all = s.end(e.Job.Number) == inForeground || all
		case online.Submitted:
			s.arrive(e.Job)
		}
	}
	s.events = s.events[:0]
	if all {
		s.pass()
	} else {
		s.background()
	}
	s.refresh()
	return s.decisionsMade(), nil
}

// arrive lets a job wait.
func (s *twoTierScheduler) arrive(j *online.TwoTierJob) {
	if len(s.jobs) == cap(s.jobs) { // append makes room for a quarter more, and copies often
		more := len(s.jobs) + 64
		s.jobs, s.starts, s.state = slices.Grow(s.jobs, more), slices.Grow(s.starts, more), slices.Grow(s.state, more)
	}
	s.jobs, s.starts = append(s.jobs, request{j.Submit, j.Estimate, j.Processes}), append(s.starts, -1)
	s.state = append(s.state, tierJob{use: j.Use})
	s.arrived = j.Number + 1
	s.enlist(j.Number)
	s.shortest.add(j.Number, j.Processes, j.Estimate)
}

// enlist adds job k to those that may go to the foreground.
func (s *twoTierScheduler) enlist(k int32) {
	if j := &s.jobs[k]; s.sorted != nil {
		s.sorted.add(k, j.width, j.estimate)
	} else {
		s.list.add(k, j.width, j.estimate)
	}
}

// unlist removes job k, if it is there.
func (s *twoTierScheduler) unlist(k int32) {
	if s.sorted != nil {
		s.sorted.remove(k)
	} else {
		s.list.remove(k)
	}
}

// next returns the first job after job k (-1: of all) that may go to the foreground and can
// be backfilled there; -1: there is none.
func (s *twoTierScheduler) next(k, extra int32, slack int64) int32 {
	if s.sorted != nil {
		return s.sorted.next(k, s.free, extra, slack)
	}
	return s.list.next(max(k+1, s.head), s.arrived, s.free, extra, slack)
}

// change notes that the place of job k changes.
func (s *twoTierScheduler) change(k int32) {
	if x := &s.state[k]; !x.changed {
		x.changed = true
		s.changed = append(s.changed, k)
	}
}

// decisionsMade returns the decisions that bring jobs to the scheduler's places.
func (s *twoTierScheduler) decisionsMade() []online.TwoTierDecision {
	s.made = s.made[:0]
	for _, k := range s.changed {
		x := &s.state[k]
		x.changed = false
		d := online.TwoTierDecision{Type: online.Start, Job: k, Processors: x.list}
		tier := s.tier(k)
		if tier == inBackground {
			d.Tier = model.TierBackground
		}
		if x.told != waits {
			stays := &x.list[0] == &x.toldList[0]
			switch {
			case stays && tier == x.told:
				continue
			case stays || s.rule != killed:
				d.Type = online.Move
			default:
				s.made = append(s.made, online.TwoTierDecision{Type: online.Kill, Job: k})
			}
		}
		x.told, x.toldList = tier, x.list
		s.made = append(s.made, d)
	}
	s.changed = s.changed[:0]
	if s.wakes < s.called {
		s.called = s.wakes
		s.made = append(s.made, online.TwoTierDecision{Type: online.CallAt, At: s.wakes})
	}
	return s.made
}

// end ends job k and returns its tier.
func (s *twoTierScheduler) end(k int32) phase {
	tier := s.state[k].phase
	if tier == inBackground {
		s.leaveBackground(k)
		s.unlist(k)
	} else {
		s.leaveForeground(k)
	}
	s.state[k].phase = hasEnded
	return tier
}

// refresh lifts and lowers jobs in the background with a changed foreground.
func (s *twoTierScheduler) refresh() {
	for _, k := range s.touched {
		s.state[k].touched = false
		if s.state[k].phase == inBackground {
			s.lift(k)
		}
	}
	s.touched = s.touched[:0]
}
