// SPDX-License-Identifier: MIT

package online

import (
	"context"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// TwoTierPolicy is a policy for model.Batch on two tiers. Times are ticks, whole
// microseconds from the instance's second 0 on.
type TwoTierPolicy = Policy[TwoTierPlatform, TwoTierEvent, TwoTierDecision]

// TwoTierPlatform is a policy's knowledge before the first job.
type TwoTierPlatform struct {
	BatchPlatform
	Threshold int64 // foreground use, in ten-thousandths, from which on no process starts in the background
	Migration int64 // ticks without work after a move to other processors
}

// TwoTierJob is a policy's knowledge of a job from its submission on. Its Estimate is the estimate of a run in the
// foreground, the user's over the rate there, as the paper's schedulers take it: it shows that rate. The work goes on
// slower in the background, and the policy learns by how much when the job ends.
type TwoTierJob struct {
	BatchJob
	Use []int64 // of a processor by each process, or one value for all, in ten-thousandths
}

// TwoTierEvent is an event: Submitted, Ended or Called. At an instant ends come first, then
// submissions, then calls.
type TwoTierEvent struct {
	Type EventType
	At   int64       // now
	Job  *TwoTierJob // nil for Called
}

// TwoTierDecision is a decision: Start, Move, Kill, Reject or CallAt. The decisions of one call are carried out
// together. First jobs leave their processors, then jobs take theirs, and then the processors' foreground use is
// compared with the threshold. Move takes a running job to another tier or other processors, with its work. A job that
// is killed waits again at once.
type TwoTierDecision struct {
	Type DecisionType
	Job  int32 // its number, but with CallAt
	// Tier and Processors, one for each process, come with Start and Move. The policy doesn't change the list any more.
	Tier       model.Tier
	Processors []int32
	At         int64 // an instant later than now, with CallAt
}

// TwoTier runs a policy on an instance of two tiers, which must be valid, and returns the
// execution.
//
// The error is a *DecisionError for an impossible decision. It wraps model.ErrNoSolution if jobs are rejected, or
// haven't ended when nothing more happens or ctx ends. It wraps model.ErrUnsupported for one tier and for times that
// don't fit whole numbers. Otherwise it wraps the policy's. With an error, the execution holds the runs until then; it
// is nil if the run can't begin.
//
// O(log n) per event, plus the processors with changes and those of the background jobs there.
func TwoTier(ctx context.Context, in *model.Batch, p TwoTierPolicy) (*model.Execution, error) {
	r, err := newTwoTierRun(view.Shared(ctx, in, view.OfBatch), in, p)
	if err != nil {
		return nil, err
	}
	err = r.run(ctx, r.platform())
	return r.execution(), err
}

// TwoTierCourse is TwoTier for packages of this module that need no execution: jobs have no
// names, and nothing is written.
func TwoTierCourse(ctx context.Context, t *view.Batch, p TwoTierPolicy) error {
	r, err := newTwoTierRun(t, nil, p)
	if err == nil {
		err = r.run(ctx, r.platform())
	}
	return err
}
