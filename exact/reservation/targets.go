// SPDX-License-Identifier: MIT

package reservation

import (
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// targetShare is the place, from the best value to the bound, of the first plan to look for: a high target keeps few
// states open, a low one finds plans. It matters little: at 0.5 and 1 the crowds of the plan reservation-exact take as
// many nodes.
const targetShare = 0.75

// improve sweeps a part for better plans, with at most limit nodes for each
// value looked for, with time running forwards or backwards.
//
// A sweep to its end without a plan of the target shows value < target for all
// plans. Targets are multiples of the grain, as is each value, so value ≤
// target - grain is a bound (target itself without grains). The step from the best
// value to the next target, too, has to be whole grains, or else target - grain
// lies below a value that a plan may have.
func (s *searcher) improve(p *part, limit int64, backwards bool) {
	grain := s.grainOf(p)
	least := max(grain, 4*p.slack())
	if grain > 0 {
		least = math.Floor(least/grain) * grain
	}
	for !p.closed() && !s.impossible(p) && !s.enough() && s.Ctx.Err() == nil {
		target := p.value + max(least, (p.upper-p.value)*targetShare)
		if grain > 0 {
			target = math.Ceil(target/grain) * grain
		}
		if s.in.EffectiveGoal() == model.GoalAll {
			target = p.total
		}
		whole, upper := true, target-grain
		if p.relax.bound() >= target-p.slack() {
			relax := p.relax
			if backwards {
				relax = relax.reversed()
			}
			w := newSweep(s.Ctx, s.scale.pes, relax.jobs, relax)
			w.grain, w.step, w.slack, w.limit, w.best, w.target, w.off = grain, least, p.slack(), limit, p.value, target, s.off
			whole = w.run()
			s.Nodes += w.nodes
			s.record(p, w, backwards)
			if upper = w.target - grain; !whole {
				upper = s.floor(p, w.bound())
			}
			target = w.target
		}
		p.lower(upper)
		p.done = whole && target <= p.value+least
		s.progress()
		if !whole || s.in.EffectiveGoal() == model.GoalAll {
			return
		}
	}
}

// record takes the plan of a sweep, if it found a better one.
func (s *searcher) record(p *part, w *sweep, backwards bool) {
	if w.bestAt < 0 {
		return
	}
	p.value = w.best
	for k := range p.jobs {
		s.starts[p.jobs[k].id] = view.Declined
	}
	for j, start := range w.plan {
		if backwards {
			start = -start - j.length
		}
		s.starts[j.id] = int64(start)
	}
}
