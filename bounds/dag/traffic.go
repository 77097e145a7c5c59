// SPDX-License-Identifier: MIT

package dag

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// traffic is a dual solution of the linear relaxation that puts tasks on machines so that no machine and no link works long.
//
// Let a schedule end at C. Each machine a works for C at most. So does each link l, which data keep busy for as long as they
// take at its capacity. Take weights L_a, w_l ≥ 0 of these, and for each edge e and machine a a price p_ea of any sign with
//
//	-d_e o_a ≤ p_ea ≤ d_e i_a
//
// where d_e are the data that links carry for the edge (view.Graph.Load). A unit of data that leaves machine a weighs
// o_a on the link that all routes out of it use, and a unit that comes to a weighs i_a on the link that all routes into it use (w over the capacity, half
// of it if it is both for some machines; 0 without such a link). By weight, C takes Σ L + Σ w. The tasks take Σ L cost
// of it. The data of an edge from a to another machine b take d (o_a + i_b) ≥ p_eb - p_ea at least; those that stay 0 =
// p_ea - p_ea. So for each edge that is at least the price on its target machine less the price on its source machine,
// and by tasks
//
//	C (Σ L + Σ w) ≥ Σ_t min_a (L_a cost_ta + Σ p_ea of edges into t - Σ p_ea of edges out of t).
//
// That is the dual of the relaxation of Kleinberg and Tardos (2002) for labels, here machines, of equal distances.
type traffic struct {
	g       *view.Graph
	busy    []float64 // what tasks take of the machines' time, see view.Graph.Busy
	in, out []int32   // links of the machines, -1 without one
	load    []float64 // by machine; as much for all of them as a machine has time
	both    []bool    // by link: data may come to one machine over it and leave another one

	weights []float64 // L of the machines, w of the links
	prices  []float64 // of [edge * machines + machine]
	costs   []float64 // at [task * machines + machine]: the costs to take the least of

	i, o       []float64
	share, row []float64 // by machine
}

const (
	trafficWeights = 1 << 20 // together, about; they are whole
	trafficTries   = 9       // shares of the links in the weights
	trafficSweeps  = 4       // of each try, over all edges there and back
	trafficLast    = 16      // of the best one
)

// trafficBound returns the bound, for what tasks take of the machines' time, and its dual solution; NaN without links, if a machine takes no time, for more prices than
// evidence holds, or if ctx ends. Machines are weighted as given, links by their capacities.
//
// The share of the links in all weights is sought by golden section: the optimum is concave in it. For each share the
// prices are improved by sequential reweighted message passing (Kolmogorov 2006) in the order of the tasks and back:
// each task in turn passes its costs, in equal parts, on to its edges. A few sweeps suffice: the sums hardly grow after
// ten. O(E M) for a sweep.
func trafficBound(ctx context.Context, g *view.Graph, busy, machines []float64) (value float64, x *traffic) {
	m := g.Machines
	x = &traffic{g: g, busy: busy, load: machines, both: make([]bool, len(g.Links))}
	if x.in, x.out = machineLinks(g); x.in == nil || machines == nil || len(g.Data)*m > evidence.MostPrices {
		return math.NaN(), nil
	}
	for a, l := range x.in {
		for b, k := range x.out {
			if a != b && l == k && l >= 0 {
				x.both[l] = true
			}
		}
	}
	x.weights, x.prices, x.costs = make([]float64, m+len(g.Links)), make([]float64, len(g.Data)*m), make([]float64, g.Tasks*m)
	x.share, x.row = make([]float64, m), make([]float64, m)
	at := 0.0 // the share that the prices are of
	try := func(share float64, sweeps int) float64 {
		x.weigh(share)
		for k := range x.prices {
			x.prices[k] *= share / max(at, 1e-9)
		}
		at = share
		x.settle()
		for range sweeps {
			if meter.Stop(ctx, int64(len(x.prices)>>6)) {
				return math.NaN()
			}
			x.sweep(true)
			x.sweep(false)
		}
		return x.sum() / x.total()
	}
	golden := (math.Sqrt(5) - 1) / 2
	low, high := 0.0, 1.0
	a, b := high-golden, low+golden
	va, vb := try(a, trafficSweeps), try(b, trafficSweeps)
	for range trafficTries - 2 {
		if va >= vb {
			high, b, vb = b, a, va
			a = high - golden*(high-low)
			va = try(a, trafficSweeps)
		} else {
			low, a, va = a, b, vb
			b = low + golden*(high-low)
			vb = try(b, trafficSweeps)
		}
	}
	if vb > va {
		a = b
	}
	if try(a, trafficLast); ctx.Err() != nil {
		return math.NaN(), nil
	}
	return x.round(), x
}

