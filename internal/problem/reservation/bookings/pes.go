// SPDX-License-Identifier: MIT

package bookings

import (
	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/model"
)

// AddPEs adds the PEs of a list to a set.
func AddPEs(s bitset.Set, l model.PEList) {
	for _, r := range l {
		s.Add(r.First, r.Last)
	}
}

// RemovePEs removes the PEs of a list from a set.
func RemovePEs(s bitset.Set, l model.PEList) {
	for _, r := range l {
		s.Remove(r.First, r.Last)
	}
}

// LowestPEs lists the n lowest-numbered PEs of a set that has as many.
func LowestPEs(s bitset.Set, n int) model.PEList {
	var l model.PEList
	if n <= 0 {
		return l
	}
	for first, last := range s.Runs() {
		last = min(last, first+n-1)
		l = append(l, model.PERange{First: first, Last: last})
		if n -= last - first + 1; n == 0 {
			break
		}
	}
	return l
}
