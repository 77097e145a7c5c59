// SPDX-License-Identifier: MIT

package online

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/nodes"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// batchRun is a run of a policy. The policy knows starts, lists and phases; occasions and lengths are the truth.
type batchRun struct {
	simulation[BatchPlatform, BatchEvent, BatchDecision]
	t        *view.Batch
	options  BatchOptions
	jobs     []BatchJob
	lengths  []int64 // ticks that each job really runs
	left     int     // jobs that aren't over
	rejected int
	starts   []int64 // of each job that runs or has ended; -1: it hasn't started
	lists    [][]int32
	array    []int32 // to cut lists from
	started  []int32 // jobs in the order of their starts
	idle     int     // processors that are free, as far as the policy knows
	free     *processors.Free
	nodes    *nodes.State // instead of idle and free, of a machine of nodes
	closing  int64        // the last instant that closes, or will, in the order of model.BatchOrderPyss
	lost     []stay
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
	if t.Nodes != nil && o.Placement != model.BatchLowest {
		return nil, fmt.Errorf("%w placement %q: jobs get the nodes that fit best", model.ErrUnsupported, o.Placement)
	}
	lengths, estimates, err := processors.Lengths(t)
	if err != nil {
		return nil, err
	}
	n := len(t.Jobs)
	r := &batchRun{t: t, options: o, jobs: make([]BatchJob, n), lengths: lengths, left: n,
		starts: slices.Repeat([]int64{-1}, n), lists: make([][]int32, n), started: make([]int32, 0, n), idle: t.Processors,
		free: processors.NewFree(t.Processors), closing: -1}
	r.simulation = simulate(r, p, "job", "been submitted", "ended", submissions(t), Start, Reject, Kill, CallAt, Busy)
	if t.Nodes != nil {
		r.nodes = nodes.New(t.Nodes)
	}
	if o.Order != model.BatchOrderBatch {
		r.early = r.asksBefore
	}
	total, public := 0, publicLogs{}
	for k := range t.Jobs {
		total += t.Jobs[k].Processes
		r.jobs[k] = public.job(t, in, k, estimates[k])
	}
	r.array = make([]int32, total)
	return r, nil
}

// platform returns a policy's knowledge before the first job. Nodes come from in, which may be nil.
func (r *batchRun) platform(in *model.Batch) BatchPlatform {
	p := BatchPlatform{Processors: r.t.Processors, KillAtEstimate: r.t.KillAtEstimate, Placement: r.options.Placement}
	if in != nil {
		p.Nodes, p.Resources = in.Nodes, in.Resources
	}
	return p
}

// submissions returns when jobs are submitted.
func submissions(t *view.Batch) []int64 {
	at := make([]int64, len(t.Jobs))
	for k := range at {
		at[k] = t.Jobs[k].Submit
	}
	return at
}

// publicLogs holds the logs that policies get in place of logs that hold more.
type publicLogs map[*model.JobLog]*model.JobLog

// job returns a policy's knowledge of a job, without a name or a log if in is nil. The log lacks the fields that nobody
// knows when the job is submitted.
func (p publicLogs) job(t *view.Batch, in *model.Batch, k int, estimate int64) BatchJob {
	j := BatchJob{Number: int32(k), Submit: t.Jobs[k].Submit, Estimate: estimate, Processes: int32(t.Jobs[k].Processes)}
	if in == nil {
		return j
	}
	j.Needs = in.Jobs[k].Needs
	l := in.Jobs[k].Log
	if j.ID, j.Log = in.Jobs[k].ID, l; l == nil || l.Status == "" {
		return j
	}
	if p[l] == nil {
		public := *l
		public.Status = ""
		p[l] = &public
	}
	j.Log = p[l]
	return j
}

// ends implements problem.
func (r *batchRun) ends(next int64) (bool, error) {
	every := 1024
	if r.nodes != nil { // instants take long
		every = 16
	}
	switch {
	case r.left == 0:
		return true, rejection(r.rejected, len(r.jobs))
	case r.instants%every == 0 && meter.Stop(r.ctx, 1024):
		if r.options.Complete {
			return true, r.inOrder()
		}
		return true, fmt.Errorf("%w: stopped at %.9g s, when %d jobs hadn't ended",
			model.ErrNoSolution, r.t.Seconds(r.now), r.left)
	case next == never:
		return true, fmt.Errorf(
			"%w: after %.9g s nothing happens any more, and %d jobs haven't been started, the first is %q",
			model.ErrNoSolution, r.t.Seconds(r.now), r.left, r.jobs[slices.Index(r.phases, waiting)].ID)
	case max(next, r.busy) > view.MostTime:
		return true, processors.TooLate()
	}
	return false, nil
}

