// SPDX-License-Identifier: MIT

package bookings

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Lists of PEs are added to, removed from and read from a set PE by PE.
func TestPELists(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 12))
		n := 1 + rng.IntN(200)
		set, plain := bitset.New(n), map[int]bool{}
		if rng.IntN(2) == 0 {
			set.Fill(n)
			for pe := range n {
				plain[pe] = true
			}
		}
		for range 8 {
			var list model.PEList
			for pe := rng.IntN(n); pe < n; pe += 1 + rng.IntN(40) {
				last := min(n-1, pe+rng.IntN(70))
				list = append(list, model.PERange{First: pe, Last: last})
				pe = last + 1
			}
			add := rng.IntN(2) == 0
			if add {
				AddPEs(set, list)
			} else {
				RemovePEs(set, list)
			}
			for _, r := range list {
				for pe := r.First; pe <= r.Last; pe++ {
					if plain[pe] = add; !add {
						delete(plain, pe)
					}
				}
			}
			lowest := rng.IntN(len(plain) + 1)
			var all, want model.PEList
			for pe := range n {
				if plain[pe] {
					if all = all.Append(pe); want.Len() < lowest {
						want = want.Append(pe)
					}
				}
			}
			if diff := cmp.Diff(all, LowestPEs(set, n)); diff != "" {
				t.Fatalf("seed %d: all PEs (-want,+got)\n%s", seed, diff)
			}
			require.Same(t, fmt.Sprintf("seed %d: the lowest %d of %v", seed, lowest, all), want,
				LowestPEs(set, lowest))
		}
	}
}

// Intervals can be numbered exactly if the counts fit at each moment (interval
// graphs are perfect), and then no PE is in two at a time.
func TestNumber(t *testing.T) {
	t.Parallel()
	fitted, refused := 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		pes := []int{1, 5, 64, 100}[rng.IntN(4)]
		all := make([]Interval, rng.IntN(14))
		for i := range all {
			start := int64(rng.IntN(20))
			all[i] = Interval{Start: start, End: start + int64(rng.IntN(8)), PEs: 1 + rng.IntN(1+pes/2)}
		}
		most := 0
		for now := range 30 {
			n := 0
			for _, x := range all {
				if x.Start <= int64(now) && int64(now) < x.End {
					n += x.PEs
				}
			}
			most = max(most, n)
		}
		lists, short := Number(pes, all)
		require.Is(t, short < 0, most <= pes, "seed", seed, most, "of", pes, "PEs are needed at a time: short is", short)
		if short >= 0 {
			refused++
			for i, x := range all {
				require.Is(t, lists[i].Len(), x.PEs, "seed", seed, "interval", i)
				last := -1
				for _, r := range lists[i] {
					if r.First <= last || r.Last < r.First || r.Last >= pes {
						t.Fatalf("seed %d: interval %d has %v of %d PEs", seed, i, lists[i], pes)
					}
					last = r.Last
				}
			}
			continue
		}
		fitted++
		taken := map[[2]int]int{} // PE and moment
		for i, x := range all {
			if lists[i].Len() != x.PEs {
				t.Fatalf("seed %d: interval %d has %v for %d PEs", seed, i, lists[i], x.PEs)
			}
			for _, r := range lists[i] {
				for pe := r.First; pe <= r.Last; pe++ {
					if pe < 0 || pe >= pes {
						t.Fatalf("seed %d: there is no PE %d", seed, pe)
					}
					for now := x.Start; now < x.End; now++ {
						if other, twice := taken[[2]int{pe, int(now)}]; twice {
							t.Fatalf("seed %d: PE %d is in the intervals %d and %d at %v", seed, pe, other, i, now)
						}
						taken[[2]int{pe, int(now)}] = i
					}
				}
			}
		}
	}
	if fitted < 500 || refused < 500 {
		t.Errorf("%d fitted, %d were refused: the draws are too much of one kind", fitted, refused)
	}
}
