// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// batchDialect is the messages of batch. Its requests are Batsim's.
type batchDialect struct {
	*session
	total      int // jobs that will be submitted; -1: that isn't told
	processors int
	kills      bool // jobs end at their estimates
	jobs       []jobState
}

// jobState is the state of a job that has been submitted.
type jobState struct {
	start  int64 // when it started last
	killed bool  // KILL_JOB has named it since
}

func (p *batchDialect) begins(platform online.BatchPlatform) any {
	p.processors, p.kills = platform.Processors, platform.KillAtEstimate
	return begins(platform.Processors)
}

func (*batchDialect) decision(what online.DecisionType, k int32, at int64) online.BatchDecision {
	return online.BatchDecision{Type: what, Job: k, At: at}
}

func (p *batchDialect) more(x *online.BatchDecision, k int32, e *answerEvent) error {
	switch x.Type {
	case online.Kill:
		p.jobs[k].killed = true
	case online.Start:
		d, err := read[placeData](e)
		if err == nil && d.Alloc != nil {
			x.Processors, err = parseIntervals(*d.Alloc, p.processors)
		}
		x.At = e.at - p.shift
		p.jobs[k] = jobState{start: x.At}
		return err
	}
	return nil
}

// placeData is where a job shall run.
type placeData struct {
	Alloc *string `json:"alloc"`
	Tier  string  `json:"tier"` // of two
}

func (p *batchDialect) report(e online.BatchEvent) {
	if e.Type == online.Submitted && len(p.jobs) == 0 && e.At == 0 {
		p.shift = 1e6 // schedulers of pybatsim can't start a job at 0
	}
	p.now = max(p.now, e.At)
	killed := func(name string) {
		if n := len(p.pending); n > 0 && p.pending[n-1].Type == jobKilled && p.pending[n-1].Timestamp == p.time(e.At) {
			d := p.pending[n-1].Data.(*killedData)
			d.JobIDs = append(d.JobIDs, name)
			return
		}
		p.add(e.At, jobKilled, &killedData{[]string{name}})
	}
	switch e.Type {
	case online.Submitted:
		p.jobs = append(p.jobs, jobState{})
		p.submitted(e.Job, p.clock.seconds(e.Job.Estimate), nil, p.total)
	case online.Ended:
		j, d := &p.jobs[e.Job.Number], completedData{jobName(e.Job.Number), "COMPLETED_SUCCESSFULLY", 0, intervals(e.Processors)}
		if p.kills && e.At-j.start >= e.Job.Estimate {
			d.State, d.ReturnCode = "COMPLETED_WALLTIME_REACHED", -1
		}
		p.over++
		if p.add(e.At, jobCompleted, d); j.killed {
			killed(d.JobID)
		}
	case online.Killed:
		p.jobs[e.Job.Number].killed = false
		killed(jobName(e.Job.Number))
	case online.Called:
		p.add(e.At, requestedCall, struct{}{})
	}
}

// submitted adds that a job is submitted, and that it is the last of a total.
func (s *session) submitted(j *online.BatchJob, walltime float64, use []float64, total int) {
	name := jobName(j.Number)
	s.items[name] = j.Number
	s.add(j.Submit, jobSubmitted, submittedData{name,
		jobData{name, s.time(j.Submit), walltime, j.Processes, name[len(workload)+1:], use, j.Log}})
	if len(s.items) == total {
		s.add(j.Submit, notify, notifyData{"no_more_static_job_to_submit"})
	}
}

// batch runs the session on an instance. A scheduler for Batsim knows one tier: on two its jobs
// run in the foreground.
func (s *session) batch(in *model.Batch, set model.Settings, batsim, silent bool) course {
	if in.Processors > mostProcessors {
		return course{err: fmt.Errorf("%w: the first request lists the processors, %d are too many; the most is %d", model.ErrUnsupported, in.Processors, mostProcessors)}
	}
	if len(in.Nodes) > 0 {
		return course{err: fmt.Errorf("%w: the protocol knows processors, the machine has nodes with %s", model.ErrUnsupported, strings.Join(in.Resources, ", "))}
	}
	o, uses := online.BatchOptions{}, true
	if x, ok := set.Parameters.(*model.BatchParameters); ok && x != nil {
		o.Order, o.Placement, uses = x.Order, x.Placement, x.Uses != model.BatchUsesUnknown
	}
	s.clock, s.noun = microseconds, "job"
	offers := []offer{{executeJob, online.Start}, {moveJob, online.Move}, {rejectJob, online.Reject},
		{killJob, online.Kill}, {notify, ""}, {setJobMetadata, ""}}
	var e *model.Execution
	var err error
	switch {
	case in.Tiers == 1 || batsim:
		p := &batchDialect{session: s, total: len(in.Jobs)}
		if silent {
			p.total = -1
		}
		offers = slices.Delete(offers, 1, 2)
		e, err = online.Batch(s.ctx, in, &policy[online.BatchPlatform, online.BatchEvent, online.BatchDecision]{
			session: s, dialect: p, offers: offers, busy: true}, o)
	case o.Order != "" && o.Order != model.BatchOrderBatch || o.Placement != "" && o.Placement != model.BatchLowest:
		err = fmt.Errorf("%w: on two tiers the order is %q and the placement %q",
			model.ErrUnsupported, model.BatchOrderBatch, model.BatchLowest)
	default:
		p := newTwoTierDialect(s, in, uses)
		e, err = online.TwoTier(s.ctx, in, &policy[online.TwoTierPlatform, online.TwoTierEvent, online.TwoTierDecision]{
			session: s, dialect: p, offers: offers})
	}
	c := course{solution: e, err: err, heard: s.over == len(in.Jobs)}
	if e != nil && len(e.Runs) > 0 {
		c.partial = &model.BatchDetails{Partial: e.Runs}
	}
	return c
}
