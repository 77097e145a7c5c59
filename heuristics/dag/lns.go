// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/dagplay"
	"github.com/gapwise/gapwise/internal/turns"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// LNS is a large neighbourhood search (Shaw 1998; ours): from Improve's schedule it
// relaxes a few tasks again and again, all others keep their machines and their order
// on them, and a learning kernel (package lcg) looks for a shorter schedule among all
// that are left. It is any-time and never worse than Improve.
//
// A neighbourhood is searched for so many conflicts and events. One that was searched
// to its end makes the next of its kind larger, one that wasn't makes it smaller. The
// kinds that bring more are drawn more often. Every other neighbourhood starts from
// random machines and orders and takes a plan that is as good, too, so that the search
// doesn't stay where it is. When some hundred neighbourhoods in a row
// have brought nothing, the search ends or, if it has a deadline, gives each one twice
// the conflicts from then on. It ends, too, when a neighbourhood of all tasks
// was searched to its end or the makespan is that of a quick bound.
//
// The constraint model knows no contention, so other transfer models than the ideal one
// are model.ErrUnsupported. (Of plans that it proposed without contention, none was
// shorter under it than Improve's, on six graphs of 40 to 90 tasks on one bus.)
func LNS(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	return schedule(lns(ctx, d, set))
}

func lns(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, []model.Round, error) {
	if d.Transfers() != model.TransferIdeal {
		return nil, nil, fmt.Errorf("%w: lns knows no contention, take improve, or the transfer model %q", model.ErrUnsupported, model.TransferIdeal)
	}
	s, err := improved(ctx, d, set)
	if err != nil {
		return nil, nil, err
	}
	plan, _ := Neighbourhoods(ctx, s.g, s.best.Plan, set.Seed, 0, func(p dagplay.Plan, makespan float64, conflicts int64) {
		if set.Progress != nil {
			schedule, _ := played(d, s.g, p, nil)
			set.Progress(model.Progress{Algorithm: "lns", Incumbent: makespan, Bound: math.NaN(), Nodes: conflicts, Solution: schedule})
		}
	})
	best, rounds := played(d, s.g, plan, nil)
	return best, rounds, nil
}

// Neighbourhoods is LNS on a plan for a contention-free graph. It returns the best plan
// and its makespan in seconds. It ends after about so many conflicts or a hundred times as
// many events, or earlier; 0: as LNS does. found is told of each better plan, and of the
// conflicts so far.
func Neighbourhoods(ctx context.Context, g *view.Graph, p dagplay.Plan, seed uint64, conflicts int64, found func(p dagplay.Plan, makespan float64, conflicts int64)) (dagplay.Plan, float64) {
	x := newNeighbourhoods(ctx, g, p, seed)
	if x.most = conflicts; conflicts == 0 {
		_, x.patient = ctx.Deadline()
	}
	x.found = func() { found(x.board.plan, x.value, x.conflicts) }
	x.run(ctx)
	return x.board.plan, x.value
}

// neighbourhoods is the state of a large neighbourhood search.
type neighbourhoods struct {
	board   *board
	value   float64 // makespan of its plan, in seconds
	bound   float64 // of all plans
	horizon float64 // of the board's ticks
	rng     *rand.Rand
	found   func()  // told of each better plan
	aside   float64 // share of the neighbourhoods that take a plan that is as good
	patient bool    // doubles the limits instead of ending
	off     [kinds]bool

	kinds  [kinds]kindState
	effort int64 // by which the limits are multiplied
	most   int64 // conflicts, 0: no limit
	over   bool  // no plan is better

	conflicts, events int64
}

// kindState is what is known of a kind of neighbourhoods.
type kindState struct {
	size        float64 // tasks to relax
	gain, tries float64 // successes and tries, older ones count less

	searched, closed, better int
}

// Limits of a neighbourhood, to be multiplied by the effort.
const (
	lnsConflicts = 200
	lnsEvents    = 10_000 // not within one search for a better plan
	lnsPatience  = 100    // neighbourhoods in a row that bring nothing
)

