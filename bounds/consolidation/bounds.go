// SPDX-License-Identifier: MIT

// Package consolidation holds the bounds on solutions of Consolidation that need no search, and
// its linear formulation.
package consolidation

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/bitset"
	"github.com/gapwise/gapwise/model"
)

// Quick returns the bound "cover" on the cost, or "emptied" on the moves. Either shows that there is no solution if all
// hosts together don't cover the need, or if covering it costs more than the limit. O(sets × resources × hosts log
// hosts + tasks).
func Quick(_ context.Context, in *model.Consolidation) []bounds.Bound {
	c := coverOf(view.OfConsolidation(in, 1))
	best, by := c.paid, (*model.Evidence)(nil)
	for _, r := range c.rows {
		cost, ok := c.row(r)
		if !ok {
			return []bounds.Bound{{Name: "cover", Infeasible: true, Reason: "all hosts together have less than what is needed", Evidence: r.evidence}}
		}
		if cost > best || by == nil {
			best, by = cost, r.evidence
		}
	}
	if in.CostLimit != nil && best > *in.CostLimit {
		return []bounds.Bound{{Name: "cover", Infeasible: true, Reason: "what covers the needs costs more than the limit", Evidence: by}}
	}
	if in.Goal == model.GoalMoves {
		return []bounds.Bound{{Name: "emptied", Value: float64(c.emptied()), Evidence: &model.Evidence{Type: evidence.Emptied, Method: "emptied"}}}
	}
	return []bounds.Bound{{Name: "cover", Value: float64(best), Evidence: by}}
}

// All returns the bounds of Quick.
func All(ctx context.Context, in *model.Consolidation) ([]bounds.Bound, error) {
	return Quick(ctx, in), nil
}

// cover holds the needs that every plan has to cover: the tasks of some jobs, by the capacity of the hosts on which
// they can be.
type cover struct {
	c      *view.Consolidation
	forced []bool // hosts that cost their price in any plan
	paid   int64  // their cost
	unit   int64  // every cost is a multiple of it
	rows   []coverRow
}

// coverRow says that the hosts of a set have at least a need together, less the tasks that may be left out at a price.
type coverRow struct {
	hosts bitset.Set
	gives func(h int) int64
	need  int64
	// out holds the jobs that may be left out: need and price of each task.
	out      []outTask
	evidence *model.Evidence
}

type outTask struct{ count, need, price int64 }

