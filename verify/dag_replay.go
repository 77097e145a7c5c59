package verify

import (
	"container/heap"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// replay plays the transfers, which start when they are said to, under the
// instance's transfer model, and returns when each arrives (nil for edges that
// aren't sent).
//
// Everything is rational. Under contention each event divides by the number of
// transfers, so the figures grow; from maxBits on they are rounded to keptBits
// significant bits (see trim), an error far below any tolerance but 0.
func (j *dagJudge) replay(sent []*big.Rat, ends func(e int) (from, to int)) []*big.Rat {
	in := j.in
	p := newPaths(in)
	arrived := make([]*big.Rat, len(sent))
	var starts []transfer
	for e, at := range sent {
		if at == nil {
			continue
		}
		from, to := ends(e)
		m, n := j.on[from], j.on[to]
		begin := new(big.Rat).Add(at, exact(in.Machines[m].StartupS))
		data := exact(in.Edges[e].Data)
		if m == n { // there is no path to wait for
			arrived[e] = begin.Set(at)
			continue
		}
		k := p.class(m, n)
		if k < 0 || data.Sign() == 0 {
			if data.Sign() > 0 {
				data.Quo(data, p.alone(m, n))
			}
			arrived[e] = begin.Add(begin, data)
			continue
		}
		starts = append(starts, transfer{e, k, begin, data})
	}
	slices.SortStableFunc(starts, func(a, b transfer) int { return a.at.Cmp(b.at) })
	now := new(big.Rat)
	for len(starts) > 0 || p.active > 0 {
		// The next event is a start or the first end.
		var next *big.Rat
		if len(starts) > 0 {
			next = starts[0].at
		}
		for _, c := range p.classes {
			if c.ends = c.nextEnd(now); c.ends != nil && (next == nil || c.ends.Cmp(next) < 0) {
				next = c.ends
			}
		}
		step := new(big.Rat).Sub(next, now)
		for _, c := range p.classes {
			if c.ends == nil {
				continue
			}
			if c.ends.Cmp(next) == 0 {
				// Exactly this much, whatever was rounded before: the
				// transfer ends, and the clock can't stand still.
				c.served.Set(c.due[0].end)
				continue
			}
			c.served.Add(c.served, new(big.Rat).Mul(c.rate, step))
			trim(c.served)
		}
		if now = new(big.Rat).Set(next); len(starts) == 0 || next.Cmp(starts[0].at) != 0 {
			trim(now) // a start is kept, or it would never be reached
		}
		for _, c := range p.classes {
			for len(c.due) > 0 && c.due[0].end.Cmp(c.served) <= 0 {
				arrived[heap.Pop(&c.due).(due).edge] = new(big.Rat).Set(now)
				p.active--
			}
		}
		for len(starts) > 0 && starts[0].at.Cmp(now) <= 0 {
			x := starts[0]
			starts = starts[1:]
			c := p.classes[x.class]
			if len(c.due) == 0 {
				c.served.SetInt64(0)
			}
			heap.Push(&c.due, due{new(big.Rat).Add(c.served, x.data), x.edge})
			p.active++
		}
		p.share()
	}
	return arrived
}

// transfer is one that shares links and has not begun to send.
type transfer struct {
	edge, class int
	at, data    *big.Rat
}

// due is a transfer under way: it ends when its class has served this much.
type due struct {
	end  *big.Rat
	edge int
}

type dueHeap []due

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(a, b int) bool { return h[a].end.Cmp(h[b].end) < 0 }
func (h dueHeap) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *dueHeap) Push(x any)        { *h = append(*h, x.(due)) }
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

const (
	maxBits  = 1024
	keptBits = 512
)

// trim rounds x towards 0, in place, if it has grown long: to a multiple of
// 2^-keptBits or, if it is small, to keptBits significant bits, since an
// instance may count in any unit.
func trim(x *big.Rat) *big.Rat {
	if x.Denom().BitLen() <= maxBits {
		return x
	}
	shift := uint(keptBits + max(0, x.Denom().BitLen()-x.Num().BitLen()))
	n := new(big.Int).Lsh(x.Num(), shift)
	return x.SetFrac(n.Quo(n, x.Denom()), new(big.Int).Lsh(big.NewInt(1), shift))
}

