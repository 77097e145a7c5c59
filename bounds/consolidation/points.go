// SPDX-License-Identifier: MIT

package consolidation

import (
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
)

// decode returns the solution of a point: as many tasks of a job as possible stay on their hosts.
func (p *Program) decode(x []float64) (*model.Assignment, error) {
	c := p.View
	plan := c.Today()
	for i := range plan {
		j := &c.Jobs[i]
		here := map[int32]int{} // how many there are
		for h := range c.Hosts {
			p.each(i, h, func(v int, _ bool) { here[int32(h)] += int(math.Round(x[v])) })
		}
		var free []int
		for k, h := range j.Current {
			if h >= 0 && here[h] > 0 {
				here[h]--
				continue
			}
			plan[i][k] = view.Nowhere
			free = append(free, k)
		}
		for h := range c.Hosts {
			for ; here[int32(h)] > 0; here[int32(h)]-- {
				if len(free) == 0 {
					return nil, fmt.Errorf("%w: more tasks of job %q than it has", model.ErrInfeasible, c.In.Jobs[i].ID)
				}
				plan[i][free[0]] = int32(h)
				free = free[1:]
			}
		}
	}
	return c.Assignment(plan), nil
}

// encode returns the point of a solution; nil if it has more bought hosts than there are slots.
func (p *Program) encode(a *model.Assignment) []float64 {
	plan, err := p.View.PlanOf(a)
	if err != nil {
		return nil
	}
	c, x := p.View, make([]float64, len(p.Vars))
	for v := range p.Vars {
		x[v] = p.Vars[v].Lower
	}
	for i := range plan {
		for v := range p.Stay[i] {
			x[p.Stay[i][v]] = 0
		}
		for k, h := range plan[i] {
			switch {
			case h < 0 && p.Leave[i] < 0:
				return nil
			case h < 0:
				x[p.Leave[i]]++
			case h == c.Jobs[i].Current[k]:
				x[p.Stay[i][h]]++
			case p.Anew[i][h] < 0:
				return nil
			default:
				x[p.Anew[i][h]]++
			}
			if h >= 0 {
				x[p.Use[h]] = 1
			}
		}
	}
	sum := func(terms []milp.Term) (n float64) {
		for _, t := range terms {
			n += x[t.Var]
		}
		return n
	}
	for _, d := range p.flags {
		x[d.v] = min(1, sum(d.sums[0]))
	}
	for _, d := range p.alones {
		if sum(d.sums[0]) <= 1 {
			x[d.v] = p.Vars[d.v].Upper
		}
	}
	for _, d := range p.overs {
		x[d.v] = 1 - min(1, sum(d.sums[0]))
	}
	for k := range p.spreads {
		p.spreads[k].encode(x, sum)
	}
	return x
}
