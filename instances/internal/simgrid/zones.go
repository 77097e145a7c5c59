// SPDX-License-Identifier: MIT

package simgrid

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/num/heap"
)

// point is what routes lead between: a host, a router or a zone.
type point struct {
	name     string
	zone     *zone // which holds it
	number   int   // in its zone, from 0
	inner    *zone // of a zone
	position []float64
	loop     []*Link // from it to itself
	laid     bool    // a route leads to it
}

// way is a part of a route: its links, the latency beside theirs, and, between zones, the hosts or routers at its ends.
type way struct {
	links    []*Link
	latencyS float64
	from, to *point
	free     bool // a part has no stated route, and counts as nothing
}

// spoke joins a point to the middle of its zone.
type spoke struct{ up, down []*Link }

// zone is a part of the platform with its own routing.
type zone struct {
	self    *point
	routing string
	members []*point
	zones   bool // its members are zones
	bypass  map[[2]*point]*way
	ways    map[[2]*point]*way // of Full, Floyd and Dijkstra
	spokes  map[*point]spoke   // of Cluster and Vivaldi
	// backbone, of Cluster, is in the middle; nil for none.
	backbone *Link
	// links returns the route between two hosts of a topology, by their numbers.
	links func(a, b int) []*Link
	// order and next are the points of Dijkstra in the order of its routes, and where each one's routes lead.
	order []*point
	next  map[*point][]*point
	// before holds, for members that a route began at, the number of the member before each one on the ways from there, -1
	// for none.
	before map[*point][]int32
}

// errNoWay says that SimGrid has no route.
var errNoWay = errors.New("there is no route")

// maxSteps bounds the parts of one route, maxFloyd the members of a zone with all its ways at once, in cubic time.
const (
	maxSteps = 10_000
	maxFloyd = 1_000
)

// walk collects a route.
type walk struct {
	way
	steps int
}

func (w *walk) add(x *way) {
	w.links = append(w.links, x.links...)
	w.latencyS += x.latencyS
	w.free = w.free || x.free
}

// lead adds the route between two hosts or routers: a bypass, the way within their zone, or that between the zones that
// hold them in the zone of both, with the ways to its gateways.
func (w *walk) lead(a, b *point) error {
	if w.steps++; w.steps > maxSteps {
		return fmt.Errorf("the route has more than %d parts", maxSteps)
	}
	from, to := a.zone.above(), b.zone.above()
	i, j := len(from)-1, len(to)-1
	for i > 0 && j > 0 && from[i] == to[j] && from[i-1] == to[j-1] {
		i, j = i-1, j-1
	}
	common := from[i]
	if x, ends := common.bypassed(a, b, from[:i], to[:j]); x != nil {
		return w.between(a, b, x, ends, true)
	}
	if i == 0 && j == 0 {
		x, err := common.local(a, b)
		if err == nil {
			w.add(x)
		}
		return err
	}
	if i == 0 || j == 0 { // a zone holds hosts or zones
		return errNoWay
	}
	ends := [2]*point{from[i-1].self, to[j-1].self}
	x, err := common.local(ends[0], ends[1])
	if err != nil {
		return err
	}
	return w.between(a, b, x, ends, false)
}

// between adds a way between two points that may hold the ends of the route, with the ways to its gateways. That of a
// bypass leads, in SimGrid, even from a gateway to itself.
func (w *walk) between(a, b *point, x *way, ends [2]*point, bypass bool) error {
	if ends[0] != a && (x.from == nil || x.to == nil) {
		return errNoWay
	}
	if ends[0] != a && (bypass || a != x.from) {
		if err := w.lead(a, x.from); err != nil {
			return err
		}
	}
	w.add(x)
	if ends[1] != b && (bypass || b != x.to) {
		return w.lead(x.to, b)
	}
	return nil
}

// above returns the zone and those that hold it.
func (z *zone) above() (all []*zone) {
	for ; z != nil; z = z.self.zone {
		all = append(all, z)
	}
	return all
}

// bypassed returns the bypass between two points or the zones that hold them, below z, the nearest first; nil if there
// is none.
func (z *zone) bypassed(a, b *point, from, to []*zone) (*way, [2]*point) {
	if len(z.bypass) == 0 {
		return nil, [2]*point{}
	}
	if a.zone == z && b.zone == z {
		return z.bypass[[2]*point{a, b}], [2]*point{a, b}
	}
	try := func(i, j int) (*way, [2]*point) {
		if i >= len(from) || j >= len(to) {
			return nil, [2]*point{}
		}
		ends := [2]*point{from[i].self, to[j].self}
		return z.bypass[ends], ends
	}
	for far := range max(len(from), len(to)) {
		for near := range far {
			for _, p := range [][2]int{{near, far}, {far, near}} {
				if x, ends := try(p[0], p[1]); x != nil {
					return x, ends
				}
			}
		}
		if x, ends := try(far, far); x != nil {
			return x, ends
		}
	}
	return nil, [2]*point{}
}

// loopback is the one that SimGrid has where a file states none.
var loopback = &Link{Name: "__loopback__", Rate: 1e10, Fat: true}

