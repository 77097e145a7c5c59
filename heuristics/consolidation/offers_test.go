// SPDX-License-Identifier: MIT

package consolidation

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/run/meter"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// A cluster that isn't there yet has offers alone: each heuristic buys for it, and fails on none.
func TestOffersAlone(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(19, 47))
	solved := map[string]int{}
	for range 300 {
		in := testkit.Consolidation(rng, 1+rng.IntN(12), 1+rng.IntN(3))
		in.Hosts, in.Limits, in.Rules = nil, nil, nil
		for k := range in.HostSets {
			in.HostSets[k].Hosts = nil
		}
		for k := range in.Jobs {
			in.Jobs[k].CurrentHosts, in.Jobs[k].Pinned = nil, false
		}
		for k := range in.Offers {
			in.Offers[k].Count += 5
		}
		if in.Validate() != nil {
			continue
		}
		for _, a := range Algorithms() {
			r, err := a.Solver.Solve(meter.Limit(t.Context(), 20_000), in, model.Settings{Seed: 1})
			if errors.Is(err, model.ErrUnsupported) || err == nil && r.Solution == nil {
				continue
			}
			require.OK(t, err, a.Name)
			require.Feasible(verify.Verify(t.Context(), in, r.Solution, verify.Options{}))(t, a.Name)
			solved[a.Name]++
		}
	}
	for _, a := range Algorithms() {
		if solved[a.Name] < 10 {
			t.Errorf("%s solves %d", a.Name, solved[a.Name])
		}
	}
}
