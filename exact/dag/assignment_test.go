package dag

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/testkit"
	"github.com/gapwise/gapwise/model"
)

// ticksOf is an instance in ticks for the horizon, with weights.
func ticksOf(t testing.TB, d *model.DAG, horizon float64, off deviceSet) *ticks {
	t.Helper()
	k := newTicks(d.Graph(), horizon, off)
	if err := k.findWeights(context.Background()); err != nil {
		t.Fatal(err)
	}
	return k
}

// checkAssigner holds what the assigner says of the optimum, and of a tick
// less, against the optimum.
func checkAssigner(t *testing.T, d *model.DAG, want float64, off deviceSet) bool {
	t.Helper()
	k := ticksOf(t, d, want, off)
	if !k.whole {
		return false
	}
	optimum := int32(want / k.unit)
	s := newAssigner(context.Background(), k, 10_000, 2000)
	if found, whole := s.within(optimum, 1<<20); found || !whole {
		t.Errorf("%s, rules off %b: below the optimum %v: found %v, proved %v", d.Name, off, want, found, whole)
	}
	if found, whole := s.within(optimum+1, 1<<20); !found {
		t.Errorf("%s, rules off %b: a schedule of %v isn't found (proved: %v)", d.Name, off, want, whole)
	}
	// The load bound takes the tasks by falling tails.
	if !slices.IsSortedFunc(k.byTail, func(a, b int32) int { return int(k.least[b] - k.least[a]) }) {
		t.Errorf("%s: the assigner changed the order of tails", d.Name)
	}
	return true
}

// The smallest instances on which version 0.3.0's assigner was wrong.
func TestAssignerFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		instance string
		want     float64
	}{
		// A machine that has only tasks of cost 0 counted as empty, and so as
		// exchangeable with one that is.
		"zero costs on equal machines": {`{"machines":[{"id":"a"},{"id":"b"},{"id":"c"}],"tasks":[{"id":"t4","cost_s":[5,5,5]},{"id":"t0","cost_s":[0,0,0]},
			{"id":"t2","cost_s":[7,7,7]},{"id":"t3","cost_s":[2,2,2]},{"id":"t1","cost_s":[0,0,0]}],"edges":[{"from":"t0","to":"t2","data":1},{"from":"t1","to":"t2","data":8},
			{"from":"t0","to":"t3","data":7},{"from":"t1","to":"t3","data":3},{"from":"t2","to":"t3","data":3},{"from":"t0","to":"t4","data":1},{"from":"t2","to":"t4","data":3}],
			"network":{"bandwidth":1}}`, 12},
		// The levels that order a whole assignment took machines for
		// exchangeable that have different tasks by then.
		"orders on equal machines": {`{"machines":[{"id":"a"},{"id":"b"},{"id":"c"}],"tasks":[{"id":"t0","cost_s":[0,0,2]},{"id":"t2","cost_s":[7,7,4]},{"id":"t1","cost_s":[2,2,8]},
			{"id":"t5","cost_s":[0,0,1]},{"id":"t4","cost_s":[8,8,5]},{"id":"t3","cost_s":[1,1,0]}],"edges":[{"from":"t0","to":"t1","data":0},{"from":"t1","to":"t2","data":7},
			{"from":"t1","to":"t3","data":1},{"from":"t0","to":"t4","data":6},{"from":"t1","to":"t5","data":7}],"network":{"bandwidth":1}}`, 9},
		// The levels that order a whole assignment sorted the tasks of the
		// whole search by their own tails.
		"tails of an assignment": {`{"machines":[{"id":"a"},{"id":"b"},{"id":"c"}],"tasks":[{"id":"t0","cost_s":[30,11000,1]},{"id":"t2","cost_s":[2000,24,9]},
			{"id":"t4","cost_s":[18,29000,7]},{"id":"t1","cost_s":[24000,19,25]},{"id":"t3","cost_s":[22,9,6]}],"edges":[{"from":"t0","to":"t3","data":0},{"from":"t1","to":"t4","data":0}],
			"network":{"bandwidth":1}}`, 26},
	} {
		t.Run(name, func(t *testing.T) {
			d := &model.DAG{}
			if err := json.Unmarshal([]byte(c.instance), d); err != nil {
				t.Fatal(err)
			}
			if !checkAssigner(t, d, c.want, 0) {
				t.Error("not compared")
			}
		})
	}
}

// The assigner finds the optimum and proves that there is nothing better,
// whatever rules are off.
func TestAssigner(t *testing.T) {
	t.Parallel()
	checkAssigners(t, 3, 300)
}

func checkAssigners(t *testing.T, seed uint64, count int) (compared int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	for range count {
		d := testkit.RandomDAG(rng, 3+rng.IntN(5), 2+rng.IntN(2))
		want, whole := testkit.BruteDAG(d, 300_000)
		if !whole || want == 0 {
			continue
		}
		for _, off := range []deviceSet{0, 1 << rng.IntN(13)} {
			if checkAssigner(t, d, want, off) {
				compared++
			}
		}
	}
	return compared
}
