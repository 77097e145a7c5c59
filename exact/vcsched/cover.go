// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
)

// generation is column generation over host patterns: vcbounds.Patterns or vcbounds.Moves.
type generation interface {
	Add(hosts []int32)
	Refute(ctx context.Context, load int64) bool
	Raise(ctx context.Context, lower, upper int64, width float64) int64
	Dive(ctx context.Context, load int64) []int32
}

// patterns narrows the gap from both sides by column generation; again, only from above. If hosts differ,
// vcbounds.Moves does so.
func (s *run) patterns(again bool) {
	var p generation = s.moves
	switch {
	case len(s.u.Classes) == 1:
		p = vcbounds.NewPatterns(s.tasks)
	case s.moves == nil:
		s.moves = vcbounds.NewMoves(s.u)
		p = s.moves
	}
	if s.hosts == nil && !again {
		if p.Refute(s.Ctx, s.unboundedLoad()) {
			s.Infeasible(vcbounds.NoPatterns)
			return
		}
		s.cover(p, s.unboundedLoad())
	}
	s.narrow(p, again)
}

// narrow raises the lower bound to the least load at which a fractional cover by host patterns exists. Then it looks for
// integer covers by the patterns generated, at loads above it. Again, it only looks for covers, once.
func (s *run) narrow(p generation, again bool) {
	if s.hosts != nil {
		p.Add(s.hosts)
	}
	for _, width := range []float64{1e-2, 1e-3, 1e-4, 0} {
		if s.closed() || s.stopped() || again && width > 0 {
			continue
		}
		if !again {
			s.raise(p.Raise(s.Ctx, s.lower, min(s.upper, s.unboundedLoad()), width))
		}
		// Integer covers, from loads just above the bound on.
		for share := int64(16); share > 1 && !s.closed() && !s.stopped(); share /= 2 {
			before := s.upper
			s.cover(p, s.lower+(min(s.upper, 2*s.lower)-s.lower)/share)
			if s.upper < before {
				share = 32
			}
		}
	}
}

// cover looks for a placement of at most the given load made of patterns.
func (s *run) cover(p generation, load int64) {
	if s.off&devCover != 0 {
		return
	}
	if p.Refute(s.Ctx, load) { // for its patterns, too
		if s.hosts != nil {
			s.raise(load - load%s.tasks.Unit + s.tasks.Unit)
		}
		return
	}
	if hosts := p.Dive(s.Ctx, load); hosts != nil {
		s.found(max(s.u.MaxLoad(hosts), s.u.Scale), hosts)
	}
}
