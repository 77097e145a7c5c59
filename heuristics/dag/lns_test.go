// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/lns"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// families draws instances of every kind that a neighbourhood's model treats in its own
// way.
var families = map[string]func(rng *rand.Rand, n int) *model.DAG{
	"any":       func(rng *rand.Rand, n int) *model.DAG { return testkit.RandomDAG(rng, n, 1+rng.IntN(3)) },
	"machine":   func(rng *rand.Rand, n int) *model.DAG { return testkit.RandomDAG(rng, n, 1) },
	"identical": func(rng *rand.Rand, n int) *model.DAG { return changed(testkit.RandomDAG(rng, n, 3), identical) },
	"no edges": func(rng *rand.Rand, n int) *model.DAG {
		return changed(testkit.RandomDAG(rng, n, 3), func(d *model.DAG) { d.Edges = nil })
	},
	"no data": func(rng *rand.Rand, n int) *model.DAG {
		return changed(testkit.RandomDAG(rng, n, 2), func(d *model.DAG) {
			for e := range d.Edges {
				d.Edges[e].Data = 0
			}
		})
	},
	"no costs": func(rng *rand.Rand, n int) *model.DAG {
		return changed(testkit.RandomDAG(rng, n, 2), func(d *model.DAG) {
			for t := range d.Tasks {
				if rng.IntN(2) == 0 {
					clear(d.Tasks[t].CostS)
				}
			}
		})
	},
	"nothing": func(rng *rand.Rand, n int) *model.DAG {
		return changed(testkit.RandomDAG(rng, n, 2), func(d *model.DAG) {
			for t := range d.Tasks {
				clear(d.Tasks[t].CostS)
			}
			for e := range d.Edges {
				d.Edges[e].Data = 0
			}
		})
	},
	"rounded": func(rng *rand.Rand, n int) *model.DAG {
		return changed(testkit.RandomDAG(rng, n, 2), func(d *model.DAG) {
			for t := range d.Tasks {
				for a := range d.Tasks[t].CostS {
					d.Tasks[t].CostS[a] *= math.Pi
				}
			}
		})
	},
}

func changed(d *model.DAG, change func(*model.DAG)) *model.DAG { change(d); return d }

func identical(d *model.DAG) {
	d.Network = model.Network{Bandwidth: 1}
	for a := range d.Machines {
		d.Machines[a].StartupS = 0
	}
	for t := range d.Tasks {
		for a := range d.Tasks[t].CostS {
			d.Tasks[t].CostS[a] = d.Tasks[t].CostS[0]
		}
	}
}

// Small instances are solved: their first neighbourhood is of all tasks. Nothing is below
// the optimum of the plain engine.
func TestLNSReachesTheOptimum(t *testing.T) {
	t.Parallel()
	for name, draw := range families {
		rng := rand.New(rand.NewPCG(1, 14))
		for k := range 30 {
			d := draw(rng, 1+rng.IntN(6))
			require.OK(t, d.Validate(), name)
			want, _ := plain.Optimum(d)
			g := view.OfDAG(d)
			x := newNeighbourhoods(g, dagplay.OnMachine(g, 0), 0, uint64(k))
			x.run(context.Background())
			if math.Abs(x.value-want) > 1e-7*want { // ticks are rounded down
				t.Fatalf("%s %d: %v, the optimum is %v", name, k, x.value, want)
			}
			require.Is(t, x.value, dagplay.Ideal(g, x.board.plan), name, k, "the plan takes")
		}
	}
}

// neighbours calls visit with every plan in which all but the relaxed tasks keep their
// machines and their order on them.
func neighbours(p dagplay.Plan, relaxed []int32, visit func(dagplay.Plan)) {
	if len(relaxed) == 0 {
		visit(p)
		return
	}
	t := relaxed[0]
	q := p.Clone()
	q.Order[q.Machine[t]] = slices.DeleteFunc(q.Order[q.Machine[t]], func(u int32) bool { return u == t })
	for a := range q.Order {
		for i := range len(q.Order[a]) + 1 {
			r := q.Clone()
			r.Machine[t], r.Order[a] = int32(a), slices.Insert(r.Order[a], i, t)
			neighbours(r, relaxed[1:], visit)
		}
	}
}

