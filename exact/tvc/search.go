// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/exact/internal/engine"
	tvcheur "github.com/gapwise/gapwise/heuristics/tvc"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// Search is the native exact search for TVC.
//
// Loss mode: it starts from the heuristics and takes the components of the instance one by one (tvcrelax.Components),
// small ones first. Bounds by the linear relaxation come first, then branch and bound on the set of accepted requests
// (component), with a packer to decide which can be embedded together. The result carries the best solution and the
// bound proved so far when ctx or the time limit ends. Threads aren't used.
//
// Queue mode: it proves the schedule of the least mean response, for few requests at a time: see queueRun, queuePart
// and queueProgram.
var Search = engine.Engine[*model.TVC, deviceSet]{ID: "search", Parts: devices, Work: search}

func search(r *engine.Run, v *model.TVC, off deviceSet, _ lcg.Device) error {
	s := &run{Run: r, in: v, off: off}
	if v.Queue {
		return s.queue()
	}
	return s.solve()
}

var errQueue = fmt.Errorf("%w: it proves optima of loss mode alone, the instance has a queue; take auto or a scheduler", model.ErrUnsupported)

// run is one run of Search.
type run struct {
	*engine.Run
	in    *model.TVC
	off   deviceSet
	t     *view.TVC
	w     *tvcrelax.Weights
	upper []int64 // by component: no solution brings more
	value []int64 // by component: the value of the best solution
	done  int64   // nodes of components that are done
	why   string  // why not all is searched
}

// start returns the best of Settings.Start and the policies' solutions, nil if
// there is none. Policies that don't take the instance's mode are left out.
func start(r *engine.Run) (*model.Embeddings, error) {
	policies := slices.DeleteFunc(tvcheur.Algorithms(), func(a model.Algorithm) bool { return a.Class != model.Online })
	first, err := r.First(policies)
	best, _ := first.(*model.Embeddings)
	return best, err
}

// bound stores a bound. One that differs from the solution's objective by no more
// than the rounding of sums is the objective.
func (s *run) bound(value float64) {
	if s.Solution != nil && math.Abs(value-s.Objective) <= 1e-10*math.Abs(s.Objective) {
		value = s.Objective
	}
	s.Raise(value)
}

// total stores the sum of the components' bounds.
func (s *run) total() {
	sum := int64(0)
	for _, u := range s.upper {
		sum += u
	}
	s.bound(s.w.Value(sum))
	s.report(0)
}

func (s *run) report(nodes int64) {
	s.Nodes = s.done + nodes
	s.TellBest()
}

func (s *run) solve() error {
	best, err := start(s.Run)
	if err != nil {
		return err
	}
	if best != nil {
		if err := s.SetSolution(s.in, best); err != nil {
			return err
		}
	}
	for _, b := range tvcbounds.Quick(s.Ctx, s.in) {
		s.bound(b.Value)
	}
	s.report(0)
	if err := s.components(); err != nil {
		return err
	}
	s.Reason = cmp.Or(meter.StopReason(s.Ctx), s.why)
	return nil
}

// components solves the components until the gap is closed.
func (s *run) components() error {
	s.t = view.Shared(s.Ctx, s.in, view.OfTVC)
	s.w = tvcrelax.NewWeights(s.in, s.t)
	parts := tvcrelax.Components(s.t)
	order.Stable(parts, func(a, b []int) int { return len(a) - len(b) })
	s.upper, s.value = make([]int64, len(parts)), make([]int64, len(parts))
	accepted := make([]bool, len(s.t.Requests))
	if best, ok := s.Solution.(*model.Embeddings); ok {
		index, err := s.in.Index(best)
		if err != nil {
			return err
		}
		for _, q := range index {
			accepted[q] = true
		}
	}
	for k, part := range parts {
		for _, q := range part {
			s.upper[k] += s.w.Of[q]
			if accepted[q] {
				s.value[k] += s.w.Of[q]
			}
		}
	}
	closed := func() bool { return s.Closed() || s.Ctx.Err() != nil }
	all := make([]*component, len(parts))
	for k, part := range parts {
		if closed() {
			return nil
		}
		r := tvcrelax.NewRelaxation(s.t, part, s.w, false)
		tighten := r.Tighten
		if s.off&devPatterns != 0 {
			tighten = func(ctx context.Context) (*tvcrelax.Multipliers, error) { return r.Solve(ctx, nil) }
		}
		m, err := tighten(s.Ctx)
		if err != nil {
			return err
		}
		if m == nil {
			m = r.Ascend(s.Ctx, ascendSteps)
		}
		s.upper[k] = min(s.upper[k], m.Floor())
		if len(part) <= mostRequests {
			all[k] = newComponent(s.Ctx, s.t, s.w, part, r, s.off)
			all[k].report = func() { s.report(all[k].nodes) }
			all[k].enough = func(value int64) bool { return s.enough(k, value) }
		}
	}
	s.total()
	for k, c := range all {
		if closed() {
			return nil
		}
		if c == nil {
			s.why = fmt.Sprintf("exact search is for at most %d requests that compete with each other, here are %d", mostRequests, len(parts[k]))
			continue
		}
		if err := s.component(k, c); err != nil {
			return err
		}
	}
	return nil
}

