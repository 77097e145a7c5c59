// SPDX-License-Identifier: MIT

package draw

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/num/heap"
)

// lanes returns a lane for each bar so that no two bars of one lane overlap by more than the tolerance. It also returns
// the number of lanes, which is minimal: in order of start, each bar goes to the first free lane. Bars without length
// overlap those that contain them. O(n log n).
func lanes(bars []ganttBar, tolerance float64) (lane []int, count int) {
	order := make([]int, len(bars))
	for b := range order {
		order[b] = b
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(bars[a].Start, bars[b].Start), cmp.Compare(bars[a].End, bars[b].End), cmp.Compare(a, b))
	})
	lane = make([]int, len(bars))
	busy, free := heap.Heap[laneEntry]{Less: laneEntry.before}, heap.Heap[laneEntry]{Less: laneEntry.before}
	for _, b := range order {
		for busy.Len() > 0 && busy.Items[0].until <= bars[b].Start+tolerance {
			free.Push(laneEntry{lane: busy.Pop().lane})
		}
		if free.Len() > 0 {
			lane[b] = free.Pop().lane
		} else {
			lane[b] = count
			count++
		}
		busy.Push(laneEntry{bars[b].End, lane[b]})
	}
	return lane, count
}

// laneEntry is a lane that is busy until a time, or free (until is 0).
type laneEntry struct {
	until float64
	lane  int
}

func (x laneEntry) before(y laneEntry) bool {
	return x.until < y.until || x.until == y.until && x.lane < y.lane
}
