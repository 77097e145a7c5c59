// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The bookings of lns pass the judge, are the same for a seed, and never less than its start, even if it is stopped.
func TestLNS(t *testing.T) {
	t.Parallel()
	for _, goal := range []model.Goal{model.GoalAccepted, model.GoalPESeconds, model.GoalReservedPESeconds} {
		for _, n := range []int{1, 7, 60} {
			in := offlineLoad(n, uint64(n), goal)
			start, err := First(t.Context(), in, model.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			first, err := in.Objective(start)
			if err != nil {
				t.Fatal(err)
			}
			var last *model.Bookings
			for _, effort := range []int64{1, 3000, 30_000} {
				b, err := searchNear(run.New(meter.Limit(context.Background(), effort), "test", in, model.Settings{Seed: 5, Start: start}), in)
				if err != nil {
					t.Fatal(err)
				}
				report, err := verify.Verify(t.Context(), in, b, verify.Options{})
				if err != nil || !report.Feasible() {
					t.Fatalf("%d requests: %v %v", n, report, err)
				}
				if o, err := in.Objective(b); err != nil || o.Value < first.Value*(1-1e-12) {
					t.Fatalf("%d requests: %v after a start of %v, %v", n, o.Value, first.Value, err)
				}
				last = b
			}
			again, err := searchNear(run.New(meter.Limit(context.Background(), 30_000), "test", in, model.Settings{Seed: 5, Start: start, Threads: 4}), in)
			if d := cmp.Diff(last, again); err != nil || d != "" {
				t.Errorf("%d requests: the same seed gives %v (-first,+second)\n%s", n, err, d)
			}
			looks := &testkit.StopAfter{Context: context.Background(), Looks: 9}
			b, err := searchNear(run.New(looks, "test", in, model.Settings{Seed: 5, Start: start}), in)
			if err != nil {
				t.Fatal(err)
			}
			if report, err := verify.Verify(t.Context(), in, b, verify.Options{}); err != nil || !report.Feasible() {
				t.Fatalf("%d requests: %v %v", n, report, err)
			}
		}
	}
}
