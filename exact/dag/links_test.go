// SPDX-License-Identifier: MIT

package dag

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// heldOnGrid plays a plan with transfers held back in all ways on a grid of starts, or in so many
// of them at random, and returns the least makespan.
func heldOnGrid(rng *rand.Rand, g *view.Graph, r *dagplay.Replay, p dagplay.Plan, most int) float64 {
	best := r.Run(p, nil)
	var flows []int32
	for e := range int32(len(g.Data)) {
		if m, n := p.Machine[g.From[e]], p.Machine[g.To[e]]; m != n && r.Contends(m, n) {
			flows = append(flows, e)
		}
	}
	const steps = 25
	ways := math.Pow(steps, float64(len(flows)))
	from := make([]float64, len(g.Data))
	unit := best / (steps - 1)
	for k := range min(most, int(min(ways, 1e9))) {
		for i, e := range flows {
			at := k
			for range i {
				at /= steps
			}
			if ways > float64(most) {
				at = rng.IntN(steps)
			}
			from[e] = float64(at%steps) * unit
		}
		best = min(best, r.RunFrom(p, from))
	}
	return best
}

// No schedule of a plan on a grid beats the one that the search finds for it, with the loads of links in its programs
// or without.
func TestHeldAgainstGrid(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 1))
	better, most := 0, 4000
	if testing.Short() {
		most = 800
	}
instances:
	for k := range max(100, require.Rounds(150)) {
		d := testkit.ContendedDAG(rng, 6, 3)
		if k%3 == 0 {
			d.TransferModel = model.TransferFair
			testkit.Late(rng, d)
			for r := range d.Network.Routes {
				d.Network.Routes[r].Weight = 1 + rng.Int64N(5)
			}
			d.Network.AcksPercent = 0 // the search knows none
		}
		d.Machines[0].LocalRate = []float64{0, 0, 1}[k%3]
		g := view.OfDAG(d)
		r := dagplay.NewReplay(g)
		p := testkit.RandomPlan(rng, g, false)
		eager := r.Run(p, nil)
		var found [2]float64
		for off := range found {
			h := newHeldSearch(t.Context(), g, r, p, eager)
			h.withoutLoads, h.limit = off == 1, 2000
			if done := h.run(); h.failed == nil && !done && h.programs >= h.limit {
				continue instances // too much for a test
			} else if !done || h.failed != nil {
				t.Fatalf("%d: not complete: %v", k, h.failed)
			}
			found[off] = h.upper
			if made := r.RunFrom(p, h.sent); made > h.upper*(1+1e-12) {
				t.Fatalf("%d: it plays in %v, not in %v", k, made, h.upper)
			}
		}
		if math.Abs(found[0]-found[1]) > 1e-6*eager {
			t.Fatalf("%d: %v, without loads %v", k, found[0], found[1])
		}
		if found[0] < eager*(1-1e-6) {
			better++
		}
		if grid := heldOnGrid(rand.New(rand.NewPCG(31, uint64(k))), g, r, p, most); grid < found[0]*(1-1e-7) {
			t.Fatalf("%d: held back on a grid the plan ends at %v, the search says %v", k, grid, found[0])
		}
	}
	if better == 0 {
		t.Error("no plan was better with transfers held back")
	}
}

// Rates of the search are max-min fair in proportion to weights: a transfer gets its route's whole rate, or one of its
// links is full and gives no other transfer more for each unit of weight.
func TestHeldRates(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 7))
	apart := 0
	for k := range require.Rounds(1000) {
		d := testkit.ContendedDAG(rng, 8, 4)
		d.TransferModel = model.TransferFair
		for r := range d.Network.Routes {
			d.Network.Routes[r].Weight = 1 + rng.Int64N(5)
		}
		g := view.OfDAG(d)
		r := dagplay.NewReplay(g)
		h := newHeldSearch(t.Context(), g, r, testkit.RandomPlan(rng, g, false), math.Inf(1))
		n := &holding{}
		for _, e := range h.flows {
			if rng.IntN(4) > 0 {
				n.acts = append(n.acts, holdAct{what: actFlow, id: e, amount: g.Data[e]})
			}
		}
		rate := h.rates(n)
		on := make([]float64, len(g.Links))  // the load of a link
		top := make([]float64, len(g.Links)) // the most that it gives for a unit of weight
		for i := range n.acts {
			m, to := h.ends(n.acts[i].id)
			for _, l := range g.Route(m, to) {
				on[l] += rate(&n.acts[i])
				top[l] = max(top[l], rate(&n.acts[i])/float64(g.Weight(m, to)))
			}
		}
		for l, load := range on {
			if load > g.Links[l]*(1+1e-9) {
				t.Fatalf("%d: link %d carries %v of %v", k, l, load, g.Links[l])
			}
		}
		for i := range n.acts {
			m, to := h.ends(n.acts[i].id)
			got := rate(&n.acts[i])
			whole := g.Rate[int(m)*g.Machines+int(to)]
			if got > whole*(1+1e-9) {
				t.Fatalf("%d: transfer %d gets %v, its route has %v", k, n.acts[i].id, got, whole)
			}
			held := slices.ContainsFunc(g.Route(m, to), func(l int32) bool {
				return on[l] > g.Links[l]*(1-1e-9) && got/float64(g.Weight(m, to)) > top[l]*(1-1e-9)
			})
			if got < whole*(1-1e-9) && !held {
				t.Fatalf("%d: transfer %d gets %v and could have more", k, n.acts[i].id, got)
			}
			if held && got < whole*(1-1e-9) && g.Weight(m, to) > 1 {
				apart++
			}
		}
	}
	if apart == 0 {
		t.Error("no weight had an effect")
	}
}

