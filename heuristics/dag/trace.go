// SPDX-License-Identifier: MIT

package dag

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/steps"
	"github.com/gapwise/gapwise/model"
)

// tracer tells the steps of a list scheduler; nil: nobody listens.
type tracer struct {
	d *model.DAG
	steps.Teller
}

func newTracer(d *model.DAG, set model.Settings) *tracer {
	if set.Trace == nil {
		return nil
	}
	return &tracer{d, set.Trace}
}

// ranks tells the rank of each task, in the order of the instance.
func (x *tracer) ranks(name string, rank []float64) {
	if x == nil {
		return
	}
	for t, v := range rank {
		x.Tell("rank", x.d.Tasks[t].ID, steps.Figures(name, v), "task %s: %s %.3f", x.d.Tasks[t].ID, name, v)
	}
}

// order tells the order in which tasks are placed, where it doesn't depend on
// their places.
func (x *tracer) order(tasks []int32) {
	if x == nil {
		return
	}
	var ids steps.Candidates
	for _, t := range tasks {
		ids.Add(x.d.Tasks[t].ID)
	}
	x.Tell("order", "", nil, "order: %s", &ids)
}

// basis is what a choice goes by beside the finish by insertion; zero values: nothing.
type basis struct {
	finish func(machine int32) float64                 // in place of that by insertion
	value  func(machine int32, finish float64) float64 // another value of each machine
	name   string                                      // of the value
	why    string
}

// choose tells, before task t is placed on machine m at start, when it would finish on
// each machine.
func (x *tracer) choose(b *builder, t, m int32, start float64, by basis) {
	if x == nil {
		return
	}
	var on steps.Candidates
	at := b.arrive(t)
	for k := range b.lines {
		length := b.cost(t, int32(k))
		finish := b.lines[k].find(at[k], length) + length
		if by.finish != nil {
			finish = by.finish(int32(k))
		}
		machine := x.d.Machines[k].ID
		text, figures := fmt.Sprintf("%.6g on %s", finish, machine), steps.Figures("finish on "+machine, finish)
		if by.value != nil {
			v := by.value(int32(k), finish)
			text += fmt.Sprintf(" (%s %.6g)", by.name, v)
			figures = append(figures, steps.Figures(by.name+" on "+machine, v)...)
		}
		on.Add(text, figures...)
	}
	end := start + b.cost(t, m)
	why := by.why
	if why != "" {
		why = ", " + why
	}
	x.Tell("place", x.d.Tasks[t].ID, append(on.Figures, steps.Figures("start", start, "finish", end)...),
		"task %s: finishes at %s: %s, %.6g-%.6g%s", x.d.Tasks[t].ID, &on, x.d.Machines[m].ID, start, end, why)
}
