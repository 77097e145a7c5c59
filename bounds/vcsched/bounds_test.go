// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// The linear relaxation of the paper's model has the closed form's value.
func TestClosedFormIsLP(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for k := range 150 {
		s := instances.VCSchedSpec{Hosts: 1 + rng.IntN(5), Jobs: 5 + rng.IntN(10), Slack: 0.1 + 0.8*rng.Float64(), CoVCPU: 0.75, CoVMemory: 0.5, MaxTasks: 1 + k%2*3, Index: k}
		in, err := s.Generate()
		if err != nil {
			continue // a mean memory need above a host
		}
		f := require.Value(Build(in, "parallel"))(t)
		r := require.Value(highs.Solve(context.Background(), &f.Model, milp.Options{Relax: true}))(t)
		b := ClosedForm(in)
		if b.Infeasible != (r.Status == milp.Infeasible) {
			t.Fatalf("%s: closed form infeasible %v, LP %v", in.Name, b.Infeasible, r.Status)
		}
		if b.Infeasible {
			continue
		}
		// A task larger than the average load doesn't strengthen the closed form beyond the LP: needs are at most a
		// host.
		if math.Abs(b.Value-r.Objective) > 1e-6 {
			t.Fatalf("%s: closed form %v, LP %v", in.Name, b.Value, r.Objective)
		}
	}
}

func TestFormulationErrors(t *testing.T) {
	t.Parallel()
	b := 1.0
	parallel := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 2, CPU: 1}}}
	moving := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 1}}, MigrationBudget: &b}
	for name, c := range map[string]*model.VCSched{"paper": parallel, "parallel": moving, "none": moving} {
		if _, err := Build(c, name); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// If memory is tight, patterns give more than packing; the tests against brute force are in package exact.
func TestPatternsStrengthen(t *testing.T) {
	t.Parallel()
	stronger, proofs := 0, 0
	for k := range 20 {
		in := require.Value(instances.VCSchedSpec{Hosts: 16, Jobs: 26, Slack: 0.15, CoVCPU: 0.75, CoVMemory: 0.5,
			Index: k}.Generate())(t)
		p := Quick(t.Context(), in)[0]
		if p.Infeasible {
			continue
		}
		b := ColumnGeneration(context.Background(), in)
		if b.Infeasible {
			proofs++
			continue
		}
		if b.Value > p.Value+1e-12 {
			t.Fatalf("%s: patterns %v weaker than packing %v", in.Name, b.Value, p.Value)
		}
		if b.Value < p.Value*0.999 {
			stronger++
		}
	}
	if stronger+proofs == 0 {
		t.Error("patterns never knew more than packing")
	}
}

func TestPatternsStop(t *testing.T) {
	t.Parallel()
	in := require.Value(instances.VCSchedSpec{Hosts: 64, Jobs: 250, Slack: 0.1, CoVCPU: 0.75,
		CoVMemory: 0.25}.Generate())(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := ColumnGeneration(ctx, in)
	if b.Infeasible || !(b.Value <= Quick(t.Context(), in)[0].Value) {
		t.Errorf("%+v: a stopped bound is still the packing bound", b)
	}
}

func BenchmarkPackingBound(b *testing.B) {
	for _, n := range []int{100, 500, 2500} {
		in := require.Value(instances.VCSchedSpec{Hosts: n / 5, Jobs: n, Slack: 0.3, CoVCPU: 0.5,
			CoVMemory: 0.5}.Generate())(b)
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			for b.Loop() {
				Quick(b.Context(), in)
			}
		})
	}
}
