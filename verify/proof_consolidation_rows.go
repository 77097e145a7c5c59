// SPDX-License-Identifier: MIT

package verify

import (
	"github.com/gapwise/gapwise/model"
)

// constraint returns one of
//
//	objective           what the goal counts ≤ objective
//	cost, moves         at most the cost limit, the move budget
//	limit K             Σ counts · use ≤ most
//	tasks J             Σ stay + Σ anew + leave = tasks
//	has R H             Σ need (stay + anew) ≤ capacity · use, plus the excess · over if what is there now needs more
//	over R H            of such a host: Σ anew that need R ≤ their greatest value · (1 - over)
//	stay J H, anew J H  the variable ≤ its largest value · use
//	home J H            with mend: stay ≤ 0, if tasks of J may not be on H or are in no domain there that a rule asks for
//	order H             use ≤ use of the host before it, of the same offer
//	filled H            of a bought host: use ≤ Σ (stay + anew) on it
//
// or one of a rule Q, see ruleRow.
func (k *consolidationProof) constraint(name []string) (proofRule, error) {
	jobs, hosts := len(k.in.Jobs), len(k.use)
	switch word := name[0]; {
	case len(name) == 1 && word == "objective":
		row := k.figure(k.in.Goal == model.GoalMoves)
		row.add(-1, k.goal)
		return row, nil
	case len(name) == 1 && word == "cost" && k.in.CostLimit != nil:
		row := k.figure(false)
		row.allow(1, *k.in.CostLimit)
		return row, nil
	case len(name) == 1 && word == "moves" && k.in.MoveBudget != nil:
		row := k.figure(true)
		row.allow(1, *k.in.MoveBudget)
		return row, nil
	case word == "tasks":
		n, err := k.numbers(name[1:], jobs)
		if err != nil {
			return nil, err
		}
		return k.tasks(n[0]), nil
	case word == "limit":
		n, err := k.numbers(name[1:], len(k.in.Limits))
		if err != nil {
			return nil, err
		}
		return k.limit(&k.in.Limits[n[0]]), nil
	case word == "has":
		n, err := k.numbers(name[1:], len(k.in.Resources), hosts)
		if err != nil {
			return nil, errUnknownName
		}
		host, row := &k.j.hosts[n[1]], &proofLinear{}
		for i := range k.in.Jobs {
			k.each(i, n[1], func(x consolidationCount, _ bool) { row.add(k.in.Jobs[i].Needs[n[0]], x.v) })
		}
		row.add(-host.capacity[n[0]], k.use[n[1]])
		if host.over(n[0]) {
			if host.held[n[0]] == maxSaturated {
				return nil, errUnknownName // that isn't what it holds
			}
			row.add(host.capacity[n[0]]-host.held[n[0]], k.must("over", name[1], name[2]))
		}
		return row, nil
	case word == "over":
		n, err := k.numbers(name[1:], len(k.in.Resources), hosts)
		if err != nil || !k.j.hosts[n[1]].over(n[0]) {
			return nil, errUnknownName
		}
		row, most := &proofLinear{}, int64(0)
		for i := range k.in.Jobs {
			if x := k.anew[i][n[1]]; x.v >= 0 && k.in.Jobs[i].Needs[n[0]] > 0 {
				row.add(1, x.v)
				most += x.most
			}
		}
		row.add(most, k.must(name...))
		row.allow(1, most)
		return row, nil
	case word == "stay" || word == "anew":
		n, err := k.numbers(name[1:], jobs, hosts)
		if err != nil {
			return nil, err
		}
		x := k.count(word, n[0], n[1])
		if x.v < 0 {
			return nil, errUnknownName
		}
		row := &proofLinear{}
		row.add(1, x.v)
		row.add(-x.most, k.use[n[1]])
		return row, nil
	case word == "home":
		n, err := k.numbers(name[1:], jobs, k.existing)
		if err != nil || !k.leaves(n[0], n[1]) {
			return nil, errUnknownName
		}
		row := &proofLinear{}
		row.add(1, k.stay[n[0]][n[1]].v)
		return row, nil
	case word == "order" || word == "filled":
		n, err := k.numbers(name[1:], hosts)
		if err != nil || n[0] < k.existing {
			return nil, errUnknownName
		}
		return k.bought(word, n[0])
	}
	return k.ruleRow(name)
}

