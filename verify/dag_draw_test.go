// SPDX-License-Identifier: MIT

package verify

import (
	"fmt"
	"math/rand/v2"

	"github.com/gapwise/gapwise/model"
)

// Every network that a test draws has figures of few bits, so that exact
// replays stay short, zeros among the amounts, and ties.
func drawNetwork(rng *rand.Rand, d *model.DAG, machines int) {
	rate := func() float64 { return []float64{0.5, 1, 1, 2, 3, 8}[rng.IntN(6)] }
	d.Network.Bandwidth = rate()
	for m := range machines {
		x := model.Machine{ID: fmt.Sprint("m", m)}
		if rng.IntN(3) == 0 {
			x.StartupS = float64(rng.IntN(5)) / 2
		}
		d.Machines = append(d.Machines, x)
	}
	if rng.IntN(3) == 0 {
		for a := range machines {
			d.Network.PathCapacity = append(d.Network.PathCapacity, make([]float64, machines))
			for b := range machines {
				if a != b {
					d.Network.PathCapacity[a][b] = rate()
				}
			}
		}
	}
	links := 1 + rng.IntN(4)
	for l := range links {
		x := model.Link{ID: fmt.Sprint("l", l)}
		if rng.IntN(2) == 0 {
			x.Capacity = rate()
		}
		d.Network.Links = append(d.Network.Links, x)
	}
	for a := range machines {
		for b := a + 1; b < machines; b++ {
			oneWay := rng.IntN(3) == 0
			for way := range 2 {
				if rng.IntN(6) == 0 || way == 1 && !oneWay {
					continue
				}
				x := model.Route{From: d.Machines[a].ID, To: d.Machines[b].ID, Links: []string{}, OneWay: oneWay}
				if way == 1 || !oneWay && rng.IntN(2) == 0 {
					x.From, x.To = x.To, x.From
				}
				for _, l := range rng.Perm(links)[:min(links, 1+rng.IntN(3))] {
					x.Links = append(x.Links, d.Network.Links[l].ID)
				}
				if rng.IntN(10) == 0 {
					x.LatencyS = float64(1+rng.IntN(4)) / 2
				}
				if rng.IntN(10) == 0 && (d.TransferModel == model.TransferFair || d.TransferModel == model.TransferIdeal) {
					x.Weight = 1 + rng.Int64N(3)
				}
				d.Network.Routes = append(d.Network.Routes, x)
			}
		}
	}
}

// DrawDAG is a random instance of at most the given numbers of tasks and
// machines, valid by construction.
func DrawDAG(rng *rand.Rand, tasks, machines int) *model.DAG {
	d := &model.DAG{Name: "drawn", TransferModel: model.TransferModels[rng.IntN(4)], Tasks: []model.DAGTask{}, Edges: []model.DAGEdge{}}
	n, m := rng.IntN(tasks+1), 1+rng.IntN(machines)
	drawNetwork(rng, d, m)
	work := rng.IntN(4) == 0
	if work {
		for k := range d.Machines {
			d.Machines[k].Speed = []float64{1, 2, 3}[rng.IntN(3)]
		}
	}
	dense := rng.Float64()
	for t := range n {
		x := model.DAGTask{ID: fmt.Sprint("t", t)}
		if work && rng.IntN(2) == 0 {
			w := float64(rng.IntN(12))
			x.Work = &w
		} else {
			for range m {
				x.CostS = append(x.CostS, float64(rng.IntN(12))/[]float64{1, 1, 7}[rng.IntN(3)])
			}
		}
		d.Tasks = append(d.Tasks, x)
		for f := range t {
			if rng.Float64() < dense {
				d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint("t", f), To: x.ID, Data: float64(rng.IntN(10)) / []float64{1, 1, 3}[rng.IntN(3)]})
			}
		}
	}
	// The order of the file is not the order of the graph.
	rng.Shuffle(n, func(a, b int) { d.Tasks[a], d.Tasks[b] = d.Tasks[b], d.Tasks[a] })
	rng.Shuffle(len(d.Edges), func(a, b int) { d.Edges[a], d.Edges[b] = d.Edges[b], d.Edges[a] })
	return d
}
