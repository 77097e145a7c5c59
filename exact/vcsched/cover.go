// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
)

// generation is column generation over host patterns: vcbounds.Patterns or vcbounds.Moves.
type generation interface {
	Add(hosts []int32)
	Refute(ctx context.Context, load int64) (bool, error)
	Raise(ctx context.Context, lower, upper int64, width float64) (int64, error)
	Dive(ctx context.Context, load int64) []int32
}

// patterns narrows the gap from both sides by column generation; again, only from above. If hosts differ,
// vcbounds.Moves does so.
func (s *run) patterns(again bool) error {
	var p generation = s.moves
	switch {
	case len(s.u.Classes) == 1:
		p = vcbounds.NewPatterns(s.tasks)
	case s.moves == nil:
		s.moves = vcbounds.NewMoves(s.u)
		p = s.moves
	}
	if s.hosts == nil && !again {
		no, err := p.Refute(s.Ctx, s.unboundedLoad())
		if err != nil {
			return err
		}
		if no {
			s.Infeasible(vcbounds.NoPatterns)
			return nil
		}
		if err := s.cover(p, s.unboundedLoad()); err != nil {
			return err
		}
	}
	return s.narrow(p, again)
}

// narrow raises the lower bound to the least load at which a fractional cover by host patterns exists. Then it looks for
// integer covers by the patterns generated, at loads above it. Again, it does so only.
func (s *run) narrow(p generation, again bool) error {
	if s.hosts != nil {
		p.Add(s.hosts)
	}
	for _, width := range []float64{1e-2, 1e-3, 1e-4, 0} {
		if s.closed() || s.stopped() || again && width > 0 {
			continue
		}
		if !again {
			lower, err := p.Raise(s.Ctx, s.lower, min(s.upper, s.unboundedLoad()), width)
			if err != nil {
				return err
			}
			s.raise(lower)
		}
		// Integer covers, from loads just above the bound on.
		for share := int64(16); share > 1 && !s.closed() && !s.stopped(); share /= 2 {
			before := s.upper
			if err := s.cover(p, s.lower+(min(s.upper, 2*s.lower)-s.lower)/share); err != nil {
				return err
			}
			if s.upper < before {
				share = 32
			}
		}
	}
	return nil
}

// cover looks for a placement of at most the given load made of patterns.
func (s *run) cover(p generation, load int64) error {
	if s.off&devCover != 0 {
		return nil
	}
	no, err := p.Refute(s.Ctx, load) // for its patterns, too
	if err != nil {
		return err
	}
	if no {
		if s.hosts != nil {
			s.raise(load - load%s.tasks.Unit + s.tasks.Unit)
		}
		return nil
	}
	if hosts := p.Dive(s.Ctx, load); hosts != nil {
		s.found(max(s.u.MaxLoad(hosts), s.u.Scale), hosts)
	}
	return nil
}
