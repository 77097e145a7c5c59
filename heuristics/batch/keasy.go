// SPDX-License-Identifier: MIT

package batch

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// KEASY is Algorithm 1 of Liu et al. (section 2.2), for two tiers. Its list holds all jobs that wait or run in the
// background, by arrival. It makes a pass at each instant at which jobs arrive or leave the foreground:
//
//  1. FCFS: jobs of the list go to the foreground in their order until one doesn't
//     fit.
//  2. EASY: that one, the head, has a reservation of foreground processors at its
//     shadow time, by the estimated ends of the foreground. All estimated ends at or
//     before the shadow time count, and a job that has overrun its estimate counts
//     as ending now, as in EASY. Each later job of the list, in its order, goes to
//     the foreground if it fits and either ends by the shadow time or fits the extra
//     processors.
//  3. SJF: waiting jobs go to the background in the order of their estimates, each
//     that fits (see deploy and dispatch).
//
// At an instant at which jobs only leave the background, it makes step 3 alone
// (section 2.2.1, point 1). A job waits no longer than until the foreground is
// empty, for then it fits: while jobs are in the list, one is in the foreground.
//
// Step 2 takes a job's whole estimate at the foreground's rate as its time, even if it has done work in the background.
// The paper's J8 isn't backfilled because of its "original execution time" (section 2.2.2). The same holds for its
// estimated end in the foreground, and the cost of a migration isn't in either. So a scheduler needs to know nothing of
// the progress of jobs.
//
// A job in the background that goes to the foreground on other processors is killed
// and restarted there. It loses its work.
func KEASY(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	return onTwoTiers(ctx, in, set, twoTierPolicy{rule: killed})
}

// pass makes steps 1 to 3.
func (s *twoTierScheduler) pass() {
	for ; s.head < s.arrived; s.head++ {
		if s.state[s.head].phase >= inForeground {
			continue
		}
		if s.jobs[s.head].width > s.free || !s.deploy(s.head) {
			break
		}
	}
	if s.head == s.arrived || s.wakes != never {
		return
	}
	if s.next(-1, s.free, 0) >= 0 {
		shadow, extra := s.reserve(s.head)
		slack := shadow - s.now
		for k := s.next(-1, extra, slack); k >= 0; k = s.next(k, extra, slack) {
			if !s.deploy(k) {
				return
			}
			if s.jobs[k].estimate > slack {
				extra -= s.jobs[k].width
			}
		}
	}
	s.background()
}

// reserve returns the shadow time of the head and the number of extra processors.
func (s *twoTierScheduler) reserve(head int32) (shadow int64, extra int32) {
	if s.state[head].phase == inBackground && s.rule == pinned {
		return s.reservePinned(head)
	}
	width := s.jobs[head].width
	shadow = max(s.now, s.ends.reach(width-s.free))
	return shadow, s.free + s.ends.until(shadow) - width
}

// background makes step 3.
func (s *twoTierScheduler) background() {
	if s.backIdle.count == 0 {
		return
	}
	for k := s.shortest.next(-1, s.backIdle.count, s.backIdle.count, 0); k >= 0; k = s.shortest.next(k, s.backIdle.count, s.backIdle.count, 0) {
		s.toBackground(k)
	}
}
