package tvc

import (
	"slices"

	"github.com/gapwise/gapwise/model"
)

// tables makes tables of the numbers of VMs below a link or switch. T is either
// what they cost (costTables) or which are possible (setTables).
type tables[T any] interface {
	// reset takes a problem and frees the tables made so far.
	reset(p *problem, w weights)
	// none is the table of a subtree without VMs.
	none() T
	// server is the table above the link of server s.
	server(s int) T
	// link is the table above a link with the room, t that below it.
	link(t T, room int) T
	// join is the table of two subtrees together, for counts from low on.
	join(t, u T, low int) T
	// all is the cost of all n VMs, never if they aren't possible.
	all(t T) int64
}

// tree computes tables of the subtrees below all switches, each on demand and
// once.
type tree[T any] struct {
	*Program
	make  tables[T]
	edges []memo[T] // by edge switch
	pods  []memo[T] // by pod and aggregation switch
}

type memo[T any] struct {
	known bool
	table T
}

// reset takes the Program's problem.
func (t *tree[T]) reset(p *Program, m tables[T], w weights) {
	switches := p.d.K * p.d.Half
	t.Program, t.make, t.edges, t.pods = p, m, zeros(t.edges, switches), zeros(t.pods, switches)
	m.reset(&p.problem, w)
}

// edge returns the table of edge switch e, without a link above.
func (t *tree[T]) edge(e int) T {
	x := &t.edges[e]
	if !x.known {
		x.known, x.table = true, t.make.none()
		for s := e * t.d.Half; s < (e+1)*t.d.Half; s++ {
			if t.d.Free[s] > 0 {
				x.table = t.make.join(x.table, t.make.server(s), 0)
			}
		}
	}
	return x.table
}

// edgeLink returns the table of edge switch e with the link to aggregation switch a.
func (t *tree[T]) edgeLink(e, a int) T {
	if t.d.NonBlocking {
		return t.edge(e)
	}
	return t.make.link(t.edge(e), t.edgeRoom(e, a))
}

// pod returns the table of aggregation switch a of pod q, without a link above.
func (t *tree[T]) pod(q, a int) T {
	h := t.d.Half
	x := &t.pods[q*h+a]
	if !x.known {
		x.known = true
		if same := t.sameRooms(q, a); same < a {
			x.table = t.pod(q, same)
			return x.table
		}
		x.table = t.make.none()
		for e := q * h; e < (q+1)*h; e++ {
			if t.edgeFree[e] > 0 {
				x.table = t.make.join(x.table, t.edgeLink(e, a), 0)
			}
		}
	}
	return x.table
}

// sameRooms returns the first aggregation switch of pod q whose links below have
// the same room as those of switch a: their tables are equal.
func (t *tree[T]) sameRooms(q, a int) int {
	h := t.d.Half
	for same := range a {
		equal := true
		for e := q * h; e < (q+1)*h && equal; e++ {
			equal = t.edgeFree[e] == 0 || t.useful(t.edgeRoom(e, same)) == t.useful(t.edgeRoom(e, a))
		}
		if equal {
			return same
		}
	}
	return a
}

// useful returns the room of a link as far as an embedding can use it.
func (p *problem) useful(room int) int {
	if p.d.PerPath {
		return room
	}
	return min(room, p.n/2)
}

// core returns the cost of all n VMs below a core switch of group a, whose links
// from the pods have the rooms.
func (t *tree[T]) core(a int, rooms []int) int64 {
	x, rest := t.make.none(), 0
	for _, free := range t.podFree {
		rest += free
	}
	for q, free := range t.podFree {
		if free > 0 {
			rest -= free
			x = t.make.join(x, t.podLink(q, a, rooms[q]), t.n-rest)
		}
	}
	return t.make.all(x)
}

// podLink returns the table of pod q below core switches of group a, with a link of the
// room.
func (t *tree[T]) podLink(q, a, room int) T {
	if t.d.NonBlocking {
		return t.pod(q, a)
	}
	return t.make.link(t.pod(q, a), room)
}