// A neighbourhood's model has the solutions that there are: the kernel finds the shortest
// of all plans of the neighbourhood.
func TestLNSFindsTheBestOfANeighbourhood(t *testing.T) {
	t.Parallel()
	better, best, narrowed := 0, 0, 0
	for name, draw := range families {
		rng := rand.New(rand.NewPCG(2, 14))
		for k := range 40 {
			d := draw(rng, 4+rng.IntN(5))
			g := view.OfDAG(d)
			x := newNeighbourhoods(g, dagplay.OnMachine(g, 0), 0, uint64(k))
			x.aside = 0
			x.MostConflicts, x.MostEvents = 200_000, 10_000_000 // large figures take many events
			if !x.board.Ticks.Whole {
				continue // the kernel's best can be another one
			}
			for i := range 3 {
				p := x.board.plan
				relaxed := x.choose(rng.IntN(kinds), 1+rng.IntN(3))
				x.board.most = []int{mostPairs, 20, 4}[i]
				least := x.value
				if x.board.free(relaxed, x.board.makespan-1) {
					places := slices.Clone(x.board.ranges)
					neighbours(p, relaxed, func(q dagplay.Plan) {
						value := dagplay.Ideal(g, q)
						switch {
						case x.board.within(q, places):
							least = min(least, value)
						case i == 0 && value < least:
							t.Fatalf("%s %d: a plan of %v isn't in the neighbourhood", name, k, value)
						case value < least:
							narrowed++
						}
					})
				}
				o := x.search(context.Background(), relaxed)
				if !o.Closed || x.value != least || o.Better == p.Equal(x.board.plan) {
					t.Fatalf("%s %d, relaxed %v: %v, closed %v after %d conflicts and %d events, the best is %v", name, k, relaxed, x.value, o.Closed, x.Conflicts, x.Events, least)
				}
				if o.Better {
					better++
				} else {
					best++
				}
			}
		}
	}
	if better < 50 || best < 50 || narrowed < 50 {
		t.Errorf("only %d neighbourhoods with a better plan, %d without, %d plans out of reach", better, best, narrowed)
	}
}

// within reports whether each relaxed task of a plan has a place that it may have.
func (b *board) within(p dagplay.Plan, places []span) bool {
	for a, tasks := range p.Order {
		fixed := int32(0)
		for _, t := range tasks {
			if r := b.number[t]; r < 0 {
				fixed++
			} else if s := places[int(r)*b.m+a]; fixed < s.low || fixed > s.high {
				return false
			}
		}
	}
	return true
}

// Without edges a task could be anywhere among thousands; its model stays small, and has the plan at hand.
func TestLNSModelsStaySmall(t *testing.T) {
	t.Parallel()
	d := changed(large(10_000, 4, model.TransferIdeal), func(d *model.DAG) { d.Edges = nil })
	g := view.OfDAG(d)
	x := newNeighbourhoods(g, require.Value(heft(t.Context(), g, nil))(t), 0, 1)
	for kind := range kinds {
		if !x.board.free(x.choose(kind, 30), x.board.makespan) {
			t.Fatalf("kind %d: there is no neighbourhood", kind)
		}
		w := x.board.window(x.board.makespan)
		pairs := 0
		for _, c := range w.Constraints {
			if c, is := c.(*cp.NoOverlap); is {
				pairs += len(c.Starts) * (len(c.Starts) - 1) / 2
			}
		}
		if pairs > mostPairs || pairs < mostPairs/100 || !x.board.within(x.board.plan, x.board.ranges) {
			t.Errorf("kind %d: %d pairs, or the plan at hand is lost", kind, pairs)
		}
	}
}

