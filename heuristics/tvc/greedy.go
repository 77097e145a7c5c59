// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"context"
	"math"
	"math/bits"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// Greedy embeds VM by VM. Each goes to the server for which the largest utilisation of the links between it and the
// host is least afterwards, ties by index. This is the reading of the paper's "assign the VMs to the server in the DCN
// that leads to the minimum value of maximum link occupation" (section 5.3.1). A core switch hosts, the first by index
// for which all links have room in the end.
//
// While VMs are placed a link with m of them below it is loaded with min(m, n-m)·b
// (HosePerPath: with the sum over the servers below it), as if those that aren't
// placed were elsewhere. On the way it may be overloaded.
//
// The utilisation is the largest of three: of the server's, the edge switch's and the pod's link. So the least in a pod
// is the maximum of its link's and of the least over its edge switches, and so on. These are kept: a VM changes only
// one edge switch's and one pod's. O(S + n·k) for each core switch that is tried.
func Greedy(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, "greedy")
}

// greedy is the embedder of Greedy.
type greedy struct {
	subtrees
	host      model.Switch
	vms       []int            // on each server
	edgeVMs   []int            // below each edge switch; with HosePerPath the sum of the servers' loads
	podVMs    []int            // and in each pod
	leastEdge [][changes]ratio // by edge switch, of the servers' and its own link
	leastPod  []ratio          // by pod, of all three links
}

// changes is the number of ways in which a VM changes the load of the links above its server's: with HosePerPath by
// change-1 VMs. The load depends on those links alone with HoseCut, and all servers have change 0.
const changes = 3

func newGreedy() embedder { return new(greedy) }

// Embed implements embedder.
func (g *greedy) Embed(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) {
	return g.find(d, n, b, model.LayerCore, g.try)
}

// try places the VMs below the core switch.
func (g *greedy) try(host model.Switch) (model.Embedding, bool) {
	h := g.Half
	g.host = host
	g.vms, g.edgeVMs, g.podVMs = zeros(g.vms, len(g.Free)), zeros(g.edgeVMs, g.K*h), zeros(g.podVMs, g.K)
	g.leastEdge, g.leastPod = sized(g.leastEdge, g.K*h), sized(g.leastPod, g.K)
	for e := range g.leastEdge {
		g.updateEdge(e)
	}
	for p := range g.leastPod {
		g.updatePod(p)
	}
	for range g.n {
		s := g.next()
		add := 1
		if g.PerPath {
			add = g.change(s) - 1
		}
		g.vms[s]++
		g.edgeVMs[s/h] += add
		g.podVMs[s/(h*h)] += add
		g.updateEdge(s / h)
		g.updatePod(s / (h * h))
	}
	var e model.Embedding
	for s, vms := range g.vms {
		if vms > 0 {
			e.Servers = append(e.Servers, model.ServerVMs{Server: s, VMs: vms})
		}
	}
	e.Switch = g.Lowest(host, e.Servers)
	return e, g.Room(&e, g.n, g.b)
}

// next returns the server for the next VM: the first of the least utilisation.
func (g *greedy) next() int {
	h, p := g.Half, 0
	for q := range g.leastPod {
		if g.leastPod[q].compare(g.leastPod[p]) < 0 {
			p = q
		}
	}
	least := g.leastPod[p]
	e := p * h
	for g.inEdge(e).compare(least) != 0 {
		e++
	}
	s := e * h
	for s < (e+1)*h-1 && maxRatio(g.upTo(s), g.edgeAfter(e, g.change(s)), g.podAfter(p, g.change(s))).compare(least) != 0 {
		s++
	}
	return s
}

// inEdge returns the least utilisation of the three links of a server at edge
// switch e.
func (g *greedy) inEdge(e int) ratio {
	least := full
	for c, x := range g.leastEdge[e] {
		least = minRatio(least, maxRatio(x, g.podAfter(e/g.Half, c)))
	}
	return least
}

func (g *greedy) updateEdge(e int) {
	h, least := g.Half, [changes]ratio{full, full, full}
	for s := e * h; s < (e+1)*h; s++ {
		c := g.change(s)
		least[c] = minRatio(least[c], g.upTo(s))
	}
	for c := range least {
		least[c] = maxRatio(least[c], g.edgeAfter(e, c))
	}
	g.leastEdge[e] = least
}

func (g *greedy) updatePod(p int) {
	least := full
	for e := p * g.Half; e < (p+1)*g.Half; e++ {
		least = minRatio(least, g.inEdge(e))
	}
	g.leastPod[p] = least
}

func (g *greedy) hose(m int) int { return min(m, g.n-m) }

// change returns how a VM on server s changes the load of the links above.
func (g *greedy) change(s int) int {
	if !g.PerPath || g.vms[s] == g.n {
		return 0
	}
	return g.hose(g.vms[s]+1) - g.hose(g.vms[s]) + 1
}

// upTo returns the utilisation of the link of server s after a VM more, full if it
// has no slot for it.
func (g *greedy) upTo(s int) ratio {
	if g.vms[s] >= min(int(g.Free[s]), g.n) {
		return full
	}
	return g.after(g.Server[s], g.ServerRate, g.hose(g.vms[s]+1))
}

// edgeAfter returns the utilisation of the link above edge switch e after a VM
// with the change.
func (g *greedy) edgeAfter(e, change int) ratio {
	if g.NonBlocking {
		return ratio{0, 1}
	}
	return g.after(g.Edge[e*g.Half+g.host.Group], g.EdgeRate, g.aboveAfter(g.edgeVMs[e], change))
}

// podAfter is edgeAfter for the link above pod p.
func (g *greedy) podAfter(p, change int) ratio {
	if g.NonBlocking {
		return ratio{0, 1}
	}
	return g.after(g.Aggregation[(p*g.Half+g.host.Group)*g.Half+g.host.Index], g.AggregationRate, g.aboveAfter(g.podVMs[p], change))
}

func (g *greedy) aboveAfter(vms, change int) int {
	if g.PerPath {
		return vms + change - 1
	}
	return g.hose(vms + 1)
}

// after returns the utilisation of a link with left of its rate left under the bandwidth of vms VMs more; almost full
// if that is 2^63 or more.
func (g *greedy) after(left, rate int64, vms int) ratio {
	used := rate - left
	if int64(max(vms, 0)) > (math.MaxInt64-1-used)/g.b {
		return ratio{math.MaxInt64 - 1, rate}
	}
	return ratio{used + int64(max(vms, 0))*g.b, rate}
}

// ratio is num/den, num ≥ 0 and den > 0.
type ratio struct{ num, den int64 }

// full is more than the utilisation of any link.
var full = ratio{math.MaxInt64, 1}

func (x ratio) compare(y ratio) int {
	if x.den == y.den {
		return cmp.Compare(x.num, y.num)
	}
	high1, low1 := bits.Mul64(uint64(x.num), uint64(y.den))
	high2, low2 := bits.Mul64(uint64(y.num), uint64(x.den))
	return cmp.Or(cmp.Compare(high1, high2), cmp.Compare(low1, low2))
}

func maxRatio(x ratio, others ...ratio) ratio {
	for _, y := range others {
		if x.compare(y) < 0 {
			x = y
		}
	}
	return x
}

func minRatio(x, y ratio) ratio {
	if y.compare(x) < 0 {
		return y
	}
	return x
}
