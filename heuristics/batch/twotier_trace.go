// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// on names the processors of job k.
func (s *twoTierScheduler) on(k int32) string {
	list := model.ProcessorList(s.state[k].list)
	if len(list) == 1 {
		return "processor " + list.String()
	}
	return "processors " + list.String()
}

// toldUp tells how job k has come to the foreground, and what becomes of its work; before
// it came there it was in the phase from, on the processors old.
func (s *twoTierScheduler) toldUp(k int32, from phase, old []int32, delay int64) {
	if s.tracer == nil {
		return
	}
	where := fmt.Sprintf("%s (free there then: %d); ends at %.9g s by its estimate", s.on(k), s.free, s.seconds(s.estimatedEnd(k)))
	switch {
	case from == waits:
		s.tell("foreground", k, "starts in the foreground on %s", where)
	case &old[0] == &s.state[k].list[0]:
		s.tell("change", k, "changes to the foreground with its work, for that is idle on all of its processors: %s", where)
	case s.rule == killed:
		s.tell("kill", k, "is killed in the background on processors %s, and starts anew in the foreground on %s", model.ProcessorList(old), where)
	default:
		s.tell("migrate", k, "migrates from the background on processors %s to the foreground on %s; it takes its work along, and %.9g s", model.ProcessorList(old), where, s.seconds(delay))
	}
}

// toldStuck tells why job k, the head, doesn't come to the foreground.
func (s *twoTierScheduler) toldStuck(k int32) {
	switch {
	case s.tracer == nil:
	case s.jobs[k].width > s.free:
		s.tell("wait", k, "needs %d processors of the foreground, %d are free: it is the head", s.jobs[k].width, s.free)
	case s.rule == pinned && s.state[k].phase == inBackground:
		s.tell("wait", k, "is pinned to %s in the background, and %d of these aren't idle in the foreground: it is the head", s.on(k), s.state[k].busy)
	default:
		s.tell("wait", k, "would take processors of jobs that are lifted: these go down first")
	}
}

// toldReservation tells the head's shadow time and the extra processors.
func (s *twoTierScheduler) toldReservation(head int32, shadow int64, extra int32) {
	if s.tracer != nil {
		s.tell("head", head, "has a reservation of the foreground at %.9g s (shadow time) by the estimates, and %d processors are idle until then besides (extra)", s.seconds(shadow), extra)
	}
}

// toldDown tells that job k has started in the background.
func (s *twoTierScheduler) toldDown(k int32) {
	if s.tracer != nil {
		s.tell("background", k, "starts in the background on %s: of the jobs that wait it has the shortest estimate among those that fit there", s.on(k))
	}
}

// toldLift tells that job k in the background runs in the other tier from now on.
func (s *twoTierScheduler) toldLift(k int32) {
	if s.tracer == nil {
		return
	}
	if s.state[k].up {
		s.tell("lift", k, "is lifted: the foreground of %s is idle", s.on(k))
	} else {
		s.tell("lower", k, "goes down to the background of %s: their foreground is taken", s.on(k))
	}
}

// toldEnd tells that job k has ended.
func (s *twoTierScheduler) toldEnd(k int32) {
	if s.tracer == nil {
		return
	}
	where := "foreground"
	if s.tier(k) == inBackground {
		where = "background"
	}
	s.tell("end", k, "ends in the %s on %s", where, s.on(k))
}
