// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp"
	"github.com/gapwise/gapwise/model/milp/external"
	"github.com/gapwise/gapwise/model/milp/highs"
)

// tools are the solvers that are tested for real, with their packages.
var tools = map[string]string{"glpsol": "glpk-utils", "cbc": "coinor-cbc", highs.Lanl.Name: ""}

// needBackend returns the solver of a name, or skips the test.
func needBackend(t *testing.T, name string) milp.Backend {
	if name == highs.Lanl.Name {
		if err := highs.Lanl.Missing(); err != nil {
			t.Skip(err)
		}
		return highs.Lanl
	}
	require.Tool(t, name, tools[name])
	return require.Value(external.Backend(name))(t)
}

// The programs that solve MPS files, and the other binding of HiGHS, agree with ours
// on every formulation of every problem: about its optimum, and that there is none.
func TestExternalsAgreeWithHiGHS(t *testing.T) {
	require.HiGHS(t)
	most := 8 + require.Rounds(16)
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		all := smallInstances(t, p, 16)
		for _, formulation := range p.Formulations {
			answers := sync.OnceValues(func() ([]answer, error) {
				return askHiGHS(t.Context(), spread(supported(t, all, formulation), most), formulation)
			})
			for engine := range tools {
				t.Run(engine+" "+formulation, func(t *testing.T) {
					t.Parallel()
					b := needBackend(t, engine)
					asked := require.Value(answers())(t)
					found := 0
					for _, a := range asked {
						want := a.Result
						got, err := b.Solve(t.Context(), &a.f.Model, milp.Options{})
						require.OK(t, err, a.in.ID())
						if got.Status != want.Status || got.Feasible != want.Feasible {
							t.Errorf("%s: %v, HiGHS says %v", a.in.ID(), got.Status, want.Status)
						}
						if !got.Feasible {
							continue
						}
						found++
						tolerance := 1e-6 * max(1, math.Abs(want.Objective))
						if math.Abs(got.Objective-want.Objective) > tolerance || math.Abs(got.Bound-want.Objective) > tolerance || !(a.f.Violation(got.X) <= 1e-5) {
							t.Errorf("%s: objective %v, bound %v, violation %v; HiGHS has %v", a.in.ID(), got.Objective, got.Bound, a.f.Violation(got.X), want.Objective)
						}
					}
					if found < most/2 {
						t.Errorf("%d instances with a solution say little", found)
					}
				})
			}
		}
	})
}

// answer is HiGHS's answer on an instance's formulation.
type answer struct {
	in model.Instance
	f  *milp.Formulation[model.Solution]
	milp.Result
}

// askHiGHS solves the formulations of instances, once for all solvers that are compared with it.
func askHiGHS(ctx context.Context, all []model.Instance, name string) ([]answer, error) {
	answers := make([]answer, len(all))
	for k, in := range all {
		f, err := gapwise.Formulation(ctx, in, name)
		if err != nil {
			return nil, err
		}
		r, err := highs.Solve(ctx, &f.Model, milp.Options{})
		if err != nil {
			return nil, err
		}
		answers[k] = answer{in, f, r}
	}
	return answers, nil
}

// supported returns the instances that a formulation takes.
func supported(t *testing.T, all []model.Instance, formulation string) (some []model.Instance) {
	for _, in := range all {
		if _, err := gapwise.Formulation(t.Context(), in, formulation); err == nil {
			some = append(some, in)
		} else if !errors.Is(err, model.ErrUnsupported) {
			t.Fatal(err)
		}
	}
	return some
}

// spread returns about so many instances, in equal steps.
func spread(all []model.Instance, most int) (some []model.Instance) {
	for k, in := range all {
		if k == 0 || k*most/len(all) != (k-1)*most/len(all) {
			some = append(some, in)
		}
	}
	return some
}

// Needs that differ by some millionths make placements with yields that differ by as little. A solver that stops within
// its own increment (CBC's is 1e-5) calls one of the worse ones optimal; no other does.
func TestExternalsNearTies(t *testing.T) {
	t.Parallel()
	require.HiGHS(t)
	rng := rand.New(rand.NewPCG(5, 47))
	for k := range 6 {
		in := &model.VCSched{Name: fmt.Sprint("ties ", k), Hosts: 2}
		for j := range 5 + k%2 {
			cpu := math.Round(450_000+8*rng.Float64()) / 1e6
			in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint("j", j), Tasks: 1, CPU: cpu, Memory: 0.1})
		}
		want := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "search"}))(t)
		for _, engine := range []string{"highs", "cbc", "glpsol"} {
			if engine != "highs" {
				needBackend(t, engine)
			}
			r := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "exact", Engine: engine}))(t)
			if r.Status == model.StatusOptimal && r.Objective < want.Objective*(1-1e-6) || r.Bound < want.Objective*(1-1e-9) {
				t.Errorf("%s: %s %v, bound %v; the optimum is %v", engine, r.Status, r.Objective, r.Bound, want.Objective)
			}
		}
	}
}