// leaves reports whether tasks of job i run on host h now and may not stay.
func (k *consolidationProof) leaves(i, h int) bool {
	if _, ok := k.stay[i][h]; !ok || !k.in.Mend {
		return false
	}
	allowed := k.j.members(k.in.Jobs[i].Allowed)
	is := allowed != nil && !allowed.have(&k.j.hosts[h])
	for _, key := range k.keys()[i] {
		is = is || k.j.hosts[h].labels[key] == ""
	}
	return is
}

// add adds a term.
func (c *proofLinear) add(times int64, v int32) {
	if times != 0 {
		c.terms = append(c.terms, proofTerm{times, v})
	}
}

// each calls f for the variables of job i on host h, with whether rules bind their tasks.
func (k *consolidationProof) each(i, h int, f func(x consolidationCount, anew bool)) {
	if x, ok := k.stay[i][h]; ok {
		f(x, k.in.Mend)
	}
	if x := k.anew[i][h]; x.v >= 0 {
		f(x, true)
	}
}

// figure returns the row cost ≤ 0, or moves ≤ 0.
func (k *consolidationProof) figure(moves bool) *proofLinear {
	row := &proofLinear{}
	if !moves {
		for h, v := range k.use {
			row.add(k.j.hosts[h].price, v)
		}
		for i, v := range k.leave {
			if v >= 0 {
				row.add(k.leaving(i), v)
			}
		}
		return row
	}
	for i := range k.stay {
		for h := range k.use[:k.existing] {
			if x, ok := k.stay[i][h]; ok {
				row.add(-k.moving(i), x.v)
				row.allow(-k.moving(i), x.most)
			}
		}
	}
	return row
}

// tasks returns the two rows by which each task of a job is somewhere, or left out.
func (k *consolidationProof) tasks(i int) proofRule {
	most, least := &proofLinear{}, &proofLinear{}
	term := func(v int32) {
		most.add(1, v)
		least.add(-1, v)
	}
	for h := range k.use {
		k.each(i, h, func(x consolidationCount, _ bool) { term(x.v) })
	}
	if k.leave[i] >= 0 {
		term(k.leave[i])
	}
	most.allow(1, int64(k.in.Jobs[i].Tasks))
	least.allow(-1, int64(k.in.Jobs[i].Tasks))
	return proofAny{most, least}
}

// limit returns the row of a limit on hosts in use.
func (k *consolidationProof) limit(l *model.HostLimit) proofRule {
	counts := map[string]int64{}
	for _, x := range l.Counts {
		if x.Host != "" {
			counts["host "+x.Host] = x.Count
		} else {
			counts["offer "+x.Offer] = x.Count
		}
	}
	row := &proofLinear{}
	row.allow(1, l.Most)
	for h := range k.use {
		switch host := &k.j.hosts[h]; {
		case len(l.Counts) == 0:
			row.add(1, k.use[h])
		case host.offer != "":
			row.add(counts["offer "+host.offer], k.use[h])
		default:
			row.add(counts["host "+host.id], k.use[h])
		}
	}
	return row
}

// bought returns the rows of a host that can be bought.
func (k *consolidationProof) bought(word string, h int) (proofRule, error) {
	row := &proofLinear{}
	row.add(1, k.use[h])
	if word == "filled" {
		for i := range k.in.Jobs {
			k.each(i, h, func(x consolidationCount, _ bool) { row.add(-1, x.v) })
		}
		return row, nil
	}
	if h == k.existing || k.j.hosts[h-1].offer != k.j.hosts[h].offer {
		return nil, errUnknownName
	}
	row.add(-1, k.use[h-1])
	return row, nil
}
