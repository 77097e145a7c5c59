// SPDX-License-Identifier: MIT

// Package flow computes maximum flows.
package flow

import "context"

// Network is a network with a flow to one sink that grows source by source, by Dinic's algorithm (Dinic: Algorithm for
// solution of a problem of maximum flow in networks with power estimation, 1970) on arrays. The amount that a source
// has pushed is never taken back; later augmenting paths may reroute it.
//
// Searches start at the source and end at the first free way to the sink, so they cost no more than the source's
// surroundings. Once a search fails, the nodes reached can be closed: no residual arc leaves that set, so no later path
// passes through it, its arcs never change again, and later searches skip it. All failed searches together then cost
// O(arcs).
type Network struct {
	sink  int32
	first []int32 // arcs first[v] to first[v+1]-1 leave node v
	to    []int32 // by arc
	rev   []int32 // the arc back, by arc
	left  []int64 // residual capacity, by arc

	closed []bool  // by node, as all that follow
	mark   []int32 // the search that last reached the node
	level  []int32 // its distance from the source in that search
	at     []int32 // the next arc to try
	search int32
	queue  []int32 // nodes that the last search reached
}

// Arcs collects the arcs of a Network.
type Arcs struct {
	from, to []int32
	capacity []int64
}

// NewArcs returns no arcs, with room for n.
func NewArcs(n int) *Arcs {
	return &Arcs{make([]int32, 0, n), make([]int32, 0, n), make([]int64, 0, n)}
}

// Add appends an arc and returns its number among those added.
func (a *Arcs) Add(from, to int32, capacity int64) int {
	a.from, a.to, a.capacity = append(a.from, from), append(a.to, to), append(a.capacity, capacity)
	return len(a.from) - 1
}

// Network returns the network of the nodes 0 to nodes-1 and the arcs. Arcs keep
// their order at each node.
func (a *Arcs) Network(nodes int, sink int32) *Network {
	g, _ := a.network(nodes, sink)
	return g
}

// network also returns the place of each added arc in g's arrays.
func (a *Arcs) network(nodes int, sink int32) (g *Network, place []int32) {
	g = &Network{
		sink: sink, first: make([]int32, nodes+1), to: make([]int32, 2*len(a.to)), rev: make([]int32, 2*len(a.to)), left: make([]int64, 2*len(a.to)),
		closed: make([]bool, nodes), mark: make([]int32, nodes), level: make([]int32, nodes), at: make([]int32, nodes),
	}
	for k, v := range a.from {
		g.first[v+1]++
		g.first[a.to[k]+1]++
	}
	for v := range nodes {
		g.first[v+1] += g.first[v]
	}
	next := g.at // as scratch
	copy(next, g.first)
	place = make([]int32, len(a.from))
	for k, v := range a.from {
		w := a.to[k]
		i, j := next[v], next[w]
		if v == w {
			j++
		}
		next[v]++
		next[w]++
		g.to[i], g.rev[i], g.left[i] = w, j, a.capacity[k]
		g.to[j], g.rev[j] = v, i
		place[k] = i
	}
	return g, place
}

// Push sends up to limit from a node to the sink, as much as there is room for, and returns how much. If that is less
// than the limit, full is true, and the caller may Close the nodes that the last search reached. When ctx ends, Push
// returns early, with full false.
func (g *Network) Push(ctx context.Context, from int32, limit int64) (sent int64, full bool) {
	for sent < limit && ctx.Err() == nil {
		if !g.reach(from) {
			return sent, true
		}
		for sent < limit {
			d := g.send(from, limit-sent)
			if d == 0 {
				break
			}
			sent += d
		}
	}
	return sent, false
}

// Reached returns the nodes that the last search reached, without those closed
// before. They are g's until the next Push.
func (g *Network) Reached() []int32 { return g.queue }

// reach labels nodes with their distance from a node until it finds the sink.
func (g *Network) reach(from int32) bool {
	g.search++
	g.mark[from], g.level[from], g.at[from] = g.search, 0, g.first[from]
	g.queue = append(g.queue[:0], from)
	for head := 0; head < len(g.queue); head++ {
		v := g.queue[head]
		for e := g.first[v]; e < g.first[v+1]; e++ {
			w := g.to[e]
			if g.left[e] == 0 || g.mark[w] == g.search || g.closed[w] {
				continue
			}
			g.mark[w], g.level[w], g.at[w] = g.search, g.level[v]+1, g.first[w]
			if w == g.sink {
				return true
			}
			g.queue = append(g.queue, w)
		}
	}
	return false
}

// send moves up to limit along one path from v to the sink on which the distance
// rises with each arc, and returns how much it moved.
func (g *Network) send(v int32, limit int64) int64 {
	if v == g.sink {
		return limit
	}
	for ; g.at[v] < g.first[v+1]; g.at[v]++ {
		e := g.at[v]
		w := g.to[e]
		if g.left[e] == 0 || g.mark[w] != g.search || g.level[w] != g.level[v]+1 || (w != g.sink && g.level[w] == g.level[g.sink]) {
			continue
		}
		if d := g.send(w, min(limit, g.left[e])); d > 0 {
			g.left[e] -= d
			g.left[g.rev[e]] += d
			return d
		}
	}
	return 0
}

// Close takes the nodes that the last failed search reached out of all later ones. It calls touched with each node
// closed before that a residual arc leads to, once or more often.
func (g *Network) Close(touched func(node int32)) {
	for _, v := range g.queue {
		for e := g.first[v]; e < g.first[v+1]; e++ {
			if g.left[e] > 0 && g.closed[g.to[e]] {
				touched(g.to[e])
			}
		}
	}
	for _, v := range g.queue {
		g.closed[v] = true
	}
}
