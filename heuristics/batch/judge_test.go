package batch_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/need"
	"github.com/gapwise/gapwise/model"
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
