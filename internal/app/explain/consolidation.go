// SPDX-License-Identifier: MIT

package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// consolidationWords explains the demand that hosts have to cover, and their cost. If there is no solution, it uses the
// judge's own words.
func consolidationWords(in *model.Consolidation, e *model.Evidence, bound float64, infeasible bool, r *Reason) {
	if infeasible {
		return
	}
	price := func(x float64) string {
		text := fmt.Sprintf("%.12g", x)
		if in.PriceUnit != "" {
			text += " " + in.PriceUnit
		}
		return text
	}
	then := fmt.Sprintf("the cheapest parts of hosts that cover it bring the cost to %s", price(bound))
	if in.Goal == model.GoalMoves {
		then = "which can be had without a move as far as this bound tells"
	}
	switch e.Type {
	case evidence.Cover:
		if len(e.Elements) == 0 {
			need := 0.0
			for i := range in.Jobs {
				need += float64(in.Jobs[i].Tasks) * float64(in.Jobs[i].Needs[slices.Index(in.Resources, e.Resource)])
			}
			r.Words = fmt.Sprintf("By %s of all hosts: the tasks need %.12g together, and %s.", e.Resource, need, then)
			return
		}
		where := fmt.Sprintf("the host set %s", e.Elements[0])
		if e.Elements[0] == "" {
			where = "the hosts for jobs without a host set"
		}
		r.Words = fmt.Sprintf("By %s of %s: some tasks can be nowhere else; of what they need together, %s.", e.Resource, where, then)
	case evidence.Apart:
		r.Words = fmt.Sprintf("By the rule %s: its tasks keep apart, so each needs a host for itself, and %s.", e.Elements[0], then)
	case evidence.Emptied:
		if in.CostLimit == nil || bound == 0 {
			r.Words = "No move can cost less than 0, and the cost limit forces none as far as this bound tells."
			return
		}
		r.Words = fmt.Sprintf("The limit of %s doesn't pay for all hosts that have tasks now. Of those it can't keep, the ones with the least to move for their price have tasks whose moves cost %.12g.", price(float64(*in.CostLimit)), bound)
	}
}

// hostUse is a host in use with the needs of its tasks.
type hostUse struct {
	name     string
	price    int64
	needs    []int64
	capacity []int64
	tasks    int
	holds    []string // why it can't be emptied
}

// fullest returns the resource with the least left, and the share that is needed.
func (h *hostUse) fullest() (resource int, share float64) {
	for r, x := range h.needs {
		if h.capacity[r] > 0 && float64(x)/float64(h.capacity[r]) > share {
			resource, share = r, float64(x)/float64(h.capacity[r])
		}
	}
	return resource, share
}

