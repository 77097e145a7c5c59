// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// A booker makes SinnenSousa's schedule of its order and machines (tasks that cost nothing may have other places). A
// try from some place on equals the schedule made afresh, a limit only stops it, and the noted times belong to a
// feasible schedule.
func TestBooker(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 1))
	stopped := 0
	for k := range require.Rounds(600) {
		d := testkit.ContendedDAG(rng, 12, 4)
		if k%2 == 1 {
			d = testkit.Roomy(rng, d)
		}
		g := view.OfDAG(d)
		r := dagplay.NewReplay(g)
		one := require.Value(SinnenSousa(t.Context(), d, model.Settings{}))(t)
		machine := require.Value(d.MachineOf(one))(t)
		o := require.Value(d.Objective(one))(t)
		b := newBooker(g, r)
		if v := b.set(byPriority(g, newBuilder(newCosts(g, nil)).upward()), machine); !near(v, o.Value) && slices.Min(g.Cost) > 0 {
			t.Fatalf("instance %d (%s): %v, SinnenSousa's takes %v", k, d.Name, v, o.Value)
		}
		for range 20 {
			x := int32(rng.IntN(g.Tasks))
			from := b.place[x]
			b.machine[x] = int32(rng.IntN(g.Machines))
			first, last := b.room(x)
			b.move(x, first+int32(rng.IntN(int(last-first+1))))
			from = min(from, b.place[x])
			b.tails()
			v := b.try(from, math.Inf(1), nil)
			if again := newBooker(g, r).set(b.order, b.machine); v != again {
				t.Fatalf("instance %d (%s): from place %d on %v, anew %v", k, d.Name, from, v, again)
			}
			if w := b.try(from, v, nil); w != v {
				t.Fatalf("instance %d (%s): %v with itself as the limit, without %v", k, d.Name, w, v)
			}
			if v > 0 {
				if w := b.try(from, v*(1-1e-9), nil); !math.IsInf(w, 1) && w > v*(1-1e-9) {
					t.Fatalf("instance %d (%s): %v above the limit", k, d.Name, w)
				}
				stopped++
			}
			b.try(from, math.Inf(1), nil)
			b.keep()
		}
		x := times{make([]float64, g.Tasks), make([]float64, len(g.Data))}
		v := b.try(0, math.Inf(1), &x)
		s := d.Schedule(b.machine, x.start, x.sent)
		if o, err := d.Objective(s); err != nil || !near(o.Value, v) {
			t.Fatalf("instance %d (%s): %v %v, booked %v", k, d.Name, o, err, v)
		}
		require.Feasible(verify.Verify(t.Context(), d, s, verify.Options{}))(t, k, d.Name)
	}
	if stopped == 0 {
		t.Error("no limit stops it")
	}
}

// The estimate after moves equals the machines' fresh estimate, and annealing lowers it.
func TestSpread(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 2))
	sum := func(s *spread) (v float64) {
		for _, x := range s.sum {
			v += root8(x)
		}
		return v
	}
	for _, n := range []int{40, 300, 301} {
		d := large(n, 4, model.TransferFair)
		if n%2 == 1 {
			d = cores(d, 4, 3)
		}
		g := view.OfDAG(d)
		b := newBooker(g, dagplay.NewReplay(g))
		machine := make([]int32, g.Tasks)
		for k := range machine {
			machine[k] = int32(rng.IntN(g.Machines))
		}
		s := newSpread(g, b, machine)
		before := sum(s)
		s.anneal(t.Context(), rng, int64(40*n))
		after, anew := sum(s), sum(newSpread(g, b, s.machine))
		if after > 0.9*before || math.Abs(after-anew) > 1e-3*anew {
			t.Errorf("%d tasks: %v, then %v, and anew %v", n, before, after, anew)
		}
	}
}

// bestPlan is the least makespan of all plans, each replayed without holds.
func bestPlan(d *model.DAG) float64 {
	g := view.OfDAG(d)
	r, best := dagplay.NewReplay(g), math.Inf(1)
	p := dagplay.Plan{Machine: make([]int32, g.Tasks), Order: make([][]int32, g.Machines)}
	placed := make([]bool, g.Tasks)
	var walk func(left int)
	walk = func(left int) {
		if left == 0 {
			best = min(best, r.Run(p, nil))
			return
		}
	next:
		for t := range int32(g.Tasks) {
			for _, e := range g.Pred(t) {
				if !placed[g.From[e]] {
					continue next
				}
			}
			if placed[t] {
				continue
			}
			placed[t] = true
			for m := range p.Order {
				p.Machine[t], p.Order[m] = int32(m), append(p.Order[m], t)
				walk(left - 1)
				p.Order[m] = p.Order[m][:len(p.Order[m])-1]
			}
			placed[t] = false
		}
	}
	walk(g.Tasks)
	return best
}

