// SPDX-License-Identifier: MIT

package tvc

import (
	"context"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// bidPrices are the prices that bidPrice chooses from: 0, which rejects nothing
// that can be embedded, and 1/8 to √8 in steps of √2.
var bidPrices = []float64{0, 0.125, 0.177, 0.25, 0.354, 0.5, 0.707, 1, 1.414, 2, 2.828}

// BidPrice rejects a request, even if it can be embedded, if it takes so much for so long that others could be accepted
// instead. This is bid-price control, as in revenue management (Talluri, van Ryzin: The Theory and Practice of Revenue
// Management, 2004, chapter 3).
//
// It embeds as ProgramReserved does. A request costs its reserved bandwidth on all links, times its duration, divided
// by the mean of the requests so far: traffic hidden in one server costs nothing. It is accepted if price·cost is at
// most its value: 1, or for the goal revenue its revenue divided by the mean.
//
// The right price depends on the load and on the scarce resource, and is learnt. For each of bidPrices a copy of the
// data centre takes all requests under this price, and one more embeds them by AdaBa at the price 0. The copy with the
// most valuable accepted requests so far decides; among equals the choice stays as it was. It begins with AdaBa, so
// that another choice has to prove better first.
//
// A decision takes 12 times as long as one of ProgramReserved.
func BidPrice(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, "bid-price")
}

func newBidPrice() embedder {
	p := new(bidPrice)
	p.add(newAdaBa(), 0)
	for _, price := range bidPrices {
		p.add(p, price)
	}
	return p
}

type bidPrice struct {
	program program
	choices []bidChoice
	leader  int // index of a choice
	// Sums of cost and value over the requests embedded so far by the first choice.
	costs, values float64
}

// bidChoice is a way to decide, with its result so far.
type bidChoice struct {
	embedder embedder
	price    float64
	copy     *loss
	accepted float64 // values of the requests accepted
}

func (p *bidPrice) add(e embedder, price float64) {
	p.choices = append(p.choices, bidChoice{embedder: e, price: price})
}

// Embed implements embedder: in queue mode, without a duration, it is the program's.
func (p *bidPrice) Embed(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) {
	return p.program.Best(d, n, b, costReserved)
}

// embedRequest implements requestEmbedder.
func (p *bidPrice) embedRequest(d *fattree.DataCentre, k int) (model.Embedding, bool) {
	q := &d.Requests[k]
	for i := range p.choices {
		x := &p.choices[i]
		if x.copy == nil {
			x.copy = newLoss(d.TVC)
		}
		c := x.copy
		c.until(q.Arrival)
		c.Most = d.Most
		e, ok := x.embedder.Embed(c.DataCentre, q.VMs, q.Bandwidth)
		if ok && i == 0 {
			p.costs += cost(c.DataCentre, &e, k)
			p.values += value(d, k)
		}
		if ok && p.worth(c.DataCentre, &e, k, x.price) {
			c.admit(k, e)
			x.accepted += value(d, k)
		}
	}
	for i := range p.choices {
		if p.choices[i].accepted > p.choices[p.leader].accepted {
			p.leader = i
		}
	}
	x := &p.choices[p.leader]
	e, ok := x.embedder.Embed(d, q.VMs, q.Bandwidth)
	return e, ok && p.worth(d, &e, k, x.price)
}

// worth reports whether request k, embedded as e, is worth its cost. Before any
// request has cost anything all are.
func (p *bidPrice) worth(d *fattree.DataCentre, e *model.Embedding, k int, price float64) bool {
	if price == 0 || p.costs == 0 {
		return true
	}
	return price*cost(d, e, k)/p.costs*p.values <= value(d, k)
}

// cost returns the bandwidth that request k reserves on all links, embedded as e,
// times its duration, in bits.
func cost(d *fattree.DataCentre, e *model.Embedding, k int) float64 {
	q := &d.Requests[k]
	reserved := int64(0)
	d.Loads(e, q.VMs, q.Bandwidth, func(_ *int64, load int64) { reserved += load })
	return float64(reserved) * d.Seconds(q.Duration)
}

// value returns the value of request k for the goal.
func value(d *fattree.DataCentre, k int) float64 {
	if d.Goal == model.GoalRevenue {
		return d.Requests[k].Revenue
	}
	return 1
}
