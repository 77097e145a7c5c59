// SPDX-License-Identifier: MIT

package online

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// twoTierRun is a run of a policy.
//
// A job's rate changes only at events: in the background when a foreground of its
// processors changes. Its end is computed from its rate, as the first whole microsecond at
// which its work is done.
type twoTierRun struct {
	simulation[TwoTierPlatform, TwoTierEvent, TwoTierDecision]
	t        *view.Batch
	jobs     []TwoTierJob
	left     int // jobs that aren't over
	rejected int
	states   []tierState
	fore     []tierProcess // by processor
	back     []int32       // job by processor; -1: none
	touched  []int32       // jobs in the background whose rates may change at this instant
	stays    []tierStay    // that have ended, in this order
}

// tierProcess is the process in the foreground of a processor.
type tierProcess struct {
	job int32 // -1: none
	use int32 // 0: none
}

// tierState is a job's place and its finished work.
type tierState struct {
	background bool
	touched    bool
	rate       int64
	left       int64 // work left at since, in ten-thousandths of a microsecond
	since      int64 // the job works at its rate since then
	migrates   int64 // it does no work up to then
	entered    int64
	list       []int32
}

// tierStay is a time of a job in one place.
type tierStay struct {
	job              int32
	background, lost bool
	start, end       int64
	list             []int32
}

func newTwoTierRun(t *view.Batch, in *model.Batch, p TwoTierPolicy) (*twoTierRun, error) {
	if t.Tiers != 2 {
		return nil, fmt.Errorf("%w: the platform has one tier, jobs need two: foreground and background", model.ErrUnsupported)
	}
	_, estimates, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	n, public := len(t.Jobs), publicLogs{}
	r := &twoTierRun{t: t, jobs: make([]TwoTierJob, n), left: n, states: make([]tierState, n),
		fore: make([]tierProcess, t.Processors), back: make([]int32, t.Processors), stays: make([]tierStay, 0, n)}
	r.simulation = simulate(r, p, "job", "been submitted", "ended", submissions(t), Start, Move, Kill, Reject, CallAt)
	for k := range t.Jobs {
		r.jobs[k] = TwoTierJob{public.job(t, in, k, estimates[k]), t.Jobs[k].Use}
		r.states[k] = tierState{left: t.Jobs[k].Work()}
	}
	for p := range r.fore {
		r.fore[p].job, r.back[p] = -1, -1
	}
	return r, nil
}

// platform returns a policy's knowledge before the first job.
func (r *twoTierRun) platform() TwoTierPlatform {
	p := BatchPlatform{Processors: r.t.Processors, KillAtEstimate: r.t.KillAtEstimate, Placement: model.BatchLowest}
	return TwoTierPlatform{p, r.t.Threshold, r.t.Migration}
}

// ends implements problem.
func (r *twoTierRun) ends(next int64) (bool, error) {
	n := len(r.jobs)
	switch {
	case r.left == 0:
		return true, rejection(r.rejected, n)
	case r.instants%1024 == 0 && meter.Stop(r.ctx, 2048):
		return true, fmt.Errorf("%w: stopped when %d of %d jobs had ended", model.ErrNoSolution, n-r.left-r.rejected, n)
	case next == never:
		return true, fmt.Errorf("%w: after %.9g s nothing happens any more, and %d jobs haven't ended",
			model.ErrNoSolution, r.seconds(r.now), r.left)
	case next > view.MostTime:
		return true, processors.TooLate()
	}
	return false, nil
}

// happen implements problem.
func (r *twoTierRun) happen(x occasion) (told bool, err error) {
	e := TwoTierEvent{Type: Called, At: r.now}
	if x.item >= 0 {
		e.Type, e.Job = Submitted, &r.jobs[x.item]
	}
	if x.kind() == ends {
		e.Type = Ended
		r.leave(x.item, false)
		r.phases[x.item], r.left = over, r.left-1
	}
	return true, r.report(e.Type, e)
}

