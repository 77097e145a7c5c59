// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"math"
	"math/big"

	"github.com/gapwise/gapwise/internal/duals"
	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// mostSizedClique is how many jobs are looked at for tasks of which no two fit on one host.
const mostSizedClique = 500

// sized is find for hosts that differ in size. Of CPU it looks at the load below the given one, of
// which the hosts have so much room each.
func (r *reasons) sized(ctx context.Context, load int64, infeasible bool) *model.Evidence {
	classes := view.OfVCSched(r.in).Classes
	memory := make([]int64, len(classes)) // at least what the judge reckons
	room, number := make([]int64, len(classes)), make([]int64, len(classes))
	most, mostMemory := int64(0), int64(0)
	for k := range classes {
		c := &classes[k]
		units := r.in.Capacity(int(c.Hosts[0])).Memory * float64(r.scale)
		memory[k] = int64(math.Ceil(units*(1+2e-9))) + r.capacity - r.scale
		room[k], number[k] = math.MaxInt64/4, int64(len(c.Hosts))
		if !infeasible {
			room[k] = c.Room(load - 1)
		}
		most, mostMemory = max(most, room[k]), max(mostMemory, memory[k])
	}
	less := func(room []int64, needs []int64) bool {
		x := new(big.Int)
		for k, n := range number {
			x.Add(x, new(big.Int).Mul(big.NewInt(room[k]), big.NewInt(n)))
		}
		for k, need := range needs {
			x.Sub(x, new(big.Int).Mul(big.NewInt(need), big.NewInt(int64(r.count[k]))))
		}
		return x.Sign() < 0
	}
	if infeasible {
		if less(memory, r.size[1]) {
			return &model.Evidence{Type: evidence.Sum, Resource: "memory"}
		}
		if e := r.filling(ctx, 1, mostMemory); e != nil {
			return e
		}
		return r.sizedClique(ctx, memory, room)
	}
	if load <= r.scale || less(room, r.size[0]) {
		return &model.Evidence{Type: evidence.Sum, Resource: "cpu"}
	}
	if r.items[0] == nil {
		r.items[0] = duals.NewItems(r.size[0], r.count)
	}
	if n, f := r.items[0].Bound(ctx, most); n > r.hosts {
		return &model.Evidence{Type: evidence.Filling, Resource: "cpu", Function: f, Load: load - 1}
	}
	tasks := int64(0)
	for _, k := range decreasing(r.size[0]) {
		need := r.size[0][k]
		if tasks += int64(r.count[k]); need <= 0 || ctx.Err() != nil {
			break
		}
		taken := int64(0)
		for c, x := range room {
			taken += number[c] * min(x/need, tasks)
		}
		if taken < tasks {
			return &model.Evidence{Type: evidence.Crowd, Count: int(tasks)}
		}
	}
	return r.sizedClique(ctx, memory, room)
}

// sizedClique returns tasks of which no two fit on one host, if there are more of them than hosts, in
// the order of either need. O(jobs² classes)
func (r *reasons) sizedClique(ctx context.Context, memory, room []int64) *model.Evidence {
	if len(r.count) > mostSizedClique {
		return nil
	}
	conflict := func(a, b int32) bool {
		for c := range room {
			if r.size[0][a]+r.size[0][b] <= room[c] && r.size[1][a]+r.size[1][b] <= memory[c] {
				return false
			}
		}
		return true
	}
	for _, size := range r.size {
		e := &model.Evidence{Type: evidence.Clique}
		number := int64(0)
		var set []int32
	next:
		for _, k := range decreasing(size) {
			for _, o := range set {
				if !conflict(k, o) {
					continue next
				}
			}
			n := int64(1)
			if conflict(k, k) {
				n = min(int64(r.count[k]), r.hosts+1-number)
			}
			set, number = append(set, k), number+n
			e.Elements, e.Weights = append(e.Elements, r.in.Jobs[k].ID), append(e.Weights, float64(n))
			if number > r.hosts {
				return e
			}
			if ctx.Err() != nil {
				return nil
			}
		}
	}
	return nil
}
