// SPDX-License-Identifier: MIT

package reservation_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	resexact "github.com/gapwise/gapwise/exact/reservation"
	resheur "github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// Version 0.3.0 was wrong on these instances: the optimum, or 0 if times can't be kept apart.
func TestReservationFound(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]float64{
		"reservation-decimals-back-to-back.json":    2,
		"reservation-decimals-tight.json":           2,
		"reservation-far-deadline-tolerance.json":   2,
		"reservation-highs-events-wrong-bound.json": 4000000000,
		"reservation-slow-exact.json":               5375639554093.181, // r4 and r3 exclude each other
		"reservation-lp-bound-negative.json":        0,                 // 1e-9 s at 1e15 s
		"reservation-panic-least-load.json":         0,                 // 1e-9 s at 1e9 s
		"reservation-panic-moving.json":             0,
		"reservation-search-defect-overlap.json":    0, // 2.2 s and 17 digits at 1e13 s
	} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := model.DecodeInstance(data)
			if want == 0 {
				if !errors.Is(err, model.ErrInvalid) {
					t.Fatalf("error %v, want invalid input", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			in, ctx := decoded.(*model.Reservation), context.Background()
			check := func(name string, b *model.Bookings) {
				t.Helper()
				report, err := verify.Verify(context.Background(), in, b, verify.Options{})
				if err != nil || !report.Feasible() || report.Objective > want*(1+1e-9) {
					t.Errorf("%s: %v %v", name, report, err)
				}
			}
			for _, s := range []model.Solver{resexact.Search, resexact.Kernel, resexact.Turns(new(int)), resexact.Linear(highs.Backend)} {
				if s.Name() == "highs" && !highs.Available() {
					continue
				}
				r, err := s.Solve(ctx, in, model.Settings{})
				if err != nil || r.Status != model.StatusOptimal || math.Abs(r.Objective-want) > 1e-9*want || r.Bound < want*(1-1e-12) {
					t.Errorf("%s: %s, %v of %v, bound %v, %v", s.Name(), r.Status, r.Objective, want, r.Bound, err)
					continue
				}
				check(s.Name(), r.Solution.(*model.Bookings))
			}
			all, err := resbounds.All(ctx, in)
			for _, b := range all {
				if err != nil || b.Value < want*(1-1e-12) {
					t.Errorf("bound %s is %v, %v is reached, %v", b.Name, b.Value, want, err)
				}
			}
			for _, a := range resheur.Algorithms() {
				if !slices.Contains([]string{"ff", "pe-w", "du-w-open", "least-load", "selective", "clairvoyant"}, a.Name) {
					continue
				}
				name := a.Name
				r, err := a.Solver.Solve(ctx, in, model.Settings{})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				b := r.Solution.(*model.Bookings)
				if want == 2 && len(b.Bookings) != 2 {
					t.Errorf("%s accepts %d, want 2", name, len(b.Bookings))
				}
				check(name, b)
			}
		})
	}
}
