// SPDX-License-Identifier: MIT

package lcg

import "math/rand/v2"

// decisions is a heap of the variables that may be decided, the most active first,
// ties by number.
type decisions struct {
	heap     []int32
	place    []int32 // of each variable in the heap, or -1
	is       []bool  // it may be decided
	activity []float64
	phase    []int64 // the value tried first
}

// newDecisions returns an empty heap. A seed other than 0 breaks ties at the beginning.
func newDecisions(n int, seed uint64) decisions {
	d := decisions{place: make([]int32, n), is: make([]bool, n), activity: make([]float64, n), phase: make([]int64, n)}
	r := rand.New(rand.NewPCG(seed, 0))
	for v := range d.place {
		d.place[v] = -1
		if seed != 0 {
			d.activity[v] = r.Float64() / 1000
		}
	}
	return d
}

// add lets variable v be decided.
func (d *decisions) add(v int32) {
	d.is[v] = true
	d.insert(v)
}

// undo takes a variable back into the heap after an event of its signed variable was undone.
func (d *decisions) undo(sv int32) {
	if d.is[sv>>1] {
		d.insert(sv >> 1)
	}
}

func (d *decisions) insert(v int32) {
	if d.place[v] < 0 {
		d.heap = append(d.heap, v)
		d.up(len(d.heap) - 1)
	}
}

// bump makes a variable more active.
func (d *decisions) bump(v int32, by float64) {
	if d.is[v] {
		d.activity[v] += by
		if p := d.place[v]; p >= 0 {
			d.up(int(p))
		}
	}
}

// rescale multiplies all activities.
func (d *decisions) rescale(by float64) {
	for v := range d.activity {
		d.activity[v] *= by
	}
}

// pop removes and returns the most active variable, or -1.
func (d *decisions) pop() int32 {
	if len(d.heap) == 0 {
		return -1
	}
	v, last := d.heap[0], d.heap[len(d.heap)-1]
	d.place[v] = -1
	d.heap = d.heap[:len(d.heap)-1]
	if len(d.heap) > 0 {
		d.heap[0], d.place[last] = last, 0
		d.down(0)
	}
	return v
}

func (d *decisions) before(a, b int32) bool {
	return d.activity[a] > d.activity[b] || d.activity[a] == d.activity[b] && a < b
}

func (d *decisions) up(i int) {
	v := d.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !d.before(v, d.heap[parent]) {
			break
		}
		d.heap[i] = d.heap[parent]
		d.place[d.heap[i]] = int32(i)
		i = parent
	}
	d.heap[i], d.place[v] = v, int32(i)
}

func (d *decisions) down(i int) {
	v, n := d.heap[i], len(d.heap)
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && d.before(d.heap[child+1], d.heap[child]) {
			child++
		}
		if !d.before(d.heap[child], v) {
			break
		}
		d.heap[i] = d.heap[child]
		d.place[d.heap[i]] = int32(i)
		i = child
	}
	d.heap[i], d.place[v] = v, int32(i)
}
