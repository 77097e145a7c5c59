// SPDX-License-Identifier: MIT

package vcsched_test

import (
	"testing"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/model"
)

// Without a budget in its model, column generation must put no price on moves, whatever runs now: it once claimed 0.5
// here.
func TestPatternsOfClassesHaveNoPrices(t *testing.T) {
	t.Parallel()
	none := 0.0
	in := &model.VCSched{Name: "prices", Hosts: 3, MigrationBudget: &none, HostSizes: []model.HostSize{{Count: 1, CPU: 7.0 / 12, Memory: 1}, {Count: 2, CPU: 0.75, Memory: 1}},
		Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.75, Memory: 0.25, CurrentHosts: []int{1}}, {ID: "b", Tasks: 1, CPU: 0.75, Memory: 0.25, CurrentHosts: []int{0}}, {ID: "c", Tasks: 1, CPU: 0.75, Memory: 0.25}}}
	b := vcbounds.ColumnGeneration(t.Context(), in)
	if b.Infeasible || b.Value < 7.0/9-1e-12 {
		t.Errorf("%+v: the optimum is 7/9", b)
	}
}
