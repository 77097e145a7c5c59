// SPDX-License-Identifier: MIT

package online

import (
	"context"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
)

// BatchPolicy is a policy for model.Batch on one tier, or in the foreground of two.
// Times are ticks, whole microseconds from the instance's second 0 on.
type BatchPolicy = Policy[BatchPlatform, BatchEvent, BatchDecision]

// BatchPlatform is a policy's knowledge before the first job.
type BatchPlatform struct {
	Processors     int
	KillAtEstimate bool // jobs end at their estimates, at the latest
	// Placement says which processors a job may hold.
	Placement model.BatchPlacement
	// Nodes are the groups of nodes that the machine has, with Resources; nil: it has processors alone.
	Nodes     []model.NodeGroup
	Resources []string
}

// BatchJob is a policy's knowledge of a job from its submission on.
type BatchJob struct {
	ID        string
	Number    int32 // jobs have the numbers 0, 1, ... in the order of their submissions
	Processes int32
	Needs     *model.NodeNeeds // nil without nodes
	Submit    int64
	// Estimate is how long the job runs by the user's estimate, in ticks. A job without an estimate in an instance has
	// an exact one, its runtime.
	Estimate int64
	// Log holds a log's fields about the job: its user, group, queue and so on, but not its status, which nobody knows
	// at submission. It is nil without a log. Jobs may share one.
	Log *model.JobLog
}

// BatchEvent is an event: Submitted, Ended, Killed or Called. Its processors have become
// free, of a job that has ended or is killed, when the policy learns it. A job ends when its
// work is done or, on a platform that kills at the estimate, its estimate is over. It is
// killed by a decision; the event follows at the same instant and acknowledges that.
type BatchEvent struct {
	Type EventType
	// At is when it happened: now, or before if the policy was busy then (see Busy).
	At int64
	// Job is nil for Called.
	Job *BatchJob
	// Processors are those that the job has held, with Ended and Killed. They are the
	// simulation's, and may be looked at until the job starts again.
	Processors []int32
}

// BatchDecision is a decision: Start, Reject, Kill, CallAt or Busy. A job that is killed
// loses its work; it waits again, and may start from the beginning.
type BatchDecision struct {
	Type DecisionType
	Job  int32 // number of the job, but with CallAt and Busy
	// At is an instant, not before now: with CallAt and Busy that which they ask for,
	// with Start when the job starts. It holds its processors from now on. 0 with Start
	// means now.
	At int64
	// Processors, with Start, lists one for each process of the job, all free by the events so far. They are the
	// policy's, and read before the next call. If nil, the job gets the lowest that are free, with
	// model.BatchContiguous the lowest neighbours. On a machine of nodes they are nodes, which may be named several
	// times; if nil, the job gets the nodes that fit best.
	Processors []int32
}

// BatchOptions are the options of a simulation.
type BatchOptions struct {
	// Order is the order of the events of one instant; "" means model.BatchOrderBatch.
	Order model.BatchOrder
	// Placement says which processors a job may hold; "" means model.BatchLowest.
	Placement model.BatchPlacement
	// Complete starts the jobs that haven't started when ctx ends in the order of their arrivals, each as soon as it
	// fits and those before it have started. So there is a whole execution, with a beginning that the policy has
	// decided.
	Complete bool
}

// Batch runs a policy on an instance, which must be valid, and returns the execution. Jobs
// run on one tier, or in the foreground of two, at its rate.
//
// The error is a *DecisionError for an impossible decision. It wraps model.ErrNoSolution if jobs are rejected, or still
// wait when nothing more happens, or if ctx ends (but see BatchOptions.Complete). It wraps model.ErrUnsupported for an
// unknown order or placement and for times that don't fit whole numbers. Otherwise it wraps the policy's. With an
// error, the execution holds the jobs that have started until then, to their ends; it is nil if the run can't begin.
//
// O(log n) per event and decision, plus the processors that change hands.
func Batch(ctx context.Context, in *model.Batch, p BatchPolicy, o BatchOptions) (*model.Execution, error) {
	t := view.Shared(ctx, in, view.OfBatch)
	r, err := newBatchRun(t, in, p, o)
	if err != nil {
		return nil, err
	}
	err = r.run(ctx, r.platform(in))
	return r.execution(in), err
}

// BatchCourse is Batch for packages of this module that need no execution: jobs have no names, and nothing is written.
// The error doesn't report the jobs that ran until then.
func BatchCourse(ctx context.Context, t *view.Batch, p BatchPolicy, o BatchOptions) (*processors.Course, error) {
	r, err := newBatchRun(t, nil, p, o)
	if err == nil {
		err = r.run(ctx, r.platform(nil))
	}
	if err != nil {
		return nil, err
	}
	return r.course(), nil
}
