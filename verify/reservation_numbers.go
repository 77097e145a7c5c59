// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math/big"

	"github.com/gapwise/gapwise/model"
)

// heldRequest is a request that holds PEs, as proofs count: for length ticks, from ready on and until due. In PE-ticks its
// weight is its PEs times counted.
type heldRequest struct {
	request                     int // its number in the instance
	ready, due, length, counted int64
	pes                         int
}

// heldRequests returns the requests that hold PEs, in ticks, and the objective of those that count and hold none: they
// are cancelled before their latest start, at which some best plan books them. Only a request that runs counts under
// the goal pe_seconds, so it starts by its cancellation.
func heldRequests(in *model.Reservation) (held []heldRequest, withdrawn *big.Rat, read tickReader) {
	read = newTickReader(context.Background(), in)
	free := 0.0
	for k := range in.Requests {
		q := read.request(&in.Requests[k])
		latest, counted := q.deadline-q.duration, q.duration
		if in.EffectiveGoal() == model.GoalPESeconds {
			if latest, counted = min(latest, q.cancel), q.runtime; latest < q.ready {
				continue // it never runs
			}
		} else if q.cancel < latest {
			free += in.WithdrawnWeight(k)
			continue
		}
		held = append(held, heldRequest{k, q.ready, latest + q.runtime, q.runtime, counted, in.Requests[k].PEs})
	}
	return held, exact(free), read
}
