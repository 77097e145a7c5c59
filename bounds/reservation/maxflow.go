package reservation

import "context"

// maxFlow is a network whose flow to one sink is grown source by source, by
// Dinic's algorithm (Dinic: Algorithm for solution of a problem of maximum flow
// in networks with power estimation, 1970) on arrays. What is pushed from a
// source is never taken back; later paths may reroute it.
//
// Searches start at the source and end at the first free way to the sink, so
// their cost is that of the source's surroundings. Once a search finds no way,
// what it reached is closed: no residual arc leaves it. No later path can pass
// through a closed set, so its arcs never change again, and later searches
// skip it. All failed searches together then cost O(arcs).
type maxFlow struct {
	sink  int32
	first []int32 // of the arcs that leave each node; one more than nodes
	to    []int32
	rev   []int32 // the arc back
	left  []int64 // residual capacity

	closed []bool
	mark   []int32 // the search that last reached the node
	level  []int32 // its distance from the source in that search
	at     []int32 // the next arc to try
	search int32
	queue  []int32 // what the last search reached
}

// flowArcs collects the arcs of a maxFlow.
type flowArcs struct {
	from, to []int32
	capacity []int64
}

// add appends an arc and returns its number among those added.
func (a *flowArcs) add(from, to int32, capacity int64) int {
	a.from, a.to, a.capacity = append(a.from, from), append(a.to, to), append(a.capacity, capacity)
	return len(a.from) - 1
}

// network builds the arrays. Arcs keep their order at each node. place tells
// where each added arc is in them.
func (a *flowArcs) network(nodes int, sink int32) (g *maxFlow, place []int32) {
	g = &maxFlow{
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

// push sends up to limit from a node to the sink, as much as there is room for,
// and returns how much. If that is less, full is true and the last search's
// reach is in g.queue, the closed sets that it touched aside; the caller may
// close it. When ctx ends, push returns early with full false.
func (g *maxFlow) push(ctx context.Context, from int32, limit int64) (sent int64, full bool) {
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

// reach labels nodes by their distance from a node until the sink is found.
func (g *maxFlow) reach(from int32) bool {
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

// send moves up to limit along one path of ascending distance from v to the
// sink.
func (g *maxFlow) send(v int32, limit int64) int64 {
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

// close takes what the last failed search reached out of all later ones. It
// calls touched with each closed node that a residual arc leads to, once or
// more often.
func (g *maxFlow) close(touched func(node int32)) {
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
