package dag

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// OneMachine runs all tasks on the machine that takes the least time for them together,
// one after the other in a topological order, without any transfer. It is what a schedule
// on several machines has to beat. O(V M + E).
func OneMachine(ctx context.Context, d *model.DAG, _ model.Settings) (*model.Schedule, []model.Round, error) {
	g := d.Graph()
	r := NewReplay(g)
	p := onBestMachine(g)
	makespan := r.Run(p, nil)
	var rounds []model.Round
	if g.Transfer != model.TransferIdeal {
		rounds = []model.Round{{Round: 1, Planned: makespan, Realistic: makespan, Kept: true}}
	}
	return d.Schedule(p.Machine, r.Start, r.Sent), rounds, nil
}

// onBestMachine returns the plan of OneMachine, the first of equal machines.
func onBestMachine(g *model.Graph) Plan {
	total := make([]float64, g.Machines)
	for k, c := range g.Cost {
		total[k%g.Machines] += c
	}
	best := int32(0)
	for m := range total {
		if total[m] < total[best] {
			best = int32(m)
		}
	}
	return OnMachine(g, best)
}

// OnMachine returns the plan that has all tasks on one machine.
func OnMachine(g *model.Graph, m int32) Plan {
	p := Plan{Machine: slices.Repeat([]int32{m}, g.Tasks), Order: make([][]int32, g.Machines)}
	p.Order[m] = slices.Clone(g.Order)
	return p
}
