// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// tvcWork are the requests of loss mode that fit the empty data centre.
type tvcWork struct {
	ctx      context.Context
	in       *model.TVC
	slots    int64 // of a server
	servers  int64
	levels   []tvcLevel // of links, from below
	perPath  bool
	loads    map[tvcShape][][]int64
	steps    int64
	requests []tvcWorkRequest
	find     func(id string) (int, bool) // of requests
	total    *big.Int                    // of the weights
	unit     *big.Int                    // divides all weights
	grains   *big.Int                    // in a unit of the objective
}

type tvcWorkRequest struct {
	id             string
	arrival, end   int64
	vms, bandwidth int64
	weight         *big.Int
}

func newTVCWork(ctx context.Context, in *model.TVC) *tvcWork {
	j := newTVCJudge(in, nil)
	h := int64(j.half)
	w := &tvcWork{ctx: ctx, in: in, slots: int64(in.FatTree.Slots), servers: 2 * h * h * h, perPath: in.Hose == model.HosePerPath, requests: make([]tvcWorkRequest, 0, len(in.Requests)),
		loads: map[tvcShape][][]int64{}, total: new(big.Int), unit: new(big.Int), grains: big.NewInt(1),
		levels: []tvcLevel{{1, 2 * h * h * h, j.rates[0]}, {h, 2 * h * h * h, j.rates[1]}, {h, 2 * h * h * h, j.rates[2]}}}
	if in.FatTree.Fabric == model.FabricNonBlocking {
		w.levels = w.levels[:1]
	}
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
		r := tvcWorkRequest{id: q.ID, vms: int64(q.VMs), weight: one}
		r.arrival, _ = micros(q.ArrivalS)
		duration, _ := micros(q.DurationS)
		r.end = r.arrival + duration
		r.bandwidth, _ = micros(q.BandwidthMbps)
		if in.Goal == model.GoalRevenue {
			r.weight = new(big.Int).Mul(big.NewInt(r.vms), big.NewInt(r.bandwidth))
			r.weight.Mul(r.weight, big.NewInt(duration))
		}
		w.requests = append(w.requests, r)
		w.total.Add(w.total, r.weight)
		if w.unit.Cmp(one) != 0 {
			w.unit.GCD(nil, nil, w.unit, r.weight)
		}
	}
	w.find = finder(ctx, len(w.requests), func(k int) string { return w.requests[k].id })
	if w.unit.Sign() == 0 {
		w.unit.SetInt64(1)
	}
	return w
}

// responses recomputes bounds on the mean response time of the requests that fit, in queue mode: the durations, or the
// needs of one machine that is as fast as all of a resource. Whatever is suspended or moved, a running request holds at
// least as much as its parts do.
func (w *tvcWork) responses(ctx context.Context, e *model.Evidence) (Followed, error) {
	if e.Type == evidence.Prices {
		return Followed{}, errors.New("prices are of loss mode")
	}
	if ctx.Err() != nil {
		return Followed{}, ctx.Err()
	}
	n := int64(len(w.requests))
	f := Followed{Bound: new(big.Rat), How: "the durations"}
	if n == 0 {
		return f, nil
	}
	sum := new(big.Int)
	if e.Type == evidence.Sum {
		for k := range w.requests {
			sum.Add(sum, big.NewInt(w.requests[k].end-w.requests[k].arrival))
		}
		f.Bound.SetFrac(sum, bigProduct(n, 1_000_000))
		return f, nil
	}
	f.How = "one machine as fast as all " + map[string]string{evidence.Slots: "slots", evidence.Servers: "servers", evidence.Shares: "servers, by shares",
		evidence.Links[0]: "links of servers"}[e.Resource]
	if e.Resource == evidence.Links[1] || e.Resource == evidence.Links[2] {
		f.How = "one machine as fast as all links of a layer"
	}
	demand, capacity, err := w.resource(e)
	if err != nil {
		return Followed{}, err
	}
	if !capacity.IsInt64() || capacity.Int64() > 1<<62 {
		return Followed{}, tooMuch("the data centre")
	}
	jobs := make([]squashedJob, len(w.requests))
	for k := range w.requests {
		if stopped(ctx, k) {
			return Followed{}, ctx.Err()
		}
		r := &w.requests[k]
		d, err := demand(r)
		if err != nil {
			return Followed{}, err
		}
		jobs[k] = squashedJob{release: r.arrival, duration: r.end - r.arrival, weight: 1, demand: min(d, capacity.Int64())}
	}
	sum, err = squashedResponses(ctx, jobs, capacity.Int64())
	if err != nil {
		return Followed{}, err
	}
	f.Bound.SetFrac(sum, bigProduct(n, 1_000_000))
	return f, nil
}

