// SPDX-License-Identifier: MIT

// Package batch holds heuristics for batch scheduling (see model.Batch).
//
// FCFS, EASY, SJF and conservative backfilling run on one tier. On a platform with two they use the foreground alone,
// at its rate. KEASY, REASY and MEASY need two. All are online: a scheduler learns a job at its submission, and its
// runtime when it ends. It works with the estimate before then. All are policies of package online.
//
// If ctx ends before the simulation does, the jobs that haven't started run in the order of their arrivals. If there
// are jobs in the background, the error wraps model.ErrNoSolution instead. It wraps model.ErrUnsupported for parameters
// that a heuristic doesn't know and for times that don't fit whole numbers.
package batch

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// never is later than all times.
const never = math.MaxInt64

// request is a scheduler's knowledge of a job.
type request struct {
	submit   int64
	estimate int64 // ticks that the job runs by its estimate
	width    int32 // processes
}

// machine is the platform as a scheduler sees it.
type machine struct {
	processors, free int32
	now              int64
	jobs             []request // those that have arrived
	starts           []int64   // of each of these; -1: it hasn't started
	decisions        []online.BatchDecision
	tracer           *tracer     // nil: nobody listens
	contiguous       bool        // jobs hold neighbouring processors
	nodes            *view.Batch // the instance, of a machine of nodes, else nil: all that is known of a job are its needs
}

// start starts job k, which must fit.
func (m *machine) start(k int32) {
	m.free -= m.jobs[k].width
	m.starts[k] = m.now
	m.decisions = append(m.decisions, online.BatchDecision{Type: online.Start, Job: k})
	if m.tracer != nil {
		m.traceStart(k)
	}
}

// estimatedEnd returns when job k, which has started, ends by its estimate.
func (m *machine) estimatedEnd(k int32) int64 { return m.starts[k] + m.jobs[k].estimate }

// end does nothing, for schedulers that need no ends.
func (*machine) end(int32) {}

// wake returns never, for schedulers that need no other instants.
func (*machine) wake() int64 { return never }

// scheduler decides which jobs start. Its methods are called in the order of time, and at one instant in the order of
// model.BatchOrder.
type scheduler interface {
	// arrive reports that job k is submitted. Jobs arrive in the order of their indices.
	arrive(k int32)
	// end reports that job k has ended; its processors are free already.
	end(k int32)
	// pass starts jobs by machine.start.
	pass()
	// wake returns the next instant at which a pass is due even without an arrival
	// or an end, later than now; never if there is none.
	wake() int64
}

// policy is the online policy of a scheduler.
type policy struct {
	machine
	newScheduler func(*machine) scheduler
	by           scheduler
	predictor    *lastTwo // nil: the users' estimates
	called       int64    // the next call that has been asked for, as far as is kept; never: none
}

// newPolicy returns the policy of a scheduler with room for about so many jobs.
func newPolicy(newScheduler func(*machine) scheduler, about int) *policy {
	return &policy{newScheduler: newScheduler, called: never, machine: machine{jobs: make([]request, 0, about), starts: make([]int64, 0, about)}}
}

// Begin implements online.BatchPolicy.
func (p *policy) Begin(platform online.BatchPlatform) error {
	p.processors, p.free = int32(platform.Processors), int32(platform.Processors)
	p.contiguous = platform.Placement == model.BatchContiguous
	p.by = p.newScheduler(&p.machine)
	return nil
}

// Event implements online.BatchPolicy.
func (p *policy) Event(e online.BatchEvent) error {
	p.now = e.At
	switch e.Type {
	case online.Submitted:
		estimate := e.Job.Estimate
		if p.predictor != nil {
			estimate = p.predictor.submitted(e.Job)
		}
		if len(p.jobs) == cap(p.jobs) { // append makes room for a quarter more, and copies often
			p.jobs, p.starts = slices.Grow(p.jobs, len(p.jobs)+64), slices.Grow(p.starts, len(p.jobs)+64)
		}
		p.jobs, p.starts = append(p.jobs, request{e.Job.Submit, estimate, e.Job.Processes}), append(p.starts, -1)
		p.by.arrive(e.Job.Number)
	case online.Ended:
		p.free += e.Job.Processes
		if p.predictor != nil {
			p.predictor.ended(e.Job, e.At-p.starts[e.Job.Number])
		}
		p.by.end(e.Job.Number)
	case online.Called:
		p.called = never
	}
	return nil
}

// Decide implements online.BatchPolicy.
func (p *policy) Decide() ([]online.BatchDecision, error) {
	p.decisions = p.decisions[:0]
	if p.predictor != nil {
		p.predictor.correct(p)
	}
	p.by.pass()
	if p.predictor != nil {
		p.predictor.started(p)
	}
	if at := p.by.wake(); at < p.called {
		p.called = at
		p.decisions = append(p.decisions, online.BatchDecision{Type: online.CallAt, At: at})
	}
	return p.decisions, nil
}

// onOneTier runs a scheduler for one tier.
func onOneTier(ctx context.Context, in *model.Batch, set model.Settings, newScheduler func(*machine) scheduler) (*model.Execution, error) {
	p := newPolicy(newScheduler, len(in.Jobs))
	if len(in.Nodes) > 0 {
		p.nodes = view.Shared(ctx, in, view.OfBatch)
	}
	asked := parametersOf(set)
	switch by := asked.Prediction; by {
	case "", model.BatchPredictionNone:
	case model.BatchPredictionLastTwo:
		if asked.Placement == model.BatchContiguous {
			return nil, fmt.Errorf("%w: predictions go with the placement %q", model.ErrUnsupported, model.BatchLowest)
		}
		p.predictor = newLastTwo()
	default:
		return nil, fmt.Errorf("%w prediction %q, must be %s or %s", model.ErrUnsupported, by, model.BatchPredictionNone, model.BatchPredictionLastTwo)
	}
	return online.Batch(ctx, in, p, online.BatchOptions{Order: asked.Order, Placement: asked.Placement, Complete: true})
}

// parametersOf returns the parameters that are asked for.
func parametersOf(set model.Settings) model.BatchParameters {
	if p, ok := set.Parameters.(*model.BatchParameters); ok && p != nil {
		return *p
	}
	return model.BatchParameters{}
}

// lowestAlone reports, for a heuristic that uses only the number of free processors, that another placement is asked
// for.
func lowestAlone(set model.Settings) error {
	if x := parametersOf(set).Placement; x != "" && x != model.BatchLowest {
		return fmt.Errorf("%w placement %q: only fcfs, sjf, easy, easy-sjbf and easy-saf know others than %q", model.ErrUnsupported, x, model.BatchLowest)
	}
	return nil
}
