// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"math/rand/v2"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// noZeroProbability is RRNZ's ε: the probability of a host that the relaxation doesn't
// use (section 3.2).
const noZeroProbability = 0.01

// RRND is randomised rounding (section 3.2). It solves the linear relaxation of the paper's model and puts each task,
// in the instance's order, on a host drawn with the relaxation's probabilities e. Hosts without the memory aren't
// drawn; it fails if no host with a positive probability is left. It costs as much as a linear program with 2nH+1
// variables, or O(nH) if these are more than maxSolvedVariables and the hosts are equal, with memory alone: then evenly
// makes an optimal solution.
func RRND(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	return placed(ctx, in, set, func(ctx context.Context, u *view.VCSched, set model.Settings) ([]int32, error) {
		return round(ctx, in, u, set, 0)
	})
}

// RRNZ is RRND with the probability ε = noZeroProbability in place of every zero, so
// that hosts which the relaxation doesn't use can be drawn, too.
func RRNZ(ctx context.Context, in *model.VCSched, set model.Settings) (*model.Placement, error) {
	return placed(ctx, in, set, func(ctx context.Context, u *view.VCSched, set model.Settings) ([]int32, error) {
		return round(ctx, in, u, set, noZeroProbability)
	})
}

// maxSolvedVariables is the largest relaxation of equal hosts that HiGHS solves. It takes 8 s for 32,000 variables, and
// didn't end in a minute for 200,000. Which of the optimal solutions is rounded differs below and above.
const maxSolvedVariables = 50_000

func round(ctx context.Context, in *model.VCSched, u *view.VCSched, set model.Settings, zero float64) ([]int32, error) {
	if 2*len(u.CPU)*u.Hosts+1 > maxSolvedVariables && plain(u) {
		shares, err := evenly(ctx, u)
		if err != nil {
			return nil, err
		}
		return roundBy(ctx, u, set, zero, func(i int, p []float64) {
			clear(p)
			for _, x := range shares[i] {
				p[x.host] = x.part
			}
		})
	}
	f, err := vcbounds.Build(in, "parallel")
	if err != nil {
		return nil, err
	}
	r, err := highs.Solve(ctx, &f.Model, milp.Options{Relax: true})
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, stopped(ctx)
	case r.Status == milp.Infeasible:
		return nil, errRelaxation
	case r.Status != milp.Optimal:
		return nil, fmt.Errorf("%w: the linear relaxation ended as %v", model.ErrNoSolution, r.Status)
	}
	return roundBy(ctx, u, set, zero, func(i int, p []float64) { copy(p, r.X[f.E[i]:]) })
}

var errRelaxation = fmt.Errorf("%w: the linear relaxation is infeasible", model.ErrNoSolution)

// roundBy draws the tasks' hosts; e sets the relaxation's part of a task on each host. O(nH).
func roundBy(ctx context.Context, u *view.VCSched, set model.Settings, zero float64,
	e func(i int, p []float64)) ([]int32, error) {
	rng := rand.New(rand.NewPCG(set.Seed, 0x726f756e64))
	hosts := make([]int32, len(u.CPU))
	s := newStock(u)
	p := make([]float64, u.Hosts)
	looks := watch{ctx: ctx, work: 1 << 20}
	for i := range hosts {
		if looks.over(u.Hosts) {
			return nil, stopped(ctx)
		}
		sum := 0.0
		e(i, p)
		for h := range p {
			if p[h] < 1e-9 { // a zero to within the solver's tolerance
				p[h] = zero
			}
			if !s.fits(int32(i), h) {
				p[h] = 0 // drawn or not, it would be left out
			}
			sum += p[h]
		}
		if sum == 0 {
			return nil, fmt.Errorf("%w: no host of positive probability has the memory for task %d", model.ErrNoSolution, i)
		}
		h := draw(rng, p, sum)
		hosts[i] = int32(h)
		s.put(int32(i), h, 1)
	}
	return hosts, nil
}

// draw returns an index with probability p[index]/sum; p sums to sum > 0, to
// within rounding. An index of probability 0 is never drawn.
func draw(rng *rand.Rand, p []float64, sum float64) int {
	at, last := rng.Float64()*sum, 0
	for h := range p {
		if p[h] > 0 {
			last = h
			if at -= p[h]; at < 0 {
				break
			}
		}
	}
	return last
}
