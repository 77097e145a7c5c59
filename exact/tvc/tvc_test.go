// SPDX-License-Identifier: MIT

package tvc_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	tvcbounds "github.com/gapwise/gapwise/bounds/tvc"
	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	tvcheur "github.com/gapwise/gapwise/heuristics/tvc"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// solve runs a solver and has the judge check its claims.
func solve(t *testing.T, s model.Solver, in *model.TVC, set model.Settings) model.Result {
	t.Helper()
	r, err := s.Solve(context.Background(), in, set)
	if err != nil {
		t.Fatalf("%v\n%s", err, text(in))
	}
	check(t, in, r)
	return r
}

func check(t *testing.T, in *model.TVC, r model.Result) {
	t.Helper()
	report, err := verify.Result(context.Background(), in, r, verify.Options{})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", r.Algorithm, err, text(in))
	}
}

func text(in *model.TVC) []byte {
	b, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return b
}

// drawn returns an instance of the paper's kind on k = 4, two slots a server.
func drawn(t *testing.T, rng *rand.Rand, requests int) *model.TVC {
	t.Helper()
	s := instances.NewTVCSpec()
	s.K, s.Slots, s.Requests, s.Seed = 4, 2, requests, rng.Uint64()
	s.Load = []float64{1, 2, 4}[rng.IntN(3)]
	s.Size = []float64{2, 4, 8}[rng.IntN(3)]
	s.Bandwidth = []float64{150, 250, 500}[rng.IntN(3)]
	s.Fabric = model.Fabrics[rng.IntN(2)]
	s.Hose = model.Hoses[rng.IntN(2)]
	s.Goal = model.TVCGoals[rng.IntN(2)]
	return require.Value(s.Generate())(t)
}

// On four pods any solution has a point in the formulation, whatever switches host
// it, and the point gives back a solution of the same objective.
func TestFormulationOfSolutions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 7))
	for k := range require.Rounds(30) {
		in := testkit.RandomTVC(rng, 4, 2+rng.IntN(8), false)
		if k%2 == 0 {
			in = drawn(t, rng, 12)
		}
		f := require.Value(tvcbounds.Build(t.Context(), in, ""))(t)
		for _, a := range tvcheur.Algorithms() {
			r, err := a.Solver.Solve(context.Background(), in, model.Settings{})
			if errors.Is(err, model.ErrUnsupported) {
				continue
			}
			require.OK(t, err)
			x := f.Encode(r.Solution.(*model.Embeddings))
			if x == nil {
				t.Fatalf("%s: the solution has no point\n%s", a.Name, text(in))
			}
			if off := f.Violation(x); off > 1e-9 {
				t.Fatalf("%s: the solution's point is off by %v\n%s", a.Name, off, text(in))
			}
			s := require.Value(f.Decode(x))(t)
			again := model.NewResult(a.Name, 0)
			require.OK(t, again.SetSolution(in, s))
			if again.Objective != r.Objective {
				t.Fatalf("%s: objective %v, decoded %v", a.Name, r.Objective, again.Objective)
			}
			check(t, in, again)
		}
	}
}

// An instance that is too large for an engine gets a bound, and the result says why there is no more.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := instances.NewTVCSpec()
	s.Requests, s.Load = 400, 2
	for want, engine := range map[string]model.Solver{"256": tvcexact.Search, "60000": tvcexact.Kernel} {
		if s.K, s.Fabric = 4, model.FabricNonBlocking; want == "60000" {
			s.K, s.Fabric = 8, model.FabricOnePath
		}
		in := require.Value(s.Generate())(t)
		if r := solve(t, engine, in, model.Settings{}); r.Status != model.StatusFeasible ||
			!(r.Bound >= r.Objective) || !strings.Contains(r.Reason, want) {
			t.Errorf("%s: %s, %v ≤ %v, reason %q; want feasible with a bound and the reason", engine.Name(), r.Status,
				r.Objective, r.Bound, r.Reason)
		}
	}
}
