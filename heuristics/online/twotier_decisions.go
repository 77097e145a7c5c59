// SPDX-License-Identifier: MIT

package online

import (
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// named names a decision.
func (r *twoTierRun) named(d *TwoTierDecision) string {
	return r.words(d.Type, d.At, "job", d.Job, r.arrived, r.id)
}

// id returns the id of a job.
func (r *twoTierRun) id(k int32) string { return r.jobs[k].ID }

// first carries the first part of a decision out: jobs leave their processors. It
// returns why it can't be; "": it is done.
func (r *twoTierRun) first(d *TwoTierDecision) string {
	k := d.Job
	switch d.Type {
	case CallAt:
		if d.At <= r.now {
			return "this isn't later than now"
		}
		r.calls.Push(d.At)
		return ""
	case Start, Move, Kill, Reject:
	default:
		return fmt.Sprintf("there is no such decision, there are %q, %q, %q, %q and %q", Start, Move, Kill, Reject, CallAt)
	}
	if k < 0 || int(k) >= r.arrived {
		return fmt.Sprintf("no such job has been submitted, the policy knows numbers below %d", r.arrived)
	}
	x, starts := &r.states[k], d.Type == Start || d.Type == Reject
	switch {
	case x.phase == over:
		return "it has ended, or is rejected"
	case x.phase == placing:
		return "it gets a place already"
	case starts && x.phase == running:
		return fmt.Sprintf("it is running, here since %.9g s", r.seconds(x.entered))
	case !starts && x.phase == waiting:
		return "it isn't running"
	}
	switch d.Type {
	case Start:
		x.phase = placing
	case Move:
		r.leave(k, false)
		x.phase = placing
	case Kill:
		r.leave(k, true)
		x.phase, x.list = waiting, nil
	default:
		x.phase = over
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
	x.phase, x.background, x.list, x.entered, x.since = running, background, list, r.now, max(r.now, x.migrates)
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