// tvcEvidence recomputes bounds on the accepted requests in loss mode, and on the responses in queue mode.
func tvcEvidence(ctx context.Context, in *model.TVC, e *model.Evidence) (Followed, error) {
	w := newTVCWork(ctx, in)
	if in.Queue {
		return w.responses(ctx, e)
	}
	if e.Type == evidence.Machine {
		return Followed{}, errors.New("the machine is of queue mode")
	}
	accepted := new(big.Int).Set(w.total)
	how := "the requests that fit"
	if ctx.Err() != nil {
		return Followed{}, ctx.Err()
	}
	if e.Type == evidence.Prices {
		how = fmt.Sprintf("the prices of slots, links and servers in %d parts", len(e.Parts))
		taken := make([]bool, len(w.requests))
		for i := range e.Parts {
			p := &e.Parts[i]
			weight := new(big.Int)
			var part []int
			for _, id := range p.Elements {
				k, ok := w.find(id)
				if !ok || taken[k] {
					return Followed{}, fmt.Errorf("there is no request %q that fits, or it is in two parts", id)
				}
				taken[k] = true
				part = append(part, k)
				weight.Add(weight, w.requests[k].weight)
			}
			most, err := w.priced(ctx, p.Parts, part)
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
// prices y ≥ 0 of resources at instants, that is
//
//	Σ capacity · y + Σ_k max(0, weight_k - Σ demand_k · y at the instants at which it runs),
//
// for the accepted requests keep the capacities at each instant (see resource). Patterns add what they say (see
// heaviest).
func (w *tvcWork) priced(ctx context.Context, resources []model.Evidence, part []int) (*big.Int, error) {
	var unit binary
	for i := range resources {
		for _, x := range resources[i].Prices {
			unit.see(x)
		}
	}
	all, pays := new(big.Int), make([]*big.Int, len(part))
	for i := range pays {
		pays[i] = new(big.Int)
	}
	pay := new(big.Int)
	for i := range resources {
		e := &resources[i]
		if e.Resource == evidence.PatternsOfServers {
			heaviest, members, err := w.heaviest(e, part)
			if err != nil {
				return nil, err
			}
			y := unit.whole(e.Prices[0])
			for x, i := range members {
				pay.Mul(bigProduct(int64(e.Weights[x]), w.requests[part[i]].vms), y)
				pays[i].Add(pays[i], pay)
			}
			all.Add(all, pay.Mul(bigProduct(heaviest, w.servers), y))
			continue
		}
		t := tariffIn(unit, e.Times, e.Prices)
		demand, capacity, err := w.resource(e)
		if err != nil {
			return nil, err
		}
		all.Add(all, capacity.Mul(capacity, t.all()))
		for i, k := range part {
			if stopped(ctx, i) {
				return nil, ctx.Err()
			}
			r := &w.requests[k]
			if pay.Sub(t.before(r.end), t.before(r.arrival)); pay.Sign() == 0 {
				continue
			}
			d, err := demand(r)
			if err != nil {
				return nil, err
			}
			pays[i].Add(pays[i], pay.Mul(pay, big.NewInt(d)))
		}
	}
	grains := w.grains
	if w.in.Goal == model.GoalRevenue {
		// Prices are of revenues in multiples of their greatest common divisor.
		grains = w.unit
	}
	most, value := all.Mul(all, grains), new(big.Int)
	for i, k := range part {
		value.Lsh(w.requests[k].weight, uint(unit.shift))
		if value.Sub(value, pay.Mul(pays[i], grains)); value.Sign() > 0 {
			most.Add(most, value)
		}
	}
	return most.Rsh(most, uint(unit.shift)), nil
}
