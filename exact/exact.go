// SPDX-License-Identifier: MIT

// Package exact states the rules for an engine that proves optimality. Engines live one folder down, by problem: a
// native search where the problem has a structure to use, and HiGHS on the linear formulations of package bounds. What
// they share is in exact/internal/engine.
//
// An engine is a model.Solver under this contract:
//
//   - It says optimal if it holds a solution, with the objective that the instance computes for it, and a proof that
//     none is better by more than the gap asked for. It says infeasible if it holds a proof that there is none. Proofs
//     are computed in integers, or in floating-point numbers with an error bound; HiGHS's proofs count under the rules
//     of its type Linear.
//   - It stops within 100 ms of the end of its context or its time limit. It returns the results found and proved so
//     far, and gives as the Reason why it proves no more. That is no error.
//   - A Start that is a solution of the instance is never made worse.
//   - Its nodes are the expanded partial solutions or subproblems, or HiGHS's branch-and-bound nodes; they only compare
//     between runs of one engine. Nodes depend on the instance and the settings, not on time, unless a limit stopped
//     the run.
package exact

import "github.com/gapwise/gapwise/model"

// Device is a part of an engine that can be switched off to see its effect: a bound, a dominance rule, a cut, a phase,
// a neighbourhood.
type Device struct {
	Name    string // in kebab-case, the field's term: "dominance"
	Summary string // one line, with the reference
}

// Switchable is an engine with devices that can be switched off, for any problem.
type Switchable interface {
	model.Solver
	Devices() []Device
	Without(names ...string) (model.Solver, error)
}
