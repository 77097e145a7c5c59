// SPDX-License-Identifier: MIT

package runs

import (
	"math"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A computed feature of a drawn instance equals the generator's input under the same key: exactly, nearly, or, for
// random figures, on average over 60 draws.
func TestFeaturesMeanWhatGeneratorsMean(t *testing.T) {
	t.Parallel()
	exact, random := 1e-9, 0.1
	tests := []struct {
		kind   model.Kind
		values map[string]string
		within map[string]float64 // relative
	}{
		{model.KindVCSched, map[string]string{"hosts": "5", "jobs": "0", "tasks": "40", "slack": "0.3", "memory": "rescaled", "running": "0.5", "budget": "0.7", "cov_cpu": "0.25", "cov_memory": "0.25", "mean_cpu": "0.4"},
			map[string]float64{"hosts": 0, "tasks": 0, "slack": exact, "running": random, "budget": 0, "cov_cpu": random, "cov_memory": random, "mean_cpu": random, "max_tasks": 0}},
		{model.KindDAG, map[string]string{"tasks": "17", "machines": "3"}, map[string]float64{"tasks": 0, "machines": 0}},
		{model.KindReservation, map[string]string{"requests": "20", "pes": "128", "umed": "6"}, map[string]float64{"requests": 0, "pes": 0}},
		{model.KindTVC, map[string]string{"requests": "200", "k": "4", "slots": "3", "load": "0.8", "size": "6", "bandwidth": "200", "migration_s": "2"},
			map[string]float64{"requests": 0, "k": 0, "slots": 0, "load": 1e-3, "size": random, "bandwidth": random, "migration_s": 0, "link_mbps": 0}},
		{model.KindBatch, map[string]string{"jobs": "300", "processors": "64", "load": "0.6", "serial": "0.4", "mean_size": "8", "tiers": "2"},
			map[string]float64{"jobs": 0, "processors": 0, "load": 0.01, "serial": random, "mean_size": 0.15, "tiers": 0, "migration_s": 0, "threshold": 0}},
	}
	for _, tc := range tests {
		t.Run(string(tc.kind), func(t *testing.T) {
			p := require.Value(gapwise.ProblemOf(tc.kind))(t)
			lists := map[string][]string{}
			for k, v := range tc.values {
				lists[k] = []string{v}
			}
			specs := require.Value(p.Generator.Grid(lists, 1))(t)
			const draws = 60
			sums, told := map[string]float64{}, map[string]float64{}
			for k := range draws {
				c := instances.Nth(specs[0], k, draws, 5)
				in := require.Value(c.Load())(t)
				told = c.Params
				for key, x := range FeatureValues(in) {
					sums[key] += x / draws
				}
			}
			for key, is := range sums {
				want, ok := told[key]
				within, tested := tc.within[key]
				if ok != tested && key != "mean_runtime" && key != "jobs" {
					t.Errorf("%s: known to the generator: %v, tested: %v", key, ok, tested)
				}
				if ok && tested && math.Abs(is-want) > within*want+1e-9 {
					t.Errorf("%s is %v on average, the generator was told %v", key, is, want)
				}
			}
			for key := range tc.within {
				if _, ok := sums[key]; !ok {
					t.Errorf("%s isn't computed", key)
				}
			}
		})
	}
}
