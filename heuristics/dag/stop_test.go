// SPDX-License-Identifier: MIT

package dag

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// A replay under contention ends when it is stopped, wherever that is, and the next one runs as if there had been none.
func TestReplayStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	d := testkit.ContendedDAG(rng, 400, 4)
	for len(d.Tasks) < 300 {
		d = testkit.ContendedDAG(rng, 400, 4)
	}
	g := view.OfDAG(d)
	p := require.Value(heft(t.Context(), g, nil))(t)
	want := dagplay.NewReplay(g).Run(p, nil)
	r := dagplay.NewReplay(g)
	ends := 0
	for most := 0; ; most++ {
		asked := 0
		r.Stop = func(effort int64) bool {
			asked++
			return asked > most
		}
		if v := r.Run(p, nil); v == want {
			break
		} else if !math.IsInf(v, 1) {
			t.Fatalf("stopped after %d looks: %v", most, v)
		}
		ends++
		if r.Stop = nil; r.Run(p, nil) != want {
			t.Fatalf("after one that was stopped: %v, not %v", r.Run(p, nil), want)
		}
	}
	if ends == 0 {
		t.Error("it never looked")
	}
}
