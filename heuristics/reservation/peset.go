package reservation

import (
	"fmt"
	"math/bits"

	"github.com/gapwise/gapwise/model"
)

// PESet is a set of PEs as bits: PE p is bit p%64 of word p/64.
type PESet []uint64

// NewPESet is an empty set of PEs 0 to pes-1.
func NewPESet(pes int) PESet { return make(PESet, (pes+63)/64) }

// Fill makes it all PEs 0 to pes-1.
func (s PESet) Fill(pes int) {
	for w := range s {
		s[w] = ^uint64(0)
	}
	if r := pes % 64; r != 0 {
		s[len(s)-1] = 1<<r - 1
	}
}

// Len is the number of PEs.
func (s PESet) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Has reports whether PE p is in the set.
func (s PESet) Has(p int) bool { return s[p/64]>>(p%64)&1 != 0 }

// checkPEs refuses a list that isn't ascending, disjoint and within 0 to pes-1.
func checkPEs(l model.PEList, pes int) error {
	next := 0
	for _, r := range l {
		if r.First < next || r.Last < r.First || r.Last >= pes {
			return fmt.Errorf("reservation: %w PE list %q: must be ascending ranges from 0 to %d", model.ErrInvalid, l, pes-1)
		}
		next = r.Last + 1
	}
	return nil
}

// span calls f with each word that the range touches and the range's bits in it.
func span(r model.PERange, f func(word int, mask uint64)) {
	first, last := r.First/64, r.Last/64
	for w := first; w <= last; w++ {
		mask := ^uint64(0)
		if w == first {
			mask <<= r.First % 64
		}
		if w == last {
			mask &= ^uint64(0) >> (63 - r.Last%64)
		}
		f(w, mask)
	}
}

// AddList adds the PEs of a list.
func (s PESet) AddList(l model.PEList) {
	for _, r := range l {
		span(r, func(w int, mask uint64) { s[w] |= mask })
	}
}

// RemoveList removes the PEs of a list.
func (s PESet) RemoveList(l model.PEList) {
	for _, r := range l {
		span(r, func(w int, mask uint64) { s[w] &^= mask })
	}
}

// Lowest lists the n lowest-numbered PEs of a set that has as many.
func (s PESet) Lowest(n int) model.PEList {
	var l model.PEList
	for w := 0; n > 0; w++ {
		for x := s[w]; x != 0 && n > 0; {
			first := bits.TrailingZeros64(x)
			run := min(bits.TrailingZeros64(^(x >> first)), n)
			if k := len(l); k > 0 && l[k-1].Last == w*64+first-1 {
				l[k-1].Last += run
			} else {
				l = append(l, model.PERange{First: w*64 + first, Last: w*64 + first + run - 1})
			}
			n -= run
			if first+run == 64 {
				break
			}
			x &^= (1<<run - 1) << first
		}
	}
	return l
}

// List lists the PEs of the set.
func (s PESet) List() model.PEList { return s.Lowest(s.Len()) }
