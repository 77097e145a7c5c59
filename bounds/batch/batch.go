// SPDX-License-Identifier: MIT

// Package batch bounds the results of any scheduler of parallel jobs, without search, and holds the linear formulations
// of Batch.
package batch

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Quick computes the lower bounds on the mean response time that take no longer than a heuristic: the bounds of
// response, weakest first, and on one tier pricesBound without steps, until ctx ends. O(n log n)
func Quick(ctx context.Context, in *model.Batch) []bounds.Bound {
	if all, ok := view.Kept[[]bounds.Bound](ctx, in, view.QuickBounds); ok {
		return all
	}
	t := view.Shared(ctx, in, view.OfBatch)
	r := newJobs(t)
	all := r.response(ctx, t, quickFunctions)
	if priced(t) && ctx.Err() == nil {
		all = append(all, pricesBound(ctx, t, r, 0))
	}
	return all
}

// Others computes lower bounds on figures that aren't the objective, until ctx ends: the mean bounded slowdown
// (Slowdown) and the largest one (MostSlowdown).
func Others(ctx context.Context, in *model.Batch) []bounds.Bound {
	t := view.Shared(ctx, in, view.OfBatch)
	return []bounds.Bound{Slowdown(ctx, t, allFunctions, mostSteps), MostSlowdown(ctx, t)}
}

// All computes every bound that needs no search: the bounds of response, the last of them again with more dual-feasible
// functions or demands, and on one tier pricesBound, until ctx ends. The error is model.ErrInvalid for an invalid
// instance. O(n log n) for each function and step
func All(ctx context.Context, in *model.Batch) (all []bounds.Bound, err error) {
	if err := in.Validate(); err != nil {
		return nil, fmt.Errorf("bounds: %w", err)
	}
	Each(ctx, in, func(b bounds.Bound) {
		if n := len(all); n > 0 && all[n-1].Name == b.Name {
			all = all[:n-1]
		}
		all = append(all, b)
	})
	return all, nil
}

// Each calls f with each bound of All of a valid instance as soon as it is known, and with prices again when they are
// better.
func Each(ctx context.Context, in *model.Batch, f func(bounds.Bound)) {
	t := view.Shared(ctx, in, view.OfBatch)
	r := newJobs(t)
	for _, b := range r.response(ctx, t, quickFunctions) {
		f(b)
	}
	if ctx.Err() != nil {
		return
	}
	more := r.response(ctx, t, allFunctions)
	last := more[len(more)-1]
	last.Name = "widths"
	last.Evidence.Method = last.Name
	f(last)
	if priced(t) {
		f(pricesBound(ctx, t, r, mostSteps))
		if b, ok := classBound(ctx, t); ok {
			f(b)
		}
	}
}
