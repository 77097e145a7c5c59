// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"math"
	"math/rand/v2"
	"testing"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
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

// Without a budget in its model, column generation must put no price on moves, whatever runs now: it once claimed 0.5
// here.
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
