// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"slices"
	"testing"
)

// countedPacker succeeds at yields up to one, in a context that hasn't ended.
type countedPacker struct {
	upTo  float64
	tried []float64
}

func (p *countedPacker) pack(ctx context.Context, yield float64) ([]int32, bool) {
	p.tried = append(p.tried, yield)
	return []int32{int32(len(p.tried))}, ctx.Err() == nil && yield <= p.upTo
}

// Many tasks are packed three times at most, and the last time whatever the context says.
func TestPackOnce(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		upTo float64
		want []float64
	}{
		"at once":     {t.Context(), 0.5, []float64{0.49}},
		"second":      {t.Context(), 0.46, []float64{0.49, 0.45}},
		"last":        {t.Context(), 0.3, []float64{0.49, 0.45, 0.25}},
		"interrupted": {ended, 0.5, []float64{0.49, 0.45, 0.25}},
	} {
		p := &countedPacker{upTo: c.upTo}
		hosts := packOnce(c.ctx, p, 0.5)
		if !slices.Equal(p.tried, c.want) || hosts[0] != int32(len(c.want)) {
			t.Errorf("%s: packed at %v, the hosts of packing %d; want %v", name, p.tried, hosts[0], c.want)
		}
	}
}
