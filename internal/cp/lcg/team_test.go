// SPDX-License-Identifier: MIT

package lcg

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/run/meter"
)

// Kernels that share their results after every few conflicts prove the results of enumeration. Nothing that one of them
// has learned or taken in excludes a solution that is better than the best.
func TestTeam(t *testing.T) {
	t.Parallel()
	n := 3000
	if testing.Short() {
		n = 500
	}
	taken := 0
	for seed := range n {
		p := mix(seed)
		m, all := p.m, solutions(p.m)
		best := int64(infinite)
		for _, s := range all {
			best = min(best, s[m.Objective])
		}
		team := NewTeam(2+seed%3, Options{}, m)
		for _, k := range team.Kernels {
			k.limit = p.Int64N(20)
		}
		team.burst = 1 + p.Int64N(3)
		sound := func(o *Outcome) {
			for i, k := range team.Kernels {
				for _, s := range all {
					a := cp.Assignment{Model: m, Values: s}
					if s[m.Objective] >= o.Best {
						continue
					}
					for _, g := range k.nogoods {
						if !slices.ContainsFunc(g.premises, func(l cp.Lit) bool { return !a.Is(l) }) {
							t.Fatalf("seed %d: kernel %d excludes %v by %v, the best is %d", seed, i, s, g.premises, o.Best)
						}
					}
				}
				taken += len(k.told)
			}
		}
		o := team.Minimise(meter.WithThreads(t.Context(), len(team.Kernels)), nil, 0, sound)
		if best == infinite && !o.Infeasible || best < infinite && (!o.Optimal || o.Best != best) {
			t.Fatalf("seed %d: the optimum is %d, got %+v", seed, best, o)
		}
		if o.Optimal && !meets(cp.Assignment{Model: m, Values: o.Values}) {
			t.Fatalf("seed %d: %v is no solution", seed, o.Values)
		}
	}
	if taken < n/10 {
		t.Errorf("only %d nogoods were shared", taken)
	}
}

// The kernels' results depend on their number, not on how many work at once. They keep to limits of conflicts
// approximately.
func TestTeamThreads(t *testing.T) {
	t.Parallel()
	rounds := 0
	for _, x := range jobShops(t) {
		if x.name != "ft06" && x.name != "la02" && x.name != "la03" && x.name != "la04" {
			continue
		}
		m := x.model(x.horizon())
		run := func(threads int) (all []Outcome, conflicts []int64) {
			team := NewTeam(3, Options{}, m)
			team.burst = 5
			team.Minimise(meter.WithThreads(t.Context(), threads), nil, 3000, func(o *Outcome) { all = append(all, *o) })
			conflicts = slices.Clone(team.conflicts)
			if sum := team.Conflicts(); sum > 3000+3*5 {
				t.Errorf("%s: %d conflicts", x.name, sum)
			}
			return all, conflicts
		}
		one, counts := run(1)
		for threads := 2; threads <= 3; threads++ {
			if got, n := run(threads); !reflect.DeepEqual(one, got) || !slices.Equal(counts, n) {
				t.Errorf("%s: %v conflicts on %d threads, %v on one", x.name, n, threads, counts)
			}
		}
		rounds += len(one)
	}
	if rounds < 30 {
		t.Errorf("only %d rounds", rounds)
	}
}
