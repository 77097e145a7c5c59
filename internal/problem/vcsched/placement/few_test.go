// SPDX-License-Identifier: MIT

package placement

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// away returns how many tasks aren't at home.
func away(hosts, home []int32) (n int) {
	for i, h := range hosts {
		if home[i] >= 0 && home[i] != h {
			n++
		}
	}
	return n
}

// eachPlacement calls do with every placement that fits, and its largest load.
func eachPlacement(u *view.VCSched, do func(hosts []int32, load int64)) {
	hosts := make([]int32, len(u.CPU))
	for {
		if u.Fits(hosts) {
			do(hosts, u.MaxLoad(hosts))
		}
		k := 0
		for ; k < len(hosts); k++ {
			if hosts[k]++; int(hosts[k]) < u.Hosts {
				break
			}
			hosts[k] = 0
		}
		if k == len(hosts) {
			return
		}
	}
}

// On tiny instances the moves of a repair, and the moves that Return leaves of another placement, are compared with the
// least of all placements with a load within the limit.
func TestFewMovesByBruteForce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 32))
	repaired, least, returned, leastReturned := 0, 0, 0, 0
	for k := range 1500 {
		u := view.OfVCSched(testkit.Vectors(rng, testkit.VCSched(rng, 2+rng.IntN(4), 2+rng.IntN(2), false)))
		home := make([]int32, len(u.CPU))
		for i := range home {
			home[i] = int32(rng.IntN(u.Hosts+1)) - 1
		}
		best := int64(math.MaxInt64)
		var good []int32
		eachPlacement(u, func(hosts []int32, load int64) {
			if load < best {
				best, good = load, slices.Clone(hosts)
			}
		})
		if good == nil {
			continue
		}
		best = max(best, u.Scale) // the yield 1
		limit := best + best/int64(20+rng.IntN(100))
		fewest := len(home)
		eachPlacement(u, func(hosts []int32, load int64) {
			if load <= limit {
				fewest = min(fewest, away(hosts, home))
			}
		})
		check := func(what string, hosts []int32) int {
			if n := away(hosts, home); !u.Fits(hosts) || u.MaxLoad(hosts) > limit || n < fewest {
				t.Fatalf("%d: %s: fits %v, load %d of %d, %d moves of %d", k, what, u.Fits(hosts), u.MaxLoad(hosts), limit, n, fewest)
			}
			return away(hosts, home)
		}
		returned++
		from := NewImprover(u, good, 1)
		if check("return", from.Return(t.Context(), limit, home)) == fewest {
			leastReturned++
		}
		start := slices.Clone(home)
		for i, h := range start {
			start[i] = max(0, h)
		}
		s := NewImprover(u, start, 1)
		if !s.Repair(t.Context(), limit, home, 10_000) {
			continue
		}
		repaired++
		if check("repair", s.Return(t.Context(), limit, home)) == fewest {
			least++
		}
	}
	t.Logf("returned %d, least %d; repaired %d, least %d", returned, leastReturned, repaired, least)
	if returned < 800 || 10*repaired < 9*returned || 10*least < 9*repaired || 10*leastReturned < 7*returned {
		t.Error("too few placements are found, or too few with the least moves")
	}
}

// The result that Repair keeps without reaching the limit is a placement, and better than the start.
func TestRepairKeeps(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(33, 34))
	better := 0
	for range 300 {
		u := view.OfVCSched(testkit.VCSched(rng, 20, 5, false))
		start := make([]int32, len(u.CPU))
		for i := range start {
			start[i] = int32(rng.IntN(u.Hosts))
		}
		s := NewImprover(u, start, 1)
		before, _, fits := s.Best()
		s.Repair(t.Context(), 1, start, 2000) // no such load
		after, hosts, ok := s.Best()
		switch {
		case fits && after > before:
			t.Fatalf("load %d, before %d", after, before)
		case ok && (!u.Fits(hosts) || u.MaxLoad(hosts) != after):
			t.Fatalf("load %d, the placement has %d, it fits: %v", after, u.MaxLoad(hosts), u.Fits(hosts))
		case ok && after < before:
			better++
		}
	}
	if better < 50 {
		t.Errorf("%d placements became better", better)
	}
}
