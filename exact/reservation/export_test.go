// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// SweepDevice is a device by which a sweep drops states, as a mask of Sweeps.
type SweepDevice struct {
	Name string
	Mask int
}

// SweepDevices are those devices.
func SweepDevices() []SweepDevice {
	var all []SweepDevice
	for k, d := range devices {
		if (localSearch|bothDirections)&(1<<k) == 0 {
			all = append(all, SweepDevice{d.Name, 1 << k})
		}
	}
	return all
}

// SweepAlone is the best value found and the bound of one search.
type SweepAlone struct {
	Value, Upper float64
	Nodes        int64
}

// Sweeps searches an instance by sweeps alone, without local search or other bounds, once for each mask of devices that
// are off; a negative mask means its complement, with time backwards. The multipliers are the same for all. The first
// attempt has limit nodes, and each other one has twice as many as the one before; 0: no limit.
func Sweeps(in *model.Reservation, set model.Settings, masks []int, limit int64) ([]SweepAlone, error) {
	first := newSearcher(&engine.Run{Ctx: context.Background(), Set: set}, in, view.OfReservation(in))
	for _, p := range first.parts {
		if err := first.bound(p); err != nil {
			return nil, err
		}
	}
	var out []SweepAlone
	for _, mask := range masks {
		s, run := *first, *first.Run
		s.Run = &run
		s.parts, s.starts = nil, slices.Clone(first.starts)
		backwards := mask < 0
		if backwards {
			mask = ^mask
		}
		s.off = switches(mask)
		for _, ready := range first.parts {
			p := *ready
			s.parts = append(s.parts, &p)
			if s.off&(wholeValues|lagrangianBound) != 0 {
				p.upper = p.total // the first bound was rounded to grains
			}
		}
		for _, p := range s.parts {
			for k := 0; k < 1000 && !p.closed() && !s.impossible(p) && !s.enough(); k++ {
				s.improve(p, limit<<min(k, 40), backwards)
			}
		}
		out = append(out, SweepAlone{s.objective(s.value()), s.objective(s.upper()), s.Nodes})
	}
	return out, nil
}

// Turns is Search with tiny turns of the learning kernel and of the sweeps from the first round on, and without
// anything that would find the best plans before them. It counts rounds of a part in which both searched.
func Turns(both *int) model.Solver {
	return engine.Engine[*model.Reservation, switches]{ID: "turns", Work: func(r *engine.Run, v *model.Reservation, _ switches, _ lcg.Device) error {
		x := newSearcher(r, v, view.OfReservation(v))
		x.off = localSearch
		x.prepare = func(p *part) error {
			err := x.bound(p)
			p.upper = p.total
			return err
		}
		x.attempt = func(p *part, limit int64) {
			turn := 3 * limit / firstNodes // 3, 24, 192, ...
			before := x.Nodes
			if p.kernel != nil {
				before -= p.kernel.team.Conflicts()
			}
			x.turns(p, turn, turn)
			if learned := p.kernel.team.Conflicts(); learned > 0 && x.Nodes-learned > before {
				*both++
			}
		}
		return x.solve()
	}}
}
