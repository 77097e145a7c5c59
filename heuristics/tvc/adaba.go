// SPDX-License-Identifier: MIT

package tvc

import (
	"context"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// adaBa is the name of the embedder that reports its steps.
const adaBa = "adaba"

// AdaBa embeds by AdaBa (Li et al. 2018, Algorithm 1). It takes the smallest subtree first, and in it the servers by
// descending weight -½a² + (L·B/Bmax)·a (Eq. 7), with a the free slots and Bmax the largest bandwidth that has arrived.
// So a cluster with much bandwidth goes to servers with many free slots, where more of it is hidden inside a server,
// and one with little fills servers up.
//
// The weight is (L·B/Bmax)²/2 - (a - L·B/Bmax)²/2: servers are ordered by |a·Bmax - L·B|, which is a whole number. The
// limits are a ≤ L, B ≤ 10^13 bit/s and L ≤ 5·10^5 (see model.MostSlots; there are at least two servers), so that both
// products are less than 2^63.
func AdaBa(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, adaBa)
}

// newAdaBaPrinted returns the embedder of AdaBa as the text of Algorithm 1 may be read to the letter:
// servers check what links carry so far while they are filled. It differs where
// links above servers bind (model.FabricOnePath) and model.HoseCut counts.
func newAdaBaPrinted() embedder {
	q := adaBaSequence()
	q.soFar = true
	return q
}

// newAdaBa returns the embedder of AdaBa.
func newAdaBa() embedder { return adaBaSequence() }

func adaBaSequence() *sequence {
	return &sequence{local: true, key: func(d *fattree.DataCentre, free int, b int64) int64 {
		x := int64(free)*max(d.Most, b) - int64(d.Slots)*b
		return max(x, -x)
	}}
}
