// SPDX-License-Identifier: MIT

package scene

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/num/heap"
)

// Lanes returns a lane for each box so that no two boxes of one lane overlap by more than the tolerance. It also
// returns the number of lanes, which is minimal: in order of start, each box goes to the first free lane. Boxes
// without length overlap those that contain them. O(n log n).
func Lanes(boxes []Box, tolerance float64) (lane []int, count int) {
	order := make([]int, len(boxes))
	for b := range order {
		order[b] = b
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(boxes[a].Low, boxes[b].Low), cmp.Compare(boxes[a].High, boxes[b].High), cmp.Compare(a, b))
	})
	lane = make([]int, len(boxes))
	busy, free := heap.Heap[laneEntry]{Less: laneEntry.before}, heap.Heap[laneEntry]{Less: laneEntry.before}
	for _, b := range order {
		for busy.Len() > 0 && busy.Items[0].until <= boxes[b].Low+tolerance {
			free.Push(laneEntry{lane: busy.Pop().lane})
		}
		if free.Len() > 0 {
			lane[b] = free.Pop().lane
		} else {
			lane[b] = count
			count++
		}
		busy.Push(laneEntry{boxes[b].High, lane[b]})
	}
	return lane, count
}

// stack adds boxes to a row, in as few lanes as hold them side by side.
func (x *Scene) stack(row int, boxes []Box) {
	lane, count := Lanes(boxes, 1e-9)
	for i, b := range boxes {
		b.Row, b.Lane, b.Lanes = row, lane[i], 1
		x.Boxes = append(x.Boxes, b)
	}
	x.Rows[row].Lanes = max(1, count)
}

// laneEntry is a lane that is busy until a time, or free (until is 0).
type laneEntry struct {
	until float64
	lane  int
}

func (x laneEntry) before(y laneEntry) bool {
	return x.until < y.until || x.until == y.until && x.lane < y.lane
}
