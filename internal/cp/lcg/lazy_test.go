// SPDX-License-Identifier: MIT

package lcg

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
)

// Nogoods that come when a solution breaks them give the optimum that they give from the beginning.
func TestLazy(t *testing.T) {
	t.Parallel()
	came, worse := 0, 0
	for seed := range 1000 {
		r := rand.New(rand.NewPCG(uint64(seed), 6))
		m := shop(r)
		if len(m.Low) > 9 {
			continue
		}
		for v := range m.Low { // all are fixed in a solution
			m.Integers = append(m.Integers, cp.Var(v))
		}
		var late []cp.Nogood
		whole := *m
		for range 1 + r.IntN(6) {
			var g cp.Nogood
			for range 1 + r.IntN(3) {
				v := cp.Var(r.IntN(len(m.Low)))
				if m.Present[v] != cp.True {
					continue
				}
				if b := m.Low[v] + r.Int64N(m.High[v]-m.Low[v]+1); r.IntN(2) == 0 {
					g = append(g, v.AtLeast(b))
				} else {
					g = append(g, v.AtMost(b))
				}
			}
			if len(g) > 0 {
				late = append(late, g)
				whole.Constraints = append(whole.Constraints[:len(whole.Constraints):len(whole.Constraints)], g)
			}
		}
		best, _ := brute(&whole)
		free, _ := brute(m)
		for _, o := range []Options{{}, {Off: Learning}, {Off: Upwards}, {Off: Downwards}} {
			k := NewWith(m, o)
			k.Lazy = func(values []int64) (broken []cp.Named, work int64, ok bool) {
				for _, g := range late {
					if !nogoodHolds(g, cp.Assignment{Model: m, Values: values}) {
						broken = append(broken, cp.Named{Nogood: g})
						came++
					}
				}
				return broken, 10, true
			}
			if got := k.Minimise(context.Background(), nil, 0, nil); got.Best != best || got.Infeasible != (best == infinite) {
				t.Fatalf("seed %d without %b: %+v, the best is %d", seed, o.Off, got, best)
			}
		}
		if best > free {
			worse++
		}
		k := New(m)
		asked := 0
		k.Lazy = func([]int64) ([]cp.Named, int64, bool) { asked++; return nil, 0, false }
		if answer := k.Search(context.Background(), 1000); asked > 1 || (answer == Unknown) != (asked == 1) {
			t.Fatalf("seed %d: answer %d after %d questions that can't be told", seed, answer, asked)
		}
	}
	if t.Logf("%d nogoods came late, %d optima are worse by them", came, worse); came < 500 || worse < 50 {
		t.Error("too few")
	}
}
