// SPDX-License-Identifier: MIT

package tvcrelax

import (
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/model"
)

// Resource is something that every accepted request holds at least its demand of for as long as it runs. All that run
// at one instant hold at most the capacity: Σ_j demand_j x_j ≤ capacity over the requests j that are active, x_j = 1 if
// j is accepted.
//
// Let g give each part of a cluster on a node of some level a number of at least 0, such that the parts that fit on one
// node (in its slots and the rate of its links) never sum to more than G. Then the least Σ g over the ways to divide
// the cluster is its demand for a resource of capacity nodes·G. The least is taken over any number of nodes with any
// parts that fit an empty one, which can only lower it. These g are taken:
//
//   - the VMs, with G the slots, on servers: the demand is N;
//   - the load on the links up, in bit/s, with G the sum of their rates, by level;
//   - u(load), with u a dual-feasible function of one link (duals.StepsDFF) and G its value of a whole link, times the
//     lanes, by level. Loads on one lane sum to at most its rate, and each cluster loads one lane of a node;
//   - Tree.Shared on servers: a part with more than half of the slots leaves the link to few;
//   - on servers a·u(VMs) + b·u'(load), u of the slots and u' of the link: spreading a cluster into small parts puts
//     loads on more links.
type Resource struct {
	Demand   []float64      // by request, in shares of the capacity
	Capacity float64        // 1
	form     model.Evidence // Resource, Count, Function and Parts of evidence
	units    float64        // of the capacity
	whole    Total
}

// Total is a resource in whole numbers: the demands, by request, of those that run at
// one instant sum to at most Capacity.
type Total struct {
	Demand   []int64
	Capacity int64
}

// Whole returns the resource in whole numbers; its capacity is 0 if they don't fit 53 bits.
func (r *Resource) Whole() Total { return r.whole }

// Totals returns the resources of an instance for some requests, if their sums fit 61 bits.
func (t *Tree) Totals(in *view.TVC, requests []int) (all []Total) {
	for _, r := range t.Resources(in, requests, false) {
		sum := 0.0
		for _, d := range r.whole.Demand {
			sum += float64(d)
		}
		if r.whole.Capacity > 0 && sum < 1<<61 {
			all = append(all, r.whole)
		}
	}
	return all
}

// mixes are the weights of slots against links, both in shares of a server.
var mixes = []int64{1, 2, 4}

// steps is the name of duals.StepsDFF in evidence.
func steps(k int64) *model.DualFunction { return &model.DualFunction{Name: "steps", Parameter: k} }

// Evidence returns evidence of a type that names the resource.
func (r *Resource) Evidence(kind string) model.Evidence {
	e := r.form
	e.Type, e.Parts = kind, slices.Clone(e.Parts)
	for k := range e.Parts {
		e.Parts[k].Type = kind
	}
	return e
}

// Resources returns the resources of an instance for some requests, except the ones that bind none of them. If few is
// set, it only returns the resources with demands that are computed at once.
func (t *Tree) Resources(in *view.TVC, requests []int, few bool) []Resource {
	var all []Resource
	add := func(form model.Evidence, capacity float64, demand func(i int) int64) {
		r := Resource{Demand: make([]float64, len(requests)), Capacity: 1, form: form, units: capacity}
		some := false
		for i := range requests {
			d := demand(i)
			r.Demand[i] = float64(d) / capacity
			r.whole.Demand = append(r.whole.Demand, d)
			some = some || d > 0
		}
		if capacity < 1<<53 { // exactly
			r.whole.Capacity = int64(capacity)
		}
		if some {
			all = append(all, r)
		}
	}
	vms := func(i int) int { return in.Requests[requests[i]].VMs }
	bandwidth := func(i int) int64 { return in.Requests[requests[i]].Bandwidth }
	add(model.Evidence{Resource: evidence.Slots}, float64(t.Slots[t.Root()]), func(i int) int64 { return int64(vms(i)) })
	parts := t.serverParts(in.PerPath)
	loads := t.Loads(in.PerPath)
	add(model.Evidence{Resource: evidence.Links[0]}, float64(t.Servers(t.Root()))*float64(t.Rate[0]), func(i int) int64 {
		return bandwidth(i) * loads(vms(i), bandwidth(i))
	})
	for _, share := range Shares(t.Slots[0]) {
		add(model.Evidence{Resource: evidence.Servers, Count: share}, float64(t.Servers(t.Root()))*float64(t.Rate[0])*float64(share), func(i int) int64 {
			n, b := vms(i), bandwidth(i)
			one := min(b*int64(share), t.Rate[0])
			if n >= 2*t.Slots[0] {
				return int64(n) * one // one VM a part: other parts, with loads of all their VMs, count more
			}
			return leastSum(n, parts(n, b), func(p Part) int64 {
				return t.Shared(share, p, bandwidth(i))
			})
		})
	}
	if few || t.Slots[t.Root()] > mostSlotsOfParts {
		return all
	}
	ofRequest := make([][][]Part, len(requests))
	for i := range requests {
		ofRequest[i] = t.Parts(vms(i), bandwidth(i), in.PerPath)
	}
	for level := range t.Root() {
		nodes := float64(t.Servers(t.Root()) / t.Servers(level) * t.Lanes[level])
		if level > 0 {
			add(model.Evidence{Resource: evidence.Links[level]}, nodes*float64(t.Rate[level]), func(i int) int64 {
				return bandwidth(i) * leastSum(vms(i), ofRequest[i][level], func(p Part) int64 { return int64(p.Load) })
			})
		}
		for k := int64(1); k <= 4; k++ {
			u, bin := duals.StepsDFF(t.Rate[level], k)
			add(model.Evidence{Resource: evidence.Links[level], Function: steps(k)}, nodes*float64(bin), func(i int) int64 {
				return leastSum(vms(i), ofRequest[i][level], func(p Part) int64 { return u(int64(p.Load) * bandwidth(i)) })
			})
		}
	}
	for ks := int64(1); ks <= 2; ks++ {
		slots, slotBin := duals.StepsDFF(int64(t.Slots[0]), ks)
		for kl := int64(1); kl <= 2; kl++ {
			link, linkBin := duals.StepsDFF(t.Rate[0], kl)
			for _, mix := range mixes {
				a, b := mix*linkBin, slotBin
				form := model.Evidence{Resource: evidence.Shares, Count: int(mix), Parts: []model.Evidence{
					{Resource: evidence.Slots, Function: steps(ks)}, {Resource: evidence.Links[0], Function: steps(kl)}}}
				add(form, float64(t.Servers(t.Root()))*float64(a*slotBin+b*linkBin), func(i int) int64 {
					return leastSum(vms(i), ofRequest[i][0], func(p Part) int64 {
						return a*slots(int64(p.VMs)) + b*link(int64(p.Load)*bandwidth(i))
					})
				})
			}
		}
	}
	return all
}

