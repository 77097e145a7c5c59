// SPDX-License-Identifier: MIT

package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// consolidationPart is the presence of a part of a rule's jobs in a domain: all variables, the ones of newly placed
// tasks, and the largest sum of each.
type consolidationPart struct {
	all, anew     []int32
	mostAll, most int64
}

// partNames are the parts of a rule's jobs: jobs in Jobs, in Others, in both, and in one of them alone.
var partNames = []string{"jobs", "others", "both", "bound", "free"}

// othersOf returns the jobs that a rule's own jobs are checked against.
func othersOf(r *model.PlacementRule) []string {
	if len(r.Others) == 0 {
		return r.Jobs
	}
	return r.Others
}

// part returns a part of rule q on some hosts.
func (k *consolidationProof) part(q int, name string, hosts []int) (p consolidationPart) {
	r := &k.in.Rules[q]
	in := func(list []string) map[int]bool {
		m := map[int]bool{}
		for _, id := range list {
			m[k.j.jobs[id]] = true
		}
		return m
	}
	bound, other := in(r.Jobs), in(othersOf(r))
	for i := range k.in.Jobs {
		is := false
		switch name {
		case "jobs":
			is = bound[i]
		case "others":
			is = other[i]
		case "both":
			is = bound[i] && other[i]
		case "bound":
			is = bound[i] && !other[i]
		case "free":
			is = !bound[i] && other[i]
		}
		if !is {
			continue
		}
		k.s.spend(len(hosts))
		for _, h := range hosts {
			k.each(i, h, func(x consolidationCount, anew bool) {
				p.all, p.mostAll = append(p.all, x.v), p.mostAll+x.most
				if anew {
					p.anew, p.most = append(p.anew, x.v), p.most+x.most
				}
			})
		}
	}
	return p
}

// sum adds times variables.
func (c *proofLinear) sum(times int64, all []int32) {
	for _, v := range all {
		c.add(times, v)
	}
}

// othersTasks counts the tasks of the others of a rule.
func (k *consolidationProof) othersTasks(q int) (n int64) {
	for _, id := range othersOf(&k.in.Rules[q]) {
		n += int64(k.in.Jobs[k.j.jobs[id]].Tasks)
	}
	return n
}

// auxiliary returns a variable of a rule, which it adds if it is new:
//
//	flag Q D PART   1 if a task of a part of the rule's jobs is placed anew in domain D
//	alone Q         together: 1 if at most one task of the others is placed at all
//	least Q         spread: what the domain has that has fewest, 0 with too few domains
//	enough Q        spread: 1 if there are as many domains as asked for, or it doesn't matter
//	open Q D        spread: 1 if a host is bought there, of a domain in which no host is that counts
func (k *consolidationProof) auxiliary(name []string) (int32, error) {
	key := strings.Join(name, " ")
	if v, ok := k.aux[key]; ok {
		return v, nil
	}
	q, d, err := k.rule(name, map[string]int{"flag": 4, "alone": 2, "least": 2, "enough": 2, "open": 3}[name[0]])
	if err != nil {
		return 0, err
	}
	high, kind := int64(1), k.in.Rules[q].Type
	ok := false
	switch name[0] {
	case "flag":
		ok = slices.Contains(partNames, name[3])
	case "alone":
		ok = kind == model.RuleTogether
	case "enough":
		ok = kind == model.RuleSpread
	case "open":
		ok = kind == model.RuleSpread && !k.spread(q).there[d]
	case "least":
		if ok = kind == model.RuleSpread; ok {
			x := k.spread(q)
			if high = x.most; x.known < x.asked {
				high = 0
			}
		}
	}
	if !ok {
		return 0, errUnknownName
	}
	v := k.s.add(0, high, always)
	k.aux[key] = v
	return v, nil
}

// rule reads the numbers of a rule, and of a domain if there are more than two words.
func (k *consolidationProof) rule(name []string, words int) (q, d int, err error) {
	if len(name) != words || words < 2 {
		return 0, 0, errUnknownName
	}
	if q, err = proofIndex(name[1], len(k.in.Rules)); err == nil && words > 2 {
		d, err = proofIndex(name[2], len(k.domainsOf(k.in.Rules[q].Domain).hosts))
	}
	return q, d, err
}

// must returns a variable of a rule that there is.
func (k *consolidationProof) must(words ...string) int32 {
	v, _ := k.auxiliary(words)
	return v
}

