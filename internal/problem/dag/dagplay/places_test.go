// SPDX-License-Identifier: MIT

package dagplay_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/testkit"
)

// somewhere tries all machines for all tasks, and reports whether one way has a path for each edge.
func somewhere(g *view.Graph, p dagplay.Plan, k int) bool {
	if k == g.Tasks {
		return !math.IsInf(dagplay.Ideal(g, dagplay.NewPlan(g, p.Machine, make([]float64, g.Tasks), make([]float64, g.Tasks))), 1)
	}
	for m := range int32(g.Machines) {
		if p.Machine[g.Order[k]] = m; somewhere(g, p, k+1) {
			return true
		}
	}
	return false
}

// There is a first plan if and only if there is one among all, and it can be played.
func TestStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	found, none, searched := 0, 0, 0
	for found < 300 || none < 30 || searched < 30 {
		d := testkit.Restrict(rng, testkit.Restrict(rng, testkit.RandomDAG(rng, 2+rng.IntN(4), 2+rng.IntN(3))))
		if d.Validate() != nil {
			continue
		}
		g := view.OfDAG(d)
		p, err := dagplay.Start(g, nil)
		want := somewhere(g, dagplay.Plan{Machine: make([]int32, g.Tasks)}, 0)
		switch {
		case err == nil && want && !math.IsInf(dagplay.Ideal(g, p), 1):
			if found++; math.IsInf(dagplay.Ideal(g, dagplay.OneMachine(g)), 1) {
				searched++
			}
		case errors.Is(err, dagplay.ErrNowhere) && !want:
			none++
		default:
			t.Fatalf("%v, there is one: %v: %+v", err, want, d)
		}
	}
}

// A search that is stopped says so, and nothing of whether there is a plan.
func TestStartStopped(t *testing.T) {
	never := math.Inf(1)
	d := testkit.DAG([][]float64{{1, 1, never}, {1, 1, 1}, {never, 1, 1}}, [][3]float64{{1, 2, 1}, {2, 3, 1}})
	d.Network.PathCapacity = [][]float64{{1, 0, 1}, {0, 1, 0}, {0, 0, 1}}
	g := view.OfDAG(d)
	if p, err := dagplay.Start(g, nil); err != nil || math.IsInf(dagplay.Ideal(g, p), 1) {
		t.Errorf("%v, %v", p, err)
	}
	d.Tasks[0].CostS[1] = never
	g = view.OfDAG(d)
	if _, err := dagplay.Start(g, func(int64) bool { return true }); err == nil || errors.Is(err, dagplay.ErrNowhere) {
		t.Errorf("stopped: %v", err)
	}
}
