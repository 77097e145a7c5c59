// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"

	consbounds "github.com/gapwise/gapwise/bounds/consolidation"
	consexact "github.com/gapwise/gapwise/exact/consolidation"
	consheur "github.com/gapwise/gapwise/heuristics/consolidation"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

var consolidationProblem = define(definition[*model.Consolidation]{
	kind:         model.KindConsolidation,
	heuristics:   consheur.Algorithms(),
	engines:      consexact.Engines(),
	auto:         []string{"drain", "lns", "kernel", "highs"},
	kernel:       consexact.Kernel,
	formulations: consbounds.Formulations,
	formulation: func(_ context.Context, in *model.Consolidation, _ string) (*milp.Formulation[model.Solution], error) {
		p, err := consbounds.Build(in, -1)
		if err != nil {
			return nil, err
		}
		return general(&p.Formulation), nil
	},
	linear:    func(_ string, b milp.Backend) model.Solver { return consexact.Linear(b) },
	first:     run.OneShot("stay", consheur.First),
	start:     startOf(consheur.Complete),
	features:  features.Consolidation,
	size:      func(in *model.Consolidation) int { return len(in.Jobs) },
	quick:     consbounds.Quick,
	bounds:    consbounds.All,
	generator: instances.GeneratorOf(instances.NewConsolidationSpec),
	gantt:     []string{"drain"},
})
