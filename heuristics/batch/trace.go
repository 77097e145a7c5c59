// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/num/steps"
	"github.com/gapwise/gapwise/model"
)

// tracer reports the decisions of EASY; nil: nobody listens.
type tracer struct {
	in *model.Batch
	steps.Teller
}

// traceStep reports a step about job k.
func (m *machine) traceStep(what string, k int32, words string, args ...any) {
	id, now := m.tracer.in.Jobs[k].ID, m.seconds(m.now)
	m.tracer.Tell(what, id, steps.Figures("time", now, "processes", float64(m.jobs[k].width), "free", float64(m.free)),
		"%.9g s: job %s %s", now, id, fmt.Sprintf(words, args...))
}

// seconds returns ticks in seconds.
func (*machine) seconds(ticks int64) float64 { return float64(ticks) / 1e6 }

// traceStart reports that job k has started.
func (m *machine) traceStart(k int32) {
	m.traceStep("start", k, "starts on %d processors, %d are free then; ends at %.9g s by its estimate",
		m.jobs[k].width, m.free, m.seconds(m.estimatedEnd(k)))
}

// toldHead reports the shadow time of the head, and the extra processors.
func (s *easy) toldHead() {
	if s.tracer != nil {
		s.traceStep("head", s.head,
			"is the head: it needs %d processors, %d are free; by the estimates they are at %.9g s (shadow time), and %d then besides (extra)",
			s.jobs[s.head].width, s.free, s.seconds(s.shadow), s.extra)
	}
}

// toldJump reports why job k may start before the head.
func (s *easy) toldJump(k int32) {
	if s.tracer == nil {
		return
	}
	end := s.now + s.jobs[k].estimate
	if end <= s.shadow {
		s.traceStep("backfill", k, "may jump: it fits, and ends at %.9g s by its estimate, before the shadow time", s.seconds(end))
	} else {
		s.traceStep("backfill", k, "may jump: it fits in the %d extra processors, though it ends at %.9g s by its estimate, after the shadow time",
			s.extra, s.seconds(end))
	}
}
