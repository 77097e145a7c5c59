// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
)

// packer decides whether a set of requests can be embedded together, each in one
// embedding from its arrival to its end.
//
// It works from the root of the tree down. First it splits the VMs of every request among the pods, then the VMs of
// every pod among its edge switches, and the VMs of every edge switch among its servers. A node's capacity for items
// depends on its items alone (which request, how many VMs, which load on the links up), not on the other nodes. So each
// collection of items is decided once and noted (devMemo), for all nodes of a level, which are alike, and for all sets.
type packer struct {
	tree     *tvcrelax.Tree
	perPath  bool
	half     int       // half the number of pods
	requests []request // hardest first, which is the order of items everywhere
	instants int
	off      deviceSet
	memo     []map[string]*held // by level, nil: it doesn't fit
	key      []byte

	ctx     context.Context
	nodes   int64 // items that were split
	limit   int64 // of nodes; beyond it the packer gives up
	stopped bool
	random  *rand.Rand // of the order of parts; nil: the largest first
}

// request is a request of one component.
type request struct {
	index     int // in the instance
	vms       int32
	bandwidth int64
	span      tvcrelax.Span     // the first and last instant of at
	at        []int             // the instants at which it runs
	parts     [][]tvcrelax.Part // by level
}

// item is the part of a request at one node. Its route is the lane that the request uses on the links of the node's
// children, -1 if it is open: then all VMs are below the node.
type item struct {
	request int32
	part    tvcrelax.Part
	route   int32
}

// held is how a node holds its items: a lane for each, and a part at each child.
type held struct {
	routes []int32
	parts  [][]tvcrelax.Part // by item and child
}

// newPacker returns a packer for requests of t, in order of arrival, and the number that the packer uses for each of
// them.
func newPacker(ctx context.Context, t *view.TVC, requests []int, off deviceSet) (p *packer, rank []int32) {
	p = &packer{tree: tvcrelax.NewTree(t), perPath: t.PerPath, half: t.Half, off: off, ctx: ctx, limit: math.MaxInt64}
	spans, instants := tvcrelax.Instants(t, requests)
	p.instants = instants
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &t.Requests[requests[a]], &t.Requests[requests[b]]
		return cmp.Or(cmp.Compare(y.VMs, x.VMs), cmp.Compare(y.Bandwidth, x.Bandwidth))
	})
	rank = make([]int32, len(requests))
	for r, i := range order {
		q := &t.Requests[requests[i]]
		rank[i] = int32(r)
		p.requests = append(p.requests, request{index: requests[i], vms: int32(q.VMs), bandwidth: q.Bandwidth, span: spans[i],
			parts: p.tree.Parts(q.VMs, q.Bandwidth, t.PerPath)})
		for at := spans[i].From; at <= spans[i].To; at++ {
			p.requests[r].at = append(p.requests[r].at, at)
		}
	}
	for range p.tree.Root() {
		p.memo = append(p.memo, map[string]*held{})
	}
	return p, rank
}

// rootItems returns the items of the root: whole requests, by ascending number.
func (p *packer) rootItems(requests []int32) []item {
	items := make([]item, len(requests))
	for i, r := range requests {
		items[i] = item{request: r, part: tvcrelax.Part{VMs: p.requests[r].vms}, route: p.open(p.tree.Root())}
	}
	return items
}

// open returns the route of an item with all of its VMs below a node of the level.
func (p *packer) open(level int) int32 {
	if level > 0 && p.tree.Lanes[level-1] > 1 {
		return -1
	}
	return 0
}

// below returns the item that a child of a node of the level gets: its part, and
// the lane that the route fixes on the links one level further down.
func (p *packer) below(level int, x item, part tvcrelax.Part, route int32) item {
	if part.VMs == p.requests[x.request].vms {
		return item{x.request, part, p.open(level - 1)}
	}
	if level >= 2 {
		return item{x.request, part, route * int32(p.tree.Lanes[level-2]) / int32(p.tree.Lanes[level-1])}
	}
	return item{x.request, part, 0}
}

// hold returns how a node of a level can hold the items, nil if it can't or the packer has stopped. Lanes are renamed
// in the order of their first use before the collection is looked up. The children of a node are joined to each of its
// switches alike, so any renaming of the lanes is an automorphism of the node.
func (p *packer) hold(level int, items []item) *held {
	lanes := p.tree.Lanes[level-1]
	var names [64]int32 // by lane, plus 1
	used := int32(0)
	own := make([]item, len(items))
	key := p.key[:0]
	for i, x := range items {
		if x.route >= 0 && lanes > 1 {
			if names[x.route] == 0 {
				used++
				names[x.route] = used
			}
			x.route = names[x.route] - 1
		}
		own[i] = x
		key = binary.AppendUvarint(key, uint64(x.request))
		key = binary.AppendUvarint(key, uint64(x.part.VMs))
		key = binary.AppendUvarint(key, uint64(x.part.Load))
		key = append(key, byte(x.route+1))
	}
	p.key = key
	h, ok := p.memo[level][string(key)]
	if !ok || p.off&devMemo != 0 {
		name := string(key)
		h = p.split(level, own, nil, own)
		if p.stopped {
			return nil
		}
		p.memo[level][name] = h
	}
	if h == nil || lanes == 1 {
		return h
	}
	// The lanes get their own names back; new ones take free names.
	var lane [64]int32
	free := int32(0)
	for name := range int32(lanes) {
		if name < used {
			continue
		}
		for names[free] != 0 {
			free++
		}
		lane[name] = free
		free++
	}
	for l, name := range names {
		if name > 0 {
			lane[name-1] = int32(l)
		}
	}
	back := &held{parts: h.parts, routes: make([]int32, len(h.routes))}
	for i, r := range h.routes {
		back.routes[i] = r
		if r >= 0 {
			back.routes[i] = lane[r]
		}
	}
	return back
}
