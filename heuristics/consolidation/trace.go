// SPDX-License-Identifier: MIT

package consolidation

import (
	"fmt"

	"github.com/gapwise/gapwise/internal/steps"
)

// name returns a task's name.
func (p *packer) name(t task) string {
	j := &p.C.In.Jobs[t.I]
	if j.Tasks == 1 {
		return j.ID
	}
	return fmt.Sprintf("%s (task %d of %d)", j.ID, t.K+1, j.Tasks)
}

// host returns a host's name.
func (p *packer) host(h int) string {
	if x := &p.C.Hosts[h]; x.Offer >= 0 {
		return "a new " + p.C.In.Offers[x.Offer].ID
	}
	return p.C.In.Hosts[h].ID
}

// today tells how the plan is that a heuristic begins with.
func (p *packer) today() {
	if p.tell == nil {
		return
	}
	n := 0
	for _, h := range p.used {
		if p.Tasks[h] > 0 {
			n++
		}
	}
	p.tell.Tell("today", "", steps.Figures("cost", float64(p.Cost), "hosts", float64(n)), "begins with %d hosts in use, cost %d", n, p.Cost)
}

// decide tells, before a task is put on a host (-1: on none), what would be left on each host in use
// that can have it, as a share of a mean host.
func (p *packer) decide(t task, h int) {
	if p.tell == nil {
		return
	}
	id, on := p.C.In.Jobs[t.I].ID, steps.Candidates{}
	opens := h >= 0 && p.Tasks[h] == 0
	if !opens && h != int(p.C.Jobs[t.I].Current[t.K]) {
		for _, x := range p.used {
			if p.Tasks[x] > 0 && p.C.Jobs[t.I].Allowed.Has(x) && p.Can(t.I, t.K, x) {
				left := p.slack(t.I, x)
				on.Add(fmt.Sprintf("%.4g left on %s", left, p.host(x)), steps.Figures("left on "+p.host(x), left)...)
			}
		}
	}
	switch {
	case h < 0:
		p.tell.Tell("stuck", id, nil, "%s: no host can have it, or it costs less to leave it out", p.name(t))
	case h == int(p.C.Jobs[t.I].Current[t.K]):
		p.tell.Tell("place", id, nil, "%s: stays on %s", p.name(t), p.host(h))
	case opens:
		price := p.C.Hosts[h].Price
		p.tell.Tell("place", id, steps.Figures("price", float64(price)), "%s: no host in use can have it: %s is taken, price %d", p.name(t), p.host(h), price)
	default:
		p.tell.Tell("place", id, on.Figures, "%s: %s: %s", p.name(t), &on, p.host(h))
	}
}

// emptied tells that a host is emptied, on tasks and to which hosts; or why it can't be.
func (p *packer) emptied(h int, on []task, to []int, saved int64, done bool) {
	switch {
	case p.tell == nil:
	case !done && len(to) < len(on):
		p.tell.Tell("keep", "", nil, "%s keeps its tasks: no other host can have %s", p.host(h), p.name(on[len(to)]))
	case !done:
		p.tell.Tell("keep", "", nil, "%s keeps its tasks: nothing is saved", p.host(h))
	default:
		p.tell.Tell("empty", "", steps.Figures("saved", float64(saved)), "%s is emptied: saves %d", p.host(h), saved)
		for k, t := range on {
			p.tell.Tell("move", p.C.In.Jobs[t.I].ID, nil, "%s goes to %s", p.name(t), p.host(to[k]))
		}
	}
}
