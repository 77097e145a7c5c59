// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// golden holds digests of the embeddings, the details and AdaBa's traces of small and of large
// instances, by algorithm, from when each mode had a loop of its own.
var golden = map[string][2]string{
	"adaba":               {"4a0dd31a69803f02", "8bcef1d1ddf192cd"},
	"adaba-printed":       {"18fbf2688b46f1ff", "e3b0c44298fc1c14"},
	"best-fit":            {"d000914c9115e1b4", "e3b0c44298fc1c14"},
	"best-fit-local":      {"3ee761b984457b1c", "e3b0c44298fc1c14"},
	"bgmbf":               {"d4a45af4b06b0763", "e3b0c44298fc1c14"},
	"bgmbf-sdf":           {"680ad0c01d84f9a7", "e3b0c44298fc1c14"},
	"bid-price":           {"f0bff46098bc3480", "e3b0c44298fc1c14"},
	"fcfs":                {"994c84ff56db30b1", "e3b0c44298fc1c14"},
	"first-fit":           {"bb24b58df3a0b6c8", "e3b0c44298fc1c14"},
	"first-fit-local":     {"ba91af373155190f", "e3b0c44298fc1c14"},
	"greedy":              {"b29501e6754fea6e", "e3b0c44298fc1c14"},
	"greedy-minmax":       {"0bba5f287f3af745", "e3b0c44298fc1c14"},
	"improve":             {"299bd318234faff4", "e3b0c44298fc1c14"},
	"oktopus":             {"f1ba2c1d11871cca", "e3b0c44298fc1c14"},
	"program-reserved":    {"7410476e2e085952", "e3b0c44298fc1c14"},
	"program-servers":     {"9ae3a0904c4e814d", "e3b0c44298fc1c14"},
	"program-utilisation": {"d7b1fc58c284ce6c", "e3b0c44298fc1c14"},
	"repack":              {"952c704caef889b6", "e3b0c44298fc1c14"},
	"sbf":                 {"53958894d58a87a7", "e3b0c44298fc1c14"},
	"sdf":                 {"e6bd5ffa5ff01076", "e3b0c44298fc1c14"},
	"srpt":                {"42b83ca4708b06eb", "e3b0c44298fc1c14"},
}

// Embeddings, details and traces are as before, byte for byte.
func TestGolden(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 4))
	var all []*model.TVC
	for range 60 {
		all = append(all, testkit.RandomTVC(rng, 4, 1+rng.IntN(12), false), testkit.RandomTVC(rng, 4, 1+rng.IntN(30), true))
	}
	for range 4 {
		all = append(all, testkit.RandomTVC(rng, 6, 150, false), testkit.RandomTVC(rng, 6, 150, true))
	}
	for _, queue := range []string{"no", "yes"} {
		spec := instances.NewTVCSpec()
		spec.Requests, spec.Queue, spec.Load, spec.Seed = 300, queue, 0.9, 5
		in := require.Value(spec.Generate())(t)
		all = append(all, in)
	}
	for _, a := range Algorithms() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			solutions, traces := sha256.New(), sha256.New()
			for round, in := range all {
				if a.Class != model.Online && (len(in.Requests) > 20 || round%5 > 1) {
					continue
				}
				set := model.Settings{}
				switch {
				case a.Class != model.Online:
				case in.Queue && round%4 == 1:
					set.Parameters = &model.TVCParameters{Embedder: []string{"first-fit", "best-fit-local", "greedy", "program-reserved"}[round/4%4]}
				case !in.Queue && round%4 == 2:
					set.Parameters = &model.TVCParameters{Embeddable: "yes"}
				}
				if round%10 == 0 && a.Traced {
					set.Trace = func(s model.Step) {
						if err := json.NewEncoder(traces).Encode(s); err != nil {
							t.Error(err)
						}
					}
				}
				r, err := a.Solver.Solve(context.Background(), in, set)
				if err != nil && !errors.Is(err, model.ErrNoSolution) && !errors.Is(err, model.ErrUnsupported) {
					t.Fatal(err)
				}
				require.OK(t, json.NewEncoder(solutions).Encode([]any{r.Solution, r.Details}))
			}
			got := [2]string{hex.EncodeToString(solutions.Sum(nil)[:8]), hex.EncodeToString(traces.Sum(nil)[:8])}
			if got != golden[a.Name] {
				t.Errorf("%q: {%q, %q},", a.Name, got[0], got[1])
			}
		})
	}
}
