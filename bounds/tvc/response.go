// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/squashed"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// Response returns bounds of the mean response time of queue mode from below, over
// the requests that fit:
//
//   - runtime: the mean duration.
//   - srpt, mean-busy-time: of one machine as fast as all slots together, see package squashed. The second is above the
//     first if many requests need few slots for long, and below it if they need many.
//   - squashed: the best of these in each busy period of that machine, or of the machine with the joint rate of all
//     links of servers, or of a machine of slots and links (tvcrelax.Shares); the best of all.
//
// All hold with suspension and migration, whatever the embedder and the cost of a
// migration are. When ctx ends, the machines that are left aren't looked at.
// O(n log n)
func Response(ctx context.Context, t *view.TVC) []bounds.Bound {
	r := newResponses(t)
	all := []bounds.Bound{r.bound("runtime", r.runtime, model.Evidence{Type: evidence.Sum})}
	if ctx.Err() != nil {
		return all
	}
	slots := squashed.Of(r.jobs(func(k int) int { return t.Requests[k].VMs }), t.Servers*t.Slots)
	bySlots := model.Evidence{Type: evidence.Machine, Resource: "slots"}
	best, why := r.runtime, *all[0].Evidence
	if slots.Best > best {
		best, why = slots.Best, bySlots
	}
	for _, x := range tvcrelax.NewTree(t).Resources(t, r.requests, true)[min(1, len(r.requests)):] { // the first is the slots
		if meter.Stop(ctx, int64(len(t.Requests))) {
			break
		}
		if sum := r.boundBy(x); sum > best {
			best, why = sum, x.Evidence(evidence.Machine)
		}
	}
	return append(all, r.bound("srpt", slots.SRPT, bySlots), r.bound("mean-busy-time", slots.MeanBusy, bySlots), r.bound("squashed", best, why))
}

// ResponseByResources returns a bound as Response does, the best of the machines
// of all resources (see resource), or of those looked at when ctx ends.
func ResponseByResources(ctx context.Context, t *view.TVC) bounds.Bound {
	r := newResponses(t)
	best, why := r.runtime, model.Evidence{Type: evidence.Sum}
	for _, x := range tvcrelax.NewTree(t).Resources(t, r.requests, false) {
		if ctx.Err() != nil {
			break
		}
		if sum := r.boundBy(x); sum > best {
			best, why = sum, x.Evidence(evidence.Machine)
		}
	}
	return r.bound("resources", best, why)
}

// responses bounds the sum of the responses of the requests that fit.
type responses struct {
	t        *view.TVC
	requests []int   // that fit
	runtime  float64 // the sum of their durations, rounded down
}

func newResponses(t *view.TVC) *responses {
	r := &responses{t: t}
	for k := range t.Requests {
		if q := &t.Requests[k]; q.Fits {
			r.requests = append(r.requests, k)
			r.runtime += float64(q.Duration)
		}
	}
	r.runtime = down(r.runtime, len(r.requests))
	return r
}

// down returns a lower bound on the sum of n whole numbers of less than 2^53, given their sum as float64s: it is exact
// below 2^53.
func down(sum float64, n int) float64 {
	if sum < 1<<53 {
		return sum
	}
	return sum * (1 - float64(n+1)*0x1p-53)
}

// jobs returns the requests as jobs of a machine.
func (r *responses) jobs(slots func(k int) int) []squashed.Job {
	var all []squashed.Job
	for _, k := range r.requests {
		if n := slots(k); n > 0 {
			all = append(all, squashed.Job{Release: r.t.Requests[k].Arrival, Duration: r.t.Requests[k].Duration, Slots: n, Per: 1, Weight: 1})
		}
	}
	return all
}

// boundBy returns the bound in ticks by the machine of a resource, in its whole numbers as the judge does. If those are too
// large, its capacity is so many parts, and demands are rounded down to parts (the second factor is more than the
// demand may err by). A request without demand takes its duration.
func (r *responses) boundBy(x tvcrelax.Resource) float64 {
	parts, whole := 1<<40, x.Whole()
	if whole.Capacity > 0 {
		parts = int(whole.Capacity)
	}
	demand := make([]int, len(r.t.Requests))
	others := 0.0
	for i, k := range r.requests {
		if whole.Capacity > 0 {
			demand[k] = int(min(whole.Demand[i], whole.Capacity))
		} else {
			demand[k] = int(x.Demand[i] / x.Capacity * float64(parts) * (1 - 0x1p-50))
		}
		if demand[k] == 0 {
			others += float64(r.t.Requests[k].Duration)
		}
	}
	best := squashed.Of(r.jobs(func(k int) int { return demand[k] }), parts).Best
	return down(down(others, len(r.requests))+best, 1)
}

// bound returns a bound of the mean from a bound of the sum, in ticks. The sum is a whole number, so it is rounded up
// to one; as a float64 it is one from 2^53 on, and it may be more than an int64. The mean is rounded down twice, as the
// objective is rounded twice.
func (r *responses) bound(name string, sum float64, why model.Evidence) bounds.Bound {
	why.Method = name
	if len(r.requests) == 0 {
		return bounds.Bound{Name: name, Evidence: &why}
	}
	mean := math.Ceil(sum) / 1e6 / float64(len(r.requests))
	return bounds.Bound{Name: name, Value: math.Nextafter(math.Nextafter(mean, 0), 0), Evidence: &why}
}
