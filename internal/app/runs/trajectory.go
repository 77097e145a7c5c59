// SPDX-License-Identifier: MIT

package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gapwise/gapwise/model"
)

// Moment is a point of a run's trajectory: the best objective found and the best
// bound proved by then, NaN while there is none. It is [seconds, objective, bound] in JSON, null for NaN.
type Moment struct{ S, Objective, Bound float64 }

// MarshalJSON writes the time to the microsecond.
func (m Moment) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]*float64{Optional(math.Round(1e6*m.S) / 1e6), Optional(m.Objective), Optional(m.Bound)})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (m *Moment) UnmarshalJSON(data []byte) error {
	var all []*float64
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	if len(all) != 3 || all[0] == nil {
		return errors.New("a trajectory holds [seconds, objective or null, bound or null]")
	}
	known := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	*m = Moment{*all[0], known(all[1]), known(all[2])}
	return nil
}

// maxMoments bounds a record's trajectory.
const maxMoments = 64

// Tracker notes how the incumbent and the bound of a run improve.
type Tracker struct {
	Sense   model.Sense
	Began   time.Time
	moments []Moment
}

// Progress takes a solver's report. A report of an engine's phases may contain less than the one before: the best so
// far counts.
func (t *Tracker) Progress(p model.Progress) {
	if !p.Done { // see trajectory
		t.note(time.Since(t.Began).Seconds(), p.Incumbent, p.Bound)
	}
}

func (t *Tracker) note(s, objective, bound float64) {
	now := Moment{s, math.NaN(), math.NaN()}
	if n := len(t.moments); n > 0 {
		now.Objective, now.Bound = t.moments[n-1].Objective, t.moments[n-1].Bound
	}
	news := false
	better := func(x, than float64, s model.Sense) bool {
		return Optional(x) != nil && (math.IsNaN(than) || s.Better(x, than))
	}
	if better(objective, now.Objective, t.Sense) {
		now.Objective, news = objective, true
	}
	if better(bound, now.Bound, -t.Sense) {
		now.Bound, news = bound, true
	}
	if !news {
		return
	}
	if t.moments = append(t.moments, now); len(t.moments) == 32*maxMoments {
		t.moments = thin(t.moments, 16*maxMoments)
	}
}

// Trajectory returns the moments until the end of a run, its result the last; nil if
// the solver reported nothing: then the result is all that there is to know. No moment
// is better than the result, as a report may be by a rounding error.
func (t *Tracker) Trajectory(r model.Result) []Moment {
	if len(t.moments) == 0 {
		return nil
	}
	t.note(max(r.Elapsed.Seconds(), t.moments[len(t.moments)-1].S), r.Objective, r.Bound)
	some := thin(t.moments, maxMoments)
	for i := range some {
		m := &some[i]
		if t.Sense.Better(m.Objective, r.Objective) {
			m.Objective = r.Objective
		}
		if (-t.Sense).Better(m.Bound, r.Bound) {
			m.Bound = r.Bound
		}
	}
	return some
}

// thin returns at most n >= 2 of some moments: the last of each of n intervals, which
// are equal on a logarithmic scale of time from a microsecond on. A step function
// through those that stay is never better than the one through all.
func thin(all []Moment, n int) []Moment {
	if len(all) <= n {
		return all
	}
	scale := func(s float64) float64 { return math.Log(max(s, 1e-6)) }
	low, high := scale(all[0].S), scale(all[len(all)-1].S)
	if !(low < high) {
		return all[len(all)-1:]
	}
	interval := func(m Moment) int { return min(n-1, int(float64(n)*(scale(m.S)-low)/(high-low))) }
	var some []Moment
	for i, m := range all {
		if i+1 == len(all) || interval(m) != interval(all[i+1]) {
			some = append(some, m)
		}
	}
	return some
}

// checkTrajectory returns an error for moments that no run has: out of order in time,
// or more than are written.
func checkTrajectory(all []Moment) error {
	if len(all) > maxMoments {
		return fmt.Errorf("trajectory holds %d moments, at most %d are written", len(all), maxMoments)
	}
	for i, m := range all {
		if !(m.S >= 0) || i > 0 && m.S < all[i-1].S {
			return fmt.Errorf("trajectory[%d] is at %v s, moments must be in the order of time", i, m.S)
		}
	}
	return nil
}
