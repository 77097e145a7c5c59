// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/num/profile"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
)

// Conservative is conservative backfilling (Mu'alem, Feitelson: Utilization, Predictability, Workloads, and User
// Runtime Estimates in Scheduling the IBM SP2 with Backfilling, 2001). Each job gets a reservation at its submission,
// for the earliest time from which it fits for its estimate among the running jobs and all reservations. It starts
// then.
//
// The reservations are compressed when jobs end earlier than estimated. In the order of arrivals, each moves to the
// earliest time at which it now fits, the others where they are; this is repeated until none moves. So a reservation
// never moves to a later time, and none could be earlier. (Compressing once, as pyss does, can leave the machine idle
// while jobs wait.)
//
// A job that reaches its estimate and runs on is taken to need as long again as it has run. Then, and only then,
// reservations may move to later times: all are removed and made again in the order of arrivals.
//
// A compression of q waiting jobs on a profile of p steps, at most two for each running and each waiting job, takes
// O(q) per round, and O(log p + steps passed) for each job that is tried. Measured on 200,000 jobs of the Feitelson
// model on 320 processors, at loads 0.7, 0.8 and 0.9: an early end takes 1.7, 2.7 and 3.8 rounds of 93, 260 and 475
// jobs. It tries 19, 42 and 75 and moves 6, 13 and 22 of them. All follow the number of waiting jobs, and so does the
// time per job. At load 0.8 that number is still growing after 400,000 jobs: its mean in the four quarters is 188, 354,
// 454 and 505. So a job takes 3 µs among 10,000 jobs, 10 µs among 200,000 and 35 µs among a million (see
// docs/results/performance.md); memory is linear. On a machine of nodes see conservativeNodes.
func Conservative(ctx context.Context, in *model.Batch, set model.Settings) (*model.Execution, error) {
	if err := lowestAlone(set); err != nil {
		return nil, err
	}
	t := view.Shared(ctx, in, view.OfBatch)
	_, estimates, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	// Reservations may follow one another, each for an estimate.
	sum := 0.0
	for _, e := range estimates {
		sum += float64(e)
	}
	if sum > processors.MostEstimates {
		return nil, fmt.Errorf("%w: estimates sum to %.3g s, reservations take %.3g at most", model.ErrUnsupported, sum/1e6, processors.MostEstimates/1e6)
	}
	return onOneTier(ctx, in, set, newConservative)
}

type conservative struct {
	*machine
	profile profile.Profile // estimated use by running jobs, from 0 on, and by reservations
	ends    []int64         // estimated end of each running job; 0: it isn't running
	arrived int32
	known   int32               // jobs before known have reservations or have started
	queue   []reservation       // in the order of arrivals
	classes [widthClasses]int32 // jobs of each class in queue
	next    int64               // at or before the earliest reservation; never: there is none
	// freed holds the processors given back since the last look at a job's reservation, moved the holes made in this
	// round of a compression.
	freed, moved holes
	expiry       heap.Heap[completion]
}

// reservation is the reservation of a waiting job.
type reservation struct {
	start, estimate int64
	job, width      int32
	class           int32 // ⌊log2 width⌋
}

// widthClasses is the number of classes of an int32.
const widthClasses = 31

func newConservative(m *machine) scheduler {
	if m.nodes != nil {
		return newConservativeNodes(m)
	}
	s := &conservative{machine: m, profile: profile.Profile{Capacity: int(m.processors)}, next: never,
		expiry: heap.Heap[completion]{Less: completion.before}}
	s.freed.clear()
	s.moved.clear()
	return s
}

func (s *conservative) arrive(k int32) {
	s.arrived, s.ends = k+1, append(s.ends, 0)
}

func (s *conservative) end(k int32) {
	s.profile.Add(0, s.ends[k], -int(s.jobs[k].width))
	s.record(s.now, s.ends[k])
	s.ends[k] = 0
}

// record adds the holes that processors given back over [from, to) are in.
func (s *conservative) record(from, to int64) {
	if from >= to {
		return
	}
	least := 0
	for least < widthClasses && s.classes[least] == 0 {
		least++
	}
	s.profile.Holes(s.now, from, to, least, func(c int, start, end int64) {
		if s.classes[c] > 0 { // only jobs in the queue are looked at again
			s.freed.add(c, from, start, end)
			s.moved.add(c, from, start, end)
		}
	})
}

func (s *conservative) wake() int64 {
	at := s.next
	for s.expiry.Len() > 0 {
		if x := s.expiry.Items[0]; s.ends[x.job] == x.at {
			at = min(at, x.at)
			break
		}
		s.expiry.Pop()
	}
	return at
}

