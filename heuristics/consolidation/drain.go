// SPDX-License-Identifier: MIT

package consolidation

import (
	"cmp"
	"context"
	"slices"

	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// Drain empties one host after another, first the hosts with the greatest price for each task that has to move. Its
// tasks go, largest first, to the hosts in use on which they fit best. A host keeps its tasks if they don't all find a
// place, or if nothing is saved. It ends at the limit of the cost if moves are to be few. O(nH) for each host.
func Drain(ctx context.Context, in *model.Consolidation, set model.Settings) (*model.Assignment, error) {
	p := start(ctx, in, set)
	p.drain(ctx)
	p.rename()
	return p.result("drain")
}

// drain empties hosts until none can be emptied with gain.
func (p *packer) drain(ctx context.Context) {
	for again := true; again; {
		again = false
		var hosts []int
		moves := make([]int64, len(p.C.Hosts))
		for _, h := range p.used {
			if p.Tasks[h] == 0 || p.C.Hosts[h].Kept || p.C.Hosts[h].Price == 0 {
				continue
			}
			hosts = append(hosts, h)
			for _, t := range p.on[h] {
				moves[h] += p.C.Jobs[t.I].Move
			}
		}
		order.Stable(hosts, func(a, b int) int {
			return cmp.Or(cmp.Compare(p.C.Hosts[b].Price*(moves[a]+1), p.C.Hosts[a].Price*(moves[b]+1)), cmp.Compare(a, b))
		})
		for _, h := range hosts {
			if meter.Stop(ctx, effort(len(p.on[h]), len(p.used))) {
				return
			}
			if p.empty(h) {
				again = true
			}
		}
	}
}

// empty moves the tasks of a host to others in use, and reports whether it could and saves something; else nothing
// changes.
func (p *packer) empty(h int) bool {
	on := slices.Clone(p.on[h])
	for _, t := range on {
		if p.C.Jobs[t.I].Pinned {
			return false
		}
	}
	cost, feasible := p.Cost, p.Feasible()
	if limit := p.C.In.CostLimit; p.C.In.Goal == model.GoalMoves && (limit == nil || cost <= *limit) {
		return false // it is cheap enough
	}
	p.bySize(on)
	for _, t := range on {
		p.remove(t)
	}
	put := 0
	for _, t := range on {
		x := p.best(t, false, func(x int) bool { return x == h })
		if x < 0 {
			break
		}
		p.put(t, x)
		put++
	}
	done := put == len(on) && (p.Feasible() || !feasible) && p.Cost < cost
	if done {
		p.tidy()
		return true
	}
	for _, t := range on[:put] {
		p.remove(t)
	}
	for _, t := range on {
		p.put(t, h)
	}
	return false
}

// bySize sorts tasks by decreasing size.
func (p *packer) bySize(all []task) {
	order.Stable(all, func(a, b task) int { return cmp.Compare(p.size[b.I], p.size[a.I]) })
}
