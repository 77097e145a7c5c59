// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"math/big"

	"github.com/gapwise/gapwise/model"
)

// Arrivals returns the arrival, in seconds, of each of a schedule's transfers,
// in their order: each starts when the schedule says and shares links under the
// instance's transfer model. The error wraps model.ErrInvalid for a schedule
// that doesn't fit d or has a transfer of no edge, and ctx.Err() if the context
// ends.
func Arrivals(ctx context.Context, d *model.DAG, s *model.Schedule) ([]float64, error) {
	machine, err := d.MachineOf(s)
	if err != nil {
		return nil, err
	}
	j := dagJudge{ctx: ctx, in: d, tolerance: Tolerance, on: make([]int, len(d.Tasks)), task: make(map[string]int, len(d.Tasks)), sent: make([]*big.Rat, len(d.Edges))}
	for t := range d.Tasks {
		j.on[t], j.task[d.Tasks[t].ID] = int(machine[t]), t
	}
	edge := make(map[[2]string]int, len(d.Edges))
	for e, x := range d.Edges {
		edge[[2]string{x.From, x.To}] = e
	}
	order := make([]int, len(s.Transfers))
	for k, x := range s.Transfers {
		e, ok := edge[[2]string{x.From, x.To}]
		if !ok || !(x.StartS >= 0 && x.StartS <= 1e300) || j.sent[e] != nil {
			return nil, fmt.Errorf("%w schedule: the transfer from %q to %q at %v is of no edge, is there twice, or never starts", model.ErrInvalid, x.From, x.To, x.StartS)
		}
		j.sent[e], order[k] = exact(x.StartS), e
	}
	arrived, _ := j.arrivals()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("verify: the replay was stopped: %w", ctx.Err())
	}
	at := make([]float64, len(order))
	for k, e := range order {
		at[k], _ = arrived[e].Float64()
	}
	return at, nil
}
