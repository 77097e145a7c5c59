// SPDX-License-Identifier: MIT

package reservation

import (
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

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
