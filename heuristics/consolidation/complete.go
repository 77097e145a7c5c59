// SPDX-License-Identifier: MIT

package consolidation

import (
	"context"

	"github.com/gapwise/gapwise/internal/core/partial"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Complete makes an assignment of the instance from one that may lack jobs, or have others. Tasks of jobs with the same
// number of tasks stay where they are if the host exists and may have them. Hosts that are bought stay bought if they
// are still offered. The others stay where they run now or go where they fit best, so that the result may leave some
// out that may not be. The error wraps model.ErrInvalid, see model.Match.
func Complete(in *model.Consolidation, start *model.Assignment) (*model.Assignment, model.Completion, error) {
	of, c, err := partial.Match(in.Jobs, func(x *model.ConsolidationJob) string { return x.ID },
		start.Jobs, func(x *model.JobAssignment) string { return x.ID })
	if err != nil {
		return nil, c, err
	}
	p := newPacker(in)
	hosts := map[string]int{}
	for k := range in.Hosts {
		hosts[in.Hosts[k].ID] = k
	}
	taken := map[int]bool{}
	for _, b := range start.Bought {
		for h := p.C.Existing; h < len(p.C.Hosts); h++ {
			if _, known := hosts[b.ID]; !known && !taken[h] && in.Offers[p.C.Hosts[h].Offer].ID == b.Offer {
				hosts[b.ID], taken[h] = h, true
			}
		}
	}
	for i := range in.Jobs {
		same := of[i] >= 0 && len(start.Jobs[of[i]].Hosts) == in.Jobs[i].Tasks
		if of[i] >= 0 && !same {
			c.Added, c.Ignored = c.Added+1, c.Ignored+1
		}
		for k, now := range p.C.Jobs[i].Current {
			if same {
				h, ok := hosts[start.Jobs[of[i]].Hosts[k]]
				if ok && p.Can(i, k, h) {
					p.put(task{i, k}, h)
					continue
				}
			}
			if now != view.Nowhere && p.Can(i, k, int(now)) {
				p.put(task{i, k}, int(now))
			}
		}
	}
	p.fill(context.Background())
	return p.C.Assignment(p.Plan), c, nil
}
