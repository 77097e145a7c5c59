// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	dagbounds "github.com/gapwise/gapwise/bounds/dag"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/verify"
)

var dagProblem = define(definition[*model.DAG]{
	kind:         model.KindDAG,
	heuristics:   dagheur.Algorithms(),
	engines:      dagexact.Engines(),
	auto:         []string{"sinnen-sousa", "improve", "dls", "lns", "search"},
	idle:         dagIdle,
	phases:       dagexact.Phases(),
	search:       dagexact.Search,
	kernel:       dagexact.Kernel,
	formulations: dagbounds.Formulations,
	formulation:  dagFormulation,
	linear:       func(_ string, b milp.Backend) model.Solver { return dagexact.Linear(b) },
	first:        run.OneShot("first", dagFirst),
	features:     features.DAG,
	size:         func(in *model.DAG) int { return len(in.Tasks) + len(in.Edges) },
	quick:        dagbounds.QuickOf,
	bounds:       dagbounds.All,
	start:        startOf(dagheur.Complete),
	generator:    instances.GeneratorOf(instances.NewDAGSpec),
	parameters:   func() model.Parameters { return new(model.DAGParameters) },
	gantt:        []string{"heft"},
	pictured:     dagPictured,
	variants: []Variant{{
		Flag: "transfers", Values: names(model.TransferModels),
		Get: func(in model.Instance) string { return string(in.(*model.DAG).Transfers()) },
		With: func(in model.Instance, value string) model.Instance {
			d := *in.(*model.DAG)
			d.TransferModel = model.TransferModel(value)
			return &d
		},
		MadeFor: func(in model.Instance, s model.Solution) string {
			if in.(*model.DAG).TransferModel != "" {
				return ""
			}
			return string(s.(*model.Schedule).TransferModel)
		},
	}},
	complete: dagComplete,
})

// dagFirst is OneMachine or, if ctx allows, the best list scheduler of near linear time: HEFT or, under contention,
// SinnenSousa. That books links, also where a path is too slow to fill them; then HEFT is tried, too.
func dagFirst(ctx context.Context, d *model.DAG, set model.Settings) (*model.Schedule, error) {
	best, err := dagheur.OneMachine(ctx, d, set)
	if err != nil {
		return nil, err
	}
	lists := []func(context.Context, *model.DAG, model.Settings) (*model.Schedule, error){dagheur.HEFT}
	if d.Transfers() != model.TransferIdeal {
		lists[0] = dagheur.SinnenSousa
		if slowPaths(&d.Network) {
			lists = append(lists, dagheur.HEFT)
		}
	}
	for _, solve := range lists {
		s, err := solve(ctx, d, set)
		if errors.Is(err, model.ErrNoSolution) { // stopped
			break
		}
		if err != nil {
			return nil, err
		}
		value, err := d.Objective(s)
		if err != nil {
			return nil, err
		}
		if least, err := d.Objective(best); err != nil {
			return nil, err
		} else if !least.Better(value) {
			best = s
		}
	}
	return best, nil
}

// slowPaths reports whether a path may have less capacity than each link on it, or acknowledgements take some.
func slowPaths(n *model.Network) bool {
	return n.PathCapacity != nil || n.AcksPercent > 0 || slices.ContainsFunc(n.Links, func(l model.Link) bool { return l.Capacity > n.Bandwidth })
}

// dagIdle leaves out dls under contention. Its levels ignore links: on 30,000 tasks it takes most of two seconds, and
// its makespan is 1.6 times as long as the one of sinnen-sousa, which books them.
func dagIdle(in *model.DAG) []string {
	if in.Transfers() != model.TransferIdeal {
		return []string{"dls"}
	}
	return nil
}

// dagFormulation builds the ordering model, which knows no contention, with
// HEFT's makespan as its horizon.
func dagFormulation(ctx context.Context, in *model.DAG, name string) (*milp.Formulation[model.Solution], error) {
	if in.Transfers() != model.TransferIdeal {
		return nil, fmt.Errorf("%w: the model knows no contention, take the transfer model %q", model.ErrUnsupported, model.TransferIdeal)
	}
	s, err := dagheur.HEFT(ctx, in, model.Settings{})
	if errors.Is(err, dagplay.ErrNowhere) {
		return nil, fmt.Errorf("%w: %w", model.ErrUnsupported, err)
	}
	if err != nil {
		return nil, err
	}
	o, err := in.Objective(s)
	if err != nil {
		return nil, err
	}
	f, err := dagbounds.Build(in, o.Value)
	if err != nil {
		return nil, err
	}
	return general(f), nil
}

// dagPictured returns the schedule and, under contention, above it the schedule of its plan without contention.
func dagPictured(ctx context.Context, d *model.DAG, solution model.Solution) ([]Picture, error) {
	s, ok := solution.(*model.Schedule)
	if !ok {
		return nil, fmt.Errorf("%w: a %s solution of a dag", model.ErrInvalid, solution.Kind())
	}
	picture := func(d *model.DAG, s *model.Schedule) (Picture, error) {
		arrived, err := verify.Arrivals(ctx, d, s)
		return Picture{Instance: d, Solution: s, Arrived: arrived}, err
	}
	real, err := picture(d, s)
	if err != nil || d.Transfers() == model.TransferIdeal {
		return []Picture{real}, err
	}
	ideal := d.WithoutContention()
	g := view.OfDAG(ideal)
	plan, err := dagplay.PlanOf(d, g, s)
	if err != nil {
		return nil, err
	}
	r := dagplay.NewReplay(g)
	r.Run(plan, nil)
	free, err := picture(ideal, ideal.Schedule(plan.Machine, r.Start, r.Sent))
	free.Label, real.Label = Planned, Realistic
	return []Picture{free, real}, err
}

// dagComplete plays a plan, which is all that a schedule without start times is. Tasks that wait for each other in a
// circle, or whose data have no path, never start: at +Inf, which the judge refuses.
func dagComplete(_ context.Context, d *model.DAG, solution model.Solution, _ model.Missing) (model.Solution, error) {
	s := solution.(*model.Schedule)
	g := view.OfDAG(d)
	plan, err := dagplay.PlanOf(d, g, s)
	if err != nil {
		return nil, err
	}
	r := dagplay.NewReplay(g)
	for t := range r.Finish {
		r.Finish[t] = math.Inf(1)
	}
	r.Run(plan, nil)
	for t, end := range r.Finish {
		if math.IsInf(end, 1) {
			r.Start[t] = end
		}
	}
	return d.Schedule(plan.Machine, r.Start, r.Sent), nil
}
