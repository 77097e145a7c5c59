// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	tvcheur "github.com/gapwise/gapwise/heuristics/tvc"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// goalResponse is the value of tvc's variant goal that means queue mode.
const goalResponse = "response"

var tvcProblem = define(definition[*model.TVC]{
	kind:         model.KindTVC,
	heuristics:   tvcheur.Algorithms(),
	engines:      tvcexact.Engines(),
	auto:         []string{"srpt", "bid-price", "improve", "search", "kernel"},
	search:       tvcexact.Search,
	kernel:       tvcexact.Kernel,
	formulations: tvcbounds.Formulations,
	formulation: func(ctx context.Context, in *model.TVC, name string) (*milp.Formulation[model.Solution], error) {
		f, err := tvcbounds.Build(ctx, in, name)
		if err != nil {
			return nil, err
		}
		return general(&f.Formulation), nil
	},
	linear: func(_ string, b milp.Backend) model.Solver { return tvcexact.Linear(b) },
	first: run.OneShot("first", func(ctx context.Context, in *model.TVC, _ model.Settings) (*model.Embeddings, error) {
		if in.Queue {
			return tvcheur.SDF(ctx, in, model.Settings{}) // as fast as FCFS
		}
		return tvcheur.AdaBa(ctx, in, model.Settings{})
	}),
	features:   features.TVC,
	size:       func(in *model.TVC) int { return len(in.Requests) },
	quick:      tvcbounds.Quick,
	bounds:     tvcbounds.All,
	start:      startOf(tvcheur.Complete),
	generator:  instances.GeneratorOf(instances.NewTVCSpec),
	parameters: func() model.Parameters { return new(model.TVCParameters) },
	gantt:      []string{"adaba", "bgmbf-sdf"},
	variants: []Variant{
		{
			Flag: "goal", Values: append(names(model.TVCGoals), goalResponse),
			Get: func(in model.Instance) string {
				v := in.(*model.TVC)
				if v.Queue {
					return goalResponse
				}
				return string(v.EffectiveGoal())
			},
			With: tvcWith(func(v *model.TVC, value string) {
				if v.Queue, v.Goal = value == goalResponse, ""; !v.Queue {
					v.Goal = model.TVCGoal(value)
				}
			}),
			MadeFor: stated,
		},
		{
			Flag: "fabric", Values: names(model.Fabrics),
			Get:     func(in model.Instance) string { return string(in.(*model.TVC).FatTree.EffectiveFabric()) },
			With:    tvcWith(func(v *model.TVC, value string) { v.FatTree.Fabric = model.Fabric(value) }),
			MadeFor: stated,
		},
		{
			Flag: "hose", Values: names(model.Hoses),
			Get:     func(in model.Instance) string { return string(in.(*model.TVC).EffectiveHose()) },
			With:    tvcWith(func(v *model.TVC, value string) { v.Hose = model.Hose(value) }),
			MadeFor: stated,
		},
	},
})

// tvcWith returns a variant's With that changes a copy.
func tvcWith(change func(v *model.TVC, value string)) func(model.Instance, string) model.Instance {
	return func(in model.Instance, value string) model.Instance {
		v := *in.(*model.TVC)
		change(&v, value)
		return &v
	}
}

// stated is the MadeFor of a variant that solutions don't state.
func stated(model.Instance, model.Solution) string { return "" }
