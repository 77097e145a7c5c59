// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"slices"
)

// unlessDone calls a function without a context that takes some tenths of a second for a million items, but doesn't
// wait for it when the context ends. A panic is passed on.
func unlessDone(ctx context.Context, f func() error) error {
	if ctx.Done() == nil {
		return f()
	}
	type outcome struct {
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.err = f()
	}()
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return o.err
	case <-ctx.Done():
		return fmt.Errorf("stopped: %w", ctx.Err())
	}
}

// stopped reports at every 1024th step, and at the first, whether the context has ended.
func stopped(ctx context.Context, step int) bool { return step&1023 == 0 && ctx.Err() != nil }

// finder returns a function that finds one of n items by its id. While the ids are asked for in the order of the items
// it scans on from the last one found. It makes a map at the first id that isn't ahead. Once the context has ended its
// answers are of no use.
func finder(ctx context.Context, n int, idOf func(k int) string) func(id string) (int, bool) {
	ahead := 0
	var index map[string]int
	return func(id string) (int, bool) {
		for ; index == nil && ahead < n && !stopped(ctx, ahead); ahead++ {
			if idOf(ahead) == id {
				ahead++
				return ahead - 1, true
			}
		}
		if index == nil {
			index = make(map[string]int, n)
			for k := 0; k < n && !stopped(ctx, k); k++ {
				index[idOf(k)] = k
			}
		}
		k, ok := index[id]
		return k, ok
	}
}

// sortFunc is slices.SortStableFunc by merging sorted parts. Once the context has ended it
// leaves nothing of use.
func sortFunc[E any](ctx context.Context, all []E, compare func(a, b E) int) {
	sortWith(ctx, all, nil, compare)
}

// sortWith is sortFunc with room for half of them; nil: it makes some.
func sortWith[E any](ctx context.Context, all, room []E, compare func(a, b E) int) {
	const part = 4096
	if len(all) <= part {
		slices.SortStableFunc(all, compare)
		return
	}
	half := len(all) / 2
	if room == nil {
		room = make([]E, half)
	}
	sortWith(ctx, all[:half], room, compare)
	sortWith(ctx, all[half:], room, compare)
	if ctx.Err() != nil {
		return
	}
	left, right := room[:copy(room, all[:half])], all[half:]
	for k := 0; len(left) > 0; k++ {
		switch {
		case stopped(ctx, k):
			return
		case len(right) > 0 && compare(right[0], left[0]) < 0:
			all[k], right = right[0], right[1:]
		default:
			all[k], left = left[0], left[1:]
		}
	}
}