// ascendSteps is the number of steps of the subgradient method if the linear program is too large.
const ascendSteps = 300

// enough reports whether a solution of the given value in component k needs no search of that component: it has the
// most possible, or it closes the gap asked for together with the other components.
func (s *run) enough(k int, value int64) bool {
	upper, sum := int64(0), max(value, s.value[k])-s.value[k]
	for j := range s.upper {
		upper += s.upper[j]
		sum += s.value[j]
	}
	return value >= s.upper[k] || float64(upper) <= float64(sum)*(1+0.999*s.Set.GapLimit())
}

// component solves component k and replaces its part of the best solution if
// there is a better one.
func (s *run) component(k int, c *component) error {
	if best, ok := s.Solution.(*model.Embeddings); ok {
		if err := c.learn(s.in, best); err != nil {
			return err
		}
	}
	done, err := c.solve()
	if err != nil {
		return err
	}
	s.done += c.nodes
	if s.upper[k] = min(s.upper[k], c.upper); done {
		s.upper[k] = c.best
	}
	e, value := c.solution(s.in, s.t), int64(0)
	if e != nil {
		value = c.value(c.top.set)
	}
	if e != nil {
		s.value[k] = max(s.value[k], value)
		if best, ok := s.Solution.(*model.Embeddings); ok {
			own := map[string]bool{}
			for _, q := range c.requests {
				own[s.in.Requests[q].ID] = true
			}
			for _, run := range best.Runs {
				if !own[run.ID] {
					e.Runs = append(e.Runs, run)
				}
			}
		}
		if _, err := s.Improve(e); err != nil {
			return err
		}
	}
	s.total()
	return nil
}

// learn notes a solution's part for the component's requests.
func (c *component) learn(in *model.TVC, e *model.Embeddings) error {
	index, err := in.Index(e)
	if err != nil {
		return err
	}
	embedding := map[int32]*model.Embedding{}
	known := set{}
	for k := range e.Runs {
		if i, ok := slices.BinarySearch(c.requests, index[k]); ok && len(e.Runs[k].Segments) == 1 {
			known = known.with(i)
			embedding[c.rank[i]] = &e.Runs[k].Segments[0].Place
		}
	}
	if p, ok := c.packer.understand(c.ranks(known), embedding); ok {
		c.know(known, p)
	}
	return nil
}

// solution returns the best set's runs, nil if it is empty or isn't embedded.
func (c *component) solution(in *model.TVC, t *view.TVC) *model.Embeddings {
	best := &c.top
	if best.held == nil {
		return nil
	}
	e := &model.Embeddings{}
	places := c.embeddings(best.placement)
	for i := range best.set.all {
		q := &t.Requests[c.requests[i]]
		e.Runs = append(e.Runs, model.Run[model.Embedding]{ID: in.Requests[c.requests[i]].ID, Segments: []model.Segment[model.Embedding]{
			{StartS: t.Seconds(q.Arrival), EndS: t.Seconds(q.Arrival + q.Duration), Place: *places[c.rank[i]]}}})
	}
	return e
}
