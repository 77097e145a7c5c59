// SPDX-License-Identifier: MIT

package meter_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
)

// Functions work in the order of their turns, and only for their effort, at any cost.
func TestTurns(t *testing.T) {
	t.Parallel()
	var did []string
	step := func(name string, costs int64, steps int) func(context.Context) error {
		return func(ctx context.Context) error {
			for k := range steps {
				did = append(did, fmt.Sprint(name, k))
				if meter.Stop(ctx, costs) {
					return errors.New(name + " was stopped")
				}
			}
			return nil
		}
	}
	a, b, c := meter.NewSeat(t.Context(), step("a", 10, 5)), meter.NewSeat(t.Context(), step("b", 25, 3)), meter.NewSeat(t.Context(), step("c", 1, 1000))
	for range 3 {
		for _, s := range []*meter.Seat{a, b} {
			require.OK(t, require.Err(s.Turn(20)))
		}
	}
	// The first step of b takes 5 more than its turn, which the second turn is shorter by.
	if want := []string{"a0", "a1", "b0", "a2", "a3", "b1", "a4", "b2"}; !slices.Equal(did, want) {
		t.Errorf("%v, want %v", did, want)
	}
	if ended, err := a.Turn(20); !ended || err != nil || a.Spent != 50 || b.Spent != 75 {
		t.Errorf("a ended %v, %v; spent %d and %d", ended, err, a.Spent, b.Spent)
	}
	if ended, err := b.Turn(100); !ended || err != nil {
		t.Errorf("b ended %v, %v", ended, err)
	}
	if ended, _ := c.Turn(7); ended || c.Spent != 7 {
		t.Errorf("c ended %v after %d", ended, c.Spent)
	}
	c.Leave()
	a.Leave()
	meter.NewSeat(t.Context(), step("d", 1, 1)).Leave()
}

// If there is no seat, Stop says whether the context has ended.
func TestStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if meter.Stop(ctx, 1) {
		t.Error("stopped before its context ended")
	}
	cancel()
	if !meter.Stop(ctx, 1) {
		t.Error("goes on")
	}
	// If there is one, it doesn't wait for a turn that nobody gives.
	s := meter.NewSeat(ctx, func(ctx context.Context) error {
		for !meter.Stop(ctx, 1) {
		}
		return ctx.Err()
	})
	if ended, err := s.Turn(1); !ended || !errors.Is(err, context.Canceled) {
		t.Errorf("ended %v, %v", ended, err)
	}
}

// Leaving ends a function that waits.
func TestLeave(t *testing.T) {
	t.Parallel()
	ended := make(chan bool)
	s := meter.NewSeat(t.Context(), func(ctx context.Context) error {
		for !meter.Stop(ctx, 1) {
		}
		close(ended)
		return nil
	})
	if up, _ := s.Turn(3); up {
		t.Fatal("ended by itself")
	}
	s.Leave()
	<-ended
}

// Within ends a function where its effort is spent, with a cause of its own, and inside a
// seat that effort counts there, too.
func TestWithin(t *testing.T) {
	t.Parallel()
	steps := 0
	endless := func(ctx context.Context) error {
		for steps = 0; !meter.Stop(ctx, 3); steps++ {
		}
		return context.Cause(ctx)
	}
	if err := meter.Within(t.Context(), 100, endless); !errors.Is(err, meter.ErrSpent) || steps != 33 {
		t.Errorf("%v after %d steps", err, steps)
	}
	short := errors.New("ended")
	require.Refused(t, "meter.Within", meter.Within(t.Context(), 100, func(context.Context) error { return short }),
		short, "")
	outer := meter.NewSeat(t.Context(), func(ctx context.Context) error { return meter.Within(ctx, 100, endless) })
	if ended, err := outer.Turn(1000); !ended || !errors.Is(err, meter.ErrSpent) || outer.Spent != 102 {
		t.Errorf("ended %v, %v, %d spent", ended, err, outer.Spent)
	}
}