// local returns the way between two members.
func (z *zone) local(a, b *point) (*way, error) {
	switch {
	case a == b && a.loop != nil:
		return &way{links: a.loop}, nil
	case a == b && z.links == nil && z.spokes == nil:
		return &way{links: []*Link{loopback}}, nil
	case z.links != nil:
		return &way{links: z.links(a.number, b.number)}, nil
	case z.spokes != nil:
		return z.across(a, b)
	case z.routing == "full":
		if x := z.ways[[2]*point{a, b}]; x != nil {
			return x, nil
		}
		return &way{free: true}, nil // nothing, as SimGrid has it: other parts of a route still count
	case z.routing == "none":
		return nil, errNoWay
	}
	return z.shortest(a, b)
}

// across returns the way through the middle of a zone: a link that is on both sides counts once.
func (z *zone) across(a, b *point) (*way, error) {
	x, from, to := &way{}, z.spokes[a], z.spokes[b]
	middle := []*Link{z.backbone}
	if z.backbone == nil || len(from.up)+len(to.down) == 0 {
		middle = nil
	}
	for _, l := range slices.Concat(from.up, middle, to.down) {
		if !slices.Contains(x.links, l) {
			x.links = append(x.links, l)
		}
	}
	if z.routing == "vivaldi" {
		if len(a.position) < 3 || len(b.position) < 3 {
			return nil, fmt.Errorf("%s and %s need three coordinates, as the zone %s is Vivaldi's", a.name, b.name, z.self.name)
		}
		milli := math.Hypot(a.position[0]-b.position[0], a.position[1]-b.position[1]) + math.Abs(a.position[2]) + math.Abs(b.position[2])
		x.latencyS = milli / 1000
	}
	return x, nil
}

// shortest returns the way of the fewest links through the stated ones; of several, SimGrid's. Between zones it leads
// from gateway to gateway.
func (z *zone) shortest(a, b *point) (*way, error) {
	if z.before == nil {
		z.before = map[*point][]int32{}
		if z.routing == "floyd" {
			if len(z.members) > maxFloyd {
				return nil, fmt.Errorf("the zone %s has %d members, Floyd is read up to %d", z.self.name, len(z.members), maxFloyd)
			}
			z.floyd()
		}
	}
	if z.before[a] == nil {
		z.dijkstra(a)
	}
	var parts []*way
	for at := b; at != a; {
		k := z.before[a][at.number]
		if k < 0 {
			return nil, errNoWay
		}
		p := z.members[k]
		parts = append(parts, z.ways[[2]*point{p, at}])
		at = p
	}
	slices.Reverse(parts)
	w := walk{way: way{from: parts[0].from, to: parts[len(parts)-1].to}}
	for k, x := range parts {
		if k > 0 && x.from != parts[k-1].to {
			if err := w.lead(parts[k-1].to, x.from); err != nil {
				return nil, err
			}
		}
		w.add(x)
	}
	return &w.way, nil
}

// floyd finds the ways between all members. O(n³).
func (z *zone) floyd() {
	n := len(z.members)
	const far = math.MaxInt32
	cost, before := make([][]int32, n), make([][]int32, n)
	for a := range n {
		cost[a], before[a] = slices.Repeat([]int32{far}, n), slices.Repeat([]int32{-1}, n)
	}
	for p, x := range z.ways {
		a, b := p[0].number, p[1].number
		cost[a][b], before[a][b] = int32(len(x.links)), int32(a)
	}
	for c := range n {
		for a := range n {
			for b := range n {
				if x, y := cost[a][c], cost[c][b]; a != b && x < far && y < far && x+y < cost[a][b] {
					cost[a][b], before[a][b] = x+y, before[c][b]
				}
			}
		}
	}
	for a, p := range z.members {
		z.before[p] = before[a]
	}
}

// dijkstra finds the ways from one member. Of equal ones it takes the first by the order of the routes in the file.
// O(r log r) for r routes.
func (z *zone) dijkstra(a *point) {
	const far, keep = math.MaxInt, 10_000_000
	if n := len(z.members); len(z.before)*n > keep {
		clear(z.before)
	}
	cost, before := slices.Repeat([]int{far}, len(z.members)), slices.Repeat([]int32{-1}, len(z.members))
	z.before[a] = before
	rank := map[*point]int{}
	for k, p := range z.order {
		rank[p] = k
	}
	if _, ok := rank[a]; !ok {
		return
	}
	type item struct{ cost, rank int }
	h := heap.Heap[item]{Less: func(x, y item) bool {
		return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.rank, y.rank)) < 0
	}}
	cost[a.number] = 0
	h.Push(item{0, rank[a]})
	for h.Len() > 0 {
		x := h.Pop()
		p := z.order[x.rank]
		if x.cost > cost[p.number] {
			continue
		}
		for _, q := range z.next[p] {
			if c := x.cost + len(z.ways[[2]*point{p, q}].links); c < cost[q.number] {
				cost[q.number], before[q.number] = c, int32(p.number)
				h.Push(item{c, rank[q]})
			}
		}
	}
}
