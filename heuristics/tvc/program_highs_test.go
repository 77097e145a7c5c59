// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/test/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// formulate returns a linear model with the least cost of an embedding as its optimum. The costs are reserved
// VMs·(servers + 1) + servers opened, servers opened·(4n) + reserved VMs, or the largest utilisation. It is infeasible
// if there is no embedding.
//
// Exactly one host is chosen. x_s counts the VMs on server s. For each group of
// servers (one server, an edge switch, a pod) a binary z says that more than half
// of the VMs are in it, so that a load f ≥ min(m, n-m) is f ≥ m - nz and f ≥ (n-m)
// - n(1-z), both relaxed by n if the host's route doesn't use the link. With
// HosePerPath the load of a link is the sum of its servers' f.
func formulate(d *fattree.DataCentre, n int, b int64, cost costKind) *milp.Model {
	h, m, N := d.Half, new(milp.Model), float64(n)
	binary := func() int { return m.AddVar(milp.Var{Upper: 1, Integer: true}) }
	type terms = []milp.Term
	inf := math.Inf(1)
	// These are the hosts, and the hosts of each aggregation switch's number.
	var hosts terms
	host := func() int {
		v := binary()
		hosts = append(hosts, milp.Term{Var: v, Coef: 1})
		return v
	}
	edgeHost, podHost, coreHost := make([]int, d.K*h), make([]int, d.K*h), make([]int, h*h)
	for i := range edgeHost {
		edgeHost[i] = host()
	}
	for i := range podHost {
		podHost[i] = host()
	}
	for i := range coreHost {
		coreHost[i] = host()
	}
	m.AddRow("", 1, 1, hosts...)
	reserved, opened, top := 0.0, 0.0, -1
	switch cost {
	case costReserved:
		reserved, opened = float64(d.Servers+1), 1
	case costServers:
		reserved, opened = 1, 4*N
	case costUtilisation:
		top = m.AddVar(milp.Var{Upper: 1, Cost: 1})
	}
	// link adds a link's load in VMs; the link has room for left/b of them.
	link := func(left, rate int64) int {
		f := m.AddVar(milp.Var{Upper: math.Min(N, float64(left/b)), Cost: reserved, Integer: true})
		if cost == costUtilisation {
			loaded := binary()
			m.AddRow("", -inf, 0, milp.Term{Var: f, Coef: 1}, milp.Term{Var: loaded, Coef: -N})
			m.AddRow("", -inf, 0, milp.Term{Var: f, Coef: float64(b) / float64(rate)},
				milp.Term{Var: loaded, Coef: float64(rate-left) / float64(rate)}, milp.Term{Var: top, Coef: -1})
		}
		return f
	}
	// carry makes f at least the load of the VMs x below a link if one of the hosts
	// is chosen.
	carry := func(f, z int, x terms, hosts ...int) {
		light, heavy := terms{{Var: f, Coef: 1}, {Var: z, Coef: N}}, terms{{Var: f, Coef: 1}, {Var: z, Coef: -N}}
		for _, t := range x {
			light, heavy = append(light, milp.Term{Var: t.Var, Coef: -1}), append(heavy, milp.Term{Var: t.Var, Coef: 1})
		}
		relax := 0.0
		if hosts != nil {
			relax = N
		}
		for _, y := range hosts {
			light, heavy = append(light, milp.Term{Var: y, Coef: -N}), append(heavy, milp.Term{Var: y, Coef: -N})
		}
		m.AddRow("", -relax, inf, light...)
		m.AddRow("", -relax, inf, heavy...)
	}
	sum := func(f int, loads terms, hosts ...int) {
		row := terms{{Var: f, Coef: 1}}
		for _, t := range loads {
			row = append(row, milp.Term{Var: t.Var, Coef: -1})
		}
		for _, y := range hosts {
			row = append(row, milp.Term{Var: y, Coef: -N})
		}
		m.AddRow("", -N, inf, row...)
	}
	var all terms
	vms, loads := make([]terms, d.K*h), make([]terms, d.K*h) // by edge switch
	for s := range d.Servers {
		e := s / h
		x := m.AddVar(milp.Var{Upper: math.Min(N, float64(d.Free[s])), Integer: true})
		f := link(d.Server[s], d.ServerRate)
		carry(f, binary(), terms{{Var: x, Coef: 1}})
		if int(d.Free[s]) == d.Slots {
			o := m.AddVar(milp.Var{Upper: 1, Integer: true, Cost: opened})
			m.AddRow("", -inf, 0, milp.Term{Var: x, Coef: 1}, milp.Term{Var: o, Coef: -N})
		}
		// VMs are below the host alone.
		row := terms{{Var: x, Coef: 1}, {Var: edgeHost[e], Coef: -N}}
		for i := range h {
			row = append(row, milp.Term{Var: podHost[e/h*h+i], Coef: -N})
		}
		for _, y := range coreHost {
			row = append(row, milp.Term{Var: y, Coef: -N})
		}
		m.AddRow("", -inf, 0, row...)
		vms[e], loads[e] = append(vms[e], milp.Term{Var: x, Coef: 1}), append(loads[e], milp.Term{Var: f, Coef: 1})
		all = append(all, milp.Term{Var: x, Coef: 1})
	}
	m.AddRow("", N, N, all...)
	if d.NonBlocking {
		return m
	}
	for q := range d.K {
		var inPod, podLoads terms
		for e := q * h; e < (q+1)*h; e++ {
			z := binary()
			for a := range h {
				f := link(d.Edge[e*h+a], d.EdgeRate)
				users := append([]int{podHost[q*h+a]}, coreHost[a*h:(a+1)*h]...)
				if d.PerPath {
					sum(f, loads[e], users...)
				} else {
					carry(f, z, vms[e], users...)
				}
			}
			inPod, podLoads = append(inPod, vms[e]...), append(podLoads, loads[e]...)
		}
		z := binary()
		for a := range h {
			for c := range h {
				f := link(d.Aggregation[(q*h+a)*h+c], d.AggregationRate)
				if d.PerPath {
					sum(f, podLoads, coreHost[a*h+c])
				} else {
					carry(f, z, inPod, coreHost[a*h+c])
				}
			}
		}
	}
	return m
}