// shape decides which parts of a cluster a server can have: its VMs, and the most VMs that load the server's link.
type shape struct{ vms, most int }

// serverParts returns a function of the parts that a server can have of a cluster of n VMs at b bit/s, as Parts has
// them. Clusters of one shape have the same.
func (t *Tree) serverParts(perPath bool) func(n int, b int64) []Part {
	servers := *t // with only servers below the root
	servers.Fan = t.Fan[:2]
	known := map[shape][]Part{}
	return func(n int, b int64) []Part {
		s := shape{n, int(min(t.Rate[0]/b, int64(n)))}
		parts, ok := known[s]
		if !ok {
			parts = servers.Parts(n, b, perPath)[0]
			known[s] = parts
		}
		return parts
	}
}

// Loads returns a function of the least load that a cluster of n VMs at b bit/s, which fits, puts on the links of
// servers, in multiples of b. It depends only on the shape.
func (t *Tree) Loads(perPath bool) func(n int, b int64) int64 {
	known, parts := map[shape]int64{}, t.serverParts(perPath)
	return func(n int, b int64) int64 {
		switch {
		case n <= t.Slots[0]:
			return 0
		case n >= 2*t.Slots[0]:
			return int64(n)
		}
		s := shape{n, int(min(t.Rate[0]/b, int64(n)))}
		least, ok := known[s]
		if !ok {
			least = leastSum(n, parts(n, b), func(p Part) int64 { return int64(p.Load) })
			known[s] = least
		}
		return least
	}
}

// Shares returns numbers of slots for which Tree.Shared gives resources: at most half of a server's,
// the largest first, at most mostShares.
func Shares(slots int) (all []int) {
	for k := mostShares; k > 0; k-- {
		if s := slots * k / (2 * mostShares); s > 0 && (len(all) == 0 || s < all[len(all)-1]) {
			all = append(all, s)
		}
	}
	return all
}

const mostShares = 4

// Shared returns the demand of a part on a server for a resource of which a server holds R s: R is the rate of its
// link, s at most half of its slots S. Consider a part of m VMs that loads the link with l. It is light if m ≤ S - s,
// and has min(l s, m R); otherwise it is heavy, and has max(l s, (m - S + s) R).
//
// Light parts have Σ l s at most, and Σ m R. Two heavy ones have more than S slots. The parts beside a heavy one are
// light, with R - l of the link and S - m slots at most. So they have min((R - l) s, (S - m) R) = R s - max(l s, (m -
// S + s) R) at most.
func (t *Tree) Shared(s int, p Part, bandwidth int64) int64 {
	load, light := int64(p.Load)*bandwidth*int64(s), t.Slots[0]-s
	if int(p.VMs) <= light {
		return min(load, int64(p.VMs)*t.Rate[0])
	}
	return max(load, int64(int(p.VMs)-light)*t.Rate[0])
}

// mostSlotsOfParts is the size of a data centre up to which the parts of a
// thousand requests take no more than a second.
const mostSlotsOfParts = 2048

// leastSum returns the least Σ g over parts with n VMs in all, each used any number of times. The cluster has such
// parts. O(n parts).
func leastSum(n int, parts []Part, g func(Part) int64) int64 {
	const none = int64(-1)
	var room [2][32]int64 // enough for most, without garbage
	cost, least := room[0][:0], room[1][:0]
	if max(len(parts), n+1) > len(room[0]) {
		cost, least = make([]int64, 0, len(parts)), make([]int64, 0, n+1)
	}
	cost, least = cost[:len(parts)], least[:n+1]
	for k, p := range parts {
		cost[k] = g(p)
	}
	for m := 1; m <= n; m++ {
		least[m] = none
		for k, p := range parts {
			if rest := m - int(p.VMs); rest >= 0 && least[rest] != none && (least[m] == none || least[rest]+cost[k] < least[m]) {
				least[m] = least[rest] + cost[k]
			}
		}
	}
	return least[n]
}
