// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/internal/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Each algorithm that writes transcripts is online by them, and each that says that it
// is online writes them.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 6))
	for kind, draw := range map[model.Kind]func() model.Instance{
		model.KindBatch:       func() model.Instance { return testkit.RandomBatch(rng, 1+rng.IntN(2), 6, 1+rng.IntN(20)) },
		model.KindTVC:         func() model.Instance { return testkit.RandomTVC(rng, 4, 1+rng.IntN(20), rng.IntN(2) == 0) },
		model.KindReservation: func() model.Instance { return testkit.RandomReservation(rng, 1+rng.IntN(30)) },
	} {
		recorded := map[string]int{}
		for range need.Rounds(100) {
			in := draw()
			for _, a := range gapwise.Algorithms(kind) {
				if a.Class != model.Online {
					continue
				}
				var text bytes.Buffer
				res, err := a.Solver.Solve(t.Context(), in, model.Settings{Transcript: &text})
				if err == nil && res.Solution == nil || errors.Is(err, model.ErrUnsupported) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				r, err := verify.Verify(t.Context(), in, res.Solution, verify.Options{Transcript: &text})
				if err != nil || !r.Feasible() || !r.Online || !a.Recorded {
					t.Fatalf("%s: %v, %v, recorded: %v\n%+v", a.Name, err, r.Violations, a.Recorded, in)
				}
				recorded[a.Name]++
			}
		}
		for _, a := range gapwise.Algorithms(kind) {
			if a.Class == model.Online && recorded[a.Name] == 0 {
				t.Errorf("no transcript of %s, %s", kind, a.Name)
			}
		}
	}
}