// HiGHS and the program agree on data centres of ordinary size.
func TestProgramAgainstHiGHS(t *testing.T) {
	need.HiGHS(t)
	t.Parallel()
	states := 60
	if testing.Short() {
		states = 12
	}
	none, several := 0, 0
	var p program
	for seed := range states {
		rng := rand.New(rand.NewPCG(uint64(seed), 14))
		in := &model.TVC{Hose: model.Hoses[seed%2], FatTree: model.FatTree{K: 4, Slots: 4 + rng.IntN(5), LinkMbps: 1000, Fabric: model.Fabrics[seed/2%2]}}
		if rng.IntN(3) == 0 {
			in.FatTree.LayersMbps = &model.LayerRates{EdgeMbps: 600, AggregationMbps: 1700}
		}
		d := fattree.New(view.OfTVC(in))
		for range 10 + rng.IntN(10) {
			n, b := 1+rng.IntN(12), 1_000_000*int64(20+rng.IntN(400))
			if e, ok := p.Best(d, n, b, costKind(rng.IntN(3))); ok {
				d.Add(&e, n, b)
			}
		}
		n, b := d.Slots/2+rng.IntN(2*d.Slots), 1_000_000*int64(20+rng.IntN(400))
		for _, cost := range allCosts {
			e, ok := p.Best(d, n, b, cost)
			r, err := highs.Solve(context.Background(), formulate(d, n, b, cost), milp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if ok != (r.Status == milp.Optimal) || !ok && r.Status != milp.Infeasible {
				t.Fatalf("state %d, cost %d: %d VMs at %d bit/s: the program found %v, HiGHS says %v", seed, cost, n, b, ok, r.Status)
			}
			if !ok {
				none++
				continue
			}
			if len(e.Servers) > 1 {
				several++
			}
			used, of, reserved, opened, _ := costOf(d, &e, n, b)
			want := map[costKind]float64{costReserved: float64(reserved/b*int64(d.Servers+1) + opened), costServers: float64(opened*int64(4*n) + reserved/b),
				costUtilisation: float64(used) / float64(of)}[cost]
			if math.Abs(r.Objective-want) > 1e-5*math.Max(1, want) {
				t.Errorf("state %d, cost %d: %d VMs at %d bit/s: the program has %v by %v, HiGHS %v", seed, cost, n, b, want, e, r.Objective)
			}
		}
	}
	if none < states/4 || several < states/4 {
		t.Errorf("of %d states, %d without an embedding, %d on several servers", states, none, several)
	}
}
