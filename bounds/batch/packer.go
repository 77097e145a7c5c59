// SPDX-License-Identifier: MIT

package batch

import (
	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/num/squashed"
)

// packer finds the largest payment at an instant, by a set of jobs, each a class of its own, that fit the machine
// together. It uses dynamic programming over the processors that they hold (Bellman 1957). A job that may not run pays
// nothing. O(jobs · capacity)
type packer struct {
	unit     int // the greatest common divisor of the widths; sizes are in it
	capacity int
	value    []float64 // the most that so many processors can be paid
	taken    [][]bool  // that each job is in that
}

// mostPacked is the largest capacity for a packer, in widths' common units.
const mostPacked = 1024

func newPacker(capacity int, jobs []squashed.Job) *packer {
	p := &packer{}
	for k := range jobs {
		p.unit = int(units.GCD(int64(p.unit), int64(jobs[k].Slots)))
	}
	p.capacity = capacity / p.unit
	return p
}

// reserve makes room for so many classes.
func (p *packer) reserve(classes int) {
	p.value, p.taken = make([]float64, p.capacity+1), make([][]bool, classes)
	for x := range p.taken {
		p.taken[x] = make([]bool, p.capacity+1)
	}
}

// pack returns the largest payment in cell c, and sets the processors that each class has in it. value[f] is the
// largest payment on f processors.
func (p *packer) pack(classes []class, c int) float64 {
	clear(p.value)
	for x := range classes {
		f := &classes[x]
		f.pack[c] = 0
		if f.price[c] <= 0 {
			continue
		}
		w, taken := f.width/p.unit, p.taken[x]
		paid := f.price[c] * float64(f.width)
		clear(taken)
		for size := p.capacity; size >= w; size-- {
			if v := p.value[size-w] + paid; v > p.value[size] {
				p.value[size], taken[size] = v, true
			}
		}
	}
	size := p.capacity
	for x := len(classes) - 1; x >= 0; x-- {
		if f := &classes[x]; f.price[c] > 0 && p.taken[x][size] {
			f.pack[c] = float64(f.width)
			size -= f.width / p.unit
		}
	}
	return p.value[p.capacity]
}
