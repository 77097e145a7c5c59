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
	"github.com/gapwise/gapwise/internal/testkit"
	"github.com/gapwise/gapwise/model"
)

// golden holds digests of the bookings and of the traces of small and of large instances,
// by algorithm, from when each policy had a loop of its own.
var golden = map[string][2]string{
	"du-b":        {"a040eb33211c0a27", "3e3ac00d08a334ff"},
	"du-b-open":   {"45d2a5929ef60e96", "9d8e1f0b7c449bbb"},
	"du-w":        {"43afe614eaae73ab", "964ddecd3ed13697"},
	"du-w-open":   {"c86a5a15287aac15", "eb1f2f1dc0ac490a"},
	"ff":          {"87d750e69fa18295", "08dba1d7709a4681"},
	"least-load":  {"3bf99b6301617ccf", "014b262ef98e3dcf"},
	"moving":      {"bb39961ade54157c", "e3b0c44298fc1c14"},
	"pe-b":        {"d0ed17205d14a11b", "4435a13bd10aa918"},
	"pe-w":        {"6a90a4751cc10e53", "5da853c1757b4377"},
	"pedu-b":      {"db912fb8fe3bcbb7", "98f552846172b320"},
	"pedu-b-open": {"55c30b2a8cb51459", "355d72a0a715d5cc"},
	"pedu-w":      {"4abde189709a7064", "0e609e359ffc0a2d"},
	"pedu-w-open": {"93286c80a2c5225c", "43313826720a221f"},
	"selective":   {"19906c6e577aec6c", "e3b0c44298fc1c14"},
}

// goldenInstances are those of the digests.
func goldenInstances(t *testing.T) (all []*model.Reservation) {
	rng := rand.New(rand.NewPCG(27, 3))
	for range 150 {
		all = append(all, random(rng, 1+rng.IntN(60)), testkit.RandomReservation(rng, 1+rng.IntN(12)))
	}
	spec := instances.NewReservationSpec()
	spec.Requests, spec.Seed = 300, 5
	in, err := spec.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return append(all, in)
}

// Bookings and traces are as before, byte for byte.
func TestGolden(t *testing.T) {
	t.Parallel()
	all := goldenInstances(t)
	for _, a := range Algorithms() {
		if a.Class != model.Online {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			solutions, traces := sha256.New(), sha256.New()
			for round, in := range all {
				set := model.Settings{}
				if round%10 == 0 {
					set.Trace = func(s model.Step) {
						if err := json.NewEncoder(traces).Encode(s); err != nil {
							t.Error(err)
						}
					}
				}
				r, err := a.Solver.Solve(context.Background(), in, set)
				if err != nil && !errors.Is(err, model.ErrNoSolution) {
					t.Fatal(err)
				}
				if b, is := r.Solution.(*model.Bookings); is && b != nil { // moving told of them in the order of their starts
					slices.SortFunc(b.Bookings, func(x, y model.Booking) int { return cmp.Compare(x.ID, y.ID) })
				}
				if err := json.NewEncoder(solutions).Encode(r.Solution); err != nil {
					t.Fatal(err)
				}
			}
			got := [2]string{hex.EncodeToString(solutions.Sum(nil)[:8]), hex.EncodeToString(traces.Sum(nil)[:8])}
			if got != golden[a.Name] {
				t.Errorf("%q: {%q, %q},", a.Name, got[0], got[1])
			}
		})
	}
}
