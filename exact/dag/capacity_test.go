// SPDX-License-Identifier: MIT

package dag

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// On machines with capacities the searches prove the least makespan of an enumeration, with any of their devices off, and
// under contention a bound that isn't above it. All bounds hold, and the judge follows their evidence.
func TestCapacities(t *testing.T) {
	draws := 1200
	if testing.Short() {
		draws = 400
	}
	rng := rand.New(rand.NewPCG(50, 1))
	several, above := 0, 0
	for range draws {
		d := testkit.Roomy(rng, testkit.RandomDAG(rng, 1+rng.IntN(5), 1+rng.IntN(3)))
		if rng.IntN(4) == 0 {
			testkit.Restrict(rng, d)
			if d.Validate() != nil {
				continue
			}
		}
		if rng.IntN(3) == 0 {
			testkit.Contend(rng, d)
		}
		least := testkit.LeastRoomy(d.WithoutContention())
		if view.OfDAG(d).Room != nil {
			several++
		}
		all, err := dagbounds.All(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsInf(least, 1) {
			if len(all) == 0 || !all[0].Infeasible {
				t.Errorf("%s: no schedule, and bounds don't say so", d.Name)
			}
			continue
		}
		for _, b := range all {
			if b.Value > least*(1+1e-9) && d.Transfers() == model.TransferIdeal {
				t.Errorf("%s: bound %s %v above the least makespan %v", d.Name, b.Name, b.Value, least)
			}
			if !b.Evidence.Checkable() {
				continue
			}
			f, err := verify.Evidence(t.Context(), d, b.Evidence)
			if err != nil {
				t.Fatalf("%s: evidence of %s: %v", d.Name, b.Name, err)
			}
			if v, _ := f.Bound.Float64(); v < b.Value*(1-1e-9) {
				t.Errorf("%s: %s says %v, its evidence %v", d.Name, b.Name, b.Value, v)
			}
			if b.Name == "area" && b.Value > 0 {
				above++
				wrong := *b.Evidence
				if wrong.Resource += "?"; func() bool { _, err := verify.Evidence(t.Context(), d, &wrong); return err == nil }() {
					t.Errorf("%s: evidence of a resource %q is followed", d.Name, wrong.Resource)
				}
			}
		}
		var log bytes.Buffer
		hash, err := model.Hash(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []model.Solver{Search, Kernel, Search.Off(deviceSet(rng.IntN(int(endOfDevices))) | deviceSet(rng.IntN(4))*devEnergy)} {
			set := model.Settings{Seed: 1}
			if s.Name() == Kernel.Name() {
				log.Reset()
				set.Proof = &model.ProofWriter{Writer: &log, Instance: hash}
			}
			res, err := s.Solve(context.Background(), d, set)
			if err != nil {
				t.Fatalf("%s: %s: %v", d.Name, s.Name(), err)
			}
			if d.Transfers() == model.TransferIdeal {
				if res.Status != model.StatusOptimal || math.Abs(res.Objective-least) > 1e-6*least {
					t.Errorf("%s: %s says %s %v, bound %v; the least makespan is %v", d.Name, s.Name(), res.Status, res.Objective, res.Bound, least)
				}
			} else if res.Objective < least*(1-1e-9) {
				t.Errorf("%s: %s says %v, below %v without contention", d.Name, s.Name(), res.Objective, least)
			}
			if set.Proof != nil {
				claim, err := verify.Proof(t.Context(), d, hash, bytes.NewReader(log.Bytes()))
				if err != nil {
					t.Fatalf("%s: proof: %v", d.Name, err)
				}
				if claim.Bound > least*(1+1e-9) || d.Transfers() == model.TransferIdeal && claim.Bound < least*(1-1e-6) {
					t.Errorf("%s: %s is proved; the least makespan is %v", d.Name, claim.Claim, least)
				}
			}
			report, err := verify.Result(t.Context(), d, res, verify.Options{})
			if err != nil || !report.Feasible() {
				t.Fatalf("%s: %s: %v %v", d.Name, s.Name(), err, report)
			}
		}
	}
	if several < draws/2 || above < draws/4 {
		t.Errorf("%d of %d draws run several tasks at once, %d have an area", several, draws, above)
	}
}

// On graphs too large for the enumeration the searches agree with the plain engine: what they prove it can't beat, and
// their schedules aren't better than its optimum.
func TestCapacitiesAgainstPlain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 2))
	proved := 0
	draws := require.Rounds(800)
	for range draws {
		d := testkit.Roomy(rng, testkit.RandomDAG(rng, 6+rng.IntN(4), 2+rng.IntN(2)))
		if rng.IntN(4) == 0 {
			if testkit.Restrict(rng, d); d.Validate() != nil {
				continue
			}
		}
		want := plain.Best(d)
		for _, s := range []model.Solver{Search, Kernel, Search.Off(deviceSet(rng.IntN(int(endOfDevices))) | deviceSet(rng.IntN(4))*devEnergy)} {
			r, err := s.Solve(t.Context(), d, model.Settings{Seed: 1, Effort: 1_000_000})
			switch {
			case err != nil:
				t.Fatalf("%s: %s: %v", d.Name, s.Name(), err)
			case want.Solution == nil:
				if r.Status != model.StatusInfeasible {
					t.Errorf("%s: %s says %s, there is no schedule", d.Name, s.Name(), r.Status)
				}
				continue
			case r.Status == model.StatusInfeasible || r.Bound > want.Value*(1+1e-9) || r.Objective < want.Value*(1-1e-9):
				t.Errorf("%s: %s says %s %v, bound %v; the least makespan is %v", d.Name, s.Name(), r.Status, r.Objective, r.Bound, want.Value)
			case r.Status == model.StatusOptimal:
				proved++
			}
			if report, err := verify.Result(t.Context(), d, r, verify.Options{}); err != nil || !report.Feasible() {
				t.Errorf("%s: %s: %v %v", d.Name, s.Name(), err, report)
			}
		}
	}
	if proved < 2*draws {
		t.Errorf("%d of %d runs end with a proof", proved, 3*draws)
	}
}
