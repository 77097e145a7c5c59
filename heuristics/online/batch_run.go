// SPDX-License-Identifier: MIT

package online

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/heap"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// never is later than all times.
const never = math.MaxInt64

// phase is where a job is.
type phase uint8

const (
	coming  phase = iota // it isn't submitted, or the policy doesn't know
	waiting              // it may start
	running              // it has processors, as far as the policy knows
	dying                // it is killed, and the policy isn't told yet
	over                 // it has ended, or is rejected
)

// completion is the end of a running job. Ends at one instant come in the order of their ranks, ends of one rank by
// job.
type completion struct {
	at        int64
	rank, job int32
}

func (x completion) before(y completion) bool {
	return x.at < y.at || x.at == y.at && (x.rank < y.rank || x.rank == y.rank && x.job < y.job)
}

// batchRun is a run of a policy. The policy knows starts, lists and phases; completions and lengths are the truth.
type batchRun struct {
	driver[BatchPlatform, BatchEvent, BatchDecision]
	t           *view.Batch
	options     BatchOptions
	jobs        []BatchJob
	lengths     []int64 // ticks that each job really runs
	busy        int64   // the policy is until then
	arrived     int     // jobs from here on are coming
	left        int     // jobs that aren't over
	rejected    int
	phases      []phase
	starts      []int64 // of each job that runs or has ended; -1: it hasn't started
	lists       [][]int32
	array       []int32 // to cut lists from
	started     []int32 // jobs in the order of their starts
	idle        int     // processors that are free, as far as the policy knows
	free        *processors.Free
	completions heap.Heap[completion] // also of jobs that were killed
	due         []int32
	calls       heap.Heap[int64]
	lost        []stay
	toldLost    int // how many of these have been told
}

// stay is a time of a job that was killed at its end.
type stay struct {
	job        int32
	start, end int64
	list       []int32
}

// newBatchRun prepares a run. Names and logs come from in, which may be nil.
func newBatchRun(t *view.Batch, in *model.Batch, p BatchPolicy, o BatchOptions) (*batchRun, error) {
	o.Order, o.Placement = cmp.Or(o.Order, model.BatchOrderBatch), cmp.Or(o.Placement, model.BatchLowest)
	if orders := []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderEvent, model.BatchOrderPyss}; !slices.Contains(orders, o.Order) {
		return nil, fmt.Errorf("%w order %q, must be one of %q", model.ErrUnsupported, o.Order, orders)
	}
	if all := []model.BatchPlacement{model.BatchLowest, model.BatchContiguous}; !slices.Contains(all, o.Placement) {
		return nil, fmt.Errorf("%w placement %q, must be one of %q", model.ErrUnsupported, o.Placement, all)
	}
	lengths, estimates, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	n := len(t.Jobs)
	r := &batchRun{driver: driver[BatchPlatform, BatchEvent, BatchDecision]{policy: p, perSecond: ticksPerSecond}, t: t, options: o, jobs: make([]BatchJob, n), lengths: lengths, left: n, phases: make([]phase, n), starts: make([]int64, n),
		lists: make([][]int32, n), started: make([]int32, 0, n), idle: t.Processors, free: processors.NewFree(t.Processors),
		completions: heap.Heap[completion]{Less: completion.before}, calls: heap.Heap[int64]{Less: func(a, b int64) bool { return a < b }}}
	total, public := 0, publicLogs{}
	for k := range t.Jobs {
		j := &t.Jobs[k]
		total += j.Processes
		r.jobs[k] = BatchJob{Number: int32(k), Submit: j.Submit, Estimate: estimates[k], Processes: int32(j.Processes)}
		if r.starts[k] = -1; in != nil {
			r.jobs[k].ID, r.jobs[k].Log = in.Jobs[k].ID, public.public(in.Jobs[k].Log)
		}
	}
	r.array = make([]int32, total)
	return r, nil
}

// publicLogs holds the logs that policies get in place of logs that hold more.
type publicLogs map[*model.JobLog]*model.JobLog

// public returns a log without the fields that nobody knows when the job is submitted.
func (p publicLogs) public(l *model.JobLog) *model.JobLog {
	if l == nil || l.Status == "" {
		return l
	}
	if p[l] == nil {
		public := *l
		public.Status = ""
		p[l] = &public
	}
	return p[l]
}

