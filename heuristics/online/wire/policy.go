// SPDX-License-Identifier: MIT

package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gapwise/gapwise/heuristics/online"
)

// line is a connection to a scheduler.
type line interface {
	// ask sends a request and returns the answer. It waits as long as the limit, and until
	// ctx ends. After an error nothing more is asked.
	ask(ctx context.Context, request []byte, limit time.Duration) ([]byte, error)
	// close ends the connection. It returns in a few words how a program has failed to end, ""
	// for none or one that has, and what it said last. It is in a hurry if ctx has ended.
	close(ctx context.Context) (how, said string)
}

// errOver is what ask returns when the other side has ended the connection.
var errOver = errors.New("it has ended without an answer")

// policy is a scheduler at the other end of a line. Its requests are those of Batsim.
type policy struct {
	ctx        context.Context // of the run
	line       line
	limit      time.Duration // of an answer
	total      int           // jobs that will be submitted; -1: that isn't told
	processors int
	kills      bool  // jobs end at their estimates
	shift      int64 // ticks that the scheduler's clock is ahead
	jobs       []jobState
	over       int // jobs that have ended, or are rejected
	requests   int
	now        int64 // of the last request; the scheduler is busy until busy
	busy       int64
	pending    []event // since the last request
	last       message // the last request
	all        []online.BatchDecision
	failed     error // why the scheduler is asked no more
}

// jobState is what is kept of a job that has been submitted.
type jobState struct {
	start  int64 // when it started last
	killed bool  // KILL_JOB has named it since
}

// Begin implements online.BatchPolicy.
func (p *policy) Begin(platform online.BatchPlatform) error {
	p.processors, p.kills = platform.Processors, platform.KillAtEstimate
	p.pending = append(p.pending, event{0, simulationBegins, begins(platform.Processors)})
	_, events, err := p.ask(0)
	if err == nil && len(events) > 0 {
		err = fmt.Errorf("its answer to %s holds %s, must hold no events", simulationBegins, events[0].Type)
	}
	return p.fail(err)
}

// Event implements online.BatchPolicy.
func (p *policy) Event(e online.BatchEvent) error {
	if e.Type == online.Submitted && len(p.jobs) == 0 && e.At == 0 {
		p.shift = 1e6 // schedulers of pybatsim can't start a job at 0
	}
	p.now = max(p.now, e.At, p.busy)
	add := func(what string, data any) { p.pending = append(p.pending, event{seconds(e.At + p.shift), what, data}) }
	killed := func(name string) {
		if n := len(p.pending); n > 0 && p.pending[n-1].Type == jobKilled && p.pending[n-1].Timestamp == seconds(e.At+p.shift) {
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
		add(jobSubmitted, submittedData{name, jobData{name, seconds(j.Submit + p.shift), seconds(j.Estimate), j.Processes, name[len(workload)+1:], j.Log}})
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
func (p *policy) Decide() ([]online.BatchDecision, error) {
	p.all = p.all[:0]
	if len(p.pending) == 0 { // nothing to tell: Batsim doesn't ask then
		return p.all, nil
	}
	now, events, err := p.ask(p.now + p.shift)
	for i := range events {
		at, _ := ticks(*events[i].Timestamp)
		if p.all, err = p.decisions(p.all, &events[i], at-p.shift); err != nil {
			break
		}
	}
	if err != nil {
		return nil, p.fail(err)
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

// ends tells that the simulation has ended. Whoever hangs up on that has ended, too.
func (p *policy) ends() error {
	at := max(p.now, p.busy) + p.shift
	p.pending = append(p.pending[:0], event{seconds(at), simulationEnds, struct{}{}})
	if _, _, err := p.ask(at); err != nil && !errors.Is(err, errOver) {
		return p.fail(err)
	}
	return nil
}

// ask sends what is pending as a request of an instant, and reads the answer.
func (p *policy) ask(now int64) (busy int64, events []answerEvent, err error) {
	p.requests++
	p.last = message{seconds(now), p.pending}
	text, err := json.Marshal(p.last)
	if err == nil {
		text, err = p.line.ask(p.ctx, text, p.limit)
	}
	if err == nil {
		busy, events, err = readAnswer(text, now)
	}
	if err == nil {
		p.pending = p.pending[:0]
	}
	return busy, events, err
}

// fail notes why the run ends.
func (p *policy) fail(err error) error {
	p.failed = err
	return err
}

// where names the last request by what it told: "request 7 (now 21 s: JOB_COMPLETED of w0!1 and
// 2 more)".
func (p *policy) where() string {
	if p.requests == 0 {
		return "before the first request"
	}
	text := fmt.Sprintf("request %d (now %.9g s", p.requests, p.last.Now)
	if n := len(p.last.Events); n > 0 {
		e := &p.last.Events[0] // still there: nothing is told after a decision that fails
		switch text += ": " + e.Type; d := e.Data.(type) {
		case submittedData:
			text += " of " + d.JobID
		case completedData:
			text += " of " + d.JobID
		}
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return text + ")"
}
