// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"
	"math"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	"github.com/gapwise/gapwise/model"
)

// part holds jobs with windows that overlap no others': it is solved alone. Values are in units of scale.weight.
type part struct {
	jobs     []job // by ready time
	total    float64
	value    float64                // of the best plan
	upper    float64                // bound on the value of any plan
	relax    *resbounds.Multipliers // nil without
	rounding float64                // of the bound by these
	done     bool                   // value and upper are as close as asked for
	given    string                 // why it is given up, if it is

	kernel *kernelSearch // nil before its first turn
}

func newPart(jobs []job) *part {
	total := totalWeight(jobs)
	return &part{jobs: jobs, total: total, upper: total}
}

func (p *part) closed() bool { return p.done || p.upper <= p.value }

// lower takes a bound on the value of any plan.
func (p *part) lower(bound float64) { p.upper = max(p.value, min(p.upper, bound)) }

// slack returns more than the rounding errors of bounds by the part's multipliers, and more than the weight that
// rounding up adds (weightStep).
func (p *part) slack() float64 {
	return max(max(1e-10, float64(len(p.jobs))*0x1p-47)*p.total, 2*p.rounding)
}

// grainOf returns a common divisor of all values of a part, within the precision of the bounds: 0 if a grain isn't four
// times as much as the slack.
func (s *searcher) grainOf(p *part) float64 {
	if p.slack() >= s.scale.grain/4 {
		return 0
	}
	return s.scale.grain
}

// floor rounds a bound down to a value that a plan may have. All plans are worth value ≤ bound + slack, as sums are
// rounded by less than the slack; and value is a multiple of the grain, so it is at most the last multiple there.
func (s *searcher) floor(p *part, bound float64) float64 {
	bound += p.slack()
	if grain := s.grainOf(p); grain > 0 {
		bound = math.Floor(bound/grain) * grain
	}
	return bound
}

// impossible reports whether not all of a part's jobs fit, if they have to.
func (s *searcher) impossible(p *part) bool {
	return s.in.EffectiveGoal() == model.GoalAll && p.upper < p.total
}

// recordInfeasible reports whether a part proves infeasibility, and records the
// reason: under the goal all, no plan has all of a part's jobs if their total
// weight is above the bound. By names the bound.
func (s *searcher) recordInfeasible(p *part, by string) bool {
	if !s.impossible(p) {
		return false
	}
	first, last := p.jobs[0].ready, tick(0)
	for i := range p.jobs {
		last = max(last, p.jobs[i].due())
	}
	s.Infeasible(fmt.Sprintf("the %d requests with windows between %g s and %g s can't all be kept, by %s",
		len(p.jobs), float64(first)/s.t.PerSecond(), float64(last)/s.t.PerSecond(), by))
	return true
}