// run goes from instant to instant until all jobs are over.
func (r *batchRun) run(ctx context.Context) error {
	if err := r.policy.Begin(BatchPlatform{r.t.Processors, r.t.KillAtEstimate, r.options.Placement}); err != nil {
		return err
	}
	for instants := 0; r.left > 0; instants++ {
		if instants%1024 == 0 && meter.Stop(ctx, 1024) {
			if r.options.Complete {
				return r.inOrder()
			}
			return fmt.Errorf("%w: stopped at %.9g s, when %d jobs hadn't ended", model.ErrNoSolution, r.t.Seconds(r.now), r.left)
		}
		next := r.next()
		if next == never {
			return r.stuck()
		}
		if r.now = max(next, r.busy); r.now > view.MostTime {
			return processors.TooLate()
		}
		var err error
		switch r.options.Order {
		case model.BatchOrderPyss:
			err = r.instantOfPyss()
		case model.BatchOrderEvent:
			err = r.instantByEvent()
		default:
			err = r.instant()
		}
		if err != nil {
			return err
		}
	}
	if r.rejected > 0 {
		return fmt.Errorf("%w: the policy has rejected %d of %d jobs", model.ErrNoSolution, r.rejected, len(r.jobs))
	}
	return nil
}

// stuck reports that jobs wait and nothing more happens.
func (r *batchRun) stuck() error {
	return fmt.Errorf("%w: after %.9g s nothing happens any more, and %d jobs haven't been started, the first is %q", model.ErrNoSolution,
		r.t.Seconds(r.now), r.left, r.jobs[slices.Index(r.phases, waiting)].ID)
}

// next returns when the next thing happens; never: nothing does.
func (r *batchRun) next() int64 {
	if r.toldLost < len(r.lost) { // the policy was busy at once
		return r.lost[r.toldLost].end
	}
	at := int64(never)
	if r.arrived < len(r.jobs) {
		at = r.jobs[r.arrived].Submit
	}
	if r.calls.Len() > 0 {
		at = min(at, r.calls.Items[0])
	}
	return min(at, r.nextEnd())
}

// nextEnd returns when the next running job ends. It drops the ends of jobs that were killed.
func (r *batchRun) nextEnd() int64 {
	for r.completions.Len() > 0 {
		x := &r.completions.Items[0]
		if len(r.lost) == 0 || r.phases[x.job] == running && r.end(x.job) == x.at {
			return x.at
		}
		r.completions.Pop()
	}
	return never
}

// end returns when job k, which has started, really ends.
func (r *batchRun) end(k int32) int64 { return r.starts[k] + r.lengths[k] }

// instant reports all events up to now, at each time ends before submissions before calls, and asks once.
func (r *batchRun) instant() error {
	if err := r.tellKills(); err != nil {
		return err
	}
	for at := r.next(); at <= r.now; at = r.next() {
		for r.nextEnd() == at {
			if err := r.tellEnd(r.completions.Pop().job, Ended, at); err != nil {
				return err
			}
		}
		for r.arrived < len(r.jobs) && r.jobs[r.arrived].Submit == at {
			if err := r.tellSubmission(); err != nil {
				return err
			}
		}
		if err := r.tellCalls(at); err != nil {
			return err
		}
	}
	return r.decide()
}

// instantByEvent is instant in the order of model.BatchOrderEvent.
func (r *batchRun) instantByEvent() error {
	for r.nextEnd() == r.now {
		err := r.tellEnd(r.completions.Pop().job, Ended, r.now)
		if err == nil {
			err = r.decide()
		}
		if err != nil {
			return err
		}
	}
	for r.arrived < len(r.jobs) && r.jobs[r.arrived].Submit == r.now {
		err := r.tellSubmission()
		if err == nil {
			err = r.decide()
		}
		if err != nil {
			return err
		}
	}
	if r.calls.Len() == 0 || r.calls.Items[0] > r.now {
		return nil
	}
	if err := r.tellCalls(r.now); err != nil {
		return err
	}
	return r.decide()
}

// instantOfPyss is instant in the order of model.BatchOrderPyss.
func (r *batchRun) instantOfPyss() error {
	r.due = r.due[:0]
	for r.nextEnd() == r.now {
		r.due = append(r.due, r.completions.Pop().job)
	}
	expected := func(k int32) bool { return r.starts[k]+r.jobs[k].Estimate <= r.now }
	for _, k := range r.due {
		if expected(k) {
			if err := r.tellEnd(k, Ended, r.now); err != nil {
				return err
			}
		}
	}
	for r.arrived < len(r.jobs) && r.jobs[r.arrived].Submit == r.now {
		err := r.tellSubmission()
		if err == nil {
			err = r.decide()
		}
		if err != nil {
			return err
		}
	}
	for _, k := range r.due {
		if r.phases[k] == running && r.end(k) == r.now {
			if err := r.tellEnd(k, Ended, r.now); err != nil {
				return err
			}
		}
		if err := r.decide(); err != nil {
			return err
		}
	}
	if err := r.tellCalls(r.now); err != nil {
		return err
	}
	return r.decide()
}

