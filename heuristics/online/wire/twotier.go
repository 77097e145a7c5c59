// SPDX-License-Identifier: MIT

package wire

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// moveJob is the type of an event of batch on two tiers that one tier hasn't.
const moveJob = "MOVE_JOB"

// twoTierDialect is the messages of batch on two tiers: the ones on one tier, with tiers and uses.
type twoTierDialect struct {
	*session
	// walltimes are the users' estimates, in seconds. TwoTierJob.Estimate is such a one over the foreground's rate, and
	// so reveals the loss there.
	walltimes  []float64
	uses       bool    // it is told what share of a processor each process uses
	foreground []int32 // jobs that have each processor there; more than one within an answer alone
	jobs       []tierPlace
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

// share returns ten-thousandths of a processor as a share.
func share(x int64) float64 { return float64(x) / 1e4 }

func newTwoTierDialect(s *session, in *model.Batch, uses bool) *twoTierDialect {
	p := &twoTierDialect{session: s, uses: uses}
	for k := range in.Jobs {
		p.walltimes = append(p.walltimes, cmp.Or(in.Jobs[k].EstimateS, in.Jobs[k].RuntimeS))
	}
	return p
}

func (p *twoTierDialect) begins(platform online.TwoTierPlatform) any {
	p.foreground = make([]int32, platform.Processors)
	return twoTierBegins{begins(platform.Processors), 2, share(platform.Threshold), p.clock.seconds(platform.Migration)}
}

func (*twoTierDialect) decision(what online.DecisionType, k int32, at int64) online.TwoTierDecision {
	return online.TwoTierDecision{Type: what, Job: k, At: at}
}

func (p *twoTierDialect) report(e online.TwoTierEvent) {
	p.now = e.At
	switch e.Type {
	case online.Submitted:
		var use []float64
		for k := 0; p.uses && k < len(e.Job.Use); k++ {
			use = append(use, share(e.Job.Use[k]))
		}
		p.jobs = append(p.jobs, tierPlace{width: int(e.Job.Processes)})
		p.submitted(&e.Job.BatchJob, p.walltimes[e.Job.Number], use, len(p.walltimes))
	case online.Ended:
		d := completedData{jobName(e.Job.Number), "COMPLETED_SUCCESSFULLY", 0, intervals(p.jobs[e.Job.Number].processors)}
		p.leave(e.Job.Number)
		p.over++
		p.add(e.At, jobCompleted, d)
	case online.Called:
		p.add(e.At, requestedCall, struct{}{})
	}
}

// leave notes that a job runs no more where it does.
func (p *twoTierDialect) leave(k int32) {
	j := &p.jobs[k]
	for _, x := range j.processors {
		if j.tier == model.TierForeground {
			p.foreground[x]--
		}
	}
	j.processors = nil
}

// more reads where a job shall run. Without processors it gets the lowest that are idle in the foreground.
func (p *twoTierDialect) more(x *online.TwoTierDecision, k int32, e *answerEvent) error {
	if x.Type == online.Move || x.Type == online.Kill {
		p.leave(k)
	}
	if x.Type == online.Kill || x.Type == online.Reject {
		return nil
	}
	d, err := read[placeData](e)
	if err != nil {
		return err
	}
	if x.Tier = model.Tier(d.Tier); d.Tier == "foreground" {
		x.Tier = model.TierForeground
	}
	j := &p.jobs[k]
	switch {
	case d.Alloc != nil:
		x.Processors, err = parseIntervals(*d.Alloc, len(p.foreground))
	case x.Tier != model.TierForeground:
		err = errors.New("there is no alloc, which only the foreground may lack")
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
	if err == nil && j.processors == nil { // else it can't be done
		j.tier, j.processors = x.Tier, x.Processors
		for _, q := range x.Processors {
			if x.Tier == model.TierForeground {
				p.foreground[q]++
			}
		}
	}
	return err
}
