// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math/bits"
	"slices"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// costKind says which embedding a program prefers. The named cost decides first; the ones after it break ties.
type costKind uint8

// The costs. The bandwidth reserved is the sum over all links. Servers opened are servers that were empty and get VMs.
// The largest utilisation is taken over the links that the embedding loads, after it is embedded: (used + load)/rate, 0
// if it loads none. Other links don't count: one full link anywhere would make all embeddings alike.
const (
	costReserved    costKind = iota // bandwidth reserved, servers opened
	costServers                     // servers opened, bandwidth reserved
	costUtilisation                 // largest utilisation, bandwidth reserved, servers opened
)

// program finds an optimal embedding of one request by dynamic programming over
// (subtree, number of VMs). Its zero value is ready; it keeps scratch memory and
// serves one caller at a time.
//
// The switch that hosts the virtual switch fixes the route below it, so the links below form a tree. A core switch
// reaches each pod by one aggregation switch, and this one each edge switch by one link. The load of a link with
// HoseCut depends on the number m of VMs below it alone, min(m, n-m)·b. So the least cost of m VMs below a link is the
// least cost of m VMs below its lower end, plus the load if the link has room for it. The least cost below a switch is
// the least sum over its children's counts. A pod's table depends on the aggregation switch and not on the core switch,
// so the core switches of a group share it.
//
// The load with HosePerPath is the sum of min(c, n-c)·b over the servers below, c the VMs on each. At most one server
// holds c > n/2 VMs; below a link without it the load is m·b, else (m - (2c-n))·b. So the program runs for each such c,
// and once for no such server, with tables over the count and whether that server is below.
//
// A subtree with f free slots has min(f, n)+1 counts, and a join of two takes the product of their numbers of counts.
// Let h = k/2. There are 2h² edge switches of h servers, 2h² aggregation switches of h edge switches, and h² core
// switches of 2h pods. This takes O(h³ n (L + n)) in all, L slots a server. HosePerPath takes about 3L/2 times as much
// for n < 2L. Subtrees without free slots cost nothing. Switches are left out if their lower bound isn't below the best
// cost known (see tree.search and tree.cores).
type program struct {
	problem
	costs     tree[costTable]
	sets      tree[setTable]
	costCells costTables
	setCells  setTables

	edgeMost []int // most free slots of a server, by edge switch
	// Rooms of the links from pods to core switches, [(a·h+c)·k+q], and the largest
	// over all, [q], and over each group, [(1+a)·k+q].
	podRooms, widestRooms []int
}

// problem is the request that a program embeds and the data centre.
type problem struct {
	d *fattree.DataCentre
	n int
	b int64
	// big is the number of VMs, above n/2, on one server that must exist; 0: no server has more than n/2. It is 0 and
	// means nothing with HoseCut.
	big int
	// most/of is the largest utilisation of a link that is loaded; of = 0: 1.
	most, of int64
}

// never is the cost of an impossible embedding. Costs are below 2^43: at each of the three layers of links the loads
// sum to n VMs at most, at most 2^20.
const never = int64(1) << 60

// Best returns an embedding of n VMs at b bit/s of the least cost, false if there is none. It takes the lowest layer,
// group and index of the switch among equals; then VMs are on servers of low numbers. The embeddings with the smallest
// problem.big come first with HosePerPath.
func (p *program) Best(d *fattree.DataCentre, n int, b int64, cost costKind) (model.Embedding, bool) {
	p.start(d, n, b)
	first := costReserved
	if cost == costServers {
		first = costServers
	}
	e, ok := p.cheapest(first)
	if !ok || cost != costUtilisation {
		return e, ok
	}
	if len(e.Servers) > 1 { // else no link is loaded
		p.leastUtilisation()
		e, ok = p.cheapest(costReserved)
	}
	return e, ok
}

// Embeddable reports whether n VMs at b bit/s can be embedded.
func (p *program) Embeddable(d *fattree.DataCentre, n int, b int64) bool {
	p.start(d, n, b)
	return p.embeddable()
}

// start takes a request.
func (p *program) start(d *fattree.DataCentre, n int, b int64) {
	p.problem = problem{d: d, n: n, b: b}
	h := d.Half
	p.edgeMost = zeros(p.edgeMost, d.K*h)
	for e := range p.edgeMost {
		p.edgeMost[e] = int(slices.Max(d.Free[e*h : (e+1)*h]))
	}
}

// zeros returns a slice of n zeros, in the memory of x if it is large enough.
func zeros[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	x = x[:n]
	clear(x)
	return x
}

// single returns the server that holds all n VMs: with the fewest opened, then the
// lowest number. -1 if none can.
//
// It is optimal under each cost except for servers opened: it loads no link at all. Another embedding without load is
// on one server as well, since n ≥ 2 VMs on two servers or more load a link. If it opens no server it is optimal under
// that, too.
func (p *program) single() int {
	best := -1
	for s, free := range p.d.Free {
		if int(free) >= p.n {
			if int(free) < p.d.Slots {
				return s
			}
			if best < 0 {
				best = s
			}
		}
	}
	return best
}

