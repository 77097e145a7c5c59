// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// maxLinked bounds the size of the model of links: edges times pairs of machines times links of a route.
const maxLinked = 1 << 15

// linkable reports whether linked takes the graph. Its search for a plan's best transfers (heldSearch) sends each edge
// as one transfer, so it takes none with files.
func (s *dagSearch) linkable(g *view.Graph) bool {
	size := 0
	for a := range int32(g.Machines) {
		for b := range int32(g.Machines) {
			size += len(g.Route(a, b)) * len(g.Data)
		}
	}
	return s.off&devLinked == 0 && g.Files == nil && g.Room == nil && s.Set.Proof == nil && g.Tasks <= kernelAlone && size <= maxLinked
}

// linkModel is kernelModel with the capacity of links: a relaxation of the schedules under contention. A start in it is
// a schedule's start in ticks, rounded down.
//
// On each link, transfers may be interrupted and share it in any way. There is only one condition: no window of time
// has to take more data than the link lets through (cp.Preemptive). A transfer's window goes from the end of its
// producer and the start-up to the start of its consumer. That is a relaxation: the rates on a link never sum to more
// than its capacity, or, under TCP, than the total for as many transfers as edges and files make. As to rounding, let the
// transfers of a set have windows within [a, b) in ticks. Their releases in ticks aren't above the true ones, which so
// are a or later; their consumers start before b + 1. So less than b + 1 - a passes, and the lengths, rounded down, sum
// to b - a at most. Costs and lengths are rounded down, so a task that starts when another one ended, or when its data
// arrived, also starts at that time rounded down.
func (s *dagSearch) linkModel(v *ticks, g *view.Graph, horizon int64) *kernelModel {
	k := newKernelModel(v, horizon)
	most := int32(max(1, g.Flows()))
	down := func(seconds float64) int64 { return int64(seconds / v.Ticks.Unit * (1 - 1e-12)) }
	for l, capacity := range g.Links {
		if s.off&devLinkWindows != 0 {
			break
		}
		if g.Transfer != model.TransferFair {
			capacity *= model.TCPShare(most)
		}
		c := &cp.Preemptive{}
		for e := range int32(len(g.Data)) {
			length := down(g.Load[e] / capacity)
			if length < 1 {
				continue
			}
			for a := range v.m {
				for b := range v.m {
					if a == b || !slices.Contains(g.Route(int32(a), int32(b)), int32(l)) {
						continue
					}
					from, to := k.On(g.From[e], a), k.On(g.To[e], b)
					c.Items = append(c.Items, cp.Windowed{If: []cp.Lit{from.If, to.If}, From: from.At,
						After: k.Cost(g.From[e], a) + down(g.Startup(int32(a), int32(b))), To: to.At, Length: length})
				}
			}
		}
		if len(c.Items) > 1 {
			k.Add(c)
		}
	}
	for _, starts := range k.Starts {
		for _, x := range starts {
			k.Integers = append(k.Integers, x.At)
		}
	}
	return k
}

// linkSearch proves the best schedule under contention.
type linkSearch struct {
	*dagSearch
	d      *model.DAG
	g      *view.Graph
	model  *kernelModel
	kernel *lcg.Kernel
	replay *dagplay.Replay
	sure   float64 // what is left of the best makespan as a bound once plans are excluded
	later  []deferred
	failed error
	limit  int64 // programs for a plan
}

// deferred is a plan that takes more programs than it was given.
type deferred struct {
	plan  dagplay.Plan
	lower float64 // of its makespan
	final bool    // more programs don't help: rounding leaves it open
}

// firstPrograms is the number of programs for a plan at first.
const firstPrograms = 1000

// linked proves the best schedule under contention (logic-based Benders decomposition: Hooker,
// Ottosson 2003). The kernel looks for machines, orders and starts that end before the best
// schedule and for which the links have time (linkModel). For each such plan heldSearch finds the best
// moments for its transfers; then no schedule of the plan is better than the best one, and the
// plan is excluded. When no plan is left, the best schedule is optimal. On the way the kernel refutes
// one makespan after another from the bound up. Plans that take long wait to the end.
func (s *dagSearch) linked(d *model.DAG, g *view.Graph) error {
	v := newTicks(s.g, s.Objective, s.off)
	if err := v.findWeights(s.Ctx); err != nil {
		return err
	}
	x := &linkSearch{dagSearch: s, d: d, g: g, replay: dagplay.NewReplay(g), sure: 1, limit: firstPrograms,
		model: s.linkModel(v, g, int64(s.Objective/v.Ticks.Unit*(1+1e-12)))}
	x.kernel = lcg.NewWith(&x.model.Model.Model, lcg.Options{Off: s.without})
	if done, err := x.plans(v); err != nil || !done {
		return err
	}
	return x.rest()
}