// rejection returns the error of rejected jobs.
func rejection(rejected, jobs int) error {
	if rejected > 0 {
		return fmt.Errorf("%w: the policy has rejected %d of %d jobs", model.ErrNoSolution, rejected, jobs)
	}
	return nil
}

// happen implements problem. In the order of model.BatchOrderPyss, ends that the estimates expect are reported before
// what arrives, and others after that. The policy is asked after each, and at the end of the instant once more.
func (r *batchRun) happen(x occasion) (told bool, err error) {
	k, pyss := x.item, r.options.Order == model.BatchOrderPyss
	if pyss && r.closing < x.at {
		r.closing = x.at
		r.occasions.Push(occasion{x.at, closes.first(), -1})
	}
	switch x.kind() {
	case arrives:
		return true, r.report(Submitted, BatchEvent{Submitted, x.at, &r.jobs[k], nil})
	case calls:
		return true, r.report(Called, BatchEvent{Called, x.at, nil, nil})
	case kills:
		list := r.leave(k)
		r.phases[k], r.starts[k], r.lists[k] = waiting, -1, nil
		return true, r.report(Killed, BatchEvent{Killed, x.at, &r.jobs[k], list})
	case ends:
		if pyss {
			r.expect(k, x.at, endsLate, x.rank-ends.first())
		}
		if pyss && r.starts[k]+r.jobs[k].Estimate > x.at {
			return false, nil
		}
	}
	if k < 0 || r.phases[k] == over { // it was reported before
		return true, nil
	}
	r.phases[k], r.left = over, r.left-1
	return true, r.report(Ended, BatchEvent{Ended, x.at, &r.jobs[k], r.leave(k)})
}

// leave frees the processors of job k, and returns them.
func (r *batchRun) leave(k int32) []int32 {
	if r.nodes != nil {
		r.nodes.Give(r.t.Jobs[k].Needs, r.lists[k])
		return r.lists[k]
	}
	r.idle += len(r.lists[k])
	r.free.Give(r.lists[k])
	return r.lists[k]
}

// asksBefore reports whether the policy is asked before the next occasion of an instant, if it isn't asked once.
func (r *batchRun) asksBefore(x, next occasion) bool {
	switch x.kind() {
	case ends:
		return r.options.Order == model.BatchOrderEvent
	case kills, calls:
		return x.kind() == kills && next.kind() != kills
	}
	return true
}

// head implements problem.
func (*batchRun) head(d *BatchDecision) (DecisionType, int32, int64) { return d.Type, d.Job, d.At }

// id implements problem.
func (r *batchRun) id(k int32) string { return r.jobs[k].ID }

// settle implements problem.
func (*batchRun) settle([]BatchDecision) error { return nil }

// mostPlaced is how many jobs inOrder places beside others on nodes: it must end soon.
const mostPlaced = 2000

// inOrder starts the jobs that haven't started in the order of their arrivals, each as soon as it fits and those before
// it have started. On nodes, after mostPlaced of them, one runs after the other. O(n log n)
func (r *batchRun) inOrder() error {
	r.arrivals = nil
	placed := 0
	for k := range r.jobs {
		if r.phases[k] > waiting {
			continue
		}
		if placed++; r.nodes != nil && placed > mostPlaced {
			return r.oneByOne(k)
		}
		from := max(r.now, r.jobs[k].Submit)
		for x := r.next(); x.at < never && (x.at <= from || !r.fits(int32(k))); x = r.next() {
			if r.occasions.Pop(); x.kind() == ends {
				r.now = max(r.now, x.at)
				r.leave(x.item)
			}
		}
		if r.now = max(r.now, from); r.now+r.lengths[k] > view.MostTime {
			return processors.TooLate()
		}
		r.begin(int32(k), r.now, nil)
	}
	return nil
}

// oneByOne starts the jobs that haven't started, from the k-th on, when all others have ended. O(n + processes), and the
// classes of idle nodes for each needs.
func (r *batchRun) oneByOne(k int) error {
	now := r.now
	for _, x := range r.started {
		now = max(now, r.starts[x]+r.lengths[x])
	}
	type asked struct {
		needs     *view.NodeNeeds
		processes int
	}
	idle, lists := nodes.New(r.t.Nodes), map[asked][]int32{}
	for ; k < len(r.jobs); k++ {
		if r.phases[k] > waiting {
			continue
		}
		j := &r.t.Jobs[k]
		x := asked{j.Needs, j.Processes}
		if lists[x] == nil {
			lists[x] = idle.Fit(x.needs, x.processes)
		}
		if now = max(now, j.Submit); now+r.lengths[k] > view.MostTime {
			return processors.TooLate()
		}
		r.phases[k], r.starts[k], r.lists[k] = running, now, lists[x]
		r.started = append(r.started, int32(k))
		now += r.lengths[k]
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
