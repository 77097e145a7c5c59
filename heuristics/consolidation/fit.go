// SPDX-License-Identifier: MIT

package consolidation

import (
	"context"

	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/model"
)

// FirstFit packs all tasks again, in the order of decreasing size, each on the first host in use that it fits on. Hosts
// are opened in the order of price over capacity. Sizes weigh each resource by its scarcity (Panigrahy et al. 2011,
// section 3.1, FFDSum). A task prefers its own host if that is in use. O(nH) and the rules.
func FirstFit(ctx context.Context, in *model.Consolidation, _ model.Settings) (*model.Assignment, error) {
	return pack(ctx, in, "ffd", true)
}

// BestFit is FirstFit on the host that has least left, weighed as sizes are.
func BestFit(ctx context.Context, in *model.Consolidation, _ model.Settings) (*model.Assignment, error) {
	return pack(ctx, in, "bfd", false)
}

func pack(ctx context.Context, in *model.Consolidation, name string, first bool) (*model.Assignment, error) {
	p := newPacker(in)
	for _, t := range p.tasks(false) {
		if meter.Stop(ctx, effort(1, len(p.used))) {
			break
		}
		p.settle(t, first)
	}
	p.rename()
	return p.result(name)
}