// pathClass is the transfers that share one list of links and one path rate:
// their rates are always equal.
type pathClass struct {
	links  []int
	limit  *big.Rat
	rate   *big.Rat
	served *big.Rat // data that a transfer has got that was there since the class became busy
	ends   *big.Rat // when the first of them ends at this rate, nil without any
	due    dueHeap
}

// nextEnd is when the first of the class's transfers ends, nil without any.
func (c *pathClass) nextEnd(now *big.Rat) *big.Rat {
	if len(c.due) == 0 {
		return nil
	}
	left := new(big.Rat).Sub(c.due[0].end, c.served)
	return left.Add(now, left.Quo(left, c.rate))
}

// paths is the network in exact figures.
type paths struct {
	in       *model.DAG
	capacity []*big.Rat
	classes  []*pathClass
	of       map[[2]int]int // class of a pair of machines
	rates    map[[2]int]*big.Rat
	active   int
}

func newPaths(in *model.DAG) *paths {
	p := &paths{in: in, of: map[[2]int]int{}, rates: map[[2]int]*big.Rat{}}
	link, machine := map[string]int{}, map[string]int{}
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
		if len(x.Links) == 0 {
			continue
		}
		var links []int
		for _, id := range x.Links {
			links = append(links, link[id])
		}
		slices.Sort(links)
		a, b := machine[x.From], machine[x.To]
		ends := [][2]int{{a, b}, {b, a}}
		if x.OneWay {
			ends = ends[:1]
		}
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
			k := slices.IndexFunc(p.classes, func(c *pathClass) bool { return slices.Equal(c.links, links) && c.limit.Cmp(limit) == 0 })
			if k < 0 {
				k = len(p.classes)
				p.classes = append(p.classes, &pathClass{links: links, limit: limit, rate: new(big.Rat), served: new(big.Rat)})
			}
			p.of[pair] = k
		}
	}
	return p
}

// own is the path's capacity before its links are looked at.
func (p *paths) own(m, n int) *big.Rat {
	if s := p.in.Network.PathCapacity; s != nil {
		return exact(s[m][n])
	}
	return exact(p.in.Network.Bandwidth)
}

// class of a transfer from machine m to n, -1 if it shares nothing.
func (p *paths) class(m, n int) int {
	if k, ok := p.of[[2]int{m, n}]; ok {
		return k
	}
	return -1
}

// alone is the rate of a transfer from machine m to n that meets no other.
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

// together is what n TCP connections get of a link (Eq. 10).
func together(n int) *big.Rat { return big.NewRat(int64(3*n), int64(3*n+1)) }

// share gives every transfer under way its max-min fair rate: the tightest
// link or limit first.
func (p *paths) share() {
	left := make([]*big.Rat, len(p.capacity))
	open := make([]int, len(p.capacity))
	var busy []*pathClass
	for _, c := range p.classes {
		if len(c.due) == 0 {
			continue
		}
		busy = append(busy, c)
		for _, l := range c.links {
			open[l] += len(c.due)
		}
	}
	if len(busy) == 0 {
		return
	}
	for l, n := range open {
		left[l] = new(big.Rat).Set(p.capacity[l])
		if p.in.Transfers() != model.TransferFair && n > 0 {
			left[l].Mul(left[l], together(n))
		}
	}
	for len(busy) > 0 {
		perLink := make([]*big.Rat, len(open))
		for l, n := range open {
			if n > 0 {
				perLink[l] = new(big.Rat).Quo(left[l], new(big.Rat).SetInt64(int64(n)))
			}
		}
		shares := make([]*big.Rat, len(busy))
		var least *big.Rat
		for i, c := range busy {
			shares[i] = c.limit
			for _, l := range c.links {
				if perLink[l].Cmp(shares[i]) < 0 {
					shares[i] = perLink[l]
				}
			}
			if least == nil || shares[i].Cmp(least) < 0 {
				least = shares[i]
			}
		}
		var rest []*pathClass
		for i, c := range busy {
			if shares[i].Cmp(least) > 0 {
				rest = append(rest, c)
				continue
			}
			c.rate.Set(least)
			n := len(c.due)
			all := new(big.Rat).Mul(least, new(big.Rat).SetInt64(int64(n)))
			for _, l := range c.links {
				left[l].Sub(left[l], all)
				open[l] -= n
			}
		}
		busy = rest
	}
}
