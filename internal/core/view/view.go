// SPDX-License-Identifier: MIT

// Package view holds the integer view of an instance of each problem: ticks, units,
// arrays. OfBatch, OfDAG and so on make it, and it never changes. Bounds, engines, heuristics and checkers of evidence
// compute with it, so that they agree on feasibility.
package view

import (
	"context"
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

// Case is an instance that is being solved, with its integer view and with consequences that are computed once. The
// instance must not change any more. Contexts carry a Case to solvers and bounds. Several goroutines may use it.
type Case struct {
	instance model.Instance
	once     sync.Once
	view     any
	mu       sync.Mutex
	kept     map[string]any
}

// NewCase returns the Case of an instance.
func NewCase(in model.Instance) *Case { return &Case{instance: in, kept: map[string]any{}} }

// caseKey is the key of a Case in a context.
type caseKey struct{}

// Context returns a context that carries the Case.
func (c *Case) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, caseKey{}, c)
}

// caseOf returns the Case of an instance that a context carries, nil if it carries none or another one's.
func caseOf(ctx context.Context, in model.Instance) *Case {
	if c, ok := ctx.Value(caseKey{}).(*Case); ok && c.instance == in {
		return c
	}
	return nil
}

// Keep stores a consequence of an instance under a name in the Case that ctx carries, if there is one. Only the runner
// of all others stores values, between their turns. So a worker's findings don't depend on the speed of another one.
func Keep(ctx context.Context, in model.Instance, name string, x any) {
	if c := caseOf(ctx, in); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.kept[name] = x
	}
}

// The stored values: the quick bounds of the problem, of type []bounds.Bound, once all of them are computed, and for
// vcsched the load that they are from.
const (
	QuickBounds = "quick bounds"
	PackingLoad = "packing load"
)

// Kept returns a value that Keep has stored, false if there is none.
func Kept[T any](ctx context.Context, in model.Instance, name string) (x T, ok bool) {
	if c := caseOf(ctx, in); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		x, ok = c.kept[name].(T)
	}
	return x, ok
}

// Shared returns the integer view of an instance that make (OfBatch, OfDAG, ...) makes. The Case that ctx carries has it
// made once, on first use.
func Shared[I model.Instance, V any](ctx context.Context, in I, make func(I) *V) *V {
	c := caseOf(ctx, in)
	if c == nil {
		return make(in)
	}
	c.once.Do(func() { c.view = make(in) })
	return c.view.(*V)
}
