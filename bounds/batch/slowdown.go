// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// slowdownFloor is τ in ticks.
const slowdownFloor = int64(model.SlowdownFloor * 1e6)

// Slowdown returns a bound of the mean bounded slowdown from below. It is the bound of the weighted responses, by at
// most so many machines and on one tier by so many subgradient steps of prices. Weights are in proportion to 1/max(τ,
// work) instead of the jobs' own (view.Batch.Slowed). No job's bounded slowdown is below 1. That may give less for jobs
// shorter than τ, so a second look leaves them out and counts them as 1. O(most · n log n), without the steps
func Slowdown(ctx context.Context, t *view.Batch, most, steps int) bounds.Bound {
	best := bounds.Bound{Name: evidence.MeanSlowdown, Value: 1, Evidence: &model.Evidence{Type: evidence.Sum, Method: "runtime"}}
	for _, shortest := range []int64{0, slowdownFloor} {
		slowed, out := t.Slowed(slowdownFloor, shortest)
		if slowed == nil || len(slowed.Jobs) == 0 || shortest > 0 && out == 0 {
			continue
		}
		r := newJobs(slowed)
		all := r.response(ctx, slowed, most)
		if priced(t) && ctx.Err() == nil {
			all = append(all, pricesBound(ctx, slowed, r, steps))
		}
		weights := 0.0
		for k := range slowed.Jobs {
			weights += float64(slowed.Jobs[k].Weight)
		}
		for _, b := range all {
			sum := b.Value * 1e6 * weights / view.SlowedUnit / float64(slowdownFloor)
			// The margin exceeds the rounding of these sums.
			if value := (float64(out) + sum) / float64(len(t.Jobs)) * (1 - 1e-9); value > best.Value {
				best.Value, best.Evidence = value, b.Evidence
			}
		}
	}
	if best.Evidence != nil { // there is none of many prices
		best.Evidence.Figure = best.Name
	}
	return best
}

// MostSlowdown returns a bound of the largest bounded slowdown from below. If it could be S, each job would end by r +
// S·max(τ, work) on the machine of response, too. There the job due first at each instant keeps all such dates if they
// can be kept (Horn: Some simple scheduling algorithms, 1974). S is found by bisection, until ctx ends, and then by the
// window in which that rule was busy with jobs due there (windowed). O(n log n) for each of its steps
func MostSlowdown(ctx context.Context, t *view.Batch) bounds.Bound {
	r, m := newJobs(t), machinesOf(t, 1)[0]
	b := bounds.Bound{Name: evidence.MostSlowdown, Value: 1}
	best := model.EvidenceWindow{From: 0, To: 1}
	try := func(w model.EvidenceWindow) bool {
		x := windowed(t, r, m, w)
		if better := x > b.Value; better {
			b.Value, best = x, w
			return true
		}
		return false
	}
	low := 1.0
	for k := range r.jobs { // on its own
		low = max(low, float64(r.jobs[k].Duration)/float64(max(slowdownFloor, t.Jobs[k].Length))*(1-0x1p-40))
	}
	b.Value = low
	high := 2 * low
	for !meter.Stop(ctx, int64(len(t.Jobs))) {
		w, late := tooSoon(t, r, m, high)
		if !late {
			break
		}
		try(w)
		low, high = high, 2*high
	}
	for !meter.Stop(ctx, int64(len(t.Jobs))) && high-low > 1e-6*low {
		middle := (low + high) / 2
		if w, late := tooSoon(t, r, m, middle); late {
			low = middle
			try(w)
		} else {
			high = middle
		}
	}
	b.Evidence = &model.Evidence{Type: evidence.Windows, Figure: b.Name, Windows: []model.EvidenceWindow{best},
		Resource: m.why.Resource, Rows: m.why.Rows}
	return b
}

// windowed returns the bound of the largest bounded slowdown by a window of ticks: jobs submitted in it have S = (to -
// submission)/max(τ, work) if they end with it. The jobs of the largest S that need more than the machine has in the
// window don't all end in it, so their least S isn't reached; 0 if all fit.
func windowed(t *view.Batch, r *jobs, m machine, w model.EvidenceWindow) float64 {
	type job struct{ slowdown, work float64 }
	var all []job
	for k := range r.jobs {
		if j := &r.jobs[k]; j.Release >= w.From && j.Release < w.To {
			all = append(all, job{float64(w.To-j.Release) / float64(max(slowdownFloor, t.Jobs[k].Length)), float64(j.Duration) * float64(m.demand(k))})
		}
	}
	slices.SortFunc(all, func(a, b job) int { return cmp.Compare(b.slowdown, a.slowdown) })
	left := float64(w.To-w.From) * float64(m.capacity) * (1 + 1e-12)
	for _, j := range all {
		if left -= j.work; left < 0 {
			return j.slowdown * (1 - 1e-12)
		}
	}
	return 0
}

// tooSoon reports that the machine can't give each job a bounded slowdown of at most s. It returns the window up to a
// date that isn't kept, in which the machine only did work due by then. Times are floating-point numbers, in ticks from
// the first submission. Each has at most 2n roundings, so a job is late if it is by more than 10^-9 of the time.
func tooSoon(t *view.Batch, r *jobs, m machine, s float64) (w model.EvidenceWindow, late bool) {
	type due struct{ at, left float64 }
	type piece struct{ from, to, due float64 }
	var done []piece
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
			done = append(done, piece{now, release(next), first.at})
			now = release(next)
			continue
		}
		done = append(done, piece{now, now + first.left, first.at})
		now += first.left
		if last := queue.Pop().at; now > last*(1+1e-9) {
			from := done[len(done)-1].from
			for i := len(done) - 2; i >= 0 && done[i].due <= last && done[i].to >= from; i-- {
				from = done[i].from
			}
			return model.EvidenceWindow{From: r.jobs[0].Release + int64(from), To: r.jobs[0].Release + int64(math.Ceil(last))}, true
		}
	}
	return w, false
}
