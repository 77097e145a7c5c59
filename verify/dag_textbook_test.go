// SPDX-License-Identifier: MIT

package verify

import (
	"math/big"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// slowFlow is a transfer of slowReplay.
type slowFlow struct {
	edge, weight int
	links        []int
	limit, begin *big.Rat
	left, rate   *big.Rat // rate: nil until it has one
	end          *big.Rat // if the rate lasts
}

func ratInt(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

// usable is the part of a link's capacity that n transfers get together.
func usable(tr model.TransferModel, capacity float64, n int) *big.Rat {
	c := exact(capacity)
	if tr == model.TransferTCP || tr == model.TransferTCPAll {
		one := big.NewRat(1, int64(1+3*n))
		c.Mul(c, one.Sub(big.NewRat(1, 1), one))
	}
	return c
}

// flowsOf is the transfers of a schedule and the links' capacities.
func flowsOf(d *model.DAG, s *model.Schedule) ([]*slowFlow, []float64) {
	ideal := *d
	ideal.TransferModel = model.TransferIdeal
	g := view.OfDAG(&ideal) // its rates aren't rounded
	machine, err := d.MachineOf(s)
	if err != nil {
		panic(err)
	}
	sent := map[[2]string]float64{}
	for _, x := range s.Transfers {
		sent[[2]string{x.From, x.To}] = x.StartS
	}
	var flows []*slowFlow
	for e, x := range d.Edges {
		m, n := machine[g.From[e]], machine[g.To[e]]
		if m == n {
			continue
		}
		f := &slowFlow{edge: e, weight: int(g.Weight(m, n)), limit: exact(g.Rate[int(m)*g.Machines+int(n)]), left: exact(x.Data)}
		f.begin = new(big.Rat).Add(exact(sent[[2]string{x.From, x.To}]), exact(g.Startup(m, n)))
		if d.Transfers() == model.TransferTCPAll {
			f.limit.Mul(f.limit, big.NewRat(3, 4))
		}
		if d.Transfers() != model.TransferIdeal {
			for _, l := range g.Route(m, n) {
				f.links = append(f.links, int(l))
			}
		}
		flows = append(flows, f)
	}
	return flows, g.Links
}

// fill gives the flows their max-min fair rates in the way of a textbook: all
// rates grow together until a link is full or a flow has its limit.
func fill(tr model.TransferModel, flows []*slowFlow, capacity []float64) {
	full := make([]*big.Rat, len(capacity))
	for l := range capacity {
		n := 0
		for _, f := range flows {
			for _, k := range f.links {
				if k == l {
					n++
				}
			}
		}
		full[l] = usable(tr, capacity[l], n)
	}
	for _, f := range flows {
		f.rate = nil
	}
	for open := len(flows); open > 0; {
		// The level at which the next flow stops growing.
		var level *big.Rat
		stops := make([]*big.Rat, len(flows))
		for i, f := range flows {
			if f.rate != nil {
				continue
			}
			stops[i] = new(big.Rat).Quo(f.limit, ratInt(f.weight))
			for _, l := range f.links {
				rest, n := new(big.Rat).Set(full[l]), 0
				for _, o := range flows {
					for _, k := range o.links {
						if k != l {
							continue
						}
						if o.rate == nil {
							n += o.weight
						} else {
							rest.Sub(rest, o.rate)
						}
					}
				}
				if rest.Quo(rest, ratInt(n)); rest.Cmp(stops[i]) < 0 {
					stops[i] = rest
				}
			}
			if level == nil || stops[i].Cmp(level) < 0 {
				level = stops[i]
			}
		}
		for i, f := range flows {
			if stops[i] != nil && stops[i].Cmp(level) == 0 {
				f.rate = new(big.Rat).Mul(level, ratInt(f.weight))
				open--
			}
		}
	}
}

// slowReplay is the judge's replay done again without classes, heaps and
// clocks of service, rounded at each event by round. It reports a moment at
// which the rates exceed a link.
func slowReplay(t *testing.T, d *model.DAG, s *model.Schedule, round func(*big.Rat) *big.Rat) []*big.Rat {
	t.Helper()
	waiting, capacity := flowsOf(d, s)
	arrived := make([]*big.Rat, len(d.Edges))
	now := new(big.Rat)
	var under []*slowFlow
	for {
		var later []*slowFlow
		for _, f := range waiting {
			switch {
			case f.left.Sign() == 0:
				arrived[f.edge] = f.begin
			case f.begin.Cmp(now) <= 0: // starts are floats, rounding keeps them
				under = append(under, f)
			default:
				later = append(later, f)
			}
		}
		if waiting = later; len(waiting)+len(under) == 0 {
			return arrived
		}
		fill(d.Transfers(), under, capacity)
		var next *big.Rat
		for _, f := range waiting {
			if next == nil || f.begin.Cmp(next) < 0 {
				next = f.begin
			}
		}
		load := make([]*big.Rat, len(capacity))
		for l := range load {
			load[l] = new(big.Rat)
		}
		for _, f := range under {
			f.end = new(big.Rat).Quo(f.left, f.rate)
			if f.end.Add(f.end, now); next == nil || f.end.Cmp(next) < 0 {
				next = f.end
			}
			for _, l := range f.links {
				load[l].Add(load[l], f.rate)
			}
		}
		for l := range load {
			if load[l].Cmp(exact(capacity[l])) > 0 {
				t.Fatalf("at %v, link %d carries %v of %v", now, l, load[l], capacity[l])
			}
		}
		step := new(big.Rat).Sub(next, now)
		now = round(next)
		var still []*slowFlow
		for _, f := range under {
			if f.end.Cmp(next) == 0 {
				arrived[f.edge] = now
				continue
			}
			f.left = round(f.left.Sub(f.left, new(big.Rat).Mul(f.rate, step)))
			still = append(still, f)
		}
		under = still
	}
}
