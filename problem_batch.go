package gapwise

import (
	"context"
	"strconv"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

var batchProblem = define(definition[*model.Batch]{
	kind:         model.KindBatch,
	heuristics:   batchheur.Algorithms(),
	engines:      batchexact.Engines(),
	devices:      batchexact.Devices(),
	without:      batchexact.Without,
	kernel:       batchexact.KernelDevices(),
	kernelOff:    batchexact.KernelWithout,
	formulations: batchbounds.Formulations,
	formulation: func(_ context.Context, in *model.Batch, name string) (*milp.Formulation[model.Solution], error) {
		f, err := batchbounds.Build(in.Ticks(), name)
		if err != nil {
			return nil, err
		}
		return general(milp.Convert(f,
			func(e *model.Execution) ([]int64, error) { return batchheur.Starts(in, e) },
			func(starts []int64) (*model.Execution, error) { return batchheur.Place(in, starts) })), nil
	},
	linear:     func(_ string, b milp.Backend) model.Solver { return batchexact.Linear{Backend: b} },
	quick:      batchbounds.Quick,
	bounds:     batchbounds.All,
	others:     batchbounds.Others,
	generator:  instances.GeneratorOf(instances.NewBatchSpec),
	parameters: func() model.Parameters { return new(model.BatchParameters) },
	gantt:      []string{"measy", "easy"},
	variants: []Variant{{
		Flag: "tiers", Values: []string{"1", "2"},
		Get: func(in model.Instance) string { return strconv.Itoa(max(1, in.(*model.Batch).Tiers)) },
		With: func(in model.Instance, value string) model.Instance {
			b := *in.(*model.Batch)
			if b.Tiers = 1; value == "2" {
				b.Tiers = 2
			}
			return &b
		},
		MadeFor: stated,
	}},
})
