package reservation_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	resexact "github.com/gapwise/gapwise/exact/reservation"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/modeltest"
)

// Without any one device, without it and the local search, which leaves little to
// the sweeps, and without all of them the search proves what brute force finds.
func TestWithout(t *testing.T) {
	t.Parallel()
	var sets [][]string
	var all []string
	for _, d := range resexact.Devices() {
		if d.Name == "" || d.Summary == "" {
			t.Errorf("%+v lacks a name or a summary", d)
		}
		sets = append(sets, []string{d.Name}, []string{d.Name, "local-search"})
		all = append(all, d.Name)
	}
	rng := rand.New(rand.NewPCG(17, 29))
	var solvers []model.Solver
	for _, names := range append(sets, all) {
		s, err := resexact.Without(names...)
		if err != nil {
			t.Fatal(err)
		}
		solvers = append(solvers, s)
	}
	for range need.Rounds(40) {
		in := modeltest.RandomReservation(rng, 1+rng.IntN(7))
		want, feasible := modeltest.BruteReservation(t, in)
		for k, s := range solvers {
			r, err := s.Solve(context.Background(), in, model.Settings{})
			if err != nil {
				t.Fatalf("without %v: %v: %s", append(sets, all)[k], err, text(in))
			}
			agree(t, in, r, want, feasible)
		}
	}
}

func TestWithoutUnknown(t *testing.T) {
	t.Parallel()
	if _, err := resexact.Without("dominance", "magic"); err == nil || !strings.Contains(err.Error(), `"magic"`) || !strings.Contains(err.Error(), "dominance") {
		t.Errorf("error %v, want one that names magic and the devices", err)
	}
}
