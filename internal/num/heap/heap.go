// SPDX-License-Identifier: MIT

// Package heap is a binary heap of values of any type. Unlike container/heap it doesn't box its items.
package heap

// Heap is a binary heap: Items[0] is the least of the items. Its zero value with a Less is an empty heap. Any of
// several equal items may come first, but the order depends on the sequence of calls alone.
type Heap[T any] struct {
	Items []T
	Less  func(a, b T) bool
}

// Len returns the number of items.
func (h *Heap[T]) Len() int { return len(h.Items) }

// Init puts Items in heap order, after they or Less have been changed. O(n).
func (h *Heap[T]) Init() {
	for k := len(h.Items)/2 - 1; k >= 0; k-- {
		h.down(k, h.Items[k])
	}
}

// Push adds an item. O(log n).
func (h *Heap[T]) Push(x T) {
	h.Items = append(h.Items, x)
	k := len(h.Items) - 1
	for k > 0 {
		parent := (k - 1) / 2
		if !h.Less(x, h.Items[parent]) {
			break
		}
		h.Items[k] = h.Items[parent]
		k = parent
	}
	h.Items[k] = x
}

// Pop removes and returns the least item; there must be one. O(log n).
func (h *Heap[T]) Pop() T {
	least, last := h.Items[0], len(h.Items)-1
	x := h.Items[last]
	var zero T
	h.Items[last] = zero // otherwise the object it points to would be kept
	h.Items = h.Items[:last]
	if last > 0 {
		h.down(0, x)
	}
	return least
}

// down puts x into the free place k or below.
func (h *Heap[T]) down(k int, x T) {
	n := len(h.Items)
	for {
		child := 2*k + 1
		if child >= n {
			break
		}
		if child+1 < n && h.Less(h.Items[child+1], h.Items[child]) {
			child++
		}
		if !h.Less(h.Items[child], x) {
			break
		}
		h.Items[k] = h.Items[child]
		k = child
	}
	h.Items[k] = x
}
