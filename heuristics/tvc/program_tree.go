// SPDX-License-Identifier: MIT

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
	*program
	make  tables[T]
	edges []memo[T] // by edge switch
	pods  []memo[T] // by pod and aggregation switch: [q·(h+1)+1+a], [q·(h+1)] for widest
	// The rooms of edge switches' links are at [e·(h+1)+1+a], [e·(h+1)] for the widest; roomsKnown says whether a pod's
	// are known.
	rooms      []int
	roomsKnown []bool
}

type memo[T any] struct {
	known bool
	table T
}

// widest takes the place of an aggregation switch. The widest aggregation switch
// of a pod doesn't exist: its link to each edge switch has the most room of all
// links of that edge switch. It costs no more than any other, so it is a bound.
const widest = -1

// reset takes the program's problem.
func (t *tree[T]) reset(p *program, m tables[T], w weights) {
	k, h := p.d.K, p.d.Half
	t.program, t.make, t.edges, t.pods = p, m, zeros(t.edges, k*h), zeros(t.pods, k*(h+1))
	m.reset(&p.problem, w)
	t.rooms, t.roomsKnown = sized(t.rooms, k*h*(h+1)), zeros(t.roomsKnown, k)
}

// room returns the useful room of the link from edge switch e of pod q to
// aggregation switch a.
func (t *tree[T]) room(q, e, a int) int {
	h := t.d.Half
	if !t.roomsKnown[q] {
		t.roomsKnown[q] = true
		for e := q * h; e < (q+1)*h; e++ {
			rooms := t.rooms[e*(h+1) : (e+1)*(h+1)]
			clear(rooms)
			for a := 0; a < h && t.d.EdgeFree[e] > 0; a++ {
				rooms[1+a] = t.useful(t.problem.room(t.d.Edge[e*h+a], t.d.EdgeRate))
				rooms[0] = max(rooms[0], rooms[1+a])
			}
		}
	}
	return t.rooms[e*(h+1)+1+a]
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
	return t.make.link(t.edge(e), t.room(e/t.d.Half, e, a))
}

// pod returns the table of aggregation switch a of pod q, without a link above.
func (t *tree[T]) pod(q, a int) T {
	h := t.d.Half
	x := &t.pods[q*(h+1)+1+a]
	if !x.known {
		x.known = true
		if same := t.sameRooms(q, a); same < a {
			x.table = t.pod(q, same)
			return x.table
		}
		x.table = t.make.none()
		for e := q * h; e < (q+1)*h; e++ {
			if t.d.EdgeFree[e] > 0 {
				x.table = t.make.join(x.table, t.edgeLink(e, a), 0)
			}
		}
	}
	return x.table
}

// sameRooms returns the first aggregation switch of pod q, or widest, with the same rooms of the links below as switch
// a: their tables are equal.
func (t *tree[T]) sameRooms(q, a int) int {
	h := t.d.Half
	for same := widest; same < a; same++ {
		equal := true
		for e := q * h; e < (q+1)*h && equal && !t.d.NonBlocking; e++ {
			equal = t.room(q, e, same) == t.room(q, e, a)
		}
		if equal {
			return same
		}
	}
	return a
}

// core returns the cost of all n VMs below a core switch of group a, with the given rooms of its links from the pods.
func (t *tree[T]) core(a int, rooms []int) int64 {
	x, rest := t.make.none(), t.d.AllFree
	for q, free := range t.d.PodFree {
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
// A switch is left out if its lower bound isn't below the best cost known. At most f < n of the n VMs fit on one
// server, so the servers' links carry at least min(n, 2(n-f)) of them. If a server has m ≥ n/2 VMs its link carries n-m
// ≥ n-f, and so do the others together; else all n VMs are carried. The same holds for the links above edge switches if
// the VMs are below two of them or more, and above pods. If they aren't, a lower switch could host the virtual switch
// at no more cost, and is looked at before. HosePerPath never loads a link less than HoseCut. At least (n - the free
// slots of servers with VMs)/L servers are opened, rounded up.
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
	for e, free := range t.d.EdgeFree {
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
	for q, free := range t.d.PodFree {
		edges := t.d.EdgeFree[q*h : (q+1)*h]
		bound := least + w.reserved*carried(slices.Max(t.edgeMost[q*h:(q+1)*h])) + above*carried(slices.Max(edges))
		if free < t.n || bound >= best {
			continue
		}
		bound = t.make.all(t.pod(q, widest))
		for a := 0; a < routes && bound < best; a++ {
			try(t.make.all(t.pod(q, a)), model.Switch{Layer: model.LayerAggregation, Group: q, Index: a})
		}
	}
	bound := least + w.reserved*carried(most) + above*(carried(slices.Max(t.d.EdgeFree))+carried(slices.Max(t.d.PodFree)))
	if bound < best {
		t.cores(routes, &best, try)
	}
	return best, at, ok
}

// cores tries the core switches. A switch with the widest links of all groups from the pods, and below, would cost no
// more than any. One with the widest of its group would cost no more than any of this group. They are looked at first,
// as bounds. Switches of a group with equal rooms have equal costs.
func (t *tree[T]) cores(routes int, best *int64, try func(int64, model.Switch)) {
	k := t.d.K
	t.podRooms, t.widestRooms = zeros(t.podRooms, routes*routes*k), zeros(t.widestRooms, (routes+1)*k)
	rooms := func(a, c int) []int { return t.podRooms[(a*routes+c)*k:][:k] }
	group := func(a int) []int { return t.widestRooms[(1+a)*k:][:k] } // of widest, too
	for q := range k {
		for a := 0; a < routes && t.d.PodFree[q] > 0 && !t.d.NonBlocking; a++ {
			for c := range routes {
				room := t.useful(t.podRoom(q, a, c))
				rooms(a, c)[q] = room
				group(a)[q] = max(group(a)[q], room)
			}
			group(widest)[q] = max(group(widest)[q], group(a)[q])
		}
	}
	if t.d.AllFree < t.n || t.core(widest, group(widest)) >= *best {
		return
	}
	for a := range routes {
		bound := t.core(a, group(a))
		for c := 0; c < routes && bound < *best; c++ {
			cost, seen := bound, false
			for before := 0; before < c && !seen; before++ {
				seen = slices.Equal(rooms(a, before), rooms(a, c))
			}
			if seen {
				continue
			}
			if !slices.Equal(rooms(a, c), group(a)) {
				cost = t.core(a, rooms(a, c))
			}
			try(cost, model.Switch{Layer: model.LayerCore, Group: a, Index: c})
		}
	}
}
