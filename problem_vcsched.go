package gapwise

import (
	"cmp"
	"context"

	"github.com/gapwise/gapwise/bounds"
	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	vcheur "github.com/gapwise/gapwise/heuristics/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

var vcschedProblem = define(definition[*model.VCSched]{
	kind:         model.KindVCSched,
	heuristics:   vcheur.Algorithms(),
	engines:      vcexact.Engines(),
	phases:       vcexact.Phases(),
	devices:      vcexact.Devices(),
	without:      vcexact.Without,
	formulations: vcbounds.Formulations,
	formulation: func(_ context.Context, in *model.VCSched, name string) (*milp.Formulation[model.Solution], error) {
		f, err := vcbounds.Build(in, cmp.Or(name, vcbounds.Formulations[0]))
		if err != nil {
			return nil, err
		}
		return general(&f.Formulation), nil
	},
	linear: func(name string, b milp.Backend) model.Solver {
		return vcexact.Linear{Backend: b, Formulation: name}
	},
	quick:     func(in *model.VCSched) []bounds.Bound { return []bounds.Bound{vcbounds.Packing(in)} },
	bounds:    vcbounds.All,
	generator: instances.GeneratorOf(instances.NewVCSchedSpec),
})
