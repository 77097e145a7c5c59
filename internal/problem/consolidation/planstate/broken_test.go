// SPDX-License-Identifier: MIT

package planstate_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/verify"
)

// A plan breaks nothing, tasks that stay included, if and only if the judge has no objection to it when no task has a host yet.
func TestBrokenBy(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(51, 30))
	seen := map[bool]int{}
	for range 3000 {
		in := testkit.Short(rng, 2+rng.IntN(6), 1+rng.IntN(4))
		c := view.OfConsolidation(in, -1)
		a := c.Assignment(c.Today())
		b := require.Value(planstate.BrokenBy(in, a))(t)
		for i := range in.Jobs {
			in.Jobs[i].CurrentHosts, in.Jobs[i].Pinned, in.Jobs[i].LeaveOutCost = nil, false, new(int64)
		}
		for h := range in.Hosts {
			in.Hosts[h].Closed = false
		}
		in.MoveBudget, in.CostLimit, in.Limits = nil, nil, nil
		r := require.Value(verify.Verify(t.Context(), in, a, verify.Options{}))(t)
		rules, hosts, tasks := map[string]bool{}, 0, 0
		for _, v := range r.Violations {
			switch v.Constraint {
			case "host_allowed":
				tasks++
			case "host_capacity":
				hosts++
			default:
				rules[v.Constraint] = true
			}
		}
		if b.Tasks != tasks || (len(b.Hosts) > 0) != (hosts > 0) || len(b.Hosts) > hosts || (len(b.Rules) > 0) != (len(rules) > 0) || (b.String() == "") != r.Feasible() {
			t.Fatalf("%+v, the judge says %v", b, r)
		}
		seen[r.Feasible()]++
	}
	if len(seen) < 2 {
		t.Error(seen)
	}
}
