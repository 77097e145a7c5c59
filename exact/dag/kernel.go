// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// maxPairs bounds tasks² × machines / 2, the size of the model: some 100 bytes each.
const maxPairs = 1 << 20

// kernelAlone is the number of tasks up to which the kernel finds and proves most optima
// within seconds, so that neighbourhoods before it would only take time. Above, they
// find better schedules in a few seconds than the kernel does in 40.
const kernelAlone = 64

// kernel has the kernel look for schedules better than the plan and for bounds.
//
// Ticks are a relaxation, so a bound in ticks is one of the instance: the plan in
// ticks ends no later than in the instance, and a proof that none in ticks is better
// proves its makespan in ticks as the bound.
//
// With a proof it is the kernel alone, up to its own bound, even if other bounds or
// the gap asked for would end the run before; and nothing is in the model that the
// checker doesn't know.
func (s *dagSearch) kernel() error {
	n, m, proof := s.g.Tasks, s.g.Machines, s.Set.Proof
	if n > 1<<12 || n*n/2*m > maxPairs || m > math.MaxInt8 {
		why := fmt.Sprintf("%d tasks on %d machines are more than the kernel takes", n, m)
		if proof != nil {
			return fmt.Errorf("%w: %s, so there is no proof", model.ErrUnsupported, why)
		}
		s.neighbourhoods(true)
		s.Reason = why + ": bounds without search"
		return nil
	}
	if n > kernelAlone && proof == nil {
		if s.neighbourhoods(false); s.closed() {
			return nil
		}
	}
	v := newTicks(s.g, s.upper, s.off)
	lower := s.roundUp(v)
	if proof != nil {
		s.lower = 0 // what isn't in the proof
	} else if s.closed() {
		return nil
	}
	if err := v.findWeights(s.Ctx); err != nil {
		return err
	}
	_, start, upper := v.Play(s.plan.Machine, s.plan.Order)
	horizon := upper
	if proof != nil && upper > 0 { // what is longer than the plan takes more than this in whole ticks, too
		horizon--
	}
	x := newKernelModel(v, horizon)
	k := lcg.NewWith(&x.Model.Model, lcg.Options{Off: s.without})
	if s.off&devHint == 0 {
		k.SetPhases(x.phases(start, s.plan.Machine))
	}
	log, err := s.Prove(k, strconv.FormatFloat(v.Ticks.Unit, 'g', -1, 64), horizon)
	if err != nil {
		return err
	}
	if log == nil && v.Ticks.Whole {
		k.Require(x.Objective.AtLeast(lower))
	}
	s.minimise(k, x, upper)
	if log != nil {
		return log.Close()
	}
	return nil
}

// minimise runs the kernel on schedules better than the upper one, in ticks.
func (s *dagSearch) minimise(k *lcg.Kernel, x *kernelModel, upper int64) {
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	best, nodes := upper, s.Nodes
	k.News = func() int64 {
		if !s.news() {
			return math.MaxInt64
		}
		_, start, makespan := x.Play(s.plan.Machine, s.plan.Order)
		k.SetPhases(x.phases(start, s.plan.Machine))
		return makespan
	}
	note := func(o *lcg.Outcome) {
		s.Nodes = nodes + k.Conflicts
		s.lower = max(s.lower, float64(o.Bound)*x.Ticks.Unit)
	}
	o := k.Minimise(ctx, &upper, s.conflicts, func(o *lcg.Outcome) {
		note(o)
		if o.Values != nil && o.Best < best {
			best = o.Best
			s.better(x.planOf(o.Values))
		}
		s.progress()
		if s.Set.Proof == nil && s.closed() {
			cancel()
		}
	})
	note(&o)
}

// roundUp returns the bound in ticks, rounded up. Where no time was rounded, makespans
// are whole ticks, so this is a bound, too. The bound was made of whole figures
// without rounding, or is less than they give by more than 1e-12 of it. Elsewhere the
// result is where to begin, no more.
func (s *dagSearch) roundUp(v *ticks) int64 {
	lower := int64(math.Ceil(s.lower/v.Ticks.Unit*(1-1e-14) - 1e-9))
	if v.Ticks.Whole {
		s.lower = max(s.lower, float64(lower)*v.Ticks.Unit)
	}
	return lower
}

// phases returns values of the variables that stand for a schedule's machines and
// orders.
func (k *kernelModel) phases(start []int64, on []int32) []int64 {
	values := make([]int64, len(k.Low))
	for i, t := range k.Graph.Order {
		if x := k.On(t, int(on[t])).If; x != cp.True {
			values[x.Var()] = 1
		}
		for j, u := range k.Graph.Order[:i] {
			if x := k.before[j][i]; x != cp.True && start[u] <= start[t] {
				values[x.Var()] = 1
			}
		}
	}
	return values
}