// weigh sets the weights for a share of the links.
func (x *traffic) weigh(share float64) {
	g, m := x.g, x.g.Machines
	all, capacity := 0.0, 0.0
	used := make([]bool, len(g.Links))
	for a := range m {
		all += x.load[a]
		for _, l := range []int32{x.in[a], x.out[a]} {
			if l >= 0 && !used[l] {
				used[l] = true
				capacity += g.Links[l]
			}
		}
	}
	for a := range m {
		x.weights[a] = math.Round(trafficWeights * (1 - share) * x.load[a] / all)
	}
	for l, c := range g.Links {
		if used[l] {
			x.weights[m+l] = math.Round(trafficWeights * share * c / capacity)
		}
	}
	per := func(links []int32) []float64 {
		rates := shared(g, links)
		for a, l := range links {
			if l >= 0 {
				if rates[a] = x.weights[m+int(l)] / rates[a]; x.both[l] {
					rates[a] /= 2
				}
			}
		}
		return rates
	}
	x.i, x.o = per(x.in), per(x.out)
}

func (x *traffic) total() (sum float64) {
	for _, w := range x.weights {
		sum += w
	}
	return sum
}

// settle computes the costs for the weights and prices.
func (x *traffic) settle() {
	g, m := x.g, x.g.Machines
	for k, c := range x.busy {
		if x.costs[k] = c; !math.IsInf(c, 1) {
			x.costs[k] *= x.weights[k%m]
		}
	}
	for e := range g.Data {
		into, outOf := x.costsOf(g.To[e]), x.costsOf(g.From[e])
		for a, p := range x.prices[e*m:][:m] {
			into[a] += p
			outOf[a] -= p
		}
	}
}

// costsOf returns the costs of a task by machine.
func (x *traffic) costsOf(t int32) []float64 { m := x.g.Machines; return x.costs[int(t)*m:][:m] }

// sum returns the least costs of all tasks.
func (x *traffic) sum() (sum float64) {
	for t := range int32(x.g.Tasks) {
		sum += slices.Min(x.costsOf(t))
	}
	return sum
}

// sweep passes costs on along the edges, if forward, or against them.
func (x *traffic) sweep(forward bool) {
	g := x.g
	for i := range g.Order {
		t := g.Order[i]
		edges, back, ends := g.Succ(t), g.Pred(t), g.To
		if !forward {
			t = g.Order[len(g.Order)-1-i]
			edges, back, ends = g.Pred(t), g.Succ(t), g.From
		}
		own, part := x.costsOf(t), 1/float64(max(len(edges), len(back), 1))
		for a := range own {
			x.share[a] = part * own[a]
		}
		for _, e := range edges {
			x.pass(e, forward, own, x.costsOf(ends[e]))
		}
	}
}

// pass sets the prices of an edge to the worth, at its other end, of a share of the costs at this end, less the part
// that came from the other end. The worth is as much on the same machine, or on any other plus the weighted time of the
// data.
func (x *traffic) pass(e int32, forward bool, own, other []float64) {
	m, d := x.g.Machines, x.g.Load[e]
	prices := x.prices[int(e)*m:][:m]
	here, there, sign := x.o, x.i, 1.0
	if !forward {
		here, there, sign = x.i, x.o, -1
	}
	least, most := math.Inf(1), math.Inf(-1)
	for a, p := range prices {
		x.row[a] = x.share[a] + sign*p
		least = min(least, x.row[a]+here[a]*d)
	}
	for a := range prices {
		x.row[a] = min(x.row[a], least+there[a]*d)
		most = max(most, x.row[a]-there[a]*d)
	}
	for a, p := range prices {
		to := sign * (x.row[a] - most) // between what the data are worth there and here
		prices[a] = to
		own[a] -= sign * (to - p)
		other[a] += sign * (to - p)
	}
}

// round makes prices short and keeps them within their limits whatever was rounded. It returns the bound less its
// rounding.
func (x *traffic) round() float64 {
	g, m := x.g, x.g.Machines
	worth, most := slices.Max(x.i)+slices.Max(x.o), 0.0
	for _, d := range g.Load {
		most = max(most, d*worth)
	}
	_, exponent := math.Frexp(most)
	unit := math.Ldexp(1, exponent-24)
	mass := make([]float64, g.Tasks) // more than the sum of a task's costs
	for e, d := range g.Load {
		for a := range m {
			p := &x.prices[e*m+a]
			*p = math.Trunc(min(x.i[a]*d*(1-1e-12), max(-x.o[a]*d*(1-1e-12), *p))/unit)*unit + 0 // no -0
		}
		mass[g.From[e]] += worth * d
		mass[g.To[e]] += worth * d
	}
	x.settle()
	sum, all := x.sum(), 0.0
	for t := range g.Tasks {
		n, longest := len(g.Pred(int32(t)))+len(g.Succ(int32(t)))+2, 0.0
		for _, c := range x.busy[t*m:][:m] {
			if !math.IsInf(c, 1) {
				longest = max(longest, c)
			}
		}
		all += float64(n) * (mass[t] + slices.Max(x.weights[:m])*longest)
	}
	return max(0, sum-all*0x1p-52*2) / x.total() * (1 - roundingOf(g.Tasks))
}

// evidence returns weights and prices.
func (x *traffic) evidence() *model.Evidence {
	return &model.Evidence{Type: evidence.Traffic, Weights: x.weights, Prices: x.prices}
}
