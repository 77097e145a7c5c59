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
			if k >= len(m.t.CPU) && k < len(duals)-1 {
				duals[k] *= -1
			}
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

// A budget that allows all moves is none.
func TestMovesWithAnyBudget(t *testing.T) {
	t.Parallel()
	for k := range 6 {
		in := require.Value(instances.VCSchedSpec{Hosts: 8, Jobs: 18, Slack: 0.15, CoVCPU: 0.75, CoVMemory: 0.5,
			Running: 0.7, Budget: 100, Index: k}.Generate())(t)
		free := *in
		free.MigrationBudget = nil
		a := require.Value(pricedMoves(context.Background(), in))(t)
		b := require.Value(ColumnGeneration(context.Background(), &free))(t)
		if a.Infeasible != b.Infeasible || !a.Infeasible && (a.Value > b.Value*(1+2e-4) || a.Value < b.Value*(1-2e-4)) {
			t.Errorf("%s: %+v with a budget of 100, %+v without", in.Name, a, b)
		}
	}
	if _, err := pricedMoves(stopped(), large(t)); err != nil {
		t.Error(err)
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