// embeddable reports whether an embedding exists with a utilisation within the limit.
func (p *program) embeddable() bool {
	if p.single() >= 0 {
		return true
	}
	for p.big = range p.bigs() {
		p.sets.reset(p, &p.setCells, weights{})
		if _, _, ok := p.sets.search(weights{}, 1); ok {
			return true
		}
	}
	return false
}

// leastUtilisation sets most/of to the least limit under which an embedding exists;
// one must exist, and load a link.
//
// The least largest utilisation belongs to some link, so it is a whole number of bit/s over the rate of its layer. For
// each rate the least such number is found by bisection, with exact arithmetic.
func (p *program) leastUtilisation() {
	most, of := int64(1), int64(1)
	for _, rate := range []int64{p.d.ServerRate, p.d.EdgeRate, p.d.AggregationRate} {
		high, low := bits.Mul64(uint64(most), uint64(rate))
		upto, rest := bits.Div64(high, low, uint64(of))
		impossible, possible := int64(0), int64(upto)
		if p.most, p.of = possible, rate; rest > 0 && !p.embeddable() {
			continue
		}
		for possible-impossible > 1 {
			p.most = (possible + impossible) / 2
			if p.embeddable() {
				possible = p.most
			} else {
				impossible = p.most
			}
		}
		most, of = possible, rate
	}
	p.most, p.of = most, of
}

// bigs yields the values of problem.big, 0 first.
func (p *program) bigs() func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if !yield(0) || !p.d.PerPath {
			return
		}
		for c := p.n/2 + 1; c <= min(p.n, p.d.Slots); c++ {
			if !yield(c) {
				return
			}
		}
	}
}

// weights are the cost of reserving b on a link and of opening a server.
type weights struct{ reserved, opened int64 }

// cheapest returns an embedding of the least cost, by costReserved or costServers, with a utilisation within the limit.
func (p *program) cheapest(cost costKind) (model.Embedding, bool) {
	// At most 2^20 servers are opened, and less than 2^22 units are reserved.
	w := weights{1 << 20, 1}
	if cost == costServers {
		w = weights{1, 1 << 22}
	}
	best, at, big := never, model.Switch{}, 0
	single := p.single()
	if single >= 0 {
		best = 0
		if int(p.d.Free[single]) == p.d.Slots {
			best = w.opened
		}
		if best == 0 || cost == costReserved {
			h := p.d.Half
			return model.Embedding{Switch: model.Switch{Layer: model.LayerEdge, Group: single / (h * h), Index: single / h % h},
				Servers: []model.ServerVMs{{Server: single, VMs: p.n}}}, true
		}
		best++ // found again by the search, with its switch
	}
	for p.big = range p.bigs() {
		p.costs.reset(p, &p.costCells, w)
		if value, s, ok := p.costs.search(w, best); ok {
			best, at, big = value, s, p.big
		}
	}
	if best == never {
		return model.Embedding{}, false
	}
	p.big = big
	p.costs.reset(p, &p.costCells, w)
	return p.costs.trace(at), true
}

// room returns the number of VMs, at most n, that a link can carry with left bit/s left of its rate.
func (p *problem) room(left, rate int64) int {
	if p.of > 0 { // (used + load)/rate ≤ most/of: used + load ≤ floor(most·rate/of)
		high, low := bits.Mul64(uint64(p.most), uint64(rate))
		upto, _ := bits.Div64(high, low, uint64(p.of)) // most ≤ of: it is at most rate
		left = max(0, int64(upto)-(rate-left))
	}
	return int(min(left/p.b, int64(p.n)))
}

// podRoom returns the room of the link from pod q to core switch c of group a.
func (p *problem) podRoom(q, a, c int) int {
	return p.room(p.d.Aggregation[(q*p.d.Half+a)*p.d.Half+c], p.d.AggregationRate)
}

// useful returns the part of a link's room that an embedding can use.
func (p *problem) useful(room int) int {
	if p.d.PerPath {
		return room
	}
	return min(room, p.n/2)
}

// load returns the load of a link in VMs, with m VMs below it, and the big server
// among them or not.
func (p *problem) load(m int, big bool) int {
	switch {
	case !p.d.PerPath:
		return min(m, p.n-m)
	case big:
		return m - (2*p.big - p.n)
	}
	return m
}

// newProgram returns a function that makes an embedder of a program.
func newProgram(cost costKind) func() embedder {
	return func() embedder {
		p := new(program)
		return embedderFunc(func(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) { return p.Best(d, n, b, cost) })
	}
}

// ProgramServers embeds so that the least servers are opened, then the least bandwidth
// reserved, over all embeddings.
func ProgramServers(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, "program-servers")
}

// ProgramUtilisation embeds so that the largest utilisation of the links loaded is least,
// over all embeddings.
func ProgramUtilisation(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, "program-utilisation")
}

// ProgramReserved embeds so that the least bandwidth is reserved, then the least servers
// opened, over all embeddings.
func ProgramReserved(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, "program-reserved")
}
