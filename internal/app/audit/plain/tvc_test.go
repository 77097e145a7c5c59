// SPDX-License-Identifier: MIT

package plain_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func TestTVC(t *testing.T) {
	request := func(id string, arrival float64, vms int, mbps, duration float64) model.TVCRequest {
		return model.TVCRequest{ID: id, ArrivalS: arrival, VMs: vms, BandwidthMbps: mbps, DurationS: duration}
	}
	two := model.FatTree{K: 2, Slots: 2, LinkMbps: 100} // two servers
	for name, c := range map[string]struct {
		goal     model.TVCGoal
		requests []model.TVCRequest
		want     float64
	}{
		"nothing":               {"", nil, 0},
		"on two servers":        {"", []model.TVCRequest{request("a", 0, 4, 50, 1)}, 1},
		"too much for a link":   {"", []model.TVCRequest{request("a", 0, 4, 50.000001, 1)}, 0},
		"hidden in a server":    {"", []model.TVCRequest{request("a", 0, 2, 1000, 1), request("b", 0, 2, 1000, 1)}, 2},
		"it leaves in time":     {"", []model.TVCRequest{request("a", 0, 4, 1, 1), request("b", 1, 4, 1, 1)}, 2},
		"it leaves too late":    {"", []model.TVCRequest{request("a", 0, 4, 1, 1.000001), request("b", 1, 4, 1, 1)}, 1},
		"one for two":           {"", []model.TVCRequest{request("a", 0, 4, 1, 9), request("b", 1, 2, 1, 1), request("c", 1, 2, 1, 1)}, 2},
		"the better one of two": {model.GoalRevenue, []model.TVCRequest{request("a", 0, 4, 1, 9), request("b", 1, 2, 1, 1), request("c", 1, 2, 1, 1)}, 36},
	} {
		t.Run(name, func(t *testing.T) {
			in := &model.TVC{FatTree: two, Goal: c.goal, Requests: c.requests}
			agree(t, in, c.want)
		})
	}
	// VMs on one server may have their virtual switch at an edge, an aggregation or
	// a core switch; only the core switch is above both servers.
	for vms, want := range map[int]int{1: 6, 2: 7, 3: 2, 4: 1} {
		in := &model.TVC{FatTree: two, Requests: []model.TVCRequest{request("a", 0, vms, 1, 1)}}
		if all := plain.Embeddings(in, 0, nil); len(all) != want {
			t.Errorf("%d VMs: %d embeddings, want %d", vms, len(all), want)
		}
	}
	// Next to two VMs on one server, only the other has room.
	in := &model.TVC{FatTree: two, Requests: []model.TVCRequest{request("a", 0, 2, 1, 1), request("b", 0, 2, 1, 1)}}
	there := map[int]model.Embedding{0: {Servers: []model.ServerVMs{{Server: 1, VMs: 2}}}}
	if all := plain.Embeddings(in, 1, there); len(all) != 3 {
		t.Errorf("%d embeddings beside a full server, want 3", len(all))
	}
}

func TestTVCRandom(t *testing.T) {
	t.Parallel()
	rng, all, none := rand.New(rand.NewPCG(11, 7)), 0, 0
	for range require.Rounds(1000) {
		n := rng.IntN(6)
		in := testkit.RandomTVC(rng, 2, n, false)
		switch len(consistent(t, in).Solution.(*model.Embeddings).Runs) {
		case n:
			all++
		case 0:
			none++
		}
	}
	if draws := require.Rounds(1000); all > draws*3/4 || none > draws/4 {
		t.Errorf("of %d instances %d accept all and %d none", draws, all, none)
	}
	for range require.Rounds(60) { // more links, fewer requests
		in := testkit.RandomTVC(rng, 4, 3, false)
		in.FatTree.Slots = min(in.FatTree.Slots, 2)
		for k := range in.Requests {
			in.Requests[k].VMs = min(in.Requests[k].VMs, 3)
		}
		consistent(t, in)
	}
}

// The plain engine finds schedules of a queue that the judge takes, and none that beats the best one.
func TestTVCQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 8))
	for range 60 {
		in := testkit.RandomTVC(rng, 2, 1+rng.IntN(4), true)
		a, err := plain.Solve(in, math.NaN(), enough)
		if err != nil || a.Solution == nil || a.Whole {
			t.Fatalf("%+v, %v", a, err)
		}
		report, err := verify.Verify(t.Context(), in, a.Solution, verify.Options{})
		if err == nil {
			err = report.Err()
		}
		require.OK(t, err)
		if again, err := plain.Solve(in, a.Value, enough); err != nil || again.Solution != nil {
			t.Errorf("%v is beaten by %v, %v", a.Value, again.Value, err)
		}
	}
}