// A value called optimal under contention is optimal: no plan with transfers held back at random, and no plan at all
// with transfers at once, is better. It is the same from a poor schedule, and without the devices that only make it
// faster.
func TestLinkedAgainstPlans(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 2))
	optimal, n := 0, require.Rounds(200)
	for k := range n {
		d := testkit.ContendedDAG(rng, []int{5, 8}[k%2], 3)
		if k%4 > 1 {
			testkit.Late(rng, d)
		}
		g := view.OfDAG(d)
		set := model.Settings{Seed: 1, Effort: []int64{0, 300_000}[k%2]}
		r := require.Value(Search.Solve(t.Context(), d, set))(t)
		if r.Status != model.StatusOptimal && set.Effort > 0 {
			continue
		} else if r.Status != model.StatusOptimal {
			t.Fatalf("%d: %s, %v and %v: %s", k, r.Status, r.Objective, r.Bound, r.Reason)
		}
		if r.Gap > 0 {
			optimal++
		}
		require.Feasible(verify.Verify(t.Context(), d, r.Solution, verify.Options{}))(t, k)
		replay := dagplay.NewReplay(g)
		for range 40 {
			p := testkit.RandomPlan(rng, g, false)
			if made := heldOnGrid(rng, g, replay, p, 100); made < r.Bound*(1-1e-9) {
				t.Fatalf("%d: a plan ends at %v, below the bound %v", k, made, r.Bound)
			}
		}
		p := require.Value(dagplay.PlanOf(d, g, r.Solution.(*model.Schedule)))(t)
		if made := heldOnGrid(rng, g, replay, p, 5000); made < r.Bound*(1-1e-9) {
			t.Fatalf("%d: the best plan ends at %v, below the bound %v", k, made, r.Bound)
		}
		for _, off := range []deviceSet{devStart, devStart | devLinkWindows, devStart | devLinkLoads} {
			without := require.Value(Search.Off(off).Solve(t.Context(), d, set))(t)
			if without.Status != model.StatusOptimal && set.Effort > 0 {
				continue
			}
			if math.Abs(without.Objective-r.Objective) > 1e-6*r.Objective || without.Status != model.StatusOptimal {
				t.Fatalf("%d: %s, %v with all devices; %s, %v without %b", k, r.Status, r.Objective, without.Status, without.Objective, off)
			}
		}
	}
	if optimal == 0 {
		t.Error("no proof took plans that were excluded")
	}
}

// The model of links lets every schedule through: no constraint is broken with its machines, orders and starts, rounded
// down.
func TestLinkModelRelaxes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 3))
	for k := range require.Rounds(300) {
		d := testkit.ContendedDAG(rng, 12, 3)
		g := view.OfDAG(d)
		r := dagplay.NewReplay(g)
		p := testkit.RandomPlan(rng, g, false)
		from := make([]float64, len(g.Data))
		makespan := r.Run(p, nil)
		for e := range from {
			if rng.IntN(2) == 0 {
				from[e] = rng.Float64() * makespan
			}
		}
		makespan = r.RunFrom(p, from)
		s := &dagSearch{g: view.OfDAG(d.WithoutContention())}
		v := newTicks(s.g, makespan, 0)
		require.OK(t, v.findWeights(t.Context()))
		x := s.linkModel(v, g, int64(makespan/v.Ticks.Unit*(1+1e-12)))
		kernel := lcg.New(&x.Model.Model)
		start := make([]int64, g.Tasks)
		for task := range start {
			start[task] = int64(r.Start[task] / v.Ticks.Unit * (1 + 1e-13))
		}
		for task := range int32(g.Tasks) {
			at := x.On(task, int(p.Machine[task]))
			kernel.Require(at.If)
			kernel.Require(at.At.AtLeast(start[task]))
			kernel.Require(at.At.AtMost(start[task]))
		}
		require.Same(t, fmt.Sprintf("%d: a schedule that ends at %v isn't let through", k, makespan), lcg.Satisfied,
			kernel.Search(t.Context(), 10_000))
	}
}
