package batch_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/modeltest"
	"github.com/gapwise/gapwise/verify"
)

// The judge accepts what each algorithm does, and computes the figures that the
// model computes.
func TestJudged(t *testing.T) {
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
					t.Fatalf("round %d, %s in order %s: %v, %v\n%+v\n%+v", round, a.Name, order, r, err, b, res.Solution)
				}
				judged[a.Name]++
			}
		}
	}
	for _, a := range batchheur.Algorithms() {
		if judged[a.Name] < rounds/2 {
			t.Errorf("%s: %d executions of %d instances", a.Name, judged[a.Name], rounds)
		}
	}
}
