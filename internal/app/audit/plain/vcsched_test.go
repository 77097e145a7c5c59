// SPDX-License-Identifier: MIT

package plain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

func TestVCSched(t *testing.T) {
	rng, none, short := rand.New(rand.NewPCG(9, 3)), 0, 0
	for range 3000 {
		hosts := 1 + rng.IntN(3)
		v := testkit.VCSched(rng, 1+rng.IntN([]int{6, 6, 5}[hosts-1]), hosts, rng.IntN(3) == 0)
		if rng.IntN(3) == 0 {
			testkit.Vectors(rng, v)
		}
		switch a := consistent(t, v); {
		case a.Solution == nil:
			none++
		case a.Value < 1:
			short++
		}
	}
	if none < 300 || short < 300 {
		t.Errorf("%d without a solution, %d with a yield below 1: too few to test much", none, short)
	}
}

// Instances with needs of memory within 1e-9 of a host's amount: one definition of fitting.
func TestVCSchedFound(t *testing.T) {
	of := func(b float64) *float64 { return &b }
	for name, c := range map[string]struct {
		budget *float64
		memory []float64
		want   float64 // NaN: nothing fits
	}{
		"a host and less than 1e-9":  {nil, []float64{0.5, 0.5 + 9e-10}, 0.5},
		"a host and more than 1e-9":  {nil, []float64{0.5, 0.5 + 1.1e-9}, math.NaN()},
		"a budget of 1e-10 too few":  {of(0.3 - 1e-10), []float64{0.3, 0.3}, 0.5},
		"a budget of 1.1e-9 too few": {of(0.3 - 1.1e-9), []float64{0.3, 0.3}, math.NaN()},
	} {
		v := &model.VCSched{Hosts: 1, MigrationBudget: c.budget}
		for i, m := range c.memory {
			v.Jobs = append(v.Jobs, model.VCSchedJob{ID: fmt.Sprint(i), Tasks: 1, CPU: 1, Memory: m})
		}
		if c.budget != nil { // the second task must leave host 1, where a new one needs everything
			v.Hosts = 2
			v.Jobs[0].CurrentHosts = []int{1}
			v.Jobs = append(v.Jobs, model.VCSchedJob{ID: "all", Tasks: 1, CPU: 1, Memory: 1}, model.VCSchedJob{ID: "free", Tasks: 1, CPU: 1e-9, Memory: 0})
			v.Jobs[1].CurrentHosts = []int{0}
		}
		t.Run(name, func(t *testing.T) {
			agree(t, v, c.want)
		})
	}
}
