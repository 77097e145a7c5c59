// Package exact holds what the engines that prove optimality share. The engines
// live one folder down, by problem: a native search where the problem has a
// structure to use, and HiGHS on the linear formulations of package bounds.
package exact

import (
	"context"
	"errors"
)

// Tolerance is what HiGHS is asked to satisfy rows, integrality and optimality
// to. A bound of HiGHS is widened by Margin times the tolerance that it ended
// with before it is called a bound, which still proves gaps below 1e-6. (At 1e-9
// HiGHS 1.10 has given a wrong optimum.) Points are rounded and valued anew.
const (
	Tolerance = 1e-8
	Margin    = 10
)

// StopReason says why a search was stopped, or nothing if it wasn't.
func StopReason(ctx context.Context) string {
	switch err := ctx.Err(); {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return "stopped by the time limit"
}

// Device is a part of a native search that can be switched off to see what it
// brings: a bound, a dominance rule, a cut, a phase, a neighbourhood.
type Device struct {
	Name    string // in kebab-case, the field's term: "dominance"
	Summary string // one line, with the reference
}

// SearchName names a native search, or the one of its phases that runs alone.
func SearchName(phase string) string {
	if phase == "" {
		return "search"
	}
	return "search-" + phase
}
