// SPDX-License-Identifier: MIT

package consolidation

import (
	"fmt"

	"github.com/gapwise/gapwise/model/milp"
)

// spread holds the variables of a rule of type spread.
type spread struct {
	least   int // variable: at most what the domain has that has fewest
	most    float64
	domains []spreadDomain
	// min is the number of domains below which least is 0, and there is how many of them are always there. enough is
	// the Boolean that says that there are min, -1 if that doesn't depend on the plan.
	min, there int
	enough     int
}

// spreadDomain is a domain with hosts that count.
type spreadDomain struct {
	number   int
	all      []milp.Term // its content: tasks, and the tasks that bought hosts hold
	standing float64     // on hosts that are there
	opens    []int       // it is there if one of these Booleans is 1; nil: it always is
	open     int         // Boolean: it is there; -1 if none is needed
}

// spread adds the rows of rule q. Let f be that a task is newly placed in a domain which has n:
//
//	least ≤ n                       for each domain that is always there
//	least ≤ n + (1 - use) most      for one that is there by a bought host in use
//	n - least ≤ skew + (1 - f) (most n - skew)
//
// If any host of an offer is in use, the first is. If fewer domains than the rule asks for are always there, least ≤
// enough · most, and enough needs so many of the others.
func (b *builder) spread(q int) {
	c := b.View
	r := &c.Rules[q]
	if b.crowds(q) {
		for d := range c.Values[r.Domain] {
			if x := b.variablesOf(r.Others, r.Domain, d, nil, r.Among); x.mostAll > int64(r.MaxSkew) {
				b.atMost(fmt.Sprintf("crowd_%d_%d", q+1, d+1), float64(r.MaxSkew), x.all...)
			}
		}
		return
	}
	most := int64(b.tasks(r.Others))
	for _, n := range r.Standing {
		most += int64(n)
	}
	s := spread{least: b.integer(fmt.Sprintf("least_%d", q+1), 0, most), most: float64(most), min: r.MinDomains, enough: -1}
	domains := make([]spreadDomain, c.Values[r.Domain])
	there, known := make([]bool, len(domains)), make([]bool, len(domains))
	offer := make([]int, len(domains)) // of the last bought host of a domain, plus 1
	for h, d := range c.Domains[r.Domain] {
		if d < 0 || !r.Among.Has(h) {
			continue
		}
		x, stands := &domains[d], int64(0)
		if r.Standing != nil {
			stands = int64(r.Standing[h])
		}
		known[d] = true
		if h < c.Existing {
			there[d] = true
			x.standing += float64(stands)
			continue
		}
		b.onlyWithTasks(h)
		if stands > 0 {
			x.all = append(x.all, term(b.Use[h], stands))
		}
		if o := c.Hosts[h].Offer + 1; offer[d] != o {
			x.opens, offer[d] = append(x.opens, b.Use[h]), o
		}
	}
	for d := range domains {
		x := &domains[d]
		x.number = d
		counted := b.variablesOf(r.Others, r.Domain, d, nil, r.Among)
		highest := counted.mostAll
		for _, t := range x.all {
			highest += int64(t.Coef)
		}
		x.all = append(x.all, counted.all...)
		if x.open = -1; there[d] {
			x.opens = nil
			s.there++
			b.atMost(fmt.Sprintf("least_%d_%d", q+1, d+1), x.standing, append(times(x.all, -1), term(s.least, 1))...)
		}
		for _, use := range x.opens {
			b.atMost(fmt.Sprintf("offer_%d_%d_%d", q+1, d+1, use-b.Use[0]+1), x.standing+s.most, append(plus(times(x.all, -1), []milp.Term{term(use, most)}), term(s.least, 1))...)
		}
		if anew := b.part(q, d, "jobs"); anew.most > 0 {
			name := fmt.Sprintf("spread_%d_%d", q+1, d+1)
			f := b.flag(q, d, "jobs", anew)
			slack := max(0, highest+int64(x.standing)-int64(r.MaxSkew))
			b.atMost(name, float64(int64(r.MaxSkew)+slack)-x.standing, append(plus(x.all), term(s.least, -1), term(f, slack))...)
		}
		if known[d] {
			s.domains = append(s.domains, *x)
		}
	}
	b.enoughDomains(q, &s)
	b.spreads = append(b.spreads, s)
}

// crowds reports whether a spread forbids exactly that all of its tasks are in one domain, so that it needs neither
// flags nor the least: it is loose, binds all that it counts, and not all are in one domain today. If all are in one, one
// of them is newly placed there.
func (b *builder) crowds(q int) bool {
	c := b.View
	r := &c.Rules[q]
	if !r.Loose {
		return false
	}
	now := make([]int, c.Values[r.Domain])
	for _, i := range r.Others {
		if !r.Bound.Has(i) {
			return false
		}
		for _, h := range c.Jobs[i].Current {
			if h < 0 {
				continue
			}
			if d := c.Domains[r.Domain][h]; d >= 0 {
				if now[d]++; now[d] > r.MaxSkew {
					return false
				}
			}
		}
	}
	return true
}

// onlyWithTasks adds that a bought host is in use only if a task is on it.
func (b *builder) onlyWithTasks(h int) {
	if b.filled[h] {
		return
	}
	b.filled[h] = true
	row := []milp.Term{term(b.Use[h], 1)}
	for i := range b.View.Jobs {
		b.each(i, h, func(v int, _ bool) { row = append(row, term(v, -1)) })
	}
	b.atMost(fmt.Sprintf("filled_%d", h+1), 0, row...)
}

// enoughDomains adds that least is 0 if there are too few domains.
func (b *builder) enoughDomains(q int, s *spread) {
	switch {
	case s.there >= max(1, s.min):
		return
	case len(s.domains) < max(1, s.min):
		b.Vars[s.least].Upper = 0
		return
	}
	s.enough = b.integer(fmt.Sprintf("enough_%d", q+1), 0, 1)
	b.atMost(fmt.Sprintf("enough_%d", q+1), 0, term(s.least, 1), term(s.enough, -int64(s.most)))
	row := []milp.Term{term(s.enough, int64(max(1, s.min)-s.there))}
	for d := range s.domains {
		x := &s.domains[d]
		if x.opens == nil {
			continue
		}
		x.open = b.integer(fmt.Sprintf("open_%d_%d", q+1, x.number+1), 0, 1)
		by := []milp.Term{term(x.open, 1)}
		for _, use := range x.opens {
			by = append(by, term(use, -1))
		}
		b.atMost(fmt.Sprintf("open_%d_%d", q+1, x.number+1), 0, by...)
		row = append(row, term(x.open, -1))
	}
	b.atMost(fmt.Sprintf("domains_%d", q+1), 0, row...)
}

// encode sets the variables of a spread at a point with given tasks and hosts.
func (s *spread) encode(x []float64, sum func([]milp.Term) float64) {
	least, domains := s.most, 0
	for k := range s.domains {
		d := &s.domains[k]
		is := d.opens == nil
		for _, use := range d.opens {
			is = is || x[use] > 0
		}
		if !is {
			continue
		}
		domains++
		least = min(least, d.standing+sum(d.all))
		if d.open >= 0 {
			x[d.open] = 1
		}
	}
	if domains < max(1, s.min) {
		least = 0
	} else if s.enough >= 0 {
		x[s.enough] = 1
	}
	x[s.least] = least
}
