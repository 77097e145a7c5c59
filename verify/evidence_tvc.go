// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/gapwise/gapwise/internal/evidence"
	"github.com/gapwise/gapwise/model"
)

// tvcWork are the requests of loss mode that fit the empty data centre.
type tvcWork struct {
	in       *model.TVC
	slots    int64 // of a server
	servers  int64
	rate     int64 // of a server's link
	requests []tvcWorkRequest
	at       map[string]int
	total    *big.Int // of the weights
	unit     *big.Int // divides all weights
	grains   *big.Int // in a unit of the objective
}

type tvcWorkRequest struct {
	arrival, end   int64
	vms, bandwidth int64
	weight         *big.Int
}

func newTVCWork(ctx context.Context, in *model.TVC) *tvcWork {
	j := newTVCJudge(in, nil)
	h := int64(j.half)
	w := &tvcWork{in: in, slots: int64(in.FatTree.Slots), servers: 2 * h * h * h, rate: j.rates[0], at: map[string]int{},
		total: new(big.Int), unit: new(big.Int), grains: big.NewInt(1)}
	if in.Goal == model.GoalRevenue {
		w.grains.SetInt64(1_000_000_000_000) // bit/s times microseconds in VM Mbit
	}
	one := big.NewInt(1) // shared, and never changed
	for k := range in.Requests {
		if stopped(ctx, k) {
			break
		}
		q := &in.Requests[k]
		if !j.fits(q) {
			continue
		}
		r := tvcWorkRequest{vms: int64(q.VMs), weight: one}
		r.arrival, _ = micros(q.ArrivalS)
		duration, _ := micros(q.DurationS)
		r.end = r.arrival + duration
		r.bandwidth, _ = micros(q.BandwidthMbps)
		if in.Goal == model.GoalRevenue {
			r.weight = new(big.Int).Mul(big.NewInt(r.vms), big.NewInt(r.bandwidth))
			r.weight.Mul(r.weight, big.NewInt(duration))
		}
		w.at[q.ID] = len(w.requests)
		w.requests = append(w.requests, r)
		w.total.Add(w.total, r.weight)
		w.unit.GCD(nil, nil, w.unit, r.weight)
	}
	if w.unit.Sign() == 0 {
		w.unit.SetInt64(1)
	}
	return w
}

// tvcEvidence recomputes bounds on what loss mode can accept.
func tvcEvidence(ctx context.Context, in *model.TVC, e *model.Evidence) (Followed, error) {
	if in.Queue {
		return Followed{}, errors.New("no evidence is known of queue mode")
	}
	w := newTVCWork(ctx, in)
	accepted := new(big.Int).Set(w.total)
	how := "the requests that fit"
	if ctx.Err() != nil {
		return Followed{}, ctx.Err()
	}
	if e.Type == evidence.Prices {
		how = fmt.Sprintf("the prices of slots and links in %d parts", len(e.Parts))
		taken := make([]bool, len(w.requests))
		work := 0.0
		for i := range e.Parts {
			p := &e.Parts[i]
			weight := new(big.Int)
			var part []int
			for _, id := range p.Elements {
				k, ok := w.at[id]
				if !ok || taken[k] {
					return Followed{}, fmt.Errorf("there is no request %q that fits, or it is in two parts", id)
				}
				taken[k] = true
				part = append(part, k)
				weight.Add(weight, w.requests[k].weight)
			}
			most, err := w.priced(ctx, p.Parts, part, &work)
			if err != nil {
				return Followed{}, err
			}
			most.Mul(most.Div(most, w.unit), w.unit)
			accepted.Sub(accepted, new(big.Int).Sub(weight, minimum(weight, most)))
		}
	}
	return Followed{Bound: new(big.Rat).SetFrac(accepted, w.grains), How: how}, nil
}

// priced returns a bound on the weight accepted of some requests, in grains, rounded down: with
// prices y ≥ 0 of slots and of the links above servers at instants, that is
//
//	Σ capacity · y + Σ_k max(0, weight_k - Σ demand_k · y at the instants at which it runs),
//
// for what is accepted holds the capacities at each instant. A request's demand is its
// VMs, or the least load that it puts on links above servers.
func (w *tvcWork) priced(ctx context.Context, resources []model.Evidence, part []int, work *float64) (*big.Int, error) {
	most := new(big.Rat)
	grains := new(big.Rat).SetInt(w.grains)
	if w.in.Goal == model.GoalRevenue {
		// Prices are of revenues in multiples of their greatest common divisor.
		grains.SetInt(w.unit)
	}
	price := func(t *tariff, n *big.Int) *big.Rat {
		x := t.unit.rat(n)
		return x.Mul(x, grains)
	}
	tariffs := make([]*tariff, len(resources))
	for i := range resources {
		t := newTariff(resources[i].Times, resources[i].Prices)
		capacity := new(big.Int).Mul(big.NewInt(w.slots), big.NewInt(w.servers))
		if resources[i].Resource == "links" {
			capacity.Mul(big.NewInt(w.rate), big.NewInt(w.servers))
		}
		most.Add(most, price(t, capacity.Mul(capacity, t.all())))
		tariffs[i] = t
	}
	value := new(big.Rat)
	for i, k := range part {
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		r := &w.requests[k]
		value.SetInt(r.weight)
		for i, t := range tariffs {
			demand := big.NewInt(r.vms)
			if resources[i].Resource == "links" {
				if r.vms > w.slots {
					if *work += float64(r.vms) * float64(w.slots); *work > maxEvidenceWork*10 {
						return nil, tooMuch("loads")
					}
				}
				demand = w.load(r)
			}
			pay := new(big.Int).Sub(t.at(r.end), t.at(r.arrival))
			value.Sub(value, price(t, pay.Mul(pay, demand)))
		}
		if value.Sign() > 0 {
			most.Add(most, value)
		}
	}
	return new(big.Int).Div(most.Num(), most.Denom()), nil
}

// load returns the least load, in bit/s, that a request puts on the links above servers:
// m of its N VMs on a server load that server's link by min(m, N - m) times its
// bandwidth, if the link holds that.
func (w *tvcWork) load(r *tvcWorkRequest) *big.Int {
	n := r.vms
	if n <= w.slots {
		return new(big.Int) // all on one server
	}
	through := w.rate / r.bandwidth
	const none = int64(1) << 62
	least := make([]int64, n+1)
	for v := int64(1); v <= n; v++ {
		least[v] = none
		for m := int64(1); m <= min(v, w.slots); m++ {
			if l := min(m, n-m); l <= through && least[v-m] < none {
				least[v] = min(least[v], least[v-m]+l)
			}
		}
	}
	if least[n] == none {
		return new(big.Int)
	}
	return new(big.Int).Mul(big.NewInt(least[n]), big.NewInt(r.bandwidth))
}