// settle implements problem: jobs take their processors, the use of these is compared, and rates change.
func (r *twoTierRun) settle(all []TwoTierDecision) error {
	err := r.each(all, r.place)
	if err == nil {
		err = r.each(all, r.below)
	}
	for _, k := range r.touched {
		x := &r.states[k]
		x.touched = false
		if r.phases[k] != running || !x.background {
			continue
		}
		if rate := r.rate(k); rate != x.rate {
			r.count(x)
			x.rate = rate
			r.complete(k)
		}
	}
	r.touched = r.touched[:0]
	return err
}

// count counts the work of a job up to now.
func (r *twoTierRun) count(x *tierState) {
	if r.now > x.since {
		x.left -= x.rate * (r.now - x.since)
		x.since = r.now
	}
}

// complete computes when job k ends by its rate.
func (r *twoTierRun) complete(k int32) {
	x := &r.states[k]
	if x.rate == 0 {
		r.cancel(k)
		return
	}
	r.expect(k, x.since+(x.left+x.rate-1)/x.rate, ends, 0)
}

// touch notes that the rate of job k, in the background, may have changed; -1: there is none.
func (r *twoTierRun) touch(k int32) {
	if k >= 0 && !r.states[k].touched {
		r.states[k].touched = true
		r.touched = append(r.touched, k)
	}
}

// rate returns the rate of a job in the background: its slowest process's.
func (r *twoTierRun) rate(k int32) int64 {
	j, list := &r.t.Jobs[k], r.states[k].list
	if len(j.Use) == 1 {
		most := int32(0)
		for _, p := range list {
			most = max(most, r.fore[p].use)
		}
		return j.BackgroundRate(j.Use[0], view.FullRate-int64(most))
	}
	rate := int64(view.FullRate)
	for i, p := range list {
		rate = min(rate, j.BackgroundRate(j.Use[i], view.FullRate-int64(r.fore[p].use)))
	}
	return rate
}

// leave takes job k, which runs, from its processors, with its finished work or, if that is lost, without.
func (r *twoTierRun) leave(k int32, lost bool) {
	x := &r.states[k]
	r.count(x)
	if lost {
		x.left, x.migrates = r.t.Jobs[k].Work(), 0
	}
	r.stays = append(r.stays, tierStay{k, x.background, lost, x.entered, r.now, x.list})
	for _, p := range x.list {
		if x.background {
			r.back[p] = -1
		} else {
			r.fore[p] = tierProcess{job: -1}
			r.touch(r.back[p])
		}
	}
	x.rate = 0
	r.cancel(k)
}

// execution returns the runs until now.
func (r *twoTierRun) execution() *model.Execution {
	type segment = model.Segment[model.BatchPlace]
	for k := range r.states { // after an error
		if x := &r.states[k]; r.phases[k] == running && x.entered < r.now {
			r.stays = append(r.stays, tierStay{int32(k), x.background, false, x.entered, r.now, x.list})
		}
	}
	counts := make([]int, len(r.jobs))
	for i := range r.stays {
		counts[r.stays[i].job]++
	}
	e := &model.Execution{Runs: make([]model.Run[model.BatchPlace], 0, len(r.jobs))}
	array, at := make([]segment, len(r.stays)), make([]int, len(r.jobs))
	for k := range r.jobs {
		if counts[k] > 0 {
			at[k] = len(e.Runs)
			e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: r.jobs[k].ID, Segments: array[:0:counts[k]]})
			array = array[counts[k]:]
		}
	}
	for i := range r.stays {
		x := &r.stays[i]
		place := model.BatchPlace{Processors: x.list}
		if x.background {
			place.Tier = model.TierBackground
		}
		run := &e.Runs[at[x.job]]
		run.Segments = append(run.Segments, segment{StartS: r.t.Seconds(x.start), EndS: r.t.Seconds(x.end), Place: place, Lost: x.lost})
	}
	return e
}
