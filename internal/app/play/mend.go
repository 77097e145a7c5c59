// SPDX-License-Identifier: MIT

package play

import (
	"cmp"
	"context"
	"slices"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// mended keeps the parts of a solution that can stay, and adapts the rest. A dag's plan is played, jobs and requests
// start as soon as they fit, virtual machines leave overfull hosts. The result need not be feasible. The last moved
// part is kept where a person has put it.
func mended(ctx context.Context, in model.Instance, s model.Solution, keep string) (model.Solution, error) {
	if v, ok := in.(*model.VCSched); ok {
		s = withoutOverfull(v, s.(*model.Placement), keep)
	}
	s, _, err := gapwise.CompleteStart(ctx, in, s)
	return s, err
}

// withoutOverfull returns a placement without some jobs of the hosts with too few rigid resources. From each host it
// removes the smallest job that is enough, or the largest, until the rest fits; never the one to keep. They are placed
// again where there is room. O(hosts · jobs²) at worst.
func withoutOverfull(v *model.VCSched, p *model.Placement, keep string) *model.Placement {
	gone := make([]bool, len(p.Jobs))
	need := func(i, r int) float64 { return v.Jobs[i].Rigid(r) }
	for r := -1; r < len(v.Resources); r++ {
		for h := range v.Hosts {
			room, here := v.Capacity(h).Rigid(r), []int(nil)
			for i := range p.Jobs {
				if gone[i] {
					continue
				}
				for _, on := range p.Jobs[i].Hosts {
					if on == h {
						room -= need(i, r)
						if p.Jobs[i].ID != keep {
							here = append(here, i)
						}
					}
				}
			}
			here = slices.Compact(here)
			slices.SortStableFunc(here, func(a, b int) int { return cmp.Compare(need(a, r), need(b, r)) })
			for room < -1e-12 && len(here) > 0 {
				k := slices.IndexFunc(here, func(i int) bool { return need(i, r) >= -room })
				if k < 0 {
					k = len(here) - 1
				}
				gone[here[k]] = true
				room += need(here[k], r) // of one task at least
				here = slices.Delete(here, k, k+1)
			}
		}
	}
	rest := &model.Placement{}
	for i := range p.Jobs {
		if !gone[i] {
			rest.Jobs = append(rest.Jobs, p.Jobs[i])
		}
	}
	if len(rest.Jobs) == 0 {
		return p
	}
	return rest
}
