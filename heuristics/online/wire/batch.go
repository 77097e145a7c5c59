// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// batchPolicy is a scheduler of batch. Its requests are Batsim's.
type batchPolicy struct {
	*session
	total      int // jobs that will be submitted; -1: that isn't told
	processors int
	kills      bool  // jobs end at their estimates
	shift      int64 // ticks that the scheduler's clock is ahead
	jobs       []jobState
	over       int   // jobs that have ended, or are rejected
	now        int64 // of the last request; the scheduler is busy until busy
	busy       int64
	all        []online.BatchDecision
}

// jobState is the state of a job that has been submitted.
type jobState struct {
	start  int64 // when it started last
	killed bool  // KILL_JOB has named it since
}

// Begin implements online.BatchPolicy.
func (p *batchPolicy) Begin(platform online.BatchPlatform) error {
	p.processors, p.kills = platform.Processors, platform.KillAtEstimate
	return p.begin(begins(platform.Processors))
}

// Event implements online.BatchPolicy.
func (p *batchPolicy) Event(e online.BatchEvent) error {
	if e.Type == online.Submitted && len(p.jobs) == 0 && e.At == 0 {
		p.shift = 1e6 // schedulers of pybatsim can't start a job at 0
	}
	p.now = max(p.now, e.At, p.busy)
	add := func(what string, data any) { p.add(e.At+p.shift, what, data) }
	killed := func(name string) {
		if n := len(p.pending); n > 0 && p.pending[n-1].Type == jobKilled && p.pending[n-1].Timestamp == p.clock.seconds(e.At+p.shift) {
			d := p.pending[n-1].Data.(*killedData)
			d.JobIDs = append(d.JobIDs, name)
			return
		}
		add(jobKilled, &killedData{[]string{name}})
	}
	switch e.Type {
	case online.Submitted:
		j, name := e.Job, jobName(e.Job.Number)
		p.jobs = append(p.jobs, jobState{})
		add(jobSubmitted, submittedData{name, jobData{name, p.clock.seconds(j.Submit + p.shift), p.clock.seconds(j.Estimate), j.Processes, name[len(workload)+1:], nil, j.Log}})
		if len(p.jobs) == p.total {
			add(notify, notifyData{"no_more_static_job_to_submit"})
		}
	case online.Ended:
		j, d := &p.jobs[e.Job.Number], completedData{jobName(e.Job.Number), "COMPLETED_SUCCESSFULLY", 0, intervals(e.Processors)}
		if p.kills && e.At-j.start >= e.Job.Estimate {
			d.State, d.ReturnCode = "COMPLETED_WALLTIME_REACHED", -1
		}
		p.over++
		if add(jobCompleted, d); j.killed {
			killed(d.JobID)
		}
	case online.Killed:
		p.jobs[e.Job.Number].killed = false
		killed(jobName(e.Job.Number))
	case online.Called:
		add(requestedCall, struct{}{})
	}
	return nil
}

// Decide implements online.BatchPolicy.
func (p *batchPolicy) Decide() ([]online.BatchDecision, error) {
	if len(p.pending) == 0 { // nothing to tell: Batsim doesn't ask then
		return nil, nil
	}
	all, now, err := decide(p.session, p.now+p.shift, p.all[:0], p.decisions)
	if p.all = all; err != nil {
		return nil, err
	}
	for i := range p.all {
		switch d := &p.all[i]; d.Type {
		case online.Start:
			p.jobs[d.Job].start, p.jobs[d.Job].killed = d.At, false
		case online.Kill:
			p.jobs[d.Job].killed = true
		case online.Reject:
			p.over++
		}
	}
	if p.busy = now - p.shift; p.busy > p.now {
		p.all = append(p.all, online.BatchDecision{Type: online.Busy, At: p.busy})
	}
	return p.all, nil
}

// batch runs the session on an instance. A scheduler for Batsim knows one tier: on two its jobs
// run in the foreground.
func (s *session) batch(in *model.Batch, set model.Settings, batsim, silent bool) course {
	s.clock = microseconds
	if in.Processors > mostProcessors {
		return course{err: fmt.Errorf("%w: the first request lists the processors, %d are too many; the most is %d", model.ErrUnsupported, in.Processors, mostProcessors)}
	}
	o, uses := online.BatchOptions{}, true
	if x, ok := set.Parameters.(*model.BatchParameters); ok && x != nil {
		o.Order, o.Placement, uses = x.Order, x.Placement, x.Uses != model.BatchUsesUnknown
	}
	if in.Tiers == 2 && !batsim {
		return s.twoTiers(in, o, uses)
	}
	p := &batchPolicy{session: s, total: len(in.Jobs)}
	if silent {
		p.total = -1
	}
	e, err := online.Batch(s.ctx, in, p, o)
	return ofBatch(e, err, p.over == len(in.Jobs), max(p.now, p.busy)+p.shift)
}