// Work ahead waits for as many turns as it takes, and is counted when it begins. Work that a limit leaves undone isn't
// counted, nor is work that has begun when nobody waits any more. A function with an ended context hands over its
// result; one that doesn't end is not waited for.
func TestLast(t *testing.T) {
	t.Parallel()
	found := 0
	endless := func(ctx context.Context) error {
		for !meter.Stop(ctx, 1) {
		}
		found = 7
		return nil
	}
	if err := meter.Within(t.Context(), 100, func(ctx context.Context) error {
		s := meter.NewSeat(ctx, endless)
		if ended, err := s.Last(); ended || err != nil {
			t.Errorf("before its first turn it has ended: %v, %v", ended, err)
		}
		_, _ = s.Turn(30)
		if ended, err := s.Last(); ended || err != nil || found != 0 {
			t.Errorf("before the limit it has ended: %v, %v", ended, err)
		}
		meter.Stop(ctx, 100)
		<-ctx.Done()
		if ended, err := s.Last(); !ended || err != nil || found != 7 {
			t.Errorf("at the limit it has found %d: %v, %v", found, ended, err)
		}
		s.Leave()
		return nil
	}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	deaf := make(chan bool)
	s := meter.NewSeat(ctx, func(ctx context.Context) error {
		meter.Stop(ctx, 1)
		<-deaf
		return nil
	})
	_, _ = s.Turn(1)
	cancel()
	if ended, err := s.Last(); ended || err != nil {
		t.Errorf("it can't have ended: %v, %v", ended, err)
	}
	s.Leave()
	close(deaf)
}

func TestAhead(t *testing.T) {
	t.Parallel()
	began := false
	s := meter.NewSeat(t.Context(), func(ctx context.Context) error {
		meter.Stop(ctx, 2)
		began = !meter.Ahead(ctx, 25)
		return nil
	})
	for turn := range 4 {
		// 10 - 2 are left of the first, 18 with the second, 28 with the third, in which they are counted.
		ended, err := s.Turn(10)
		if want := turn == 3; ended != want || began != want || err != nil {
			t.Fatalf("turn %d: ended %v, began %v, %v", turn, ended, began, err)
		}
	}
	require.Same(t, "spent", 27, s.Spent)
	outer := meter.NewSeat(t.Context(), func(ctx context.Context) error {
		return meter.Within(ctx, 100, func(ctx context.Context) error {
			meter.Stop(ctx, 5)
			if !meter.Ahead(ctx, 1000) {
				t.Error("it begins what is beyond the limit")
			}
			return context.Cause(ctx)
		})
	})
	if ended, err := outer.Turn(10); !ended || !errors.Is(err, meter.ErrSpent) || outer.Spent != 5 {
		t.Errorf("ended %v, %v, %d spent", ended, err, outer.Spent)
	}
	if !meter.Ahead(meter.Limit(t.Context(), 30), 40) || meter.Ahead(t.Context(), 1<<40) {
		t.Error("a limit holds, and without one there is none")
	}
}

// Calls begin in their order, and no more at once than there are threads, in all nested
// calls together.
func TestEach(t *testing.T) {
	t.Parallel()
	for threads := 1; threads <= 3; threads++ {
		ctx := meter.WithThreads(meter.WithThreads(t.Context(), threads), 9)
		var at, most, sum atomic.Int64
		meter.Each(ctx, 5, func(i int) {
			meter.Each(ctx, 4, func(k int) {
				for now, m := at.Add(1), most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				sum.Add(int64(10*i + k))
				runtime.Gosched()
				at.Add(-1)
			})
		})
		if most.Load() > int64(threads) || sum.Load() != 4*(0+10+20+30+40)+5*(0+1+2+3) {
			t.Errorf("%d threads: %d at once, sum %d", threads, most.Load(), sum.Load())
		}
	}
	var did []int
	meter.Each(t.Context(), 3, func(i int) { did = append(did, i) })
	if !slices.Equal(did, []int{0, 1, 2}) {
		t.Errorf("on one thread: %v", did)
	}
}

// In the context of a limit effort is counted to it and not to the turn.
func TestLimit(t *testing.T) {
	t.Parallel()
	var steps []int
	s := meter.NewSeat(t.Context(), func(ctx context.Context) error {
		for range 2 {
			within, k := meter.Limit(ctx, 30), 0
			for !meter.Stop(within, 10) {
				k++
			}
			steps = append(steps, k)
		}
		return nil
	})
	if ended, err := s.Turn(1); !ended || err != nil || s.Spent != 0 || !slices.Equal(steps, []int{2, 2}) {
		t.Errorf("ended %v, %v, spent %d, steps %v", ended, err, s.Spent, steps)
	}
}

// A late context outlives the other one by its time, and ends with its own function.
func TestLate(t *testing.T) {
	for after, goesOn := range map[time.Duration]bool{time.Hour: true, 0: false} {
		ctx, cancel := context.WithCancel(t.Context())
		late, end := meter.Late(ctx, after)
		if late.Err() != nil {
			t.Error("it ended before the other one")
		}
		if cancel(); !goesOn {
			<-late.Done()
		} else if late.Err() != nil {
			t.Error("it ended with the other one")
		}
		end()
		<-late.Done()
	}
}
