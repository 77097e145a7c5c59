// SPDX-License-Identifier: MIT

package tvc

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	"github.com/gapwise/gapwise/exact/internal/simplex"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// queueRun is a run of Search in queue mode.
//
// The requests are taken in parts, which in the best schedule known follow each other in time. A part needs at least as
// much time among others as it needs alone, so the parts' best sums of responses, or bounds on them, add up to a bound.
// If the best schedule of a part goes on after the next one's first arrival, the two are one part.
type queueRun struct {
	*run
	close float64 // a smaller relative improvement isn't looked for
	runs  map[int]model.Run[model.Embedding]
	parts []*queuePart
	fit   int // requests that fit

	simplex simplex.Simplex // where HiGHS isn't built in
}

// queue finds the best schedule of a queue.
func (s *run) queue() error {
	best, err := start(s.Run)
	if err != nil {
		return err
	}
	if best == nil {
		return model.ErrNoSolution
	}
	if err := s.SetSolution(s.in, best); err != nil {
		return err
	}
	for _, b := range tvcbounds.Quick(s.Ctx, s.in) {
		s.bound(b.Value)
	}
	s.report(0)
	if s.Closed() || s.Ctx.Err() != nil {
		return nil
	}
	s.t = view.Shared(s.Ctx, s.in, view.OfTVC)
	q := &queueRun{run: s, close: min(s.Set.GapLimit(), 1) / 2, runs: map[int]model.Run[model.Embedding]{}}
	index, err := s.in.Index(best)
	if err != nil {
		return err
	}
	for i, k := range index {
		q.runs[k] = best.Runs[i]
	}
	for k := range s.t.Requests {
		if _, ok := q.runs[k]; s.t.Requests[k].Fits && !ok {
			return fmt.Errorf("start: %w: request %q doesn't run", model.ErrInvalid, s.in.Requests[k].ID)
		}
	}
	q.cut()
	if err := q.solveParts(); err != nil {
		return err
	}
	s.Reason = cmp.Or(meter.StopReason(s.Ctx), s.why)
	return nil
}

// ticks returns seconds in ticks.
func ticks(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

// end returns when a request ends in the best schedule.
func (q *queueRun) end(k int) int64 {
	segments := q.runs[k].Segments
	return ticks(segments[len(segments)-1].EndS)
}

// cut makes the parts.
func (q *queueRun) cut() {
	var part []int
	end := int64(0)
	for k := range q.t.Requests {
		if !q.t.Requests[k].Fits {
			continue
		}
		q.fit++
		if len(part) > 0 && end <= q.t.Requests[k].Arrival {
			q.parts = append(q.parts, q.newPart(part))
			part = nil
		}
		part, end = append(part, k), max(end, q.end(k))
	}
	if len(part) > 0 {
		q.parts = append(q.parts, q.newPart(part))
	}
}

// raise stores the sum of the parts' bounds.
func (q *queueRun) raise() {
	sum := 0.0
	for _, p := range q.parts {
		sum += p.lower
	}
	// A sum of responses is a whole number; twice is it rounded on the way to the objective.
	mean := math.Ceil(sum*(1-1e-14)) / 1e6 / float64(q.fit)
	q.bound(math.Nextafter(math.Nextafter(mean, 0), 0))
	q.report(0)
}

// solveParts solves the parts one by one.
func (q *queueRun) solveParts() error {
	q.raise()
	for k := 0; k < len(q.parts) && !q.Closed() && q.Ctx.Err() == nil; k++ {
		p := q.parts[k]
		if p.enough(p.lower) {
			continue
		}
		if err := p.solve(); err != nil {
			return err
		}
		if p.best != nil && k+1 < len(q.parts) && p.base+p.ends() > q.parts[k+1].base {
			next := q.parts[k+1]
			both := q.newPart(append(slices.Clone(p.requests), next.requests...))
			both.lower = max(both.lower, p.lower+next.lower)
			q.parts = slices.Replace(q.parts, k, k+2, both)
			k--
			continue
		}
		if p.best != nil {
			p.store()
			if _, err := q.Improve(q.solution()); err != nil {
				return err
			}
		}
		q.raise()
	}
	return nil
}

// solution returns the runs as a solution.
func (q *queueRun) solution() *model.Embeddings {
	e := &model.Embeddings{}
	for k := range q.t.Requests {
		if r, ok := q.runs[k]; ok {
			e.Runs = append(e.Runs, r)
		}
	}
	return e
}

// solve searches a part if it isn't too large.
func (q *queuePart) solve() error {
	if q.n > mostQueued {
		q.why = fmt.Sprintf("exact search is for at most %d requests that wait for each other, here are %d", mostQueued, q.n)
		return nil
	}
	if q.sets = newQueueSets(q.Ctx, q.t, q.requests, q.off); q.sets == nil || meter.Stop(q.Ctx, 1) {
		return nil
	}
	root := newQueueProgram(q, &queueDecided{moves: make([]int, q.n)})
	if root == nil {
		q.why = fmt.Sprintf("%d requests wait for each other, and too many sets of them can run at once", q.n)
		return nil
	}
	return q.search(root)
}
