// SPDX-License-Identifier: MIT

package dag

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/num/steps"
	"github.com/gapwise/gapwise/model"
)

// tracer reports the steps of HEFT; nil: nobody listens.
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

// ranks reports the upward rank of each task, in the order of the instance.
func (x *tracer) ranks(rank []float64) {
	if x == nil {
		return
	}
	for t, v := range rank {
		x.Tell("rank", x.d.Tasks[t].ID, steps.Figures("upward rank", v), "task %s: upward rank %.3f", x.d.Tasks[t].ID, v)
	}
}

// order reports the order in which tasks are placed.
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

// choose reports, before task t is placed on machine m at start, when it would finish on each machine.
func (x *tracer) choose(b *builder, t, m int32, start float64) {
	if x == nil {
		return
	}
	var on steps.Candidates
	at := b.arrive(t)
	for k := range at {
		if !b.g.Runs(t, int32(k)) || math.IsInf(at[k], 1) {
			continue
		}
		finish := b.find(t, int32(k), at[k]) + b.cost(t, int32(k))
		machine := x.d.Machines[k].ID
		on.Add(fmt.Sprintf("%.6g on %s", finish, machine), steps.Figures("finish on "+machine, finish)...)
	}
	end := start + b.cost(t, m)
	x.Tell("place", x.d.Tasks[t].ID, append(on.Figures, steps.Figures("start", start, "finish", end)...),
		"task %s: finishes at %s: %s, %.6g-%.6g", x.d.Tasks[t].ID, &on, x.d.Machines[m].ID, start, end)
}
