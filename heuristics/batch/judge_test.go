// SPDX-License-Identifier: MIT

package batch_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// The judge accepts what each algorithm makes of instances with all that the model
// allows (see testkit.RandomBatch).
func TestJudgeFamilies(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 41))
	judged := map[string]int{}
	rounds := require.Rounds(1000)
	for round := range rounds {
		b := testkit.RandomBatch(rng, 1+round%2, 8, 1+rng.IntN(12))
		for _, a := range batchheur.Algorithms() {
			for _, order := range orders {
				res, err := a.Solver.Solve(t.Context(), b, in(order))
				if errors.Is(err, model.ErrUnsupported) {
					continue
				}
				require.OK(t, err)
				require.Feasible(verify.Verify(t.Context(), b, res.Solution, verify.Options{}))(t, round, a.Name,
					order, b, res.Solution)
				judged[a.Name]++
			}
		}
	}
	for _, a := range batchheur.Algorithms() {
		if judged[a.Name] < rounds/3 {
			t.Errorf("%s: %d executions of %d instances", a.Name, judged[a.Name], rounds)
		}
	}
}

// The latest ends that the heuristics take on are accepted.
func TestJudgeLateEnds(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Processors: 1, Tiers: 2, Jobs: []model.BatchJob{{ID: "late", SubmitS: 1e9, RuntimeS: 7e5, Processes: 1, FgLoss: 0.9999}}}
	for _, a := range batchheur.Algorithms() {
		r, err := a.Solver.Solve(t.Context(), b, in(""))
		require.OK(t, err, a.Name)
		if report, err := verify.Verify(t.Context(), b, r.Solution, verify.Options{}); err != nil || !report.Feasible() || report.Objective != 7e9 {
			t.Errorf("%s: %v, %v", a.Name, err, report)
		}
	}
	b.Jobs[0].RuntimeS += 1e-6
	require.Refused(t, "later", require.Err(batchheur.EASY(t.Context(), b, in(""))), model.ErrUnsupported, "")
}

// A simulation on one tier that is stopped anywhere has an execution of all jobs, which
// the judge accepts: those that hadn't started run one by one.
func TestStoppedAnywhere(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 23))
	b := &model.Batch{Name: "stopped", Processors: 8, Tiers: 1}
	for k := range 1500 {
		b.Jobs = append(b.Jobs, model.BatchJob{ID: fmt.Sprint(k), SubmitS: float64(k), RuntimeS: float64(1 + rng.IntN(4)), EstimateS: 4, Processes: 1 + rng.IntN(8)})
	}
	whole := map[string]int{}
	for _, a := range batchheur.Algorithms() {
		if a.Name == "improve" { // takes long to its end: TestImprovers stops it
			continue
		}
		for looks := range 6 {
			r, err := a.Solver.Solve(&testkit.StopAfter{Context: t.Context(), Looks: looks}, b, model.Settings{})
			if errors.Is(err, model.ErrUnsupported) {
				break
			}
			if err != nil || r.Solution == nil {
				t.Fatalf("%s stopped after %d looks: %v, %s", a.Name, looks, err, r.Reason)
			}
			require.Feasible(verify.Verify(t.Context(), b, r.Solution, verify.Options{}))(t, a.Name, looks)
			if r.Reason == "" {
				whole[a.Name]++
			}
		}
	}
	if len(whole) < 5 {
		t.Errorf("only %v came to their end: too few to tell", whole)
	}
}
