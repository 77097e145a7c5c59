// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	resexact "github.com/gapwise/gapwise/exact/reservation"
	resheur "github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/reservation/bookings"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

var reservationProblem = define(definition[*model.Reservation]{
	kind:         model.KindReservation,
	heuristics:   resheur.Algorithms(),
	engines:      resexact.Engines(),
	auto:         []string{"selective", "lns", "kernel"},
	kernel:       resexact.Kernel,
	formulations: resbounds.Formulations,
	formulation: func(_ context.Context, in *model.Reservation, name string) (*milp.Formulation[model.Solution], error) {
		t := view.OfReservation(in)
		f, err := resbounds.Build(t, name)
		if err != nil {
			return nil, err
		}
		return general(milp.Convert(f,
			func(b *model.Bookings) ([]int64, error) { return bookings.TicksOf(in, t, b) },
			func(starts []int64) (*model.Bookings, error) { return bookings.BookTicks(in, t, starts) })), nil
	},
	linear:    func(_ string, b milp.Backend) model.Solver { return resexact.Linear(b) },
	first:     run.OneShot("serial", resheur.First),
	features:  features.Reservation,
	size:      func(in *model.Reservation) int { return len(in.Requests) },
	quick:     resbounds.QuickOf,
	bounds:    resbounds.All,
	start:     startOf(resheur.Complete),
	generator: instances.GeneratorOf(instances.NewReservationSpec),
	gantt:     []string{"pe-w"},
	variants: []Variant{{
		Flag: "goal", Values: names(model.Goals),
		Get: func(in model.Instance) string { return string(in.(*model.Reservation).EffectiveGoal()) },
		With: func(in model.Instance, value string) model.Instance {
			r := *in.(*model.Reservation)
			r.Goal = model.Goal(value)
			return &r
		},
		MadeFor: func(in model.Instance, s model.Solution) string {
			if in.(*model.Reservation).Goal != "" {
				return ""
			}
			return string(s.(*model.Bookings).Goal)
		},
	}},
	complete: reservationComplete,
})

// reservationComplete numbers the PEs of bookings.
func reservationComplete(_ context.Context, in *model.Reservation, solution model.Solution, _ model.Missing) (model.Solution, error) {
	b := solution.(*model.Bookings)
	index, err := in.Index(b)
	if err != nil {
		return nil, err
	}
	t := view.OfReservation(in)
	runs := make([]bookings.Interval, len(index))
	for i, k := range index {
		q, start := &t.Requests[k], t.Tick(b.Bookings[i].StartS)
		if runs[i].PEs = in.Requests[k].PEs; q.Runs(start) { // else it holds none
			runs[i].Start, runs[i].End = start, start+q.Runtime
		}
	}
	lists, _ := bookings.Number(in.PEs, runs)
	for i := range lists {
		b.Bookings[i].PEs = lists[i]
	}
	return b, nil
}
