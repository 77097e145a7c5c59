// SPDX-License-Identifier: MIT

// Package joborder searches for orders of rigid parallel jobs with serial schedules of a small weighted sum of response
// times.
//
// The serial schedule of an order starts each job as early as it fits beside those before
// it. Some optimum is the serial schedule of its own order of starts (see
// bounds/batch.Serial).
package joborder

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Search is a search from a schedule. It can be continued at any time.
//
// Windows of consecutive jobs go over the order from its beginning to its end, again and again. In a window jobs are
// moved and exchanged (see window). The part before it stays, and nothing is behind it, so that a move costs no more in
// a large instance than in a small one. The schedule of the whole order is made now and then, and kept if it is no
// worse than the best; if it is worse, the search goes back to that.
//
// The result depends only on the instance, the seed and the effort, and not on how the effort was split into calls.
// Memory is linear in the jobs.
type Search struct {
	// Placed is the effort: how often a job has been placed, in windows or in whole schedules. A CPU of 2020 places 5
	// to 7 million jobs a second.
	Placed int64

	jobs       []job
	processors int32
	rng        *rand.Rand
	best       []int64 // starts
	sum        float64 // of the best schedule's waiting times, weighted
	found      int64   // Placed when it was found
	counted    int64   // Placed at the last stop
	order      []int32
	from       int     // position of the next window
	round      int64   // Placed when the whole schedule is made next; 0: a round begins
	length     int64   // of a round, in times the jobs
	sweeps     int     // how often windows have gone over the order
	size       int     // of the windows of this sweep
	before     steps   // beside the jobs before the window
	starts     []int64 // of the jobs up to the window
	window     window
}

// job holds the search's data of a job.
type job struct {
	submit, length int64
	weight         float64
	width          int32
}

// sizes are the sizes of windows, in turns: small ones bring much at once, but large ones get on where small ones stay
// in one place, and the other way round. At load 0.8 they leave 1,000, 5,000 and 10,000 jobs at 8,723, 12,402 and 9,312
// s after 4 s. Windows of 60 alone leave them at 8,871, 13,631 and 9,733 s (3 s), and windows of 250 alone at 8,829,
// 12,479 and 9,598 s.
var sizes = []int{60, 120, 250}

// The whole schedule is made when windows have placed so many times the jobs. It costs one to five of them. If it isn't
// better, because one window has spoilt the gains of others, it is made twice as often. Nothing is found for 100,000
// jobs at load 0.8 in 6 s with mostRound alone.
const leastRound, mostRound = 2, 40

// perMicrosecond is the number of jobs placed in a microsecond, for meter.Stop.
const perMicrosecond = 8

// New returns a search from a schedule in which jobs of the given lengths start at the given ticks. Unless ctx ends
// before, it first makes the serial schedule of that order, in which no job starts later.
func New(ctx context.Context, t *view.Batch, lengths, starts []int64, seed uint64) *Search {
	n := len(starts)
	s := &Search{jobs: make([]job, n), processors: int32(t.Processors), rng: rand.New(rand.NewPCG(seed, 0x6f72646572)),
		length: mostRound, best: slices.Clone(starts), order: make([]int32, n), starts: make([]int64, n)}
	for k := range n {
		j := &t.Jobs[k]
		s.jobs[k] = job{j.Submit, lengths[k], float64(j.Weight), int32(j.Processes)}
		s.order[k] = int32(k)
	}
	s.sum = s.sumOf(starts)
	s.sort(s.order, s.best)
	s.whole(ctx)
	return s
}

// Starts returns the starts of the jobs in the best schedule so far.
func (s *Search) Starts() []int64 { return s.best }

// Improve goes on until it has placed effort jobs, to within a few thousand, or ctx ends, and reports whether it has
// found a better schedule.
func (s *Search) Improve(ctx context.Context, effort int64) (better bool) {
	n := len(s.order)
	if n < 2 {
		return false
	}
	for end := s.Placed + effort; s.Placed < end && !s.stop(ctx); {
		if s.round == 0 {
			s.rebuild()
			s.round = s.Placed + s.length*int64(n)
		}
		s.slide()
		if s.from == n || s.Placed >= s.round {
			s.from %= n
			s.round = 0
			if s.whole(ctx) {
				better = true
				s.length = min(2*s.length, mostRound)
			} else {
				s.length = max(s.length/2, leastRound)
			}
		}
	}
	return better
}

// Stale reports that nothing better was found for so long that more effort would hardly help: for 10,000 times the
// jobs.
func (s *Search) Stale() bool {
	return len(s.order) < 2 || s.Placed-s.found > 10_000*int64(len(s.order))
}

// stop is meter.Stop for the jobs placed since the last call.
func (s *Search) stop(ctx context.Context) bool {
	effort := (s.Placed - s.counted) / perMicrosecond
	s.counted = s.Placed
	return meter.Stop(ctx, effort)
}

// sumOf returns the weighted sum of the waiting times.
func (s *Search) sumOf(starts []int64) float64 {
	sum := 0.0
	for k, at := range starts {
		sum += float64(s.jobs[k].weight * float64(at-s.jobs[k].submit)) // rounded, not fused
	}
	return sum
}

// sort sorts jobs by start, stably.
func (s *Search) sort(jobs []int32, starts []int64) {
	order.Stable(jobs, func(a, b int32) int { return cmp.Compare(starts[a], starts[b]) })
}

// whole makes the serial schedule of the order, keeps it if it isn't worse than the best,
// and sorts the order by the best starts. It reports whether there is a better one.
func (s *Search) whole(ctx context.Context) (better bool) {
	p := profile.Profile{Capacity: int(s.processors)}
	for i, k := range s.order {
		if i%1024 == 1023 && meter.Stop(ctx, 0) {
			s.sort(s.order, s.best)
			return false
		}
		j := &s.jobs[k]
		at, _ := p.First(int(j.width), j.length, j.submit, 1<<62)
		p.Add(at, at+j.length, int(j.width))
		s.starts[k] = at
	}
	s.Placed += int64(len(s.order))
	if sum := s.sumOf(s.starts); sum <= s.sum {
		if better = sum < s.sum; better {
			s.found = s.Placed
		}
		s.sum = sum
		s.best, s.starts = s.starts, s.best
	}
	s.sort(s.order, s.best)
	return better
}

// rebuild sets the steps before the next window, by the best schedule.
func (s *Search) rebuild() {
	b := &s.before
	first := s.best[s.order[max(0, s.from-sizes[0])]]
	if s.from == 0 {
		first = s.jobs[0].submit
	}
	b.at, b.free = append(b.at[:0], first), append(b.free[:0], s.processors)
	for _, k := range s.order[:s.from] {
		b.add(s.best[k], s.best[k]+s.jobs[k].length, s.jobs[k].width)
	}
}

// slide improves one window and goes on by half of its size.
func (s *Search) slide() {
	size := s.size
	if s.from == 0 {
		size = sizes[s.sweeps%len(sizes)]
		s.sweeps++
		s.size = size
		size = size/2 + s.rng.IntN(size/2) // windows begin elsewhere each time
	}
	end := min(len(s.order), s.from+size)
	next := s.from + size/2
	if end == len(s.order) {
		next = end
	}
	jobs := s.order[s.from:end]
	s.Placed += s.window.search(s, jobs)
	s.sort(jobs, s.starts)
	for _, k := range s.order[s.from:next] {
		s.before.add(s.starts[k], s.starts[k]+s.jobs[k].length, s.jobs[k].width)
	}
	if next < end {
		s.before.forget(s.starts[s.order[next]])
	}
	s.from = next
}
