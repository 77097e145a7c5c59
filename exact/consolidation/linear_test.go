// SPDX-License-Identifier: MIT

package consolidation_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/gapwise/gapwise/exact/consolidation"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// drawn returns a cluster of so many hosts with four resources.
func drawn(t *testing.T, hosts int) *model.Consolidation {
	t.Helper()
	s := instances.NewConsolidationSpec()
	s.Hosts, s.Resources, s.Load, s.Churn, s.Replicas, s.Index, s.Seed = hosts, 4, 0.9, 0.2, 3, 1, 1
	in, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// An effort ends HiGHS in the same place in each run, before it is done, and near where it should.
func TestLinearEffort(t *testing.T) {
	t.Parallel()
	need.HiGHS(t)
	in := drawn(t, 20)
	var last model.Result
	for k := range 2 {
		var r model.Result
		spent := int64(0)
		if err := turns.Within(t.Context(), 400_000, func(ctx context.Context) (err error) {
			r, err = consolidation.Linear(highs.Backend).Solve(ctx, in, model.Settings{Progress: func(model.Progress) { spent++ }})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if r.Status != model.StatusFeasible || r.Reason != "stopped by the limit of its effort" || spent == 0 {
			t.Fatalf("%s: %s, %d reports", r.Status, r.Reason, spent)
		}
		if r.Elapsed = 0; k == 1 && !reflect.DeepEqual(r, last) {
			t.Errorf("%+v, then %+v", last, r)
		}
		last = r
	}
}

// Models on which HiGHS never paid are refused at once.
func TestLinearSize(t *testing.T) {
	t.Parallel()
	need.HiGHS(t)
	if r, err := consolidation.Linear(highs.Backend).Solve(t.Context(), drawn(t, 100), model.Settings{}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("%s, %v", r.Status, err)
	}
}
