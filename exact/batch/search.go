// SPDX-License-Identifier: MIT

package batch

import (
	"fmt"

	"github.com/gapwise/gapwise/bounds"
	batchbounds "github.com/gapwise/gapwise/bounds/batch"
	"github.com/gapwise/gapwise/exact/internal/engine"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/problem/batch/processors"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// Search is the native exact search for Batch; on two tiers it is twoTiers, and on nodes Kernel.
//
// It starts from the heuristics, moves jobs in their orders, and then branches on the order of the starts (tree). The
// result carries the best solution and the bound proved so far when ctx or the time limit ends. More than mostInTree
// jobs are in parts. It only proves batchbounds.All if weighted sums of responses may not fit (batchbounds.Units.Fit).
// Threads aren't used.
var Search = engine.Engine[*model.Batch, deviceSet]{ID: "search", Parts: devices, Work: search}

func search(r *engine.Run, in *model.Batch, off deviceSet, kernel lcg.Device) error {
	if in.Tiers == 2 {
		return twoTiers(r, in, off)
	}
	j, err := newJobs(r.Ctx, in)
	if err != nil {
		return err
	}
	if j.t.Nodes != nil {
		return Kernel.Work(r, in, off, kernel)
	}
	return (&run{Run: r, jobs: j, off: off}).solve()
}

// run is one run of Search.
type run struct {
	*engine.Run
	*jobs
	off deviceSet
}

func (s *run) solve() error {
	best, err := start(s.Run)
	if err != nil {
		return err
	}
	if best != nil {
		if err := s.SetSolution(s.in, best); err != nil {
			return err
		}
	}
	for _, b := range batchbounds.Quick(s.Ctx, s.in) {
		s.bound(b.Value)
	}
	s.report(nil)
	n := len(s.release)
	exactly := s.Set.GapLimit() <= model.DefaultGap // the search needs no tolerance
	if s.Closed() && (s.Gap == 0 || !exactly) {
		return nil
	}
	fit := s.units.Fit(s.t)
	if n > mostInTree || !fit {
		batchbounds.Each(s.Ctx, s.in, func(b bounds.Bound) {
			s.bound(b.Value)
			s.report(nil)
		})
		if fit && best != nil {
			if err := s.parts(best); err != nil {
				return err
			}
		}
		if s.Reason = meter.StopReason(s.Ctx); s.Reason == "" {
			s.Reason = fmt.Sprintf("exact search is for at most %d jobs, here are %d", mostInTree, n)
			if !fit {
				s.Reason = batchbounds.SumsDontFit
			}
		}
		return nil
	}
	t := newTree(s.Ctx, s.jobs, s.off)
	// Sums that are better by less than half the gap limit aren't looked for.
	t.slack = func(best int64) int64 {
		if exactly {
			return 0
		}
		return int64(float64(best) * s.Set.GapLimit() / 2)
	}
	t.report = func() {
		if _, objective := s.News(s.mean(t.best)); objective == objective {
			t.know(s.sum(objective), nil)
		}
		s.report(t)
	}
	if best != nil {
		t.know(s.sum(s.Objective), nil)
	}
	t.search()
	if t.starts != nil {
		e, err := processors.Place(s.in, s.t, s.ticks(t.starts))
		if err != nil {
			return err
		}
		if err := s.SetSolution(s.in, e); err != nil {
			return err
		}
	}
	s.report(t)
	return nil
}

// bound stores a bound of the mean. The weighted sum of responses is a whole number of
// units, so that the bound is rounded up to the mean of one.
func (s *run) bound(value float64) {
	if s.total(value)*float64(s.units.Time*s.units.Weight) < 1<<53 {
		value = s.mean(s.sum(value))
	}
	s.Raise(value)
}

// report stores and reports the results of a tree, if there is one.
func (s *run) report(t *tree) {
	incumbent := s.Objective
	if t != nil {
		s.Nodes = t.nodes
		s.bound(s.mean(t.lower()))
		if t.best < 1<<62 {
			incumbent = min(incumbent, s.mean(t.best))
		}
	}
	s.Tell(incumbent, s.Bound, func() model.Solution {
		if incumbent != s.Objective && t.starts != nil {
			if e, err := processors.Place(s.in, s.t, s.ticks(t.starts)); err == nil {
				return e
			}
		}
		return s.Solution
	})
}
