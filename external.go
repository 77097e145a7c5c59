// SPDX-License-Identifier: MIT

package gapwise

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/heuristics/command"
	"github.com/gapwise/gapwise/heuristics/online/wire"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/external"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// Externals lists the other solvers of linear models: programs that solve a problem's
// formulations by MPS files, and lanl, which is HiGHS by another binding (highs.Lanl).
// A command that does the same can also be named, by mps:COMMAND (see docs/how-to/bring-your-own.md). Algorithms
// doesn't list them, since their programs needn't be there. NAME-FORMULATION as an algorithm names one on another
// formulation than the default.
func Externals() []string { return append(external.Names(), highs.Lanl.Name) }

// isExternal reports whether an engine is one of Externals or a command.
func isExternal(name string) bool { return name == highs.Lanl.Name || external.Known(name) }

// programs is false if no other program can be run: the page then leaves out the algorithms that run one.
const programs = runtime.GOOS != "js"

var errNoPrograms = fmt.Errorf("%w: a browser runs no other programs", model.ErrUnsupported)

// backendOf returns the solver of an engine that isExternal knows.
func backendOf(name string) (milp.Backend, error) {
	if name == highs.Lanl.Name {
		return highs.Lanl, highs.Lanl.Missing()
	}
	if !programs {
		return milp.Backend{}, errNoPrograms
	}
	return external.Backend(name)
}

// ExternalVersion returns name and version of the program of an engine, as "CBC
// 2.10.8"; "" if it isn't one of Externals.
func ExternalVersion(engine string) string {
	if engine == highs.Lanl.Name || strings.HasPrefix(engine, highs.Lanl.Name+"-") {
		_, native := highs.Versions()
		return strings.TrimSpace("HiGHS " + native)
	}
	for _, name := range Externals() {
		if programs && (engine == name || strings.HasPrefix(engine, name+"-")) {
			return external.Version(name)
		}
	}
	return ""
}

// findExternal returns the algorithm that a name of Externals or mps:COMMAND names,
// perhaps with a formulation; false if the name is no such.
func findExternal(kind model.Kind, name string) (a model.Algorithm, ok bool, err error) {
	p, err := ProblemOf(kind)
	if err != nil {
		return a, false, err
	}
	formulation := ""
	if !isExternal(name) {
		k := slices.IndexFunc(p.Formulations, func(f string) bool { return strings.HasSuffix(name, "-"+f) })
		if k < 0 {
			return a, false, nil
		}
		formulation = p.Formulations[k]
		if name = strings.TrimSuffix(name, "-"+formulation); !slices.Contains(Externals(), name) {
			return a, false, nil
		}
	}
	a, err = ofExternal(p, name, formulation)
	return a, true, err
}

// ofExternal returns the engine that solves a formulation of a problem, "" for the
// default, by an external solver. The error is model.ErrUnsupported if its program
// isn't there.
func ofExternal(p *Problem, name, formulation string) (model.Algorithm, error) {
	if p.Linear == nil {
		return model.Algorithm{}, fmt.Errorf("%w: %s has no linear model for %s", model.ErrUnsupported, p.Kind, name)
	}
	b, err := backendOf(name)
	if errors.Is(err, external.ErrMissing) {
		return model.Algorithm{}, fmt.Errorf("%w: %w", model.ErrUnsupported, err)
	}
	if errors.Is(err, model.ErrUnsupported) {
		return model.Algorithm{}, err
	}
	if err != nil {
		return model.Algorithm{}, fmt.Errorf("%w engine: %w", model.ErrInvalid, err)
	}
	return model.Engine(p.Kind, p.Linear(formulation, b), "", b.Title+" on the formulation "+formulation), nil
}

// ofPolicy returns the online policy that another program is, see heuristics/online/wire.
func ofPolicy(kind model.Kind, name string) (model.Algorithm, error) {
	if !programs {
		return model.Algorithm{}, errNoPrograms
	}
	s, err := wire.New(kind, name)
	if err != nil {
		return model.Algorithm{}, err
	}
	return model.Algorithm{Name: s.Name(), Kind: kind, Class: model.Online, Summary: "a policy that is another program", Complexity: "unknown",
		Seeded: true, Solver: s}, nil
}

// ofCommand returns the heuristic that a command is.
func ofCommand(kind model.Kind, name string) (model.Algorithm, error) {
	if !programs {
		return model.Algorithm{}, errNoPrograms
	}
	s, err := command.New(name, CompleteSolution)
	if err != nil {
		return model.Algorithm{}, err
	}
	return model.Algorithm{Name: s.Name(), Kind: kind, Class: model.Offline, Summary: "a program", Complexity: "unknown", Seeded: true, Solver: s}, nil
}

// RefusedError reports that the solution of a command can't be read, doesn't fit the instance, or was refused by the
// judge. That is its author's mistake, not a defect of gapwise. Its fields are Name, the command's name in results, and
// Err, the reason. It wraps both Err and model.ErrInfeasible.
type RefusedError = command.RefusedError
