// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"math"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/vcsched/placement"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// Anneal improves the placement of Start by the local search of placement.Improver, towards the
// bound of vcbounds.Packing, and then raises the average yield (placement.RaiseAverage). It
// respects a migration budget.
//
// It takes placement.Steps(tasks) steps and, for more than 64 tasks, up to ten times as many while L > 1.01 times the
// bound, if there is no time limit. It goes on until the limit or the bound is reached if there is one. O(1) per step,
// plus the start.
func Anneal(r *run.Run, in *model.VCSched) (*model.Placement, error) {
	ctx, set := r.Ctx, r.Set
	u := view.Shared(ctx, in, view.OfVCSched)
	load, why := vcbounds.NewTasks(u).PackingLoad(ctx, in)
	if why != "" {
		return nil, fmt.Errorf("%w: %s", model.ErrNoSolution, why)
	}
	start, err := Start(ctx, in, u, set)
	if err != nil {
		return nil, err
	}
	s := placement.NewImprover(u, start, set.Seed)
	target := max(load, u.Scale)
	for k := 0; ctx.Err() == nil; k++ {
		if s.Improve(ctx, target, placement.Steps(len(u.CPU))) || len(u.CPU) < 2 || u.Hosts < 2 {
			break
		}
		best, hosts, ok := s.Best()
		if p, _ := r.News(math.NaN()); p != nil {
			if news := p.(*model.Placement).TaskHosts(); !ok || u.MaxLoad(news) < best {
				s = placement.NewImprover(u, news, set.Seed+uint64(k))
			}
		}
		if ok && set.Progress != nil {
			y := in.Yield(hosts)
			r.Tell(y, math.NaN(), func() model.Solution { return in.NewPlacement(hosts, y) })
		}
		if set.TimeLimit == 0 && !r.Beside() && (k == 9 || len(u.CPU) <= 64 || ok && float64(best) <= 1.01*float64(target)) {
			break
		}
	}
	_, hosts, ok := s.Best()
	if !ok {
		return nil, fmt.Errorf("%w: no placement that fits in memory was met", model.ErrNoSolution)
	}
	return placement.RaiseAverage(ctx, in, in.NewPlacement(hosts, in.Yield(hosts)))
}

// mostNodes limits the nodes of the tree that the greedy start enters, a third of a second or so.
const mostNodes = 10_000_000

// mostLost limits the work on tasks that fit on no host: a placement with such tasks isn't a solution.
const mostLost = 50_000_000

// Start returns a placement, [task], for the local search to begin with, which may be infeasible. It is the placement
// of Settings.Start if there is one; else, for more than 64 tasks, MCB8's, as its packing of memory is hard to reach by
// steps; else the greedy one.
func Start(ctx context.Context, in *model.VCSched, u *view.VCSched, set model.Settings) ([]int32, error) {
	if p, ok := set.Start.(*model.Placement); ok && p != nil {
		if err := in.CheckShape(p); err != nil {
			return nil, err
		}
		return p.TaskHosts(), nil
	}
	if in.MigrationBudget == nil && len(u.CPU) > 64 {
		if hosts, err := searchYield(ctx, u, newPacker(u, largerKey, -1, nil), nil); err == nil {
			return hosts, nil
		}
	}
	return greedyStart(u), nil
}

// greedyStart places the tasks on the host of least load that has the memory. Their order is by decreasing larger need
// (CPU as a share of the average load, memory of a host). A task that fits nowhere goes to the host with the most
// memory left, as a share of the resource that is tightest there, so the result may be infeasible. Tasks stay on their
// current hosts if there is a migration budget. O(n log n) and a query of leastLoad for each task.
func greedyStart(u *view.VCSched) []int32 { return greedyWith(u, u.Current) }

// greedyWith is greedyStart with tasks that are placed before, [task]; -1, or nil for
// all: not placed. Tasks that fit nowhere are looked at mostLost times together.
func greedyWith(u *view.VCSched, placed []int32) []int32 {
	var sum int64
	for _, c := range u.CPU {
		sum += c
	}
	average := float64(sum) / float64(u.Hosts)
	need, mean := make([]float64, len(u.CPU)), meanCaps(u)
	for i := range need {
		need[i] = max(float64(u.CPU[i])/average, largestNeed(u, mean, int32(i)))
	}
	hosts := make([]int32, len(u.CPU))
	s := newLeastLoad(u)
	s.most = mostNodes
	put := func(i int32, h int) {
		hosts[i] = int32(h)
		s.put(i, h)
	}
	// fill returns the largest share of a rigid resource that is used with task i.
	fill := func(i int32, h int) float64 {
		most := 0.0
		for r, needs := range u.Rigid {
			has := u.Classes[u.ClassOf(int32(h))].Cap[r]
			most = max(most, float64(s.use[r][h]+needs[i])/float64(max(1, has)))
		}
		return most
	}
	for i, h := range placed {
		if h >= 0 {
			put(int32(i), int(h))
		}
	}
	lost := 0 // looks at hosts for tasks that fit nowhere
	for _, i := range order.Falling(order.Of[int32](len(u.CPU)), need) {
		if placed != nil && placed[i] >= 0 {
			continue
		}
		best := s.best(i)
		if best < 0 {
			best = 0
			for h := 1; h < u.Hosts && lost < mostLost; h++ {
				lost++
				if fill(i, h) < fill(i, best) {
					best = h
				}
			}
		}
		put(i, best)
	}
	return hosts
}
