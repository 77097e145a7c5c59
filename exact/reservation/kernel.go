// SPDX-License-Identifier: MIT

package reservation

import (
	"context"
	"math"

	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// Kernel solves Reservation exactly, on counts of PEs (see bookings.Number):
//
//  1. a plan by local search (bookings.Offline),
//  2. the instance is cut where no window goes on, and each part bounded by Lagrangian multipliers of the
//     capacity,
//  3. in turn with more local search, learning (package lcg) on the constraint model of each part (kernelModel): better
//     plans and bounds, first for few conflicts, then for more, until the gap is closed.
//
// For the goal all, infeasibility is proved by the bounds or by the kernel. The result then names a minimal set of
// requests in conflict.
//
// It is any-time: when ctx or the time limit ends, the result carries the best plan and the bound proved so far. The
// solution doesn't depend on the number of threads. A node is a conflict, from which a nogood is learned. Parts of more
// than 2,000 jobs get a plan and the Lagrangian bound.
var Kernel = engine.Engine[*model.Reservation, switches]{ID: "kernel", Parts: devices, Learns: true, Proof: true,
	Work: func(r *engine.Run, v *model.Reservation, off switches, without lcg.Device) error {
		s := newSearcher(r, v, view.Shared(r.Ctx, v, view.OfReservation))
		s.off, s.without = off, without
		switch {
		case r.Set.Proof != nil:
			return s.prove()
		case v.EffectiveGoal() == model.GoalAll && s.refutedAtOnce():
			return s.result()
		}
		return s.solve()
	}}

// switches is a set of devices of the kernel that are off.
type switches uint16

const (
	localSearch switches = 1 << iota // run
	dominance                        // kernelModel.dominate
	charges                          // kernelModel.charge
)

// devices are all of them, in the order of their bits.
var devices = []engine.Switch[switches]{
	{Bit: localSearch, Name: "local-search", Summary: "the clairvoyant's local search searches for plans"},
	{Bit: dominance, Name: "dominance", Summary: "no job without one that can stand in for it; of jobs of one size those with the earlier window go first"},
	{Bit: charges, Name: "lagrangian-row", Summary: "running jobs pay multipliers for the capacity, whose total is limited (Geoffrion 1974)"},
}

// kernelJobs is the largest number of jobs of a part that the kernel takes.
const kernelJobs = 2000

// learn has the kernel look for better plans and bounds of a part for so many conflicts. It goes on where it stopped,
// with the learned nogoods.
func (s *searcher) learn(p *part, conflicts int64) {
	if p.kernel == nil {
		p.kernel = newKernelSearch(s, p)
	}
	p.kernel.run(s, p, conflicts)
}

// kernelSearch is the kernel on a part.
type kernelSearch struct {
	model *kernelModel
	team  *lcg.Team
	unit  float64 // weight of 1, in units of scale.weight
	total int64
	lost  int64 // least of any plan so far: the kernel looks for less only
}

// newKernelSearch returns the kernel on a part, with the part's multipliers unless that device is off.
func newKernelSearch(s *searcher, p *part) *kernelSearch {
	x := &kernelSearch{unit: 1, lost: math.MaxInt64}
	if s.scale.grain == 0 {
		x.unit = weightStep(s.t) // all weights are multiples of it
	}
	weights := make([]int64, len(p.jobs))
	for i := range p.jobs {
		weights[i] = int64(p.jobs[i].weight / x.unit)
		x.total += weights[i]
	}
	x.model = newKernelModel(s.scale.pes, p.jobs, weights, func(j *job) int { return s.t.Jobs[j.id].Request }, s.off)
	if s.off&charges == 0 && p.relax != nil {
		x.model.charge(s.scale.pes, p.relax)
	}
	x.team = s.Team(lcg.Options{Off: s.without}, &x.model.Model)
	return x
}

// run looks for plans that lose less than the best, and raises the bound on the loss, for so many conflicts. Other
// engines may have changed the best plan since the last run, even to one that loses more if weights are rounded up
// (weightStep). The plans that the kernel has left out by then lose at least x.lost, which may differ from that plan's
// loss.
func (x *kernelSearch) run(s *searcher, p *part, conflicts int64) {
	ctx, cancel := context.WithCancel(s.Ctx)
	defer cancel()
	x.lost = min(x.lost, x.total-int64(p.value/x.unit))
	if s.in.EffectiveGoal() == model.GoalAll {
		x.lost = min(x.lost, 1)
	}
	phases := make([]int64, len(x.model.Low))
	for i := range p.jobs {
		if start := s.starts[p.jobs[i].id]; start != view.Declined {
			phases[x.model.in[i]] = 1
		}
	}
	x.team.SetPhases(&x.model.Model, phases)
	nodes := s.Nodes - x.team.Conflicts()
	take := func(o *lcg.Outcome) {
		s.Nodes = nodes + x.team.Conflicts()
		if o.Values != nil && o.Best < x.lost {
			x.lost = o.Best
			p.value = float64(x.total-x.lost) * x.unit
			for i := range p.jobs {
				s.starts[p.jobs[i].id] = view.Declined
				if o.Values[x.model.in[i]] == 1 {
					s.starts[p.jobs[i].id] = o.Values[x.model.starts[i]]
				}
			}
		}
		p.lower(float64(x.total-o.Bound) * x.unit)
		p.done = p.done || o.Optimal
		if s.progress(); s.enough() {
			cancel()
		}
	}
	upper := x.lost
	o := x.team.Minimise(ctx, &upper, x.team.Conflicts()+conflicts, take)
	take(&o)
}
