// SPDX-License-Identifier: MIT

package dag_test

import (
	"math/rand/v2"
	"testing"

	dagexact "github.com/gapwise/gapwise/exact/dag"
	"github.com/gapwise/gapwise/internal/app/audit"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The audit's relations hold at ordinary size, by the search, the kernel, and the search
// from a poor start and without one of its devices.
func TestDAGRelations(t *testing.T) {
	t.Parallel()
	rng, devices := rand.New(rand.NewPCG(1, 3)), dagexact.Search.Devices()
	searches, proved := uint64(0), 0
	for k := range 6 {
		d := testkit.RandomDAG(rng, 18+rng.IntN(13), 2+rng.IntN(3))
		if k%3 == 2 {
			dagexact.Alike(rng, d)
		}
		solve := func(in model.Instance) model.Result {
			without, err := dagexact.Search.Without(devices[rng.IntN(len(devices))].Name)
			if err != nil {
				t.Fatal(err)
			}
			engines := []model.Solver{dagexact.Search, dagexact.Kernel, dagexact.Phases()[0], without}
			r, err := engines[searches%uint64(len(engines))].Solve(t.Context(), in, model.Settings{Seed: searches, Effort: 100_000})
			if err != nil {
				t.Fatal(err)
			}
			if report, err := verify.Result(t.Context(), in, r, verify.Options{}); err != nil || !report.Feasible() {
				t.Fatal(in.ID(), report, err)
			}
			if searches++; r.Status == model.StatusOptimal {
				proved++
			}
			return r
		}
		if err := audit.Relate(d, rng, solve); err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
	}
	if t.Logf("%d searches, %d proved", searches, proved); proved < int(searches)/3 {
		t.Error("too few are proved to compare")
	}
}
