// SPDX-License-Identifier: MIT

package audit

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The everyday part of the net: gapwise's claims agree with each other, for as long as there is time.
func TestAudit(t *testing.T) {
	o := Options{Time: 5 * time.Second, Seed: 1, Workers: 2, Folder: t.TempDir()}
	if testing.Short() {
		o.Time = 3 * time.Second
	}
	o.Found = func(d Disagreement, file string) { t.Errorf("%s: %s: %s", file, d.Check, d.Reason) }
	all, engines, proofs, instances := require.Value(Run(t.Context(), o))(t).Comparisons()
	t.Logf("%d comparisons on %d instances, %d of them of two engines on larger ones, %d proofs replayed", all, instances, engines, proofs)
	if all == 0 || engines == 0 || proofs == 0 {
		t.Error("nothing was compared")
	}
}

// A problem without families is refused, and not audited by default.
func TestUnknownProblem(t *testing.T) {
	if r, err := Run(t.Context(), Options{Kinds: []model.Kind{"new"}}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("report %v, error %v", r, err)
	}
}

// A problem without families of its own is audited on the small instances of its
// generator.
func TestWithoutFamilies(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 2))
	for _, kind := range Kinds() {
		for range 20 {
			if err := drawSmall(kind, rng).Validate(); err != nil {
				t.Error(err)
			}
		}
	}
	if p := problemOf("new"); len(p.relations) > 0 || p.count(drawSmall(model.KindDAG, rng)) == 0 {
		t.Errorf("%+v", p)
	}
}

// Schedules forged to have more tasks run at a time are mostly better than the optimum, and then the judge refuses them
// for want of room. The relations of capacities apply to most graphs that have some.
func TestCapacitiesForged(t *testing.T) {
	t.Parallel()
	s := stream{kind: model.KindDAG, variant: "capacities", size: tiny}
	refused, better, applied := 0, 0, map[string]int{}
	draws := int64(require.Rounds(1000))
	for n := range draws {
		in := s.draw(3, n, false, false)
		rng := rand.New(rand.NewPCG(3, uint64(n)))
		a, err := plain.Solve(in, math.NaN(), 1e6)
		if errors.Is(err, model.ErrUnsupported) {
			continue
		}
		require.OK(t, err)
		d := in.(*model.DAG)
		for range 4 {
			forged := crowdedSchedule(d, a.Solution.(*model.Schedule), rng)
			if forged == nil {
				continue
			}
			r := require.Value(verify.Verify(t.Context(), in, forged, verify.Options{}))(t)
			lower := r.Objective < a.Value*(1-1e-9)
			if lower {
				better++
			}
			if r.Feasible() && lower && a.Whole {
				t.Errorf("%s: %v is accepted, the optimum is %v", d.Name, r.Objective, a.Value)
			}
			if !r.Feasible() && r.Violations[0].Constraint == "machine_capacity" {
				refused++
			}
		}
		for _, r := range dagRelations {
			if other, _ := r.other(in, rng); other != nil {
				applied[r.name]++
			}
		}
	}
	t.Logf("%d forged schedules are better, %d refused for want of room; relations: %v", better, refused, applied)
	if int64(better) < draws/10 || int64(refused) < draws/10 {
		t.Errorf("of %d draws, %d forged schedules are better and %d refused for want of room", draws, better, refused)
	}
	for _, name := range []string{"renamed", "times multiplied by a power of two", "needs and capacities multiplied by a number", "a capacity raised", "a resource that nobody is short of"} {
		if int64(applied[name]) < draws/2 {
			t.Errorf("the relation %q applies to %d of %d draws", name, applied[name], draws)
		}
	}
}
