// SPDX-License-Identifier: MIT

package dagplay_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// Plans on machines with capacities become schedules that the judge accepts, under each transfer model. Without
// contention both replays agree with a plain list of starts: each task at the first time at which all others that were
// started leave it room. A schedule that has one start earlier isn't accepted.
func TestRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	early, several := 0, 0
	for range 4000 {
		d := testkit.Roomy(rng, testkit.RandomDAG(rng, 1+rng.IntN(9), 1+rng.IntN(3)))
		if rng.IntN(2) == 0 {
			testkit.Contend(rng, d)
		}
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		g := view.OfDAG(d)
		p := testkit.RandomPlan(rng, g, rng.IntN(2) == 0)
		r := dagplay.NewReplay(g)
		makespan := r.Run(p, nil)
		if math.IsInf(makespan, 1) {
			continue // a task of the plan can't run there
		}
		s := d.Schedule(p.Machine, slices.Clone(r.Start), slices.Clone(r.Sent))
		if report := judge(t, d, s); !report.Feasible() {
			t.Fatalf("%s: %v", d.Name, report.Violations)
		}
		if d.Transfers() == model.TransferIdeal {
			plain := plainRoom(g, p)
			for k := range plain {
				if math.Abs(plain[k]-r.Start[k]) > 1e-9*math.Abs(makespan) {
					t.Fatalf("%s: starts %v, by a plain list %v", d.Name, r.Start, plain)
				}
			}
		}
		if g.Room != nil {
			several++
		}
		if d.Transfers() != model.TransferIdeal {
			continue
		}
		k := rng.IntN(g.Tasks)
		if s.Tasks[k].StartS > 0 && len(g.Succ(int32(k))) == 0 {
			s.Tasks[k].StartS *= 1 - 1e-3
			if !judge(t, d, s).Feasible() {
				early++
			}
		}
	}
	if early < 100 || several < 1000 {
		t.Errorf("%d schedules had a start too early, %d machines with room: the draws say little", early, several)
	}
}

func judge(t *testing.T, d *model.DAG, s *model.Schedule) verify.Report {
	t.Helper()
	r, err := verify.Verify(context.Background(), d, s, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plainRoom returns the starts of a plan on machines with capacities, each task after the ones before it on its machine.
func plainRoom(g *view.Graph, p dagplay.Plan) []float64 {
	start, done := make([]float64, g.Tasks), make([]bool, g.Tasks)
	end := func(t int32) float64 { return start[t] + g.Cost[int(t)*g.Machines+int(p.Machine[t])] }
	fits := func(t, m int32, at float64) bool {
		if g.Room == nil || g.Cost[int(t)*g.Machines+int(m)] == 0 {
			return true
		}
		left := slices.Clone(g.Room.Of(m))
		for _, u := range p.Order[m] {
			if u == t || done[u] && start[u] <= at && at < end(u) {
				for r, n := range g.Room.Need(u, m) {
					left[r] -= n
				}
			}
		}
		return slices.Min(left) >= 0
	}
	next := make([]int, g.Machines)
	for left := g.Tasks; left > 0; {
		for m := range int32(g.Machines) {
			if next[m] == len(p.Order[m]) {
				continue
			}
			t, at, ready := p.Order[m][next[m]], 0.0, true
			if next[m] > 0 {
				before := p.Order[m][next[m]-1]
				if at = start[before]; g.Room == nil {
					at = end(before)
				}
			}
			for _, e := range g.Pred(t) {
				f := g.From[e]
				ready = ready && done[f]
				at = max(at, end(f)+g.Comm(e, p.Machine[f], m))
			}
			if !ready {
				continue
			}
			for moments := []float64{at}; ; moments = moments[1:] {
				if len(moments) == 1 {
					for _, u := range p.Order[m][:next[m]] {
						if end(u) > at {
							moments = append(moments, end(u))
						}
					}
					slices.Sort(moments)
				}
				if start[t] = moments[0]; fits(t, m, start[t]) {
					break
				}
			}
			done[t] = true
			next[m]++
			left--
		}
	}
	return start
}
