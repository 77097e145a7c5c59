package draw

import (
	"cmp"
	"container/heap"
	"slices"
)

// lanes returns a lane for each bar so that no two bars of one lane overlap by
// more than the tolerance, and the number of lanes, which is minimal: in order
// of start, each bar goes to the first free lane. Bars without length overlap
// those that contain them. O(n log n).
func lanes(bars []Bar, tolerance float64) (lane []int, count int) {
	order := make([]int, len(bars))
	for b := range order {
		order[b] = b
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(bars[a].Start, bars[b].Start), cmp.Compare(bars[a].End, bars[b].End), cmp.Compare(a, b))
	})
	lane = make([]int, len(bars))
	var busy, free laneHeap // keys: until when; nothing
	for _, b := range order {
		for len(busy) > 0 && busy[0].key <= bars[b].Start+tolerance {
			heap.Push(&free, laneEntry{0, heap.Pop(&busy).(laneEntry).lane})
		}
		if len(free) > 0 {
			lane[b] = heap.Pop(&free).(laneEntry).lane
		} else {
			lane[b] = count
			count++
		}
		heap.Push(&busy, laneEntry{bars[b].End, lane[b]})
	}
	return lane, count
}

type laneEntry struct {
	key  float64
	lane int
}

// laneHeap has the least key on top, of equal ones the lowest lane.
type laneHeap []laneEntry

func (h laneHeap) Len() int { return len(h) }
func (h laneHeap) Less(a, b int) bool {
	if h[a].key != h[b].key {
		return h[a].key < h[b].key
	}
	return h[a].lane < h[b].lane
}
func (h laneHeap) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h *laneHeap) Push(x any)   { *h = append(*h, x.(laneEntry)) }
func (h *laneHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
