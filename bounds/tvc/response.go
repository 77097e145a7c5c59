package tvc

import (
	"math"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/squashed"
	"github.com/gapwise/gapwise/model"
)

// Response returns bounds of the mean response time of queue mode from below, over
// the requests that fit, weakest first but for the two in the middle:
//
//   - runtime: the mean duration.
//   - srpt, mean-busy-time: of one machine as fast as all slots together, see
//     package squashed. The second is above the first where many requests need
//     few slots for long, below it where they need many.
//   - squashed: the best of these three in each busy period of that machine, the
//     best of all.
//
// All hold with suspension and migration, whatever the embedder, the fabric and
// the cost of a migration are: links are left out. The sum of responses is a whole
// number of ticks, so it is rounded up to one; the mean is rounded down twice, as
// the objective is rounded twice. O(n log n)
func Response(t *model.TVCTicks) []bounds.Bound {
	var jobs []squashed.Job
	runtime := int64(0)
	for k := range t.Requests {
		if q := &t.Requests[k]; q.Fits {
			jobs = append(jobs, squashed.Job{Release: q.Arrival, Duration: q.Duration, Slots: q.VMs, Per: 1})
			runtime += q.Duration
		}
	}
	b := squashed.Of(jobs, t.Servers*t.Slots)
	bound := func(name string, ticks float64) bounds.Bound {
		if len(jobs) == 0 {
			return bounds.Bound{Name: name}
		}
		mean := t.Seconds(int64(math.Ceil(ticks))) / float64(len(jobs))
		return bounds.Bound{Name: name, Value: math.Nextafter(math.Nextafter(mean, 0), 0)}
	}
	sum := float64(runtime) // below 2^53: the durations sum to 10^15 at most
	return []bounds.Bound{bound("runtime", sum), bound("srpt", b.SRPT), bound("mean-busy-time", b.MeanBusy), bound("squashed", max(sum, b.Best))}
}
