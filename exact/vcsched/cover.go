// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"math"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// coverNodes limits the branch and bound for one integer cover.
const coverNodes = 200

// patterns narrows the gap from both sides by column generation. It raises the lower bound to the least load at which a
// fractional cover by host patterns exists. Then it looks for integer covers by the patterns generated, at loads above
// it (price and branch, or restricted master heuristic).
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

// cover looks for a placement of at most the given load made of patterns of the pool. It minimises Σ x_q, with x_q
// hosts of pattern q, subject to Σ_q count_qk x_q ≥ count_k for each type k of tasks and Σ x_q ≤ hosts.
func (s *run) cover(p *vcbounds.Patterns, load int64) error {
	if s.off&devCover != 0 || !highs.Available() {
		return nil
	}
	if _, err := p.Refute(s.Ctx, load); err != nil { // for its patterns
		return err
	}
	pool := p.Pool(load)
	m := &milp.Model{Rows: make([]milp.Row, len(s.tasks.CPU))}
	for k := range m.Rows {
		m.Rows[k] = milp.Row{Lower: float64(s.tasks.Count[k]), Upper: milp.Inf}
	}
	hosts := float64(s.u.Hosts)
	all := milp.Row{Lower: math.Inf(-1), Upper: hosts}
	for _, q := range pool {
		v := m.AddVar(milp.Var{Upper: hosts, Integer: true, Cost: 1})
		all.Terms = append(all.Terms, milp.Term{Var: v, Coef: 1})
		for _, it := range q.Items {
			m.Rows[it.Type].Terms = append(m.Rows[it.Type].Terms, milp.Term{Var: v, Coef: float64(it.Count)})
		}
	}
	m.Rows = append(m.Rows, all)
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	r, err := highs.Solve(ctx, m, milp.Options{Gap: 0.5, NodeLimit: coverNodes})
	if err != nil {
		return err
	}
	s.Nodes += r.Nodes
	if !r.Feasible {
		return nil
	}
	place := make([]int32, len(s.u.CPU))
	left := make([][]int32, len(s.tasks.Tasks))
	copy(left, s.tasks.Tasks)
	h := int32(0)
	for v, q := range pool {
		for range int(math.Round(r.X[v])) {
			if h == int32(s.u.Hosts) {
				return nil
			}
			for _, it := range q.Items {
				// A cover may have more tasks of a type than there are.
				n := min(int(it.Count), len(left[it.Type]))
				for _, i := range left[it.Type][:n] {
					place[i] = h
				}
				left[it.Type] = left[it.Type][n:]
			}
			h++
		}
	}
	for k := range left {
		if len(left[k]) > 0 {
			return nil
		}
	}
	s.found(max(s.u.MaxLoad(place), s.u.Scale), place)
	return nil
}
