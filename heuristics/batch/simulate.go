// SPDX-License-Identifier: MIT

// Package batch holds heuristics for batch scheduling (see model.Batch).
//
// FCFS, EASY, SJF and conservative backfilling run on one tier. On a platform with
// two they use the foreground alone, at its rate. KEASY, REASY and MEASY need two.
// All are online: a scheduler learns a job at its submission, and its runtime when
// it ends. What it goes by before then is the estimate.
//
// If ctx ends before the simulation does, the jobs that haven't started run in the order of
// their arrivals, or, with jobs in the background, the error wraps model.ErrNoSolution. It
// wraps model.ErrUnsupported for parameters that a heuristic doesn't know and for times that
// don't fit whole numbers.
package batch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/heap"
	"github.com/gapwise/gapwise/internal/processors"
	"github.com/gapwise/gapwise/internal/turns"
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

// simulation runs jobs on one tier under a scheduler.
type simulation struct {
	machine
	lengths []int64 // ticks that each job really runs
	order   model.BatchOrder
	running heap.Heap[completion]
	ended   []int32
}

// newSimulation returns a simulation of the instance on one tier. The error wraps model.ErrUnsupported: the order
// is unknown, or times may get too long for whole numbers.
func newSimulation(t *view.Batch, set model.Settings) (*simulation, error) {
	n := len(t.Jobs)
	s := &simulation{order: model.BatchOrderBatch, ended: make([]int32, 0, n),
		running: heap.Heap[completion]{Less: completion.before}}
	if p, ok := set.Parameters.(*model.BatchParameters); ok && p != nil {
		s.order = cmp.Or(p.Order, s.order)
	}
	if orders := []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderPyss}; !slices.Contains(orders, s.order) {
		return nil, fmt.Errorf("%w order %q, must be one of %q", model.ErrUnsupported, s.order, orders)
	}
	s.machine = machine{processors: int32(t.Processors), free: int32(t.Processors), jobs: make([]request, n),
		starts: make([]int64, n), started: make([]int32, 0, n)}
	lengths, estimates, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	s.lengths = lengths
	for k := range t.Jobs {
		s.jobs[k], s.starts[k] = request{t.Jobs[k].Submit, estimates[k], int32(t.Jobs[k].Processes)}, -1
	}
	return s, nil
}

// run simulates the jobs under a scheduler. If ctx ends before all jobs have started, the
// others run in the order of their arrivals. Jobs that would start after view.MostTime don't.
func (s *simulation) run(ctx context.Context, by scheduler) *processors.Course {
	arrived := 0
	var due []int32
	for events := 0; ; events++ {
		if events%1024 == 0 && turns.Stop(ctx, 1024) {
			s.inOrder()
			return &processors.Course{Starts: s.starts, Started: s.started, Ended: s.ended}
		}
		now := by.wake()
		if arrived < len(s.jobs) {
			now = min(now, s.jobs[arrived].submit)
		}
		if s.running.Len() > 0 {
			now = min(now, s.running.Items[0].at)
		}
		if now > view.MostTime { // or never
			return &processors.Course{Starts: s.starts, Started: s.started, Ended: s.ended}
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
		if s.now = max(s.now, from); s.now > view.MostTime {
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
