// SPDX-License-Identifier: MIT

package nodes

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
)

// However many classes come, are forgotten and come again, on a state or on a copy of one, each node's class has what is
// free there, and is the one that its key names.
func TestHops(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	n := &view.BatchNodes{Resources: []string{"cpu", "memory"}, Capacity: [][]int64{{1000, 1000}, {500, 2000}}, First: []int32{0, 3, 5}, Group: []int32{0, 0, 0, 1, 1}}
	var needs []*view.NodeNeeds
	for range 40 {
		needs = append(needs, &view.NodeNeeds{Each: []int64{rng.Int64N(60), rng.Int64N(60)}, Alternatives: [][]int{{0, 1}}, Exclusive: rng.IntN(40) == 0})
	}
	type job struct {
		needs *view.NodeNeeds
		list  []int32
	}
	s, free := New(n), [][]int64{{1000, 1000}, {1000, 1000}, {1000, 1000}, {500, 2000}, {500, 2000}}
	var running []job
	forgotten := 0
	for range 20_000 {
		if rng.IntN(1500) == 0 {
			s = s.Clone()
		}
		known := len(s.known)
		if x := needs[rng.IntN(len(needs))]; rng.IntN(2) == 0 && len(running) < 30 {
			p := int32(rng.IntN(5))
			list := slices.Repeat([]int32{p}, 1+rng.IntN(3))
			if s.Refuse(x, list) != "" {
				continue
			}
			s.Take(x, list)
			running = append(running, job{x, list})
			for r, need := range x.Each {
				free[p][r] -= need * int64(len(list))
			}
		} else if len(running) > 0 {
			k := rng.IntN(len(running))
			s.Give(running[k].needs, running[k].list)
			for r, need := range running[k].needs.Each {
				free[running[k].list[0]][r] += need * int64(len(running[k].list))
			}
			running = slices.Delete(running, k, k+1)
		}
		if len(s.known) < known {
			forgotten++
		}
		for p, c := range s.class {
			if x := &s.classes[c]; !slices.Equal(x.free, free[p]) || s.known[x.key] != c || x.count == 0 {
				t.Fatalf("node %d has %v free, its class %d %v, of %d nodes; its key names class %d", p, free[p], c, x.free, x.count, s.known[x.key])
			}
		}
	}
	if forgotten < 10 {
		t.Errorf("classes were forgotten %d times", forgotten)
	}
}
