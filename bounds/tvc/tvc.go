// Package tvc bounds what any allocation of time-aware virtual clusters can
// reach, without search, and holds the linear formulations of TVC in loss mode.
package tvc

import (
	"context"
	"fmt"
	"math"

	"github.com/gapwise/gapwise/bounds"
	"github.com/gapwise/gapwise/model"
)

// Quick computes the bounds that take no longer than a heuristic. In loss mode
// they bound the accepted requests or their revenue from above:
//
//   - fits: the requests that fit an empty data centre. O(n)
//
// In queue mode they bound the mean response time from below.
func Quick(in *model.TVC) []bounds.Bound {
	t := in.Ticks()
	if in.Queue {
		return []bounds.Bound{runtime(t)}
	}
	w := NewWeights(in, t)
	return []bounds.Bound{{Name: "fits", Value: w.Value(w.Total)}}
}

// All computes every bound that needs no search, weakest first: those of Quick.
// The error is model.ErrInvalid for an invalid instance.
func All(_ context.Context, in *model.TVC) ([]bounds.Bound, error) {
	if err := in.Validate(); err != nil {
		return nil, fmt.Errorf("bounds: %w", err)
	}
	return Quick(in), nil
}

// runtime bounds the mean response time by the mean duration: a request that
// runs ends no sooner than its duration after its arrival. Requests that never
// fit don't run and don't count.
func runtime(t *model.TVCTicks) bounds.Bound {
	n, sum := 0, int64(0)
	for k := range t.Requests {
		if t.Requests[k].Fits {
			n, sum = n+1, sum+t.Requests[k].Duration
		}
	}
	if n == 0 {
		return bounds.Bound{Name: "runtime"}
	}
	return bounds.Bound{Name: "runtime", Value: math.Nextafter(t.Seconds(sum)/float64(n), 0)}
}
