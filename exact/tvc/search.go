package tvc

import (
	"context"
	"fmt"
	"time"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/model"
)

// Search is the native exact search for TVC.
type Search struct {
	off deviceSet // devices that are switched off
}

// Name returns "search".
func (Search) Name() string { return "search" }

// Solve implements model.Solver.
func (e Search) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	r := model.NewResult(e.Name(), set.Seed)
	v, ok := in.(*model.TVC)
	if !ok {
		return r, fmt.Errorf("search: %w: it doesn't solve %s instances", model.ErrUnsupported, in.Kind())
	}
	if v.Queue {
		return r, fmt.Errorf("search: %w: it proves optima of loss mode alone, the instance has a queue; take auto or a scheduler", model.ErrUnsupported)
	}
	ctx, cancel := set.WithTimeLimit(ctx)
	defer cancel()
	began := time.Now()
	best, err := start(ctx, v, set)
	if err != nil {
		return r, fmt.Errorf("search: %w", err)
	}
	if best != nil {
		if err := r.SetSolution(v, best); err != nil {
			return r, err
		}
	}
	for _, b := range tvcbounds.Quick(v) {
		r.SetBound(model.SenseOf(v), b.Value, set.GapLimit())
	}
	if r.Status != model.StatusOptimal {
		if r.Reason = exact.StopReason(ctx); r.Reason == "" {
			r.Reason = "the bounds leave a gap"
		}
	}
	r.Elapsed = time.Since(began)
	return r, nil
}
