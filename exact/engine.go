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
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/model"
)

// Device is a part of an engine that can be switched off to see what it
// brings: a bound, a dominance rule, a cut, a phase, a neighbourhood.
type Device struct {
	Name    string // in kebab-case, the field's term: "dominance"
	Summary string // one line, with the reference
}

// Switch is a device with the bit by which its engine knows it.
type Switch[B ~uint16 | ~uint32] struct {
	Bit B
	Device
}

// Engine is an exact engine for instances I, a model.Solver. What it works without is
// bits of B and devices of the learning kernel. None of them changes what is proved,
// only how soon.
type Engine[I model.Instance, B ~uint16 | ~uint32] struct {
	ID     string      // its name
	Parts  []Switch[B] // its devices, in the order in which they are listed
	Learns bool        // those of the learning kernel are its, too
	Proof  bool        // it writes proofs
	// Work finds solutions and bounds for a run until the run ends or there is nothing
	// left to do.
	Work func(r *Run, in I, off B, kernel lcg.Device) error

	off    B
	kernel lcg.Device
}

// Switchable is an engine whose devices can be switched off, whatever its problem.
type Switchable interface {
	model.Solver
	Devices() []Device
	Without(names ...string) (model.Solver, error)
}

// Name implements model.Solver.
func (e Engine[I, B]) Name() string { return e.ID }

// Proves implements model.Prover.
func (e Engine[I, B]) Proves() bool { return e.Proof }

// Solve implements model.Solver. Instances of another type than I are
// model.ErrUnsupported.
func (e Engine[I, B]) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return start(ctx, e.ID, in, set, func(r *Run, in I) error { return e.Work(r, in, e.off, e.kernel) })
}

// Devices lists the parts that Without can switch off.
func (e Engine[I, B]) Devices() (all []Device) {
	for _, s := range e.Parts {
		all = append(all, s.Device)
	}
	if e.Learns {
		for _, s := range kernelDevices {
			all = append(all, s.Device)
		}
	}
	return all
}

// Without returns the engine with the named devices switched off. It proves the same,
// later. An unknown name is an error that lists the known ones.
func (e Engine[I, B]) Without(names ...string) (model.Solver, error) {
	for _, name := range names {
		if k := slices.IndexFunc(e.Parts, func(s Switch[B]) bool { return s.Name == name }); k >= 0 {
			e.off |= e.Parts[k].Bit
		} else if k := slices.IndexFunc(kernelDevices, func(s Switch[lcg.Device]) bool { return s.Name == name }); k >= 0 && e.Learns {
			e.kernel |= kernelDevices[k].Bit
		} else {
			var known []string
			for _, d := range e.Devices() {
				known = append(known, d.Name)
			}
			return e, fmt.Errorf("the %s has no device %q for %s, it has %s", e.ID, name, (*new(I)).Kind(), strings.Join(known, ", "))
		}
	}
	return e, nil
}

// Off returns the engine without some more of its own devices.
func (e Engine[I, B]) Off(off B) Engine[I, B] {
	e.off |= off
	return e
}

// Phase returns a phase of the engine by itself: what is left without the given devices.
func (e Engine[I, B]) Phase(name string, off B) Engine[I, B] {
	e.ID += "-" + name
	return e.Off(off)
}

// kernelDevices names the parts of the learning kernel, whatever the problem.
var kernelDevices = []Switch[lcg.Device]{
	{lcg.Learning, Device{"learning", "keeps the nogood of each conflict (Ohrimenko, Stuckey, Codish 2009)"}},
	{lcg.Minimisation, Device{"minimisation", "drops premises of a nogood that follow from others (Sörensson, Biere 2009)"}},
	{lcg.Restarts, Device{"restarts", "begins anew after 100 conflicts times Luby's sequence (Luby, Sinclair, Zuckerman 1993)"}},
	{lcg.Phases, Device{"phases", "tries first what the best solution has (Demirović, Chu, Stuckey 2018)"}},
	{lcg.Upwards, Device{"upwards", "refutes one objective after another from the bound up"}},
	{lcg.Downwards, Device{"downwards", "looks for better solutions, in turns with the refutations"}},
	{lcg.PrecedenceSets, Device{"precedence-sets", "no-overlap: an activity starts when all that go before it can have ended"}},
	{lcg.Overload, Device{"overload", "no-overlap: a window with more work than time is a conflict (Vilím 2004)"}},
	{lcg.Transitivity, Device{"transitivity", "no-overlap: an activity goes before all that go after one that it goes before"}},
}
