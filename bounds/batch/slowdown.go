// SPDX-License-Identifier: MIT

package batch

import (
	"context"

	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// slowdownFloor is τ in ticks.
const slowdownFloor = int64(model.SlowdownFloor * 1e6)

// Slowdown returns a bound of the mean bounded slowdown from below, by the machines
// of response, at most so many, with the weights 1/max(τ, work) instead of the jobs'
// own, and on one tier by so many subgradient steps of prices. No job's bounded slowdown is below 1, so that
// shorter jobs than τ, for which the machine may give less, are left out of it in a
// second look, and count as 1. The objective is a sum with n roundings. O(most · n
// log n), without the steps
func Slowdown(ctx context.Context, t *view.Batch, most, steps int) float64 {
	n := len(t.Jobs)
	if n == 0 {
		return 1
	}
	best := float64(n)
	for _, shortest := range []int64{0, slowdownFloor} {
		r := newJobs(t)
		out := 0
		for k := range r.jobs {
			r.jobs[k].Weight = 1
			if r.jobs[k].Per = max(slowdownFloor, t.Jobs[k].Length); t.Jobs[k].Length < shortest {
				r.skip[k] = true
				out++
			}
		}
		if shortest == 0 && t.Tiers == 1 {
			_, value := r.ascend(ctx, t, 1, steps)
			best = max(best, value)
		}
		if shortest > 0 && out == 0 {
			continue
		}
		for _, m := range machinesOf(t, most) {
			best = max(best, float64(out)+m.sums(r).Best)
		}
	}
	return max(1, best/float64(n)*(1-0x1p-40-float64(n)*0x1p-52))
}

// MostSlowdown returns a bound of the largest bounded slowdown from below. If it
// could be S, each job would end by r + S·max(τ, work) on the machine of response,
// too. There the job due first at each instant keeps all such dates if they can be
// kept (Horn: Some simple scheduling algorithms, 1974). S is found by bisection, as
// far as ctx allows. O(n log n) for each of its steps
func MostSlowdown(ctx context.Context, t *view.Batch) float64 {
	r, m := newJobs(t), machinesOf(t, 1)[0]
	low := 1.0
	for k := range r.jobs {
		low = max(low, float64(least(t, k))/float64(max(slowdownFloor, t.Jobs[k].Length))*(1-0x1p-40))
	}
	high := 2 * low
	for ; !turns.Stop(ctx, int64(len(t.Jobs))) && tooSoon(t, r, m, high); high *= 2 {
		low = high
	}
	for !turns.Stop(ctx, int64(len(t.Jobs))) && high-low > 1e-6*low {
		if middle := (low + high) / 2; tooSoon(t, r, m, middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// tooSoon reports that the machine can't give each job a bounded slowdown of at most
// s. Times are floating-point numbers, in ticks from the first submission. Each has
// at most 2n roundings, so a job is late if it is by more than 10^-9 of the time.
func tooSoon(t *view.Batch, r *jobs, m machine, s float64) bool {
	type due struct{ at, left float64 }
	queue := heap.Heap[due]{Less: func(a, b due) bool { return a.at < b.at }}
	now := 0.0
	release := func(k int) float64 { return float64(r.jobs[k].Release - r.jobs[0].Release) }
	for next := 0; next < len(r.jobs) || queue.Len() > 0; {
		if queue.Len() == 0 {
			now = max(now, release(next))
		}
		for ; next < len(r.jobs) && release(next) <= now; next++ {
			queue.Push(due{release(next) + s*float64(max(slowdownFloor, t.Jobs[next].Length)),
				float64(r.jobs[next].Duration) * float64(m.demand(next)) / float64(m.capacity)})
		}
		first := &queue.Items[0]
		if next < len(r.jobs) && now+first.left > release(next) {
			first.left -= release(next) - now // it stays the first
			now = release(next)
			continue
		}
		now += first.left
		if now > queue.Pop().at*(1+1e-9) {
			return true
		}
	}
	return false
}
