// SPDX-License-Identifier: MIT

package batch

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// leastOf returns the least sum of responses of the completions of a node, over all
// orders.
func (t *tree) leastOf(x *node) int64 {
	least, done := int64(1<<62), true
	for k := range t.release {
		if !x.set.has(k) {
			done = false
			var next node
			t.step(x, child{job: int32(k), start: t.earliest(x, k)}, &next)
			least = min(least, t.leastOf(&next))
		}
	}
	if done {
		return x.cost
	}
	return least
}

// A node that dominates another has a completion that is no worse. And no bound is
// above the best completion.
func TestNodes(t *testing.T) {
	t.Parallel()
	dominated, reached, forgotten := 0, 0, 0
	rounds := require.Rounds(20_000)
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		in := &model.Batch{Processors: 2 + rng.IntN(5), Tiers: 1}
		n, at := 5+rng.IntN(2), 0.0
		for k := range n {
			if k > 2 {
				at += float64(rng.IntN(4))
			}
			in.Jobs = append(in.Jobs, model.BatchJob{ID: strconv.Itoa(k), SubmitS: at, RuntimeS: float64(1 + rng.IntN(5)), Processes: 1 + rng.IntN(in.Processors)})
			if seed%2 == 1 {
				in.Jobs[k].Weight = 1 + rng.IntN(4)
			}
		}
		tree := newTree(context.Background(), require.Value(newJobs(t.Context(), in))(t), 0)
		if seed%20 == 0 { // it takes long
			tree.usePrices()
		}
		order := rng.Perm(n)[:3]
		random := func() *node {
			x := &node{}
			rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
			for _, k := range order {
				next := &node{}
				tree.step(x, child{job: int32(k), start: tree.earliest(x, k)}, next)
				x = next
			}
			return x
		}
		a, b := random(), random()
		least := tree.leastOf(b)
		if bound := tree.bound.bound(tree, b); bound > least {
			t.Fatalf("seed %d: bound %d, the best completion has %d: %+v after %+v", seed, bound, least, in, b)
		} else if bound == least {
			reached++
		}
		if tree.memo.dominates(a, tree); tree.memo.dominates(b, tree) {
			dominated++
			if x := tree.leastOf(a); x > least {
				t.Fatalf("seed %d: %+v with %d dominates %+v with %d: %+v", seed, a, x, b, least, in)
			}
		} else if a.dead {
			forgotten++
			if x := tree.leastOf(a); x < least {
				t.Fatalf("seed %d: %+v with %d is forgotten for %+v with %d: %+v", seed, a, x, b, least, in)
			}
		}
	}
	if dominated < rounds/10 || dominated > rounds*9/10 || reached < rounds/5 || forgotten < rounds/20 {
		t.Errorf("%d of %d are dominated, %d forgotten, %d bounds reached", dominated, rounds, forgotten, reached)
	}
}
