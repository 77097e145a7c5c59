package batch

import (
	"context"
	"fmt"
	"math"

	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact"
	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// Kernel is the exact engine for Batch on one tier by lazy clause generation: the
// constraint model of newKernelModel, solved by package lcg. Like Search it begins
// with the heuristics and moves jobs in their orders; a node is a conflict. Two tiers
// are refused. Of more than mostKernelJobs jobs, and where weighted sums of responses
// may not fit, it hands back what it began with and the quick bounds.
type Kernel struct {
	off     deviceSet
	without lcg.Device // of the kernel itself
}

// mostKernelJobs bounds the model, which grows with the square of the jobs.
const mostKernelJobs = 100

// Name returns "kernel".
func (Kernel) Name() string { return "kernel" }

// Proves implements model.Prover.
func (Kernel) Proves() bool { return true }

// Solve implements model.Solver.
func (e Kernel) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return exact.SolveKernel(ctx, e.Name(), in, set, func(ctx context.Context, b *model.Batch) (q exact.Kernel, err error) {
		j, err := newJobs(b)
		if err != nil {
			return q, err
		}
		best, err := start(ctx, b, set)
		if err != nil {
			return q, err
		}
		if best == nil {
			return q, model.ErrNoSolution
		}
		o, err := b.Objective(best)
		if err != nil {
			return q, err
		}
		q = exact.Kernel{Start: best, Lower: math.Inf(-1), Value: j.mean, Off: e.without}
		for _, x := range batchbounds.Quick(ctx, b) {
			q.Lower = max(q.Lower, x.Value)
		}
		switch n := len(j.release); {
		case !j.units.Fit(j.t):
			q.Reason = batchbounds.SumsDontFit
			return q, nil
		case n > mostKernelJobs:
			q.Reason = fmt.Sprintf("there are %d jobs, the kernel takes up to %d", n, mostKernelJobs)
			return q, nil
		}
		q.Upper = j.sum(o.Value)
		q.Lower = j.mean(j.sum(q.Lower))
		if e.off&devLocal == 0 {
			order, err := j.orderOf(best)
			if err != nil {
				return q, err
			}
			if starts, sum := j.improve(ctx, order, improveTries); sum < q.Upper {
				if q.Start, err = batchheur.Place(b, j.ticks(starts)); err != nil {
					return q, err
				}
				q.Upper = sum
			}
		}
		off := e.off
		if q.ProofUnit = fmt.Sprintf("%d,%d", j.units.Time, j.units.Weight); set.Proof != nil {
			off |= devActive | devIdentical | devPrices // the checker doesn't know them
		}
		m := newKernelModel(ctx, j, q.Upper, off)
		q.Model = &m.Model
		q.Solution = func(values []int64) (model.Solution, error) {
			starts := make([]int64, len(m.starts))
			for k, v := range m.starts {
				starts[k] = values[v]
			}
			return batchheur.Place(b, j.ticks(starts))
		}
		return q, nil
	})
}
