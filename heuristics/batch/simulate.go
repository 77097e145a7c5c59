// Package batch holds heuristics for batch scheduling (see model.Batch).
//
// FCFS, EASY, SJF and conservative backfilling run on one tier. On a platform with
// two they use the foreground alone, at its rate. KEASY, REASY and MEASY need two.
// All are online: a scheduler learns a job at its submission, and its runtime when
// it ends. What it goes by before then is the estimate.
package batch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// never is later than all times.
const never = math.MaxInt64

// request is what a scheduler knows of a job.
type request struct {
	submit   int64
	estimate int64 // ticks that the job runs by its estimate
	width    int32 // processes
}

// machine is the platform as a scheduler sees it.
type machine struct {
	processors, free int32
	now              int64
	jobs             []request // those up to the last arrival may be looked at
	starts           []int64   // of each job; -1: it hasn't started
	started          []int32   // jobs in the order of their starts
	tracer           *tracer   // nil: nobody listens
}

// start starts job k, which must fit.
func (m *machine) start(k int32) {
	m.enter(k)
	if m.tracer != nil {
		m.told(k)
	}
}

// enter is start without a word.
func (m *machine) enter(k int32) {
	m.free -= m.jobs[k].width
	m.starts[k] = m.now
	m.started = append(m.started, k)
}

// estimatedEnd returns when job k, which has started, ends by its estimate.
func (m *machine) estimatedEnd(k int32) int64 { return m.starts[k] + m.jobs[k].estimate }

// scheduler decides which jobs start. Its methods are called in the order of time,
// those of one instant as model.BatchOrder says.
type scheduler interface {
	// arrive tells that job k is submitted. Jobs arrive in the order of their
	// indices.
	arrive(k int32)
	// end tells that job k has ended; its processors are free already.
	end(k int32)
	// pass starts jobs by machine.start.
	pass()
	// wake returns the next instant at which a pass is due even without an arrival
	// or an end, later than now; never if there is none.
	wake() int64
}

// completion is the end of a running job. Those of one instant come in the order of
// their ranks, those of one rank by job.
type completion struct {
	at        int64
	rank, job int32
}

func (x completion) before(y completion) bool {
	return x.at < y.at || x.at == y.at && (x.rank < y.rank || x.rank == y.rank && x.job < y.job)
}

// trace is the course of a simulation.
type trace struct {
	starts         []int64
	started, ended []int32 // jobs in the order of these events
}

// simulation runs jobs on one tier under a scheduler.
type simulation struct {
	machine
	lengths []int64 // ticks that each job really runs
	order   model.BatchOrder
	running heap.Heap[completion]
	ended   []int32
}

// newSimulation returns a simulation of the instance on one tier. A tick of work
// takes FullRate/rate ticks at the foreground's rate, for runtimes and estimates
// alike, rounded up to whole ticks. The error wraps model.ErrUnsupported: the order
// is unknown, or times may get too long for whole numbers.
func newSimulation(t *view.Batch, set model.Settings) (*simulation, error) {
	n := len(t.Jobs)
	s := &simulation{order: model.BatchOrderBatch, lengths: make([]int64, n), ended: make([]int32, 0, n),
		running: heap.Heap[completion]{Less: completion.before}}
	if p, ok := set.Parameters.(*model.BatchParameters); ok && p != nil {
		s.order = cmp.Or(p.Order, s.order)
	}
	if orders := []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderPyss}; !slices.Contains(orders, s.order) {
		return nil, fmt.Errorf("%w order %q, must be one of %q", model.ErrUnsupported, s.order, orders)
	}
	s.machine = machine{processors: int32(t.Processors), free: int32(t.Processors), jobs: make([]request, n),
		starts: make([]int64, n), started: make([]int32, 0, n)}
	for k := range t.Jobs {
		j := &t.Jobs[k]
		s.lengths[k] = atRate(j.Length, j.Foreground)
		s.jobs[k] = request{j.Submit, atRate(j.Estimate, j.Foreground), int32(j.Processes)}
		s.starts[k] = -1
		if longest := max(s.lengths[k], s.jobs[k].estimate); longest > mostEstimates {
			return nil, fmt.Errorf("%w: in the foreground, job %d takes %.3g s by its runtime or estimate; the most is %.3g", model.ErrUnsupported, k, float64(longest)/1e6, mostEstimates/1e6)
		}
	}
	return s, nil
}

