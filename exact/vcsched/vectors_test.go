// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// vectorsAtSize draws an instance of 12 to 24 hosts of two sizes, with two further
// resources.
func vectorsAtSize(t *testing.T, k int) *model.VCSched {
	t.Helper()
	rng := rand.New(rand.NewPCG(21, uint64(k)))
	hosts := 12 + 6*(k%3)
	in, err := instances.VCSchedSpec{Hosts: hosts, Jobs: 2*hosts + 4, Slack: 0.4, CoVCPU: 0.5, CoVMemory: 0.5, Seed: uint64(k)}.Generate()
	if err != nil {
		t.Fatal(err)
	}
	in.Resources = []string{"disk", "network"}
	for i := range in.Jobs {
		in.Jobs[i].Resources = []float64{math.Round(600*rng.Float64()) / 1000, math.Round(500*rng.Float64()) / 1000}
	}
	in.HostSizes = []model.HostSize{{Count: hosts / 2, CPU: 1, Memory: 1, Resources: []float64{1, 1}}, {Count: hosts - hosts/2, CPU: 1.5, Memory: 1.5, Resources: []float64{2, 1}}}
	return in
}

// The optimum stays as resources and hosts are named in another order, as a resource is
// given twice or nobody needs it, and as runs of equal hosts are split.
func TestVectorRelationsAtSize(t *testing.T) {
	t.Parallel()
	if !highs.Available() {
		t.Skip("without HiGHS there is no column generation")
	}
	below := 0
	for k := range need.Rounds(20) {
		in := vectorsAtSize(t, k)
		first, err := vcexact.Search.Solve(t.Context(), in, model.Settings{Seed: 1, Gap: 1e-2})
		if err != nil {
			t.Fatal(err)
		}
		if first.Status == model.StatusOptimal && first.Objective < 0.999 {
			below++
		}
		others := map[string]*model.VCSched{}
		other := func(name string, change func(v *model.VCSched)) {
			v := *in
			v.Resources, v.HostSizes, v.Jobs = slices.Clone(in.Resources), slices.Clone(in.HostSizes), slices.Clone(in.Jobs)
			for i := range v.HostSizes {
				v.HostSizes[i].Resources = slices.Clone(v.HostSizes[i].Resources)
			}
			for i := range v.Jobs {
				v.Jobs[i].Resources = slices.Clone(v.Jobs[i].Resources)
			}
			change(&v)
			if err := v.Validate(); err != nil {
				t.Fatal(err)
			}
			others[name] = &v
		}
		other("order", func(v *model.VCSched) {
			slices.Reverse(v.HostSizes)
			slices.Reverse(v.Jobs)
			slices.Reverse(v.Resources)
			for i := range v.HostSizes {
				slices.Reverse(v.HostSizes[i].Resources)
			}
			for i := range v.Jobs {
				slices.Reverse(v.Jobs[i].Resources)
			}
		})
		other("twice and none", func(v *model.VCSched) {
			v.Resources = append(v.Resources, "again", "none")
			for i := range v.HostSizes {
				s := &v.HostSizes[i]
				s.Resources = append(s.Resources, s.Resources[0], 0)
			}
			for i := range v.Jobs {
				j := &v.Jobs[i]
				j.Resources = append(j.Resources, j.Resources[0], 0)
			}
		})
		other("split", func(v *model.VCSched) {
			var sizes []model.HostSize
			for _, s := range v.HostSizes {
				for n := s.Count; n > 0; n-- {
					s.Count = 1
					sizes = append(sizes, s)
				}
			}
			v.HostSizes = sizes
		})
		for name, v := range others {
			r, err := vcexact.Search.Solve(t.Context(), v, model.Settings{Seed: 2, Gap: 1e-2})
			if err != nil {
				t.Fatal(err)
			}
			if (r.Status == model.StatusInfeasible) != (first.Status == model.StatusInfeasible) {
				t.Fatalf("%d, %s: %s, was %s", k, name, r.Status, first.Status)
			}
			if r.Status == model.StatusInfeasible {
				continue
			}
			if r.Objective > first.Bound*(1+1e-9) || first.Objective > r.Bound*(1+1e-9) {
				t.Fatalf("%d, %s: yield %v of at most %v, was %v of at most %v", k, name, r.Objective, r.Bound, first.Objective, first.Bound)
			}
			if report, err := verify.Result(t.Context(), v, r, verify.Options{}); err != nil || !report.Feasible() {
				t.Fatal(fmt.Sprint(k, name), report, err)
			}
		}
	}
	if below == 0 {
		t.Error("no yield below 1 was proved: nothing to get wrong")
	}
}

// Without a budget in its model, column generation must put no price on moves, whatever
// runs now: it once claimed 0.5 here.
func TestPatternsOfClassesHaveNoPrices(t *testing.T) {
	t.Parallel()
	none := 0.0
	in := &model.VCSched{Name: "prices", Hosts: 3, MigrationBudget: &none, HostSizes: []model.HostSize{{Count: 1, CPU: 7.0 / 12, Memory: 1}, {Count: 2, CPU: 0.75, Memory: 1}},
		Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.75, Memory: 0.25, CurrentHosts: []int{1}}, {ID: "b", Tasks: 1, CPU: 0.75, Memory: 0.25, CurrentHosts: []int{0}}, {ID: "c", Tasks: 1, CPU: 0.75, Memory: 0.25}}}
	b, err := vcbounds.ColumnGeneration(t.Context(), in)
	if err != nil || b.Infeasible || b.Value < 7.0/9-1e-12 {
		t.Errorf("%+v, %v: the optimum is 7/9", b, err)
	}
}
