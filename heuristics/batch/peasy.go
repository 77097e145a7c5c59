// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// PEASY is MEASY with two changes of ours:
//
//   - Step 2 backfills jobs with an estimate below a quarter of an hour first, the
//     shortest first, then all others by arrival. The head is still the first
//     arrival: no job waits for ever. EASY-SJBF's order of all jobs has slightly lower
//     slowdowns, but at high load longer responses.
//   - A job in the background is lifted while the foreground of all of its processors
//     is idle: it runs there, at the foreground's rate instead of its efficiency.
//     Changes of tier on the same processors are free. For the three steps it still
//     is in the background, and its processors are idle in the foreground. So it goes
//     down again as soon as they are taken.
//
// The foreground use must be below the threshold where it goes down. If a job with a larger use is to take processors
// of lifted jobs, these go down at once, below idle processors. The pass ends there, and another one is made a
// microsecond later.
//
// model.BatchParameters.Devices switches either off. Without both, PEASY is MEASY. The effect of each is in
// docs/results/summary.md, part batch: lifting in FWload above all, short jobs first in the slowdowns of JWload.
func PEASY(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	h := twoTierPolicy{lifted, true}
	switch devices := parametersOf(set).Devices; devices {
	case "", model.BatchDevicesAll:
	case model.BatchDevicesShort:
		h.rule = migrated
	case model.BatchDevicesLift:
		h.shortFirst = false
	case model.BatchDevicesNone:
		h = twoTierPolicy{migrated, false}
	default:
		return nil, fmt.Errorf("%w devices %q of peasy, must be one of %q", model.ErrUnsupported, devices, model.BatchDevicesOfPEASY)
	}
	return onTwoTiers(ctx, in, set, h)
}

// short is the estimate in ticks below which jobs are backfilled first.
const short = 900e6

// lifts is the state of PEASY.
type lifts struct {
	ups     int     // jobs in the background that are lifted
	lowered []int32 // jobs that aren't lifted at this instant, for one of large use
	wakes   int64   // when the next pass is due for that; never: it isn't
}

// inTheWay reports whether lifted jobs keep job k from going to the foreground at this instant. They do if its use
// isn't below the threshold and they are on the processors that k would take. If so, no job in the background of these
// processors is lifted at this instant: one that came up while another goes down would be in the way next time.
func (s *twoTierScheduler) inTheWay(k int32) bool {
	back := s.state[k].phase == inBackground
	if s.ups == 0 || slices.Max(s.state[k].use) < int64(s.threshold) || back && s.state[k].busy == 0 {
		return false
	}
	// Undo the work of deploy.
	if back {
		for _, p := range s.state[k].list {
			s.clearBack(p)
		}
	}
	array := s.array
	list := s.dispatch(k, &s.foreIdle)
	s.array = array
	for _, p := range list {
		s.foreIdle.add(s.back[p].use, p)
	}
	found := false
	for _, p := range list {
		if b := s.back[p].job; b >= 0 {
			found = found || s.state[b].up
			s.lowered = append(s.lowered, b)
			s.touch(b)
		}
	}
	if back {
		s.state[k].busy = 0
		for i, p := range s.state[k].list {
			if f := s.fore[p].use; f < s.threshold {
				s.backIdle.remove(f, p)
			}
			s.setBack(p, process{k, s.state[k].useOf(i)})
		}
	}
	if found {
		s.wakes = s.now + 1
	} else {
		s.lowered = s.lowered[:0]
	}
	return found
}

// awake begins a pass that inTheWay asked for.
func (s *twoTierScheduler) awake() {
	for _, b := range s.lowered {
		s.touch(b)
	}
	s.lowered, s.wakes = s.lowered[:0], never
}

// lift brings job k in the background to the tier where it runs from now on.
func (s *twoTierScheduler) lift(k int32) {
	up := s.rule == lifted && s.state[k].busy == 0 && !slices.Contains(s.lowered, k)
	if up == s.state[k].up {
		return
	}
	s.change(k)
	s.setUp(k, up)
}

func (s *twoTierScheduler) setUp(k int32, up bool) {
	if s.state[k].up = up; up {
		s.ups++
	} else {
		s.ups--
	}
}

// tier returns the tier in which job k runs.
func (s *twoTierScheduler) tier(k int32) phase {
	if s.state[k].up {
		return inForeground
	}
	return s.state[k].phase
}
