// SPDX-License-Identifier: MIT

package runs

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/num/heap"
)

// mostFairSteps bounds the running and waiting jobs that lateness looks at in all: a quarter
// of a second or so of work.
const mostFairSteps = 20_000_000

// lateness returns for each job how much later than at its fair start it starts. That is when it would start if no jobs
// came after it (Sabin, Kochhar, Sadayappan: Job Fairness in Non-preemptive Job Scheduling, ICPP 2004). They run the
// policy again without the later jobs. Not every solution has a policy. Here the jobs that wait when it is submitted,
// in the schedule at hand, start in the order of arrival and then the job itself, each as soon as it fits and the ones
// before it have started. So all schedules are compared by one measure, by which FCFS delays no job, nor does
// conservative backfilling by exact estimates: let r be a job's reservation and f its start in that list. If r ≤ f
// holds for those before it, none of them runs at or after the job's f in the reservations and not in the list, so it
// fits at f.
//
// Only every k-th job of a long queue is looked at, the least k by which these jobs are at most mostFairSteps; for the
// others the result is unknown.
func lateness(j *jobs) []int64 {
	n := len(j.outcomes)
	order := make([]int, n) // by submission
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(j.outcomes[a].SubmitS, j.outcomes[b].SubmitS) })
	s := newFairState(j, order)
	steps := 0
	for k := range n {
		if s.arrive(k); s.jobs[k].start > s.jobs[k].submit {
			steps += 1 + len(s.running) + s.waiting
		}
	}
	stride := 1 + steps/mostFairSteps
	s = newFairState(j, order)
	late := make([]int64, n)
	for k, at := range order {
		s.arrive(k)
		switch late[at] = unknown; {
		case k%stride > 0:
		case s.jobs[k].start == s.jobs[k].submit: // no job can start sooner
			late[at] = 0
		default:
			late[at] = max(0, s.jobs[k].start-s.fairStart(k))
		}
	}
	return late
}

// fairState is a schedule as the submissions pass: the running and the waiting jobs at each. Jobs are numbered by
// submission. Times are microseconds.
type fairState struct {
	jobs       []fairJob
	processors int
	running    []int32             // have started before now; some have ended, see arrive
	next       []int32             // the waiting jobs as a list, by submission; the last is len(jobs)
	previous   []int32             // of next
	waiting    int                 // how many
	starts     heap.Heap[fairStop] // of the waiting jobs
	scratch    heap.Heap[fairStop]
}

type fairJob struct {
	submit, start, end int64
	width              int
}

// fairStop is an instant that concerns a job, or so many processors.
type fairStop struct {
	at  int64
	job int32
}

func newFairState(j *jobs, order []int) *fairState {
	n := len(order)
	sooner := func(a, b fairStop) bool { return a.at < b.at || a.at == b.at && a.job < b.job }
	s := &fairState{jobs: make([]fairJob, n), processors: j.processors, next: make([]int32, n+1), previous: make([]int32, n+1),
		starts: heap.Heap[fairStop]{Less: sooner}, scratch: heap.Heap[fairStop]{Less: sooner}}
	for k, at := range order {
		o := &j.outcomes[at]
		s.jobs[k] = fairJob{units.Micro(o.SubmitS), units.Micro(o.StartS), units.Micro(o.EndS), o.Processes}
	}
	s.next[n], s.previous[n] = int32(n), int32(n)
	return s
}

// arrive goes on to the submission of job k, the next one, before it waits. A job that starts at this very instant
// still waits.
func (s *fairState) arrive(k int) {
	if k > 0 { // the one before waits, too
		s.append(int32(k - 1))
	}
	now := s.jobs[k].submit
	for s.starts.Len() > 0 && s.starts.Items[0].at < now {
		x := s.starts.Pop().job
		s.next[s.previous[x]], s.previous[s.next[x]] = s.next[x], s.previous[x]
		s.waiting--
		s.running = append(s.running, x)
	}
	kept := s.running[:0]
	for _, x := range s.running {
		if s.jobs[x].end > now {
			kept = append(kept, x)
		}
	}
	s.running = kept
}

// append puts job x at the end of the list of those that wait.
func (s *fairState) append(x int32) {
	end := int32(len(s.jobs))
	last := s.previous[end]
	s.next[last], s.previous[x], s.next[x], s.previous[end] = x, last, end, x
	s.waiting++
	s.starts.Push(fairStop{s.jobs[x].start, x})
}

// fairStart returns when job k, which is submitted now, starts after those that wait, each
// as soon as it fits. O((r + w) log (r + w)) for r running and w waiting jobs.
func (s *fairState) fairStart(k int) int64 {
	now, free := s.jobs[k].submit, s.processors
	s.scratch.Items = s.scratch.Items[:0]
	for _, x := range s.running {
		free -= s.jobs[x].width
		s.scratch.Push(fairStop{s.jobs[x].end, x})
	}
	begin := func(x int32) {
		for free < s.jobs[x].width {
			ended := s.scratch.Pop()
			now = max(now, ended.at)
			free += s.jobs[ended.job].width
		}
	}
	end := int32(len(s.jobs))
	for x := s.next[end]; x != end; x = s.next[x] {
		begin(x)
		free -= s.jobs[x].width
		s.scratch.Push(fairStop{now + s.jobs[x].end - s.jobs[x].start, x})
	}
	begin(int32(k))
	return now
}
