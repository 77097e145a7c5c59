// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"fmt"
	"math"
	"strconv"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	batchexact "github.com/gapwise/gapwise/exact/batch"
	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

var batchProblem = define(definition[*model.Batch]{
	kind:         model.KindBatch,
	heuristics:   batchheur.Algorithms(),
	engines:      batchexact.Engines(),
	auto:         []string{"peasy", "list", "improve", "search", "kernel"},
	idle:         batchIdle,
	search:       batchexact.Search,
	kernel:       batchexact.Kernel,
	formulations: batchbounds.Formulations,
	formulation: func(_ context.Context, in *model.Batch, name string) (*milp.Formulation[model.Solution], error) {
		t := view.OfBatch(in)
		f, err := batchbounds.Build(t, name)
		if err != nil {
			return nil, err
		}
		return general(milp.Convert(f,
			func(e *model.Execution) ([]int64, error) { return processors.Starts(in, t, e) },
			func(starts []int64) (*model.Execution, error) { return processors.Place(in, t, starts) })), nil
	},
	linear:     func(_ string, b milp.Backend) model.Solver { return batchexact.Linear(b) },
	first:      named("easy", batchheur.Algorithms()).Solver,
	features:   features.Batch,
	size:       func(in *model.Batch) int { return len(in.Jobs) },
	quick:      batchbounds.Quick,
	bounds:     batchbounds.All,
	others:     batchbounds.Others,
	start:      startOf(batchheur.Complete),
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
	complete: batchComplete,
})

// batchIdle leaves out peasy on one tier, which it doesn't take: the first in the list has the longest turns. On nodes
// the search is the kernel.
func batchIdle(in *model.Batch) []string {
	switch {
	case in.Tiers == 2:
		return nil
	case len(in.Nodes) > 0:
		return []string{"peasy", "search"}
	}
	return []string{"peasy"}
}

// batchComplete numbers the processors of jobs that run through on one tier.
func batchComplete(_ context.Context, in *model.Batch, solution model.Solution, _ model.Missing) (model.Solution, error) {
	e := solution.(*model.Execution)
	index, err := in.Index(e)
	if err != nil {
		return nil, err
	}
	t := view.OfBatch(in)
	if err := t.Alike(); err != nil {
		return nil, err
	}
	if t.Tiers != 1 {
		return nil, fmt.Errorf("%w: on two tiers each segment must tell its place and its end", model.ErrUnsupported)
	}
	starts := make([]int64, len(t.Jobs))
	for i, k := range index {
		starts[k] = int64(math.Round(e.Runs[i].Segments[0].StartS * 1e6))
	}
	return processors.Place(in, t, starts)
}
