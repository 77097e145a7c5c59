// SPDX-License-Identifier: MIT

package lcg

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/test/require"
)

// One kernel answers many searches under assumptions as enumeration does. Its cores are weaker than the assumptions and
// can't hold.
func TestAssumptions(t *testing.T) {
	t.Parallel()
	answers := map[Answer]int{}
	for seed := range 400 {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		m := shop(r)
		if len(m.Low) > 8 {
			continue
		}
		k := NewWith(m, Options{Seed: uint64(seed % 3)})
		for range 10 {
			var given []cp.Lit
			for range r.IntN(4) {
				v := cp.Var(r.IntN(len(m.Low)))
				if b := m.Low[v] + r.Int64N(m.High[v]-m.Low[v]+2); r.IntN(2) == 0 {
					given = append(given, v.AtLeast(b))
				} else {
					given = append(given, v.AtMost(b-1))
				}
			}
			with := func(l []cp.Lit) int64 {
				n := *m
				n.Constraints = append(n.Constraints[:len(n.Constraints):len(n.Constraints)], holding(l))
				best, _ := brute(&n)
				return best
			}
			answer := k.Search(context.Background(), 10000, given...)
			answers[answer]++
			switch answer {
			case Satisfied:
				a := cp.Assignment{Model: m, Values: k.Values()}
				if !meets(a) || !holding(given).Holds(a) {
					t.Fatalf("seed %d: %v under %v is no solution", seed, a.Values, given)
				}
			case Refuted:
				core := k.Core()
				for _, c := range core {
					weaker := false
					for _, l := range given {
						weaker = weaker || l.SV == c.SV && l.B >= c.B
					}
					if !weaker && c != cp.False {
						t.Fatalf("seed %d: %v of the core %v isn't among %v", seed, c, core, given)
					}
				}
				require.Is(t, infinite, with(core), "seed", seed, "the core", core, "of", given, "has the value")
			case Infeasible:
				require.Is(t, infinite, with(nil), "seed", seed, "the value of a solution")
			default:
				t.Fatalf("seed %d: no answer", seed)
			}
		}
	}
	if answers[Satisfied] < 200 || answers[Refuted] < 200 || answers[Infeasible] < 200 {
		t.Error("too few of some answers:", answers)
	}
}

// holding is the constraint that literals hold.
type holding []cp.Lit

func (c holding) Holds(a cp.Assignment) bool {
	for _, l := range c {
		if !a.Is(l) {
			return false
		}
	}
	return true
}

// The optimum is the same without any one of the devices, and without learning at all.
func TestDevices(t *testing.T) {
	t.Parallel()
	for seed := range 300 {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		m := shop(r)
		if len(m.Low) > 10 {
			continue
		}
		all := New(m).Minimise(context.Background(), nil, 0, nil)
		for off := Learning; off <= Overload; off <<= 1 {
			for _, o := range []Options{{Off: off}, {Off: off | Learning, Seed: 7}} {
				got := NewWith(m, o).Minimise(context.Background(), nil, 0, nil)
				if got.Best != all.Best || got.Optimal != all.Optimal || got.Infeasible != all.Infeasible {
					t.Errorf("seed %d without %b: %+v, with %+v", seed, o.Off, got, all)
				}
			}
		}
	}
}
