// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// dagTraffic recomputes Σ_t min_a (L_a cost_ta + Σ p_ea of edges e into t - Σ p_ea of edges out of t) over the sum of
// all weights. Weights are L_a of machines and w_l of links; p are prices of edges on machines. They must have p_eb -
// p_ea ≤ data_e R_ab for any two machines. R_ab is the sum of w over the capacity of the links on the route from a to
// b, 0 without contention.
//
// Let a schedule end at C. A machine runs one task at a time, for C at most, or several of which the parts take no more
// (see part). The rates on a link together are at most
// its capacity, under TCP times the share of as many connections as edges and files make. So all data that pass it,
// divided by that, are at most C; data_e are those of an edge that surely pass apart from others (loadsOf). Weighted
// and added up, C times all weights is at least Σ_t L cost of t on its machine + Σ_e
// data_e R of its two machines, R_aa = 0. For an edge from a to b the last term is at least p_eb - p_ea. Grouped by
// tasks, that is a term of the minimum for each.
func dagTraffic(ctx context.Context, in *model.DAG, e *model.Evidence) (Followed, error) {
	n, m := len(in.Tasks), len(in.Machines)
	f := Followed{Bound: new(big.Rat), How: "what machines and their links have to do"}
	if n*m > maxEvidenceWork/4 || m > 1000 || len(in.Edges)*m*m > 16*maxEvidenceWork {
		return f, tooMuch("prices")
	}
	all := new(big.Int)
	for _, w := range e.Weights {
		all.Add(all, big.NewInt(int64(w)))
	}
	if all.Sign() == 0 {
		return f, errors.New("all weights are 0")
	}
	takes, err := partOf(in, e.Resource)
	if err != nil {
		return f, err
	}
	perData := routeWeights(in, e.Weights[m:])
	about := make([]float64, len(perData))
	for k, r := range perData {
		if r != nil {
			about[k] = floor(r)
		}
	}
	var unit binary
	for k, p := range e.Prices {
		if stopped(ctx, k) {
			return f, ctx.Err()
		}
		unit.see(p)
	}
	for t := range n {
		for a := range m {
			unit.see(in.Cost(t, a))
		}
		if stopped(ctx, t) {
			return f, ctx.Err()
		}
	}
	if unit.shift > 200 && (n+len(in.Edges))*m > maxEvidenceWork/16 {
		return f, tooMuch("figures of so many digits")
	}
	costs := make([]*big.Int, n*m) // nil where a task can't run
	for t := range n {
		for a := range m {
			if c := in.Cost(t, a); !math.IsInf(c, 1) {
				x := unit.whole(c)
				x.Mul(x, big.NewInt(int64(e.Weights[a])))
				costs[t*m+a] = x.Mul(x, takes.of(t, a))
			}
		}
		if stopped(ctx, t) {
			return f, ctx.Err()
		}
	}
	from, to := in.EdgeTasks()
	loads := loadsOf(in)
	for k := range in.Edges {
		if stopped(ctx, k) {
			return f, ctx.Err()
		}
		prices, data := e.Prices[k*m:][:m], floor(loads[k])
		for a, p := range prices {
			for b, q := range prices {
				// In float64s if the difference is far from the limit, else in fractions.
				if perData[a*m+b] == nil || q-p <= data*about[a*m+b]*(1-1e-13)-1e-15*(math.Abs(p)+math.Abs(q)) || a == b {
					continue
				}
				limit := new(big.Rat).Mul(loads[k], perData[a*m+b])
				if limit.Add(limit, exact(p)); exact(q).Cmp(limit) > 0 {
					return f, fmt.Errorf("the data from %q to %q pay more for a move from machine %q to %q than they weigh", in.Edges[k].From, in.Edges[k].To, in.Machines[a].ID, in.Machines[b].ID)
				}
			}
			x := unit.whole(p)
			x.Mul(x, takes.whole)
			if into := costs[int(to[k])*m+a]; into != nil {
				into.Add(into, x)
			}
			if outOf := costs[int(from[k])*m+a]; outOf != nil {
				outOf.Sub(outOf, x)
			}
		}
	}
	sum := new(big.Int)
	for t := range n {
		possible := slices.DeleteFunc(costs[t*m:][:m:m], func(x *big.Int) bool { return x == nil })
		sum.Add(sum, slices.MinFunc(possible, (*big.Int).Cmp))
	}
	f.Bound = unit.rat(sum)
	if f.Bound.Quo(f.Bound, new(big.Rat).SetInt(all.Mul(all, takes.whole))); f.Bound.Sign() < 0 {
		f.Bound.SetInt64(0) // prices are rounded; no schedule ends before 0
	}
	return f, nil
}

// routeWeights returns, for each pair of machines, the weight of a unit of data on the links between them; nil without a
// path, over which no data go.
func routeWeights(in *model.DAG, weights []float64) []*big.Rat {
	m, p := len(in.Machines), newPaths(in)
	share, of := p.ofAll(), make([]*big.Rat, len(p.classes))
	for k, c := range p.classes {
		of[k] = new(big.Rat)
		for _, l := range slices.Compact(slices.Clone(c.links)) {
			x := exact(weights[l])
			of[k].Add(of[k], x.Quo(x, new(big.Rat).Mul(p.capacity[l], share)))
		}
	}
	none, all := new(big.Rat), make([]*big.Rat, m*m)
	for a := range m {
		for b := range m {
			switch k := p.class(a, b); {
			case a != b && p.own(a, b).Sign() == 0:
			case a != b && k >= 0:
				all[a*m+b] = of[k]
			default:
				all[a*m+b] = none
			}
		}
	}
	return all
}

// keyTrafficWeights requires whole weights of the machines and of the links.
func keyTrafficWeights(e *model.Evidence, n evidenceShape) error {
	if want := n.machines + n.links; len(e.Weights) != want {
		return fmt.Errorf("there are %d for %d machines and links", len(e.Weights), want)
	}
	for _, w := range e.Weights {
		if !(w >= 0 && w <= 1<<32 && w == math.Trunc(w)) {
			return fmt.Errorf("%v isn't a whole number from 0 to 2^32", w)
		}
	}
	return nil
}

// keyTrafficPrices requires a price of any sign of each edge on each machine.
func keyTrafficPrices(e *model.Evidence, n evidenceShape) error {
	if want := n.edges * n.machines; len(e.Prices) != want || want > evidence.MostPrices {
		return fmt.Errorf("there are %d for %d edges and %d machines, must be one for each, and at most %d", len(e.Prices), n.edges, n.machines, evidence.MostPrices)
	}
	for _, p := range e.Prices {
		if !finite(p) || math.Abs(p) > 1e60 {
			return fmt.Errorf("%v isn't from -1e60 to 1e60", p)
		}
	}
	return nil
}
