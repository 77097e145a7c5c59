// SPDX-License-Identifier: MIT

package reservation

import (
	"math"
	"math/bits"
)

// dominates reports whether every completion of b that reaches the target is matched by a completion of a of at least
// its value. It demands that a's lead, value(a) - value(b), is at least the weight of the possible jobs of b that a
// can't start, and that time(a) ≤ time(b). From then on a's running jobs must use no more PEs than are blocked in b.
//
// Take a completion of b that reaches the target. It only starts possible jobs; leave out the ones that a can't start.
// The rest completes a: it starts no earlier than time(b) ≥ time(a). The PEs in use by a are at each moment at most the
// PEs in use by b or of no use to the completion (reduceCapacity). It is worth value(a) + rest ≥ value(b) + all.
// Dominance never lowers the value and each start raises it, so states don't drop each other in a ring.
func (s *sweep) dominates(a, b *state) bool {
	lead := a.value - b.value
	if lead < 0 || a.time > b.time {
		return false
	}
	d := int(b.base - a.base)
	for w := 0; w+d < len(a.possible); w++ {
		for miss := b.possible[w] &^ a.possible[w+d]; miss != 0; miss &= miss - 1 {
			if i := (int(b.base)+w)<<6 + bits.TrailingZeros64(miss); i < len(s.jobs) {
				if lead -= s.jobs[i].weight; lead < 0 {
					return false
				}
			}
		}
	}
	busyA, busyB := 0, 0
	k := 0
	for _, r := range a.running {
		if r.end <= b.time {
			break
		}
		busyA += r.pes
		for k < len(b.blocked) && b.blocked[k].end >= r.end {
			busyB += b.blocked[k].pes
			k++
		}
		if busyA > busyB {
			return false
		}
	}
	return true
}

// expanded is an expanded state, with figures for a fast proof of no dominance over another.
type expanded struct {
	value    float64
	possible uint64 // the first word
	base     int32
	last     tick // end of the last running job
	state    *state
}

// dominated compares a state with those expanded before it, the latest and the
// most successful first.
func (s *sweep) dominated(b *state) bool {
	last := len(s.expanded) - 1
	end := b.time
	if len(b.blocked) > 0 {
		end = b.blocked[0].end
	}
	possible := b.possible[0]
	for k := last; k >= max(0, last-s.comparisons); k-- {
		a := &s.expanded[k]
		if a.value < b.value || a.last > end && a.last > b.time || a.base == b.base && possible&^a.possible != 0 && a.value-b.value < s.lightest {
			continue
		}
		if s.dominates(a.state, b) {
			// It may well dominate others, so it moves halfway to the end of the list.
			h := k + (last-k)/2
			s.expanded[k], s.expanded[h] = s.expanded[h], s.expanded[k]
			return true
		}
	}
	return false
}

// keep stores an expanded state to compare others with.
func (s *sweep) keep(x *state) {
	if len(s.expanded) > 4*s.comparisons+1000 {
		old := len(s.expanded) - s.comparisons - 1
		for _, y := range s.expanded[:old] {
			s.unused = append(s.unused, y.state)
		}
		s.expanded = append(s.expanded[:0], s.expanded[old:]...)
	}
	e := expanded{x.value, x.possible[0], x.base, math.MinInt64, x}
	if len(x.running) > 0 {
		e.last = x.running[0].end
	}
	s.expanded = append(s.expanded, e)
}
