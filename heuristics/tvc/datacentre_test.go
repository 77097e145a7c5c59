// SPDX-License-Identifier: MIT

package tvc

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Add takes what Remove gives back, sums of free slots are kept, and a clone
// changes on its own.
func TestDataCentre(t *testing.T) {
	t.Parallel()
	oktopus, embedded := newOktopus(), 0
	rounds := require.Rounds(1000)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 31))
		d := randomCentre(rng)
		n, b := randomRequest(rng, d)
		recounted, before := d.Clone(), d.Clone()
		if recounted.Count(); !reflect.DeepEqual(recounted, d) {
			t.Fatalf("seed %d: sums of free slots are %v, %v, %d, counted %v, %v, %d", seed,
				d.EdgeFree, d.PodFree, d.AllFree, recounted.EdgeFree, recounted.PodFree, recounted.AllFree)
		}
		e, ok := oktopus.Embed(d, n, b)
		if !reflect.DeepEqual(d, before) {
			t.Fatalf("seed %d: the embedder changed the data centre", seed)
		}
		if !ok {
			continue
		}
		embedded++
		d.Add(&e, n, b)
		if d.AllFree != before.AllFree-n || reflect.DeepEqual(d.Free, before.Free) {
			t.Fatalf("seed %d: %d slots are free of %d after %d are taken, by server %v", seed, d.AllFree, before.AllFree, n, d.Free)
		}
		d.Remove(&e, n, b)
		if !reflect.DeepEqual(d, before) {
			t.Fatalf("seed %d: %v isn't given back: %+v, before %+v", seed, e, d, before)
		}
	}
	if embedded < rounds/2 {
		t.Errorf("embedded %d of %d", embedded, rounds)
	}
}
