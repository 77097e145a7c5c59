// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/model"
)

// rounds is the default number of rounds of the network-aware HEFT, the paper's.
const rounds = 50

// NetworkAware is the network-aware HEFT of the paper (section 5.3, Figure 9). It runs HEFT, stretches the transfers
// that share a bottleneck to their realistic lengths, and runs HEFT again. It repeats this at most
// model.DAGParameters.Rounds times (50 by default), keeping the plan with the best realistic makespan.
//
// Each round stretches the edges of the original DAG again, for any machines. This reading, of all tried, comes nearest
// to the makespans printed for the paper's ten-task example (see docs/results/summary.md). A plan that was made before
// ends the rounds, since everything after it would repeat.
//
// O(rounds) times HEFT and a replay.
func NetworkAware(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(networkAware(ctx, d, set))
}

// networkAware returns the best schedule of the rounds that ctx allows and each round's makespans. If ctx ends in
// the first round's replay, that is done in its grace.
func networkAware(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, []model.Round, error) {
	g := view.Shared(ctx, d, view.OfDAG)
	most := rounds
	if p, ok := set.Parameters.(*model.DAGParameters); ok && p.Rounds > 0 {
		most = p.Rounds
	}
	r := newReplay(ctx, g)
	contentionFree := *g
	contentionFree.Transfer = model.TransferIdeal
	free := dagplay.NewReplay(&contentionFree)
	stretched := make([]float64, len(g.Data))
	for e := range stretched {
		stretched[e] = math.NaN()
	}
	var best *model.Schedule
	var seen []dagplay.Plan
	var trace []model.Round
	lowest := math.Inf(1)
	for round := 1; round <= most; round++ {
		b, err := heftWith(ctx, newCosts(g, stretched), nil)
		if err != nil {
			if round > 1 {
				break // the rounds so far have a plan
			}
			return listed(func(context.Context, *view.Graph) (dagplay.Plan, error) { return dagplay.Plan{}, err })(ctx, d, set)
		}
		p := b.plan()
		for _, old := range seen {
			if p.Equal(old) {
				return best, trace, nil
			}
		}
		seen = append(seen, p)
		makespan := r.Run(p, nil)
		if math.IsInf(makespan, 1) && ctx.Err() != nil {
			if round > 1 {
				break
			}
			return played(ctx, d, g, p)
		}
		x := model.Round{Round: round, Planned: free.Run(p, nil), Realistic: makespan, Kept: less(makespan, lowest)}
		trace = append(trace, x)
		if x.Kept {
			best, lowest = d.Schedule(p.Machine, r.Start, r.Sent), makespan
		}
		for e := range stretched {
			stretched[e] = math.NaN()
			if m, n := p.Machine[g.From[e]], p.Machine[g.To[e]]; m != n && r.Contends(m, n) {
				stretched[e] = r.Arrived[e] - r.Sent[e]
			}
		}
	}
	return best, trace, nil
}
