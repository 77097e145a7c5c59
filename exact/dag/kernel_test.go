// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// A plain branch and bound finds nothing better than a value called optimal, and nothing that a bound excludes. It runs
// at sizes that no brute force reaches, on all families of figures, graphs and machines, with each device and without.
func TestSearchAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 32))
	without := []deviceSet{0, 0, devLoadRows, devNoOverlap, devHint, devLoadRows | devHint, devWholeLoads, devCumulative}
	whole, open := 0, 0
	for k := range need.Rounds(250) {
		d := testkit.RandomDAG(rng, 1+rng.IntN(13), 1+rng.IntN(4)).WithoutContention()
		off := without[k%len(without)]
		if k%3 == 0 {
			alike(rng, d)
		}
		e := Search.Off(off)
		if k%2 == 0 {
			e = e.Off(devStart)
		}
		a, err := e.Solve(t.Context(), d, model.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if report, err := verify.Verify(t.Context(), d, a.Solution, verify.Options{}); err != nil || !report.Feasible() {
			t.Fatalf("instance %d (%s): %v %v", k, d.Name, report, err)
		}
		b, err := plain.Solve(d, a.Objective*(1-1e-6), 100_000)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != model.StatusOptimal || b.Solution != nil {
			t.Errorf("instance %d (%s) without %b: %s %v, bound %v; the plain engine finds %v", k, d.Name, off, a.Status, a.Objective, a.Bound, b.Value)
		}
		if whole++; !b.Whole {
			whole--
			open++
		}
	}
	if t.Logf("%d whole, %d open", whole, open); whole < 3*open {
		t.Error("the plain engine searches too few whole trees")
	}
}

// The names are in the numbers of the instance, one each, for everything that a proof may use.
func TestKernelNames(t *testing.T) {
	d := testkit.RandomDAG(rand.New(rand.NewPCG(1, 8)), 9, 3)
	g := view.OfDAG(d.WithoutContention())
	v := newTicks(g, 1e3, devUnproved)
	if err := v.findWeights(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := newKernelModel(v, 1000)
	seen := map[string]bool{}
	for x, name := range m.VarNames {
		if name == "" || seen[name] {
			t.Errorf("variable %d is called %q", x, name)
		}
		seen[name] = true
	}
	if len(m.VarNames) != len(m.Low) {
		t.Errorf("%d of %d variables have names", len(m.VarNames), len(m.Low))
	}
	for c, name := range m.Names {
		if name == "" {
			t.Errorf("constraint %d (%T) has no name", c, m.Constraints[c])
		}
	}
}

// A stopped run ends with its best result, a limit of the gap ends it, too, and a start isn't made worse.
func TestKernelStops(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 9))
	d := testkit.RandomDAG(rng, 60, 4).WithoutContention()
	for i := range d.Tasks {
		for a := range d.Tasks[i].CostS {
			d.Tasks[i].CostS[a] = 1 + rng.Float64()*math.Pow(10, 3*rng.Float64())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	whole, err := Kernel.Solve(ctx, d, model.Settings{Progress: func(model.Progress) { cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	if whole.Status != model.StatusFeasible || whole.Reason != "interrupted" || !(whole.Bound > 0) || !(whole.Gap > 1e-4) {
		t.Errorf("%s %v, bound %v: %q, want it interrupted", whole.Status, whole.Objective, whole.Bound, whole.Reason)
	}
	loose, err := Kernel.Solve(t.Context(), d, model.Settings{Gap: 0.95 * whole.Gap})
	if err != nil || loose.Status != model.StatusOptimal || loose.Gap > 0.95*whole.Gap {
		t.Errorf("with a smaller gap %s, bound %v, gap %v: %v", loose.Status, loose.Bound, loose.Gap, err)
	}
	r, err := Kernel.Solve(ctx, d, model.Settings{Start: loose.Solution})
	if err != nil || r.Objective > loose.Objective {
		t.Errorf("a start of %v is made %v: %v", loose.Objective, r.Objective, err)
	}
}
