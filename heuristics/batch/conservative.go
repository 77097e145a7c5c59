package batch

import (
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/internal/profile"
)

// conservative is conservative backfilling (Mu'alem, Feitelson: Utilization,
// Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2
// with Backfilling, 2001): each job gets a reservation at its submission, the
// earliest time from which it fits for its estimate beside the running jobs and all
// reservations, and starts when that comes.
//
// When jobs end earlier than estimated, the reservations are compressed: in the order
// of arrivals, each moves to the earliest time at which it now fits, the others where
// they are; this is repeated until none moves. So a reservation never moves to a
// later time, and none could be earlier. (Compressing once, as pyss does, can leave
// the machine idle while jobs wait.)
//
// A job that reaches its estimate and runs on is taken to need as long again as it
// has run. Then, and only then, reservations may move to later times: all are
// removed and made anew in the order of arrivals.
type conservative struct {
	*machine
	profile  profile.Profile // estimated use by running jobs, from 0 on, and by reservations
	reserved []int64         // start of each waiting job's reservation
	ends     []int64         // estimated end of each running job; 0: it isn't running
	arrived  int32
	known    int32 // jobs before known have reservations or have started
	queue    []int32
	classes  [32]int32 // jobs of each class in queue, see compress
	next     int64     // at or before the earliest reservation; never: there is none
	// freed holds what has been given back since the last look at a job's reservation,
	// moved what has been in this round of a compression: the holes that it has made.
	freed, moved holes
	expiry       heap.Heap[completion]
}

func newConservative(m *machine) scheduler {
	n := len(m.jobs)
	return &conservative{machine: m, profile: profile.Profile{Capacity: int(m.processors)}, reserved: make([]int64, n), ends: make([]int64, n), next: never,
		expiry: heap.Heap[completion]{Less: completion.before}}
}

func (s *conservative) arrive(k int32) { s.arrived = k + 1 }

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
	most := int32(0)
	s.profile.Steps(from, to, func(_, _ int64, used int) bool {
		most = max(most, s.processors-int32(used))
		return true
	})
	for c := 0; 1<<c <= most; c++ {
		if s.classes[c] == 0 {
			continue // only jobs in the queue are looked at again
		}
		s.profile.Free(1<<c, s.now, from, to-1, func(start, end int64) {
			s.freed.add(c, start, end)
			s.moved.add(c, start, end)
		})
	}
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
		for _, k := range s.queue {
			s.occupy(k, -1)
		}
		for _, k := range s.queue {
			s.reserve(k)
		}
		s.freed.clear()
	}
	s.compress()
	for ; s.known < s.arrived; s.known++ {
		s.reserve(s.known)
		s.queue = append(s.queue, s.known)
		s.classes[s.class(s.known)]++
	}
	if s.next > s.now {
		return
	}
	rest := s.queue[:0]
	s.next = never
	for _, k := range s.queue {
		if s.reserved[k] > s.now {
			rest = append(rest, k)
			s.next = min(s.next, s.reserved[k])
			continue
		}
		s.start(k)
		s.classes[s.class(k)]--
		s.profile.Add(0, s.now, int(s.jobs[k].width)) // so that no steps lie in the past
		s.ends[k] = s.estimatedEnd(k)
		s.expiry.Push(completion{s.ends[k], k})
	}
	s.queue = rest
}

// class returns ⌊log2 w⌋ of a job of width w.
func (s *conservative) class(k int32) int { return bits.Len32(uint32(s.jobs[k].width)) - 1 }

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
		s.expiry.Push(completion{end, x.job})
		any = true
	}
	return any
}

// occupy adds the reservation of job k to the profile, or removes it if sign is -1.
func (s *conservative) occupy(k int32, sign int) {
	s.profile.Add(s.reserved[k], s.reserved[k]+s.jobs[k].estimate, sign*int(s.jobs[k].width))
}

// reserve makes the earliest reservation for job k.
func (s *conservative) reserve(k int32) {
	j := &s.jobs[k]
	s.reserved[k], _ = s.profile.First(int(j.width), j.estimate, s.now, never-j.estimate)
	s.next = min(s.next, s.reserved[k])
	s.occupy(k, 1)
}

// compress moves reservations to earlier times, in rounds, until none moves.
//
// A hole of class c is a longest span of time in which 2^c processors are free. A job
// of width w, class c = ⌊log2 w⌋, estimate e and reservation r can start at s < r if
// w is free over W = [s, min(s+e, r)). (From r on, the profile holds the reservation
// itself.) The job is skipped if among the holes of its class that are recorded and
// begin before r none is as long as e and none goes to r or beyond.
//
// For let it be able to start at s. At the last look it couldn't: less than w was free
// somewhere in W, and processors have been given back there since. Take the last time
// that any were given back in W. Since then, what is free in W has only become less:
// w was free over W. So the hole of class c around W was recorded. It begins at or
// before s < r. If s+e ≤ r, it is as long as e; else it goes to r.
//
// Since the last look means: by ends since the last compression, or by moves in this
// round and the one before.
func (s *conservative) compress() {
	for s.freed.any {
		s.moved.clear()
		for _, k := range s.queue {
			j, old := &s.jobs[k], s.reserved[k]
			if c := s.class(k); s.freed.length[c].before(old) < j.estimate && s.freed.end[c].before(old) < old {
				continue
			}
			start, ok := s.profile.Gap(int(j.width), j.estimate, s.now, old)
			if !ok {
				continue
			}
			s.reserved[k], s.next = start, min(s.next, start)
			from, to := max(start+j.estimate, old), old+j.estimate
			s.profile.Add(start, min(start+j.estimate, old), int(j.width))
			s.profile.Add(from, to, -int(j.width))
			s.record(from, to)
		}
		s.freed, s.moved = s.moved, s.freed
	}
}

// holes holds, for the holes of each class that begin before a time, the greatest
// length and the latest end.
type holes struct {
	any         bool
	length, end [32]staircase
}

func (h *holes) add(class int, start, end int64) {
	h.any = true
	h.length[class].add(start, end-start)
	h.end[class].add(start, end)
}

func (h *holes) clear() {
	h.any = false
	for c := range h.length {
		h.length[c].clear()
		h.end[c].clear()
	}
}

// staircase holds, for points of time and amounts, the largest amount before a time.
type staircase struct {
	at, amount []int64 // both ascending
}

func (f *staircase) clear() { f.at, f.amount = f.at[:0], f.amount[:0] }

// before returns the largest amount at a point before t; 0: there is none.
func (f *staircase) before(t int64) int64 {
	i := len(f.at) - 1
	for i >= 0 && f.at[i] >= t {
		i--
	}
	if i < 0 {
		return 0
	}
	return f.amount[i]
}

// add adds a point.
func (f *staircase) add(t, amount int64) {
	i := len(f.at)
	for i > 0 && f.at[i-1] > t {
		i--
	}
	if i > 0 && f.amount[i-1] >= amount {
		return
	}
	last := i
	for last < len(f.at) && f.amount[last] <= amount {
		last++
	}
	if i > 0 && f.at[i-1] == t {
		i--
	}
	f.at, f.amount = slices.Replace(f.at, i, last, t), slices.Replace(f.amount, i, last, amount)
}
