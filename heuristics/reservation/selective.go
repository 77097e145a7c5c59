package reservation

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Selective is LeastLoad that also declines what is too large. If every request
// counts the same, one that takes a thousand PEs for hours costs many small
// ones. Were PE-seconds a fluid, the most requests would be accepted by taking
// them from the smallest up until they are a share fill of all PE-seconds that there are.
// The largest of these is the threshold. Online it is had from the requests that
// have arrived so far and the PE-seconds until now and, since requests look
// ahead, for as long as they have on average from their arrival to their
// deadline. A request above the threshold is declined.
// While all that has come so far fits in, nothing is.
//
// O(n) per request for keeping the sizes sorted, besides the search. It doesn't
// serve the goals in which large requests count as much as they take or all
// count: then it is LeastLoad.
func Selective(ctx context.Context, in *model.Reservation, _ model.Settings) (*model.Bookings, error) {
	list := NewAvailability(in.PEs)
	small := newThreshold(in, fill)
	b, err := online(ctx, in, list, func(q Query) (Allocation, bool) {
		if !small.admits(list.now, q) {
			return Allocation{}, false
		}
		return list.Find(q, LeastLoad)
	})
	return declined(in, b, err)
}

// fill is the share of the cluster that the requests below the threshold may
// take. It is that low since bookings with windows don't fill a cluster as
// a fluid does. On the workloads of the paper's experiments shares from
// 0.3 to 0.5 accept most, within four points of each other.
const fill = 0.4

// threshold knows the sizes of the requests so far, in PE-ticks.
type threshold struct {
	off   bool
	rate  float64 // PE-ticks per tick that may be taken
	first int64   // arrival
	sizes []float64
	below int     // number of the smallest that are admitted
	sum   float64 // of theirs
	span  float64 // from arrival to deadline, all requests together
}

func newThreshold(in *model.Reservation, share float64) *threshold {
	return &threshold{off: in.EffectiveGoal() != model.GoalAccepted, rate: share * float64(in.PEs)}
}

// minimumSeen is how many requests are waited for before any is declined.
const minimumSeen = 20

// admits learns of a request that arrives now and reports whether it is at or
// below the threshold.
func (t *threshold) admits(now int64, q Query) bool {
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