// coverOf returns the rows. For each set of hosts on which jobs may be newly placed, with the hosts that such jobs have
// now, and for each resource, a row has the needs of all jobs that can be on no other host. For each rule by which
// tasks keep apart by host, a row has their number.
func coverOf(c *view.Consolidation) *cover {
	v := &cover{c: c, forced: make([]bool, len(c.Hosts))}
	for i := range c.Jobs {
		if c.Jobs[i].Pinned {
			for _, h := range c.Jobs[i].Current {
				v.forced[h] = true
			}
		}
	}
	for h := range c.Hosts {
		v.forced[h] = v.forced[h] || c.Hosts[h].Kept
		if v.forced[h] {
			v.paid += c.Hosts[h].Price
		}
		v.unit = gcd(v.unit, c.Hosts[h].Price)
	}
	places := make([]bitset.Set, len(c.Jobs)) // where tasks of a job can be
	var sets []bitset.Set                     // the distinct ones, except equal ones of odd jobs
	set, common := make([]int, len(c.Jobs)), map[string]int{}
	regions := map[string]bitset.Set{}
	for i := range c.Jobs {
		j, key := &c.Jobs[i], c.In.Jobs[i].Allowed
		if j.LeaveOut >= 0 {
			v.unit = gcd(v.unit, j.LeaveOut)
		}
		odd := j.Pinned || slices.ContainsFunc(j.Current, func(h int32) bool { return h >= 0 && !j.Allowed.Has(int(h)) })
		k, known := common[key]
		switch {
		case odd:
			places[i] = slices.Clone(j.Allowed)
			if j.Pinned {
				clear(places[i])
			}
			for _, h := range j.Current {
				if h >= 0 {
					places[i].Add(int(h), int(h))
				}
			}
			k, sets = len(sets), append(sets, places[i])
		case known:
			places[i], set[i] = sets[k], k
			continue
		default:
			places[i] = j.Allowed
			k, sets = len(sets), append(sets, places[i])
			common[key] = k
		}
		set[i] = k
		if regions[key] == nil {
			regions[key] = bitset.New(len(c.Hosts))
		}
		regions[key].Join(places[i])
	}
	all := bitset.New(len(c.Hosts))
	all.Fill(len(c.Hosts))
	list, names := []bitset.Set{all}, [][]string{nil}
	for _, key := range sortedKeys(regions) {
		list, names = append(list, regions[key]), append(names, []string{key})
	}
	gives := make([]func(h int) int64, c.Resources) // nil: sums may overflow
	for r := range gives {
		if v.sums(r) {
			gives[r] = v.capacity(r)
		}
	}
	inside := make([]bool, len(sets))
	for n, region := range list {
		for k := range sets {
			inside[k] = within(sets[k], region)
		}
		for r := range c.Resources {
			if gives[r] == nil {
				continue
			}
			row := coverRow{hosts: region, gives: gives[r],
				evidence: &model.Evidence{Type: evidence.Cover, Method: "cover", Resource: c.In.Resources[r], Elements: names[n]}}
			for i := range c.Jobs {
				if j := &c.Jobs[i]; inside[set[i]] {
					row.add(j, int64(len(j.Current)), j.Needs[r])
				}
			}
			v.rows = append(v.rows, row)
		}
	}
	for q := range c.Rules {
		v.apart(q, places)
	}
	return v
}

// sums reports whether the needs of all tasks sum to less than 2^60, so that no sum of a row
// overflows.
func (v *cover) sums(r int) bool {
	sum := 0.0
	for i := range v.c.Jobs {
		sum += float64(len(v.c.Jobs[i].Current)) * float64(v.c.Jobs[i].Needs[r])
	}
	return sum < 1<<59
}

// capacity returns the amount of a resource that hosts give: their capacity or, if more, what they hold now. If no newly
// placed task on a host needs the resource, only tasks that stay do, so that they need at most what it holds now.
func (v *cover) capacity(r int) func(h int) int64 {
	return func(h int) int64 {
		if held := v.c.Hosts[h].Held; held != nil {
			return max(held[r], v.c.Hosts[h].Capacity[r])
		}
		return v.c.Hosts[h].Capacity[r]
	}
}

// add adds the needs of a job's tasks.
func (r *coverRow) add(j *view.ConsolidationJob, tasks, need int64) {
	if need == 0 {
		return
	}
	if r.need += tasks * need; j.LeaveOut >= 0 && !j.Pinned {
		r.out = append(r.out, outTask{tasks, need, j.LeaveOut})
	}
}

// apart adds the row of a rule by which all tasks of its jobs keep apart by host: a host holds one of them, or its
// present ones.
func (v *cover) apart(q int, places []bitset.Set) {
	c, r := v.c, &v.c.Rules[q]
	if r.Type != model.RuleApart || c.In.Rules[q].Domain != "" {
		return
	}
	now := map[int]int64{}
	row := coverRow{hosts: bitset.New(len(c.Hosts)), evidence: &model.Evidence{Type: evidence.Apart, Method: "cover", Elements: []string{c.In.Rules[q].ID}}}
	for _, i := range r.Jobs {
		if !r.Other.Has(i) {
			continue
		}
		row.add(&c.Jobs[i], int64(len(c.Jobs[i].Current)), 1)
		row.hosts.Join(places[i])
		for _, h := range c.Jobs[i].Current {
			if h >= 0 {
				now[int(h)]++
			}
		}
	}
	row.gives = func(h int) int64 { return max(1, now[h]) }
	v.rows = append(v.rows, row)
}

