// Package dag holds the heuristics for model.DAG: list schedulers of the
// literature, the network-aware HEFT of Yousaf and Welzl, and a local search.
//
// A list scheduler makes a plan: a machine for each task and an order on each
// machine. Replay plays it under the instance's transfer model: each task starts as
// soon as its machine and its data are there, each transfer as soon as its producer
// has finished.
//
// Equal ranks are ordered by the task's number, equal finish times by the machine's.
// Figures within a relative 1e-12 are equal, so that rounding doesn't decide.
package dag

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Plan is a machine for each task and the order of the tasks on each machine.
type Plan struct {
	Machine []int32
	Order   [][]int32 // the tasks of each machine, first to last
}

// newPlan orders the tasks of each machine by start, ties by finish, then
// topologically (tasks of length zero may share a moment).
func newPlan(g *model.Graph, machine []int32, start, finish []float64) Plan {
	p := Plan{Machine: machine, Order: make([][]int32, g.Machines)}
	for _, t := range g.Order {
		p.Order[machine[t]] = append(p.Order[machine[t]], t)
	}
	for _, tasks := range p.Order {
		slices.SortStableFunc(tasks, func(a, b int32) int {
			switch {
			case start[a] < start[b] || start[a] == start[b] && finish[a] < finish[b]:
				return -1
			case start[a] > start[b] || start[a] == start[b] && finish[a] > finish[b]:
				return 1
			}
			return 0
		})
	}
	return p
}

// Clone returns a deep copy.
func (p Plan) Clone() Plan {
	c := Plan{slices.Clone(p.Machine), make([][]int32, len(p.Order))}
	for m := range p.Order {
		c.Order[m] = slices.Clone(p.Order[m])
	}
	return c
}

// equal reports whether two plans are the same.
func (p Plan) equal(q Plan) bool {
	return slices.Equal(p.Machine, q.Machine) && slices.EqualFunc(p.Order, q.Order, slices.Equal[[]int32])
}

// PlanOf returns the plan that a schedule of d follows. The error is
// model.ErrInvalid if the schedule isn't shaped like d, see model.DAG.MachineOf.
func PlanOf(d *model.DAG, g *model.Graph, s *model.Schedule) (Plan, error) {
	machine, err := d.MachineOf(s)
	if err != nil {
		return Plan{}, err
	}
	start, finish := make([]float64, g.Tasks), make([]float64, g.Tasks)
	for t := range start {
		start[t] = s.Tasks[t].StartS
		finish[t] = start[t] + g.Cost[t*g.Machines+int(machine[t])]
	}
	return newPlan(g, machine, start, finish), nil
}

// planner makes a plan for a graph.
type planner func(context.Context, *model.Graph, *tracer) (Plan, error)

// Solver is the signature of this package's algorithms. It returns a schedule and,
// for each plan that was tried, its makespan without contention and under the
// transfer model (none under the ideal one).
type Solver func(context.Context, *model.DAG, model.Settings) (*model.Schedule, []model.Round, error)

// replayed plays the planner's plan, as a Solver does.
func replayed(ctx context.Context, d *model.DAG, set model.Settings, plan planner) (*model.Schedule, []model.Round, error) {
	g := d.Graph()
	p, err := plan(ctx, g, newTracer(d, set))
	if err != nil {
		return nil, nil, err
	}
	r := NewReplay(g)
	makespan := r.Run(p, nil)
	s := d.Schedule(p.Machine, r.Start, r.Sent)
	if g.Transfer == model.TransferIdeal {
		return s, nil, nil
	}
	return s, []model.Round{{Round: 1, Planned: Ideal(g, p), Realistic: makespan, Kept: true}}, nil
}

// Ideal returns the makespan of a plan without contention, in seconds.
func Ideal(g *model.Graph, p Plan) float64 {
	return model.NewDAGPlay(g).Run(p.Machine, p.Order)
}

// stopped returns the error of a list scheduler that was interrupted: half a plan is
// no solution.
func stopped(ctx context.Context) error {
	return fmt.Errorf("%w: stopped before every task was placed: %w", model.ErrNoSolution, ctx.Err())
}

// tie is the relative difference up to which ranks and finish times are equal.
const tie = 1e-12

// rounding is the relative difference up to which clocks and rates of a replay are
// equal: they must be so to the judge, too.
const rounding = 1e-15

// less reports whether a is below b by more than tie.
func less(a, b float64) bool { return a < b && (math.IsInf(b, 1) || a < b-tie*math.Abs(b)) }
