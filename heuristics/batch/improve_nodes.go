// SPDX-License-Identifier: MIT

package batch

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/batch/joborder"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// orderSearch is a search over orders of jobs, from a schedule.
type orderSearch interface {
	// Improve goes on for about an effort and reports whether it has found a better schedule.
	Improve(ctx context.Context, effort int64) bool
	// Stale reports that more effort would hardly help.
	Stale() bool
}

// nodesSearch is joborder.Search on a machine of nodes. Its schedule of an order starts each job as soon as it fits, by
// best fit, and those before it have started. So each schedule with the same nodes is no better than the schedule of its
// own order of starts, on nodes that hold one process each.
//
// Windows go over the order as in joborder, with the same moves and late acceptance. Jobs in the first half of a window
// keep their starts and nodes then, and the next window follows them. A sweep over all windows makes a schedule, which is
// kept if it is better than the best. Placing a job takes O(processes + classes of nodes + running jobs).
type nodesSearch struct {
	t        *view.Batch
	lengths  []int64
	rng      *rand.Rand
	order    []int32
	course   processors.Course
	sum      float64 // of the weighted starts, less those of the submissions
	placed   int64   // jobs so far
	found    int64   // placed when the best was found
	counted  int64   // placed at the last stop
	try      nodesDecoder
	accepted [nodesLate]float64
}

const (
	nodesWindow = 60
	nodesMoves  = 5    // for each job of a window
	nodesLate   = 20   // moves that late acceptance looks back
	nodesStale  = 2000 // times the jobs, without a better schedule
)

// nodesDecoder is a schedule up to a moment.
type nodesDecoder struct {
	state   *nodes.State
	now     int64
	running []completion // by end
	starts  []int64
	lists   [][]int32
}

func newNodesSearch(t *view.Batch, lengths, starts []int64, seed uint64) *nodesSearch {
	s := &nodesSearch{t: t, lengths: lengths, rng: rand.New(rand.NewPCG(seed, 0x6e6f646573)), order: make([]int32, len(starts))}
	for k := range s.order {
		s.order[k] = int32(k)
	}
	order.Stable(s.order, func(a, b int32) int { return cmp.Compare(starts[a], starts[b]) })
	d := s.begin()
	s.place(d, s.order)
	s.course, s.sum = processors.Course{Starts: d.starts, Lists: d.lists}, s.sumOf(d.starts)
	return s
}

// Stale implements orderSearch.
func (s *nodesSearch) Stale() bool {
	return len(s.order) < 2 || s.placed-s.found > nodesStale*int64(len(s.order))
}

func (s *nodesSearch) sumOf(starts []int64) (sum float64) {
	for k, at := range starts {
		j := &s.t.Jobs[k]
		sum += float64(float64(j.Weight) * float64(at-j.Submit)) // rounded, not fused
	}
	return sum
}

// begin returns the schedule of no job.
func (s *nodesSearch) begin() *nodesDecoder {
	return &nodesDecoder{state: nodes.New(s.t.Nodes), starts: make([]int64, len(s.t.Jobs)), lists: make([][]int32, len(s.t.Jobs))}
}

// place places jobs one after the other.
func (s *nodesSearch) place(d *nodesDecoder, jobs []int32) {
	s.placed += int64(len(jobs))
	for _, k := range jobs {
		j := &s.t.Jobs[k]
		for d.leave(s.t, j.Submit); !d.state.Fits(j.Needs, j.Processes); {
			d.leave(s.t, d.running[0].at)
		}
		d.starts[k], d.lists[k] = d.now, d.state.Fit(j.Needs, j.Processes)
		d.state.Take(j.Needs, d.lists[k])
		x := completion{d.now + s.lengths[k], k}
		i, _ := slices.BinarySearchFunc(d.running, x, completion.compare)
		d.running = slices.Insert(d.running, i, x)
	}
}

// leave has the jobs leave that end by a time, which is now if it is later.
func (d *nodesDecoder) leave(t *view.Batch, at int64) {
	d.now = max(d.now, at)
	over := 0
	for ; over < len(d.running) && d.running[over].at <= d.now; over++ {
		k := d.running[over].job
		d.state.Give(t.Jobs[k].Needs, d.lists[k])
	}
	d.running = slices.Delete(d.running, 0, over)
}

// cost returns the weighted starts of the jobs of an order after a schedule.
func (s *nodesSearch) cost(d *nodesDecoder, order []int32) (sum float64) {
	s.try = nodesDecoder{d.state.Clone(), d.now, append(s.try.running[:0], d.running...), d.starts, d.lists}
	s.place(&s.try, order)
	for _, k := range order {
		sum += float64(float64(s.t.Jobs[k].Weight) * float64(d.starts[k]-d.now)) // rounded, not fused
	}
	return sum
}

// mostPlacedLate is how many jobs are placed after ctx has ended: that takes less than 0.1 s.
const mostPlacedLate = 20_000

// Improve implements orderSearch. When ctx ends, the jobs that are left are placed in the order of the best schedule, if
// they aren't too many.
func (s *nodesSearch) Improve(ctx context.Context, effort int64) bool {
	if len(s.order) < 2 {
		return false
	}
	for end := s.placed + effort; s.placed < end; {
		d, order := s.begin(), slices.Clone(s.order)
		stopped := false
		for from := 0; from < len(order); {
			size := nodesWindow
			if from == 0 {
				size = nodesWindow/2 + s.rng.IntN(nodesWindow/2) // windows begin elsewhere each time
			}
			to, next := min(len(order), from+size), from+size/2
			if stopped = !s.search(ctx, d, order[from:to]); stopped && len(order)-from > mostPlacedLate {
				return false
			} else if stopped || to == len(order) {
				next = len(order)
			}
			s.place(d, order[from:next])
			from = next
		}
		if sum := s.sumOf(d.starts); sum < s.sum {
			s.order, s.course, s.sum, s.found = order, processors.Course{Starts: d.starts, Lists: d.lists}, sum, s.placed
			return true
		}
		if stopped {
			return false
		}
	}
	return false
}

// search improves the order of the jobs of a window after a schedule, and reports whether ctx goes on.
func (s *nodesSearch) search(ctx context.Context, d *nodesDecoder, order []int32) bool {
	m := len(order)
	if m < 2 {
		return true
	}
	cost := s.cost(d, order)
	least, best := cost, slices.Clone(order)
	for i := range s.accepted {
		s.accepted[i] = cost
	}
	going := true
	for move := 0; going && move < nodesMoves*m; move++ {
		j := 1 + s.rng.IntN(m-1)
		i, kind := s.rng.IntN(j), s.rng.IntN(joborder.Kinds)
		joborder.Exchange(order[i:j+1], kind)
		if c := s.cost(d, order); c <= cost || c <= s.accepted[move%nodesLate] {
			cost = c
		} else {
			joborder.Exchange(order[i:j+1], joborder.Opposite(kind))
		}
		if s.accepted[move%nodesLate] = cost; cost < least {
			least = cost
			copy(best, order)
		}
		if effort := (s.placed - s.counted) / placedPerMicrosecond; effort > 0 {
			s.counted = s.placed
			going = !meter.Stop(ctx, effort)
		}
	}
	copy(order, best)
	return going
}

// placedPerMicrosecond is how many jobs are placed in a microsecond, for meter.Stop: half as many on 1,000 nodes.
const placedPerMicrosecond = 1
