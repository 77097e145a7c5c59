// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"
	"math"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/model"
)

// Kernel is the exact engine for Batch on one tier by lazy clause generation: the constraint model of newKernelModel,
// solved by package lcg. Like Search it begins with the heuristics and moves jobs in their orders; a node is a
// conflict. On nodes it begins with the heuristics, and overlaps places the jobs. Two tiers are refused. It returns its
// starting solution and the quick bounds for more than mostKernelJobs jobs (mostJobsOnNodes), or if weighted sums of
// responses may not fit.
var Kernel = engine.Engine[*model.Batch, deviceSet]{ID: "kernel", Parts: kernelDevices, Learns: true, Proof: true,
	Work: engine.Learning(ask)}

// mostKernelJobs and, on nodes, mostJobsOnNodes bound the model, which grows with the square of the jobs.
const (
	mostKernelJobs  = 100
	mostJobsOnNodes = 40
)

// ask makes the question to the kernel.
func ask(r *engine.Run, b *model.Batch, off deviceSet, q *engine.Kernel) error {
	j, err := newJobs(r.Ctx, b)
	if err != nil {
		return err
	}
	best, err := start(r)
	if err != nil {
		return err
	}
	if best == nil {
		return model.ErrNoSolution
	}
	o, err := b.Objective(best)
	if err != nil {
		return err
	}
	q.Start, q.Lower, q.Value = best, math.Inf(-1), j.mean
	for _, x := range batchbounds.Quick(r.Ctx, b) {
		q.Lower = max(q.Lower, x.Value)
	}
	onNodes, most := j.t.Nodes != nil, mostKernelJobs
	if onNodes {
		most = mostJobsOnNodes
	}
	switch n := len(j.release); {
	case n == 0 && r.Set.Proof != nil:
		q.Reason = "there are no jobs"
		return nil
	case !j.units.Fit(j.t):
		q.Reason = batchbounds.SumsDontFit
		return nil
	case n > most:
		q.Reason = fmt.Sprintf("there are %d jobs, the kernel takes up to %d", n, most)
		return nil
	}
	q.Known = j.sum
	q.Upper = q.Known(o.Value)
	q.Lower = j.mean(j.sum(q.Lower))
	if off&devLocal == 0 && !onNodes {
		starts, sum, err := j.improved(r.Ctx, best, r.Set.Seed)
		if err != nil {
			return err
		}
		if sum < q.Upper {
			if q.Start, err = processors.Place(b, j.t, j.ticks(starts)); err != nil {
				return err
			}
			q.Upper = sum
		}
	}
	if q.ProofUnit = fmt.Sprintf("%d,%d", j.units.Time, j.units.Weight); r.Set.Proof != nil {
		off |= devActive | devIdentical | devPrices // the checker doesn't know them
	}
	m := newKernelModel(r.Ctx, j, q.Upper, off)
	q.Model = &m.Model
	if onNodes {
		steps := mostPlacing
		if r.Set.Proof != nil {
			steps = min(steps, mostInProof)
		}
		m.place(r.Ctx, b, j, q, steps)
		return nil
	}
	q.Solution = func(values []int64) (model.Solution, error) {
		starts := make([]int64, len(m.starts))
		for k, v := range m.starts {
			starts[k] = values[v]
		}
		return processors.Place(b, j.t, j.ticks(starts))
	}
	return nil
}
