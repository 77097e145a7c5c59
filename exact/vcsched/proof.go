// SPDX-License-Identifier: MIT

package vcsched

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gapwise/gapwise/internal/cp"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// prove is solveByKernel with a proof: the kernel alone, on the model without symmetry breaking, with a row of the
// area. If a placement that fits in units doesn't fit exactly, the proof ends at its load.
func (s *run) prove(improve func(steps int)) error {
	if len(s.in.Resources) > 0 || len(s.in.HostSizes) > 0 || slices.ContainsFunc(s.in.Jobs, func(j model.VCSchedJob) bool { return j.CPU == 0 }) {
		return fmt.Errorf("%w: proofs know no further resources, no host_sizes and no jobs without CPU", model.ErrUnsupported)
	}
	improve(firstSteps * len(s.u.CPU) * len(s.u.CPU))
	if why := tooLarge(s.u); why != "" {
		return fmt.Errorf("%w: %s, so there is no proof", model.ErrUnsupported, why)
	}
	upper := min(s.upper, s.unboundedLoad()+int64(len(s.u.CPU)))
	m := newKernelModel(s.u, s.u.Scale, max(upper, s.u.Scale), devTwins|devHosts)
	total := int64(0)
	for _, c := range s.u.CPU {
		total += c
	}
	m.AddAs("area", &cp.Linear{Terms: []cp.Term{{Times: -int64(s.u.Hosts), Var: m.Objective}}, AtMost: -total})
	if err := m.Check(); err != nil {
		return err
	}
	k := lcg.New(&m.Model)
	proof, err := s.Prove(k, strconv.FormatInt(s.u.Scale, 10), max(upper, s.u.Scale))
	if err != nil {
		return err
	}
	var best *int64
	if s.hosts != nil {
		k.SetPhases(m.values(s.hosts))
		best = &upper
	}
	fits := true // all placements of the kernel, exactly
	s.lower = s.u.Scale
	note := func(o *lcg.Outcome) {
		s.Nodes = k.Conflicts
		if o.Values != nil {
			found := m.placement(o.Values)
			fits = fits && s.found(max(s.u.MaxLoad(found), s.u.Scale), found)
		}
		if !o.Infeasible {
			s.raise(o.Bound)
		}
	}
	o := k.Minimise(s.Ctx, best, 0, note)
	note(&o)
	switch {
	case o.Infeasible && s.hosts == nil:
		s.Infeasible(noPlacement(s.in))
	case o.Optimal && !fits:
		s.Reason = "a placement of this load fits when needs are rounded, but not exactly; the proof ends there"
	}
	return proof.Close()
}
