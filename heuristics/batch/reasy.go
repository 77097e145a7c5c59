// SPDX-License-Identifier: MIT

package batch

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// REASY is KEASY without kills (Liu et al., section 2.3.1, Algorithm 3). A job that
// has started in the background is pinned to its processors. It goes to the
// foreground only when the foreground of all of them is idle.
//
// A pinned job that can't go ends step 1 like one that doesn't fit, and is the head (the paper's J9 at time 11). Its
// shadow time is the last estimated end of the jobs in the foreground of its processors. The extra processors are those
// with an idle foreground now that aren't the head's. The reservation is one of a number of processors, as in Algorithm
// 3: dispatch may put a job that fits the extra ones on processors of the head.
func REASY(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	return onTwoTiers(ctx, in, set, twoTierPolicy{rule: pinned})
}

// reservePinned is reserve for a head in the background that is pinned.
func (s *twoTierScheduler) reservePinned(head int32) (shadow int64, extra int32) {
	shadow, extra = s.now, s.free
	for _, p := range s.state[head].list {
		if k := s.fore[p].job; k >= 0 {
			shadow = max(shadow, s.estimatedEnd(k))
		} else {
			extra--
		}
	}
	return shadow, extra
}
