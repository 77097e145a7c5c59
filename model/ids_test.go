// SPDX-License-Identifier: MIT

package model

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestIDs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	maps, plain := 0, 0
	for range 3000 {
		ids := make([]string, rng.IntN(8))
		for k := range ids {
			ids[k] = []string{"", "1", "2", "9", "10", "11", "a", "b", "ab"}[rng.IntN(9)]
			if rng.IntN(8) == 0 {
				ids[k] = []string{"a1", "b12", "01", "a13"}[rng.IntN(4)]
			}
		}
		if rng.IntN(2) == 0 {
			slices.SortFunc(ids, func(a, b string) int {
				if len(a) != len(b) {
					return len(a) - len(b)
				}
				return slices.Compare([]byte(a), []byte(b))
			})
		}
		at := func(k int) string { return ids[k] }
		check := elements{id: at}
		distinct := true
		for k := range ids {
			want := slices.Index(ids[:k], ids[k])
			if first, ok := check.first(k); ok != (want >= 0) || ok && first != want {
				t.Fatalf("%q: id %d is first at %d (%v), want %d", ids, k, first, ok, want)
			}
			distinct = distinct && want < 0
		}
		if check.taken != nil {
			maps++
		}
		if !distinct {
			continue
		}
		index := newIDIndex(len(ids), at)
		if index.byID != nil {
			plain++
		}
		for _, id := range slices.Concat(ids, []string{"1", "x", "01", "a1", "b12", "", "99999999999", "18446744073709551617"}) {
			if k, want := index.find(id), slices.Index(ids, id); int(k) != want {
				t.Fatalf("%q: %q is at %d in the index, want %d", ids, id, k, want)
			}
		}
		find := idFinder{n: len(ids), at: at}
		asked := slices.Concat(ids, []string{"1", "x", "a", ""})
		if rng.IntN(2) == 0 {
			rng.Shuffle(len(asked), func(a, b int) { asked[a], asked[b] = asked[b], asked[a] })
		}
		for _, id := range asked {
			want := slices.Index(ids, id)
			if k, ok := find.find(id); ok != (want >= 0) || ok && k != want {
				t.Fatalf("%q: %q is at %d (%v), want %d", ids, id, k, ok, want)
			}
		}
	}
	if maps < 500 || maps > 2500 || plain < 100 || plain > 1400 {
		t.Errorf("%d of 3000 needed a map to be checked, %d to be found", maps, plain)
	}
}
