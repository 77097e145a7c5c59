package dag

import (
	"context"
	"iter"

	"github.com/gapwise/gapwise/exact"
)

// workPerConflict returns how much work of the phases (expander) takes the time of a
// conflict of the kernel, about. Measured on 40 and 50 tasks with 40 and 800 edges: 0.24
// ms a conflict.
func (v *ticks) workPerConflict() int64 { return int64(max(1, 24_000/v.headsCost())) }

// learns reports whether the kernel takes turns with the phases.
func (s *dagSearch) learns() bool { return s.tuning.turn > 0 && s.tuning.off&devLearning == 0 }

// takeTurns has the learning kernel and the phases take turns until the gap is closed
// or ctx ends: the kernel for so many conflicts, then the phases for as much work,
// about. Turns grow by an eighth. Each goes on where it was interrupted, from the best
// schedule and the bound of both. So the effort is at most about twice what the better
// of both needs, and a first turn of the kernel.
//
// The phases run in a coroutine of their own, which l.pause interrupts. Turns count
// conflicts and work, so the result doesn't depend on the time.
func (s *dagSearch) takeTurns(l *levels) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	l.ctx = ctx
	end := int64(0)
	resume, stop := iter.Pull(func(yield func(struct{}) bool) {
		l.pause = func() {
			if l.work < end || ctx.Err() != nil {
				return
			}
			s.nodes = s.learnt + l.nodes
			if !yield(struct{}{}) {
				cancel() // what is left ends soon, with the bound that it has
				return
			}
			if upper, ends, on := l.fit(s.g, s.plan); upper < l.upper {
				l.upper, l.best, l.on = upper, ends, on
			}
		}
		s.runPhases(l)
	})
	defer stop()
	k := s.newLearner(l.ticks)
	for turn := s.tuning.turn; !s.closed() && s.ctx.Err() == nil; turn += turn / 8 {
		if k.turn(turn); s.closed() {
			break
		}
		end = l.work + turn*l.workPerConflict()
		if _, more := resume(); !more && !s.closed() {
			k.turn(0)
			break
		}
	}
	stop()
	s.reason = ""
	if !s.closed() {
		s.reason = exact.StopReason(s.ctx)
	}
	return nil
}
