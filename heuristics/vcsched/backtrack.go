// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// placementAttempts limits how often GB and SGB put a task on a host (section 3.3).
const placementAttempts = 500_000

// GB is GR with chronological backtracking: if no host has the memory for a task, the
// task before tries its next host in the order of load. It fails after
// placementAttempts placements.
// O((n + placementAttempts) H). On equal hosts with memory alone, a task that comes to a host for the first time costs
// O(log H) and O(1) for each host of less load without the memory.
func GB(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	return placed(ctx, in, set, backtrackBy(instanceOrder))
}

// SGB is GB with the tasks by decreasing memory need.
func SGB(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	return placed(ctx, in, set, backtrackBy(memoryOrder))
}

// backtrackBy places the tasks in the order of a function.
func backtrackBy(order func(*view.VCSched) []int32) placer {
	return func(ctx context.Context, u *view.VCSched, _ model.Settings) ([]int32, error) {
		return backtrack(ctx, u, order(u), placementAttempts)
	}
}

// backtrack places the tasks in order. Each level tries hosts by (load, number), so the next one is the smallest pair
// above the last: a scan finds it, without a sorted list for each level.
func backtrack(ctx context.Context, u *view.VCSched, order []int32, attempts int) ([]int32, error) {
	hosts := make([]int32, len(order))
	s := newStock(u)
	byLoad := newLoadHeap(s)
	last := make([]int32, len(order)) // host tried last at a level, -1 for none
	last[0] = -1
	looks := watch{ctx: ctx}
	for k, made := 0, 0; k < len(order); {
		if looks.over(u.Hosts) {
			return nil, stopped(ctx)
		}
		i := order[k]
		from := last[k]
		if from >= 0 { // take it back
			s.put(i, int(from), -1)
			byLoad.fix(from)
		}
		var next int32
		if from < 0 && s.plain {
			next = byLoad.first(i)
		} else {
			next = s.nextByLoad(i, from)
		}
		if next < 0 {
			if k--; k < 0 {
				return nil, fmt.Errorf("%w: every placement was tried, none fits in memory", model.ErrNoSolution)
			}
			continue
		}
		if made++; made > attempts {
			return nil, fmt.Errorf("%w: %d placements were tried", model.ErrNoSolution, attempts)
		}
		s.put(i, int(next), 1)
		byLoad.fix(next)
		hosts[i], last[k] = next, next
		if k++; k < len(order) {
			last[k] = -1
		}
	}
	return hosts, nil
}

// nextByLoad returns the host for task i that is next by (load, number) after host from,
// the first for -1; -1 if there is none.
func (s *stock) nextByLoad(i, from int32) int32 {
	if s.plain { // the time of backtrack goes here
		next, load, room := int32(-1), s.load, s.most-s.u.Memory[i]
		for h, used := range s.memory {
			if used > room || next >= 0 && load[h] >= load[next] {
				continue
			}
			if from < 0 || load[h] > load[from] || load[h] == load[from] && h > int(from) {
				next = int32(h)
			}
		}
		return next
	}
	next, least, tried := int32(-1), int64(0), int64(0)
	if from >= 0 {
		tried = s.loadWith(i, int(from))
	}
	for h := range int32(s.u.Hosts) {
		if !s.fits(i, int(h)) {
			continue
		}
		load := s.loadWith(i, int(h))
		if next >= 0 && load >= least {
			continue
		}
		if from < 0 || load > tried || load == tried && h > from {
			next, least = h, load
		}
	}
	return next
}

// loadHeap is a binary heap of hosts by (load, number), for stock.plain.
type loadHeap struct {
	s     *stock
	hosts []int32 // the heap
	place []int32 // [host] in it
	stack []int32
}

func newLoadHeap(s *stock) *loadHeap {
	q := &loadHeap{s: s, hosts: make([]int32, s.u.Hosts), place: make([]int32, s.u.Hosts)}
	for h := range q.hosts { // no load yet: in order
		q.hosts[h], q.place[h] = int32(h), int32(h)
	}
	return q
}

func (q *loadHeap) less(a, b int32) bool {
	return q.s.load[a] < q.s.load[b] || q.s.load[a] == q.s.load[b] && a < b
}

// fix moves a host whose load has changed. O(log H).
func (q *loadHeap) fix(h int32) {
	k := q.place[h]
	for ; k > 0 && q.less(h, q.hosts[(k-1)/2]); k = (k - 1) / 2 {
		q.set(k, q.hosts[(k-1)/2])
	}
	for n := int32(len(q.hosts)); ; {
		child := 2*k + 1
		if child+1 < n && q.less(q.hosts[child+1], q.hosts[child]) {
			child++
		}
		if child >= n || !q.less(q.hosts[child], h) {
			break
		}
		q.set(k, q.hosts[child])
		k = child
	}
	q.set(k, h)
}

func (q *loadHeap) set(k, h int32) { q.hosts[k], q.place[h] = h, k }

// first is nextByLoad(i, -1) for plain hosts: no host below one in the heap is before it.
func (q *loadHeap) first(i int32) int32 {
	best, room := int32(-1), q.s.most-q.s.u.Memory[i]
	for q.stack = append(q.stack[:0], 0); len(q.stack) > 0; {
		k := q.stack[len(q.stack)-1]
		q.stack = q.stack[:len(q.stack)-1]
		if int(k) >= len(q.hosts) || best >= 0 && !q.less(q.hosts[k], best) {
			continue
		}
		if h := q.hosts[k]; q.s.memory[h] <= room {
			best = h
		} else {
			q.stack = append(q.stack, 2*k+1, 2*k+2)
		}
	}
	return best
}
