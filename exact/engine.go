// Package exact says what an engine that proves optimality has to keep to, and
// holds what the engines share. They live one folder down, by problem: a native
// search where the problem has a structure to use, and HiGHS on the linear
// formulations of package bounds.
//
// An engine is a model.Solver under this contract:
//
//   - It says optimal if it holds a solution, with the objective that the instance
//     computes for it, and a proof that none is better by more than the gap asked
//     for; infeasible if it holds a proof that there is none. Proofs are computed in
//     integers, or in floating-point numbers with an error bound; those of HiGHS
//     count under the rules of the type Linear.
//   - It stops within 100 ms of the end of its context or its time limit, hands
//     back what it has found and proved by then, and gives as the Reason why it
//     proves no more. That is no error.
//   - A Start that is a solution of the instance is never made worse.
//   - Its nodes are the partial solutions or subproblems that it expanded, for
//     HiGHS those of its branch and bound: comparable between runs of one engine
//     alone. Nodes depend on the instance and the settings, not on time, unless a
//     limit stopped the run.
package exact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// StopReason says why a search was stopped, or nothing if it wasn't.
func StopReason(ctx context.Context) string {
	switch err := ctx.Err(); {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return outOfTime
}

const outOfTime = "stopped by the time limit"

// Device is a part of a native search that can be switched off to see what it
// brings: a bound, a dominance rule, a cut, a phase, a neighbourhood.
type Device struct {
	Name    string // in kebab-case, the field's term: "dominance"
	Summary string // one line, with the reference
}

// Switch is a device with the bit by which its search knows it.
type Switch[B ~uint16 | ~uint32] struct {
	Bit B
	Device
}

// DevicesOf lists the devices of some switches.
func DevicesOf[B ~uint16 | ~uint32](switches []Switch[B]) []Device {
	all := make([]Device, len(switches))
	for k, s := range switches {
		all[k] = s.Device
	}
	return all
}

// BitsOf returns the bits of the named devices of a problem's search. An unknown
// name is an error that lists the known ones.
func BitsOf[B ~uint16 | ~uint32](problem string, switches []Switch[B], names []string) (off B, err error) {
	for _, name := range names {
		k := slices.IndexFunc(switches, func(s Switch[B]) bool { return s.Name == name })
		if k < 0 {
			var known []string
			for _, s := range switches {
				known = append(known, s.Name)
			}
			return 0, fmt.Errorf("the %s search has no device %q, it has %s", problem, name, strings.Join(known, ", "))
		}
		off |= switches[k].Bit
	}
	return off, nil
}

// SearchName names a native search, or the one of its phases that runs alone.
func SearchName(phase string) string {
	if phase == "" {
		return "search"
	}
	return "search-" + phase
}
