// SPDX-License-Identifier: MIT

// Package view holds the integer view of an instance of each problem: ticks, units,
// arrays. It is made once (OfBatch, OfDAG, ...) and never changed. Bounds, engines,
// heuristics and checkers of evidence compute with it, so that they agree on what fits.
package view

import (
	"sync"

	"github.com/gapwise/gapwise/model"
)

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
}

// Cache has an instance's integer view made once until release is called, by whoever
// asks for it first. The instance must not change meanwhile; nobody changes a view.
// gapwise.Case.Solve holds it while a solver runs.
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
