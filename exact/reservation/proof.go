// SPDX-License-Identifier: MIT

package reservation

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// prove is the work of Kernel with a proof: one model of all requests, without dominance
// and multipliers, which the checker doesn't know.
func (s *searcher) prove() error {
	jobs, _ := newJobs(s.t)
	p := newPart(jobs)
	s.parts = []*part{p}
	unit := proofUnit(s)
	switch {
	case unit == 0:
		return fmt.Errorf("%w: there is no proof for the goal %s, nor of PE-seconds with rounded times", model.ErrUnsupported, s.in.EffectiveGoal())
	case len(jobs) > kernelJobs:
		return fmt.Errorf("%w: %d requests are more than the kernel takes, so there is no proof", model.ErrUnsupported, len(jobs))
	}
	s.off |= dominance | charges
	p.kernel = newKernelSearch(s, p)
	proof, err := s.Prove(p.kernel.team.Kernels[0], fmt.Sprint(unit), p.kernel.total)
	if err != nil {
		return err
	}
	if err := s.solve(); err != nil {
		return err
	}
	return proof.Close()
}

// proofUnit returns the common unit of all weights in PE-ticks, 1 for requests that count alike, or 0 if weights aren't
// whole.
func proofUnit(s *searcher) int64 {
	switch {
	case s.scale.grain == 0 || s.in.EffectiveGoal() == model.GoalAll:
		return 0
	case s.t.Goal.PESeconds():
		return weightUnit(s.t)
	}
	return 1
}
