// SPDX-License-Identifier: MIT

package batch

import (
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// WithoutRows returns the kernel without pooled resources on nodes.
func WithoutRows() model.Solver { return Kernel.Off(devRows) }

// SetMostPlacing sets the steps of a search for nodes, and returns what they were.
func SetMostPlacing(most int) (before int) {
	before, mostPlacing = mostPlacing, most
	return before
}

// SearchInParts returns Search as if a tree took no instance as a whole.
func SearchInParts() model.Solver {
	e := Search
	e.Work = func(r *engine.Run, in *model.Batch, off deviceSet, _ lcg.Device) error {
		j, err := newJobs(r.Ctx, in)
		if err != nil {
			return err
		}
		best, err := start(r)
		if err != nil || best == nil || !j.units.Fit(j.t) {
			return err
		}
		s := &run{Run: r, jobs: j, off: off}
		if err := s.SetSolution(in, best); err != nil {
			return err
		}
		return s.parts(best)
	}
	return e
}
