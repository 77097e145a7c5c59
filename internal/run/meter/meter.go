// SPDX-License-Identifier: MIT

// Package meter lets functions that work on one thing take turns, by work that they count.
//
// A function that works for long calls Stop where it would look at its context. Without a Seat, Stop does no more. It
// also counts in a Seat, and waits after its turn. So a search is written as if it were alone, and its waits depend on
// the counted work, never on time.
package meter

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrSpent is the cause of the end of a context with a function that may count no more.
var ErrSpent = errors.New("the effort is spent")

// Stop counts an effort since the last call, in about a microsecond of one core each, and reports whether the function
// has to end: its context has ended. The microsecond was 0.6 to 1.4 for most; 3 were measured on task graphs and 2.3 to
// 5.6 on catalogues of offers. Where functions take turns it returns when it is this one's turn again. One goroutine of
// a Seat calls it at a time.
func Stop(ctx context.Context, effort int64) bool {
	yield()
	switch s := ctx.Value(key{}).(type) {
	case *Seat:
		s.count(effort)
	case *limit:
		if s.left -= effort; s.left <= 0 {
			return true
		}
	}
	return ctx.Err() != nil
}

// Ahead is Stop for work that can't be interrupted and is still to be done. Where functions take turns it saves as many
// turns as the work takes, and counts the work when it begins: work that a limit leaves undone isn't counted.
func Ahead(ctx context.Context, effort int64) bool {
	if s, ok := ctx.Value(key{}).(*Seat); ok && s.left < effort {
		s.save(effort)
		return ctx.Err() != nil
	}
	return Stop(ctx, effort)
}

// Counted reports whether the work of a function is counted: it sits in a Seat.
func Counted(ctx context.Context) bool {
	_, ok := ctx.Value(key{}).(*Seat)
	return ok
}

// limit is how much effort is left in a context of Limit.
type limit struct{ left int64 }

// Limit returns a context in which Stop reports true, too, when so much effort is counted. It leaves a Seat out: the
// caller of Limit counts in its place.
func Limit(ctx context.Context, effort int64) context.Context {
	return context.WithValue(ctx, key{}, &limit{effort})
}

// poolKey is the key of a pool in a context.
type poolKey struct{}

// WithThreads returns a context in which all calls of Each together have so many threads,
// unless ctx says already how many there are.
func WithThreads(ctx context.Context, threads int) context.Context {
	if ctx.Value(poolKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, poolKey{}, make(chan struct{}, max(threads, 1)-1))
}

// Each calls a function with the numbers below n, in their order and by as many threads as are free (WithThreads; one
// by default), and returns when all calls have. The thread of the caller is one of them, so that there are no more than
// there may be where calls are nested. Calls must not panic.
func Each(ctx context.Context, n int, call func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			call(i)
		}
	}
	spare, _ := ctx.Value(poolKey{}).(chan struct{})
	var helpers sync.WaitGroup
	begun := make(chan struct{})
	for range min(cap(spare), n-1) {
		helpers.Go(func() {
			select {
			case spare <- struct{}{}:
				work()
				<-spare
			case <-begun:
			}
		})
	}
	work()
	close(begun)
	helpers.Wait()
}

// key is the key of a Seat in its function's context.
type key struct{}

// Seat is where a function sits that takes turns with others. Its methods are called by
// one goroutine at a time.
type Seat struct {
	// Spent is the effort that the function has counted.
	Spent int64

	ctx        context.Context
	leave      context.CancelCauseFunc
	work       func(context.Context) error
	left       int64         // of the turn
	wake, rest chan struct{} // begins a turn; ends it
	begun, up  bool          // it has had a turn; it has ended
	gone       bool          // it has been left, and up is its goroutine's
	err        error
}

// NewSeat returns the seat of a function that hasn't begun.
func NewSeat(ctx context.Context, work func(context.Context) error) *Seat {
	s := &Seat{work: work, wake: make(chan struct{}), rest: make(chan struct{})}
	ctx, s.leave = context.WithCancelCause(ctx)
	s.ctx = context.WithValue(ctx, key{}, s)
	return s
}