// "both" is the default engine and HiGHS, whatever the default's name.
func TestBoth(t *testing.T) {
	require.HiGHS(t)
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		for _, in := range smallInstances(t, p, 1) {
			r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "exact", Engine: "both"})
			switch {
			case errors.Is(err, model.ErrUnsupported): // by HiGHS, which has no model of two tiers, queues or contention
			case err != nil || r.Algorithm != p.Default+"+highs":
				t.Fatalf("by %q: %v", r.Algorithm, err)
			default:
				return
			}
		}
		t.Error("no instance has both")
	})
}

// As engines, by the rules of engine.Linear, they agree with the native search.
func TestExternalsAgreeWithSearch(t *testing.T) {
	const most = 12
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		for _, in := range spread(smallInstances(t, p, 1), most) {
			t.Run(in.ID(), func(t *testing.T) {
				t.Parallel()
				c := gapwise.NewCase(in)
				want, err := c.Solve(t.Context(), gapwise.Options{Algorithm: "exact"})
				if errors.Is(err, model.ErrUnsupported) {
					t.Skip("the search doesn't take it")
				}
				require.OK(t, err)
				for engine := range tools {
					needBackend(t, engine)
					r, err := c.Solve(t.Context(), gapwise.Options{Algorithm: "exact", Engine: engine})
					if errors.Is(err, model.ErrUnsupported) {
						continue
					}
					require.OK(t, err)
					if err := gapwise.Join(in, []model.Result{want, r}, model.DefaultGap); err != nil {
						t.Error(err)
					}
					switch {
					case want.Status == model.StatusInfeasible && r.Status != model.StatusUnknown && r.Status != model.StatusInfeasible:
						t.Errorf("%s: %s, the search says infeasible", engine, r.Status)
					case want.Status == model.StatusInfeasible:
					case r.Solution == nil || model.Gap(r.Objective, want.Objective) > 1e-6:
						t.Errorf("%s: %s %v (%s), the optimum is %v", engine, r.Status, r.Objective, r.Reason, want.Objective)
					// GLPK's tolerance leaves a gap where objectives aren't whole.
					case r.Status != model.StatusOptimal && !(engine == "glpsol" && r.Gap <= 1e-3):
						t.Errorf("%s: the bound %v of the optimum %v: %s", engine, r.Bound, r.Objective, r.Reason)
					}
				}
			})
		}
	})
}

// An engine may come before others, with its formulation after it; a command comes last, with its commas. A program
// that isn't there is named.
func TestExternalNames(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct {
		algorithm, engine, formulation string
		want                           string // a part of the error
	}{
		{"exact", "search,highs", "paper", ""},
		{"exact", "search", "paper", "formulation goes with"},
		{"exact", "cbc", "", "cbc needs cbc on PATH"},
		{"exact", "search,gurobi_cl", "paper", "gurobi_cl needs gurobi_cl on PATH"},
		{"exact", "glpsol", "none", `formulation "none"`},
		{"exact", "cplex", "", "cbc, glpsol, gurobi_cl, scip, lanl or mps:COMMAND"},
		{"exact", "search,mps:solve a,b", "", "no {in}"},
		{"exact", "search,mps:solve {in},{out}", "", "needs solve on PATH"},
		{"exact", "mps:solve '{in}", "", "without closing quote"},
		{"scip", "", "", "scip needs scip on PATH"},
		{"scip-paper", "", "", "scip needs scip on PATH"},
		{"scip-ordering", "", "", "unknown algorithm"},
		{"mps:solve {in} {out}", "", "", "needs solve on PATH"},
	} {
		err := gapwise.Options{Algorithm: c.algorithm, Engine: c.engine, Formulation: c.formulation}.Check(model.KindVCSched)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s %s: %v, want %q", c.algorithm, c.engine, c.formulation, err, c.want)
		}
	}
	if !slices.Equal(gapwise.Externals(), []string{"cbc", "glpsol", "gurobi_cl", "scip", "lanl"}) {
		t.Error(gapwise.Externals())
	}
}

// A solver's result by its time limit counts.
func TestExternalStopped(t *testing.T) {
	t.Parallel()
	in, ok := hardInstance(t, require.Value(gapwise.ProblemOf(model.KindVCSched))(t))
	if !ok {
		t.Fatal("no instance is hard")
	}
	for engine := range tools {
		if engine == highs.Lanl.Name {
			continue // it goes on in the background, next to other tests
		}
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			needBackend(t, engine)
			r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: engine, Settings: model.Settings{TimeLimit: time.Second}})
			if err != nil || r.Status == model.StatusOptimal || r.Status == model.StatusInfeasible || r.Reason != meter.StopReason(timedOut(t)) {
				t.Errorf("%s, %q, %v", r.Status, r.Reason, err)
			}
		})
	}
}

// timedOut returns a context that has timed out.
func timedOut(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	t.Cleanup(cancel)
	return ctx
}
