// SPDX-License-Identifier: MIT

package consolidation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// slots returns how many hosts of one offer heuristics look at: 500, fewer if there are many offers, and at least twice
// the number that the tasks must fill.
func slots(in *model.Consolidation) int {
	const some, all = 500, 100_000
	most := min(some, max(20, all/max(1, len(in.Offers))))
	for r := range in.Resources {
		need, largest := 0.0, int64(1)
		for i := range in.Jobs {
			need += float64(in.Jobs[i].Tasks) * float64(in.Jobs[i].Needs[r])
		}
		for k := range in.Offers {
			largest = max(largest, in.Offers[k].Capacity[r])
		}
		most = max(most, int(min(2*need/float64(largest), float64(in.Tasks()))))
	}
	return most
}

// task is one task: number K of job I.
type task struct{ I, K int }

// packer places tasks on a state.
type packer struct {
	*planstate.State
	weight []float64 // of each resource: how scarce it is, over the mean capacity
	size   []float64 // of each job's task: Σ weight · need
	order  []int     // hosts as they are opened: by price over what they have, then the larger
	used   []int     // hosts with tasks, in the order in which they got them, and others
	at     []int     // place of each host in used, -1 without
	on     [][]task  // tasks of each host
	place  [][]int32 // of each task among those of its host
	rng    *rand.Rand
}

