// SPDX-License-Identifier: MIT

package tvc

import (
	"context"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// BestFit embeds by best fit: all servers by ascending free slots, a core switch as
// host.
func BestFit(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, "best-fit")
}

func newBestFit() embedder {
	return &sequence{key: byFree}
}

// newBestFitLocal returns best fit below the first switch, bottom-up, that the
// cluster fits below.
func newBestFitLocal() embedder {
	return &sequence{key: byFree, local: true}
}

func byFree(_ *fattree.DataCentre, free int, _ int64) int64 { return int64(free) }
