// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"math/rand/v2"
	"testing"
	"time"

	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/internal/app/audit"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// relate tests the audit's relations on an instance by the engines in turn, and counts the decided ones.
func relate(t *testing.T, in *model.VCSched, rng *rand.Rand, set model.Settings, engines ...model.Solver) (decided int) {
	t.Helper()
	solve := func(in model.Instance) model.Result {
		set.Seed++
		r, err := engines[set.Seed%uint64(len(engines))].Solve(t.Context(), in, set)
		if err != nil {
			t.Fatal(err)
		}
		if report, err := verify.Result(t.Context(), in, r, verify.Options{}); err != nil || !report.Feasible() {
			t.Fatal(in.ID(), report, err)
		}
		if r.Status == model.StatusOptimal || r.Status == model.StatusInfeasible {
			decided++
		}
		return r
	}
	if err := audit.Relate(in, rng, solve); err != nil {
		data, _ := in.MarshalJSON()
		t.Fatalf("%v: %s", err, data)
	}
	return decided
}

// The relations hold on ugly families at sizes beyond the plain engine.
func TestVCSchedRelations(t *testing.T) {
	t.Parallel()
	rng, decided := rand.New(rand.NewPCG(1, 3)), 0
	for k := range need.Rounds(40) {
		n, hosts, budget := 12+rng.IntN(20), 3+rng.IntN(5), k%4 == 3
		if budget {
			n, hosts = 8+rng.IntN(5), 2+rng.IntN(2)
		}
		in := vcexact.Draw(rng, rng.IntN(vcexact.Families), n, hosts, rng.IntN(2) == 0, budget)
		// The limit only decides how much is proved, never whether it holds.
		decided += relate(t, in, rng, model.Settings{Gap: 2e-2, TimeLimit: 200 * time.Millisecond}, vcexact.Search, vcexact.Kernel)
	}
	if t.Logf("%d decided", decided); decided == 0 {
		t.Error("none is decided")
	}
}

// The relations hold with resources and hosts of different sizes, by column generation.
func TestVectorRelationsAtSize(t *testing.T) {
	t.Parallel()
	if !highs.Available() {
		t.Skip("without HiGHS there is no column generation")
	}
	decided := 0
	for k := range need.Rounds(10) {
		decided += relate(t, vectorsAtSize(t, k), rand.New(rand.NewPCG(21, uint64(k))), model.Settings{Gap: 1e-2, Effort: 300_000}, vcexact.Search)
	}
	if decided == 0 {
		t.Error("none is decided")
	}
}
