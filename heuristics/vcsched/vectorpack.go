// SPDX-License-Identifier: MIT

package vcsched

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
)

// vectorPacker generalises mcbPacker to any number of resources, by the permutation pack of Leinberger, Karypis and
// Kumar (Multi-capacity bin packing algorithms with applications to job scheduling under multiple constraints, 1999)
// with a window of one. Each resource has a list of the tasks that need most of it, as a share of the mean host, the
// later resource of equals. A host takes the first task that fits from the list of the resource with its largest share
// left, the earlier of equals. If none does, it goes on to the resource with the next largest. With CPU and memory
// alone these are the two lists of mcbPacker.
//
// Hosts that differ are filled in the order of increasing size, the sum of their shares of the mean host's capacities.
// So the large ones are left for tasks that fit nowhere else. (Stillwell, Vivien, Casanova: Virtual Machine Resource
// Allocation for Service Hosting on Heterogeneous Distributed Platforms, 2012, do the same for vector packing.)
//
// O(n log n + resources n H) for a yield.
type vectorPacker struct {
	u     *view.VCSched
	key   sortKey
	sign  float64
	mean  []float64 // [resource, CPU first]: what the mean host has, in units
	order []int32   // hosts in the order in which they are filled

	tracer *tracer // nil: nobody listens

	hosts []int32
	keyed []vectorTask
}

type vectorTask struct {
	key  float64
	task int32
	list int
}

func newVectorPacker(u *view.VCSched, key sortKey, sign float64, x *tracer) *vectorPacker {
	p := &vectorPacker{u: u, key: key, sign: sign, mean: []float64{0}, tracer: x}
	for k := range u.Classes {
		p.mean[0] += float64(u.Classes[k].Room(u.Scale)) * float64(len(u.Classes[k].Hosts)) / float64(u.Hosts)
	}
	p.mean = append(p.mean, meanCaps(u)...)
	size := make([]float64, len(u.Classes))
	for k := range u.Classes {
		size[k] = float64(u.Classes[k].Room(u.Scale)) / p.mean[0]
		for r, has := range u.Classes[k].Cap {
			size[k] += float64(has) / p.mean[1+r]
		}
	}
	p.order = order.Of[int32](u.Hosts)
	order.Stable(p.order, func(a, b int32) int { return cmp.Compare(size[u.ClassOf(a)], size[u.ClassOf(b)]) })
	p.hosts, p.keyed = make([]int32, len(u.CPU)), make([]vectorTask, len(u.CPU))
	return p
}

// pack implements packer.
func (p *vectorPacker) pack(ctx context.Context, yield float64) ([]int32, bool) {
	u := p.u
	for i := range p.keyed {
		share := float64(u.CPU[i]) * yield / p.mean[0]
		sum, least, largest, list := share, share, share, 0
		for r, needs := range u.Rigid {
			share := float64(needs[i]) / p.mean[1+r]
			sum, least = sum+share, min(least, share)
			if share >= largest {
				largest, list = share, 1+r
			}
		}
		p.keyed[i] = vectorTask{p.sign * p.key(sum, least, largest), int32(i), list}
	}
	slices.SortFunc(p.keyed, func(a, b vectorTask) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.task, b.task)) })
	lists := make([][]int32, len(p.mean))
	for _, t := range p.keyed {
		lists[t.list] = append(lists[t.list], t.task)
	}
	p.tracer.yield(yield, lists)
	looks := watch{ctx: ctx}
	placed := 0
	left, has := make([]int64, len(p.mean)), make([]int64, len(p.mean))
	share, wanted := make([]float64, len(p.mean)), make([]int, len(p.mean))
	load := int64(math.Min(float64(u.Scale)/yield, math.MaxInt64/4))
	for _, h := range p.order {
		if placed == len(p.hosts) {
			break
		}
		if looks.over(len(p.hosts) - placed) {
			return nil, false
		}
		c := &u.Classes[u.ClassOf(h)]
		left[0] = c.Room(load)
		copy(left[1:], c.Cap)
		copy(has, left)
		// A task that didn't fit on this host won't later, since its room only shrinks.
		from := make([]int, len(lists))
		for {
			for r := range left {
				wanted[r], share[r] = r, 0
				if has[r] > 0 {
					share[r] = float64(left[r]) / float64(has[r])
				}
			}
			order.Falling(wanted, share)
			task := int32(-1)
			for _, r := range wanted {
				if task = p.first(lists[r], &from[r], left); task >= 0 {
					p.tracer.pick(h, share, wanted[0], r, task)
					lists[r][from[r]] = -1
					break
				}
			}
			if task < 0 {
				break
			}
			p.hosts[task] = h
			placed++
			left[0] -= u.CPU[task]
			for r, needs := range u.Rigid {
				left[1+r] -= needs[task]
			}
		}
		p.tracer.shut(h, share, len(p.hosts)-placed)
		for r := range lists {
			lists[r] = slices.DeleteFunc(lists[r], func(i int32) bool { return i < 0 })
		}
	}
	return p.hosts, placed == len(p.hosts)
}

// first returns the first task of the list, at place from or after it, that fits in the room left, and moves from to
// it; -1 if there is none.
func (p *vectorPacker) first(list []int32, from *int, left []int64) int32 {
next:
	for ; *from < len(list); *from++ {
		i := list[*from]
		if i < 0 || p.u.CPU[i] > left[0] {
			continue
		}
		for r, needs := range p.u.Rigid {
			if needs[i] > left[1+r] {
				continue next
			}
		}
		return i
	}
	return -1
}
