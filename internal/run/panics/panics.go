// SPDX-License-Identifier: MIT

// Package panics carries a panic from its goroutine to one that waits for it. A panic that nobody recovers in a
// goroutine of its own ends the process, even if its command has yet to say or to write something.
package panics

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Panic is the value of a panic, and its place.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Of returns the value of recover as a Panic: itself, if another goroutine's panic is passed on, else with the stack,
// on which recover must have been called.
func Of(value any) *Panic {
	if p, ok := value.(*Panic); ok {
		return p
	}
	return &Panic{value, debug.Stack()}
}

// Call calls a function in a goroutine. It returns its error, a *Panic if it panics. A function that waits for the
// goroutine and has no error to return calls Pass.
func Call(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = Of(value)
		}
	}()
	return f()
}

// Pass goes on with a panic that Call caught; nil passes.
func Pass(err error) {
	if err != nil {
		panic(err)
	}
}

// PassPanic goes on with a panic that Call caught; nil and other errors pass.
func PassPanic(err error) {
	var p *Panic
	if errors.As(err, &p) {
		panic(p)
	}
}

// Within calls a function in a goroutine and waits for it, after ctx has ended no longer than
// late says. It reports whether the function has returned, with its error as Call has it; if
// not, the function goes on by itself.
func Within(ctx context.Context, late func() time.Duration, f func() error) (returned bool, err error) {
	done := make(chan error, 1)
	go func() { done <- Call(f) }()
	select {
	case err := <-done:
		return true, err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return true, err
	case <-time.After(late()):
		return false, nil
	}
}
