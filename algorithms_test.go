// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// The heuristics of the papers are there.
func TestPaperHeuristics(t *testing.T) {
	for kind, names := range map[model.Kind][]string{
		model.KindVCSched:     {"rrnd", "rrnz", "gr", "sg", "gb", "sgb", "mcb1", "mcb2", "mcb3", "mcb4", "mcb5", "mcb6", "mcb7", "mcb8"},
		model.KindDAG:         {"heft", "cpop", "peft", "lookahead", "dls", "sinnen-sousa", "network-aware", "improve", "lns"},
		model.KindReservation: {"ff", "pe-b", "du-b", "pedu-b", "pe-w", "du-w", "pedu-w"},
	} {
		for _, name := range names {
			if a, err := gapwise.Find(kind, name); err != nil || a.Exact {
				t.Errorf("%v, exact %v", err, a.Exact)
			}
		}
	}
}

type otherInstance struct{ model.Instance }

func (otherInstance) Kind() model.Kind { return "other" }

func TestAdapt(t *testing.T) {
	in := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.5}}}
	type solve = func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error)
	answer := func(p *model.Placement, err error) solve {
		return func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error) { return p, err }
	}
	tests := map[string]struct {
		solve      solve
		in         model.Instance
		wantErr    error
		wantStatus model.Status
		wantReason string
	}{
		"solved":          {answer(in.NewPlacement([]int32{0}, 1), nil), in, nil, model.StatusFeasible, ""},
		"no solution":     {answer(nil, fmt.Errorf("%w: full", model.ErrNoSolution)), in, nil, model.StatusUnknown, "no solution found: full"},
		"failed":          {answer(nil, model.ErrUnsupported), in, model.ErrUnsupported, model.StatusUnknown, ""},
		"another problem": {answer(nil, nil), otherInstance{}, model.ErrUnsupported, model.StatusUnknown, ""},
		"wrong shape":     {answer(&model.Placement{}, nil), in, model.ErrInvalid, model.StatusUnknown, ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := model.Adapt("mine", c.solve).Solve(context.Background(), c.in, model.Settings{Seed: 3})
			if !errors.Is(err, c.wantErr) || err != nil && !strings.HasPrefix(err.Error(), "mine: ") {
				t.Fatalf("error %v, want %v", err, c.wantErr)
			}
			if r.Status != c.wantStatus || r.Reason != c.wantReason || r.Algorithm != "mine" || r.Seed != 3 {
				t.Errorf("%+v, want status %s and reason %q", r, c.wantStatus, c.wantReason)
			}
		})
	}
}

