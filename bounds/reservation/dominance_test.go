// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// mirror reverses time.
func mirror(t *view.Reservation) *view.Reservation {
	m := *t
	m.Jobs = nil
	for _, j := range t.Jobs {
		j.Ready, j.Due = 1000-j.Due, 1000-j.Ready
		m.Jobs = append(m.Jobs, j)
	}
	return &m
}

// randomTicks draws an instance of up to the given number of jobs, around a few times.
func randomTicks(k, most int, goal model.Goal) *view.Reservation {
	rng := rand.New(rand.NewPCG(6, uint64(k)))
	pes, rs := randomWhole(rng, most)
	for j := range rs {
		later := 15 * rng.Int64N(int64(1+k%4))
		rs[j].ready += later
		rs[j].deadline += later
	}
	return view.OfReservation(reservationOf(pes, goal, 1, rs...))
}

// fractionalArea returns the area bound without integrality.
func fractionalArea(w *work) float64 {
	x := *w
	x.count = false
	forwards, _ := x.onTime(&w.resources[0], false)
	backwards, _ := x.onTime(&w.resources[0], true)
	return min(forwards, backwards)
}

// The flow's relaxation is never weaker than the area's, and the integer readings never weaker than the fractions; time
// reversed gives the same.
func TestReservationDominance(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	stronger, parts := 0, 0
	for k := range 3000 {
		ticks := randomTicks(k, 25, model.Goals[k%2])
		w, m := newWork(ticks), newWork(mirror(ticks))
		area, flow := fractionalArea(w), w.flow(ctx, &w.resources[0])
		if flow.fractional > area*(1+1e-9) {
			t.Fatalf("instance %d: flow %v above area %v", k, flow.fractional, area)
		}
		if flow.fractional < area*(1-1e-9) {
			stronger++
		}
		whole := w.down(flow.fractional)
		if flow.accepted > whole {
			t.Fatalf("instance %d: %v in parts, %v in all", k, flow.accepted, whole)
		}
		if flow.accepted < whole {
			parts++
		}
		if back := m.flow(ctx, &m.resources[0]).fractional; math.Abs(back-flow.fractional) > 1e-9*back {
			t.Fatalf("instance %d: flow %v, with time reversed %v", k, flow.fractional, back)
		}
		if a, b := w.area(t.Context()).Value, m.area(t.Context()).Value; math.Abs(a-b) > 1e-9*a {
			t.Fatalf("instance %d: area %v, with time reversed %v", k, a, b)
		}
		all := w.energetic(ctx, windowSet{all: true}).Value
		if some := w.energetic(ctx, quickWindows(1e6)).Value; some < all {
			t.Fatalf("instance %d: some windows %v, all windows %v", k, some, all)
		}
	}
	if stronger < 500 || parts < 20 {
		t.Errorf("flow stronger %d times, better in parts %d times", stronger, parts)
	}
}

// The greedy flow has the value of the linear program of the relaxation.
func TestReservationFlowIsLP(t *testing.T) {
	require.HiGHS(t)
	t.Parallel()
	ctx := context.Background()
	fractions := 0
	for k := range 400 {
		ticks := randomTicks(k, 12, model.Goals[k%2])
		w := newWork(ticks)
		res := &w.resources[0]
		got := w.flow(ctx, res).fractional
		r := newFlowRun(ctx, w, res)
		m := milp.Model{Maximise: true}
		rows := make([][]milp.Term, len(r.ends))
		for j, x := range w.jobs {
			area := float64(res.size[j] * x.length)
			var all []milp.Term
			for i := r.first[j]; i < r.past[j]; i++ {
				v := m.AddVar(milp.Var{Upper: float64(res.size[j] * (r.ends[i+1] - r.ends[i])), Cost: x.weight / area})
				all = append(all, milp.Term{Var: v, Coef: 1})
				rows[i] = append(rows[i], milp.Term{Var: v, Coef: 1})
			}
			m.AddRow("", 0, area, all...)
		}
		for i, terms := range rows {
			if len(terms) > 0 {
				m.AddRow("", 0, float64(res.capacity*(r.ends[i+1]-r.ends[i])), terms...)
			}
		}
		if len(m.Vars) == 0 {
			continue
		}
		h, err := highs.Solve(ctx, &m, milp.Options{})
		if err != nil || h.Status != milp.Optimal {
			t.Fatal(h.Status, err)
		}
		if math.Abs(h.Objective-got) > 1e-6*max(1, got) {
			t.Fatalf("instance %d: greedy %v, HiGHS %v", k, got, h.Objective)
		}
		if got < w.total {
			fractions++
		}
	}
	if fractions < 100 {
		t.Errorf("only %d instances with too many jobs", fractions)
	}
}
