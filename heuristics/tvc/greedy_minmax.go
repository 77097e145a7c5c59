package tvc

import "github.com/gapwise/gapwise/model"

// greedyMinMax embeds in the smallest subtree (edge switch, pod, all; the first by
// index) so that the largest utilisation of the links loaded becomes least, over
// all embeddings below it, as Yu et al. do: Towards Bandwidth Guarantee for Virtual
// Clusters under Demand Uncertainty in Multi-Tenant Clouds, IEEE TPDS 29, 2018. Of a
// pod's aggregation switches, and of the core switches, the best one hosts.
type greedyMinMax struct {
	subtrees
	program Program
	masked  DataCentre // with the free slots of one subtree alone
}

// NewGreedyMinMax returns the greedy embedder that looks at whole embeddings.
func NewGreedyMinMax() Embedder { return new(greedyMinMax) }

// Embed implements Embedder.
func (g *greedyMinMax) Embed(d *DataCentre, n int, b int64) (model.Embedding, bool) {
	return g.find(d, n, b, model.LayerEdge, func(host model.Switch) (model.Embedding, bool) {
		free := g.masked.Free
		g.masked = *d
		g.masked.Free = zeros(free, len(d.Free))
		first, last := d.serversBelow(host)
		copy(g.masked.Free[first:last], d.Free[first:last])
		g.masked.count()
		return g.program.Best(&g.masked, n, b, CostUtilisation)
	})
}
