// SPDX-License-Identifier: MIT

package wire

import (
	"cmp"
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// moveJob is the type of an event of batch on two tiers that one tier hasn't.
const moveJob = "MOVE_JOB"

// twoTierPolicy is a scheduler of batch on two tiers. Its messages are the ones of batch on one tier, with tiers and
// uses.
type twoTierPolicy struct {
	*session
	// walltimes are the users' estimates, in seconds. TwoTierJob.Estimate is such a one over the foreground's rate, and
	// so reveals the loss there.
	walltimes  []float64
	uses       bool    // it is told what share of a processor each process uses
	foreground []int32 // jobs that have each processor there; more than one within an answer alone
	jobs       []tierPlace
	over       int // jobs that have ended, or are rejected
	now        int64
	all        []online.TwoTierDecision
}

// tierPlace is where a job runs.
type tierPlace struct {
	width      int
	tier       model.Tier
	processors []int32 // nil: it doesn't run
}

// twoTierBegins has more keys than on one tier.
type twoTierBegins struct {
	beginsData
	Tiers      int     `json:"tiers"`
	Threshold  float64 `json:"threshold"`
	MigrationS float64 `json:"migration_s"`
}

// Begin implements online.TwoTierPolicy.
func (p *twoTierPolicy) Begin(platform online.TwoTierPlatform) error {
	p.foreground = make([]int32, platform.Processors)
	return p.begin(twoTierBegins{begins(platform.Processors), 2, share(platform.Threshold), p.clock.seconds(platform.Migration)})
}

// share returns ten-thousandths of a processor as a share.
func share(x int64) float64 { return float64(x) / 1e4 }

// Event implements online.TwoTierPolicy.
func (p *twoTierPolicy) Event(e online.TwoTierEvent) error {
	p.now = e.At
	switch e.Type {
	case online.Submitted:
		j, name := e.Job, jobName(e.Job.Number)
		d := submittedData{name, jobData{ID: name, Submit: p.clock.seconds(j.Submit), Walltime: p.walltimes[j.Number], Res: j.Processes, Profile: name[len(workload)+1:], Log: j.Log}}
		for k := 0; p.uses && k < len(j.Use); k++ {
			d.Job.Use = append(d.Job.Use, share(j.Use[k]))
		}
		p.jobs = append(p.jobs, tierPlace{width: int(j.Processes)})
		if p.add(e.At, jobSubmitted, d); len(p.jobs) == len(p.walltimes) {
			p.add(e.At, notify, notifyData{"no_more_static_job_to_submit"})
		}
	case online.Ended:
		d := completedData{jobName(e.Job.Number), "COMPLETED_SUCCESSFULLY", 0, intervals(p.jobs[e.Job.Number].processors)}
		p.leave(e.Job.Number)
		p.over++
		p.add(e.At, jobCompleted, d)
	case online.Called:
		p.add(e.At, requestedCall, struct{}{})
	}
	return nil
}

// leave notes that a job runs no more where it does.
func (p *twoTierPolicy) leave(k int32) {
	j := &p.jobs[k]
	for _, x := range j.processors {
		if j.tier == model.TierForeground {
			p.foreground[x]--
		}
	}
	j.processors = nil
}

// Decide implements online.TwoTierPolicy.
func (p *twoTierPolicy) Decide() (_ []online.TwoTierDecision, err error) {
	p.all, err = decideNow(p.session, p.now, p.all[:0], p.decisions)
	return p.all, err
}

// decisions appends what an event of an answer decides.
func (p *twoTierPolicy) decisions(all []online.TwoTierDecision, e *answerEvent) ([]online.TwoTierDecision, error) {
	switch e.Type {
	case executeJob, moveJob:
		return p.places(all, e)
	case rejectJob:
		d, err := read[struct {
			JobID string `json:"job_id"`
		}](e)
		if err != nil {
			return nil, err
		}
		k, err := numberOf(e.Type, d.JobID, len(p.jobs))
		p.over++
		return append(all, online.TwoTierDecision{Type: online.Reject, Job: k}), err
	case killJob:
		d, err := read[killedData](e)
		if err != nil {
			return nil, err
		}
		for _, id := range d.JobIDs {
			k, err := numberOf(e.Type, id, len(p.jobs))
			if err != nil {
				return nil, err
			}
			p.leave(k)
			all = append(all, online.TwoTierDecision{Type: online.Kill, Job: k})
		}
		return all, nil
	case callMeLater:
		at, err := p.clock.call(e)
		return append(all, online.TwoTierDecision{Type: online.CallAt, At: at}), err
	case notify, setJobMetadata: // nothing depends on them
		return all, nil
	}
	return nil, notOffered(e, executeJob, moveJob, rejectJob, killJob, callMeLater)
}

// places appends EXECUTE_JOB or MOVE_JOB.
func (p *twoTierPolicy) places(all []online.TwoTierDecision, e *answerEvent) ([]online.TwoTierDecision, error) {
	d, err := read[struct {
		JobID string  `json:"job_id"`
		Alloc *string `json:"alloc"`
		Tier  string  `json:"tier"`
	}](e)
	if err != nil {
		return nil, err
	}
	k, err := numberOf(e.Type, d.JobID, len(p.jobs))
	if err != nil {
		return nil, err
	}
	x := online.TwoTierDecision{Type: online.Start, Job: k, Tier: model.Tier(d.Tier)}
	if e.Type == moveJob {
		x.Type = online.Move
	}
	if d.Tier == "foreground" {
		x.Tier = model.TierForeground
	}
	j := &p.jobs[k]
	if x.Type == online.Move {
		p.leave(k)
	}
	switch {
	case d.Alloc != nil:
		x.Processors, err = parseIntervals(*d.Alloc, len(p.foreground))
	case x.Tier != model.TierForeground:
		err = fmt.Errorf("there is no alloc, which only the foreground may lack")
	default:
		for q := 0; q < len(p.foreground) && len(x.Processors) < j.width; q++ {
			if p.foreground[q] <= 0 {
				x.Processors = append(x.Processors, int32(q))
			}
		}
		if len(x.Processors) < j.width {
			err = fmt.Errorf("it needs %d processors, %d are idle in the foreground", j.width, len(x.Processors))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", e.Type, d.JobID, err)
	}
	if j.processors == nil { // else it can't be done
		j.tier, j.processors = x.Tier, x.Processors
		for _, q := range x.Processors {
			if x.Tier == model.TierForeground {
				p.foreground[q]++
			}
		}
	}
	return append(all, x), nil
}

// twoTiers runs the session on an instance of two tiers.
func (s *session) twoTiers(in *model.Batch, o online.BatchOptions, uses bool) course {
	if o.Order != "" && o.Order != model.BatchOrderBatch || o.Placement != "" && o.Placement != model.BatchLowest {
		return course{err: fmt.Errorf("%w: on two tiers the order is %q and the placement %q", model.ErrUnsupported, model.BatchOrderBatch, model.BatchLowest)}
	}
	p := &twoTierPolicy{session: s, uses: uses}
	for k := range in.Jobs {
		p.walltimes = append(p.walltimes, cmp.Or(in.Jobs[k].EstimateS, in.Jobs[k].RuntimeS))
	}
	e, err := online.TwoTier(s.ctx, in, p)
	return ofBatch(e, err, p.over == len(in.Jobs), p.now)
}

// ofBatch returns how a session of batch went.
func ofBatch(e *model.Execution, err error, heard bool, at int64) course {
	c := course{solution: e, err: err, heard: heard, at: at}
	if e != nil && len(e.Runs) > 0 {
		c.partial = &model.BatchDetails{Partial: e.Runs}
	}
	return c
}
