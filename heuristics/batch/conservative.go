package batch

import (
	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/internal/profile"
)

// conservative is conservative backfilling (Mu'alem, Feitelson: Utilization,
// Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2
// with Backfilling, 2001): each job gets a reservation at its submission, the
// earliest time from which it fits for its estimate beside the running jobs and all
// reservations, and starts when that comes.
//
// When jobs end earlier than estimated, the reservations are compressed: once, in
// the order of arrivals, each moves to the earliest time at which it now fits, the
// others where they are. So a reservation never moves to a later time.
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
	next     int64 // the earliest reservation; never: there is none
	early    bool  // a job has ended before its estimate since the last pass
	expiry   heap.Heap[completion]
}

func newConservative(m *machine) scheduler {
	n := len(m.jobs)
	return &conservative{machine: m, profile: profile.Profile{Capacity: int(m.processors)}, reserved: make([]int64, n), ends: make([]int64, n), next: never,
		expiry: heap.Heap[completion]{Less: completion.before}}
}

func (s *conservative) arrive(k int32) { s.arrived = k + 1 }

func (s *conservative) end(k int32) {
	s.early = s.early || s.ends[k] > s.now
	s.profile.Add(0, s.ends[k], -int(s.jobs[k].width))
	s.ends[k] = 0
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
	switch {
	case s.extend():
		for _, k := range s.queue {
			s.occupy(k, -1)
		}
		for _, k := range s.queue {
			s.reserve(k)
		}
	case s.early:
		for _, k := range s.queue {
			s.compress(k)
		}
	}
	s.early = false
	for ; s.known < s.arrived; s.known++ {
		s.reserve(s.known)
		s.queue = append(s.queue, s.known)
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
		s.profile.Add(0, s.now, int(s.jobs[k].width)) // so that no steps lie in the past
		s.ends[k] = s.estimatedEnd(k)
		s.expiry.Push(completion{s.ends[k], k})
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
	s.occupy(k, 1)
}

// compress moves the reservation of job k to the earliest time. The profile holds the
// reservation itself from its start on, so before then the job must fit beside it.
func (s *conservative) compress(k int32) {
	j, old := &s.jobs[k], s.reserved[k]
	start, ok := s.profile.Gap(int(j.width), j.estimate, s.now, old)
	if !ok {
		return
	}
	s.reserved[k] = start
	s.profile.Add(start, min(start+j.estimate, old), int(j.width))
	s.profile.Add(max(start+j.estimate, old), old+j.estimate, -int(j.width))
}
