// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
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
// Ticks are a relaxation, so a bound in ticks is a bound of the instance. The plan in ticks ends no later than in the
// instance, and a proof that none in ticks is better proves its makespan in ticks as the bound.
//
// If a proof is asked for, the kernel runs alone, up to its own bound, even if other bounds or the gap asked for would
// end the run before. Then the model holds nothing that the checker doesn't know.
func (s *dagSearch) kernel() error {
	n, m, proof := s.g.Tasks, s.g.Machines, s.Set.Proof
	if !s.kernelTakes() {
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
	lower := s.roundUp(v.Ticks)
	if proof != nil {
		s.lower = 0 // bounds that aren't in the proof
	} else if s.closed() {
		return nil
	}
	if err := v.findWeights(s.Ctx); err != nil {
		return err
	}
	_, start, upper := v.Play(s.plan.Machine, s.plan.Order)
	horizon := upper
	if proof != nil && upper > 0 { // a longer schedule takes more than this in whole ticks, too
		horizon--
	}
	meter.Stop(s.Ctx, int64(n*n/2*m)) // the cost of making the model
	x := newKernelModel(v, horizon)
	ask := question{ticks: v, best: upper}
	if proof == nil && s.off&devCumulative == 0 && v.Graph.Interchangeable() {
		y := newCumulativeModel(v, horizon)
		ask.models, ask.planOf = append(ask.models, &y.Model), append(ask.planOf, y.planOf)
	}
	ask.models, ask.planOf = append(ask.models, &x.Model.Model), append(ask.planOf, x.planOf)
	ask.Team = s.Team(lcg.Options{Off: s.without}, ask.models...)
	ask.follow = func(start []int64) { ask.SetPhases(&x.Model.Model, x.phases(start, s.plan.Machine)) }
	if s.off&devHint == 0 {
		ask.follow(start)
	}
	log, err := s.Prove(ask.Kernels[0], strconv.FormatFloat(v.Ticks.Unit, 'g', -1, 64), horizon)
	if err != nil {
		return err
	}
	if log != nil || !v.Ticks.Whole {
		lower = 0
	}
	s.minimise(&ask, lower)
	if log != nil {
		return log.Close()
	}
	return nil
}

// question asks the kernel for schedules better than the best, on one or two models.
type question struct {
	*lcg.Team
	ticks  *ticks
	models []*cp.Model
	planOf []func(values []int64) dagplay.Plan // of each model
	follow func(start []int64)                 // reports a better plan to it, by its starts
	best   int64                               // of its solutions, in ticks, or of a reported one
}

// minimise asks for schedules better than the plan, until the question is answered or the
// gap is closed. Lower is a bound on the makespan in ticks.
func (s *dagSearch) minimise(q *question, lower int64) {
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	nodes, upper, unit := s.Nodes, s.upper, q.ticks.Ticks.Unit
	q.News = func() int64 {
		s.news()
		if s.upper < upper {
			upper = s.upper
			_, start, makespan := q.ticks.Play(s.plan.Machine, s.plan.Order)
			q.follow(start)
			q.best = min(q.best, makespan)
		}
		return q.best
	}
	if lower > 0 {
		q.Require(lower)
	}
	note := func(o *lcg.Outcome) {
		s.Nodes = nodes + q.Conflicts()
		s.lower = max(s.lower, float64(o.Bound)*unit)
		if o.Values != nil && o.Best < q.best {
			q.best = o.Best
			s.better(q.planOf[slices.Index(q.models, o.Model)](o.Values))
		}
		s.progress()
		if s.Set.Proof == nil && s.closed() {
			cancel()
		}
	}
	best := q.News()
	o := q.Minimise(ctx, &best, s.conflicts, note)
	note(&o)
}

// kernelTakes reports whether the model of the instance is small enough.
func (s *dagSearch) kernelTakes() bool {
	n, m := s.g.Tasks, s.g.Machines
	return n <= 1<<12 && n*n/2*m <= maxPairs && m <= math.MaxInt8
}

// roundUp returns the bound in ticks, rounded up. If no time was rounded, makespans are whole ticks, so this is a
// bound, too. The bound was made of whole figures without rounding, or is less than they give by more than 1e-12 of it.
// Elsewhere the result is where to begin, no more.
func (s *dagSearch) roundUp(ticks *view.DAGTicks) int64 {
	lower := int64(math.Ceil(s.lower/ticks.Unit*(1-1e-14) - 1e-9))
	if ticks.Whole {
		s.lower = max(s.lower, float64(lower)*ticks.Unit)
	}
	return lower
}

// phases returns values of the variables that represent a schedule's machines and orders.
func (k *kernelModel) phases(start []int64, on []int32) []int64 {
	values := make([]int64, len(k.Low))
	for i, t := range k.Graph.Order {
		if x := k.On(t, int(on[t])).If; x != cp.True {
			values[x.Var()] = 1
		}
		if k.before == nil {
			continue
		}
		for j, u := range k.Graph.Order[:i] {
			if x := k.before[j][i]; x != cp.True && start[u] <= start[t] {
				values[x.Var()] = 1
			}
		}
	}
	return values
}
