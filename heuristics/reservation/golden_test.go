// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/testkit"
	"github.com/gapwise/gapwise/model"
)

// golden holds digests of the bookings and of the traces of small and of large instances,
// by algorithm, from when each policy had a loop of its own.
var golden = map[string][2]string{
	"du-b":        {"4ad1a25b1ee7aeb1", "3e3ac00d08a334ff"},
	"du-b-open":   {"822f6dd6a81a4181", "9d8e1f0b7c449bbb"},
	"du-w":        {"52480e843e509d2d", "964ddecd3ed13697"},
	"du-w-open":   {"f7ebf2af582a1d83", "eb1f2f1dc0ac490a"},
	"ff":          {"58cba0eb57580e3d", "08dba1d7709a4681"},
	"least-load":  {"13e6d54d283c2751", "014b262ef98e3dcf"},
	"moving":      {"29cf95a7621c1044", "e3b0c44298fc1c14"},
	"pe-b":        {"91ebe5530bceaa9f", "4435a13bd10aa918"},
	"pe-w":        {"c480d51d1eeed7d9", "5da853c1757b4377"},
	"pedu-b":      {"10481dc5c6a94f4d", "98f552846172b320"},
	"pedu-b-open": {"6aca710637b601c9", "355d72a0a715d5cc"},
	"pedu-w":      {"3893ab872d0f3753", "0e609e359ffc0a2d"},
	"pedu-w-open": {"aeeb5ad5f4a5310e", "43313826720a221f"},
	"selective":   {"0b4cae0e64b8ef99", "e3b0c44298fc1c14"},
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
