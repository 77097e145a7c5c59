// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/model"
)

// Arrivals returns the arrival, in seconds, of each of a schedule's transfers, in their order: each starts at the
// schedule's time and shares links under the instance's transfer model. The error wraps model.ErrInvalid for a schedule
// that doesn't fit d or has a transfer of no edge, and ctx.Err() if the context ends.
func Arrivals(ctx context.Context, d *model.DAG, s *model.Schedule) ([]float64, error) {
	machine, err := d.MachineOf(s)
	if err != nil {
		return nil, err
	}
	j := newDAGJudge(ctx, d, Tolerance)
	j.on = machine
	edge := edgeFinder{in: d}
	order := make([]int, len(s.Transfers))
	for k, x := range s.Transfers {
		e, ok := edge.find(x.From, x.To)
		if !ok || !(x.StartS >= 0 && x.StartS <= 1e300) || !math.IsNaN(j.sent[e]) {
			return nil, fmt.Errorf("%w schedule: the transfer from %q to %q at %v is of no edge, is there twice, or never starts", model.ErrInvalid, x.From, x.To, x.StartS)
		}
		j.sent[e], order[k] = x.StartS, e
	}
	p := newPaths(d)
	arrived, replayed := j.arrivals(p)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("verify: the replay was stopped: %w", ctx.Err())
	}
	at := make([]float64, len(order))
	for k, e := range order {
		at[k] = floor(j.exactArrival(p, e, arrived, replayed))
	}
	return at, nil
}
