// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/lns"
	"github.com/gapwise/gapwise/model"
)

// LNS is a large neighbourhood search (Shaw 1998; ours), from Improve's schedule, in auto from the best. It relaxes a
// few tasks again and again, and all others keep their machines and their order on them. A learning kernel (package
// lcg) looks for a shorter schedule among all the schedules that are left. It is any-time and never worse than Improve.
//
// Package lns decides how long a neighbourhood is searched, and of which kind and size the next one is. Every other
// neighbourhood starts from random machines and orders and takes a plan that is as good, too, so that the search
// doesn't stay where it is. The search ends when some hundred neighbourhoods in a row have brought nothing. With a
// deadline or in auto, it gives each one twice the conflicts from then on instead. It ends, too, when a neighbourhood
// of all tasks was searched to its end or the makespan equals a quick bound.
//
// The constraint model knows no contention, so other transfer models than the ideal one are model.ErrUnsupported. (None
// of the plans that it proposed without contention was shorter under it than Improve's, on six graphs of 40 to 90 tasks
// on one bus.) Nor does it know capacities: on machines that run several tasks at once it returns Improve's schedule.
func LNS(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return searchNear(run.New(ctx, "lns", d, set), d)
}

func searchNear(r *run.Run, d *model.DAG) (*model.Schedule, error) {
	if d.Transfers() != model.TransferIdeal {
		return nil, fmt.Errorf("%w: lns knows no contention, take improve, or the transfer model %q", model.ErrUnsupported, model.TransferIdeal)
	}
	g := view.Shared(r.Ctx, d, view.OfDAG)
	s, err := startSearch(r, d, g)
	if err != nil {
		return nil, err
	}
	if !r.Beside() { // else Improve is another worker
		s.anneal(s.steps(), 0)
	}
	if g.Room != nil {
		return s.schedule(), nil
	}
	x := newNeighbourhoods(g, s.best.Plan, dagbounds.Lower(r.Ctx, d, g), r.Set.Seed)
	x.Patient = r.Limited() || r.Beside()
	x.news = func() {
		if s.news() && less(s.lowest, x.value) && x.board.adopt(s.best.Plan) {
			x.value = s.lowest
		}
	}
	x.found = func() {
		r.Tell(x.value, math.NaN(), func() model.Solution { return idealSchedule(d, g, x.board.plan) })
	}
	x.run(r.Ctx)
	return idealSchedule(d, g, x.board.plan), nil
}

// idealSchedule returns the schedule of a plan for a contention-free graph.
func idealSchedule(d *model.DAG, g *view.Graph, p dagplay.Plan) *model.Schedule {
	r := dagplay.NewReplay(g)
	r.Run(p, nil)
	return d.Schedule(p.Machine, r.Start, r.Sent)
}

// Neighbourhoods is LNS on a plan for a contention-free graph with no makespan below bound (seconds). It returns the
// best plan and its makespan in seconds. It ends after about so many conflicts or a hundred times as many events, or
// earlier; 0: with a deadline at that. It calls found with each better plan, and the conflicts so far. Its model knows no
// capacities, so a plan of machines that run several tasks at once comes back as it is.
func Neighbourhoods(ctx context.Context, g *view.Graph, p dagplay.Plan, bound float64, seed uint64, conflicts int64, found func(p dagplay.Plan, makespan float64, conflicts int64)) (dagplay.Plan, float64) {
	if g.Room != nil {
		return p, dagplay.Ideal(g, p)
	}
	x := newNeighbourhoods(g, p, bound, seed)
	if x.Most = conflicts; conflicts == 0 {
		_, x.Patient = ctx.Deadline()
	}
	x.found = func() { found(x.board.plan, x.value, x.Conflicts) }
	x.run(ctx)
	return x.board.plan, x.value
}

// neighbourhoods is the state of a large neighbourhood search.
type neighbourhoods struct {
	*lns.Search
	board   *board
	value   float64 // makespan of its plan, in seconds
	bound   float64 // of all plans
	horizon float64 // of the board's ticks
	found   func()  // told of each better plan
	news    func()  // takes a plan of others, if it is better
	aside   float64 // share of the neighbourhoods that take a plan that is as good
}

func newNeighbourhoods(g *view.Graph, p dagplay.Plan, bound float64, seed uint64) *neighbourhoods {
	x := &neighbourhoods{Search: lns.New(rand.New(rand.NewPCG(seed, 0x6c6e73)), kinds), value: dagplay.Ideal(g, p), bound: bound, aside: 0.5, found: func() {}, news: func() {}}
	x.horizon, x.board = x.value, newBoard(g, p, x.value)
	return x
}

// run searches neighbourhoods to the end.
func (x *neighbourhoods) run(ctx context.Context) {
	// Rounding may leave a schedule that meets the bound a little above it.
	met := func() bool { return x.value <= x.bound*(1+1e-9) }
	x.Run(ctx, x.board.n, met, func(kind, size int) lns.Outcome {
		x.news()
		return x.search(ctx, x.choose(kind, size))
	})
}

// search looks for plans better than the one at hand in which all but the relaxed tasks
// keep their machines and their order.
func (x *neighbourhoods) search(ctx context.Context, relaxed []int32) lns.Outcome {
	b := x.board
	o := lns.Outcome{All: len(relaxed) == b.n}
	aside := x.Rand.Float64() < x.aside
	horizon := b.makespan - 1
	if aside {
		horizon++
	}
	var w *window
	if b.free(relaxed, horizon) {
		w = b.window(horizon)
	}
	if w == nil {
		o.Trivial, o.Closed = true, true
		return o
	}
	if aside { // any other plan, if it isn't longer
		for _, v := range w.Decisions {
			w.values[v] = x.Rand.Int64N(2)
		}
	}
	var values []int64
	if values, o.Closed = x.Solve(ctx, &w.Model.Model, w.values, b.makespan); values == nil {
		return o
	}
	w.values = values
	p := w.read()
	value := dagplay.Ideal(b.Graph, p) // ticks may have been rounded
	if value > x.value || !b.adopt(p) || !less(value, x.value) {
		return o
	}
	x.value, o.Better = value, true
	if !b.Ticks.Whole && value < x.horizon/2 { // a much better plan asks for finer ticks
		x.horizon, x.board, o.Closed = value, newBoard(b.Graph, p, value), false
	}
	x.found()
	return o
}
