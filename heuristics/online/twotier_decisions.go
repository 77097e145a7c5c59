// SPDX-License-Identifier: MIT

package online

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// head implements problem.
func (*twoTierRun) head(d *TwoTierDecision) (DecisionType, int32, int64) { return d.Type, d.Job, d.At }

// id implements problem.
func (r *twoTierRun) id(k int32) string { return r.jobs[k].ID }

// do implements problem: jobs leave their processors.
func (r *twoTierRun) do(d *TwoTierDecision) string {
	k, starts := d.Job, d.Type == Start || d.Type == Reject
	switch {
	case r.phases[k] == placing:
		return "it gets a place already"
	case starts && r.phases[k] == running:
		return fmt.Sprintf("it is running, here since %.9g s", r.seconds(r.states[k].entered))
	case !starts && r.phases[k] == waiting:
		return "it isn't running"
	case !starts:
		r.leave(k, d.Type == Kill)
	}
	switch d.Type {
	case Start, Move:
		r.phases[k] = placing
	case Kill:
		r.phases[k], r.states[k].list = waiting, nil
	default:
		r.phases[k] = over
		r.left--
		r.rejected++
	}
	return ""
}

// place carries the second part out: jobs take processors.
func (r *twoTierRun) place(d *TwoTierDecision) string {
	if d.Type != Start && d.Type != Move {
		return ""
	}
	x, j, list := &r.states[d.Job], &r.jobs[d.Job], d.Processors
	background := d.Tier == model.TierBackground
	switch {
	case !background && d.Tier != model.TierForeground:
		return fmt.Sprintf("there is no tier %q", d.Tier)
	case len(list) != int(j.Processes):
		return fmt.Sprintf("it has %d processes, on %d processors", j.Processes, len(list))
	}
	for i, p := range list {
		switch {
		case p < 0 || int(p) >= len(r.fore):
			return fmt.Sprintf("there is no processor %d, there are 0 to %d", p, len(r.fore)-1)
		case background && r.back[p] >= 0:
			return fmt.Sprintf("the background of processor %d isn't idle", p)
		case !background && r.fore[p].job >= 0:
			return fmt.Sprintf("the foreground of processor %d isn't idle", p)
		case background:
			r.back[p] = d.Job
		default:
			use := j.Use[0]
			if len(j.Use) > 1 {
				use = j.Use[i]
			}
			r.fore[p] = tierProcess{d.Job, int32(use)}
			r.touch(r.back[p])
		}
	}
	if d.Type == Move && (&list[0] != &x.list[0]) && !slices.Equal(list, x.list) {
		x.migrates = r.now + r.t.Migration
	}
	r.phases[d.Job] = running
	x.background, x.list, x.entered, x.since = background, list, r.now, max(r.now, x.migrates)
	if background {
		r.touch(d.Job)
		return ""
	}
	x.rate = r.t.Jobs[d.Job].Foreground
	r.complete(d.Job)
	return ""
}

// below reports a start in the background where the foreground uses too much.
func (r *twoTierRun) below(d *TwoTierDecision) string {
	if d.Tier != model.TierBackground {
		return ""
	}
	for _, p := range d.Processors {
		if use := int64(r.fore[p].use); use >= r.t.Threshold {
			return fmt.Sprintf("the foreground use of processor %d is %v, must be below %v", p, float64(use)/1e4, float64(r.t.Threshold)/1e4)
		}
	}
	return ""
}