func (s *conservative) pass() {
	if s.extend() {
		for i := range s.queue {
			s.occupy(&s.queue[i], -1)
		}
		for i := range s.queue {
			s.reserve(&s.queue[i])
		}
		s.freed.clear()
	}
	s.compress()
	for ; s.known < s.arrived; s.known++ {
		j := &s.jobs[s.known]
		x := reservation{estimate: j.estimate, width: j.width, job: s.known, class: int32(bits.Len32(uint32(j.width))) - 1}
		s.reserve(&x)
		s.queue = append(s.queue, x)
		s.classes[x.class]++
	}
	if s.next > s.now {
		return
	}
	rest := s.queue[:0]
	s.next = never
	for _, x := range s.queue {
		if x.start > s.now {
			rest = append(rest, x)
			s.next = min(s.next, x.start)
			continue
		}
		k := x.job
		s.start(k)
		s.classes[x.class]--
		s.profile.Add(0, s.now, int(x.width)) // so that no steps lie in the past
		s.ends[k] = s.estimatedEnd(k)
		s.expiry.Push(completion{at: s.ends[k], job: k})
	}
	s.queue = rest
}

// extend extends the estimates that jobs have overrun and reports whether there are
// any.
func (s *conservative) extend() (any bool) {
	for s.expiry.Len() > 0 && s.expiry.Items[0].at <= s.now {
		x := s.expiry.Pop()
		if s.ends[x.job] != x.at {
			continue
		}
		end := s.now + (s.now - s.starts[x.job])
		s.profile.Add(x.at, end, int(s.jobs[x.job].width))
		s.ends[x.job] = end
		s.expiry.Push(completion{at: end, job: x.job})
		any = true
	}
	return any
}

// occupy adds a reservation to the profile, or removes it if sign is -1.
func (s *conservative) occupy(x *reservation, sign int) {
	s.profile.Add(x.start, x.start+x.estimate, sign*int(x.width))
}

// reserve makes the earliest reservation for a job.
func (s *conservative) reserve(x *reservation) {
	x.start, _ = s.profile.First(int(x.width), x.estimate, s.now, never-x.estimate)
	s.next = min(s.next, x.start)
	s.occupy(x, 1)
}

// compress moves reservations to earlier times, in rounds, until none moves.
//
// A hole of class c is a longest span of time from now on in which 2^c processors are free. A job of width w, class c =
// ⌊log2 w⌋, estimate e and reservation r can start at s < r if w is free over W = [s, min(s+e, r)). (The profile holds
// the reservation itself from r on.) The recorded holes of its class are bounded (see bounds): the job is skipped if r
// ≤ from, or length < e and end < r. It is tried from begin on.
//
// Proof: let it be able to start at s. At the last look it couldn't: less than w was free somewhere in W, and
// processors have been given back there since. Take the last time that any were given back in W, over [f, t). Since
// then, the free processors in W have only become fewer: w was free over W. So the hole [b, d) of class c around W was
// recorded, and begin ≤ b ≤ s. W ends at r at the latest and meets [f, t), so from ≤ max(b, f) < r. If s+e ≤ r, then e
// ≤ d-b ≤ length; else r ≤ d ≤ end.
//
// Since the last look means: by ends since the last compression, or by moves in this
// round and the one before.
func (s *conservative) compress() {
	for s.freed.any {
		s.moved.clear()
		for i := range s.queue {
			x := &s.queue[i]
			h, old := &s.freed.class[x.class], x.start
			// All are at least 0, so no difference overflows. One branch that is nearly
			// never taken instead of three: a twelfth of the whole time at load 0.9.
			if (h.from-old)&^((h.length-x.estimate)&(h.end-old)) >= 0 {
				continue // old <= h.from || h.length < x.estimate && h.end < old
			}
			start, ok := s.profile.Gap(int(x.width), x.estimate, max(s.now, h.begin), old)
			if !ok {
				continue
			}
			x.start, s.next = start, min(s.next, start)
			from, to := max(start+x.estimate, old), old+x.estimate
			s.profile.Add(start, min(start+x.estimate, old), int(x.width))
			s.profile.Add(from, to, -int(x.width))
			s.record(from, to)
		}
		s.freed, s.moved = s.moved, s.freed
	}
}

// holes bounds the holes of each class.
type holes struct {
	any   bool
	class [widthClasses]bounds
}

// bounds bounds holes [b, d) that processors given back from f on are in.
type bounds struct {
	from, begin int64 // least max(b, f) and least b; never: there are none
	length, end int64 // largest d-b and largest d
}

func (h *holes) add(class int, f, b, d int64) {
	h.any = true
	x := &h.class[class]
	x.from, x.begin = min(x.from, max(b, f)), min(x.begin, b)
	x.length, x.end = max(x.length, d-b), max(x.end, d)
}

func (h *holes) clear() {
	h.any = false
	for c := range h.class {
		h.class[c] = bounds{from: never, begin: never}
	}
}
