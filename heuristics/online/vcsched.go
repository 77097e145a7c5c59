// SPDX-License-Identifier: MIT

package online

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/model"
)

// VCSchedPolicy is a policy for model.VCSched: it places virtual machines of jobs that come and go. Times are ticks,
// whole microseconds from second 0 on.
type VCSchedPolicy = Policy[VCSchedPlatform, VCSchedEvent, VCSchedDecision]

// VCSchedPlatform is a policy's knowledge before the first job.
type VCSchedPlatform struct {
	// Cluster is the instance without its jobs: hosts, their sizes, further resources. Its
	// migration budget bounds the memory that moves at each instant.
	Cluster *model.VCSched
}

// VCSchedEvent is an event: Submitted or Ended. At an instant jobs leave first, then others
// arrive.
type VCSchedEvent struct {
	Type EventType
	At   int64 // now
	// Number is the job's: jobs have the numbers 0, 1, ... in the order of their arrivals.
	Number int32
	Job    *model.VCSchedJob
}

// VCSchedDecision is a decision: Start, Move or Reject. Start gives a task of a job that has arrived its host, Move
// takes a task to another one. Both take no time. Each job is rejected, or all its tasks start, in the call of Decide
// after its arrival.
//
// The decisions of one call are carried out together: tasks may change places. A task is in one of them at most. Needs
// must fit on all hosts after the last; extra needs of a machine during its move aren't counted.
type VCSchedDecision struct {
	Type DecisionType
	Job  int32 // its number
	Task int   // of the job, from 0, with Start and Move
	Host int   // with Start and Move
}

// VCSchedStay is when a job of an instance arrives and leaves, in seconds.
type VCSchedStay struct{ ArrivalS, DepartureS float64 }

// VCSchedRun is the result of a policy.
type VCSchedRun struct {
	Steps []VCSchedStep // one for each instant at which the policy was asked
	// LeastYield is the least Yield of the steps with jobs, MeanYield their average over the time
	// for which each held. They are NaN if no job was placed.
	LeastYield, MeanYield float64
	Migrations            int     // moves of tasks
	Moved                 float64 // their memory, of reference hosts
	// Rejected are the ids of the jobs that the policy has rejected, which no yield counts.
	Rejected []string
}

// VCSchedStep is the state after an instant.
type VCSchedStep struct {
	AtS  float64
	Jobs int // that are placed
	// Yield is the largest minimum yield that CPU shares can give to the tasks on their
	// hosts (model.VCSched.Yield); 1 if there are none.
	Yield      float64
	Migrations int     // at this instant
	Moved      float64 // their memory
}

// VCSched runs a policy on the jobs of an instance, which must be valid. Job i arrives and
// leaves as stays[i] says, and doesn't run anywhere before: it has no current hosts.
//
// The error is a *DecisionError for an impossible decision. It wraps model.ErrInvalid for current hosts, and for stays
// that aren't one for each job, from 0 to 8e9 s and of 1 µs at least. It wraps model.ErrNoSolution if ctx ends before
// the last job has left. Otherwise it wraps the policy's. With an error, the run ends there; it is nil if the run can't
// begin.
//
// O(jobs + tasks + hosts) for each instant, plus the policy's own time.
func VCSched(ctx context.Context, in *model.VCSched, stays []VCSchedStay, p VCSchedPolicy) (*VCSchedRun, error) {
	r, err := newVCSchedRun(in, stays, p)
	if err != nil {
		return nil, err
	}
	r.result.LeastYield, r.result.MeanYield = math.NaN(), math.NaN()
	err = r.run(ctx, r.platform())
	return &r.result, err
}
