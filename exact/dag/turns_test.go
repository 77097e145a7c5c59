package dag

import (
	"math/rand/v2"
	"testing"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/internal/testkit"
)

// What the kernel left out in an earlier turn, for it had a better schedule in ticks,
// is no bound for a plan that is worse in ticks.
func TestTurnsBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 42))
	improved := 0
	for k := range 60 {
		d := testkit.RandomDAG(rng, 3+rng.IntN(6), 2+rng.IntN(2)).WithoutContention()
		g := d.Graph()
		poor := poorPlan(rng, g)
		worse := dagheur.NewReplay(g).Run(poor, nil)
		s := &dagSearch{ctx: t.Context(), d: d, g: g, tuning: searchTuning, plan: poor, upper: worse}
		if s.closed() {
			continue
		}
		v := newTicks(g, worse, 0)
		if err := v.findWeights(t.Context()); err != nil {
			t.Fatal(err)
		}
		l := s.newLearner(v)
		l.turn(0)
		want := s.lower
		if s.upper < worse {
			improved++
		}
		s.plan, s.upper, s.lower = poor, worse, 0
		l.turn(0)
		if s.lower > want {
			t.Errorf("instance %d (%s): a second turn proves %v, the first %v", k, d.Name, s.lower, want)
		}
	}
	if improved < 30 {
		t.Errorf("%d schedules were improved", improved)
	}
}
