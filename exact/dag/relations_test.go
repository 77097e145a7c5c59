// SPDX-License-Identifier: MIT

package dag

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// renamedDAG is d with its machines, tasks and edges in another order.
func renamedDAG(rng *rand.Rand, d *model.DAG) *model.DAG {
	r := &model.DAG{Name: d.Name, Network: model.Network{Bandwidth: d.Network.Bandwidth}}
	machines := rng.Perm(len(d.Machines))
	for _, a := range machines {
		r.Machines = append(r.Machines, d.Machines[a])
	}
	for _, t := range rng.Perm(len(d.Tasks)) {
		x := model.DAGTask{ID: d.Tasks[t].ID}
		for _, a := range machines {
			x.CostS = append(x.CostS, d.Tasks[t].CostS[a])
		}
		r.Tasks = append(r.Tasks, x)
	}
	for _, e := range rng.Perm(len(d.Edges)) {
		r.Edges = append(r.Edges, d.Edges[e])
	}
	if s := d.Network.PathCapacity; s != nil {
		for _, a := range machines {
			var row []float64
			for _, b := range machines {
				row = append(row, s[a][b])
			}
			r.Network.PathCapacity = append(r.Network.PathCapacity, row)
		}
	}
	return r
}

// scaledDAG is d with all times multiplied by a power of two.
func scaledDAG(d *model.DAG, by float64) *model.DAG {
	r := *d
	r.Machines, r.Tasks, r.Edges = slices.Clone(d.Machines), slices.Clone(d.Tasks), slices.Clone(d.Edges)
	for a := range r.Machines {
		r.Machines[a].StartupS *= by
	}
	for t := range r.Tasks {
		r.Tasks[t].CostS = slices.Clone(r.Tasks[t].CostS)
		for a := range r.Tasks[t].CostS {
			r.Tasks[t].CostS[a] *= by
		}
	}
	for e := range r.Edges {
		r.Edges[e].Data *= by
	}
	return &r
}

// reversedDAG is d backwards: the optimum is the same, since a schedule played
// backwards is one of it. A transfer's length must not depend on its direction.
func reversedDAG(d *model.DAG) *model.DAG {
	r := *d
	r.Edges = slices.Clone(d.Edges)
	for e := range r.Edges {
		r.Edges[e].From, r.Edges[e].To = r.Edges[e].To, r.Edges[e].From
	}
	if s := d.Network.PathCapacity; s != nil {
		r.Network.PathCapacity = nil
		for a := range s {
			var row []float64
			for b := range s {
				row = append(row, s[b][a])
			}
			r.Network.PathCapacity = append(r.Network.PathCapacity, row)
		}
	}
	return &r
}

// checkDAGRelations searches instances of ordinary size and variants of them
// that have the same optimum, each for so many nodes: what is proved of one must
// not be above what is found for another. It returns the number of searches and
// of those that were proved.
func checkDAGRelations(t *testing.T, seed uint64, count, least, most int) (searches, proved int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	for k := range count {
		d := testkit.RandomDAG(rng, least+rng.IntN(most-least+1), 2+rng.IntN(3))
		for i := range d.Tasks { // costs are scaled
			var costs []float64
			for a := range d.Machines {
				costs = append(costs, d.Cost(i, a))
			}
			d.Tasks[i].Work, d.Tasks[i].CostS = nil, costs
		}
		for a := range d.Machines {
			d.Machines[a].Speed = 0
		}
		if k%3 == 2 {
			alike(rng, d)
		}
		var names []string
		var upper, lower []float64
		var known *dagplay.Plan
		run := func(name string, v *model.DAG, by float64, how dagSearch, start *dagplay.Plan) {
			g := view.OfDAG(v)
			s := &how
			s.Run, s.d, s.g = &engine.Run{Ctx: t.Context(), Set: model.Settings{Seed: uint64(searches)}}, v, g
			if start != nil {
				s.Set.Start = v.Schedule(start.Machine, timesOf(g, *start), make([]float64, len(g.Data)))
			}
			if err := s.run(); err != nil {
				t.Fatal(err)
			}
			if searches++; s.closed() {
				proved++
			}
			if name == "itself" {
				known = &s.plan
			}
			names, upper, lower = append(names, name), append(upper, s.upper/by), append(lower, s.lower/by)
		}
		small, kernel := dagSearch{steps: 200, conflicts: 1000}, dagSearch{off: devLocalSearch, conflicts: 1000}
		run("itself", d, 1, small, nil)
		run("renamed", renamedDAG(rng, d), 1, small, nil)
		run("scaled", scaledDAG(d, 1<<10), 1<<10, small, nil)
		run("scaled down", scaledDAG(d, 1./(1<<20)), 1./(1<<20), small, nil)
		if !slices.ContainsFunc(d.Machines, func(x model.Machine) bool { return x.StartupS > 0 }) {
			run("reversed", reversedDAG(d), 1, small, nil)
		}
		more := *d
		more.Tasks = append(slices.Clone(d.Tasks), model.DAGTask{ID: "alone", CostS: make([]float64, len(d.Machines))})
		run("with an isolated task", &more, 1, small, nil)
		run("from the best known", d, 1, small, known)
		run("from a poor start", d, 1, dagSearch{off: devStart, conflicts: 1000}, nil)
		run("a rule off", d, 1, dagSearch{off: devStart | 1<<rng.IntN(len(devices)), conflicts: 1000}, nil)
		run("without learning", d, 1, dagSearch{without: lcg.Learning, conflicts: 1000}, nil)
		run("by the kernel", d, 1, kernel, nil)
		run("renamed, by the kernel", renamedDAG(rng, d), 1, kernel, nil)
		run("scaled, by the kernel", scaledDAG(d, 1<<10), 1<<10, kernel, nil)
		run("from the best known, by the kernel", d, 1, kernel, known)
		if i, j := slices.Index(lower, slices.Max(lower)), slices.Index(upper, slices.Min(upper)); lower[i] > upper[j]*(1+1e-9) {
			t.Errorf("%s (seed %d): %s proves %v, %s ends by %v", d.Name, seed, names[i], lower[i], names[j], upper[j])
			return searches, proved
		}
	}
	return searches, proved
}

// timesOf is when a plan's tasks start without contention.
func timesOf(g *view.Graph, p dagplay.Plan) []float64 {
	r := dagplay.NewReplay(g)
	r.Run(p, nil)
	return slices.Clone(r.Start)
}

func TestDAGRelations(t *testing.T) {
	t.Parallel()
	searches, proved := checkDAGRelations(t, 1, 6, 18, 30)
	if t.Logf("%d searches, %d proved", searches, proved); proved < searches/3 {
		t.Error("too few are proved to compare")
	}
}
