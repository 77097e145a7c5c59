// SPDX-License-Identifier: MIT

package verify

import (
	"cmp"
	"slices"
)

// proofRule is a constraint of an instance, or a nogood.
type proofRule interface {
	// violated reports whether no values within the bounds of the state meet the
	// constraint. It may report false if it can't see it. The inference claim is the one with its opposite added to the
	// state, and window is where the proof asks to look, [0, 0) without.
	violated(s *proofState, claim bound, window [2]int64) bool
	// entries returns how many terms, choices, bounds or activities it has.
	entries() int
}

// proofNogood is a set of bounds that can't all hold.
type proofNogood []bound

func (c proofNogood) entries() int { return len(c) }

func (c proofNogood) memory() int64 { return int64(costOfNogood + costOfPremise*len(c)) }

func (c proofNogood) violated(s *proofState, _ bound, _ [2]int64) bool {
	for _, b := range c {
		if !s.holds(b) {
			return false
		}
	}
	return true
}

// proofAny is some constraints under one name.
type proofAny []proofRule

func (c proofAny) entries() (n int) {
	for _, r := range c {
		n += r.entries()
	}
	return n
}

func (c proofAny) violated(s *proofState, claim bound, window [2]int64) bool {
	return slices.ContainsFunc(c, func(r proofRule) bool { return r.violated(s, claim, window) })
}

// proofOne states that exactly one of some bounds holds, none of an optional variable.
type proofOne []bound

func (c proofOne) entries() int { return len(c) }

func (c proofOne) violated(s *proofState, _ bound, _ [2]int64) bool {
	hold, fail := 0, 0
	for _, b := range c {
		if s.holds(b) {
			hold++
		}
		if s.fails(b) {
			fail++
		}
	}
	return hold > 1 || fail == len(c)
}

// proofStart is the start of an activity if it runs, given by on. at is a variable that is optional with on, or there
// for sure if on is always.
type proofStart struct {
	on bound
	at int32
}

// certain reports whether something is so for whichever of some alternatives holds:
// if some are known to, for one of those, else for all that are possible. Exactly one
// holds, so if more are known to, nothing meets the constraint anyway.
func certain(s *proofState, list []proofStart, so func(k int) bool) bool {
	known := false
	for k, x := range list {
		if s.holds(x.on) {
			if known = true; so(k) {
				return true
			}
		}
	}
	if known {
		return false
	}
	for k, x := range list {
		if !s.fails(x.on) && !so(k) {
			return false
		}
	}
	return true
}

// proofDelay states that start to[l] ≥ start from[k] + by(k, l) for the k and l that hold, exactly one each. It is
// violated if for all possible k and l
//
//	least from[k] + by(k, l) > most to[l].
type proofDelay struct {
	from, to []proofStart
	by       func(k, l int) int64
}

func (c *proofDelay) entries() int { return len(c.from) + len(c.to) }

func (c *proofDelay) violated(s *proofState, _ bound, _ [2]int64) bool {
	return certain(s, c.to, func(l int) bool {
		s.spend(len(c.from))
		return certain(s, c.from, func(k int) bool {
			return s.least(c.from[k].at)+c.by(k, l) > s.most(c.to[l].at)
		})
	})
}

// proofMachine states that the running ones of some activities don't overlap. For two that run, before returns which
// goes first, if it is known.
//
// It is violated if a window is overloaded: with e the earliest start and l the latest
// end of an activity, and C those that run with t0 ≤ e and l ≤ T,
//
//	t0 + Σ_C length > T.
//
// Let the claim be about an activity p that runs: its start, whether it runs or its order. Then activities before p
// have l ≤ the latest start of p, and activities after p have e ≥ the earliest end of p. An activity i is before p if
// the order has it so, or
//
//	earliest end of p > latest start of i
//	min(t0, e_p) + Σ_C length + length p > T, for a window [t0, T) with i in C, p not
//
// since p, if it is before one of C, ends before that one and so by T (detectable
// precedences and edge finding, Vilím 2007); mirrored for after.
type proofMachine struct {
	starts  []proofStart
	lengths []int64
	before  func(i, j int) bound
	about   func(v int32) []int // the activities that a claim on a variable may be about
}

// block is an activity in a window.
type block struct {
	early, late, length int64 // earliest start, latest end
	i                   int
}

func (c *proofMachine) entries() int { return len(c.starts) }

func (c *proofMachine) violated(s *proofState, claim bound, _ [2]int64) bool {
	var all []block
	for i, x := range c.starts {
		if s.holds(x.on) {
			all = append(all, block{s.least(x.at), s.most(x.at) + c.lengths[i], c.lengths[i], i})
		}
	}
	slices.SortFunc(all, func(a, b block) int { return cmp.Compare(a.late, b.late) })
	if overloaded(s, all, nil) {
		return true
	}
	if claim.sv < 0 {
		return false
	}
	for _, p := range c.about(claim.sv >> 1) {
		if c.aroundOverloaded(s, all, p) {
			return true
		}
	}
	return false
}

// overloaded reports whether a window is overloaded by blocks, by rising late. If window is not nil, it is called with
// each window, its sum, and the last member.
func overloaded(s *proofState, all []block, window func(from, to, sum int64, last int)) bool {
	for _, x := range all {
		if s.spend(len(all)) {
			return false
		}
		sum := int64(0)
		for k, y := range all {
			if y.early >= x.early {
				if sum += y.length; x.early+sum > y.late {
					return true
				}
				if window != nil {
					window(x.early, y.late, sum, k)
				}
			}
		}
	}
	return false
}

// aroundOverloaded looks at the activities before and after activity p, if it runs.
func (c *proofMachine) aroundOverloaded(s *proofState, all []block, p int) bool {
	at := slices.IndexFunc(all, func(b block) bool { return b.i == p })
	if at < 0 {
		return false
	}
	x := all[at]
	others := slices.Delete(slices.Clone(all), at, at+1)
	first, last := make([]bool, len(others)), make([]bool, len(others)) // before p, after p
	for k, y := range others {
		first[k] = s.holds(c.before(y.i, p)) || x.early+x.length > y.late-y.length
		last[k] = s.holds(c.before(p, y.i)) || y.early+y.length > x.late-x.length
	}
	overloaded(s, others, func(from, to, sum int64, end int) {
		before := min(from, x.early)+sum+x.length > to // p isn't within [.., to)
		after := from+sum+x.length > max(to, x.late)
		if before || after {
			s.spend(end)
			for k := range end + 1 {
				if others[k].early >= from {
					first[k], last[k] = first[k] || before, last[k] || after
				}
			}
		}
	})
	for k := range others {
		y := &others[k]
		if first[k] && last[k] {
			return true
		}
		if first[k] {
			y.late = min(y.late, x.late-x.length)
		}
		if last[k] {
			y.early = max(y.early, x.early+x.length)
		}
	}
	slices.SortFunc(others, func(a, b block) int { return cmp.Compare(a.late, b.late) })
	return overloaded(s, others, nil)
}
