// SPDX-License-Identifier: MIT

package testkit

import (
	"fmt"
	"math/rand/v2"

	"github.com/gapwise/gapwise/model"
)

// RandomNodes draws a batch instance of n jobs on a small machine of nodes: one to three groups with up to three
// resources, partitions that overlap, features, jobs that spread their processes or want their nodes alone.
func RandomNodes(rng *rand.Rand, n int) *model.Batch {
	in := &model.Batch{Name: fmt.Sprintf("nodes-%d", n), Tiers: 1, Resources: []string{"cpu", "memory", "gpu"}[:1+rng.IntN(3)], Jobs: []model.BatchJob{}}
	for g := range 1 + rng.IntN(3) {
		group := model.NodeGroup{ID: fmt.Sprint("g", g), Count: 1 + rng.IntN(3)}
		for r := range in.Resources {
			group.Capacity = append(group.Capacity, one[int64](rng, 1, 2, 3, 4, 8)*one(rng, 1, 1, int64(r+1)))
		}
		if g > 0 && rng.IntN(2) == 0 {
			group.Capacity[len(group.Capacity)-1] = 0
		}
		for _, p := range []string{"p", "q"} {
			if rng.IntN(3) > 0 {
				group.Partitions = append(group.Partitions, p)
			}
		}
		if rng.IntN(2) == 0 {
			group.Features = []string{"f"}
		}
		in.Nodes, in.Processors = append(in.Nodes, group), in.Processors+group.Count
	}
	kinds := make([]*model.NodeNeeds, 1+rng.IntN(4)) // jobs share their needs
	submit := 0.0
	for k := 0; k < n; {
		at := rng.IntN(len(kinds))
		if kinds[at] == nil || rng.IntN(8) == 0 {
			needs := &model.NodeNeeds{Spread: rng.IntN(3) == 0, Exclusive: rng.IntN(5) == 0}
			for range in.Resources {
				needs.Each = append(needs.Each, one[int64](rng, 0, 1, 1, 2, 3, 4))
			}
			if rng.IntN(2) == 0 {
				needs.Partitions = one(rng, []string{"p"}, []string{"q"}, []string{"q", "p"})
			}
			if rng.IntN(4) == 0 {
				needs.Features = []string{"f"}
			}
			kinds[at] = needs
		}
		j := model.BatchJob{ID: fmt.Sprint(k), SubmitS: submit, RuntimeS: float64(1 + rng.IntN(9)), Processes: 1 + rng.IntN(4), Needs: kinds[at]}
		if rng.IntN(2) == 0 {
			j.EstimateS = j.RuntimeS * one(rng, 0.5, 2, 4)
		}
		j.Weight = one(rng, 0, 0, 1, 3)
		in.Jobs = append(in.Jobs, j)
		if in.Validate() != nil { // it fits no nodes
			in.Jobs, kinds[at] = in.Jobs[:k], nil
			continue
		}
		k, submit = k+1, submit+float64(rng.IntN(4))*one[float64](rng, 0, 1, 1, 2)
	}
	return in
}
