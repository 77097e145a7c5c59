// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/duals"
	"github.com/gapwise/gapwise/model"
)

// LeastHosts bounds from below how many hosts of the instance's first size the tasks need, whatever their CPU needs. It
// reports each bound that is better than the ones before and how it follows, until ctx ends:
//
//   - the sum of the needs of a resource over a host's capacity, O(n);
//   - dual-feasible functions of the needs of each resource, and of the sums of two of them and of all: the tasks on a
//     host need at most Σ_r cap_r of Σ_r need_r. O(n) for each of 132 functions;
//   - tasks that exclude each other on one host, pair by pair: O(n log n) for memory alone, else O(n²).
func LeastHosts(ctx context.Context, in *model.VCSched, tell func(hosts int64, why string)) {
	t := NewTasks(view.Shared(ctx, in, view.OfVCSched))
	best := int64(0)
	better := func(hosts int64, why string) {
		if hosts > best {
			best = hosts
			tell(hosts, why)
		}
	}
	for r, needs := range t.Rigid {
		sum, has := int64(0), t.class[0].Cap[r]
		for k, x := range needs {
			sum += x * int64(t.Count[k])
		}
		if has > 0 {
			better((sum+has-1)/has, fmt.Sprintf("the tasks need %.6g of %s, a host has %.6g", float64(sum)/float64(t.units.Scale), t.units.Names[r], float64(has)/float64(t.units.Scale)))
		}
	}
	for r, needs := range t.Rigid {
		better(duals.DualFeasible(ctx, needs, t.Count, t.most[r]), "the needs of "+t.units.Names[r]+" alone fill as many")
	}
	t.sums(func(size []int64, most int64, _ ...int) bool {
		better(duals.DualFeasible(ctx, size, t.Count, most), "the needs of several resources together fill as many")
		return ctx.Err() == nil
	})
	if n, _ := t.clique(ctx, math.MaxInt64/4); n > best {
		better(n, fmt.Sprintf("no two of %d tasks fit on one host", n))
	}
}

// sums calls each with the sum of the needs of two rigid resources by type, and a host's joint capacity of both; for
// each two, then for all if there are more. It ends when each returns false.
func (t *Tasks) sums(each func(size []int64, most int64, resources ...int) bool) {
	sum := func(resources ...int) bool {
		size, most := make([]int64, len(t.CPU)), int64(0)
		for _, r := range resources {
			most += t.most[r]
			for k, x := range t.Rigid[r] {
				size[k] += x
			}
		}
		return each(size, most, resources...)
	}
	all := []int{0}
	for r := 1; r < len(t.Rigid); r++ {
		all = append(all, r)
		for q := range r {
			if !sum(q, r) {
				return
			}
		}
	}
	if len(all) > 2 {
		sum(all...)
	}
}
