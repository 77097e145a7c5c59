// SPDX-License-Identifier: MIT

package consolidation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// newAnnealing returns the annealing of a drawn instance, without a best plan.
func newAnnealing(in *model.Consolidation, seed uint64) *annealing {
	p := newPacker(in)
	p.rng = rand.New(rand.NewPCG(seed, 1))
	return (&search{packer: p, live: run.New(context.Background(), "test", in, model.Settings{})}).annealing(context.Background())
}

// A cycle costs no more than the plan before, breaks no more rules and no limit, leaves no task out, keeps pins and
// allowed hosts, and goes beyond no capacity. The loads that it keeps equal the plan's.
func TestAnneals(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	cheaper, moved := 0, 0
	for n := range 3_000 {
		in := testkit.Consolidation(rng, 3+rng.IntN(20), 2+rng.IntN(6))
		a := newAnnealing(in, uint64(n))
		if a.share == 0 || len(a.tasks) == 0 {
			continue
		}
		for _, hot := range []float64{hottest, 1} {
			cost, moves, out, broken, excess, over := a.Cost, a.Moves, a.Out, a.Broken, a.Excess, a.Over
			a.mu = rng.Float64() * a.share
			if !a.cycle(t.Context(), 3*looksACooling, hot*a.share) {
				t.Fatal("it ended")
			}
			if a.Cost > cost || a.Out > out || a.Broken > broken || a.Excess > excess || a.Over > over {
				t.Fatalf("cost %d -> %d, out %d -> %d, broken %d -> %d, excess %d -> %d, over %d -> %d", cost, a.Cost, out, a.Out, broken, a.Broken, excess, a.Excess, over, a.Over)
			}
			if b := in.MoveBudget; b != nil && a.Moves > max(moves, *b) {
				t.Fatalf("moves %d -> %d, the budget is %d", moves, a.Moves, *b)
			}
			if a.Cost < cost {
				cheaper++
			}
			if a.Moves != moves {
				moved++
			}
			s := planstate.Of(a.C, a.Plan)
			if s.Cost != a.Cost || s.Moves != a.Moves || s.Broken != a.Broken || s.Over != a.Over || s.Out != a.Out {
				t.Fatalf("the plan has %d, %d, %d, %d, %d, the state %d, %d, %d, %d, %d", s.Cost, s.Moves, s.Broken, s.Over, s.Out, a.Cost, a.Moves, a.Broken, a.Over, a.Out)
			}
			for h := range a.full {
				if math.Abs(a.full[h]-a.load(h)) > 1e-9*a.worth[h] {
					t.Fatalf("host %d is taken to be full by %v, it is by %v", h, a.full[h], a.load(h))
				}
			}
			for i := range a.Plan {
				j := &a.C.Jobs[i]
				for k, h := range a.Plan[i] {
					if h >= 0 && h != j.Current[k] && (j.Pinned || !j.Allowed.Has(int(h))) {
						t.Fatalf("task %d of job %d is on host %d, where it may not be", k, i, h)
					}
				}
			}
		}
	}
	if cheaper < 300 || moved < 1000 {
		t.Errorf("only %d cycles made a plan cheaper, %d changed the moves", cheaper, moved)
	}
}

// A task moves only if that saves more than the move, where moves are dear; none moves below the cost that is low
// enough.
func TestAnnealingWeighsMoves(t *testing.T) {
	t.Parallel()
	in := &model.Consolidation{Resources: []string{"cpu"}, Hosts: []model.ConsolidationHost{
		{ID: "a", Capacity: []int64{10}, Price: 1}, {ID: "b", Capacity: []int64{10}, Price: 1}},
		Jobs: []model.ConsolidationJob{{ID: "x", Tasks: 4, Needs: []int64{2}, CurrentHosts: []string{"a", "a", "a", "b"}}}}
	for name, c := range map[string]struct {
		mu          float64
		cost, moves int64
		limit       *int64
	}{
		"cheap moves":        {mu: 0.1, cost: 1, moves: 1},
		"dear moves":         {mu: 100, cost: 2, moves: 0},
		"the cost is enough": {mu: 1, cost: 2, moves: 0, limit: new(int64(2))},
	} {
		in.Goal = model.GoalCost
		if in.CostLimit = c.limit; c.limit != nil {
			in.Goal = model.GoalMoves
		}
		a := newAnnealing(in, 3)
		a.mu = c.mu * a.share
		a.cycle(t.Context(), 20*looksACooling, hottest*a.share)
		if a.rename(); a.Cost != c.cost || a.Moves != c.moves {
			t.Errorf("%s: cost %d and %d moves, want %d and %d", name, a.Cost, a.Moves, c.cost, c.moves)
		}
	}
}

// LNS comes within a host of the bound on 280 tasks with four resources, where draining takes more, and does so twice.
func TestManyResources(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	in, total := &model.Consolidation{Resources: []string{"a", "b", "c", "d"}}, make([]int64, 4)
	for h := range 70 {
		in.Hosts = append(in.Hosts, model.ConsolidationHost{ID: fmt.Sprint("h", h), Capacity: []int64{1000, 1000, 1000, 1000}, Price: 1})
	}
	for i := range 70 {
		j := model.ConsolidationJob{ID: fmt.Sprint("j", i), Tasks: 4}
		for r := range total {
			j.Needs = append(j.Needs, int64(20+rng.IntN(200)))
			total[r] += 4 * j.Needs[r]
		}
		for k := range 4 {
			j.CurrentHosts = append(j.CurrentHosts, in.Hosts[(i+7*k)%70].ID)
		}
		in.Jobs = append(in.Jobs, j)
	}
	least := (slices.Max(total) + 999) / 1000
	value := func(a *model.Assignment, err error) model.Objective {
		require.OK(t, err)
		o := require.Value(in.Objective(a))(t)
		return o
	}
	drained := value(Drain(t.Context(), in, model.Settings{}))
	one := value(LNS(run.New(meter.Limit(t.Context(), 600_000), "test", in, model.Settings{Seed: 1}), in))
	two := value(LNS(run.New(meter.Limit(t.Context(), 600_000), "test", in, model.Settings{Seed: 1}), in))
	if one.Value > float64(least+1) || drained.Value < float64(least+2) || one.Value != two.Value || one.Second != two.Second {
		t.Errorf("at least %d hosts; drained %v, searched %v and %v", least, drained, one, two)
	}
}
