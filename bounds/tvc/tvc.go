// SPDX-License-Identifier: MIT

// Package tvc bounds the results of any allocation of time-aware virtual clusters, without search, and holds the linear
// formulations of TVC in loss mode.
package tvc

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/model"
)

// Quick computes the bounds that take no longer than a heuristic. In loss mode
// they bound the accepted requests or their revenue from above:
//
//   - fits: the requests that fit an empty data centre. O(n)
//   - slots: Lagrangian multipliers of the slots, of the servers' links and of servers, which
//     have both (tvcrelax.Tree.Shared), at each instant, by a fixed number of steps. O(n log n)
//
// Requests that never run at the same time as others are bounded by themselves,
// and sums of weights rounded down in each such part.
//
// Bounds for queue mode are lower bounds on the mean response time, see Response. When ctx ends, slots is the bound
// proved so far: parts that are left count whole.
func Quick(ctx context.Context, in *model.TVC) []bounds.Bound {
	if all, ok := view.Kept[[]bounds.Bound](ctx, in, view.QuickBounds); ok {
		return all
	}
	t := view.Shared(ctx, in, view.OfTVC)
	if in.Queue {
		return Response(ctx, t)
	}
	w := tvcrelax.NewWeights(in, t)
	sum := int64(0)
	prices := &model.Evidence{Type: evidence.Prices, Method: "slots"}
	for _, part := range tvcrelax.Components(t) {
		if ctx.Err() != nil {
			for _, k := range part {
				sum += w.Of[k]
			}
			continue
		}
		sum += floor(tvcrelax.NewRelaxation(t, part, w, true), w, part, func(r *tvcrelax.Relaxation) *tvcrelax.Multipliers {
			m := r.Ascend(ctx, quickSteps)
			if e := r.Evidence(in, m); e != nil {
				prices.Parts = append(prices.Parts, *e)
			}
			return m
		})
	}
	return []bounds.Bound{{Name: "fits", Value: w.Value(w.Total), Evidence: &model.Evidence{Type: evidence.Sum, Method: "fits"}},
		{Name: "slots", Value: w.Value(sum), Evidence: prices}}
}

// Steps of the subgradient method.
const (
	quickSteps = 60
	longSteps  = 1000
)

// floor returns the bound of multipliers in whole weights, at most all of them.
func floor(r *tvcrelax.Relaxation, w *tvcrelax.Weights, requests []int, solve func(*tvcrelax.Relaxation) *tvcrelax.Multipliers) int64 {
	all := int64(0)
	for _, k := range requests {
		all += w.Of[k]
	}
	return min(all, solve(r).Floor())
}

// All computes every bound that needs no search, weakest first: the bounds of Quick, then in queue mode
// ResponseByResources, and in loss mode
//
//   - lp: the linear relaxation by slots, by the links of every layer and by dual-feasible functions of both, at every
//     instant (see Relaxation), with cuts by patterns (Tighten). A long run of the subgradient method replaces it if it
//     is too large. Its evidence has only the resources of Quick in each part in which they give as much
//
// All are valid when ctx ends early. The error is model.ErrInvalid for an invalid
// instance, or one of HiGHS's.
func All(ctx context.Context, in *model.TVC) ([]bounds.Bound, error) {
	if err := in.Validate(); err != nil {
		return nil, fmt.Errorf("bounds: %w", err)
	}
	all := Quick(ctx, in)
	if in.Queue {
		return append(all, ResponseByResources(ctx, view.Shared(ctx, in, view.OfTVC))), nil
	}
	t := view.Shared(ctx, in, view.OfTVC)
	w := tvcrelax.NewWeights(in, t)
	prices := &model.Evidence{Type: evidence.Prices, Method: "lp"}
	var failed error
	// part bounds some requests by the resources of few, or by all and by patterns.
	part := func(requests []int, few bool) (least int64, e *model.Evidence) {
		least = floor(tvcrelax.NewRelaxation(t, requests, w, few), w, requests, func(r *tvcrelax.Relaxation) *tvcrelax.Multipliers {
			var m *tvcrelax.Multipliers
			var err error
			if few {
				m, err = r.Solve(ctx, nil)
			} else {
				m, err = r.Tighten(ctx)
			}
			if err != nil && failed == nil {
				failed = fmt.Errorf("bound: relaxation: %w", err)
			}
			if m == nil {
				m = r.Ascend(ctx, longSteps)
			}
			e = r.Evidence(in, m)
			return m
		})
		return least, e
	}
	sum := int64(0)
	for _, requests := range tvcrelax.Components(t) {
		least, e := part(requests, false)
		if quick, shorter := part(requests, true); quick <= least {
			least, e = quick, shorter
		}
		if sum += least; e != nil {
			prices.Parts = append(prices.Parts, *e)
		}
	}
	b := bounds.Bound{Name: "lp", Value: w.Value(sum), Evidence: prices}
	if entries(prices) > evidence.MostEntries(len(in.Requests), 0) {
		b.Evidence = &model.Evidence{Type: evidence.Relaxation, Method: "lp"}
	}
	return append(all, b), failed
}

// entries counts the entries in the lists of evidence.
func entries(e *model.Evidence) int {
	n := len(e.Elements) + len(e.Weights) + len(e.Times) + len(e.Prices) + len(e.Parts)
	for k := range e.Parts {
		n += entries(&e.Parts[k])
	}
	return n
}
