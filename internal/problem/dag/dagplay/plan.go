// SPDX-License-Identifier: MIT

// Package dagplay plays plans of task graphs: a machine for each task and an order on each
// machine.
package dagplay

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// Plan is a machine for each task and the order of the tasks on each machine.
type Plan struct {
	Machine []int32
	Order   [][]int32 // the tasks of each machine, first to last
}

// NewPlan orders the tasks of each machine by start, ties by finish, then
// topologically (tasks of length zero may share a moment).
func NewPlan[N cmp.Ordered](g *view.Graph, machine []int32, start, finish []N) Plan {
	p := Plan{Machine: machine, Order: make([][]int32, g.Machines)}
	for _, t := range g.Order {
		p.Order[machine[t]] = append(p.Order[machine[t]], t)
	}
	for _, tasks := range p.Order {
		order.Stable(tasks, func(a, b int32) int {
			return cmp.Or(cmp.Compare(start[a], start[b]), cmp.Compare(finish[a], finish[b]))
		})
	}
	return p
}

// OnFree returns the plan of a schedule of interchangeable machines that has starts alone, in ticks. Each task is on a
// machine that is free by then, the one that is free last, or if there is none on the one that is free first. There
// always is one for a task of a length if at no time more tasks run than there are machines. O(V log V + V machines).
func OnFree(g *view.Graph, start, length []int64) Plan {
	machine, finish, free := make([]int32, g.Tasks), make([]int64, g.Tasks), make([]int64, g.Machines)
	byStart := slices.Clone(g.Order)
	for t := range finish {
		finish[t] = start[t] + length[t]
	}
	order.Stable(byStart, func(a, b int32) int {
		return cmp.Or(cmp.Compare(start[a], start[b]), cmp.Compare(finish[a], finish[b]))
	})
	for _, t := range byStart {
		best := 0
		for m, at := range free {
			if inTime := free[best] <= start[t]; inTime && at <= start[t] && at > free[best] || !inTime && at < free[best] {
				best = m
			}
		}
		machine[t], free[best] = int32(best), max(free[best], finish[t])
	}
	return NewPlan(g, machine, start, finish)
}

// Clone returns a deep copy.
func (p Plan) Clone() Plan {
	c := Plan{slices.Clone(p.Machine), make([][]int32, len(p.Order))}
	for m := range p.Order {
		c.Order[m] = slices.Clone(p.Order[m])
	}
	return c
}

// Equal reports whether two plans are the same.
func (p Plan) Equal(q Plan) bool {
	return slices.Equal(p.Machine, q.Machine) && slices.EqualFunc(p.Order, q.Order, slices.Equal[[]int32])
}

// PlanOf returns the plan that a schedule of d follows. The error is
// model.ErrInvalid if the schedule isn't shaped like d, see model.DAG.MachineOf.
func PlanOf(d *model.DAG, g *view.Graph, s *model.Schedule) (Plan, error) {
	machine, err := d.MachineOf(s)
	if err != nil {
		return Plan{}, err
	}
	start, finish := make([]float64, g.Tasks), make([]float64, g.Tasks)
	for t := range start {
		start[t] = s.Tasks[t].StartS
		finish[t] = start[t] + g.Cost[t*g.Machines+int(machine[t])]
	}
	return NewPlan(g, machine, start, finish), nil
}

// Ideal returns the makespan of a plan without contention, in seconds.
func Ideal(g *view.Graph, p Plan) float64 {
	return view.NewPlay(g).Run(p.Machine, p.Order)
}

// OneMachine returns the plan of OnMachine on the machine that is best for all tasks.
func OneMachine(g *view.Graph) Plan {
	return OnMachine(g, BestMachine(g, func(int32) bool { return true }, true))
}

// BestMachine returns the machine that can run most of the tasks in question, of several the first that takes the least
// time for them together. If they may run at once, on machines with room for several, a task counts by the share of the
// machine that it takes.
func BestMachine(g *view.Graph, in func(t int32) bool, atOnce bool) (best int32) {
	least, left := math.Inf(1), math.MaxInt
	for m := range int32(g.Machines) {
		sum, others := 0.0, 0
		for t := range int32(g.Tasks) {
			switch {
			case !in(t):
			case g.Runs(t, m) && atOnce && g.Room != nil:
				sum += g.Cost[int(t)*g.Machines+int(m)] * g.Room.Share(t, m)
			case g.Runs(t, m):
				sum += g.Cost[int(t)*g.Machines+int(m)]
			default:
				others++
			}
		}
		if others < left || others == left && sum < least-1e-12*least {
			best, least, left = m, sum, others
		}
	}
	return best
}

// OnMachine returns the plan that has all tasks on one machine, but those that can't run there on the first that takes
// the least time.
func OnMachine(g *view.Graph, m int32) Plan {
	p := Plan{Machine: slices.Repeat([]int32{m}, g.Tasks), Order: make([][]int32, g.Machines)}
	for _, t := range g.Order {
		if !g.Runs(t, m) {
			costs := g.Cost[int(t)*g.Machines:][:g.Machines]
			p.Machine[t] = int32(slices.Index(costs, slices.Min(costs)))
		}
		p.Order[p.Machine[t]] = append(p.Order[p.Machine[t]], t)
	}
	return p
}