// consolidationHolds shows the hosts in use, why some can't be emptied, and the resource that all of them have least
// left of.
func consolidationHolds(_ context.Context, in *model.Consolidation, a *model.Assignment) ([]Reason, error) {
	if err := in.CheckShape(a); err != nil {
		return nil, err
	}
	o, err := in.Objective(a)
	if err != nil {
		return nil, err
	}
	number, hosts := map[string]int{}, []hostUse(nil)
	add := func(id string, capacity []int64, price int64, holds ...string) {
		number[id] = len(hosts)
		hosts = append(hosts, hostUse{name: id, price: price, capacity: capacity, needs: make([]int64, len(in.Resources)), holds: holds})
	}
	for i := range in.Hosts {
		h := &in.Hosts[i]
		add(h.ID, h.Capacity, h.Price)
		if h.Kept {
			hosts[i].holds = []string{"it is kept"}
		}
	}
	for _, b := range a.Bought {
		k := slices.IndexFunc(in.Offers, func(o model.HostOffer) bool { return o.ID == b.Offer })
		add(b.ID, in.Offers[k].Capacity, in.Offers[k].Price, "bought")
	}
	pinned := map[string]bool{} // hosts that tasks are pinned to
	moved, out, costs := 0, 0, int64(0)
	for i := range a.Jobs {
		j := &in.Jobs[i]
		for k, id := range a.Jobs[i].Hosts {
			if now := j.Current(k); now != "" && now != id {
				moved++
			}
			if id == "" {
				out++
				if j.LeaveOutCost != nil {
					costs += *j.LeaveOutCost
				}
				continue
			}
			h := &hosts[number[id]]
			h.tasks++
			for r, x := range j.Needs {
				h.needs[r] += x
			}
			if j.Pinned {
				pinned[id] = true
				if why := fmt.Sprintf("%s is pinned", j.ID); !slices.Contains(h.holds, why) {
					h.holds = append(h.holds, why)
				}
			}
		}
	}
	used := slices.DeleteFunc(slices.Clone(hosts), func(h hostUse) bool { return h.tasks == 0 && len(h.holds) == 0 })
	needs, has := make([]float64, len(in.Resources)), make([]float64, len(in.Resources))
	for k := range used {
		for r := range needs {
			needs[r], has[r] = needs[r]+float64(used[k].needs[r]), has[r]+float64(used[k].capacity[r])
		}
	}
	scarcest, share := 0, 0.0
	for r := range needs {
		if has[r] > 0 && needs[r]/has[r] > share {
			scarcest, share = r, needs[r]/has[r]
		}
	}
	r := Reason{Words: fmt.Sprintf("%.0f hosts have tasks, %d of them pinned ones; %d of %d tasks move. Of what they have, %s is scarcest: %.1f %% of it is needed.",
		o.Others[0], len(pinned), moved, in.Tasks(), in.Resources[scarcest], 100*share)}
	if out > 0 {
		r.Words = fmt.Sprintf("%s Left out: %s", r.Words, words.Plural(out, "task"))
		if in.Goal != model.GoalMoves {
			r.Words += fmt.Sprintf(", %d of the cost", costs)
		}
		r.Words += "."
	}
	r.Rows = [][]string{{"host", "price", "tasks", "fullest resource", "why it stays"}}
	slices.SortStableFunc(used, func(a, b hostUse) int {
		_, x := a.fullest()
		_, y := b.fullest()
		return cmp.Or(cmp.Compare(len(b.holds), len(a.holds)), cmp.Compare(y, x))
	})
	for k := range used {
		h := &used[k]
		fullest, share := h.fullest()
		r.Elements = append(r.Elements, h.name)
		r.Rows = append(r.Rows, []string{h.name, fmt.Sprint(h.price), fmt.Sprint(h.tasks), fmt.Sprintf("%s, %.1f %%", in.Resources[fullest], 100*share), words.Some(h.holds, 3)})
	}
	return []Reason{r}, nil
}

// consolidationParts makes instances of some jobs. A rule by which tasks want company or a spread is
// dropped with the first of its jobs, and one by which they keep apart loses that job. So the rest of a solution is a
// solution, and a conflict of some jobs is one of all.
func consolidationParts(in *model.Consolidation) (ids []string, part func(keep []int) model.Instance) {
	for i := range in.Jobs {
		ids = append(ids, in.Jobs[i].ID)
	}
	return ids, func(keep []int) model.Instance {
		some := *in
		some.Jobs = picked(in.Jobs, keep)
		there := map[string]bool{}
		for i := range some.Jobs {
			there[some.Jobs[i].ID] = true
		}
		some.Rules = nil
		left := func(jobs []string) (all []string) {
			for _, id := range jobs {
				if there[id] {
					all = append(all, id)
				}
			}
			return all
		}
		for _, r := range in.Rules {
			jobs, others := left(r.Jobs), left(r.Others)
			switch {
			case len(jobs) == 0 || len(r.Others) > 0 && len(others) == 0:
			case r.Type != model.RuleApart && (len(jobs) < len(r.Jobs) || len(others) < len(r.Others)):
			default:
				r.Jobs, r.Others = jobs, others
				some.Rules = append(some.Rules, r)
			}
		}
		return &some
	}
}
