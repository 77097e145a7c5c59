// SPDX-License-Identifier: MIT

package tvc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// The steps show the run: requests accepted on their servers, switches passed over without room for the request, and
// VMs that sum to the request's where servers took all.
func TestTraceOfAdaBa(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(54, 1))
	kinds := map[string]int{}
	for range require.Rounds(150) {
		in := testkit.RandomTVC(rng, 4, 12, false)
		vms := map[string]int{}
		for _, r := range in.Requests {
			vms[r.ID] = r.VMs
		}
		var accepted []string
		s, err := solve(t.Context(), in, model.Settings{Trace: func(s model.Step) {
			kinds[s.What]++
			sum := 0.0
			for _, v := range s.Values {
				sum += v.Value
				if s.What == "pass" && v.Value >= float64(vms[s.Of]) {
					t.Fatalf("%s: passed over with room: %+v", adaBa, s)
				}
			}
			switch took := sum == float64(vms[s.Of]); s.What {
			case "try":
				require.Is(t, strings.HasSuffix(s.Words, "all VMs have a server"), took, adaBa, s, "of", vms[s.Of])
			case "accept":
				if !took {
					t.Fatalf("%s: %+v, of %d", adaBa, s, vms[s.Of])
				}
				accepted = append(accepted, fmt.Sprint(s.Of, s.Values))
			}
		}}, adaBa)
		require.OK(t, err)
		var want []string
		for _, r := range s.Runs {
			var values []model.StepValue
			for _, x := range r.Segments[0].Place.Servers {
				values = append(values, model.StepValue{Name: fmt.Sprintf("VMs on server %d", x.Server), Value: float64(x.VMs)})
			}
			want = append(want, fmt.Sprint(r.ID, values))
		}
		if !slices.Equal(accepted, want) {
			t.Fatalf("%s: the steps accept %v, the solution %v", adaBa, accepted, want)
		}
	}
	for _, what := range []string{"arrive", "pass", "try", "accept", "decline"} {
		if kinds[what] == 0 {
			t.Errorf("no step is %q: %v", what, kinds)
		}
	}
}

// AdaBa's steps on four servers of two slots a pod, by hand. The bandwidth of r2 is a quarter of Bmax, so that half a
// free slot would be best: servers with one come first.
func TestTraceOfAdaBaByHand(t *testing.T) {
	t.Parallel()
	in := &model.TVC{Name: "two", FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 100}, Requests: []model.TVCRequest{
		{ID: "r1", VMs: 3, BandwidthMbps: 80, ArrivalS: 0, DurationS: 10},
		{ID: "r2", VMs: 2, BandwidthMbps: 20, ArrivalS: 1, DurationS: 10},
		{ID: "r3", VMs: 5, BandwidthMbps: 30, ArrivalS: 2, DurationS: 10}}}
	var words []string
	if _, err := AdaBa(t.Context(), in, model.Settings{Trace: func(s model.Step) { words = append(words, s.Words) }}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"request r1: at 0 s, 3 VMs at 80 Mbit/s for 10 s; 32 of 32 slots are free",
		"request r1: below edge-0-0, servers whose free slots are nearest to 2 first: server 0 takes 2 of 2, server 1 takes 1 of 2: all VMs have a server",
		"request r1: accepted below edge-0-0, VMs: 2 on server 0, 1 on server 1",
		"request r2: at 1 s, 2 VMs at 20 Mbit/s for 10 s; 29 of 32 slots are free",
		"request r2: passed over: edge-0-0 (free slots: 1)",
		"request r2: below edge-0-1, servers whose free slots are nearest to 0.5 first: server 2 takes 2 of 2: all VMs have a server",
	}
	if len(words) < len(want) || !slices.Equal(words[:len(want)], want) {
		t.Errorf("%q", words)
	}
}
