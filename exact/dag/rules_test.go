package dag

import (
	"context"
	"math/rand/v2"
	"testing"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/internal/testkit"
	"github.com/gapwise/gapwise/model"
)

// poorPlan puts tasks on random machines in topological order: from there a
// search has far to go, and whatever it drops wrongly shows.
func poorPlan(rng *rand.Rand, g *model.Graph) dagheur.Plan {
	p := dagheur.Plan{Machine: make([]int32, g.Tasks), Order: make([][]int32, g.Machines)}
	for _, t := range g.Order {
		a := int32(rng.IntN(g.Machines))
		p.Machine[t] = a
		p.Order[a] = append(p.Order[a], t)
	}
	return p
}

// tunings force the search into each of its phases.
var tunings = map[string]tuning{
	"levels":          {block: 1 << 26, levels: true},
	"blocks":          {block: 4000, levels: true},
	"narrow beams":    {widths: []int{1, 2, 5}, block: 1 << 26, levels: true},
	"assigner":        {block: 1 << 26, assignSteps: 100, assignNodes: []int64{1 << 20}, leafWidth: 2000, levels: true},
	"assigner, leafs": {block: 1 << 26, assignSteps: 100, assignNodes: []int64{1 << 20}, leafWidth: 1, levels: true},
	"few nodes":       {widths: []int{1}, block: 1 << 26, assignSteps: 3, assignNodes: []int64{5, 50}, leafWidth: 2, levels: true},
	"turns":           {widths: []int{1, 5}, block: 1 << 26, assignSteps: 3, assignNodes: []int64{300, 3000}, leafWidth: 2, levels: true, turn: 1},
}

// searchFrom searches from a plan and a lower bound and returns what it found
// and what it proved. As ticks are made for the horizon that the plan gives, it
// searches again from a plan that is much better.
func searchFrom(d *model.DAG, g *model.Graph, plan dagheur.Plan, lower float64, tuning tuning, threads int) (*dagSearch, error) {
	s := &dagSearch{ctx: context.Background(), d: d, g: g, set: model.Settings{Threads: threads}, tuning: tuning, plan: plan, lower: lower}
	s.upper = dagheur.NewReplay(g).Run(plan, nil)
	if s.closed() {
		return s, nil
	}
	for {
		was := s.upper
		if err := s.search(); err != nil || s.closed() || s.upper > was/2 {
			return s, err
		}
	}
}

// checkDAGRules solves random instances by every phase, with no rule off, each
// rule off, and all off, and holds the results against the brute force.
func checkDAGRules(t *testing.T, seed uint64, count, least, most int) (compared int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	names := []string{"levels", "blocks", "narrow beams", "assigner", "assigner, leafs", "few nodes", "turns"}
	for k := range count {
		n := least + rng.IntN(most-least+1)
		d := testkit.RandomDAG(rng, n, 1+rng.IntN(4))
		if err := d.Validate(); err != nil {
			t.Fatal(d.Name, err)
		}
		g := d.Graph()
		want, whole := testkit.BruteDAG(d, 300_000)
		if !whole {
			continue
		}
		for _, name := range names {
			off := deviceSet(0)
			switch r := rng.IntN(20); {
			case r < 14:
				off = 1 << rng.IntN(13)
			case r < 15 && n <= 6:
				off = droppingDevices
			}
			lower := 0.0
			for _, b := range dagbounds.Quick(t.Context(), g) {
				lower = max(lower, b.Value)
			}
			if lower > want*(1+1e-12) {
				t.Fatalf("instance %d.%d (%s): bound %v, optimum %v", seed, k, d.Name, lower, want)
			}
			tuning := tunings[name]
			tuning.off = off
			if rng.IntN(2) == 0 && tuning.assignSteps == 0 {
				lower = 0
			}
			s, err := searchFrom(d, g, poorPlan(rng, g), lower, tuning, 1+k%2)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if s.upper < want*(1-1e-12) || model.Gap(s.upper, want) > 1e-6 || s.lower > want*(1+1e-12) || model.Gap(want, s.lower) > 1e-6 {
				t.Errorf("instance %d.%d (%s), %s, without the rules %b: found %v, proved %v, the optimum is %v", seed, k, d.Name, name, off, s.upper, s.lower, want)
				return compared
			}
		}
	}
	return compared
}

func TestDAGRules(t *testing.T) {
	t.Parallel()
	t.Log(checkDAGRules(t, 1, 300, 2, 7), "comparisons")
}