// row returns the least cost of hosts that cover a row: the hosts that are paid in any case, and parts of the others,
// and of tasks left out, by price per amount given, rounded up. A slot represents all hosts of its offer, as no plan
// has more of them in use than tasks. It reports false if all together don't cover it.
func (v *cover) row(r coverRow) (int64, bool) {
	tasks := int64(v.c.In.Tasks())
	type item struct {
		price, gives, count int64
	}
	var items []item
	need := r.need
	for first, last := range r.hosts.Runs() {
		for h := first; h <= last; h++ {
			g := r.gives(h)
			switch {
			case v.forced[h]:
				need = max(0, need-g)
			case g > 0:
				x := item{v.c.Hosts[h].Price, g, 1}
				if o := v.c.Hosts[h].Offer; o >= 0 {
					x.count = min(tasks, int64(v.c.In.Offers[o].Count))
				}
				items = append(items, x)
			}
		}
	}
	for _, o := range r.out {
		items = append(items, item{o.price, o.need, o.count})
	}
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Compare(float64(a.price)*float64(b.gives), float64(b.price)*float64(a.gives))
	})
	cost := 0.0
	for _, x := range items {
		if need <= 0 {
			break
		}
		if n := need / x.gives; n >= x.count {
			cost += float64(x.price) * float64(x.count)
			need -= x.gives * x.count
			continue
		}
		cost += float64(x.price) * float64(need) / float64(x.gives)
		need = 0
	}
	if need > 0 {
		return 0, false
	}
	// The sum's rounding is below 1e-9 of it: rounded up from a little less.
	parts := int64(math.Ceil(cost * (1 - 1e-9)))
	if u := v.unit; u > 1 {
		parts = (parts + u - 1) / u * u
	}
	return v.paid + parts, true
}

// emptied returns the least cost of moves: no task stays on a host that isn't in use, and the hosts in use cost at most
// the limit. The hosts are chosen as parts of a knapsack (Dantzig 1957), by the cost of their moves over their price;
// the last one fits in part, rounded down. O(H log H).
func (v *cover) emptied() int64 {
	c := v.c
	if c.In.CostLimit == nil {
		return 0
	}
	moves := make([]int64, c.Existing)
	for i := range c.Jobs {
		for _, h := range c.Jobs[i].Current {
			if h >= 0 {
				moves[h] += c.Jobs[i].Move
			}
		}
	}
	var hosts []int
	left, total := *c.In.CostLimit-v.paid, int64(0)
	for h := range c.Existing {
		if !v.forced[h] && moves[h] > 0 {
			hosts = append(hosts, h)
			total += moves[h]
		}
	}
	slices.SortFunc(hosts, func(a, b int) int {
		return cmp.Or(products(moves[b], c.Hosts[a].Price, moves[a], c.Hosts[b].Price), cmp.Compare(a, b))
	})
	for _, h := range hosts {
		if price := c.Hosts[h].Price; price <= left {
			left -= price
			total -= moves[h]
			continue
		}
		over := new(big.Int).Mul(big.NewInt(moves[h]), big.NewInt(max(left, 0)))
		return max(0, total-over.Quo(over, big.NewInt(c.Hosts[h].Price)).Int64())
	}
	return max(0, total)
}

// products compares a·b with x·y; none of them is below 0.
func products(a, b, x, y int64) int {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	otherHi, otherLo := bits.Mul64(uint64(x), uint64(y))
	return cmp.Or(cmp.Compare(hi, otherHi), cmp.Compare(lo, otherLo))
}

func within(a, b bitset.Set) bool {
	for i := range a {
		if a[i]&^b[i] != 0 {
			return false
		}
	}
	return true
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func sortedKeys(m map[string]bitset.Set) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
