// SPDX-License-Identifier: MIT

package placement

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// equalHosts draws an instance of equal hosts with up to three resources.
func equalHosts(rng *rand.Rand) *model.VCSched {
	in := testkit.Vectors(rng, testkit.VCSched(rng, 2+rng.IntN(40), 1, false))
	in.HostSizes = nil
	return in
}

// The tree finds the same host as a look at one after the other.
func TestFirstFitDecreasing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	several := 0
	for range 1000 {
		u := view.OfVCSched(equalHosts(rng))
		even, demand := Weights(u)
		for k, weight := range [][]float64{even, demand, even} {
			size := make([]float64, len(u.CPU))
			order := make([]int32, len(u.CPU))
			for i := range order {
				order[i] = int32(i)
				for r, needs := range u.Rigid {
					if x := weight[r] * float64(needs[i]); k == 2 {
						size[i] = max(size[i], x)
					} else {
						size[i] += x
					}
				}
			}
			slices.SortStableFunc(order, func(a, b int32) int {
				switch {
				case size[a] > size[b]:
					return -1
				case size[a] < size[b]:
					return 1
				}
				return 0
			})
			want, left := make([]int32, len(order)), [][]int64{}
			for _, i := range order {
				h := slices.IndexFunc(left, func(left []int64) bool {
					for r, has := range left {
						if u.Rigid[r][i] > has {
							return false
						}
					}
					return true
				})
				if h < 0 {
					h, left = len(left), append(left, slices.Clone(u.Classes[0].Cap))
				}
				for r := range left[h] {
					left[h][r] -= u.Rigid[r][i]
				}
				want[i] = int32(h)
			}
			if got := FirstFitDecreasing(t.Context(), u, weight, k == 2); !slices.Equal(got, want) {
				t.Fatalf("hosts %v, want %v", got, want)
			}
			if len(left) > 2 {
				several++
			}
		}
	}
	if several < 300 {
		t.Errorf("only %d placements use several hosts", several)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	u := view.OfVCSched(equalHosts(rng))
	even, _ := Weights(u)
	if got := slices.Sorted(slices.Values(FirstFitDecreasing(over, u, even, false))); len(slices.Compact(got)) != len(u.CPU) {
		t.Errorf("stopped: hosts %v, want one for each task", got)
	}
}

// Only the tasks of one host, the one used least, move; the numbers left are used without a hole.
func TestClear(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 14))
	tested := 0
	for range 500 {
		u := view.OfVCSched(equalHosts(rng))
		even, _ := Weights(u)
		hosts := FirstFitDecreasing(t.Context(), u, even, false)
		used := int(slices.Max(hosts)) + 1
		if used < 2 {
			continue
		}
		tested++
		cleared := Clear(u, hosts, used)
		if m := int(slices.Max(cleared)) + 1; m > used-1 {
			t.Fatalf("host %d of %d is used", m-1, used-1)
		}
		// Tasks that shared a host still do, except for the tasks of one host; no host is used less than it.
		share := make([]float64, used)
		for i, h := range hosts {
			share[h] += even[0] * float64(u.Rigid[0][i])
			for r := 1; r < len(u.Rigid); r++ {
				share[h] += even[r] * float64(u.Rigid[r][i])
			}
		}
		became := make([]int32, used)
		for h := range became {
			became[h] = -1
		}
		apart := map[int32]bool{}
		for i, h := range hosts {
			if became[h] >= 0 && became[h] != cleared[i] {
				apart[h] = true
			}
			became[h] = cleared[i]
		}
		for h := range apart {
			if len(apart) > 1 || share[h] > slices.Min(share)+1e-9 {
				t.Fatalf("hosts %v are cleared, used %v", apart, share)
			}
		}
	}
	if tested < 100 {
		t.Errorf("only %d placements were cleared", tested)
	}
}
