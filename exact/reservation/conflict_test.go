// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/model"
)

// Two requests of two thirds of the PEs don't fit side by side, nor one after
// the other, though no window has too few PE-seconds.
func TestConflict(t *testing.T) {
	t.Parallel()
	in := &model.Reservation{PEs: 3, Goal: model.GoalAll, Requests: []model.Request{
		{ID: "small", DurationS: 1, DeadlineS: 9, PEs: 1},
		{ID: "a", DurationS: 2, DeadlineS: 3, PEs: 2},
		{ID: "other", DurationS: 3, DeadlineS: 30, PEs: 3},
		{ID: "b", DurationS: 2, DeadlineS: 3, PEs: 2},
		{ID: "late", ReadyS: 40, DurationS: 3, DeadlineS: 44, PEs: 3},
	}}
	got, minimal := minimalConflict(context.Background(), in, 0)
	if !minimal {
		t.Error("not said to be minimal")
	}
	if d := cmp.Diff([]string{"a", "b"}, got); d != "" {
		t.Errorf("(-want,+got)\n%s", d)
	}
	// A stopped run has the result known so far, and says so.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got, minimal = minimalConflict(ctx, in, 0)
	if minimal {
		t.Error("stopped: said to be minimal")
	}
	has := map[string]bool{}
	for _, id := range got {
		has[id] = true
	}
	if !has["a"] || !has["b"] {
		t.Errorf("stopped: %v is no conflict", got)
	}
}
