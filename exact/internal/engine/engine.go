// SPDX-License-Identifier: MIT

// Package engine holds the workers of a run (package run) that prove optima: searches, the learning kernel and solvers
// of linear models.
package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/internal/cp/lcg"
	"github.com/gapwise/gapwise/internal/run"
	"github.com/gapwise/gapwise/model"
)

// Run is a live run of an engine. Engines are its workers.
type Run = run.Run

// Switch is an exact.Device with the bit by which its engine knows it.
type Switch[B ~uint16 | ~uint32] struct {
	Bit           B
	Name, Summary string
}

// Engine is an exact engine for instances I, a model.Solver. What it works without is bits of B and devices of the
// learning kernel. None of them changes the proved result, only how soon it comes.
type Engine[I model.Instance, B ~uint16 | ~uint32] struct {
	ID     string      // its name
	Parts  []Switch[B] // its devices, in the order in which they are listed
	Learns bool        // it also has the devices of the learning kernel
	Proof  bool        // it writes proofs
	// Work finds solutions and bounds for a run until the run ends or there is nothing
	// left to do.
	Work func(r *Run, in I, off B, kernel lcg.Device) error

	off    B
	kernel lcg.Device
}

// Name implements model.Solver.
func (e Engine[I, B]) Name() string { return e.ID }

// Proves implements model.Prover.
func (e Engine[I, B]) Proves() bool { return e.Proof }

// Solve implements model.Solver. Instances of another type than I are
// model.ErrUnsupported.
func (e Engine[I, B]) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	return run.Solve(ctx, e.ID, in, set, func(r *Run, in I) error { return e.Work(r, in, e.off, e.kernel) })
}

// Devices lists the parts that Without can switch off.
func (e Engine[I, B]) Devices() (all []exact.Device) {
	for _, s := range e.Parts {
		all = append(all, exact.Device{Name: s.Name, Summary: s.Summary})
	}
	if e.Learns {
		for _, s := range kernelDevices {
			all = append(all, exact.Device{Name: s.Name, Summary: s.Summary})
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

// Phase returns a phase of the engine by itself: the engine without the given devices.
func (e Engine[I, B]) Phase(name string, off B) Engine[I, B] {
	e.ID += "-" + name
	return e.Off(off)
}

// kernelDevices names the parts of the learning kernel, whatever the problem.
var kernelDevices = []Switch[lcg.Device]{
	{lcg.Learning, "learning", "keeps the nogood of each conflict (Ohrimenko, Stuckey, Codish 2009)"},
	{lcg.Phases, "phases", "first tries the values of the best solution (Demirović, Chu, Stuckey 2018)"},
	{lcg.Upwards, "upwards", "refutes one objective after another from the bound up"},
	{lcg.Downwards, "downwards", "looks for better solutions, in turns with the refutations"},
	{lcg.Overload, "overload", "no-overlap: a window with more work than time is a conflict (Vilím 2004)"},
}
