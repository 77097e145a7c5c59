// SPDX-License-Identifier: MIT

package consolidation_test

import (
	"context"
	"math/rand/v2"
	"testing"

	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	"github.com/gapwise/gapwise/exact/consolidation"
	consheur "github.com/gapwise/gapwise/heuristics/consolidation"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// TestPlain compares engines, heuristics and bounds with the plain engine on tiny instances.
func TestPlain(t *testing.T) {
	t.Parallel()
	n := 800
	if testing.Short() {
		n = 200
	}
	solvers := []model.Solver{consolidation.Kernel}
	for _, d := range consolidation.Kernel.Devices() {
		s, err := consolidation.Kernel.Without(d.Name)
		if err != nil {
			t.Fatal(err)
		}
		solvers = append(solvers, s)
	}
	if highs.Backend.Missing() == nil {
		solvers = append(solvers, consolidation.Linear(highs.Backend))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	feasible, refuted := 0, 0
	for k := range n {
		in := testkit.Consolidation(rng, 2+rng.IntN(4), 1+rng.IntN(3))
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		best, found := plain.Optimum(in)
		for _, b := range consbounds.Quick(context.Background(), in) {
			if b.Infeasible && found || !b.Infeasible && found && b.Value > best {
				t.Fatalf("%d: the bound %+v of %v (%v)\n%s", k, b, best, found, text(t, in))
			}
			if b.Infeasible {
				refuted++
			}
		}
		if found {
			feasible++
		}
		for _, s := range solvers {
			check(t, k, in, s, best, found, true)
		}
		for _, a := range consheur.Algorithms() {
			if a.Name == "lns" && k%10 > 0 {
				continue
			}
			check(t, k, in, a.Solver, best, found, false)
		}
	}
	if feasible < n/3 || refuted < n/50 {
		t.Errorf("only %d of %d are feasible, and %d are refuted by bounds", feasible, n, refuted)
	}
}

func text(t *testing.T, in model.Instance) string {
	t.Helper()
	data, err := in.(*model.Consolidation).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func check(t *testing.T, k int, in *model.Consolidation, s model.Solver, best float64, found, exact bool) {
	t.Helper()
	r, err := s.Solve(t.Context(), in, model.Settings{Effort: 1e7})
	if err != nil {
		t.Fatalf("%d: %v\n%s", k, err, text(t, in))
	}
	if r.Solution != nil {
		report, err := verify.Verify(t.Context(), in, r.Solution, verify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !report.Feasible() {
			t.Fatalf("%d: %s: %v\n%s", k, s.Name(), report.Violations, text(t, in))
		}
	}
	switch {
	case r.Solution != nil && !found || r.Status == model.StatusInfeasible && found:
		t.Fatalf("%d: %s says %s, feasible is %v\n%s", k, s.Name(), r.Status, found, text(t, in))
	case r.Solution != nil && r.Objective < best, exact && found && r.Status != model.StatusOptimal,
		r.Status == model.StatusOptimal && r.Objective != best, exact && !found && r.Status != model.StatusInfeasible:
		t.Fatalf("%d: %s says %s %v (%s), the best is %v (%v)\n%s", k, s.Name(), r.Status, r.Objective, r.Reason, best, found, text(t, in))
	}
}
