package dag

import (
	"context"

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
	p := Plan{Machine: make([]int32, g.Tasks), Order: make([][]int32, g.Machines)}
	for t := range p.Machine {
		p.Machine[t] = best
	}
	p.Order[best] = append([]int32(nil), g.Order...)
	return p
}
