// SPDX-License-Identifier: MIT

package lns

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/run/meter"
)

func newSearch() *Search { return New(rand.New(rand.NewPCG(1, 2)), 3) }

func never() bool { return false }

// A search ends when Patience neighbourhoods in a row bring nothing, when one of all is closed, when it is done, and
// with its effort. Trivial neighbourhoods don't count.
func TestEnds(t *testing.T) {
	t.Parallel()
	calls := 0
	count := func(o func() Outcome) func(kind, size int) Outcome {
		return func(kind, size int) Outcome {
			if calls++; kind < 0 || kind > 2 || size < 1 || size > 20 {
				t.Fatalf("kind %d of size %d", kind, size)
			}
			return o()
		}
	}
	newSearch().Run(t.Context(), 20, never, count(func() Outcome {
		return Outcome{Trivial: calls%2 == 0, Better: calls == 51}
	}))
	if calls != 51+2*Patience {
		t.Errorf("%d neighbourhoods, the last success was the 51st", calls)
	}
	calls = 0
	newSearch().Run(t.Context(), 20, never, count(func() Outcome {
		return Outcome{Better: true, Closed: true, All: calls == 7}
	}))
	if calls != 7 {
		t.Errorf("%d neighbourhoods, the 7th was of all", calls)
	}
	calls = 0
	five := func() bool { return calls == 5 }
	newSearch().Run(t.Context(), 20, five, count(func() Outcome { return Outcome{Better: true} }))
	if calls != 5 {
		t.Errorf("%d neighbourhoods, it was done after 5", calls)
	}
	calls = 0
	s := newSearch()
	s.Patient = true
	s.Run(meter.Limit(context.Background(), 50*300), 20, never, count(func() Outcome { return Outcome{} }))
	if calls <= 2*Patience || s.effort != 4 {
		t.Errorf("%d neighbourhoods, the limits are multiplied by %d", calls, s.effort)
	}
}

// Kinds that bring more are drawn more often, and closed ones grow.
func TestAdapts(t *testing.T) {
	t.Parallel()
	s, drawn, largest := newSearch(), [3]int{}, 0
	s.Run(t.Context(), 30, func() bool { return drawn[0]+drawn[1]+drawn[2] == 500 }, func(kind, size int) Outcome {
		drawn[kind]++
		if kind == 2 {
			largest = max(largest, size)
		} else if size > firstSize {
			t.Fatalf("size %d of a kind that is never closed", size)
		}
		return Outcome{Better: kind == 2, Closed: kind == 2}
	})
	if drawn[2] < 2*(drawn[0]+drawn[1]) || largest != 30 {
		t.Errorf("drawn %v times, the largest has size %d", drawn, largest)
	}
}

// Solve finds the least objective, and says when nothing is below a value.
func TestSolve(t *testing.T) {
	t.Parallel()
	m := &cp.Model{}
	x, y := m.Int(3, 9), m.Int(0, 9)
	m.Objective = m.Int(0, 20)
	m.Integers = []cp.Var{y, x}
	m.Add(&cp.Linear{Terms: []cp.Term{{Times: 1, Var: x}, {Times: 1, Var: y}, {Times: -1, Var: m.Objective}}},
		&cp.Linear{Terms: []cp.Term{{Times: -1, Var: x}, {Times: -2, Var: y}}, AtMost: -8})
	s := newSearch()
	values, closed := s.Solve(t.Context(), m, []int64{9, 9, 0}, 20)
	if !closed || values == nil || values[m.Objective] != 6 {
		t.Errorf("%v, closed %v", values, closed)
	}
	m.High[m.Objective] = 5
	if values, closed = s.Solve(t.Context(), m, []int64{9, 9, 0}, 5); values != nil || !closed {
		t.Errorf("%v, closed %v, the least is 6", values, closed)
	}
}
