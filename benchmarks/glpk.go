// SPDX-License-Identifier: MIT

package benchmarks

import (
	"context"
	"fmt"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/external"
)

// runs.GLPK is an algorithm of plans only. It is the engine glpsol timed by the CPU time of GLPK's process: it has one
// thread, and other work on the machine doesn't count. GLPK is the solver of the VCSched paper.

// glpkEngine is the name of the engine.
const glpkEngine = "glpsol"

// glpkThere returns an error if glpsol isn't on PATH.
func glpkThere() error {
	if _, err := external.Backend(glpkEngine); err != nil {
		return fmt.Errorf("%w plan: algorithm %s: %w", model.ErrInvalid, runs.GLPK, err)
	}
	return nil
}

// glpk is a model.Solver that has GLPK solve a formulation.
type glpk struct{ formulation string }

func (glpk) Name() string { return runs.GLPK }

func (g glpk) Solve(ctx context.Context, in model.Instance, set model.Settings) (model.Result, error) {
	p, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return model.Result{}, err
	}
	b, err := external.Backend(glpkEngine)
	if err != nil {
		return model.Result{}, err
	}
	b.CPUTime = true
	r, err := p.Linear(g.formulation, b).Solve(ctx, in, set)
	r.Algorithm = g.Name()
	return r, err
}

// tools names what else a run by the algorithm depends on.
func (a *Algorithm) tools() string {
	names := []string{a.Name}
	switch a.Name {
	case "exact":
		names = gapwise.EngineNames(a.Engine)
	case runs.GLPK:
		names = []string{glpkEngine}
	}
	all := runs.Built().Tools()
	for _, name := range names {
		if v := gapwise.ExternalVersion(name); v != "" {
			all += ", " + v
		}
	}
	return all
}
