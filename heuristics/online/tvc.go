// SPDX-License-Identifier: MIT

package online

import (
	"context"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// TVCPolicy is a policy for model.TVC, with a queue or without. Times are ticks, whole
// microseconds from the instance's second 0 on.
type TVCPolicy = Policy[TVCPlatform, TVCEvent, TVCDecision]

// TVCPlatform is a policy's knowledge before the first request.
type TVCPlatform struct {
	FatTree   model.FatTree
	Hose      model.Hose
	Queue     bool          // requests may wait, and be suspended
	Goal      model.TVCGoal // what is maximised without a queue
	Migration int64         // ticks without work after a move to other servers
}

// TVCRequest is a policy's knowledge of a request from its arrival on.
type TVCRequest struct {
	ID        string
	Number    int32 // requests have the numbers 0, 1, ... in the order of their arrivals
	Arrival   int64
	Duration  int64
	VMs       int
	Bandwidth int64 // of each VM, in bit/s
	// Fits says that there is an embedding in the empty data centre. One that doesn't fit
	// never runs.
	Fits    bool
	Revenue float64 // what it counts for model.GoalRevenue
}

// TVCEvent is an event: Submitted, Ended or Called. At an instant ends come first, then
// arrivals, then calls.
type TVCEvent struct {
	Type    EventType
	At      int64            // now
	Request *TVCRequest      // nil for Called
	Place   *model.Embedding // that of a request that has ended
}

// TVCDecision is a decision: Start, Reject, Suspend or CallAt. Each request starts or is rejected in the call of Decide
// after the events of its arrival if there is no queue. It may wait if there is one. A suspended request keeps the work
// that is done, and goes on with another Start. If that comes at the same instant in the same place, it hasn't been
// suspended.
type TVCDecision struct {
	Type    DecisionType
	Request int32 // its number, but with CallAt
	// Place, with Start, is where it runs. The policy doesn't change it any more.
	Place model.Embedding
	At    int64 // an instant later than now, with CallAt
}

// TVC runs a policy on an instance, which must be valid, and returns the embeddings of the requests that have run, in
// the order of their arrival. When ctx ends, nothing arrives any more, and nothing is decided: running requests go on
// to their ends.
//
// The error is a *DecisionError for an impossible decision. In queue mode it wraps model.ErrNoSolution if a request
// that fits hasn't run to its end, and model.ErrUnsupported for a schedule that goes on after view.MostTime. Otherwise
// it wraps the policy's. With an error, they are the runs until then, the last ones to their ends.
//
// O(log n) per event and decision, plus the servers and links of the request.
func TVC(ctx context.Context, in *model.TVC, p TVCPolicy) (*model.Embeddings, error) {
	r := newTVCRun(in, view.Shared(ctx, in, view.OfTVC), p)
	err := r.run(ctx, r.platform())
	return r.Embeddings(in, r.courses), err
}
