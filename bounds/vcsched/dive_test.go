// SPDX-License-Identifier: MIT

package vcsched

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// packingOf draws tasks without CPU needs, some of them equal.
func packingOf(rng *rand.Rand, tasks int) *model.VCSched {
	in := testkit.Vectors(rng, testkit.VCSched(rng, tasks, 1, false))
	in.HostSizes, in.Hosts = nil, in.Tasks()
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if j.CPU = 0; i > 0 && rng.IntN(3) == 0 {
			j.Memory, j.Resources = in.Jobs[i-1].Memory, in.Jobs[i-1].Resources
		}
	}
	return in
}

// fewest returns the least number of hosts, by trying all placements.
func fewest(u *view.VCSched) int {
	hosts, best := make([]int32, len(u.CPU)), len(u.CPU)
	var put func(i, used int)
	put = func(i, used int) {
		if used >= best {
			return
		}
		if i == len(hosts) {
			best = used
			return
		}
		for h := 0; h <= used; h++ {
			if hosts[i] = int32(h); u.Fits(hosts[:i+1]) {
				put(i+1, max(used, h+1))
			}
		}
	}
	put(0, 0)
	return best
}

// Counts are at most the fewest hosts and at least Packing's, and often the fewest hosts. Placements of patterns fit on
// as many hosts as were allowed.
func TestCovers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 32))
	rounds := 2000
	if testing.Short() {
		rounds = 400
	}
	equal, above, placed, rounded := 0, 0, 0, 0
	for k := range rounds {
		in := packingOf(rng, 2+rng.IntN(7))
		u := view.OfVCSched(in)
		best, packing, count := int64(fewest(u)), int64(1), int64(1)
		LeastHosts(t.Context(), in, func(hosts int64, _ string) { packing = hosts })
		c := NewPatterns(NewTasks(u)).Covers()
		c.Count(t.Context(), 1, math.MaxInt64, func(hosts int64) { count = hosts })
		if count > best || count < packing {
			t.Fatalf("%d: at least %d hosts, %d by packing, the fewest are %d", k, count, packing, best)
		}
		if count == best {
			equal++
		}
		if count > packing {
			above++
		}
		for most := int64(len(u.CPU)); most > 0; {
			hosts := c.Dive(t.Context(), most)
			if hosts == nil {
				break
			}
			used := int64(0)
			for _, h := range hosts {
				used = max(used, int64(h)+1)
			}
			if !u.Fits(hosts) { // it does so in units
				rounded++
				break
			}
			if used > most || used < best {
				t.Fatalf("%d: %v on at most %d hosts, the fewest are %d", k, hosts, most, best)
			}
			if most = used - 1; used == best {
				placed++
			}
		}
	}
	if rounded > rounds/20 || equal < rounds*9/10 || placed < rounds*9/10 || above < rounds/200 {
		t.Errorf("of %d: %d bounds and %d placements are optimal, %d bounds are above packing's; %d don't fit exactly", rounds, equal, placed, above, rounded)
	}
}

// The pricer finds the heaviest pattern of each first type above a threshold: by enumeration of all.
func TestPricing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(33, 34))
	for k := range 400 {
		tasks := NewTasks(view.OfVCSched(packingOf(rng, 2+rng.IntN(9))))
		weights := make([]int64, len(tasks.CPU))
		for i := range weights {
			weights[i] = rng.Int64N(1000) * rng.Int64N(2)
		}
		best, left := int64(0), append([]int64(nil), tasks.most...)
		var put func(i int, weight int64)
		put = func(i int, weight int64) {
			if best = max(best, weight); i == len(weights) {
				return
			}
			put(i+1, weight)
			n, fits := int32(0), true
			for ; n < tasks.Count[i] && fits; n++ {
				for r := range left {
					left[r] -= tasks.Rigid[r][i]
					fits = fits && left[r] >= 0
				}
				if weight += weights[i]; fits {
					put(i+1, weight)
				}
			}
			for r := range left {
				left[r] += int64(n) * tasks.Rigid[r][i]
			}
		}
		if put(0, 0); best == 0 {
			continue
		}
		for _, threshold := range []int64{0, best - 1, best} {
			for _, most := range []int32{0, 1, math.MaxInt32} {
				found, heaviest, complete := tasks.price(t.Context(), weights, tasks.class[0], tasks.TotalLoad(), threshold, most)
				what := fmt.Sprintf("%d: %d patterns above %d, the heaviest %d of %d", k, len(found), threshold, heaviest, best)
				if !complete || (len(found) > 0) != (best > threshold) || heaviest > best {
					t.Fatal(what)
				}
				if most == math.MaxInt32 && len(found) > 0 && heaviest != best {
					t.Fatal(what)
				}
				for _, q := range found {
					weight := int64(0)
					for _, it := range q.Items {
						if weight += weights[it.Type] * int64(it.Count); it.Count > tasks.Count[it.Type] {
							t.Fatal(what, q)
						}
					}
					if weight <= threshold || weight > heaviest {
						t.Fatal(what, q)
					}
				}
			}
		}
	}
}
