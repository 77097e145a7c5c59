// SPDX-License-Identifier: MIT

package heap_test

import (
	stdheap "container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/num/heap"
)

// item has a key and a number that distinguishes equal keys.
type item struct{ key, id int }

func less(a, b item) bool { return a.key < b.key }

// boxed is the same for container/heap.
type boxed []item

func (h boxed) Len() int           { return len(h) }
func (h boxed) Less(a, b int) bool { return h[a].key < h[b].key }
func (h boxed) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *boxed) Push(x any)        { *h = append(*h, x.(item)) }
func (h *boxed) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// Items come out as from container/heap, with equal keys in the same order, too.
func TestAsContainerHeap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		h, want := heap.Heap[item]{Less: less}, &boxed{}
		for k := range 200 {
			switch n := rng.IntN(20); {
			case n == 0:
				rng.Shuffle(h.Len(), func(a, b int) { h.Items[a], h.Items[b] = h.Items[b], h.Items[a] })
				*want = slices.Clone(h.Items)
				h.Init()
				stdheap.Init(want)
			case n < 12 || h.Len() == 0:
				x := item{rng.IntN(30), k}
				h.Push(x)
				stdheap.Push(want, x)
			default:
				if a, b := h.Pop(), stdheap.Pop(want).(item); a != b {
					t.Fatalf("seed %d: %v, container/heap has %v", seed, a, b)
				}
			}
		}
	}
}

func BenchmarkHeap(b *testing.B) {
	const n = 1000
	rng := rand.New(rand.NewPCG(1, 1))
	items := make([]item, n)
	for k := range items {
		items[k] = item{rng.IntN(n), k}
	}
	b.Run("this", func(b *testing.B) {
		h := heap.Heap[item]{Less: less}
		for b.Loop() {
			for _, x := range items {
				h.Push(x)
			}
			for h.Len() > 0 {
				h.Pop()
			}
		}
	})
	b.Run("container/heap", func(b *testing.B) {
		h := &boxed{}
		for b.Loop() {
			for _, x := range items {
				stdheap.Push(h, x)
			}
			for h.Len() > 0 {
				stdheap.Pop(h)
			}
		}
	})
}

func ExampleHeap() {
	h := heap.Heap[string]{Less: func(a, b string) bool { return len(a) < len(b) }}
	for _, word := range []string{"three", "two", "seventeen"} {
		h.Push(word)
	}
	for h.Len() > 0 {
		fmt.Println(h.Pop())
	}
	// Output:
	// two
	// three
	// seventeen
}
