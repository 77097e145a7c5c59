// SPDX-License-Identifier: MIT

package vcsched

import vcbounds "github.com/gapwise/gapwise/bounds/vcsched"

// coverNodes limits the branch and bound for one integer cover.
const coverNodes = 200

// patterns narrows the gap from both sides by column generation. It raises the lower bound to the least load at which a
// fractional cover by host patterns exists. Then it looks for integer covers by the patterns generated, at loads above
// it (vcbounds.Covers).
//
// If hosts differ, vcbounds.Moves does so, with coverNodes multiplied by times for covers.
func (s *run) patterns(times int) error {
	if len(s.u.Classes) > 1 {
		return s.patternsOfClasses(times)
	}
	p := vcbounds.NewPatterns(s.tasks)
	if s.hosts == nil {
		no, err := p.Refute(s.Ctx, s.unboundedLoad())
		if err != nil {
			return err
		}
		if no {
			s.Infeasible("no cover by host patterns fits in the hosts' memory")
			return nil
		}
		if err := s.cover(p, s.unboundedLoad()); err != nil || s.hosts == nil {
			return err
		}
	}
	p.Add(s.hosts)
	for _, width := range []float64{1e-2, 1e-3, 1e-4, 0} {
		if s.closed() || s.stopped() {
			return nil
		}
		lower, err := p.Raise(s.Ctx, s.lower, s.upper, width)
		if err != nil {
			return err
		}
		s.raise(lower)
		if s.closed() || s.stopped() {
			return nil
		}
		// Integer covers, from loads just above the bound on.
		for share := int64(16); share > 1 && !s.closed() && !s.stopped(); share /= 2 {
			before := s.upper
			if err := s.cover(p, s.lower+(s.upper-s.lower)/share); err != nil {
				return err
			}
			if s.upper < before {
				break
			}
		}
	}
	return nil
}

// patternsOfClasses is patterns for hosts that differ.
func (s *run) patternsOfClasses(times int) error {
	if s.moves == nil {
		s.moves = vcbounds.NewMoves(s.u)
	}
	if s.hosts == nil && times == 1 {
		no, err := s.moves.Refute(s.Ctx, s.unboundedLoad())
		if err != nil {
			return err
		}
		if no {
			s.Infeasible(vcbounds.NoPatterns)
			return nil
		}
	}
	return s.priced(times)
}

// cover looks for a placement of at most the given load made of patterns.
func (s *run) cover(p *vcbounds.Patterns, load int64) error {
	if s.off&devCover != 0 {
		return nil
	}
	if no, err := p.Refute(s.Ctx, load); no || err != nil { // for its patterns
		return err
	}
	if hosts := p.Dive(s.Ctx, load); hosts != nil {
		s.found(max(s.u.MaxLoad(hosts), s.u.Scale), hosts)
	}
	return nil
}