// plans asks for plans until there are none, and reports whether there are none.
func (s *linkSearch) plans(v *ticks) (bool, error) {
	if err := s.follow(v); err != nil {
		return false, err
	}
	k, makespan, unit := s.kernel, s.model.Objective, v.Ticks.Unit
	bound, step, before := int64(s.lower/unit*(1-1e-12)), int64(1), s.Nodes
	for {
		s.Nodes = before + k.Conflicts
		// Any makespan below the best one, in ticks and rounded down, is below this.
		best := int64(math.Ceil(s.Objective / unit * (1 - 1e-12)))
		if s.raise(float64(bound) * unit); bound >= best || s.proved() {
			return true, nil
		}
		s.Tell(s.Objective, s.lower, func() model.Solution { return s.Solution })
		if other, _ := s.News(s.Objective); other != nil {
			if _, err := s.Improve(other); err != nil {
				return false, err
			}
			continue
		}
		k.Require(makespan.AtMost(best - 1))
		k.Require(makespan.AtLeast(bound))
		conflicts := k.Conflicts
		step = max(step, (best-bound)/32) // ticks may be fine
		switch k.Search(s.Ctx, 1000, makespan.AtMost(min(best, bound+step)-1)) {
		case lcg.Infeasible:
			bound = best
		case lcg.Refuted:
			if bound = min(best, bound+step); k.Conflicts-conflicts < 10 {
				step *= 2
			} else {
				step = max(1, step/2)
			}
		case lcg.Satisfied:
			values := slices.Clone(k.Values())
			if p := s.model.planOf(values); !s.settle(p) {
				return false, s.failed
			}
			k.Exclude(s.model.planIs(values)...)
			s.sure = 1 - heldGap
			if err := s.follow(v); err != nil {
				return false, err
			}
		default:
			if step = 1; s.Ctx.Err() != nil {
				return false, nil
			}
		}
	}
}

// follow has the kernel try the best schedule's values first.
func (s *linkSearch) follow(v *ticks) error {
	if s.off&devHint != 0 {
		return nil
	}
	p, err := dagplay.PlanOf(s.d, s.g, s.Solution.(*model.Schedule))
	if err != nil {
		return err
	}
	_, start, _ := v.Play(p.Machine, p.Order)
	s.kernel.SetPhases(s.model.phases(start, p.Machine))
	return nil
}

// raise stores a bound of all plans that aren't excluded. Excluded plans end no sooner than the best schedule, within
// heldGap, and waiting plans have bounds of their own.
func (s *linkSearch) raise(bound float64) {
	bound = min(bound, s.Objective*s.sure)
	for _, x := range s.later {
		bound = min(bound, x.lower)
	}
	s.lower = max(s.lower, bound)
}

// proved reports whether the gap asked for is reached.
func (s *linkSearch) proved() bool {
	return model.Gap(s.Objective, s.lower) <= min(s.Set.GapLimit(), 1)*0.9
}

// rest takes the waiting plans, least bounds first, with more programs each time.
func (s *linkSearch) rest() error {
	for slices.ContainsFunc(s.later, func(x deferred) bool { return !x.final }) && !s.proved() {
		s.limit *= 4
		waiting := s.later
		order.Stable(waiting, func(a, b deferred) int { return cmp.Compare(a.lower, b.lower) })
		for s.later = nil; len(waiting) > 0; {
			x := waiting[0]
			if waiting = waiting[1:]; x.final {
				s.later = append(s.later, x)
			} else if x.lower < s.Objective*(1-heldGap) && !s.settle(x.plan) {
				return s.failed
			}
			last := len(s.later)
			s.later = append(s.later, waiting...) // plans not looked at still have their bound
			s.raise(math.Inf(1))
			s.later = s.later[:last:last]
			s.Tell(s.Objective, s.lower, func() model.Solution { return s.Solution })
		}
	}
	return nil
}

// settle finds the best schedule of a plan, if it is better than the best so far, or has the plan wait. It reports
// false if the run is over.
func (s *linkSearch) settle(p dagplay.Plan) bool {
	take := func(sent []float64) {
		if made := s.replay.RunFrom(p, sent); made < s.Objective && s.failed == nil {
			_, s.failed = s.Improve(s.d.Schedule(p.Machine, s.replay.Start, s.replay.Sent))
		}
	}
	take(nil)
	h := newHeldSearch(s.Ctx, s.g, s.replay, p, s.Objective)
	h.withoutLoads, h.limit = s.off&devLinkLoads != 0, s.limit
	done := h.run()
	if errors.Is(h.failed, highs.ErrMissing) {
		s.Reason, h.failed = "to hold transfers back in the best way takes HiGHS, which isn't built in", nil
		return false
	}
	if s.failed = cmp.Or(s.failed, h.failed); h.sent != nil {
		take(h.sent)
	}
	if !done && s.failed == nil && s.Ctx.Err() == nil {
		s.later = append(s.later, deferred{p, h.lower, h.programs < h.limit})
	}
	return s.failed == nil && s.Ctx.Err() == nil
}

// planIs returns the literals of a solution's machines, and of its orders on them.
func (k *kernelModel) planIs(values []int64) (is []cp.Lit) {
	a := cp.Assignment{Model: &k.Model.Model, Values: values}
	on := make([]int, k.v.n)
	for t := range k.Starts {
		for m, x := range k.Starts[t] {
			if a.Is(x.If) {
				if on[t] = m; x.If != cp.True {
					is = append(is, x.If)
				}
			}
		}
	}
	for i, t := range k.Graph.Order {
		for j, u := range k.Graph.Order[:i] {
			l := k.before[i][j]
			if on[t] != on[u] || l == cp.True || l == cp.False {
				continue
			}
			if !a.Is(l) {
				l = l.Not()
			}
			is = append(is, l)
		}
	}
	return is
}
