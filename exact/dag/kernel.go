// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/dagplay"
	"github.com/gapwise/gapwise/internal/turns"
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
	turns.Stop(s.Ctx, int64(n*n/2*m)) // what it costs to make the model
	x := newKernelModel(v, horizon)
	k := lcg.NewWith(&x.Model.Model, lcg.Options{Off: s.without})
	ask := question{Kernel: k, objective: x.Objective, planOf: x.planOf, best: upper,
		follow: func(start []int64) { k.SetPhases(x.phases(start, s.plan.Machine)) }}
	if s.off&devHint == 0 {
		ask.follow(start)
	}
	log, err := s.Prove(k, strconv.FormatFloat(v.Ticks.Unit, 'g', -1, 64), horizon)
	if err != nil {
		return err
	}
	asked := []*question{&ask}
	if log != nil || !v.Ticks.Whole {
		lower = 0
	}
	if log == nil && s.off&devCumulative == 0 && v.interchangeable() {
		x := newCumulativeModel(v, horizon)
		k := lcg.NewWith(&x.Model, lcg.Options{Off: s.without})
		asked = []*question{{Kernel: k, objective: x.Objective, planOf: x.planOf, best: upper, follow: func([]int64) {}}, &ask}
	}
	s.minimise(v, lower, asked)
	if log != nil {
		return log.Close()
	}
	return nil
}

// question is a model that the kernel is asked for schedules better than the best.
type question struct {
	*lcg.Kernel
	objective cp.Var
	planOf    func(values []int64) dagplay.Plan
	follow    func(start []int64) // tells it of a better plan, by its starts
	best      int64               // of its solutions, in ticks, or what it has been told of
}

// firstConflicts is how many conflicts a model has before another one's turn.
const firstConflicts = 250

// minimise asks for schedules better than the plan, until one question is answered or the
// gap is closed. Several take turns, by the events that they have counted, and share the
// best schedule and the bound. Lower is a bound on the makespan in ticks.
func (s *dagSearch) minimise(v *ticks, lower int64, asked []*question) {
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	nodes, upper := s.Nodes, s.upper
	turn := func(q *question) (over bool) {
		told := func() int64 { // its best after news
			s.news()
			if s.upper < upper {
				upper = s.upper
				_, start, makespan := v.Play(s.plan.Machine, s.plan.Order)
				for _, x := range asked {
					x.follow(start)
					x.best = min(x.best, makespan)
				}
			}
			return q.best
		}
		q.News = told
		most := s.conflicts
		if len(asked) > 1 {
			if most = q.Conflicts + firstConflicts + q.Conflicts/4; s.conflicts > 0 {
				most = min(most, s.conflicts)
			}
		}
		if lower > 0 {
			q.Require(q.objective.AtLeast(lower))
		}
		best := told()
		before := q.Conflicts
		note := func(o *lcg.Outcome) {
			s.Nodes = nodes + q.Conflicts - before
			lower = max(lower, o.Bound)
			s.lower = max(s.lower, float64(o.Bound)*v.Ticks.Unit)
		}
		o := q.Minimise(ctx, &best, most, func(o *lcg.Outcome) {
			note(o)
			if o.Values != nil && o.Best < q.best {
				q.best = o.Best
				s.better(q.planOf(o.Values))
			}
			s.progress()
			if s.Set.Proof == nil && s.closed() {
				cancel()
			}
		})
		note(&o)
		nodes = s.Nodes
		return o.Optimal || s.conflicts > 0 && q.Conflicts >= s.conflicts
	}
	for len(asked) > 0 && ctx.Err() == nil {
		q := asked[0]
		for _, x := range asked {
			if x.Events < q.Events {
				q = x
			}
		}
		if turn(q) {
			asked = slices.DeleteFunc(slices.Clone(asked), func(x *question) bool { return x == q })
		}
	}
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
