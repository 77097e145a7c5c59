package reservation

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/model"
)

// Two requests of two thirds of the PEs don't fit side by side, nor one after
// the other, though no window has too few PE-seconds.
func TestConflict(t *testing.T) {
	in := &model.Reservation{PEs: 3, Goal: model.GoalAll, Requests: []model.Request{
		{ID: "small", DurationS: 1, DeadlineS: 9, PEs: 1},
		{ID: "a", DurationS: 2, DeadlineS: 3, PEs: 2},
		{ID: "other", DurationS: 3, DeadlineS: 30, PEs: 3},
		{ID: "b", DurationS: 2, DeadlineS: 3, PEs: 2},
		{ID: "late", ReadyS: 40, DurationS: 3, DeadlineS: 44, PEs: 3},
	}}
	got, err := reservationConflict(context.Background(), in, model.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a", "b"}, got); d != "" {
		t.Errorf("(-want,+got)\n%s", d)
	}
	// Stopped, it has what is known, and says so.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got, err = reservationConflict(ctx, in, model.Settings{})
	if !errors.Is(err, errConflictNotMinimal) {
		t.Errorf("stopped: error %v, want %v", err, errConflictNotMinimal)
	}
	has := map[string]bool{}
	for _, id := range got {
		has[id] = true
	}
	if !has["a"] || !has["b"] {
		t.Errorf("stopped: %v is no conflict", got)
	}
}
