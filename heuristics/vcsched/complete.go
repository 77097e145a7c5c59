// SPDX-License-Identifier: MIT

package vcsched

import (
	"github.com/gapwise/gapwise/internal/core/partial"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Complete makes a placement of the instance from one that may lack jobs, or have others. Jobs of the same number of
// tasks, on hosts that the instance has, stay where they are. The tasks of the others are placed greedily, in the order
// of decreasing larger need. Each goes to the host of least load that has the memory or, without one, to the one with
// the most memory left. Tasks that run now stay on their hosts if there is a migration budget. So the result may not
// fit; it is one to start from. Every job has the CPU shares of the best minimum yield. The error wraps
// model.ErrInvalid, see model.Match.
func Complete(in *model.VCSched, start *model.Placement) (*model.Placement, model.Completion, error) {
	of, c, err := partial.Match(in.Jobs, func(x *model.VCSchedJob) string { return x.ID },
		start.Jobs, func(x *model.JobPlacement) string { return x.ID })
	if err != nil {
		return nil, c, err
	}
	var kept []int32 // by task; -1: free
	for i := range in.Jobs {
		stays := of[i] >= 0 && len(start.Jobs[of[i]].Hosts) == in.Jobs[i].Tasks
		for k := 0; stays && k < in.Jobs[i].Tasks; k++ {
			h := start.Jobs[of[i]].Hosts[k]
			stays = h >= 0 && h < in.Hosts
		}
		if of[i] >= 0 && !stays {
			c.Added, c.Ignored = c.Added+1, c.Ignored+1
		}
		for k := range in.Jobs[i].Tasks {
			h := int32(-1)
			if stays {
				h = int32(start.Jobs[of[i]].Hosts[k])
			}
			kept = append(kept, h)
		}
	}
	u := view.OfVCSched(in)
	for i, h := range u.Current {
		if kept[i] < 0 {
			kept[i] = h
		}
	}
	hosts := greedyWith(u, kept)
	return in.NewPlacement(hosts, in.Yield(hosts)), c, nil
}
