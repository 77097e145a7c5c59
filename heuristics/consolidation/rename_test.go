// SPDX-License-Identifier: MIT

package consolidation

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/testkit"
)

// To rename tasks of a job changes nothing but the moves, and doesn't add any. Afterwards no task could be on its own
// host in place of another of its job.
func TestRename(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	fewer := 0
	for range 20_000 {
		in := testkit.Consolidation(rng, 3+rng.IntN(8), 1+rng.IntN(4))
		p := newPacker(in)
		for _, t := range p.tasks(false) {
			if h := rng.IntN(len(p.C.Hosts) + 1); h < len(p.C.Hosts) && (!p.C.Jobs[t.I].Pinned || p.C.Jobs[t.I].Current[t.K] == int32(h)) {
				p.put(t, h)
			}
		}
		tasks, cost, moves := append([]int(nil), p.Tasks...), p.Cost, p.Moves
		left := append([]int64(nil), p.Left...)
		p.rename()
		for h := range tasks {
			if tasks[h] != p.Tasks[h] || len(p.on[h]) != p.Tasks[h] {
				t.Fatalf("host %d had %d tasks, has %d", h, tasks[h], p.Tasks[h])
			}
		}
		for k := range left {
			if left[k] != p.Left[k] {
				t.Fatalf("something has %d left, had %d", p.Left[k], left[k])
			}
		}
		if p.Cost != cost || p.Moves > moves {
			t.Fatalf("cost %d and moves %d become %d and %d", cost, moves, p.Cost, p.Moves)
		}
		if p.Moves < moves {
			fewer++
		}
		for i := range p.Plan {
			for k, own := range p.C.Jobs[i].Current {
				for other, h := range p.Plan[i] {
					if own >= 0 && p.Plan[i][k] != own && h == own && p.C.Jobs[i].Current[other] != own {
						t.Fatalf("task %d of job %d isn't on its host %d, and task %d is: %v, now %v", k, i, own, other, p.C.Jobs[i].Current, p.Plan[i])
					}
				}
			}
		}
	}
	if fewer < 1000 {
		t.Errorf("only %d plans have fewer moves", fewer)
	}
}
