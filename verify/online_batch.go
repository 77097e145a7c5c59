// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// onlineJudge replays the transcript of a policy that starts jobs of a batch instance on
// one tier, or in the foreground of two. What happens follows from the instance and the
// decisions: a job is submitted at its time, and one that starts ends after its length. What
// the policy knows follows from what it was told: jobs that have been submitted, processors that
// are free.
//
// A submission or an end must be told at the instant at which it happens, or when a policy
// that was busy then no longer is. A decision is possible if the job was told of and is
// waiting (start, reject) or running (kill), and if the processors of a start are free as
// far as was told. Each segment of the solution must be a start, with its processors if that
// names some, and be lost if the job is killed.
//
// Linear in the transcript and in the processors of the solution's segments.
type onlineJudge struct {
	ctx    context.Context
	report *Report
	index  map[string]int
	jobs   []onlineJob
	taken  []bool // by processor, as far as was told
	free   int
	at     int64 // of the turn
	before int64 // the last instant before, at which all was told that had happened
	busy   int64 // the policy is until then
	calls  map[int64]int
	// contiguous demands that a job's processors are neighbours: p, p+1, ...
	contiguous bool
}

// transcriptEvent is an event or a decision.
type transcriptEvent struct {
	Type       string              `json:"type"`
	Job        string              `json:"job"`
	AtS        *float64            `json:"at_s"` // nil: when it is told or decided
	Processors model.ProcessorList `json:"processors"`
}

// onlineState is what a policy knows of a job.
type onlineState uint8

const (
	untoldJob onlineState = iota
	waitingJob
	runningJob
	killedJob // and it isn't told yet
	goneJob   // ended or rejected
)

type onlineJob struct {
	id             string
	submit, length int64
	width          int
	state          onlineState
	start, end     int64
	segments       []model.Segment[model.BatchPlace] // of the solution
	begun          int                               // of these
}

func newOnlineJudge(ctx context.Context, in *model.Batch, e *model.Execution, r *Report) *onlineJudge {
	j := &onlineJudge{ctx: ctx, report: r, index: make(map[string]int, len(in.Jobs)), jobs: make([]onlineJob, len(in.Jobs)),
		taken: make([]bool, in.Processors), free: in.Processors, at: -1, before: -1, busy: -1, calls: map[int64]int{}}
	figures := newBatchJudge(ctx, in, r).jobs
	for k := range in.Jobs {
		x := &figures[k]
		rate := dedicated - int64(x.loss)
		j.index[in.Jobs[k].ID] = k
		j.jobs[k] = onlineJob{id: in.Jobs[k].ID, submit: x.submit, length: (x.length*dedicated + rate - 1) / rate, width: in.Jobs[k].Processes}
	}
	for _, run := range e.Runs {
		if k, ok := j.index[run.ID]; ok {
			j.jobs[k].segments = run.Segments
		}
	}
	return j
}

// time reads a time in seconds, that of the turn if there is none.
func (j *onlineJudge) time(x *float64) (int64, error) {
	if x == nil {
		return j.at, nil
	}
	if !(*x >= 0 && *x <= latestTime) {
		return 0, fmt.Errorf("at_s is %v, must be from 0 to %g", *x, latestTime)
	}
	at, _ := micros(*x)
	return at, nil
}

// turn implements onlineReplay.
func (j *onlineJudge) turn(decode func(any) error) error {
	return replayTurn(decode, j.begin, j.told, j.decided)
}

// begin goes on to the time of a line.
func (j *onlineJudge) begin(atS float64) error {
	at, err := j.time(&atS)
	if err != nil {
		return err
	}
	if at < j.at || at < j.busy {
		return fmt.Errorf("it is of %v s, after one of %v s and with the policy busy until %v s", atS, inSeconds(j.at), inSeconds(max(0, j.busy)))
	}
	if at > j.at {
		j.before = j.at
	}
	j.at = at
	return nil
}

// told replays an event.
func (j *onlineJudge) told(e *transcriptEvent) error {
	at, err := j.time(e.AtS)
	if err != nil {
		return err
	}
	if e.Type == "called" {
		if j.inTime("the call", at, at, j.before); j.calls[at] == 0 {
			j.report.add(toldWrong, 0, "at %v s the policy is called, and hasn't asked for that", inSeconds(at))
		}
		j.calls[at]--
		return nil
	}
	k, known := j.index[e.Job]
	if !known {
		return fmt.Errorf("there is no job %q", e.Job)
	}
	x := &j.jobs[k]
	what := fmt.Sprintf("job %q is %s", e.Job, e.Type)
	switch e.Type {
	case "submitted":
		if x.state != untoldJob {
			j.report.add(toldWrong, 0, "at %v s it is told again that %s", inSeconds(j.at), what)
		}
		j.inTime(what, at, x.submit, j.before)
		x.state = waitingJob
	case "ended":
		if x.state != runningJob {
			j.report.add(toldWrong, 0, "at %v s it is told that %s, which isn't running", inSeconds(j.at), what)
			return nil
		}
		j.inTime(what, at, x.end, j.before)
		j.leave(x, goneJob, false)
	case "killed":
		if x.state != killedJob {
			j.report.add(toldWrong, 0, "at %v s it is told that %s, and that wasn't decided", inSeconds(j.at), what)
			return nil
		}
		j.inTime(what, at, x.end, j.before-1) // it was decided then, by a policy that was busy at once
		j.leave(x, waitingJob, true)
	default:
		return fmt.Errorf("an event is %q, must be submitted, ended, killed or called", e.Type)
	}
	return nil
}

