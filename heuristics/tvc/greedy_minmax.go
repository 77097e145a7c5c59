// SPDX-License-Identifier: MIT

package tvc

import (
	"context"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// GreedyMinMax embeds in the smallest subtree (edge switch, pod, all; the first by index) so that the largest
// utilisation of the links loaded becomes least, over all embeddings below it. Yu et al. do so: Towards Bandwidth
// Guarantee for Virtual Clusters under Demand Uncertainty in Multi-Tenant Clouds, IEEE TPDS 29, 2018. The best of a
// pod's aggregation switches, and of the core switches, is the host.
func GreedyMinMax(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, "greedy-minmax")
}

type greedyMinMax struct {
	subtrees
	program program
	masked  fattree.DataCentre // with the free slots of one subtree alone
}

func newGreedyMinMax() embedder { return new(greedyMinMax) }

// Embed implements embedder.
func (g *greedyMinMax) Embed(d *fattree.DataCentre, n int, b int64) (model.Embedding, bool) {
	return g.find(d, n, b, model.LayerEdge, func(host model.Switch) (model.Embedding, bool) {
		free := g.masked.Free
		g.masked = *d
		g.masked.Free = zeros(free, len(d.Free))
		first, last := d.ServersBelow(host)
		copy(g.masked.Free[first:last], d.Free[first:last])
		g.masked.Count()
		return g.program.Best(&g.masked, n, b, costUtilisation)
	})
}
