// SPDX-License-Identifier: MIT

package online

import (
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
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
	driver[TwoTierPlatform, TwoTierEvent, TwoTierDecision]
	t           *view.Batch
	jobs        []TwoTierJob
	arrived     int // jobs from here on are coming
	left        int // jobs that aren't over
	rejected    int
	states      []tierState
	fore        []tierProcess // by processor
	back        []int32       // job by processor; -1: none
	touched     []int32       // jobs in the background whose rates may change at this instant
	completions heap.Heap[completion]
	calls       heap.Heap[int64]
	stays       []tierStay // that have ended, in this order
}

// tierProcess is the process in the foreground of a processor.
type tierProcess struct {
	job int32 // -1: none
	use int32 // 0: none
}

// tierState is a job's place and its finished work.
type tierState struct {
	phase      phase
	background bool
	touched    bool
	rate       int64
	left       int64 // work left at since, in ten-thousandths of a microsecond
	since      int64 // the job works at its rate since then
	migrates   int64 // it does no work up to then
	finish     int64 // by its rate; never: it doesn't work, or isn't running
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

// placing is the phase of a job that gets a place by the decisions of this call.
const placing = over + 1

func newTwoTierRun(t *view.Batch, in *model.Batch, p TwoTierPolicy) (*twoTierRun, error) {
	if t.Tiers != 2 {
		return nil, fmt.Errorf("%w: the platform has one tier, jobs need two: foreground and background", model.ErrUnsupported)
	}
	_, estimates, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	n, public := len(t.Jobs), publicLogs{}
	r := &twoTierRun{driver: driver[TwoTierPlatform, TwoTierEvent, TwoTierDecision]{policy: p, perSecond: ticksPerSecond}, t: t, jobs: make([]TwoTierJob, n),
		left: n, states: make([]tierState, n), fore: make([]tierProcess, t.Processors), back: make([]int32, t.Processors), stays: make([]tierStay, 0, n),
		completions: heap.Heap[completion]{Less: completion.before}, calls: heap.Heap[int64]{Less: func(a, b int64) bool { return a < b }}}
	for k := range t.Jobs {
		j := &t.Jobs[k]
		r.jobs[k] = TwoTierJob{BatchJob{Number: int32(k), Submit: j.Submit, Estimate: estimates[k], Processes: int32(j.Processes)}, j.Use}
		if in != nil {
			r.jobs[k].ID, r.jobs[k].Log = in.Jobs[k].ID, public.public(in.Jobs[k].Log)
		}
		r.states[k] = tierState{left: j.Work(), finish: never}
	}
	for p := range r.fore {
		r.fore[p].job, r.back[p] = -1, -1
	}
	return r, nil
}

// run goes from instant to instant until all jobs are over.
func (r *twoTierRun) run(ctx context.Context) error {
	p := TwoTierPlatform{BatchPlatform{r.t.Processors, r.t.KillAtEstimate, model.BatchLowest}, r.t.Threshold, r.t.Migration}
	if err := r.policy.Begin(p); err != nil {
		return err
	}
	for instants := 0; r.left > 0; instants++ {
		if instants%1024 == 0 && meter.Stop(ctx, 2048) {
			return fmt.Errorf("%w: stopped when %d of %d jobs had ended", model.ErrNoSolution, len(r.jobs)-r.left-r.rejected, len(r.jobs))
		}
		at := r.nextEnd()
		if r.arrived < len(r.jobs) {
			at = min(at, r.jobs[r.arrived].Submit)
		}
		if r.calls.Len() > 0 {
			at = min(at, r.calls.Items[0])
		}
		switch {
		case at == never:
			return fmt.Errorf("%w: after %.9g s nothing happens any more, and %d jobs haven't ended", model.ErrNoSolution, r.seconds(r.now), r.left)
		case at > view.MostTime:
			return processors.TooLate()
		}
		r.now = at
		if err := r.instant(); err != nil {
			return err
		}
	}
	if r.rejected > 0 {
		return fmt.Errorf("%w: the policy has rejected %d of %d jobs", model.ErrNoSolution, r.rejected, len(r.jobs))
	}
	return nil
}

// instant reports what happens now, asks, and computes new rates.
func (r *twoTierRun) instant() error {
	for r.nextEnd() == r.now {
		k := r.completions.Pop().job
		r.leave(k, false)
		r.states[k].phase, r.left = over, r.left-1
		if err := r.report(Ended, TwoTierEvent{Ended, r.now, &r.jobs[k]}); err != nil {
			return err
		}
	}
	for r.arrived < len(r.jobs) && r.jobs[r.arrived].Submit == r.now {
		k := r.arrived
		r.states[k].phase = waiting
		r.arrived++
		if err := r.report(Submitted, TwoTierEvent{Submitted, r.now, &r.jobs[k]}); err != nil {
			return err
		}
	}
	for r.calls.Len() > 0 && r.calls.Items[0] == r.now {
		r.calls.Pop()
		if err := r.report(Called, TwoTierEvent{Type: Called, At: r.now}); err != nil {
			return err
		}
	}
	all, err := r.ask()
	if err != nil {
		return err
	}
	for _, step := range []func(*TwoTierDecision) string{r.first, r.place, r.below} {
		for i := range all {
			if reason := step(&all[i]); reason != "" {
				return r.refuse(r.named(&all[i]), reason)
			}
		}
	}
	r.refresh()
	return nil
}

// nextEnd returns when the next job ends. It drops completions that a change of the rate has
// made wrong.
func (r *twoTierRun) nextEnd() int64 {
	for r.completions.Len() > 0 {
		if x := r.completions.Items[0]; r.states[x.job].finish == x.at {
			return x.at
		}
		r.completions.Pop()
	}
	return never
}

// settle counts the work of a job up to now.
func (r *twoTierRun) settle(x *tierState) {
	if r.now > x.since {
		x.left -= x.rate * (r.now - x.since)
		x.since = r.now
	}
}

// complete computes when job k ends by its rate.
func (r *twoTierRun) complete(k int32) {
	x := &r.states[k]
	if x.rate == 0 {
		x.finish = never
		return
	}
	x.finish = x.since + (x.left+x.rate-1)/x.rate
	r.completions.Push(completion{at: x.finish, job: k})
	// Wrong completions are at most about as many as right ones: memory stays linear,
	// for O(log n) per completion.
	if most := 4*len(r.fore) + 64; r.completions.Len() > most {
		r.completions.Items = slices.DeleteFunc(r.completions.Items, func(c completion) bool { return r.states[c.job].finish != c.at })
		r.completions.Init()
	}
}

// touch notes that the rate of job k, in the background, may have changed; -1: there is none.
func (r *twoTierRun) touch(k int32) {
	if k >= 0 && !r.states[k].touched {
		r.states[k].touched = true
		r.touched = append(r.touched, k)
	}
}

// refresh computes the rates of jobs in the background with a changed foreground.
func (r *twoTierRun) refresh() {
	for _, k := range r.touched {
		x := &r.states[k]
		x.touched = false
		if x.phase != running || !x.background {
			continue
		}
		if rate := r.rate(k); rate != x.rate {
			r.settle(x)
			x.rate = rate
			r.complete(k)
		}
	}
	r.touched = r.touched[:0]
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
	r.settle(x)
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
	x.finish, x.rate = never, 0
}

// execution returns the runs until now.
func (r *twoTierRun) execution() *model.Execution {
	type segment = model.Segment[model.BatchPlace]
	for k := range r.states { // after an error
		if x := &r.states[k]; x.phase == running && x.entered < r.now {
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
