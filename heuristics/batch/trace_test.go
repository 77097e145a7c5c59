// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/internal/testkit"
	"github.com/gapwise/gapwise/model"
)

// The steps on two tiers are those of the execution: each stay in a tier begins with one,
// which names its processors, and a kill loses the stay before.
func TestTraceOfTwoTiers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(55, 1))
	kinds := map[string]int{}
	for range need.Rounds(200) {
		in := testkit.RandomBatch(rng, 2, 6, 12)
		for name, run := range map[string]func(context.Context, *model.Batch, model.Settings) (*model.Execution, error){"keasy": KEASY, "reasy": REASY, "measy": MEASY} {
			type stay struct {
				start float64
				tier  model.Tier
				lost  bool
			}
			stays, words := map[string][]stay{}, map[string][]string{}
			e, err := run(t.Context(), in, model.Settings{Trace: func(s model.Step) {
				kinds[s.What]++
				x := stay{start: s.Values[0].Value}
				switch s.What {
				case "kill":
					stays[s.Of][len(stays[s.Of])-1].lost = true
				case "background":
					x.tier = model.TierBackground
				case "foreground", "change", "migrate":
				default:
					return
				}
				stays[s.Of], words[s.Of] = append(stays[s.Of], x), append(words[s.Of], s.Words)
			}})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range e.Runs {
				var want []stay
				for k, x := range r.Segments {
					want = append(want, stay{x.StartS, x.Place.Tier, x.Lost})
					if k < len(words[r.ID]) && !strings.Contains(words[r.ID][k], fmt.Sprint(x.Place.Processors)) {
						t.Fatalf("%s: %q doesn't name %v", name, words[r.ID][k], x.Place.Processors)
					}
				}
				if !slices.Equal(stays[r.ID], want) {
					t.Fatalf("%s: the steps of job %s are %v, its run %v", name, r.ID, stays[r.ID], want)
				}
			}
		}
	}
	for _, what := range []string{"foreground", "background", "change", "kill", "migrate", "wait", "head", "backfill", "end"} {
		if kinds[what] == 0 {
			t.Errorf("no step is %q: %v", what, kinds)
		}
	}
}
