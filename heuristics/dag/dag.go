// SPDX-License-Identifier: MIT

// Package dag holds the heuristics for model.DAG: list schedulers of the
// literature, the network-aware HEFT of Yousaf and Welzl, and a local search.
//
// A list scheduler makes a plan: a machine for each task and an order on each
// machine. A replay plays it under the instance's transfer model: each task starts as
// soon as its machine and its data are there, each transfer as soon as its producer
// has finished.
//
// Equal ranks are ordered by the task's number, equal finish times by the machine's.
// Figures within a relative 1e-12 are equal, so that rounding doesn't decide.
//
// Where machines have no path to others, a list scheduler can choose machines from which none can run a later task.
// Then its plan is that of OneMachine.
package dag

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// planner makes a plan for a graph.
type planner func(context.Context, *view.Graph) (dagplay.Plan, error)

// detailed is a heuristic that also returns, for each plan that was tried, its makespan
// without contention and under the transfer model (none under the ideal one).
type detailed func(context.Context, *model.DAG, model.Settings) (*model.Schedule, []model.Round, error)

// schedule leaves out the rounds.
func schedule(s *model.Schedule, _ []model.Round, err error) (*model.Schedule, error) { return s, err }

// listed plays the plan of a planner, or OneMachine's if that gets stuck for want of paths.
func listed(plan planner) detailed {
	return func(ctx context.Context, d *model.DAG, _ model.Settings) (*model.Schedule, []model.Round, error) {
		g := view.Shared(ctx, d, view.OfDAG)
		p, err := plan(ctx, g)
		if errors.Is(err, errStuck) {
			p, err = startPlan(ctx, g)
		}
		if err != nil {
			return nil, nil, err
		}
		return played(ctx, d, g, p)
	}
}

// played returns the schedule of a plan and, under contention, its makespans. A plan that is made when ctx ends is
// played in its grace; the error comes from stopped.
func played(ctx context.Context, d *model.DAG, g *view.Graph, p dagplay.Plan) (*model.Schedule, []model.Round, error) {
	r := newReplay(ctx, g)
	makespan := r.Run(p, nil)
	if math.IsInf(makespan, 1) && ctx.Err() != nil {
		late, cancel := meter.Grace(ctx)
		defer cancel()
		r = newReplay(late, g)
		if makespan = r.Run(p, nil); math.IsInf(makespan, 1) {
			return nil, nil, stopped(ctx)
		}
	}
	s := d.Schedule(p.Machine, r.Start, r.Sent)
	if g.Transfer == model.TransferIdeal {
		return s, nil, nil
	}
	return s, []model.Round{{Round: 1, Planned: dagplay.Ideal(g, p), Realistic: makespan, Kept: true}}, nil
}

// newReplay returns a replay that ctx ends, and that counts its effort.
func newReplay(ctx context.Context, g *view.Graph) *dagplay.Replay {
	r := dagplay.NewReplay(g)
	r.Stop = func(effort int64) bool { return meter.Stop(ctx, effort) }
	return r
}

// stopped returns the error of a list scheduler that was interrupted: half a plan is
// no solution.
func stopped(ctx context.Context) error {
	return fmt.Errorf("%w: stopped before every task was placed: %w", model.ErrNoSolution, ctx.Err())
}

// tie is the relative difference up to which ranks and finish times are equal.
const tie = 1e-12

// less reports whether a is below b by more than tie.
func less(a, b float64) bool { return a < b && (math.IsInf(b, 1) || a < b-tie*math.Abs(b)) }
