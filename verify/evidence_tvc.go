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

// responses recomputes bounds on the mean response time of the requests that fit, in queue mode: the
// durations, or what one machine needs that is as fast as all slots, as all servers' links, or as
// both together (shared). Whatever is suspended or moved, who runs holds its VMs, and of the
// servers what its parts hold at least.
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
	f.How = "one machine as fast as all slots"
	capacity, work := new(big.Int).Mul(big.NewInt(w.slots), big.NewInt(w.servers)), 0.0
	jobs := make([]squashedJob, len(w.requests))
	demands := make([]*big.Int, len(w.requests))
	for k := range w.requests {
		r := &w.requests[k]
		jobs[k] = squashedJob{release: r.arrival, duration: r.end - r.arrival, weight: 1}
		demands[k] = big.NewInt(r.vms)
	}
	if e.Resource != "slots" {
		f.How = "one machine as fast as all " + map[string]string{"links": "links of servers", "servers": "servers"}[e.Resource]
		demand, total, err := w.resource(e, &work)
		if err != nil {
			return Followed{}, err
		}
		capacity = total
		for k := range w.requests {
			if stopped(ctx, k) {
				return Followed{}, ctx.Err()
			}
			if demands[k], err = demand(&w.requests[k]); err != nil {
				return Followed{}, err
			}
		}
	}
	if !capacity.IsInt64() || capacity.Int64() > 1<<62 {
		return Followed{}, tooMuch("the data centre")
	}
	for k, d := range demands {
		jobs[k].demand = minimum(d, capacity).Int64()
	}
	sum, err := squashedResponses(ctx, jobs, capacity.Int64())
	if err != nil {
		return Followed{}, err
	}
	f.Bound.SetFrac(sum, bigProduct(n, 1_000_000))
	return f, nil
}

// tvcEvidence recomputes bounds on what loss mode can accept, and on the responses in queue mode.
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
// prices y ≥ 0 of slots, of the links above servers and of both together at instants, that is
//
//	Σ capacity · y + Σ_k max(0, weight_k - Σ demand_k · y at the instants at which it runs),
//
// for what is accepted holds the capacities at each instant. A request's demand is its
// VMs, the least load that it puts on links above servers, or what its parts hold of servers.
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
	demands := make([]func(r *tvcWorkRequest) (*big.Int, error), len(resources))
	for i := range resources {
		t := newTariff(resources[i].Times, resources[i].Prices)
		demand, capacity, err := w.resource(&resources[i], work)
		if err != nil {
			return nil, err
		}
		most.Add(most, price(t, capacity.Mul(capacity, t.all())))
		tariffs[i], demands[i] = t, demand
	}
	value := new(big.Rat)
	for i, k := range part {
		if stopped(ctx, i) {
			return nil, ctx.Err()
		}
		r := &w.requests[k]
		value.SetInt(r.weight)
		for i, t := range tariffs {
			demand, err := demands[i](r)
			if err != nil {
				return nil, err
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

// resource returns what requests hold at least of the resource that evidence names, and how much
// there is of it.
func (w *tvcWork) resource(e *model.Evidence, work *float64) (demand func(r *tvcWorkRequest) (*big.Int, error), capacity *big.Int, err error) {
	if e.Resource == "slots" {
		return func(r *tvcWorkRequest) (*big.Int, error) { return big.NewInt(r.vms), nil }, bigProduct(w.slots, w.servers), nil
	}
	capacity = bigProduct(w.rate, w.servers)
	held := func(_, load int64) *big.Int { return big.NewInt(load) }
	if s := int64(e.Count); e.Resource == "servers" {
		if s > w.slots/2 {
			return nil, nil, fmt.Errorf("count: %d is more than half of a server's %d slots", s, w.slots)
		}
		held = w.shared(s)
		capacity.Mul(capacity, big.NewInt(s))
	}
	return func(r *tvcWorkRequest) (*big.Int, error) {
		if e.Resource == "links" && r.vms <= w.slots {
			return new(big.Int), nil // all on one server
		}
		if *work += float64(r.vms) * float64(min(r.vms, w.slots)); *work > maxEvidenceWork*10 {
			return nil, tooMuch("loads")
		}
		return w.least(r, held), nil
	}, capacity, nil
}

// shared returns what a part of VMs holds of a server that has s times its link's rate R, where s
// is at most half of its slots S: at most S - s VMs, min(load s, VMs R); more,
// max(load s, (VMs - S + s) R).
//
// What is on a server holds no more than R s. Without a part of more than S - s VMs it is at
// most the loads' sum times s. There is no second such part, for two have more than S
// VMs. Beside one others have S - VMs slots and R - load of the link at most, and hold the lesser of
// (R - load) s and (S - VMs) R at most: R s less the max.
func (w *tvcWork) shared(s int64) func(vms, load int64) *big.Int {
	return func(vms, load int64) *big.Int {
		byLink, light := bigProduct(load, s), w.slots-s
		if vms <= light {
			return minimum(byLink, bigProduct(vms, w.rate))
		}
		return maximum(byLink, bigProduct(vms-light, w.rate))
	}
}

// least returns the least that parts of a request hold together, each what held says: m of its N VMs
// on a server load that server's link by min(m, N - m) times its bandwidth, if the link holds that.
func (w *tvcWork) least(r *tvcWorkRequest, held func(vms, load int64) *big.Int) *big.Int {
	n := r.vms
	parts := make([]*big.Int, min(n, w.slots)+1)
	for m := range parts {
		if l := min(int64(m), n-int64(m)); l <= w.rate/r.bandwidth {
			parts[m] = held(int64(m), l*r.bandwidth)
		}
	}
	least, sum := make([]*big.Int, n+1), new(big.Int)
	least[0] = new(big.Int)
	for v := 1; v < len(least); v++ {
		for m := 1; m <= min(v, len(parts)-1); m++ {
			if parts[m] == nil || least[v-m] == nil {
				continue
			}
			if sum.Add(least[v-m], parts[m]); least[v] == nil || sum.Cmp(least[v]) < 0 {
				least[v] = new(big.Int).Set(sum)
			}
		}
	}
	if least[n] == nil {
		return new(big.Int)
	}
	return least[n]
}
