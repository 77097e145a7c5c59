// SPDX-License-Identifier: MIT

package tvc

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/internal/problem/tvc/tvcrelax"
	"github.com/gapwise/gapwise/model"
)

// placement is a set of requests, by ascending number, with a split at the root.
type placement struct {
	requests []int32
	*held
}

// only returns the placement of the requests that are kept.
func (a placement) only(keep func(request int32) bool) placement {
	b := placement{held: &held{}}
	for i, r := range a.requests {
		if keep(r) {
			b.requests = append(b.requests, r)
			b.routes, b.parts = append(b.routes, a.routes[i]), append(b.parts, a.parts[i])
		}
	}
	return b
}

// A search for a placement alternates between searches with the parts in random orders, restarted after some nodes, and
// one that runs with the largest parts first. Each time they have more nodes, until one of them has an answer (Gomes,
// Selman, Kautz: Boosting combinatorial search through randomization, 1998). A first choice that is wrong at the root
// is found out late otherwise.
const (
	restarts     = 16
	restartNodes = 1000
	wholeNodes   = 10_000
)

// extend returns a placement of the requests that leaves the ones in before, which holds some of them, where they are
// at the root; false if there is none.
func (p *packer) extend(requests []int32, before placement) (placement, bool) {
	all := p.rootItems(requests)
	added := slices.DeleteFunc(slices.Clone(all), func(x item) bool { return slices.Contains(before.requests, x.request) })
	h := p.split(p.tree.Root(), all, before.held, added)
	return placement{requests, h}, h != nil
}

// place returns a placement of the requests, false if there is none or the packer
// has stopped.
func (p *packer) place(requests []int32) (placement, bool) {
	all := p.rootItems(requests)
	limit, seed := p.limit, uint64(0)
	// attempt runs one search and reports whether it says anything.
	attempt := func(nodes int64) (h *held, decided bool) {
		p.limit = min(limit, p.nodes+nodes)
		h = p.split(p.tree.Root(), all, nil, all)
		p.limit = limit
		if decided = h != nil || !p.stopped; !decided {
			p.stopped = p.nodes > limit || p.ctx.Err() != nil
		}
		return h, decided
	}
	whole := int64(wholeNodes)
	if p.off&devRestarts != 0 {
		whole = math.MaxInt64 / 2
	}
	for size := int64(restartNodes); !p.stopped; size, whole = 2*size, 4*whole {
		for range restarts {
			if p.off&devRestarts != 0 || p.stopped {
				break
			}
			seed++
			p.random = rand.New(rand.NewPCG(seed, 0))
			h, decided := attempt(size)
			p.random = nil
			if decided {
				return placement{requests, h}, h != nil
			}
		}
		if h, decided := attempt(whole); decided {
			return placement{requests, h}, h != nil
		}
	}
	return placement{}, false
}

// embeddings returns the embedding of each request of a placement.
func (p *packer) embeddings(a placement) map[int32]*model.Embedding {
	all, lanes := map[int32]*model.Embedding{}, map[int32]int{}
	for _, r := range a.requests {
		all[r] = &model.Embedding{}
	}
	ctx := p.ctx
	p.ctx, p.limit, p.stopped = context.Background(), math.MaxInt64, false
	defer func() { p.ctx = ctx }()
	p.descend(p.tree.Root(), 0, p.rootItems(a.requests), a.held, lanes, all)
	for r, e := range all {
		e.Switch = tvcbounds.LowestSwitch(e.Servers, p.half, lanes[r])
	}
	return all
}

// descend adds to the embeddings the VMs below one node, the one of its level with the number node, and notes the lane
// of each divided request. With the lowest switch above all VMs on that lane the request has the loads of the split.
func (p *packer) descend(level, node int, items []item, h *held, lanes map[int32]int, all map[int32]*model.Embedding) {
	for i, x := range items {
		children := 0
		for _, part := range h.parts[i] {
			if part.VMs > 0 {
				children++
			}
		}
		if children > 1 && level >= 2 && x.part.VMs == p.requests[x.request].vms {
			lanes[x.request] = int(h.routes[i]) * p.tree.Lanes[p.tree.Root()-1] / p.tree.Lanes[level-1]
		}
	}
	for c := range p.tree.Fan[level] {
		child := node*p.tree.Fan[level] + c
		var content []item
		for i, x := range items {
			part := h.parts[i][c]
			switch {
			case part.VMs == 0:
			case level == 1:
				e := all[x.request]
				e.Servers = append(e.Servers, model.ServerVMs{Server: child, VMs: int(part.VMs)})
			default:
				content = append(content, p.below(level, x, part, h.routes[i]))
			}
		}
		if content != nil {
			p.descend(level-1, child, content, p.hold(level-1, content), lanes, all)
		}
	}
}

// understand returns the placement that has the same split at the root as the
// embeddings, false if the packer finds none below it.
func (p *packer) understand(requests []int32, embedding map[int32]*model.Embedding) (placement, bool) {
	root := p.tree.Root()
	below := p.tree.Servers(root - 1)
	h := &held{}
	for _, x := range p.rootItems(requests) {
		e, n := embedding[x.request], p.requests[x.request].vms
		parts, children := make([]tvcrelax.Part, p.tree.Fan[root]), 0
		for _, s := range e.Servers {
			if s.Server < 0 || s.Server >= below*len(parts) {
				return placement{}, false
			}
			part := &parts[s.Server/below]
			if part.VMs == 0 {
				children++
			}
			part.VMs += int32(s.VMs)
			part.Load += min(int32(s.VMs), n-int32(s.VMs))
		}
		for c := range parts {
			if m := parts[c].VMs; m == n {
				parts[c].Load = 0
			} else if !p.perPath {
				parts[c].Load = min(m, n-m)
			}
		}
		if children > 1 && root > 1 {
			x.route = int32(e.Switch.Group*p.half + e.Switch.Index)
			if e.Switch.Layer != model.LayerCore || int(x.route) >= p.tree.Lanes[root-1] {
				return placement{}, false
			}
		}
		h.parts, h.routes = append(h.parts, parts), append(h.routes, x.route)
	}
	a := placement{requests, h}
	if root > 1 {
		for _, content := range p.contents(a) {
			if len(content) > 0 && p.hold(root-1, content) == nil {
				return placement{}, false
			}
		}
	}
	return a, true
}

// contents returns the content of each child of the root in a placement.
func (p *packer) contents(a placement) [][]item {
	root := p.tree.Root()
	all := make([][]item, p.tree.Fan[root])
	for i, x := range p.rootItems(a.requests) {
		for c, part := range a.parts[i] {
			if part.VMs > 0 {
				all[c] = append(all[c], p.below(root, x, part, a.routes[i]))
			}
		}
	}
	return all
}