// The load rows leave the best plan of a neighbourhood in the model, and are violated by
// some wish: without them the kernel finds the same.
func TestLNSLoadsAreValid(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 14))
	rows := 0
	for k := range 60 {
		d := families["any"](rng, 12)
		g := view.OfDAG(d)
		p := require.Value(heft(context.Background(), g, nil))(t)
		b := newBoard(g, p, dagplay.Ideal(g, p))
		x := &neighbourhoods{Search: lns.New(rng, kinds), board: b}
		if !b.free(x.choose(byChance, 6), b.makespan) {
			t.Fatalf("instance %d: the plan at hand isn't in its neighbourhood", k)
		}
		least := make([]int64, 2)
		for i := range least {
			w := b.window(b.makespan)
			if i == 1 {
				n := len(w.Constraints)
				w.Constraints = slices.DeleteFunc(w.Constraints, isLinear)
				w.Names = w.Names[:len(w.Constraints)]
				rows += n - len(w.Constraints)
			}
			o := lcg.New(&w.Model.Model).Minimise(context.Background(), nil, 0, nil)
			if !o.Optimal {
				t.Fatalf("instance %d: %+v", k, o)
			}
			least[i] = o.Best
		}
		if least[0] != least[1] {
			t.Fatalf("instance %d: %d with loads, %d without", k, least[0], least[1])
		}
	}
	if rows < 60 {
		t.Errorf("only %d rows", rows)
	}
}

func isLinear(c cp.Constraint) bool { _, is := c.(*cp.Linear); return is }

// Large graphs: a thousand tasks on many machines, under each kind of neighbourhood.
func TestLNSOnLargeGraphs(t *testing.T) {
	t.Parallel()
	d := large(1000, 8, model.TransferIdeal)
	g := view.OfDAG(d)
	p := require.Value(heft(context.Background(), g, nil))(t)
	for kind := range kinds {
		x := newNeighbourhoods(g, p, 0, 1)
		start := x.value
		for range 15 {
			before := x.value
			if o := x.search(context.Background(), x.choose(kind, 15)); o.Better != (x.value < before) || x.value != dagplay.Ideal(g, x.board.plan) {
				t.Fatalf("kind %d: better %v, from %v to %v, the plan takes %v", kind, o.Better, before, x.value, dagplay.Ideal(g, x.board.plan))
			}
		}
		if kind == byPath && x.value >= start {
			t.Errorf("kind %d: nothing better than %v", kind, start)
		}
	}
}

func TestLNSKnowsNoContention(t *testing.T) {
	t.Parallel()
	require.Refused(t, "LNS", require.Err(LNS(context.Background(), sixTasks(model.TransferFair), model.Settings{})),
		model.ErrUnsupported, "")
}

// One neighbourhood of 30 tasks in 300.
func BenchmarkNeighbourhood(b *testing.B) {
	for _, n := range []int{100, 300, 1000} {
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			g := view.OfDAG(large(n, 8, model.TransferIdeal))
			p := require.Value(heft(context.Background(), g, nil))(b)
			x := newNeighbourhoods(g, p, 0, 1)
			for b.Loop() {
				x.search(context.Background(), x.choose(byTime, 30))
			}
		})
	}
}

// The search starts from the best known plan in auto, and goes on from the plans of others: Improve is another worker
// there.
func TestLNSListens(t *testing.T) {
	d := testkit.RandomDAG(rand.New(rand.NewPCG(3, 3)), 60, 3)
	good := require.Value(Improve(t.Context(), d, model.Settings{Seed: 1}))(t)
	o := require.Value(d.Objective(good))(t)
	start := require.Value(OneMachine(t.Context(), d, model.Settings{}))(t)
	first := require.Value(d.Objective(start))(t)
	asked, told := 0, []float64{}
	set := model.Settings{Seed: 1, Start: start}
	set.Others = func() model.Progress {
		if asked++; asked <= 5 {
			return model.Progress{Incumbent: first.Value, Solution: start}
		}
		return model.Progress{Incumbent: o.Value, Solution: good}
	}
	set.Progress = func(p model.Progress) { told = append(told, p.Incumbent) }
	var s *model.Schedule
	require.OK(t, meter.Within(t.Context(), 100_000, func(ctx context.Context) (err error) {
		s, err = LNS(ctx, d, set)
		return err
	}))
	end := require.Value(d.Objective(s))(t)
	if end.Value > o.Value || len(told) > 0 && told[0] >= first.Value {
		t.Errorf("from %g, told of %g: ends with %g, told %v", first.Value, o.Value, end.Value, told)
	}
	if slices.ContainsFunc(told[min(5, len(told)):], func(v float64) bool { return v >= o.Value }) {
		t.Errorf("tells %v, %g is known", told, o.Value)
	}
}
