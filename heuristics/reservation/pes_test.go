package reservation

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/bitset"
	"github.com/gapwise/gapwise/internal/bookings"
	"github.com/gapwise/gapwise/model"
)

// Lists of PEs are added to, removed from and read from a set as PE by PE.
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
				bookings.AddPEs(set, list)
			} else {
				bookings.RemovePEs(set, list)
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
			if diff := cmp.Diff(all, bookings.LowestPEs(set, n)); diff != "" {
				t.Fatalf("seed %d: all PEs (-want,+got)\n%s", seed, diff)
			}
			if diff := cmp.Diff(want, bookings.LowestPEs(set, lowest)); diff != "" {
				t.Fatalf("seed %d: the lowest %d of %v (-want,+got)\n%s", seed, lowest, all, diff)
			}
		}
	}
}