// inTime checks when it is told that something is at an instant, and really is at another.
// What is told late is told at the first instant after a policy was busy, and was not up to
// known.
func (j *onlineJudge) inTime(what string, stated, really, known int64) {
	switch {
	case j.at < really || j.at < stated:
		j.report.add(toldEarly, 0, "at %v s it is told that %s, at %v s", inSeconds(j.at), what, inSeconds(max(really, stated)))
	case stated != really:
		j.report.add(toldWrong, 0, "it is told that %s at %v s, it is at %v s", what, inSeconds(stated), inSeconds(really))
	case j.at > really && (j.at != j.busy || really <= known):
		j.report.add(toldLate, 0, "at %v s it is told that %s, at %v s", inSeconds(j.at), what, inSeconds(really))
	}
}

// leave frees the processors of a job, and checks how its segment ends.
func (j *onlineJudge) leave(x *onlineJob, state onlineState, lost bool) {
	s := &x.segments[x.begun-1]
	if end, whole := micros(s.EndS); end != x.end || !whole || s.Lost != lost {
		j.report.add(undecided, 0, "job %q, from %v s on, runs until %v s (work lost: %v); it ended at %v s (%v)", x.id, s.StartS, s.EndS, s.Lost, inSeconds(x.end), lost)
	}
	for _, p := range s.Place.Processors {
		j.taken[p] = false
	}
	j.free += x.width
	x.state = state
}

// decided replays a decision.
func (j *onlineJudge) decided(d *transcriptEvent) error {
	at, err := j.time(d.AtS)
	if err != nil {
		return err
	}
	cannot := func(reason string, args ...any) {
		of := ""
		if d.Job != "" {
			of = fmt.Sprintf(" of job %q", d.Job)
		}
		j.report.add(impossibleDecision, 0, "at %v s, %s%s: %s", inSeconds(j.at), d.Type, of, fmt.Sprintf(reason, args...))
	}
	switch d.Type {
	case "call", "busy":
		if at <= j.at {
			cannot("%v s isn't later", inSeconds(at))
		} else if d.Type == "call" {
			j.calls[at]++
		} else {
			j.busy = max(j.busy, at)
		}
		return nil
	case "start", "reject", "kill":
	default:
		return fmt.Errorf("a decision is %q, must be start, reject, kill, call or busy", d.Type)
	}
	k, known := j.index[d.Job]
	if !known {
		cannot("there is no such job")
		return nil
	}
	x := &j.jobs[k]
	switch {
	case x.state == untoldJob:
		cannot("it wasn't told of then, it is submitted at %v s", inSeconds(x.submit))
	case d.Type == "kill" && (x.state != runningJob || x.start >= j.at):
		cannot("it wasn't running")
	case d.Type != "kill" && x.state != waitingJob:
		cannot("it wasn't waiting")
	case d.Type == "reject":
		x.state = goneJob
	case d.Type == "start":
		j.start(x, d, at, cannot)
	case x.end > j.at: // or else it has ended, which isn't told yet
		x.state, x.end = killedJob, j.at
	}
	return nil
}

// start replays the start of a job that waits. It holds the processors that are named,
// or else those that the solution has.
func (j *onlineJudge) start(x *onlineJob, d *transcriptEvent, at int64, cannot func(string, ...any)) {
	if at < j.at {
		cannot("%v s is in the past", inSeconds(at))
		return
	}
	if x.width > j.free {
		cannot("it needs %d processors, %d were free", x.width, j.free)
		return
	}
	if x.begun == len(x.segments) {
		j.report.add(undecided, 0, "job %q is started at %v s, and doesn't run then", x.id, inSeconds(at))
		return
	}
	s := &x.segments[x.begun]
	list := s.Place.Processors
	if start, whole := micros(s.StartS); start != at || !whole || s.Place.Tier != model.TierForeground || d.Processors != nil && !slices.Equal(d.Processors, list) {
		on := ""
		if d.Processors != nil {
			on = fmt.Sprintf(" on processors %q", d.Processors)
		}
		j.report.add(undecided, 0, "job %q is started at %v s%s, and runs from %v s on %q", x.id, inSeconds(at), on, s.StartS, list)
		return
	}
	if len(list) != x.width {
		cannot("it has %d processes, on %d processors", x.width, len(list))
		return
	}
	for i, p := range list {
		if j.contiguous && int(p-list[0]) != i {
			cannot("processor %d after %d is no neighbour", p, list[i-1])
			return
		}
		if p < 0 || int(p) >= len(j.taken) || j.taken[p] {
			cannot("processor %d wasn't free", p)
			return
		}
		j.taken[p] = true
	}
	j.free -= x.width
	x.begun++
	x.state, x.start, x.end = runningJob, at, at+x.length
}

// end checks that everything was told, and that nothing else runs.
func (j *onlineJudge) end() {
	for k := range j.jobs {
		if stopped(j.ctx, k) {
			return
		}
		x := &j.jobs[k]
		if x.begun < len(x.segments) {
			j.report.add(undecided, 0, "job %q runs from %v s on, and no decision starts it then", x.id, x.segments[x.begun].StartS)
			continue
		}
		switch x.state {
		case untoldJob:
			j.report.add(untold, 0, "that job %q is submitted", x.id)
		case runningJob, killedJob:
			j.report.add(untold, 0, "that job %q, running from %v s on, has ended", x.id, inSeconds(x.start))
		}
	}
}
