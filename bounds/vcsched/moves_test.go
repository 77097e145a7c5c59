// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Every inequality from the duals holds for every placement, whatever the duals are.
func TestMovesInequality(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 2))
	refuted := 0
	for range require.Rounds(3_000) {
		in := testkit.RandomVCSched(rng, true)
		best, ok := plain.Optimum(in)
		if !ok {
			continue
		}
		u := view.OfVCSched(in)
		m := NewMoves(u)
		duals := make([]float64, len(m.t.CPU)+len(m.hosts)+1)
		for k := range duals {
			duals[k] = rng.Float64()
		}
		load := int64((0.5 + rng.Float64()) / best * float64(u.Scale))
		if no, _, _ := m.price(context.Background(), duals, load); no {
			refuted++
			if y := u.YieldBound(load); best >= y*(1+1e-9) {
				t.Fatalf("refutes the load %d, the optimum is %v: %+v", load, best, in)
			}
		}
	}
	if refuted < require.Rounds(30) {
		t.Errorf("%d refuted", refuted)
	}
}

// No load of a placement is refuted, most smaller ones are, and dives mostly find placements at the least load: by brute
// force, with hosts of several sizes and budgets.
func TestMovesAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 3))
	tight, placed, misfits, all := 0, 0, 0, 0
	for range require.Rounds(3_000) {
		in := testkit.RandomVCSched(rng, true)
		best, ok := plain.Optimum(in)
		u := view.OfVCSched(in)
		m := NewMoves(u)
		if !ok {
			if hosts := m.Dive(t.Context(), m.t.TotalLoad()); hosts != nil && u.Fits(hosts) {
				t.Fatalf("%v places what doesn't fit: %+v", hosts, in)
			}
			continue
		}
		load := int64(float64(u.Scale) / best * (1 + 1e-9))
		if m.Refute(t.Context(), load) {
			t.Fatalf("refutes the load %d, the optimum is %v: %+v", load, best, in)
		}
		all++
		if best < 1 && m.Refute(t.Context(), int64(float64(load)*(1-1e-5))) || best == 1 {
			tight++
		}
		hosts := m.Dive(t.Context(), load)
		if hosts == nil {
			continue
		}
		if !u.Fits(hosts) { // it does so in units
			misfits++
			continue
		}
		if placed++; u.MaxLoad(hosts) > load && best < 1 {
			t.Fatalf("%v has the load %d above %d: %+v", hosts, u.MaxLoad(hosts), load, in)
		}
	}
	if tight < all*9/10 || placed+misfits < all*9/10 || misfits > all/8 {
		t.Errorf("of %d: %d bounds are tight, %d placed, %d don't fit exactly", all, tight, placed, misfits)
	}
}

// A budget that allows all moves is none.
func TestMovesWithAnyBudget(t *testing.T) {
	t.Parallel()
	for k := range 6 {
		in := require.Value(instances.VCSchedSpec{Hosts: 8, Jobs: 18, Slack: 0.15, CoVCPU: 0.75, CoVMemory: 0.5,
			Running: 0.7, Budget: 100, Index: k}.Generate())(t)
		free := *in
		free.MigrationBudget = nil
		a := pricedMoves(context.Background(), in)
		b := ColumnGeneration(context.Background(), &free)
		if a.Infeasible != b.Infeasible || !a.Infeasible && (a.Value > b.Value*(1+2e-4) || a.Value < b.Value*(1-2e-4)) {
			t.Errorf("%s: %+v with a budget of 100, %+v without", in.Name, a, b)
		}
	}
	if b := pricedMoves(stopped(), large(t)); b.Infeasible {
		t.Errorf("%+v after the end of the context", b)
	}
}

func stopped() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func large(t *testing.T) *model.VCSched {
	return require.Value(instances.VCSchedSpec{Hosts: 32, Jobs: 150, Slack: 0.3, CoVCPU: 0.75, CoVMemory: 0.25,
		Running: 0.9, Budget: 0.5}.Generate())(t)
}
