// SPDX-License-Identifier: MIT

package panics_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/run/panics"
)

func fails(list []int) error { return errors.New(string(rune('a' + list[3]))) }

// A panic of a goroutine goes on where it is waited for, and keeps the stack of where it was.
func TestPanicGoesOn(t *testing.T) {
	t.Parallel()
	done := make(chan error)
	go func() { done <- panics.Call(func() error { return fails(nil) }) }()
	err := panics.Call(func() error { panics.Pass(<-done); return nil })
	var p *panics.Panic
	if !errors.As(err, &p) || !strings.Contains(err.Error(), "index out of range [3]") || !strings.Contains(string(p.Stack), "panics_test.fails") {
		t.Errorf("%v: %s", err, p.Stack)
	}
	if err := panics.Call(func() error { panics.Pass(nil); return fails([]int{0, 0, 0, 2}) }); err == nil || err.Error() != "c" {
		t.Errorf("%v, want c", err)
	}
}
