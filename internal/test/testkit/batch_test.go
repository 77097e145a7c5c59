// SPDX-License-Identifier: MIT

package testkit_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Each drawn instance is valid, and together they have all that the families promise.
func TestRandomBatch(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 44))
	seen := map[string]int{}
	rounds := require.Rounds(600)
	for round := range rounds {
		in := testkit.RandomBatch(rng, 1+round%2, 5, 1+rng.IntN(6))
		require.OK(t, in.Validate())
		for k := range in.Jobs {
			j := &in.Jobs[k]
			for name, is := range map[string]bool{
				"together": k > 0 && j.SubmitS == in.Jobs[k-1].SubmitS, "apart": k > 0 && j.SubmitS > in.Jobs[k-1].SubmitS,
				"no estimate": j.EstimateS == 0, "exact": j.EstimateS == j.RuntimeS, "too long": j.EstimateS > j.RuntimeS, "too short": j.EstimateS > 0 && j.EstimateS < j.RuntimeS,
				"killed": in.Work(k) < j.RuntimeS, "no uses": len(j.CPU) == 0, "one use": len(j.CPU) == 1 && j.Processes > 1, "many uses": len(j.CPU) > 1, "all processors": j.Processes == in.Processors && j.Processes > 1,
				"no progress": in.Tiers == 2 && j.BgEfficiency == 0, "all progress": j.BgEfficiency == 1, "at the threshold": in.Tiers == 2 && slices.Contains(j.CPU, in.EffectiveThreshold()),
				"light": j.Weight < 2, "heavy": j.Weight > 1, "heaviest": j.Weight == model.MostWeight,
				"endless": in.Threshold > 1, "free migration": in.Tiers == 2 && in.MigrationS == 0, "long migration": in.MigrationS > j.RuntimeS,
			} {
				if is {
					seen[name]++
				}
			}
		}
	}
	if len(seen) != 20 || slices.Min(values(seen)) < rounds/30 {
		t.Errorf("seen: %v", seen)
	}
}

func values(m map[string]int) (all []int) {
	for _, n := range m {
		all = append(all, n)
	}
	return all
}
