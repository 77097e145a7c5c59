// SPDX-License-Identifier: MIT

// Package view holds the integer view of an instance of each problem: ticks, units,
// arrays. It is made once (OfBatch, OfDAG, ...) and never changed. Bounds, engines, heuristics and checkers of evidence
// compute with it, so that they agree on feasibility.
package view

import (
	"fmt"
	"sync"

	"github.com/gapwise/gapwise/model"
)

// MostTime is the last time, in microseconds, that the judge of runs in segments accepts:
// before 2^33 s each microsecond has a float64 of its own. Durations aren't added up: simulations stop there.
const MostTime = 8e15

// TooLate reports that a schedule goes on after MostTime, and the resource to increase.
func TooLate(what, resource string) error {
	return fmt.Errorf("%w: a %s of the schedule ends after %.3g s, the last time whose microseconds are exact; take fewer %ss or more %s", model.ErrUnsupported, what, MostTime/1e6, what, resource)
}

// held are the integer views (OfBatch, OfDAG, ...) of the instances that are being
// solved.
var held = struct {
	sync.Mutex
	views map[model.Instance]*view
}{views: map[model.Instance]*view{}}

type view struct {
	once    sync.Once
	of      any
	holders int
	kept    map[string]any // guarded by held
}

// Keep stores a consequence of an instance under a name until the instance is released; it does nothing if the instance
// isn't held. Only the runner of all others stores values, between their turns: so a worker's findings don't depend on
// the speed of another one.
func Keep(in model.Instance, name string, x any) {
	held.Lock()
	defer held.Unlock()
	if v := held.views[in]; v != nil {
		if v.kept == nil {
			v.kept = map[string]any{}
		}
		v.kept[name] = x
	}
}

// The stored values: the quick bounds of the problem, of type []bounds.Bound, once all of them are computed, and for
// vcsched the load that they are from.
const (
	QuickBounds = "quick bounds"
	PackingLoad = "packing load"
)

// Kept returns a value that Keep has stored, false if there is none.
func Kept[T any](in model.Instance, name string) (x T, ok bool) {
	held.Lock()
	defer held.Unlock()
	if v := held.views[in]; v != nil {
		x, ok = v.kept[name].(T)
	}
	return x, ok
}

// Cache has an instance's integer view made once until release is called, on first use. The instance must not change in
// that time; a view never changes. gapwise.Case.Solve holds it while a solver runs.
func Cache(in model.Instance) (release func()) {
	held.Lock()
	defer held.Unlock()
	v := held.views[in]
	if v == nil {
		v = &view{}
		held.views[in] = v
	}
	v.holders++
	return func() {
		held.Lock()
		defer held.Unlock()
		if v.holders--; v.holders == 0 {
			delete(held.views, in)
		}
	}
}

// viewOf returns the view of an instance that is held, or else makes it.
func viewOf[I model.Instance, V any](in I, build func(I) *V) *V {
	held.Lock()
	v := held.views[in]
	held.Unlock()
	if v == nil {
		return build(in)
	}
	v.once.Do(func() { v.of = build(in) })
	return v.of.(*V)
}
