// SPDX-License-Identifier: MIT

package vcsched

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
)

// The straight path for reference hosts and memory alone tries hosts in the same order as
// the one for any resources, and the heap has the first of them.
func TestNextByLoad(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	full := 0
	for k := range 50 {
		in := require.Value(instances.VCSchedSpec{Hosts: 5 + k%3*7, Jobs: 20, Slack: 0.1, CoVCPU: 0.5, CoVMemory: 0.75, Index: k}.Generate())(t)
		s := newStock(view.OfVCSched(in))
		byLoad := newLoadHeap(s)
		if !s.plain {
			t.Fatal("the straight path isn't taken")
		}
		for i := range int32(20) {
			var order []int32
			if first, want := byLoad.first(i), s.nextByLoad(i, -1); first != want {
				t.Fatalf("draw %d, task %d: host %d, by a look at all hosts %d", k, i, first, want)
			}
			for from := int32(-1); ; from = order[len(order)-1] {
				next := s.nextByLoad(i, from)
				s.plain = false
				if any := s.nextByLoad(i, from); any != next {
					t.Fatalf("draw %d, task %d after host %d: host %d, by any resources %d", k, i, from, next, any)
				}
				s.plain = true
				if next < 0 {
					break
				}
				order = append(order, next)
			}
			if len(order) < s.u.Hosts {
				full++
			}
			if len(order) > 0 && i%4 != 0 { // hosts of equal loads stay
				h := order[rng.IntN(len(order))]
				s.put(i, int(h), 1)
				byLoad.fix(h)
				if i%3 == 0 && rng.IntN(2) == 0 { // and taken back
					s.put(i, int(h), -1)
					byLoad.fix(h)
				}
			}
		}
	}
	if full == 0 {
		t.Error("every host had memory for every task")
	}
}