// On tiny instances Improve nearly always finds the best plan, or one with held transfers
// that is better, and nothing below the optimum without contention.
func TestImproveAgainstAll(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 3))
	missed, rounds := 0, require.Rounds(150)
	for k := range rounds {
		d := testkit.ContendedDAG(rng, 5, 4)
		s := require.Value(Improve(t.Context(), d, model.Settings{Seed: uint64(k)}))(t)
		require.Feasible(verify.Verify(t.Context(), d, s, verify.Options{}))(t, k, d.Name)
		o := require.Value(d.Objective(s))(t)
		if least, _ := plain.Optimum(d.WithoutContention()); o.Value < least*(1-1e-9) {
			t.Errorf("instance %d (%s): %v, the optimum without contention is %v", k, d.Name, o.Value, least)
		}
		if o.Value > bestPlan(d)*(1+1e-9) {
			missed++
		}
	}
	if t.Log(missed, "of", rounds, "missed"); 50*missed > rounds {
		t.Errorf("the best plan isn't found on %d of %d", missed, rounds)
	}
}

// With all times multiplied by a power of two Improve does the same.
func TestImproveScaled(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 4))
	for k := range 20 {
		d := testkit.ContendedDAG(rng, 12, 4)
		x := *d
		x.Machines, x.Tasks, x.Edges = slices.Clone(d.Machines), slices.Clone(d.Tasks), slices.Clone(d.Edges)
		const by = 1 << 6
		for a := range x.Machines {
			x.Machines[a].StartupS *= by
		}
		for i := range x.Tasks {
			if w := x.Tasks[i].Work; w != nil {
				more := *w * by
				x.Tasks[i].Work = &more
			}
			x.Tasks[i].CostS = slices.Clone(x.Tasks[i].CostS)
			for a := range x.Tasks[i].CostS {
				x.Tasks[i].CostS[a] *= by
			}
		}
		for e := range x.Edges {
			x.Edges[e].Data *= by
		}
		var value [2]float64
		for i, d := range []*model.DAG{d, &x} {
			s := require.Value(Improve(t.Context(), d, model.Settings{Seed: 7}))(t)
			o := require.Value(d.Objective(s))(t)
			value[i] = o.Value
		}
		if value[0]*by != value[1] {
			t.Errorf("instance %d (%s): %v, scaled %v", k, d.Name, value[0]*by, value[1])
		}
	}
}

// improve goes on next to other solvers, and reports what it finds. It reports nothing worse than earlier reports of
// its own or theirs. On large graphs, too, it is better than SinnenSousa after a while.
func TestImproveGoesOn(t *testing.T) {
	t.Parallel()
	for _, n := range []int{40, 400} {
		d := large(n, 4, model.TransferFair)
		one := require.Value(SinnenSousa(t.Context(), d, model.Settings{}))(t)
		o := require.Value(d.Objective(one))(t)
		run := func(others func() model.Progress, start model.Solution, turnsOf int) (told []model.Progress) {
			set := model.Settings{Seed: 1, Others: others, Start: start, Progress: func(p model.Progress) { told = append(told, p) }}
			seat := meter.NewSeat(t.Context(), func(ctx context.Context) error {
				_, err := improve(run.New(ctx, "test", d, set), d)
				return err
			})
			defer seat.Leave()
			for range turnsOf {
				if ended, err := seat.Turn(100_000); ended || err != nil {
					t.Fatalf("%d tasks: it has ended, %v", n, err)
				}
			}
			return slices.Clone(told)
		}
		told := run(func() model.Progress { return model.Progress{} }, nil, 12)
		for k, p := range told {
			value, err := d.Objective(p.Solution)
			if err != nil || !near(value.Value, p.Incumbent) || k > 0 && p.Incumbent > told[k-1].Incumbent {
				t.Errorf("%d tasks: told %v as %v %v", n, value, p.Incumbent, err)
			}
		}
		best := told[len(told)-1]
		if report, err := verify.Verify(t.Context(), d, best.Solution, verify.Options{}); err != nil || !report.Feasible() || best.Incumbent > 0.9*o.Value {
			t.Errorf("%d tasks: %v %v, told %v, SinnenSousa's %v", n, report, err, best.Incumbent, o.Value)
		}
		more := run(func() model.Progress { return best }, one, 6)
		for _, p := range more {
			if p.Incumbent >= best.Incumbent {
				t.Errorf("%d tasks: others have %v, it tells %v", n, best.Incumbent, p.Incumbent)
			}
		}
		again := run(func() model.Progress { return model.Progress{} }, nil, 6)
		require.Same(t, fmt.Sprintf("%d tasks: twice", n), told[:min(len(told), len(again))], again,
			cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(model.Progress{}, "Elapsed"))
	}
}
