// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// The bound is the largest number of hosts that Packing refutes, plus one; its reports rise.
func TestLeastHosts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 22))
	ways := map[int]int{}
	for k := range 600 {
		in := testkit.Vectors(rng, testkit.VCSched(rng, 2+rng.IntN(12), 1, false))
		in.HostSizes = nil
		for i := range in.Jobs {
			in.Jobs[i].CPU = 0
		}
		told, least := 0, int64(0)
		LeastHosts(t.Context(), in, func(hosts int64, why string) {
			if hosts <= least || why == "" {
				t.Fatalf("%d: told %d after %d, by %q", k, hosts, least, why)
			}
			told, least = told+1, hosts
		})
		ways[told]++
		want := int64(1)
		for n := 1; n <= in.Tasks(); n++ {
			on := *in
			on.Hosts = n
			if Quick(t.Context(), &on)[0].Infeasible {
				want = int64(n) + 1
			}
		}
		if least != want {
			t.Errorf("%d: at least %d hosts, Packing refutes %d", k, least, want-1)
		}
	}
	if ways[2] < 10 {
		t.Errorf("bounds told, instances: %v", ways)
	}
}

// The sum of the needs comes first, whatever the context: 30,000 items of 20 to 600 in
// bins of 1000.
func TestLeastHostsBySum(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	rng := rand.New(rand.NewPCG(5, 0))
	in, sum := &model.VCSched{Name: "items", Hosts: 1}, 0
	for i := range 30_000 {
		x := 20 + rng.IntN(581)
		sum += x
		in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprint(i), Tasks: 1, Memory: float64(x) / 1000})
	}
	least := int64(0)
	LeastHosts(over, in, func(hosts int64, _ string) { least = hosts })
	require.Same(t, "at least: hosts", int64(sum+999)/1000, least)
}
