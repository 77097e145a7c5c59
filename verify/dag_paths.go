// SPDX-License-Identifier: MIT

package verify

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// paths holds the network in exact figures.
type paths struct {
	in       *model.DAG
	capacity []*big.Rat
	classes  []*pathClass
	of       map[[2]int]int      // class of a pair of machines
	rates    map[[2]int]*big.Rat // rate of a pair of machines without contention
	latency  map[[2]int]float64  // of the route of a pair of machines, if it has one
	busy     []*pathClass        // with transfers under way; set by share
	ways     map[int]*way        // of pairs of machines, from*machines+to, made by way
}

// way is how a transfer gets from a machine to another one.
type way struct {
	class   int     // -1 if it shares no link
	startup float64 // seconds before data are sent
	rate    double  // without contention, to 106 bits
	whole   bool    // the rate is rate.hi
}

// way returns the way from machine m to another one n, made once.
func (p *paths) way(m, n int) *way {
	k := m*len(p.in.Machines) + n
	w := p.ways[k]
	if w == nil {
		rate := p.alone(m, n)
		w = &way{class: p.class(m, n), startup: p.startup(m, n), rate: doubleOf(rate)}
		w.whole = exact(w.rate.hi).Cmp(rate) == 0
		p.ways[k] = w
	}
	return w
}

// arrival returns when the transfer of data arrives that starts at a time and shares no
// link. It is exact, by a remainder of 0, where the quotient and the sums are float64s;
// else three operations have a relative error below 2^-100 each.
func (w *way) arrival(at, data float64) arrival {
	begin := twoSum(at, w.startup)
	if data == 0 {
		return arrival{begin, 0}
	}
	if q := data / w.rate.hi; w.whole && begin.lo == 0 && math.FMA(q, w.rate.hi, -data) == 0 {
		return arrival{twoSum(begin.hi, q), 0}
	}
	q := double{hi: data}.div(w.rate)
	return arrival{begin.add(q), 0x1p-98 * (math.Abs(at) + w.startup + q.hi)}
}

// firstEnd returns when the first transfer ends, nil if none is under way.
func (p *paths) firstEnd() *big.Rat {
	var first *pathClass
	for _, c := range p.busy {
		if first == nil || above(c.endsAbout) < first.endsAbout || c.endsAbout <= above(first.endsAbout) && c.ends.Cmp(first.ends) < 0 {
			first = c
		}
	}
	if first == nil {
		return nil
	}
	return first.ends
}

func newPaths(in *model.DAG) *paths {
	p := &paths{in: in, of: map[[2]int]int{}, rates: map[[2]int]*big.Rat{}, latency: map[[2]int]float64{}, ways: map[int]*way{}}
	link, machine, known := map[string]int{}, map[string]int{}, map[string]int{}
	for l, x := range in.Network.Links {
		link[x.ID] = l
		if x.Capacity == 0 {
			x.Capacity = in.Network.Bandwidth
		}
		p.capacity = append(p.capacity, exact(x.Capacity))
	}
	for m, x := range in.Machines {
		machine[x.ID] = m
	}
	for _, x := range in.Network.Routes {
		a, b := machine[x.From], machine[x.To]
		ends := [][2]int{{a, b}, {b, a}}
		if x.OneWay {
			ends = ends[:1]
		}
		if x.LatencyS > 0 {
			for _, pair := range ends {
				p.latency[pair] = x.LatencyS
			}
		}
		if len(x.Links) == 0 {
			continue
		}
		var links []int
		for _, id := range x.Links {
			links = append(links, link[id])
		}
		slices.Sort(links)
		for _, pair := range ends {
			rate := p.own(pair[0], pair[1])
			for _, l := range links {
				if p.capacity[l].Cmp(rate) < 0 {
					rate = p.capacity[l]
				}
			}
			p.rates[pair] = rate
			if in.Transfers() == model.TransferIdeal {
				continue
			}
			limit := p.alone(pair[0], pair[1])
			if limit.Sign() == 0 {
				continue
			}
			weight := max(1, x.Weight)
			key := fmt.Sprint(links, limit, weight)
			k, ok := known[key]
			if !ok {
				k = len(p.classes)
				known[key] = k
				c := &pathClass{links: links, weight: weight, rate: new(big.Rat), served: new(big.Rat)}
				c.limit = new(big.Rat).Quo(limit, ratOf(weight))
				c.limitAbout = floor(c.limit)
				p.classes = append(p.classes, c)
			}
			p.of[pair] = k
		}
	}
	return p
}

// startup returns the seconds before a transfer from machine m to another one, n, sends data: the sender's start-up and
// the latency of the route.
func (p *paths) startup(m, n int) float64 {
	return p.in.Machines[m].StartupS + p.latency[[2]int{m, n}]
}

// own returns the capacity of the path itself, without its links.
func (p *paths) own(m, n int) *big.Rat {
	if s := p.in.Network.PathCapacity; s != nil {
		return exact(s[m][n])
	}
	return exact(p.in.Network.Bandwidth)
}

// class returns the class of a transfer from machine m to n, -1 if it shares no
// link.
func (p *paths) class(m, n int) int {
	if k, ok := p.of[[2]int{m, n}]; ok {
		return k
	}
	return -1
}

// alone returns the rate of a transfer from machine m to n without contention.
func (p *paths) alone(m, n int) *big.Rat {
	rate, ok := p.rates[[2]int{m, n}]
	if !ok {
		rate = p.own(m, n)
	}
	if p.in.Transfers() == model.TransferTCPAll {
		rate = new(big.Rat).Mul(rate, together(1))
	}
	return rate
}

// ofAll returns the largest share of a link's capacity that transfers use together: under TCP the share for as many
// connections as edges and files make.
func (p *paths) ofAll() *big.Rat {
	if p.in.Transfers() == model.TransferFair {
		return big.NewRat(1, 1)
	}
	n := 0
	for e := range p.in.Edges {
		n += max(1, len(p.in.Edges[e].Files))
	}
	return together(max(1, n))
}

// together returns the share of a link that n TCP connections use (Eq. 10).
func together(n int) *big.Rat { return big.NewRat(int64(3*n), int64(3*n+1)) }
