// SPDX-License-Identifier: MIT

// Package lns is the common part of large neighbourhood searches (Shaw: Using constraint programming and local search
// methods to solve vehicle routing problems, 1998) by the learning kernel. It decides which kind of neighbourhood comes
// next, how large it is, how long it is searched, and when the search ends.
//
// A neighbourhood that was searched to its end makes the next of its kind larger, one that
// wasn't makes it smaller. The kinds that bring more are drawn more often.
package lns

import (
	"context"
	"math/rand/v2"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Search is a large neighbourhood search.
type Search struct {
	Rand    *rand.Rand
	Patient bool  // after Patience neighbourhoods that bring nothing it doubles the limits, instead of ending
	Most    int64 // it ends after about so many conflicts or a hundred times as many events, 0: no limit
	// Limits of a neighbourhood. Events aren't counted within one search for a better solution.
	MostConflicts, MostEvents int64

	Conflicts, Events int64 // so far

	kinds  []kind
	effort int64 // by which the limits are multiplied
}

// kind is the record of a kind of neighbourhoods.
type kind struct {
	size        float64 // how much is free
	gain, tries float64 // successes and tries, older ones count less
}

const (
	firstSize = 10
	leastSize = 4
)

// Patience is how many neighbourhoods in a row may bring nothing.
const Patience = 100

// Outcome is the result of a neighbourhood.
type Outcome struct {
	Trivial bool // it was plain without a search that nothing in it is better
	Better  bool // something better was found
	Closed  bool // there is nothing better than that, or than what was known
	All     bool // it was of all that there is
}

// New returns a search with so many kinds of neighbourhoods.
func New(rng *rand.Rand, kinds int) *Search {
	s := &Search{Rand: rng, MostConflicts: 200, MostEvents: 10_000, kinds: make([]kind, kinds), effort: 1}
	for k := range s.kinds {
		s.kinds[k] = kind{size: firstSize, gain: 1, tries: 1}
	}
	return s
}

// Run searches one neighbourhood after the other, of a kind and a size, at most largest. It ends when Patience ones in
// a row brought nothing, when one of all was searched to its end, with its limit, when done, or with ctx.
func (s *Search) Run(ctx context.Context, largest int, done func() bool, search func(kind, size int) Outcome) {
	for failed := 0; !done() && !meter.Stop(ctx, 50); {
		o := s.next(largest, search)
		switch {
		case o.Closed && o.All:
			return
		case o.Better:
			failed = 0
		case !o.Trivial:
			failed++
		}
		if s.Most > 0 && (s.Conflicts >= s.Most || s.Events >= 100*s.Most) {
			return
		}
		if failed >= Patience {
			if !s.Patient {
				return
			}
			failed = 0
			s.effort *= 2
		}
	}
}

// next takes one neighbourhood.
func (s *Search) next(largest int, search func(kind, size int) Outcome) Outcome {
	n := s.draw()
	k := &s.kinds[n]
	k.size = min(k.size, float64(largest))
	before := s.Events
	o := search(n, int(k.size))
	switch {
	case o.Trivial:
		k.size = k.size*1.03 + 0.1
		return o
	case o.Closed && s.Events-before <= s.MostEvents*s.effort:
		k.size = k.size*1.03 + 0.1
	case o.Closed || !o.Better:
		k.size = max(k.size*0.97-0.1, leastSize)
	}
	k.gain, k.tries = k.gain*0.98, k.tries*0.98+1
	if o.Better {
		k.gain++
	}
	return o
}

// draw draws a kind of neighbourhoods by its successes.
func (s *Search) draw() int {
	weight := func(k *kind) float64 {
		return 0.1 + k.gain/k.tries
	}
	sum := 0.0
	for k := range s.kinds {
		sum += weight(&s.kinds[k])
	}
	u := s.Rand.Float64() * sum
	for k := range s.kinds[1:] {
		if u -= weight(&s.kinds[k]); u < 0 {
			return k
		}
	}
	return len(s.kinds) - 1
}

// Solve looks for solutions of a model within the limits, each with a lower objective than
// the one before and, from the second one on, than below. It begins with the values in
// phases. It returns the last solution, nil if there is none, and whether no better one is left.
func (s *Search) Solve(ctx context.Context, m *cp.Model, phases []int64, below int64) (values []int64, closed bool) {
	k := lcg.New(m)
	for !closed && k.Conflicts < s.MostConflicts*s.effort && k.Events < s.MostEvents*s.effort {
		k.SetPhases(phases)
		answer := k.Search(ctx, s.MostConflicts*s.effort-k.Conflicts)
		if answer == lcg.Unknown {
			break
		}
		if closed = answer != lcg.Satisfied; !closed {
			values = append(values[:0], k.Values()...)
			phases = values
			k.Require(m.Objective.AtMost(min(below, values[m.Objective]) - 1))
		}
	}
	s.Conflicts += k.Conflicts
	s.Events += k.Events
	return values, closed
}
