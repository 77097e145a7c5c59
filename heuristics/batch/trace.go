package batch

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// tracer tells the decisions of a scheduler on one tier; nil: nobody listens.
type tracer struct {
	in   *model.Batch
	emit func(model.Step)
}

// tell tells a step about job k.
func (m *machine) tell(what string, k int32, words string, args ...any) {
	x := m.tracer
	id := x.in.Jobs[k].ID
	s := model.Step{What: what, Of: id, Words: fmt.Sprintf("%.9g s: job %s ", m.seconds(m.now), id) + fmt.Sprintf(words, args...),
		Values: []model.StepValue{{Name: "time", Value: m.seconds(m.now)}, {Name: "processes", Value: float64(m.jobs[k].width)}, {Name: "free", Value: float64(m.free)}}}
	x.emit(s)
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

// toldBackfill tells why job k may start before the head.
func (s *easy) toldBackfill(k int32) {
	if s.tracer == nil {
		return
	}
	end := s.now + s.jobs[k].estimate
	if end <= s.shadow {
		s.tell("backfill", k, "may jump: it fits, and ends at %.9g s by its estimate, before the shadow time", s.seconds(end))
	} else {
		s.tell("backfill", k, "may jump: it fits in the %d extra processors, though it ends at %.9g s by its estimate, after the shadow time", s.extra, s.seconds(end))
	}
}