// ruleRow returns one of a rule Q and a domain D, of its parts X and Y without a job in common:
//
//	flag Q D X          Σ anew of X in D ≤ its greatest value · flag
//	apart Q D both both those in both lists: at most 1 if one is placed anew
//	apart Q D X Y       none of Y in D if one of X is placed anew there: bound and others, free and both
//	together Q D bound  flag ≤ Σ of the others in D
//	together Q D both   2 flag ≤ Σ of the others in D + alone
//	alone Q             Σ of the others anywhere ≤ their tasks, or 1 if alone
//	spread Q D          what D has ≤ least + skew if one is placed anew there
//	crowd Q D           what D has ≤ skew, if only all tasks together are more (see crowd)
//	least Q D           least ≤ what D has, if a host that counts is there
//	offer Q D H         the same if H is bought, a host that counts in D
//	enough Q            least is 0 unless enough
//	domains Q           enough only if there are as many domains
//	open Q D            open only if a host that counts is bought in D
func (k *consolidationProof) ruleRow(name []string) (proofRule, error) {
	words := len(name)
	short := name[0] == "alone" || name[0] == "enough" || name[0] == "domains"
	if words < 2 || short != (words == 2) {
		return nil, errUnknownName
	}
	q, d, err := k.rule(name, words)
	if err != nil {
		return nil, err
	}
	row, kind := &proofLinear{}, k.in.Rules[q].Type
	if name[0] == "flag" && words == 4 && slices.Contains(partNames, name[3]) {
		p := k.inDomain(q, d, name[3])
		row.sum(1, p.anew)
		row.add(-p.most, k.must(name...))
		return row, nil
	}
	switch kind {
	case model.RuleApart:
		return k.apart(name, q, d)
	case model.RuleTogether:
		return k.together(name, q, d)
	}
	return k.spreadRow(name, q, d)
}

// inDomain returns a part of rule q in domain d.
func (k *consolidationProof) inDomain(q, d int, name string) consolidationPart {
	return k.part(q, name, k.domainsOf(k.in.Rules[q].Domain).hosts[d])
}

// apart returns a row of a rule by which tasks repel each other.
func (k *consolidationProof) apart(name []string, q, d int) (proofRule, error) {
	row := &proofLinear{}
	switch strings.Join(append([]string{name[0]}, name[min(3, len(name)):]...), " ") {
	case "apart both both":
		p := k.inDomain(q, d, "both")
		row.sum(1, p.all)
		if p.mostAll-p.most <= 1 { // at most one can stay
			row.allow(1, 1)
			return row, nil
		}
		row.allow(1, p.mostAll)
		row.add(p.mostAll-1, k.must("flag", name[1], name[2], "both"))
		return row, nil
	case "apart bound others", "apart others bound", "apart free both", "apart both free":
		p := k.inDomain(q, d, name[4])
		row.sum(1, p.all)
		row.allow(1, p.mostAll)
		row.add(p.mostAll, k.must("flag", name[1], name[2], name[3]))
		return row, nil
	}
	return nil, errUnknownName
}

// together returns a row of a rule by which tasks attract each other.
func (k *consolidationProof) together(name []string, q, d int) (proofRule, error) {
	row := &proofLinear{}
	if name[0] == "alone" {
		every := make([]int, len(k.use))
		for h := range every {
			every[h] = h
		}
		n := k.othersTasks(q)
		row.sum(1, k.part(q, "others", every).all)
		row.add(max(n-1, 0), k.must(name...))
		row.allow(1, max(n, 1))
		return row, nil
	}
	if name[0] != "together" || len(name) != 4 || name[3] != "bound" && name[3] != "both" {
		return nil, errUnknownName
	}
	row.sum(-1, k.inDomain(q, d, "others").all)
	flag := k.must("flag", name[1], name[2], name[3])
	if name[3] == "bound" {
		row.add(1, flag)
		return row, nil
	}
	row.add(2, flag)
	row.add(-1, k.must("alone", name[1]))
	return row, nil
}

// consolidationSpread holds the variables and hosts that the rows of a spread refer to.
type consolidationSpread struct {
	counts        []bool  // of each host
	stands        []int64 // tasks of no job on each host
	there, opened []bool  // of each domain: a host that counts is in it, or one that can be bought
	first         [][]int // of each domain: the hosts that count that are the first there of their offers
	known, always int     // domains with hosts that count, and the ones that exist without buying
	asked         int     // domains
	most          int64   // no domain has more
}

