// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/steps"
	"github.com/gapwise/gapwise/model"
)

// tracer tells the decisions of a scheduler on one tier; nil: nobody listens.
type tracer struct {
	in *model.Batch
	steps.Teller
}

// tell tells a step about job k.
func (m *machine) tell(what string, k int32, words string, args ...any) {
	id, now := m.tracer.in.Jobs[k].ID, m.seconds(m.now)
	m.tracer.Tell(what, id, steps.Figures("time", now, "processes", float64(m.jobs[k].width), "free", float64(m.free)),
		"%.9g s: job %s %s", now, id, fmt.Sprintf(words, args...))
}

// seconds returns ticks in seconds.
func (*machine) seconds(ticks int64) float64 { return float64(ticks) / 1e6 }

// told tells that job k, which has started, has.
func (m *machine) told(k int32) {
	m.tell("start", k, "starts on %d processors, %d are free then; ends at %.9g s by its estimate", m.jobs[k].width, m.free, m.seconds(m.estimatedEnd(k)))
}

// waits tells that job k blocks the queue.
func (m *machine) waits(k int32) {
	if m.tracer != nil {
		m.tell("wait", k, "needs %d processors, %d are free: it waits, and all behind it", m.jobs[k].width, m.free)
	}
}

// toldHead tells the head's shadow time and the extra processors.
func (s *easy) toldHead() {
	if s.tracer != nil {
		s.tell("head", s.head, "is the head: it needs %d processors, %d are free; by the estimates they are at %.9g s (shadow time), and %d then besides (extra)",
			s.jobs[s.head].width, s.free, s.seconds(s.shadow), s.extra)
	}
}

// toldJump tells why job k may start, or go to the foreground, before the head.
func (m *machine) toldJump(k int32, shadow int64, extra int32) {
	if m.tracer == nil {
		return
	}
	end := m.now + m.jobs[k].estimate
	if end <= shadow {
		m.tell("backfill", k, "may jump: it fits, and ends at %.9g s by its estimate, before the shadow time", m.seconds(end))
	} else {
		m.tell("backfill", k, "may jump: it fits in the %d extra processors, though it ends at %.9g s by its estimate, after the shadow time", extra, m.seconds(end))
	}
}
