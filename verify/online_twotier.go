// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// tierReplay replays the transcript of a policy that runs jobs of a batch instance in two
// tiers. When a job ends follows from the instance and from what is decided about all jobs,
// and batch has checked that of the solution: a run ends in the first microsecond by which its
// work is done. So the replay needs to check that the segments of the solution are what was
// decided: each starts by a start or a move of that time, to its tier and its processors.
// It ends at the next move, at a kill, in which case its work is lost, or where the policy is
// told that the job has ended.
//
// A submission or an end must be told at the instant at which it happens. A start must be of
// a job that waits, as far as was told, a move or a kill of one that runs. Whether tiers have
// room is for batch to check: the solution is the same.
//
// O(jobs that run) per turn.
type tierReplay struct {
	replayClock
	ctx   context.Context
	in    *model.Batch
	index map[string]int
	jobs  []tierJob
	live  []int // jobs that run
}

// tierJob is a job as the transcript has it.
type tierJob struct {
	submit   int64
	state    onlineState
	since    int64 // when it came to its place
	segments []model.Segment[model.BatchPlace]
	begun    int // of these
}

// tierDecision is a decision in a transcript.
type tierDecision struct {
	Type       string              `json:"type"`
	Job        string              `json:"job"`
	Tier       model.Tier          `json:"tier"`
	Processors model.ProcessorList `json:"processors"`
	AtS        *float64            `json:"at_s"`
}

func newTierReplay(ctx context.Context, in *model.Batch, e *model.Execution, r *Report) *tierReplay {
	j := &tierReplay{replayClock: replayClock{r, "job", inSeconds, -1, map[int64]int{}}, ctx: ctx, in: in, index: make(map[string]int, len(in.Jobs)), jobs: make([]tierJob, len(in.Jobs))}
	for k := range in.Jobs {
		j.index[in.Jobs[k].ID] = k
		j.jobs[k].submit, _ = micros(in.Jobs[k].SubmitS)
	}
	for i := range e.Runs {
		if k, ok := j.index[e.Runs[i].ID]; ok {
			j.jobs[k].segments = e.Runs[i].Segments
		}
	}
	return j
}

// turn implements onlineReplay.
func (j *tierReplay) turn(decode func(any) error) error {
	return replayTurn(decode, j.begin, j.event, j.decided)
}

// begin goes on to the time of a line.
func (j *tierReplay) begin(atS float64) error {
	at, err := microsOf("at_s", &atS)
	if err != nil {
		return err
	}
	if at > j.at {
		j.pass(inSeconds(at))
	}
	return j.goOn(at)
}

// pass checks that no job that runs has ended before a time.
func (j *tierReplay) pass(before float64) {
	j.live = slices.DeleteFunc(j.live, func(k int) bool {
		x := &j.jobs[k]
		if x.state != runningJob {
			return true
		}
		if s := &x.segments[x.begun-1]; s.EndS < before {
			if x.begun == len(x.segments) {
				j.report.add(untold, 0, "that job %q ends at %v s", j.in.Jobs[k].ID, s.EndS)
			} else {
				j.report.add(undecided, 0, "job %q leaves its processors at %v s, and no decision moves or kills it then", j.in.Jobs[k].ID, s.EndS)
			}
		}
		return false
	})
}

// event replays an event.
func (j *tierReplay) event(e *transcriptEvent) error {
	if e.Type == "called" {
		j.called()
		return nil
	}
	k, known := j.index[e.Job]
	if !known {
		return fmt.Errorf("there is no job %q", e.Job)
	}
	x := &j.jobs[k]
	really := x.submit
	switch e.Type {
	case "submitted":
		if x.state != untoldJob {
			j.wrong(e.Job, e.Type, "again")
			return nil
		}
		x.state = waitingJob
	case "ended":
		if x.state != runningJob || x.begun < len(x.segments) {
			j.wrong(e.Job, e.Type, "which isn't in its last segment")
			return nil
		}
		really, _ = micros(x.segments[x.begun-1].EndS)
		x.state = goneJob
	default:
		return fmt.Errorf("an event is %q, must be submitted, ended or called", e.Type)
	}
	j.told(e.Job, e.Type, really)
	return nil
}

// decided replays a decision.
func (j *tierReplay) decided(d *tierDecision) error {
	cannot := func(reason string, args ...any) { j.cannot(d.Type, d.Job, reason, args...) }
	switch d.Type {
	case "call":
		at, err := microsOf("at_s", d.AtS)
		if err == nil {
			j.call(at)
		}
		return err
	case "start", "move", "kill", "reject":
	default:
		return fmt.Errorf("a decision is %q, must be start, move, kill, reject or call", d.Type)
	}
	k, known := j.index[d.Job]
	if !known {
		cannot("there is no such job")
		return nil
	}
	x, starts := &j.jobs[k], d.Type == "start" || d.Type == "reject"
	switch {
	case x.state == untoldJob:
		cannot("it wasn't told of then, it is submitted at %v s", inSeconds(x.submit))
	case starts && x.state != waitingJob:
		cannot("it wasn't waiting")
	case !starts && (x.state != runningJob || x.since >= j.at):
		cannot("it wasn't running")
	case d.Type == "reject":
		x.state = goneJob
	case d.Type == "start":
		j.place(x, d)
		j.live = append(j.live, k)
	default:
		if j.leaves(x, d); d.Type == "move" {
			j.place(x, d)
		} else {
			x.state = waitingJob
		}
	}
	return nil
}

// leaves checks how a job that runs leaves its place.
func (j *tierReplay) leaves(x *tierJob, d *tierDecision) {
	s := &x.segments[x.begun-1]
	if killed := d.Type == "kill"; s.EndS != inSeconds(j.at) || s.Lost != killed {
		j.report.add(undecided, 0, "job %q, from %v s on, runs until %v s (work lost: %v); at %v s there was a %s", d.Job, s.StartS, s.EndS, s.Lost, inSeconds(j.at), d.Type)
	}
}

// place replays that a job comes to a place.
func (j *tierReplay) place(x *tierJob, d *tierDecision) {
	x.state, x.since = goneJob, j.at
	if x.begun == len(x.segments) {
		j.report.add(undecided, 0, "job %q comes to %q at %v s, and doesn't run there", d.Job, d.Processors, inSeconds(j.at))
		return
	}
	if s := &x.segments[x.begun]; s.StartS != inSeconds(j.at) || s.Place.Tier != d.Tier || !slices.Equal(s.Place.Processors, d.Processors) {
		j.report.add(undecided, 0, "job %q comes to %q (%s) at %v s, and runs from %v s on in %q (%s)", d.Job, d.Processors, nameOfTier(d.Tier), inSeconds(j.at), s.StartS,
			s.Place.Processors, nameOfTier(s.Place.Tier))
		return
	}
	x.begun++
	x.state = runningJob
}

// nameOfTier returns what a tier is called.
func nameOfTier(t model.Tier) string {
	if t == model.TierForeground {
		return "foreground"
	}
	return string(t)
}

// end implements onlineReplay.
func (j *tierReplay) end() {
	j.pass(2 * latestTime)
	for k := range j.jobs {
		if stopped(j.ctx, k) {
			return
		}
		switch x := &j.jobs[k]; {
		case x.state == untoldJob:
			j.report.add(untold, 0, "that job %q is submitted", j.in.Jobs[k].ID)
		case x.begun < len(x.segments):
			j.report.add(undecided, 0, "job %q runs from %v s on, and no decision starts it then", j.in.Jobs[k].ID, x.segments[x.begun].StartS)
		}
	}
}
