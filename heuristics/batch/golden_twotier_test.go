// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// goldenTwoTier holds digests of the executions of small and of deep instances, by algorithm and knowledge of the uses.
// They are from when two tiers had a simulation of their own. A plain one, which follows the papers line by line, agreed
// with both.
var goldenTwoTier = map[string]string{
	"keasy known":         "a8209597658ddaf8",
	"keasy unknown":       "4f40c853146e3248",
	"measy known":         "2731d0897fa11d50",
	"measy unknown":       "97604c4915a5ee1f",
	"peasy known":         "347db7831e49e959",
	"peasy lift known":    "ab5730c2efdc690f",
	"peasy lift unknown":  "1fc907f93b3f239f",
	"peasy none known":    "2731d0897fa11d50",
	"peasy none unknown":  "97604c4915a5ee1f",
	"peasy short known":   "706d786dc2d3ae7d",
	"peasy short unknown": "805cc635582dad47",
	"peasy unknown":       "37037b92e841db65",
	"reasy known":         "f7f4798218f0a376",
	"reasy unknown":       "39eb471b432a1fb7",
}

// deepTwoTier draws a trace like deep, with uses and efficiencies.
func deepTwoTier(rng *rand.Rand) *model.Batch {
	b := deep(rng)
	b.Tiers, b.MigrationS, b.KillAtEstimate = 2, float64(rng.IntN(20)), false
	for k := range b.Jobs {
		j := &b.Jobs[k]
		j.BgEfficiency, j.FgLoss = rng.Float64(), float64(rng.IntN(100))/1e4
		for range j.Processes {
			j.CPU = append(j.CPU, float64(1+rng.IntN(100))/100)
		}
	}
	return b
}

// Executions are as before, byte for byte.
func TestGoldenTwoTier(t *testing.T) {
	t.Parallel()
	for name, run := range twoTier {
		for _, uses := range []model.BatchKnowledge{model.BatchUsesKnown, model.BatchUsesUnknown} {
			key := name + " " + string(uses)
			t.Run(key, func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(12, 78))
				solutions := sha256.New()
				for round := range 320 {
					draw := smallTwoTier
					if round >= 300 {
						draw = deepTwoTier
					}
					in := draw(rng)
					set := model.Settings{Parameters: &model.BatchParameters{Uses: uses}}
					e := require.Value(run(context.Background(), in, set))(t)
					require.OK(t, json.NewEncoder(solutions).Encode(e))
				}
				got := hex.EncodeToString(solutions.Sum(nil)[:8])
				if got != goldenTwoTier[key] {
					t.Errorf("%q: %q,", key, got)
				}
			})
		}
	}
}
