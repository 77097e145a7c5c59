// SPDX-License-Identifier: MIT

package dag

import (
	"cmp"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/dag/dagplay"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// beforeLinks is the number of conflicts after which the kernel without contention leaves the rest to linked, which
// proves more: a second or so.
const beforeLinks = 3000

// contended solves d under contention. The decisions are the machine of each task, the order on each machine, and the
// start of each transfer, which may be later than its data are there; tasks start as soon as they can. First the
// makespan without contention is a bound; then linked proves which makespans the links have time for, and in the end
// the optimum. If the instance is too large for that, the bound is without contention.
func (s *dagSearch) contended(d *model.DAG) error {
	g := view.Shared(s.Ctx, d, view.OfDAG)
	best, ok := s.Set.Start.(*model.Schedule)
	if s.off&devStart != 0 {
		x, p := dagplay.NewReplay(g), s.poor()
		x.Run(p, nil)
		best = d.Schedule(p.Machine, x.Start, x.Sent)
	} else if !ok || s.Set.Others == nil { // else the heuristics run beside it
		var err error
		if best, err = dagheur.Improve(s.Ctx, d, s.Set); err != nil {
			return err
		}
	}
	if err := s.SetSolution(d, best); err != nil {
		return err
	}
	linkable := s.linkable(g)
	if linkable {
		s.conflicts = beforeLinks * int64(1+s.g.Tasks/10)
	}
	tell := s.Set.Progress
	if tell != nil {
		// The search's results are of use without contention.
		s.Set.Progress = func(p model.Progress) {
			p.Incumbent, p.Solution = s.Objective, nil
			tell(p)
		}
	}
	if err := s.run(); err != nil {
		return err
	}
	s.Set.Progress = tell
	x := dagplay.NewReplay(g)
	x.Stop = func(effort int64) bool { return meter.Stop(s.Ctx, effort) }
	if x.Run(s.plan, nil) < s.Objective {
		if err := s.SetSolution(d, d.Schedule(s.plan.Machine, x.Start, x.Sent)); err != nil {
			return err
		}
	}
	why := "the bound is without contention"
	switch {
	case g.Files != nil:
		why = "the bound counts no files on links"
	case g.Parts() > 1:
		why = "the bound counts no acknowledgements on links"
	}
	if g.Room != nil {
		why = "the bound counts no links beside machines that run several tasks at once"
	}
	if s.upper = s.Objective; linkable && !s.closed() {
		why = "the bound counts what links have time for, no more"
		if err := s.linked(d, g); err != nil {
			return err
		}
	}
	s.Reason = cmp.Or(s.Reason, meter.StopReason(s.Ctx), why)
	p, err := dagplay.PlanOf(d, g, s.Solution.(*model.Schedule))
	if err != nil {
		return err
	}
	s.Details = model.NewDAGDetails([]model.Round{{Round: 1, Planned: dagplay.Ideal(g, p), Realistic: s.Objective, Kept: true}})
	return nil
}
