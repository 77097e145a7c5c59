// SPDX-License-Identifier: MIT

package verify

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// tvcLevel are the links up from servers, edge switches or pods.
type tvcLevel struct {
	fan   int64 // one of these has so many of the level below
	links int64 // in all: an edge switch has k/2, a pod k²/4
	rate  int64
}

// tvcShape decides which parts a request can have: its VMs, and how many times its bandwidth a link of each level
// carries, VMs at most.
type tvcShape struct {
	vms  int64
	most [3]int64
}

// maxTVCSteps bounds the sums that the judge forms of parts, of some 2 ns each.
const maxTVCSteps = 100_000_000

// spend counts steps, and looks at the context now and then.
func (w *tvcWork) spend(steps int64) error {
	const often = 1 << 20
	before := w.steps
	if steps > maxTVCSteps-before {
		return tooMuch("parts of requests")
	}
	if w.steps += steps; w.steps/often > before/often {
		return w.ctx.Err()
	}
	return nil
}

// resource returns the least that requests hold of the evidence's resource while they run, and how much there is of it.
//
// Let g give each part that a request can have at one node (a server, an edge switch, a pod) a number from 0 on. Parts
// that fit there at one time must never sum to more than G. Then a request holds the least Σ g over all ways to divide
// its VMs into such parts, and there is G of each node. The g are:
//
//   - of links of a level: f(load) for f nondecreasing and dual-feasible on a link's rate R, or the load
//     itself. A request loads one link up from a node, so G is f(R) times the links;
//   - of servers: see shared;
//   - of shares: c u(VMs)/u(S) + f(load)/f(R), with u dual-feasible on a server's slots S. G is c + 1.
func (w *tvcWork) resource(e *model.Evidence) (demand func(r *tvcWorkRequest) (int64, error), capacity *big.Int, err error) {
	level, nodes := slices.Index(evidence.Links, e.Resource), w.servers
	var held func(vms, load int64) int64
	var node int64 // G
	switch {
	case e.Resource == evidence.Slots:
		return func(r *tvcWorkRequest) (int64, error) { return r.vms, nil }, bigProduct(w.slots, w.servers), nil
	case level >= len(w.levels):
		return nil, nil, fmt.Errorf("%s: there are none in a non-blocking fabric", e.Resource)
	case level >= 0:
		f, whole, err := dualFunction(e.Function, w.levels[level].rate)
		if err != nil {
			return nil, nil, err
		}
		held, node, nodes = func(_, load int64) int64 { return f(load) }, whole, w.levels[level].links
	case e.Resource == evidence.Servers:
		s := int64(e.Count)
		if s > w.slots/2 {
			return nil, nil, fmt.Errorf("count: %d is more than half of a server's %d slots", s, w.slots)
		}
		if !bigProduct(w.slots, w.levels[0].rate).IsInt64() {
			return nil, nil, tooMuch("loads")
		}
		held, node = w.shared(s), s*w.levels[0].rate
	default:
		u, all, err := dualFunction(e.Parts[0].Function, w.slots)
		if err != nil {
			return nil, nil, err
		}
		f, whole, err := dualFunction(e.Parts[1].Function, w.levels[0].rate)
		if err != nil {
			return nil, nil, err
		}
		each := bigProduct(all, whole)
		if each.Mul(each, big.NewInt(int64(e.Count)+1)); !each.IsInt64() {
			return nil, nil, tooMuch("loads")
		}
		u0, f0 := int64(e.Count)*whole, all
		held, node = func(vms, load int64) int64 { return u0*u(vms) + f0*f(load) }, each.Int64()
	}
	level = max(level, 0)
	return func(r *tvcWorkRequest) (int64, error) {
		if !bigProduct(node, r.vms).IsInt64() {
			return 0, tooMuch("loads")
		}
		loads, err := w.partsOf(r, level)
		if err != nil {
			return 0, err
		}
		return w.least(r, loads, held)
	}, bigProduct(node, nodes), nil
}

