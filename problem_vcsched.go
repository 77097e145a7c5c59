// SPDX-License-Identifier: MIT

package gapwise

import (
	"cmp"
	"context"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/internal/problem/vcsched/placement"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

var vcschedProblem = define(definition[*model.VCSched]{
	kind:         model.KindVCSched,
	heuristics:   vcheur.Algorithms(),
	engines:      vcexact.Engines(),
	auto:         []string{"mcb8", "anneal", "search", "kernel"},
	phases:       vcexact.Phases(),
	search:       vcexact.Search,
	formulations: vcbounds.Formulations,
	formulation: func(_ context.Context, in *model.VCSched, name string) (*milp.Formulation[model.Solution], error) {
		f, err := vcbounds.Build(in, cmp.Or(name, vcbounds.Formulations[0]))
		if err != nil {
			return nil, err
		}
		return general(&f.Formulation), nil
	},
	linear: func(name string, b milp.Backend) model.Solver {
		return vcexact.Linear(b, name)
	},
	first:     run.OneShot("greedy", vcheur.First),
	features:  features.VCSched,
	size:      func(in *model.VCSched) int { return len(in.Jobs) },
	quick:     vcbounds.Quick,
	bounds:    vcbounds.All,
	start:     startOf(vcheur.Complete),
	generator: instances.GeneratorOf(instances.NewVCSchedSpec),
	gantt:     []string{"mcb8", "anneal", "search"},
	complete:  vcschedComplete,
})

// vcschedComplete gives the tasks on given hosts their CPU shares.
func vcschedComplete(ctx context.Context, v *model.VCSched, solution model.Solution, _ model.Missing) (model.Solution, error) {
	p := solution.(*model.Placement)
	if err := v.CheckShape(p); err != nil {
		return nil, err
	}
	return placement.RaiseAverage(ctx, v, p)
}