// Turn lets the function work until it has counted so much effort or has ended, which it
// reports. A function that counts nothing works to its end. It must not panic.
func (s *Seat) Turn(effort int64) (ended bool, err error) {
	if s.up {
		return true, s.err
	}
	// The excess of a turn is taken from the next ones.
	if s.left += effort; s.left <= 0 {
		return false, nil
	}
	if !s.begun {
		s.begun = true
		go func() {
			s.err = s.work(s.ctx)
			s.up = true
			close(s.rest)
		}()
	} else {
		s.wake <- struct{}{}
	}
	<-s.rest
	return s.up, s.err
}

// Leave ends the context of the function and lets it run out by itself.
func (s *Seat) Leave() { s.end(context.Canceled) }

// Last is Leave for a function with an ended context of its own. It waits until that has returned, or has done nothing
// yet. It returns the function's result so far, in a grace of its own (Grace). If time has ended the context, it waits
// no longer than that grace, and ended is false.
func (s *Seat) Last() (ended bool, err error) {
	if s.up || !s.begun || s.ctx.Err() == nil {
		return s.up, s.err
	}
	s.end(context.Canceled)
	var late <-chan time.Time
	if !errors.Is(context.Cause(s.ctx), ErrSpent) {
		late = time.After(grace)
	}
	select {
	case <-s.rest:
		return s.up, s.err
	case <-late:
		return false, nil
	}
}

func (s *Seat) end(cause error) {
	s.leave(cause)
	if s.begun && !s.gone && !s.up {
		close(s.wake)
	}
	s.gone = true
}

// count ends the turn when it is over, and waits for the next.
func (s *Seat) count(effort int64) {
	if s.ctx.Err() != nil {
		return // it is to end, and nobody waits for it any more
	}
	s.Spent += effort
	if s.left -= effort; s.left > 0 {
		return
	}
	s.rest <- struct{}{}
	<-s.wake
}

// save waits until the skipped turns make up an effort, counts that, and waits once more. So a limit on it ends the
// function before the work.
func (s *Seat) save(effort int64) {
	wait := func() {
		if s.ctx.Err() == nil {
			s.rest <- struct{}{}
			<-s.wake
		}
	}
	for s.left < effort && s.ctx.Err() == nil {
		wait()
	}
	if s.ctx.Err() == nil {
		s.Spent += effort
		s.left -= effort
		wait()
	}
}

// Within lets a function work until it has counted so much effort. Then its context ends
// with ErrSpent, and it is waited for.
func Within(ctx context.Context, effort int64, work func(context.Context) error) error {
	_, err := Spend(ctx, effort, work)
	return err
}

// Spend is Within, and returns how much was counted.
func Spend(ctx context.Context, effort int64, work func(context.Context) error) (spent int64, err error) {
	done := make(chan error, 1)
	s := NewSeat(ctx, func(ctx context.Context) error {
		done <- work(ctx)
		return nil
	})
	_, _ = s.Turn(effort)
	s.end(ErrSpent)
	err = <-done
	Stop(ctx, s.Spent) // where the caller takes turns itself
	return s.Spent, err
}

// grace is the time for completing or judging a result after the end of a context: the caller is in a hurry.
const grace = 250 * time.Millisecond

// Grace returns the context for work that completes or judges a result, which is lost otherwise: ctx or, if that has
// ended, one that ends soon. If effort is limited, effort ends the context, so that the result doesn't depend on the
// machine.
func Grace(ctx context.Context) (context.Context, context.CancelFunc) {
	x, _ := ctx.Value(key{}).(*limit)
	switch spent := x != nil && x.left <= 0; {
	case ctx.Err() == nil && !spent:
		return ctx, func() {}
	case spent || errors.Is(context.Cause(ctx), ErrSpent):
		return Limit(context.WithoutCancel(ctx), grace.Microseconds()), func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), grace)
}

// Late returns a context that ends some time after another one, or with the function that is returned: for work that
// takes longer than Grace, and is to go on while the other context does.
func Late(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(after, cancel) })
	return late, func() {
		stop()
		cancel()
	}
}

// StopReason says why a function was stopped by its context, or nothing if it wasn't.
func StopReason(ctx context.Context) string {
	switch err := ctx.Err(); {
	case err == nil:
		return ""
	case errors.Is(context.Cause(ctx), ErrSpent):
		return "stopped by the limit of its effort"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return OutOfTime
}

// OutOfTime is the reason of a run that its time limit ended.
const OutOfTime = "stopped by the time limit"
