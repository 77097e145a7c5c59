// SPDX-License-Identifier: MIT

package verify

import "context"

// bound states that a signed variable is at least at. Signed variable 2v is the variable v and 2v+1 its negative, so
// that v ≤ b is {2v+1, -b}. The values always and never are no variables. Nor is unknown: neither it nor its opposite
// holds.
type bound struct {
	sv int32
	at int64
}

var (
	always  = bound{sv: -1}
	never   = bound{sv: -2}
	unknown = bound{sv: -3}
)

func atLeast(v int32, b int64) bound { return bound{2 * v, b} }
func atMost(v int32, b int64) bound  { return bound{2*v + 1, -b} }

// not returns the opposite bound.
func (b bound) not() bound {
	switch b {
	case always:
		return never
	case never:
		return always
	case unknown:
		return unknown
	}
	return bound{b.sv ^ 1, 1 - b.at}
}

// proofState holds the knowledge of the variables: the bounds at the root, the assumed ones, and the derived ones. A
// variable may be optional: it exists if a Boolean is 1, and its bounds hold if it exists. So bounds that cross mean
// that it doesn't exist.
type proofState struct {
	low     []int64 // of each signed variable
	present []bound // of each variable: that it is there
	trail   []change
	broken  bool // the bounds of a variable that is there cross: a contradiction

	tooLarge bool // a variable was added with a bound of maxProofNumber or more from 0
	ctx      context.Context
	work     int // since ctx was looked at
	stopped  bool
}

type change struct {
	sv  int32
	low int64
}

// add adds a variable from low to high, optional if present isn't always.
func (s *proofState) add(low, high int64, present bound) int32 {
	v := int32(len(s.present))
	s.tooLarge = s.tooLarge || low <= -maxProofNumber || low >= maxProofNumber || high <= -maxProofNumber || high >= maxProofNumber
	s.low, s.present = append(s.low, low, -high), append(s.present, present)
	if low > high {
		s.set(present.not())
	}
	return v
}

// spend notes work of some tens of nanoseconds each. It looks at the context now and then, and reports whether it is
// done: then the results don't count.
func (s *proofState) spend(work int) bool {
	if s.work += work + 1; s.work >= 1<<16 && s.ctx != nil {
		s.work, s.stopped = 0, s.ctx.Err() != nil
	}
	return s.stopped
}

func (s *proofState) least(v int32) int64 { return s.low[2*v] }
func (s *proofState) most(v int32) int64  { return -s.low[2*v+1] }

// holds reports whether a bound holds for sure, be it because the variable isn't
// there.
func (s *proofState) holds(b bound) bool {
	if b.sv < 0 {
		return b == always
	}
	return s.low[b.sv] >= b.at || s.fails(s.present[b.sv>>1])
}

// fails reports whether a bound can't hold, of a variable that is there for sure.
func (s *proofState) fails(b bound) bool {
	if b.sv < 0 {
		return b == never
	}
	return s.low[b.sv^1] >= 1-b.at
}

// set has a bound hold.
func (s *proofState) set(b bound) {
	if b.sv < 0 {
		s.broken = s.broken || b == never
		return
	}
	if s.low[b.sv] >= b.at {
		return
	}
	s.trail = append(s.trail, change{b.sv, s.low[b.sv]})
	s.low[b.sv] = b.at
	if s.low[b.sv]+s.low[b.sv^1] > 0 {
		s.set(s.present[b.sv>>1].not())
	}
}

// oppose has a bound not hold: its variable is there, and the opposite bound holds.
func (s *proofState) oppose(b bound) {
	if b.sv >= 0 {
		s.set(s.present[b.sv>>1])
	}
	s.set(b.not())
}

// undo takes back the bounds set since the trail had a length; nothing was broken then.
func (s *proofState) undo(mark int) {
	for i := len(s.trail) - 1; i >= mark; i-- {
		s.low[s.trail[i].sv] = s.trail[i].low
	}
	s.trail, s.broken = s.trail[:mark], false
}
