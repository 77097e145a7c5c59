// SPDX-License-Identifier: MIT

package dag

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// alike draws a graph without data for identical machines.
func alike(rng *rand.Rand, n, machines int) *model.DAG {
	d := &model.DAG{Name: "alike", Network: model.Network{Bandwidth: 1}}
	for m := range machines {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint("P", m)})
	}
	for t := range n {
		cost, costs := float64(rng.IntN(10)), []float64(nil)
		for range machines {
			costs = append(costs, cost)
		}
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t), CostS: costs})
		for f := range t {
			if rng.IntN(n) < 2 {
				d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(f), To: fmt.Sprint(t)})
			}
		}
	}
	return d
}

// Justified plans end when they should, and are never worse than the search's start. On graphs of ordinary size they
// are often better than list schedules.
func TestJustify(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 1))
	better := 0
	for k := range require.Rounds(60) {
		d := alike(rng, 1+rng.IntN(90), 1+rng.IntN(7))
		require.OK(t, d.Validate())
		g := view.OfDAG(d)
		set := model.Settings{Seed: uint64(k)}
		s := require.Value(startSearch(run.New(t.Context(), "test", d, set), d, g))(t)
		before := s.lowest
		s.justify(300, 0)
		if made := s.replay.Run(s.best.Plan, nil); made != s.lowest || made > before {
			t.Fatalf("%d: it plays in %v, not in %v; before %v", k, made, s.lowest, before)
		}
		if s.lowest < before {
			better++
		}
		j := &justifier{g: g, length: make([]int64, g.Tasks), missing: make([]int32, g.Tasks)}
		for u := range j.length {
			j.length[u] = int64(d.Tasks[u].CostS[0])
		}
		key := make([]float64, g.Tasks)
		for u := range key {
			key[u] = rng.Float64()
		}
		start, makespan := j.serial(key, false)
		if start, shorter := j.both(start, makespan); shorter > makespan || !feasible(d, g, start, j.length) {
			t.Fatalf("%d: justified %v, before %v: %v", k, shorter, makespan, start)
		}
	}
	if better == 0 && !testing.Short() {
		t.Error("no plan became better")
	}
}

// feasible reports whether no more tasks run at once than there are machines, and none before its data.
func feasible(d *model.DAG, g *view.Graph, start, length []int64) bool {
	for e := range g.Data {
		if f := g.From[e]; start[g.To[e]] < start[f]+length[f] {
			return false
		}
	}
	for t := range start {
		n := 0
		for u := range start {
			if start[u] <= start[t] && start[t] < start[u]+length[u] {
				n++
			}
		}
		if n > len(d.Machines) {
			return false
		}
	}
	return true
}
