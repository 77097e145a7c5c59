// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"

	"github.com/gapwise/gapwise/model"
)

// EASY is EASY backfilling (Lifka: The ANL/IBM SP Scheduling System, 1995; Mu'alem,
// Feitelson: Utilization, Predictability, Workloads, and User Runtime Estimates in
// Scheduling the IBM SP2 with Backfilling, 2001).
//
// A pass starts jobs in the order of their arrivals while they fit. The first that doesn't is the head. Its shadow time
// is the earliest at which it fits, by the estimated ends of the running jobs; the extra processors are the others that
// are free then. All estimated ends at or before the shadow time count. A job that has overrun its estimate counts as
// ending now. Other jobs are then backfilled in a given order. A job starts if it fits now and either ends by the
// shadow time, by its estimate, or fits the extra processors, which it then takes.
//
// One look at each job is enough: free and extra processors only become fewer in a pass, so a job that was passed over
// stays so. For the same reason a pass after arrivals alone looks at the new jobs alone, if the shadow time hasn't
// passed. Let S be the shadow time of the last pass, at t, and x and f the processors that were extra and free at its
// end. Suppose that no job has ended and the head is the same. A pass at t' > t with t' ≤ S then has S, x and f, too:
// the jobs that end at or before S are the same plus the ones backfilled since, on processors that were free. A job of
// estimate e and width w that was passed over has w > f, or t + e > S and w > x; as t' > t it is passed over again. If
// t' > S, jobs have overrun and S becomes t': all is new.
func EASY(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	return onOneTier(ctx, in, set, func(m *machine) scheduler {
		if set.Trace != nil && m.nodes == nil {
			m.tracer = &tracer{in, set.Trace}
		}
		return newEASY(m)
	})
}

// EASYSJBF is EASY that backfills the shortest estimate first, ties by index (Tsafrir,
// Etsion, Feitelson: Backfilling Using System-Generated Predictions Rather Than
// User Runtime Estimates, 2007).
func EASYSJBF(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	return onOneTier(ctx, in, set, newEASYSJBF)
}

// EASYSAF is EASY that backfills the smallest area first, estimate times width, ties by
// index.
func EASYSAF(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	return onOneTier(ctx, in, set, newEASYSAF)
}

type easy struct {
	*machine
	head, arrived int32 // jobs before head have started, those from arrived on haven't arrived
	queued        int32 // jobs from head up to queued that haven't started are in queue
	stale         bool  // jobs have ended, or there is another head, since the last pass
	shadow        int64 // of the last pass; never: no job fitted, it wasn't needed
	extra         int32
	queue         *waiting // by index
	sorted        *ordered // used instead, if not nil
	ends          *estimatedEnds
}

// newEASY backfills in the order of arrivals.
func newEASY(m *machine) scheduler { return newEASYBy(m, nil) }

func newEASYSJBF(m *machine) scheduler {
	return newEASYBy(m, m.byEstimate)
}

func newEASYSAF(m *machine) scheduler {
	area := func(k int32) float64 { return float64(m.jobs[k].estimate) * float64(m.jobs[k].width) }
	return newEASYBy(m, func(a, b int32) int { return cmp.Compare(area(a), area(b)) })
}

// newEASYBy backfills in the given order, ties by index; nil: by index.
func newEASYBy(m *machine, order func(a, b int32) int) scheduler {
	switch {
	case m.nodes != nil:
		return newOnNodes(m, nil, true, order)
	case m.contiguous:
		return newPlaced(m, nil, true, order)
	}
	s := &easy{machine: m, ends: newEstimatedEnds()}
	if order == nil {
		s.queue = newWaiting(cap(m.jobs))
	} else {
		s.sorted = newOrdered(func(a, b int32) bool { return cmp.Or(order(a, b), cmp.Compare(a, b)) < 0 })
	}
	return s
}

func (s *easy) arrive(k int32) { s.arrived = k + 1 }

func (s *easy) end(k int32) {
	s.ends.remove(k, s.estimatedEnd(k), s.jobs[k].width)
	s.stale = true
}

// revise implements reviser.
func (s *easy) revise(k int32, old int64) {
	s.ends.remove(k, old, s.jobs[k].width)
	s.ends.add(k, s.estimatedEnd(k), s.jobs[k].width)
	s.stale = true
}

func (s *easy) begin(k int32) {
	if k < s.queued {
		s.dequeue(k)
	}
	s.start(k)
	s.ends.add(k, s.estimatedEnd(k), s.jobs[k].width)
}

// enqueue puts job k into the queue.
func (s *easy) enqueue(k int32) {
	if j := &s.jobs[k]; s.sorted != nil {
		s.sorted.add(k, j.width, j.estimate)
	} else {
		s.queue.add(k, j.width, j.estimate)
	}
}

// dequeue removes job k.
func (s *easy) dequeue(k int32) {
	if s.sorted != nil {
		s.sorted.remove(k)
	} else {
		s.queue.remove(k)
	}
}

// next returns the first job of the queue after job k (-1: of all) that can be backfilled;
// -1: there is none.
func (s *easy) next(k, extra int32, slack int64) int32 {
	if s.sorted != nil {
		return s.sorted.next(k, s.free, extra, slack)
	}
	return s.queue.next(max(k+1, s.head), s.queued, s.free, extra, slack)
}

func (s *easy) pass() {
	for ; s.head < s.arrived; s.head++ {
		if s.starts[s.head] >= 0 {
			continue
		}
		if s.jobs[s.head].width > s.free {
			break
		}
		s.begin(s.head)
		s.stale = true
	}
	first := max(s.queued, s.head)
	for s.queued = first; s.queued < s.arrived; s.queued++ {
		s.enqueue(s.queued)
	}
	switch {
	case s.head == s.arrived:
	case s.stale || s.now > s.shadow || s.sorted != nil && s.queued-first > 1:
		s.shadow = never
		if s.next(-1, s.free, 0) >= 0 {
			s.reserve()
			for k := s.next(-1, s.extra, s.shadow-s.now); k >= 0; k = s.next(k, s.extra, s.shadow-s.now) {
				s.backfill(k)
			}
		}
	default:
		for k := first; k < s.queued; k++ {
			if s.jobs[k].width > s.free {
				continue
			}
			if s.shadow == never {
				s.reserve()
			}
			if s.jobs[k].estimate <= s.shadow-s.now || s.jobs[k].width <= s.extra {
				s.backfill(k)
			}
		}
	}
	s.stale = s.head == s.arrived
}

// reserve computes shadow and extra for the head.
func (s *easy) reserve() {
	width := s.jobs[s.head].width
	s.shadow = max(s.now, s.ends.reach(width-s.free))
	s.extra = s.free + s.ends.until(s.shadow) - width
	s.toldHead()
}

func (s *easy) backfill(k int32) {
	s.toldJump(k)
	s.begin(k)
	if s.jobs[k].estimate > s.shadow-s.now {
		s.extra -= s.jobs[k].width
	}
}
