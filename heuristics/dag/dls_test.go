// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// The queues of levels lead to the plan that a look at every ready task leads to: on any network, with whole costs,
// which make equal levels, and with costs that differ by about the tie or less.
func TestLevelQueues(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 1))
	planned := 0
	for round := range max(300, require.Rounds(1000)) {
		var d *model.DAG
		if n := 3 + rng.IntN(60); round%2 == 0 {
			d = testkit.RandomDAG(rng, n, 1+rng.IntN(5))
		} else {
			d = testkit.ContendedDAG(rng, n, 2+rng.IntN(4))
		}
		if round%3 == 0 {
			d.Edges = d.Edges[:len(d.Edges)/4]
		}
		for k := range d.Tasks {
			for m := range d.Tasks[k].CostS {
				if x := &d.Tasks[k].CostS[m]; round%5 < 2 && !math.IsInf(*x, 1) {
					*x = float64(1 + rng.IntN(3))
					*x += float64(round%5) * *x * tie * float64(rng.IntN(9)) / 3
				}
			}
		}
		g := view.OfDAG(d)
		plain := newBuilder(newCosts(g, nil))
		if plain.rooms != nil {
			continue
		}
		want, wantErr := dlsBy(context.Background(), plain, false)
		queued := newBuilder(newCosts(g, nil))
		got, err := dlsBy(context.Background(), queued, true)
		if !errors.Is(err, wantErr) {
			t.Fatalf("round %d: %v, by a look at every task %v", round, err, wantErr)
		}
		if err != nil {
			continue
		}
		planned++
		if !slices.Equal(queued.start, plain.start) || !slices.Equal(got.Machine, want.Machine) {
			t.Fatalf("round %d: another plan", round)
		}
	}
	if planned < 200 {
		t.Errorf("%d plans were compared", planned)
	}
}