// shared returns the amount that a part of VMs holds of a server with s times its link's rate R, s at most half of its
// slots S. For at most S - s VMs it is min(load s, VMs R), for more max(load s, (VMs - S + s) R).
//
// A server's parts hold no more than R s. Without a part of more than S - s VMs it is at most the loads' sum times s.
// There is no second such part, for two have more than S VMs. Next to such a part the others have at most S - VMs slots
// and R - load of the link. They hold at most the lesser of (R - load) s and (S - VMs) R: R s less the max.
func (w *tvcWork) shared(s int64) func(vms, load int64) int64 {
	return func(vms, load int64) int64 {
		light, rate := w.slots-s, w.levels[0].rate
		if vms <= light {
			return min(load*s, vms*rate)
		}
		return max(load*s, (vms-light)*rate)
	}
}

// partsOf returns which parts of a request a node of a level can have. Entry [m] is the least load of its link up with
// m VMs below, in multiples of the request's bandwidth, and -1 if the node can't have m.
//
// A link with m of N VMs below carries min(m, N - m) at least if the virtual switch is above it, with
// HosePerPath the sum of that over the servers below. It carries nothing with all VMs below, if the virtual switch is as low as
// it can be, and no less anywhere else. The VMs below a node are the sum of the VMs below its children. No link carries
// more than its rate.
func (w *tvcWork) partsOf(r *tvcWorkRequest, level int) ([]int64, error) {
	n := r.vms
	shape := tvcShape{vms: n}
	for k := range w.levels {
		shape.most[k] = min(n, w.levels[k].rate/r.bandwidth)
	}
	tables := w.loads[shape]
	for k := len(tables); k <= level; k++ {
		var loads []int64
		if k == 0 {
			loads = make([]int64, min(n, w.slots)+1)
			for m := range loads {
				loads[m] = min(int64(m), n-int64(m))
			}
		} else {
			var err error
			if loads, err = w.sums(tables[k-1], w.levels[k].fan, n); err != nil {
				return nil, err
			}
		}
		for m := range loads {
			switch {
			case loads[m] < 0:
			case int64(m) == n:
				loads[m] = 0
			case !w.perPath:
				loads[m] = min(int64(m), n-int64(m))
			}
			if loads[m] > shape.most[k] {
				loads[m] = -1
			}
		}
		tables = append(tables, loads)
		w.loads[shape] = tables
	}
	return tables[level], nil
}

// sums returns the least sums of up to count loads with VMs that sum to each number up to n, -1 for none.
func (w *tvcWork) sums(loads []int64, count, n int64) ([]int64, error) {
	now := make([]int64, min(n, count*int64(len(loads)-1))+1)
	for m := range now {
		now[m] = -1
	}
	now[0] = 0
	for range count {
		if err := w.spend(int64(len(now)) * int64(len(loads))); err != nil {
			return nil, err
		}
		next, changed := slices.Clone(now), false
		for a, x := range now {
			if x < 0 {
				continue
			}
			for m, y := range loads[:min(len(loads), len(now)-a)] {
				if at := &next[a+m]; y >= 0 && (*at < 0 || w.perPath && x+y < *at) {
					*at, changed = x+y, true
				}
			}
		}
		if now = next; !changed {
			break
		}
	}
	return now, nil
}

// least returns the least that parts of a request hold together, where held gives the amount for a part's VMs and load.
func (w *tvcWork) least(r *tvcWorkRequest, loads []int64, held func(vms, load int64) int64) (int64, error) {
	if err := w.spend((r.vms + 1) * int64(len(loads))); err != nil {
		return 0, err
	}
	type part struct{ vms, held int64 }
	var parts []part
	for m, load := range loads {
		if m > 0 && load >= 0 {
			parts = append(parts, part{int64(m), held(int64(m), load*r.bandwidth)})
		}
	}
	least := make([]int64, r.vms+1)
	for v := int64(1); v <= r.vms; v++ {
		least[v] = -1
		for _, p := range parts {
			if p.vms > v {
				break
			}
			if x := least[v-p.vms]; x >= 0 && (least[v] < 0 || x+p.held < least[v]) {
				least[v] = x + p.held
			}
		}
	}
	return max(0, least[r.vms]), nil
}
