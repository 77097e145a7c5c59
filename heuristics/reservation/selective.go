// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// Selective is LeastLoad, but declines requests that are too large. If every request counts the same, one that takes a
// thousand PEs for hours costs many small ones. If PE-seconds were a fluid, taking requests from the smallest up until
// they fill a share of all PE-seconds would accept the most. The largest of these is the threshold.
//
// Online, the threshold is computed from the requests that have arrived so far. Let S be the PE-ticks of the smallest
// of them. The number of these is the largest for which S ≤ fill · PEs · (now - first arrival + mean of deadline -
// arrival). So requests look ahead for as long as they have on average until their deadline. While all requests so far
// are below the threshold, none is declined.
//
// Keeping the sizes sorted takes O(n) per request, on top of the search. Selective doesn't serve the goals in which
// large requests count as much as they take, or all count: then it is LeastLoad.
//
// When ctx ends, it returns the requests accepted by then. The error is model.ErrNoSolution if the goal is all and a
// request was declined.
func Selective(ctx context.Context, in *model.Reservation, _ model.Settings) (*model.Bookings, error) {
	return booked(ctx, in, &searcher{by: leastLoad, share: fill})
}

// fill is the share of the cluster that the requests below the threshold may
// take. It is low because bookings with windows don't fill a cluster as a fluid
// does. On the workloads of the paper's experiments shares from 0.3 to 0.5 accept
// most, within four percentage points of each other.
const fill = 0.4

// threshold decides which requests are small enough, see Selective.
type threshold struct {
	off   bool
	rate  float64   // PE-ticks per tick that may be taken
	first int64     // arrival
	sizes []float64 // of the requests so far, in PE-ticks, ascending
	below int       // sizes[:below] are admitted
	sum   float64   // of sizes[:below]
	span  float64   // ticks from arrival to deadline, summed over the requests so far
}

func newThreshold(p online.ReservationPlatform, share float64) *threshold {
	return &threshold{off: p.Goal != model.GoalAccepted, rate: share * float64(p.PEs)}
}

// minimumSeen is how many requests must have arrived before any is declined.
const minimumSeen = 20

// admits adds a request that arrives now to those seen, and reports whether it is
// at or below the threshold.
func (t *threshold) admits(now int64, q query) bool {
	if t.off {
		return true
	}
	if len(t.sizes) == 0 {
		t.first = now
	}
	size := float64(q.PEs) * float64(q.Duration)
	at, _ := slices.BinarySearch(t.sizes, size)
	t.sizes = slices.Insert(t.sizes, at, size)
	if at < t.below {
		t.below++
		t.sum += size
	}
	t.span += float64(q.Deadline - now)
	budget := t.rate * (float64(now-t.first) + t.span/float64(len(t.sizes)))
	for t.below > 0 && t.sum > budget {
		t.below--
		t.sum -= t.sizes[t.below]
	}
	for t.below < len(t.sizes) && t.sum+t.sizes[t.below] <= budget {
		t.sum += t.sizes[t.below]
		t.below++
	}
	return len(t.sizes) <= minimumSeen || t.below > 0 && size <= t.sizes[t.below-1]
}
