// SPDX-License-Identifier: MIT

package scene

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// Tasks that run at once on a machine lie in lanes of its row, no two in one, and no lane is empty.
func TestLanesOfMachines(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 1))
	most := 0
	for range require.Rounds(500) {
		d := testkit.Roomy(rng, testkit.RandomDAG(rng, 1+rng.IntN(12), 1+rng.IntN(3)))
		g := view.OfDAG(d)
		p := testkit.RandomPlan(rng, g, false)
		r := dagplay.NewReplay(g)
		r.Run(p, nil)
		if slices.ContainsFunc(r.Start, func(at float64) bool { return at > MaxTime }) {
			continue // a task of the plan can't run there
		}
		x := require.Value(Of(d, d.Schedule(p.Machine, r.Start, r.Sent), Options{}))(t)
		for m := range d.Machines {
			used := make([]bool, x.Rows[m].Lanes)
			for i, a := range x.Boxes {
				if a.Row != m {
					continue
				}
				used[a.Lane] = true
				for _, b := range x.Boxes[:i] {
					if b.Row == m && b.Lane == a.Lane && min(a.High, b.High)-max(a.Low, b.Low) > 1e-9*x.High {
						t.Fatalf("%s: tasks %s and %s lie in one lane of machine %d at once", d.Name, a.Item, b.Item, m)
					}
				}
			}
			if slices.Contains(used[1:], false) {
				t.Fatalf("%s: machine %d has an empty lane", d.Name, m)
			}
			most = max(most, len(used))
		}
	}
	if most < 4 {
		t.Errorf("%d tasks at most run at once: the draws say little", most)
	}
}
