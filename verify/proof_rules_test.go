// SPDX-License-Identifier: MIT

package verify

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Each rule is compared with enumeration, on a few activities that may run or not: if it reports that a constraint
// can't be met, no values within the bounds meet it. It must report that often enough for the test to mean something.
func TestProofRules(t *testing.T) {
	t.Parallel()
	type draw func(r *rand.Rand, s *proofState, starts []proofStart) (proofRule, func(on []bool, at []int64) bool)
	lengths := func(r *rand.Rand, n, from int) []int64 {
		all := make([]int64, n)
		for i := range all {
			all[i] = int64(from + r.IntN(4))
		}
		return all
	}
	for name, rule := range map[string]draw{
		"machine": func(r *rand.Rand, s *proofState, starts []proofStart) (proofRule, func([]bool, []int64) bool) {
			n := len(starts)
			long := lengths(r, n, 0)
			order := map[[2]int]bound{}
			for i := range n {
				for j := range i {
					b := []bound{always, never, unknown}[r.IntN(3)]
					order[[2]int{i, j}], order[[2]int{j, i}] = b, b.not()
				}
			}
			c := &proofMachine{starts, long, func(i, j int) bound { return order[[2]int{i, j}] }, func(v int32) []int { return []int{int(v) / 2} }}
			return c, func(on []bool, at []int64) bool {
				for i := range n {
					for j := range i {
						first := order[[2]int{i, j}] != never && at[i]+long[i] <= at[j]
						last := order[[2]int{j, i}] != never && at[j]+long[j] <= at[i]
						if on[i] && on[j] && !first && !last {
							return false
						}
					}
				}
				return true
			}
		},
		"cumulative": func(r *rand.Rand, s *proofState, starts []proofStart) (proofRule, func([]bool, []int64) bool) {
			long, demand, capacity := lengths(r, len(starts), 1), lengths(r, len(starts), 1), int64(4+r.IntN(3))
			c := &proofCumulative{starts, long, demand, capacity, func(v int32) int { return int(v) / 2 }}
			return c, func(on []bool, at []int64) bool {
				for now := range int64(20) {
					sum := int64(0)
					for i := range starts {
						if on[i] && at[i] <= now && now < at[i]+long[i] {
							sum += demand[i]
						}
					}
					if sum > capacity {
						return false
					}
				}
				return true
			}
		},
		"delay": func(r *rand.Rand, s *proofState, starts []proofStart) (proofRule, func([]bool, []int64) bool) {
			by := lengths(r, 4, -1)
			half := len(starts) / 2
			c := &proofDelay{starts[:half], starts[half:], func(k, l int) int64 { return by[2*(k%2)+l%2] }}
			return c, func(on []bool, at []int64) bool {
				if count(on[:half]) != 1 || count(on[half:]) != 1 {
					return false
				}
				for k := range half {
					for l := half; l < len(starts); l++ {
						if on[k] && on[l] && at[l] < at[k]+c.by(k, l-half) {
							return false
						}
					}
				}
				return true
			}
		},
		"one": func(_ *rand.Rand, _ *proofState, starts []proofStart) (proofRule, func([]bool, []int64) bool) {
			var c proofOne
			for _, x := range starts {
				c = append(c, x.on)
			}
			return c, func(on []bool, _ []int64) bool { return count(on) == 1 }
		},
		"linear": func(r *rand.Rand, s *proofState, starts []proofStart) (proofRule, func([]bool, []int64) bool) {
			value, total := lengths(r, len(starts), 0), s.add(int64(r.IntN(3)), 5, always)
			most := int64(r.IntN(4) - 12)
			c := &proofLinear{terms: []proofTerm{{-2, total}}}
			c.allow(most, 1)
			for half := range 2 {
				var g []proofChoice
				for i := half; i < len(starts); i += 2 {
					g = append(g, proofChoice{starts[i].on, value[i]})
				}
				c.groups = append(c.groups, g)
			}
			return c, func(on []bool, _ []int64) bool {
				sum, halves := -2*s.most(total), [2]int{}
				for i := range on {
					if on[i] {
						sum += value[i]
						halves[i%2]++
					}
				}
				return halves == [2]int{1, 1} && sum <= most
			}
		},
		"nogood": func(r *rand.Rand, s *proofState, starts []proofStart) (proofRule, func([]bool, []int64) bool) {
			i, j, b := r.IntN(len(starts)), r.IntN(len(starts)), int64(2+r.IntN(2))
			c := proofNogood{starts[i].on, atLeast(starts[j].at, b)}
			return c, func(on []bool, at []int64) bool { return !on[i] || on[j] && at[j] < b }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(14, uint64(len(name))))
			violated, tries := 0, require.Rounds(4000)
			for range tries {
				s := &proofState{}
				n := 2 + rng.IntN(3)
				starts := make([]proofStart, n)
				for i := range starts {
					on := atLeast(s.add(0, 1, always), 1)
					low := int64(rng.IntN(4))
					starts[i] = proofStart{on, s.add(low, low+int64(rng.IntN(4)), on)}
				}
				for _, x := range starts {
					if k := rng.IntN(6); k < 3 {
						s.set(x.on)
					} else if k == 3 {
						s.set(x.on.not())
					}
				}
				c, meets := rule(rng, s, starts)
				claim := atLeast(starts[rng.IntN(n)].at, 0)
				from := int64(rng.IntN(5))
				if !c.violated(s, claim, [2]int64{from, from + int64(rng.IntN(6))}) {
					continue
				}
				violated++
				on, at := make([]bool, n), make([]int64, n)
				if solution(s, starts, on, at, 0, meets) {
					t.Fatalf("%s: not violated by %v, %v: %+v, state %+v", name, on, at, c, s)
				}
			}
			if violated < tries/40 || violated > tries*39/40 {
				t.Errorf("%d of %d are violated: the test says little", violated, tries)
			}
		})
	}
}

func count(all []bool) (n int) {
	for _, x := range all {
		if x {
			n++
		}
	}
	return n
}

// solution looks for values within the bounds that meet a constraint.
func solution(s *proofState, starts []proofStart, on []bool, at []int64, i int, meets func([]bool, []int64) bool) bool {
	if i == len(starts) {
		return meets(on, at)
	}
	x := starts[i]
	if !s.holds(x.on) {
		if on[i] = false; solution(s, starts, on, at, i+1, meets) {
			return true
		}
	}
	if s.fails(x.on) {
		return false
	}
	on[i] = true
	for at[i] = s.least(x.at); at[i] <= s.most(x.at); at[i]++ {
		if solution(s, starts, on, at, i+1, meets) {
			return true
		}
	}
	return false
}
