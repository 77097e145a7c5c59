// SPDX-License-Identifier: MIT

package reservation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// golden holds digests of the bookings of small and of large instances, by algorithm, from when each policy had a loop of its own.
var golden = map[string]string{
	"du-b":        "a040eb33211c0a27",
	"du-b-open":   "45d2a5929ef60e96",
	"du-w":        "43afe614eaae73ab",
	"du-w-open":   "c86a5a15287aac15",
	"ff":          "87d750e69fa18295",
	"least-load":  "3bf99b6301617ccf",
	"pe-b":        "d0ed17205d14a11b",
	"pe-w":        "6a90a4751cc10e53",
	"pedu-b":      "db912fb8fe3bcbb7",
	"pedu-b-open": "55c30b2a8cb51459",
	"pedu-w":      "4abde189709a7064",
	"pedu-w-open": "93286c80a2c5225c",
	"selective":   "19906c6e577aec6c",
}

// goldenInstances returns the instances of the digests.
func goldenInstances(t *testing.T) (all []*model.Reservation) {
	rng := rand.New(rand.NewPCG(27, 3))
	for range 150 {
		all = append(all, random(rng, 1+rng.IntN(60)), testkit.RandomReservation(rng, 1+rng.IntN(12)))
	}
	spec := instances.NewReservationSpec()
	spec.Requests, spec.Seed = 300, 5
	in := require.Value(spec.Generate())(t)
	return append(all, in)
}

// Bookings are as before, byte for byte.
func TestGolden(t *testing.T) {
	t.Parallel()
	all := goldenInstances(t)
	for _, a := range Algorithms() {
		if a.Class != model.Online {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			solutions := sha256.New()
			for _, in := range all {
				r, err := a.Solver.Solve(context.Background(), in, model.Settings{})
				if err != nil && !errors.Is(err, model.ErrNoSolution) {
					t.Fatal(err)
				}
				if b, is := r.Solution.(*model.Bookings); is && b != nil {
					slices.SortFunc(b.Bookings, func(x, y model.Booking) int { return cmp.Compare(x.ID, y.ID) })
				}
				require.OK(t, json.NewEncoder(solutions).Encode(r.Solution))
			}
			got := hex.EncodeToString(solutions.Sum(nil)[:8])
			if got != golden[a.Name] {
				t.Errorf("%q: %q,", a.Name, got)
			}
		})
	}
}
