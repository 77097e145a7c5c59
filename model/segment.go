// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
)

// Run states where and when one request or job runs: in one segment, or in several if it is suspended in between.
// Problems differ in P, a place.
type Run[P any] struct {
	ID       string       `json:"id"`
	Segments []Segment[P] `json:"segments" nil:"[]"` // in the order of time
}

// Segment is a span of time in which a request or a job runs in one place. It holds its resources from StartS up to
// EndS, without EndS.
type Segment[P any] struct {
	StartS float64 `json:"start_s"`
	EndS   float64 `json:"end_s"`
	Place  P       `json:"place"`
	// Lost means that the job is killed at the end: all its work is lost, and its next segment starts it from the
	// beginning.
	Lost bool `json:"lost,omitempty"`
}

// latestTime bounds times in solutions, so that they can be computed with.
const latestTime = 1e10

// indexRuns returns the number of each run's request or job (what) among n with
// distinct ids.
// The error is ErrInvalid for an unknown id, a request that runs twice, a run
// without segments, and a time that isn't a number from 0 to 10^10.
func indexRuns[P any](runs []Run[P], n int, what string, id func(k int) string) ([]int, error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w solution: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	ids := idFinder{n: n, at: id}
	index, seen := make([]int, len(runs)), make([]bool, n)
	for i := range runs {
		r := &runs[i]
		k, ok := ids.find(r.ID)
		switch {
		case !ok:
			return nil, bad("runs[%d] is of %q, there is no such %s", i, r.ID, what)
		case seen[k]:
			return nil, bad("%q runs twice; give its segments in one run", r.ID)
		case len(r.Segments) == 0:
			return nil, bad("the run of %q has no segments; leave out a %s that never runs", r.ID, what)
		}
		for _, s := range r.Segments {
			if !(s.StartS >= 0 && s.StartS <= latestTime && s.EndS >= 0 && s.EndS <= latestTime) {
				return nil, bad("%q runs from %v to %v, times must be from 0 to %g", r.ID, s.StartS, s.EndS, latestTime)
			}
		}
		seen[k], index[i] = true, k
	}
	return index, nil
}