func (k *consolidationProof) spread(q int) *consolidationSpread {
	if x, ok := k.spreads[q]; ok {
		return x
	}
	r, d := &k.in.Rules[q], k.domainsOf(k.in.Rules[q].Domain)
	x := &consolidationSpread{counts: make([]bool, len(k.use)), stands: make([]int64, len(k.use)), asked: max(1, r.MinDomains), most: k.othersTasks(q),
		there: make([]bool, len(d.hosts)), opened: make([]bool, len(d.hosts)), first: make([][]int, len(d.hosts))}
	on := map[string]int64{}
	for _, c := range r.Standing {
		if c.Host != "" {
			on["host "+c.Host] += c.Count
		} else {
			on["offer "+c.Offer] += c.Count
		}
	}
	among := k.j.members(r.Among)
	for h := range k.use {
		host := &k.j.hosts[h]
		if x.stands[h] = on["host "+host.id]; host.offer != "" {
			x.stands[h] = on["offer "+host.offer]
		}
		x.most += x.stands[h]
		at := d.of[h]
		if x.counts[h] = at != nowhere && (among == nil || among.have(host)); !x.counts[h] {
			continue
		}
		if host.offer == "" {
			x.there[at] = true
			continue
		}
		x.opened[at] = true
		if n := len(x.first[at]); n == 0 || k.j.hosts[x.first[at][n-1]].offer != host.offer {
			x.first[at] = append(x.first[at], h)
		}
	}
	for at := range d.hosts {
		if x.there[at] {
			x.always++
		}
		if x.there[at] || x.opened[at] {
			x.known++
		}
	}
	k.spreads[q] = x
	return x
}

// has adds a domain's number of the tasks that a spread counts, times, and returns its upper bound.
func (k *consolidationProof) has(row *proofLinear, times int64, q, d int) (most int64) {
	x := k.spread(q)
	var counted []int
	for _, h := range k.domainsOf(k.in.Rules[q].Domain).hosts[d] {
		if !x.counts[h] {
			continue
		}
		if counted = append(counted, h); h < k.existing {
			row.allow(-times, x.stands[h])
		} else {
			row.add(times*x.stands[h], k.use[h])
		}
		most += x.stands[h]
	}
	p := k.part(q, "others", counted)
	row.sum(times, p.all)
	return most + p.mostAll
}

// spreadRow returns a row of a rule that spreads tasks.
func (k *consolidationProof) spreadRow(name []string, q, d int) (proofRule, error) {
	row, x := &proofLinear{}, k.spread(q)
	if name[0] == "crowd" && len(name) == 3 && k.crowd(q, d) {
		row.sum(1, k.inDomain(q, d, "others").all)
		row.allow(1, int64(k.in.Rules[q].MaxSkew))
		return row, nil
	}
	least := k.must("least", name[1])
	switch word := name[0]; {
	case word == "spread" && len(name) == 3:
		most := k.has(row, 1, q, d)
		skew := int64(k.in.Rules[q].MaxSkew)
		slack := max(0, most-skew)
		row.add(-1, least)
		row.add(slack, k.must("flag", name[1], name[2], "jobs"))
		row.allow(1, skew+slack)
		return row, nil
	case word == "least" && len(name) == 3 && x.there[d] || word == "offer" && len(name) == 4:
		k.has(row, -1, q, d)
		row.add(1, least)
		if word == "offer" {
			h, err := proofIndex(name[3], len(k.use))
			if err != nil || h < k.existing || !x.counts[h] || k.domainsOf(k.in.Rules[q].Domain).of[h] != d {
				return nil, errUnknownName
			}
			row.add(x.most, k.use[h])
			row.allow(1, x.most)
		}
		return row, nil
	case word == "enough":
		row.add(1, least)
		row.add(-x.most, k.must(name...))
		return row, nil
	case word == "domains":
		row.add(int64(x.asked-x.always), k.must("enough", name[1]))
		for at := range x.there {
			if !x.there[at] && x.opened[at] {
				row.add(-1, k.must("open", name[1], strconv.Itoa(at)))
			}
		}
		return row, nil
	case word == "open" && len(name) == 3 && !x.there[d]:
		row.add(1, k.must(name...))
		for _, h := range x.first[d] {
			row.add(-1, k.use[h])
		}
		return row, nil
	}
	return nil, errUnknownName
}

// crowd reports whether no plan has more tasks of rule q in domain d than its skew, which are one fewer than all. With all
// of them there, another domain has none, one of them is newly placed, and it is bound: the rule is broken. Standing
// tasks and a set of hosts aren't looked at.
func (k *consolidationProof) crowd(q, d int) bool {
	r, skew := &k.in.Rules[q], int64(k.in.Rules[q].MaxSkew)
	if r.Among != "" || len(r.Standing) > 0 || k.othersTasks(q) > skew+1 {
		return false
	}
	others := false
	for at, there := range k.spread(q).there {
		others = others || there && at != d
	}
	now := int64(0)
	for _, id := range othersOf(r) {
		if !slices.Contains(r.Jobs, id) {
			return false
		}
		for _, host := range k.in.Jobs[k.j.jobs[id]].CurrentHosts {
			if h, ok := k.j.number[host]; ok && k.domainsOf(r.Domain).of[h] == d {
				now++
			}
		}
	}
	return others && now <= skew
}
