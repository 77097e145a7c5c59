package batch_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/modeltest"
	"github.com/gapwise/gapwise/verify"
)

// The judge accepts what the heuristics make of small traces and of the first
// jobs of the log of KTH.
func TestJudge(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 7))
	judge := func(b *model.Batch) {
		for name, algorithm := range oneTier {
			for _, order := range orders {
				e, err := algorithm(context.Background(), b, in(order))
				if err != nil {
					t.Fatal(err)
				}
				r, err := verify.Verify(context.Background(), b, e, verify.Options{})
				if err != nil || !r.Feasible() {
					t.Fatalf("%s in order %s: %v %v\n%+v", name, order, err, r, b)
				}
			}
		}
	}
	for range need.Rounds(500) {
		judge(small(rng))
	}
	if b := kth(t); !testing.Short() {
		b.Jobs = b.Jobs[:5000]
		judge(b)
	}
}

// The judge accepts what each algorithm makes of instances with all that the model
// allows (see modeltest.RandomBatch).
func TestJudgeFamilies(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 41))
	judged := map[string]int{}
	rounds := need.Rounds(1000)
	for round := range rounds {
		b := modeltest.RandomBatch(rng, 1+round%2, 8, 1+rng.IntN(12))
		for _, a := range batchheur.Algorithms() {
			for _, order := range orders {
				res, err := a.Solver.Solve(t.Context(), b, in(order))
				if errors.Is(err, model.ErrUnsupported) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				r, err := verify.Verify(t.Context(), b, res.Solution, verify.Options{})
				if err != nil || !r.Feasible() {
					t.Fatalf("round %d, %s in order %s: %v, %v\n%+v\n%+v", round, a.Name, order, err, r, b, res.Solution)
				}
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
		if err != nil {
			t.Fatal(a.Name, err)
		}
		if report, err := verify.Verify(t.Context(), b, r.Solution, verify.Options{}); err != nil || !report.Feasible() || report.Objective != 7e9 {
			t.Errorf("%s: %v, %v", a.Name, err, report)
		}
	}
	b.Jobs[0].RuntimeS += 1e-6
	if _, err := batchheur.EASY(t.Context(), b, in("")); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("later: %v", err)
	}
}