// mostTime is the last time, in ticks, that the judge accepts: before 2^33 s each
// microsecond has a float64 of its own. mostEstimates bounds each job's time and, where
// they are added up, all of them, so that now + estimate is below 2^63. Runtimes aren't
// added up: the simulation stops at mostTime.
const (
	mostTime      = 8e15
	mostEstimates = 2e18
)

// tooLate reports that a schedule goes on after mostTime.
func tooLate() error {
	return fmt.Errorf("%w: a job of the schedule ends after %.3g s, the last time whose microseconds are exact; take fewer jobs or more processors", model.ErrUnsupported, mostTime/1e6)
}

// atRate returns the ticks that work of the given length takes at a rate, at most
// never.
func atRate(length, rate int64) int64 {
	if rate == view.FullRate {
		return length
	}
	high, low := bits.Mul64(uint64(length), view.FullRate)
	if high >= uint64(rate) {
		return never
	}
	ticks, rest := bits.Div64(high, low, uint64(rate))
	if rest > 0 {
		ticks++
	}
	return int64(min(ticks, never))
}

// run simulates the jobs under a scheduler. If ctx ends before all jobs have started, the
// others run in the order of their arrivals. Jobs that would start after mostTime don't.
func (s *simulation) run(ctx context.Context, by scheduler) *trace {
	arrived := 0
	var due []int32
	for events := 0; ; events++ {
		if events%1024 == 0 && ctx.Err() != nil {
			s.inOrder()
			return &trace{s.starts, s.started, s.ended}
		}
		now := by.wake()
		if arrived < len(s.jobs) {
			now = min(now, s.jobs[arrived].submit)
		}
		if s.running.Len() > 0 {
			now = min(now, s.running.Items[0].at)
		}
		if now > mostTime { // or never
			return &trace{s.starts, s.started, s.ended}
		}
		s.now = now
		due = due[:0]
		for s.running.Len() > 0 && s.running.Items[0].at == now {
			due = append(due, s.running.Pop().job)
		}
		for _, k := range due {
			if s.order == model.BatchOrderBatch || s.estimatedEnd(k) <= now {
				s.end(by, k)
			}
		}
		for ; arrived < len(s.jobs) && s.jobs[arrived].submit == now; arrived++ {
			by.arrive(int32(arrived))
			if s.order == model.BatchOrderPyss {
				s.pass(by)
			}
		}
		if s.order == model.BatchOrderPyss {
			for _, k := range due {
				if s.estimatedEnd(k) > now {
					s.end(by, k)
				}
				s.pass(by)
			}
		}
		s.pass(by)
	}
}

// inOrder starts the jobs that haven't started in the order of their arrivals, each as
// soon as it fits and those before it have started. O(n log n)
func (s *simulation) inOrder() {
	leave := func() {
		x := s.running.Pop()
		s.now, s.ended = max(s.now, x.at), append(s.ended, x.job)
		s.free += s.jobs[x.job].width
	}
	for k := range s.jobs {
		if s.starts[k] >= 0 {
			continue
		}
		from := max(s.now, s.jobs[k].submit)
		for s.running.Len() > 0 && (s.running.Items[0].at <= from || s.free < s.jobs[k].width) {
			leave()
		}
		if s.now = max(s.now, from); s.now > mostTime {
			return
		}
		s.enter(int32(k))
		s.running.Push(completion{at: s.now + s.lengths[k], job: int32(k)})
	}
	for s.running.Len() > 0 {
		leave()
	}
}

func (s *simulation) end(by scheduler, k int32) {
	s.free += s.jobs[k].width
	s.ended = append(s.ended, k)
	by.end(k)
}

func (s *simulation) pass(by scheduler) {
	before := len(s.started)
	by.pass()
	for at, k := range s.started[before:] {
		x := completion{at: s.now + s.lengths[k], job: k}
		if s.order == model.BatchOrderPyss { // ends come in the order of starts
			x.rank = int32(before + at)
		}
		s.running.Push(x)
	}
}
