package reservation

import (
	"context"
	"math"

	resbounds "github.com/gapwise/gapwise/bounds/reservation"
	resheur "github.com/gapwise/gapwise/heuristics/reservation"
	"github.com/gapwise/gapwise/model"
)

// SweepRules are the names of the rules that the search of reservations drops anything by, by their bits.
var SweepRules = []string{"gap", "twins", "dominance", "prices", "wanted", "far", "round", "reprice", "narrow", "grain", "stop"}

// SweepAlone is the best value found and the bound of one search.
type SweepAlone struct {
	Value, Upper float64
	Nodes        int64
}

// Sweeps searches an instance by prices and sweeps alone, without local search or other bounds, once for each
// mask of rules that are off; a negative mask is that of its complement, with time backwards. The prices are the same for all.
// The first attempt has limit nodes, each other twice those of the one before; 0: no limit.
func Sweeps(in *model.Reservation, set model.Settings, masks []int, limit int64) ([]SweepAlone, error) {
	t := resbounds.NewTicks(in)
	jobs, units := sweepJobs(t)
	parts := sweepParts(jobs)
	ready := make([]sweepPart, len(parts))
	first := &reservationSearch{ctx: context.Background(), in: in, t: t, units: units, set: set, other: math.Inf(1), total: worth(jobs)}
	for k, part := range parts {
		p := &sweepPart{jobs: part, total: worth(part)}
		p.upper = p.total
		first.parts = append(first.parts, p)
		if err := first.root(p); err != nil {
			return nil, err
		}
		ready[k] = *p
	}
	var out []SweepAlone
	for _, mask := range masks {
		s := *first
		s.parts, s.starts, s.nodes, s.always = nil, make([]int64, len(t.Jobs)), 0, t.FreeWeight
		for k := range s.starts {
			s.starts[k] = resheur.Declined
		}
		backwards := mask < 0
		if backwards {
			mask = ^mask
		}
		s.off = sweepRule(mask)
		for k := range ready {
			p := ready[k]
			s.parts = append(s.parts, &p)
			if s.off&sweepGrainRule != 0 || s.off&sweepPricesRule != 0 {
				p.upper = p.total // the root's was rounded to grains
			}
		}
		for _, p := range s.parts {
			for k := 0; k < 1000 && !p.closed() && !p.impossible(&s) && !s.enough(); k++ {
				s.attempt(p, limit<<min(k, 40), backwards)
			}
		}
		out = append(out, SweepAlone{s.value()*units.weight + s.always, s.upper()*units.weight + s.always, s.nodes})
	}
	return out, nil
}