// search returns the first switch of the least cost that is below the limit, and
// that cost, over edge switches, then aggregation switches, then core switches.
//
// A switch is left out if its lower bound isn't below the best cost known. On
// one server at most f < n of the n VMs fit, so the servers' links carry at least
// min(n, 2(n-f)) of them: if a server has m ≥ n/2 VMs its link carries n-m ≥ n-f,
// and so do the others together; else all n VMs are carried. The same holds for the
// links above edge switches if the VMs are below two of them or more, and above
// pods. If they aren't, a lower switch could host the virtual switch at no more
// cost, and is looked at before. HosePerPath never loads a link less than HoseCut.
// At least (n - the free slots of servers with VMs)/L servers are opened, rounded up.
func (t *tree[T]) search(w weights, limit int64) (best int64, at model.Switch, ok bool) {
	d, h := t.d, t.d.Half
	carried := func(most int) int64 { return int64(min(t.n, 2*(t.n-min(most, t.n-1)))) }
	partly, most := 0, 0
	for _, free := range d.Free {
		if int(free) < d.Slots {
			partly += int(free)
		}
		most = max(most, int(free))
	}
	best = limit
	least := w.opened * int64((max(0, t.n-partly)+d.Slots-1)/d.Slots)
	try := func(cost int64, s model.Switch) {
		if cost < best {
			best, at, ok = cost, s, true
		}
	}
	for e, free := range t.edgeFree {
		bound := least
		if t.edgeMost[e] < t.n {
			bound += w.reserved * carried(t.edgeMost[e])
		}
		if free >= t.n && bound < best {
			try(t.make.all(t.edge(e)), model.Switch{Layer: model.LayerEdge, Group: e / h, Index: e % h})
		}
	}
	routes, above := h, w.reserved
	if d.NonBlocking {
		routes, above = 1, 0
	}
	for q, free := range t.podFree {
		edges := t.edgeFree[q*h : (q+1)*h]
		bound := least + w.reserved*carried(slices.Max(t.edgeMost[q*h:(q+1)*h])) + above*carried(slices.Max(edges))
		for a := 0; a < routes && free >= t.n && bound < best; a++ {
			try(t.make.all(t.pod(q, a)), model.Switch{Layer: model.LayerAggregation, Group: q, Index: a})
		}
	}
	bound := least + w.reserved*carried(most) + above*(carried(slices.Max(t.edgeFree))+carried(slices.Max(t.podFree)))
	for a := 0; a < routes && bound < best; a++ {
		t.cores(a, routes, &best, try)
	}
	return best, at, ok
}

// cores tries the core switches of group a. A core switch whose links all had the
// room of the widest of their pod would cost no more than any of the group: it is
// tried first, as a bound. Switches with equal rooms have equal costs.
func (t *tree[T]) cores(a, routes int, best *int64, try func(int64, model.Switch)) {
	k := t.d.K
	t.caps, t.widest = zeros(t.caps, routes*k), zeros(t.widest, k)
	free := 0
	for q := range k {
		free += t.podFree[q]
		for c := 0; c < routes && !t.d.NonBlocking; c++ {
			t.caps[c*k+q] = t.useful(t.podRoom(q, a, c))
			t.widest[q] = max(t.widest[q], t.caps[c*k+q])
		}
	}
	if free < t.n {
		return
	}
	bound := t.core(a, t.widest)
	for c := 0; c < routes && bound < *best; c++ {
		caps, cost := t.caps[c*k:(c+1)*k], bound
		if !slices.Equal(caps, t.widest) {
			if t.seen(c) {
				continue
			}
			cost = t.core(a, caps)
		}
		try(cost, model.Switch{Layer: model.LayerCore, Group: a, Index: c})
	}
}

// seen reports whether a core switch before c has the same rooms.
func (t *tree[T]) seen(c int) bool {
	k := t.d.K
	for before := range c {
		if slices.Equal(t.caps[before*k:(before+1)*k], t.caps[c*k:(c+1)*k]) {
			return true
		}
	}
	return false
}