// On hosts far smaller than the reference host every algorithm's placement passes the judge, with each host's own
// tolerance. The engines find the yield of the instance of ordinary size: the largest needs are drawn to fill a host to
// within the tolerance.
func TestSmallHosts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(77, 1))
	const scale = 1.0 / 64 // a power of 2: all sums are as exact
	solved, border := 0, 0
	for range require.Rounds(60) {
		in := testkit.RandomVectors(rng, rng.IntN(2) == 0)
		if len(in.HostSizes) == 0 {
			in.HostSizes = []model.HostSize{{Count: in.Hosts, CPU: 1, Memory: 1, Resources: slices.Repeat([]float64{1}, len(in.Resources))}}
		}
		if most := in.HostSizes[0].Memory; most > 0 && rng.IntN(2) == 0 {
			in.Jobs[0].Memory, in.Jobs[0].Tasks = most/2*(1+[]float64{0, 4e-10, 0.9e-9, 1.1e-9, 2e-9}[rng.IntN(5)]), 2
			in.Jobs[0].CurrentHosts = nil
			border++
		}
		small := *in
		small.Jobs, small.HostSizes = slices.Clone(in.Jobs), slices.Clone(in.HostSizes)
		down := func(x []float64) (all []float64) {
			for _, x := range x {
				all = append(all, x*scale)
			}
			return all
		}
		for k := range small.Jobs {
			j := &small.Jobs[k]
			j.CPU, j.Memory, j.Resources = j.CPU*scale, j.Memory*scale, down(j.Resources)
		}
		for k := range small.HostSizes {
			s := &small.HostSizes[k]
			s.CPU, s.Memory, s.Resources = s.CPU*scale, s.Memory*scale, down(s.Resources)
		}
		if in.MigrationBudget != nil {
			b := *in.MigrationBudget * scale
			small.MigrationBudget = &b
		}
		if in.Validate() != nil || small.Validate() != nil {
			continue
		}
		want := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "search"}))(t)
		for _, a := range gapwise.Algorithms(model.KindVCSched) {
			if strings.HasPrefix(a.Name, "highs") && (!highs.Available() || rng.IntN(4) > 0) {
				continue
			}
			r, err := gapwise.Solve(t.Context(), &small, gapwise.Options{Algorithm: a.Name, Settings: model.Settings{Seed: 1}})
			switch {
			case errors.Is(err, model.ErrUnsupported):
			case err != nil:
				t.Fatalf("%s: %v: %+v", a.Name, err, small)
			case a.Exact && r.Status == model.StatusInfeasible && want.Solution != nil, r.Solution != nil && want.Status == model.StatusInfeasible,
				r.Solution != nil && want.Status == model.StatusOptimal && r.Objective > want.Objective*(1+1e-9),
				a.Exact && r.Status == model.StatusOptimal && math.Abs(r.Objective-want.Objective) > 1.1e-6*want.Objective:
				t.Fatalf("%s: %s %v, on hosts of ordinary size %s %v: %+v", a.Name, r.Status, r.Objective, want.Status, want.Objective, small)
			case r.Solution != nil:
				solved++
			}
		}
	}
	if solved == 0 || border == 0 {
		t.Errorf("%d solutions, %d instances at the border", solved, border)
	}
}

// If a task needs more of a rigid resource than any host has (model.VCSched.Oversized), no algorithm places the tasks.
// Exact ones report that there is no placement, and the judge recomputes why.
func TestOversized(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(78, 1))
	for k := range require.Rounds(60) {
		in := testkit.RandomVectors(rng, k%2 == 0)
		j := &in.Jobs[rng.IntN(len(in.Jobs))]
		most := func(r int) (x float64) {
			for _, s := range in.Sizes() {
				x = max(x, s.Rigid(r))
			}
			return x
		}
		by := []float64{1 + 1e-8, 1.5, 40}[k%3]
		if r := rng.IntN(len(in.Resources) + 1); r == 0 {
			j.Memory = max(0.01, by*most(-1))
		} else {
			j.Resources[r-1] = max(0.01, by*most(r-1))
		}
		if in.Validate() == nil {
			t.Fatalf("a need above every host is valid: %+v", in)
		}
		in.Oversized = true
		if err := in.Validate(); err != nil {
			continue // above the limit of such needs
		}
		for _, a := range gapwise.Algorithms(model.KindVCSched) {
			if strings.HasPrefix(a.Name, "highs") && (!highs.Available() || rng.IntN(4) > 0) {
				continue
			}
			r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: a.Name, Settings: model.Settings{Seed: 1}})
			switch {
			case errors.Is(err, model.ErrUnsupported):
			case err != nil:
				t.Fatalf("%s: %v: %+v", a.Name, err, in)
			case r.Solution != nil || a.Exact && r.Status != model.StatusInfeasible:
				t.Fatalf("%s: %s: %+v", a.Name, r.Status, in)
			case a.Exact:
				if f, err := verify.Evidence(t.Context(), in, r.Evidence); err != nil || !f.Infeasible {
					t.Fatalf("%s: the judge doesn't see why there is no placement: %v, %+v: %+v", a.Name, err, r.Evidence, in)
				}
			}
		}
	}
}