// newPacker returns a packer of no task.
func newPacker(in *model.Consolidation) *packer {
	c := view.OfConsolidation(in, slots(in))
	p := &packer{State: planstate.New(c), at: make([]int, len(c.Hosts)), on: make([][]task, len(c.Hosts)), place: make([][]int32, len(c.Jobs))}
	for i := range c.Jobs {
		p.place[i] = make([]int32, len(c.Jobs[i].Current))
	}
	p.weigh()
	for h := range c.Hosts {
		p.at[h] = -1
		p.order = append(p.order, h)
	}
	worth := make([]float64, len(c.Hosts))
	for h := range c.Hosts {
		for r, x := range c.Hosts[h].Capacity {
			worth[h] += p.weight[r] * float64(x)
		}
	}
	order.Stable(p.order, func(a, b int) int {
		x, y := &c.Hosts[a], &c.Hosts[b]
		return cmp.Or(-cmp.Compare(boolInt(x.Kept), boolInt(y.Kept)), cmp.Compare(float64(x.Price)*worth[b], float64(y.Price)*worth[a]), cmp.Compare(worth[b], worth[a]))
	})
	return p
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// weigh sets the weights of the resources: the tasks' needs over the hosts' capacities, in mean capacities.
func (p *packer) weigh() {
	c := p.C
	p.weight, p.size = make([]float64, c.Resources), make([]float64, len(c.Jobs))
	for r := range p.weight {
		have, need := 0.0, 0.0
		for h := range c.Hosts {
			have += float64(c.Hosts[h].Capacity[r])
		}
		for i := range c.Jobs {
			need += float64(c.Jobs[i].Needs[r]) * float64(len(c.Jobs[i].Current))
		}
		if have > 0 {
			mean := have / float64(len(c.Hosts))
			p.weight[r] = min(1, need/have) / mean
		}
	}
	for i := range c.Jobs {
		for r, x := range c.Jobs[i].Needs {
			p.size[i] += p.weight[r] * float64(x)
		}
	}
}

// put places a task.
func (p *packer) put(t task, h int) {
	p.Add(t.I, t.K, h)
	p.place[t.I][t.K] = int32(len(p.on[h]))
	p.on[h] = append(p.on[h], t)
	if p.at[h] < 0 {
		p.at[h] = len(p.used)
		p.used = append(p.used, h)
	}
}

// remove removes a task. Its host stays among used until tidy.
func (p *packer) remove(t task) {
	h, at := p.Plan[t.I][t.K], p.place[t.I][t.K]
	on := p.on[h]
	last := on[len(on)-1]
	on[at], p.place[last.I][last.K] = last, at
	p.on[h] = on[:len(on)-1]
	p.Remove(t.I, t.K)
}

// tidy drops the hosts without tasks from used.
func (p *packer) tidy() {
	kept := p.used[:0]
	for _, h := range p.used {
		if p.Tasks[h] == 0 {
			p.at[h] = -1
			continue
		}
		p.at[h] = len(kept)
		kept = append(kept, h)
	}
	p.used = kept
}

// slack returns the room left on a host after a task of job i, weighed: the less, the better it fits.
func (p *packer) slack(i, h int) float64 {
	sum, left := 0.0, p.Left[h*p.C.Resources:]
	for r, x := range p.C.Jobs[i].Needs {
		sum += p.weight[r] * float64(left[r]-x)
	}
	return sum
}

// best returns the host in use on which a task fits best, its own if that is in use; -1 if there is none. It takes none
// of the hosts in avoid (nil: none). O(hosts in use × rules).
func (p *packer) best(t task, first bool, avoid func(h int) bool) int {
	if own := p.C.Jobs[t.I].Current[t.K]; own >= 0 && p.Tasks[own] > 0 && (avoid == nil || !avoid(int(own))) && p.Can(t.I, t.K, int(own)) {
		return int(own)
	}
	if p.C.Jobs[t.I].Pinned {
		return -1
	}
	best, least := -1, math.Inf(1)
	for _, h := range p.used {
		if !p.C.Jobs[t.I].Allowed.Has(h) || !p.Fits(t.I, h) || avoid != nil && avoid(h) {
			continue
		}
		x := p.slack(t.I, h)
		if p.rng != nil {
			x *= 1 + 0.1*p.rng.Float64()
		}
		if x < least && p.Can(t.I, t.K, h) {
			if best, least = h, x; first {
				break
			}
		}
	}
	return best
}

// open returns the first host that isn't in use, in the order of price and size, on which a
// task can be; -1 if there is none. A task with a host prefers that.
func (p *packer) open(t task) int {
	j := &p.C.Jobs[t.I]
	if own := j.Current[t.K]; own >= 0 && p.Can(t.I, t.K, int(own)) {
		return int(own)
	}
	if j.Pinned {
		return -1
	}
	lastOffer, lastClass := -2, -1
	for _, h := range p.order {
		host := &p.C.Hosts[h]
		if p.at[h] >= 0 && p.Tasks[h] > 0 || !j.Allowed.Has(h) || host.Class == lastClass && host.Offer == lastOffer && lastOffer >= 0 {
			continue
		}
		if p.Can(t.I, t.K, h) {
			return h
		}
		lastOffer, lastClass = host.Offer, host.Class
	}
	return -1
}

// dear reports whether a host out of use costs more than to leave a task out.
func (p *packer) dear(t task, h int) bool {
	x := p.C.Jobs[t.I].LeaveOut
	return x >= 0 && p.Tasks[h] == 0 && p.C.Hosts[h].Price > x && !p.C.Hosts[h].Kept
}

// tasks returns all tasks, or only the ones without a host, pinned ones first, then the largest, then the ones with the
// fewest allowed hosts.
func (p *packer) tasks(missing bool) []task {
	var all []task
	free := make([]int, len(p.C.Jobs))
	for i := range p.C.Jobs {
		j := &p.C.Jobs[i]
		if free[i] = j.Allowed.Len(); j.Pinned {
			free[i] = -1
		}
		for k := range j.Current {
			if !missing || p.Plan[i][k] < 0 {
				all = append(all, task{i, k})
			}
		}
	}
	order.Stable(all, func(a, b task) int {
		return cmp.Or(cmp.Compare(boolInt(free[a.I] >= 0), boolInt(free[b.I] >= 0)), cmp.Compare(p.size[b.I], p.size[a.I]), cmp.Compare(free[a.I], free[b.I]))
	})
	return all
}

// rename gives the tasks of each job their own hosts where another task of the job has it:
// tasks of a job are alike.
func (p *packer) rename() {
	c := p.C
	for i := range c.Jobs {
		now := p.Plan[i]
		on := map[int32][]int{} // tasks on a host that isn't their own
		for k, h := range now {
			if h >= 0 && h != c.Jobs[i].Current[k] {
				on[h] = append(on[h], k)
			}
		}
		if len(on) == 0 {
			continue
		}
		for k := range now {
			own := c.Jobs[i].Current[k]
			if own < 0 || now[k] == own || len(on[own]) == 0 {
				continue
			}
			other := on[own][len(on[own])-1]
			on[own] = on[own][:len(on[own])-1]
			was := now[k]
			if was >= 0 {
				p.remove(task{i, k})
			}
			p.remove(task{i, other})
			p.put(task{i, k}, int(own))
			if was >= 0 {
				p.put(task{i, other}, int(was))
				on[was] = slices.DeleteFunc(on[was], func(x int) bool { return x == k })
				if was != c.Jobs[i].Current[other] {
					on[was] = append(on[was], other)
				}
			}
		}
	}
}

// result returns the solution, or model.ErrNoSolution if the plan isn't one.
func (p *packer) result(name string) (*model.Assignment, error) {
	if !p.Feasible() {
		return nil, fmt.Errorf("%w: %s leaves %d tasks without a host, breaks %d rules or goes beyond limits", model.ErrNoSolution, name, p.Out, p.Broken)
	}
	return p.C.Assignment(p.Plan), nil
}

// reset sets the state to a plan's.
func (p *packer) reset(plan view.Plan) {
	for i := range p.Plan {
		for k := range p.Plan[i] {
			if p.Plan[i][k] >= 0 {
				p.remove(task{i, k})
			}
		}
	}
	p.tidy()
	for i := range plan {
		for k, h := range plan[i] {
			if h >= 0 {
				p.put(task{i, k}, int(h))
			}
		}
	}
}

// start returns the packer with the start of the settings. Without one, it takes today's plan and places tasks without
// a host by best fit.
func start(ctx context.Context, in *model.Consolidation, set model.Settings) *packer {
	p := newPacker(in)
	if a, ok := set.Start.(*model.Assignment); ok && a != nil {
		if plan, err := p.C.PlanOf(a); err == nil {
			p.reset(plan)
			if p.Feasible() {
				return p
			}
		}
	}
	p.today(ctx)
	return p
}

// today sets the state to today's plan, with a host for tasks without one. What is to be mended leaves its host: tasks stay
// as long as they can, pinned ones first, then the largest.
func (p *packer) today(ctx context.Context) {
	if p.C.In.Mend {
		p.reset(nil)
		for _, t := range p.tasks(false) {
			if own := p.C.Jobs[t.I].Current[t.K]; own >= 0 && p.Can(t.I, t.K, int(own)) {
				p.put(t, int(own))
			}
		}
	} else {
		p.reset(p.C.Today())
	}
	p.fill(ctx)
}

// fill places the tasks without a host by best fit, first the ones that cost most to leave out. It opens hosts if there
// is no other way and it costs less than to leave them out.
func (p *packer) fill(ctx context.Context) {
	missing := p.tasks(true)
	cost := func(t task) int64 {
		if x := p.C.Jobs[t.I].LeaveOut; x >= 0 {
			return x
		}
		return math.MaxInt64
	}
	order.Stable(missing, func(a, b task) int { return cmp.Compare(cost(b), cost(a)) })
	for _, t := range missing {
		if meter.Stop(ctx, effort(1, len(p.used))) {
			return
		}
		p.settle(t, false)
	}
}

// effort returns the effort of looking for places for some tasks among hosts, for meter.Stop.
func effort(tasks, hosts int) int64 { return 1 + int64(tasks*hosts/120) }

// settle places a task on a host in use or, if none will do, on another if that costs less than to leave it out.
func (p *packer) settle(t task, first bool) {
	h := p.best(t, first, nil)
	if h < 0 {
		if h = p.open(t); h >= 0 && p.dear(t, h) {
			h = -1
		}
	}
	if h >= 0 {
		p.put(t, h)
	}
}
