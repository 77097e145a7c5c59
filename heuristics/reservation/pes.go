package reservation

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/bitset"
	"github.com/gapwise/gapwise/model"
)

// checkPEs returns an ErrInvalid for a list that isn't ascending, disjoint and
// within 0 to pes-1.
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

// addPEs adds the PEs of a list to a set.
func addPEs(s bitset.Set, l model.PEList) {
	for _, r := range l {
		s.Add(r.First, r.Last)
	}
}

// removePEs removes the PEs of a list from a set.
func removePEs(s bitset.Set, l model.PEList) {
	for _, r := range l {
		s.Remove(r.First, r.Last)
	}
}

// lowestPEs lists the n lowest-numbered PEs of a set that has as many.
func lowestPEs(s bitset.Set, n int) model.PEList {
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
