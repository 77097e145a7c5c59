// SPDX-License-Identifier: MIT

package bookings

import (
	"slices"

	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// Interval is some PEs over [Start, End), in ticks.
type Interval struct {
	Start, End int64
	PEs        int
}

// Number returns PEs for each interval, of the PEs 0 to pes-1, such that no PE is in two intervals that overlap. That
// is possible if and only if at each moment the intervals need at most pes: overlaps form an interval graph, and
// interval graphs are perfect (as many colours as the largest clique suffice). So an algorithm that may name the PEs
// last can work on counts. short is the first interval that finds too few free PEs, -1 if there is none: it shares the
// lowest PEs of others.
//
// Intervals take the lowest free PEs in the order of their starts; intervals without length overlap nothing and take
// the lowest of all. O(n log n + n pes / 64).
func Number(pes int, all []Interval) (lists []model.PEList, short int) {
	lists, short = make([]model.PEList, len(all)), -1
	var byStart []int
	begins, ends := make([]int64, len(all)), make([]int64, len(all))
	for i, x := range all {
		begins[i], ends[i] = x.Start, x.End
		if x.End <= x.Start {
			lists[i] = model.PEList{{First: 0, Last: x.PEs - 1}}
		} else {
			byStart = append(byStart, i)
		}
	}
	byEnd := order.By(slices.Clone(byStart), ends)
	byStart = order.By(byStart, begins)
	free := bitset.New(pes)
	free.Fill(pes)
	count := pes
	held := slices.Clone(lists) // without what is shared
	ended := 0
	for _, i := range byStart {
		x := all[i]
		for ; ended < len(byEnd) && all[byEnd[ended]].End <= x.Start; ended++ {
			AddPEs(free, held[byEnd[ended]])
			count += held[byEnd[ended]].Len()
		}
		held[i] = LowestPEs(free, min(x.PEs, count))
		RemovePEs(free, held[i])
		if lists[i] = held[i]; x.PEs > count {
			own, others := bitset.New(pes), bitset.New(pes)
			AddPEs(own, held[i])
			others.Fill(pes)
			RemovePEs(others, held[i])
			AddPEs(own, LowestPEs(others, x.PEs-count))
			lists[i] = LowestPEs(own, x.PEs)
			if short < 0 {
				short = i
			}
		}
		count -= held[i].Len()
	}
	return lists, short
}
