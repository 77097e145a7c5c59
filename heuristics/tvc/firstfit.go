// SPDX-License-Identifier: MIT

package tvc

import (
	"context"

	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/model"
)

// FirstFit embeds by first fit: all servers by index, a core switch as host.
func FirstFit(ctx context.Context, in *model.TVC, set model.Settings) (*model.Embeddings, error) {
	return solve(ctx, in, set, "first-fit")
}

func newFirstFit() embedder { return &sequence{key: byIndex} }

// newFirstFitLocal returns first fit below the first switch, bottom-up, that the
// cluster fits below.
func newFirstFitLocal() embedder {
	return &sequence{key: byIndex, local: true}
}

func byIndex(*fattree.DataCentre, int, int64) int64 { return 0 }
