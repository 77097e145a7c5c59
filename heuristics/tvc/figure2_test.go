// SPDX-License-Identifier: MIT

package tvc

import (
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// The paper's Figure 2 shows AdaBa's weights with Bmax = 800 Mbps and L = 8: the larger the bandwidth, the more free
// slots the first server has. Its text says so, and that one slot comes first at 10 and at 110 Mbps.
func TestFigure2(t *testing.T) {
	d := fattree.New(view.OfTVC((&model.TVC{FatTree: model.FatTree{K: 2, Slots: 8, LinkMbps: 1000}})))
	d.Arrive(800e6)
	key := newAdaBa().(*sequence).key
	for k, want := range []int{1, 1, 2, 3, 4, 5, 6, 7} { // next to 8·B/800
		mbps := 10 + 100*k
		first := 1
		for free := 2; free <= 8; free++ {
			if key(d, free, int64(mbps)*1e6) < key(d, first, int64(mbps)*1e6) {
				first = free
			}
			// Eq. 7: the key orders as the weight does.
			weight := func(a int) float64 { return -0.5*float64(a*a) + 8*float64(mbps)/800*float64(a) }
			if (key(d, free, int64(mbps)*1e6) < key(d, free-1, int64(mbps)*1e6)) != (weight(free) > weight(free-1)) {
				t.Errorf("%d Mbps: the key orders %d and %d free slots in another way than the weights %v and %v", mbps, free, free-1, weight(free), weight(free-1))
			}
		}
		if first != want {
			t.Errorf("%d Mbps: servers with %d free slots come first, want %d", mbps, first, want)
		}
	}
}
