// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"testing"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestReservationLPAgainstPlain(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	tight, proofs := map[string]int{}, map[string]int{}
	for k := range 900 {
		checkPlain(t, k, tight, proofs, func(ticks *view.Reservation) []bounds.Bound {
			b, ok, err := newWork(ticks).lp(context.Background())
			if err != nil || !ok {
				t.Fatalf("instance %d: %v, %v", k, ok, err)
			}
			return []bounds.Bound{b}
		})
	}
	if tight["lp"] < 300 || proofs["lp"] < 50 {
		t.Errorf("tight: %v; proofs of infeasibility: %v", tight, proofs)
	}
}

// A job that can't be interrupted is in the way wherever it starts; the flow doesn't know that.
func TestReservationLPStronger(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	in := reservationOf(2, model.GoalAccepted, 1, wholeRequest{0, 3, 4, 3, -1, 2}, wholeRequest{1, 2, 3, 2, -1, 1})
	all := require.Value(All(context.Background(), in))(t)
	got := map[string]float64{}
	for _, b := range all {
		got[b.Name] = b.Value
	}
	if got["flow"] != 2 || got["lp"] != 1 {
		t.Errorf("%v, want 2 by the flow and 1 by the linear program", got)
	}
}

func TestReservationLPStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if b, ok, err := newWork(randomTicks(1, 20, model.GoalAccepted)).lp(ctx); ok || err != nil {
		t.Errorf("%+v, %v, %v of a stopped run", b, ok, err)
	}
	if b, ok, err := newWork(view.OfReservation(largeReservation(400, model.GoalAccepted))).lp(context.Background()); ok || err != nil {
		t.Errorf("%+v, %v, %v of a large instance", b, ok, err)
	}
}