func newNeighbourhoods(ctx context.Context, g *view.Graph, p dagplay.Plan, seed uint64) *neighbourhoods {
	x := &neighbourhoods{value: dagplay.Ideal(g, p), rng: rand.New(rand.NewPCG(seed, 0x6c6e73)), effort: 1, aside: 0.5, found: func() {}}
	x.horizon, x.board = x.value, newBoard(g, p, x.value)
	for _, b := range dagbounds.Quick(ctx, g) {
		x.bound = max(x.bound, b.Value)
	}
	for k := range x.kinds {
		x.kinds[k] = kindState{size: 10, gain: 1, tries: 1}
	}
	return x
}

// run searches neighbourhoods to the end.
func (x *neighbourhoods) run(ctx context.Context) {
	// Rounding may leave a schedule that meets the bound a little above it.
	for failed := 0; !x.over && x.value > x.bound*(1+1e-9) && !turns.Stop(ctx, 50); {
		searched, better := x.next(ctx)
		switch {
		case better:
			failed = 0
		case searched:
			failed++
		}
		if x.most > 0 && (x.conflicts >= x.most || x.events >= 100*x.most) {
			return
		}
		if failed >= lnsPatience {
			if !x.patient {
				return
			}
			failed = 0
			x.effort *= 2
		}
	}
}

// next takes one neighbourhood. It reports whether it was searched, since there could be
// something better by the longest paths, and whether there was.
func (x *neighbourhoods) next(ctx context.Context) (searched, better bool) {
	n := x.board.n
	kind := x.kind()
	k := &x.kinds[kind]
	k.size = min(k.size, float64(n))
	relaxed := x.choose(kind, int(k.size))
	before := x.events
	searched, better, closed := x.search(ctx, relaxed)
	if closed && len(relaxed) == n {
		x.over = true
	}
	switch {
	case !searched:
		k.size = k.size*1.03 + 0.1
		return false, false
	case closed && x.events-before <= lnsEvents*x.effort:
		k.size = k.size*1.03 + 0.1
	case closed || !better:
		k.size = max(k.size*0.97-0.1, 4)
	}
	k.gain, k.tries = k.gain*0.98, k.tries*0.98+1
	k.searched++
	if better {
		k.gain++
		k.better++
	}
	if closed {
		k.closed++
	}
	return true, better
}

// search looks for plans better than the one at hand in which all but the relaxed tasks
// keep their machines and their order. It reports whether the kernel had anything to
// search, whether it found one, and whether there is none better than that.
func (x *neighbourhoods) search(ctx context.Context, relaxed []int32) (searched, better, closed bool) {
	b := x.board
	aside := x.rng.Float64() < x.aside
	horizon := b.makespan - 1
	if aside {
		horizon++
	}
	if !b.free(relaxed, horizon) {
		return false, false, true
	}
	w := b.window(horizon)
	if w == nil {
		return false, false, true
	}
	if aside { // any other plan, if it isn't longer
		for _, v := range w.Decisions {
			w.values[v] = x.rng.Int64N(2)
		}
	}
	k := lcg.New(&w.Model.Model)
	found := false
	for !closed && k.Conflicts < lnsConflicts*x.effort && k.Events < lnsEvents*x.effort {
		k.SetPhases(w.values)
		answer := k.Search(ctx, lnsConflicts*x.effort-k.Conflicts)
		if answer == lcg.Unknown {
			break
		}
		if closed = answer != lcg.Satisfied; !closed {
			found = true
			w.values = append(w.values[:0], k.Values()...)
			k.Require(w.Objective.AtMost(min(b.makespan, w.values[w.Objective]) - 1))
		}
	}
	x.conflicts += k.Conflicts
	x.events += k.Events
	if !found {
		return true, false, closed
	}
	p := w.read()
	value := dagplay.Ideal(b.Graph, p) // ticks may have been rounded
	if value > x.value || !b.take(p) {
		return true, false, closed
	}
	if !less(value, x.value) {
		return true, false, closed
	}
	x.value = value
	if !b.Ticks.Whole && value < x.horizon/2 { // a much better plan asks for finer ticks
		x.horizon, x.board, closed = value, newBoard(b.Graph, p, value), false
	}
	x.found()
	return true, true, closed
}