// tellEnd reports that job k has ended or is killed.
func (r *batchRun) tellEnd(k int32, how EventType, at int64) error {
	list := r.lists[k]
	if r.idle += len(list); how == Ended {
		r.phases[k], r.left = over, r.left-1
	} else {
		r.phases[k], r.starts[k], r.lists[k] = waiting, -1, nil
	}
	r.free.Give(list)
	return r.report(how, BatchEvent{how, at, &r.jobs[k], list})
}

func (r *batchRun) tellSubmission() error {
	r.phases[r.arrived] = waiting
	j := &r.jobs[r.arrived]
	r.arrived++
	return r.report(Submitted, BatchEvent{Submitted, j.Submit, j, nil})
}

func (r *batchRun) tellCalls(at int64) error {
	for r.calls.Len() > 0 && r.calls.Items[0] == at {
		r.calls.Pop()
		if err := r.report(Called, BatchEvent{Called, at, nil, nil}); err != nil {
			return err
		}
	}
	return nil
}

// tellKills reports the jobs that have been killed.
func (r *batchRun) tellKills() error {
	for ; r.toldLost < len(r.lost); r.toldLost++ {
		x := &r.lost[r.toldLost]
		if err := r.tellEnd(x.job, Killed, x.end); err != nil {
			return err
		}
	}
	return nil
}

// decide asks what to do, and does it. If jobs are killed it reports that and asks again. It ends: a job that is killed
// has run, so none is killed twice at an instant.
func (r *batchRun) decide() error {
	for {
		all, err := r.ask()
		if err != nil {
			return err
		}
		for i := range all {
			if reason := r.do(&all[i]); reason != "" {
				return r.refuse(r.named(&all[i]), reason)
			}
		}
		if r.toldLost == len(r.lost) || r.busy > r.now {
			return nil
		}
		if err := r.tellKills(); err != nil {
			return err
		}
	}
}

// named names a decision.
func (r *batchRun) named(d *BatchDecision) string {
	return r.words(d.Type, d.At, "job", d.Job, r.arrived, r.id)
}

// id returns the id of a job.
func (r *batchRun) id(k int32) string { return r.jobs[k].ID }

// inOrder starts the jobs that haven't started in the order of their arrivals, each as
// soon as it fits and those before it have started. O(n log n)
func (r *batchRun) inOrder() error {
	leave := func() {
		x := r.completions.Pop()
		r.now = max(r.now, x.at)
		r.free.Give(r.lists[x.job])
		r.idle += len(r.lists[x.job])
	}
	for k := range r.jobs {
		if r.phases[k] > waiting {
			continue
		}
		from := max(r.now, r.jobs[k].Submit)
		for at := r.nextEnd(); at < never && (at <= from || !r.fits(int(r.jobs[k].Processes))); at = r.nextEnd() {
			leave()
		}
		if r.now = max(r.now, from); r.now+r.lengths[k] > view.MostTime {
			return processors.TooLate()
		}
		r.begin(int32(k), r.now, nil)
	}
	return nil
}

// course returns when jobs started, and on which processors.
func (r *batchRun) course() *processors.Course {
	return &processors.Course{Starts: r.starts, Started: r.started, Lists: r.lists}
}

// execution returns the execution, of the jobs that have started.
func (r *batchRun) execution(in *model.Batch) *model.Execution {
	e := r.course().Runs(in, r.t, r.lengths)
	if len(r.lost) == 0 {
		return e
	}
	before := make([][]model.Segment[model.BatchPlace], len(r.jobs))
	for _, x := range r.lost {
		before[x.job] = append(before[x.job], model.Segment[model.BatchPlace]{StartS: r.t.Seconds(x.start), EndS: r.t.Seconds(x.end), Lost: true,
			Place: model.BatchPlace{Processors: x.list}})
	}
	at := 0
	for k := range r.jobs {
		switch {
		case r.starts[k] >= 0:
			if len(before[k]) > 0 {
				e.Runs[at].Segments = append(before[k], e.Runs[at].Segments...)
			}
			at++
		case len(before[k]) > 0: // it waits, or is rejected
			e.Runs = slices.Insert(e.Runs, at, model.Run[model.BatchPlace]{ID: r.jobs[k].ID, Segments: before[k]})
			at++
		}
	}
	return e
}
