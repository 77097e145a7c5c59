// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// A replay under contention ends when it is stopped, wherever that is, and the next one runs as if there had been none.
func TestReplayStops(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	d := testkit.ContendedDAG(rng, 400, 4)
	for len(d.Tasks) < 300 {
		d = testkit.ContendedDAG(rng, 400, 4)
	}
	g := view.OfDAG(d)
	p, err := heft(t.Context(), g, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := dagplay.NewReplay(g).Run(p, nil)
	r := dagplay.NewReplay(g)
	ends := 0
	for most := 0; ; most++ {
		asked := 0
		r.Stop = func(effort int64) bool {
			asked++
			return asked > most
		}
		if v := r.Run(p, nil); v == want {
			break
		} else if !math.IsInf(v, 1) {
			t.Fatalf("stopped after %d looks: %v", most, v)
		}
		ends++
		if r.Stop = nil; r.Run(p, nil) != want {
			t.Fatalf("after one that was stopped: %v, not %v", r.Run(p, nil), want)
		}
	}
	if ends == 0 {
		t.Error("it never looked")
	}
}

// There is a feasible schedule or the error says that there is none, at any end of the context.
func TestStoppedUnderContention(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	d := testkit.ContendedDAG(rng, 400, 4)
	for len(d.Tasks) < 200 {
		d = testkit.ContendedDAG(rng, 400, 4)
	}
	schedules := 0
	for _, solve := range []func(context.Context, *model.DAG, model.Settings) (*model.Schedule, error){HEFT, NetworkAware, SinnenSousa, Improve} {
		for effort := int64(1); effort < 3_000_000; effort *= 3 {
			var s *model.Schedule
			err := meter.Within(t.Context(), effort, func(ctx context.Context) (err error) {
				s, err = solve(ctx, d, model.Settings{Seed: 1})
				return err
			})
			if errors.Is(err, model.ErrNoSolution) && s == nil {
				continue
			}
			if err != nil {
				t.Fatal(effort, err)
			}
			report, err := verify.Verify(t.Context(), d, s, verify.Options{})
			if err != nil || !report.Feasible() {
				t.Fatalf("effort %d: %v %v", effort, report.Violations, err)
			}
			schedules++
		}
	}
	if schedules < 20 {
		t.Errorf("%d schedules", schedules)
	}
}
