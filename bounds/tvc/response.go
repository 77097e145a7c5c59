// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/squashed"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/tvcrelax"
	"github.com/gapwise/gapwise/internal/view"
)

// Response returns bounds of the mean response time of queue mode from below, over
// the requests that fit:
//
//   - runtime: the mean duration.
//   - srpt, mean-busy-time: of one machine as fast as all slots together, see
//     package squashed. The second is above the first where many requests need
//     few slots for long, below it where they need many.
//   - squashed: the best of these in each busy period of that machine, or of the
//     machine whose rate is that of all links of servers together; the best of all.
//
// All hold with suspension and migration, whatever the embedder and the cost of a
// migration are. When ctx ends, the machines that are left aren't looked at.
// O(n log n)
func Response(ctx context.Context, t *view.TVC) []bounds.Bound {
	r := newResponses(t)
	all := []bounds.Bound{r.bound("runtime", float64(r.runtime))}
	if ctx.Err() != nil {
		return all
	}
	slots := squashed.Of(r.jobs(func(k int) int { return t.Requests[k].VMs }), t.Servers*t.Slots)
	best := max(float64(r.runtime), slots.Best)
	for _, x := range tvcrelax.NewTree(t).Resources(t, r.requests, true)[min(1, len(r.requests)):] { // the first is the slots
		if turns.Stop(ctx, int64(len(t.Requests))) {
			break
		}
		best = max(best, r.of(x))
	}
	return append(all, r.bound("srpt", slots.SRPT), r.bound("mean-busy-time", slots.MeanBusy), r.bound("squashed", best))
}

// ResponseByResources returns a bound as Response does, the best of the machines
// of all resources (see resource), or of those looked at when ctx ends.
func ResponseByResources(ctx context.Context, t *view.TVC) bounds.Bound {
	r := newResponses(t)
	best := float64(r.runtime)
	for _, x := range tvcrelax.NewTree(t).Resources(t, r.requests, false) {
		if ctx.Err() != nil {
			break
		}
		best = max(best, r.of(x))
	}
	return r.bound("resources", best)
}

// responses bounds the sum of the responses of the requests that fit.
type responses struct {
	t        *view.TVC
	requests []int // that fit
	runtime  int64 // the sum of their durations, 10^15 at most
}

func newResponses(t *view.TVC) *responses {
	r := &responses{t: t}
	for k := range t.Requests {
		if q := &t.Requests[k]; q.Fits {
			r.requests = append(r.requests, k)
			r.runtime += q.Duration
		}
	}
	return r
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

// of returns the bound in ticks by the machine of a resource: its capacity is so
// many parts, of which demands are rounded down (the second factor is more than
// what the demand may err by). Who has no demand takes its duration.
func (r *responses) of(x tvcrelax.Resource) float64 {
	const parts = 1 << 40
	demand := make([]int, len(r.t.Requests))
	others := int64(0)
	for i, k := range r.requests {
		if demand[k] = int(x.Demand[i] / x.Capacity * parts * (1 - 0x1p-50)); demand[k] == 0 {
			others += r.t.Requests[k].Duration
		}
	}
	return float64(others) + squashed.Of(r.jobs(func(k int) int { return demand[k] }), parts).Best
}

// bound returns a bound of the mean for one of the sum, in ticks. The sum is a
// whole number, so it is rounded up to one. The mean is rounded down twice, as the
// objective is rounded twice.
func (r *responses) bound(name string, sum float64) bounds.Bound {
	if len(r.requests) == 0 {
		return bounds.Bound{Name: name}
	}
	mean := r.t.Seconds(int64(math.Ceil(sum))) / float64(len(r.requests))
	return bounds.Bound{Name: name, Value: math.Nextafter(math.Nextafter(mean, 0), 0)}
}
