// SPDX-License-Identifier: MIT

package testkit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func TestBruteTVC(t *testing.T) {
	t.Parallel()
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
			if got, _ := testkit.BruteTVC(in); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	// VMs on one server may have their virtual switch at an edge, an aggregation or
	// a core switch; only the core switch is above both servers.
	for vms, want := range map[int]int{1: 6, 2: 7, 3: 2, 4: 1} {
		in := &model.TVC{FatTree: two, Requests: []model.TVCRequest{request("a", 0, vms, 1, 1)}}
		if all := testkit.BruteEmbeddings(in, 0, nil); len(all) != want {
			t.Errorf("%d VMs: %d embeddings, want %d", vms, len(all), want)
		}
	}
	// Beside two VMs on one server, only the other has room.
	in := &model.TVC{FatTree: two, Requests: []model.TVCRequest{request("a", 0, 2, 1, 1), request("b", 0, 2, 1, 1)}}
	there := map[int]model.Embedding{0: {Servers: []model.ServerVMs{{Server: 1, VMs: 2}}}}
	if all := testkit.BruteEmbeddings(in, 1, there); len(all) != 3 {
		t.Errorf("%d embeddings beside a full server, want 3", len(all))
	}
}

// What is drawn is valid, the best solution is feasible, and the families are
// there: instances with all, some and none accepted, requests that never fit.
func TestRandomTVC(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 1))
	all, some, none, never := 0, 0, 0, 0
	for range 300 {
		n := rng.IntN(6)
		for _, queue := range []bool{false, true} {
			if err := testkit.RandomTVC(rng, 4, n, queue).Validate(); err != nil {
				t.Fatal(err)
			}
		}
		in := testkit.RandomTVC(rng, 2, n, false)
		value, s := testkit.BruteTVC(in)
		r, err := verify.Verify(t.Context(), in, s, verify.Options{})
		if err != nil || !r.Feasible() || r.Objective-value > 1e-9*value || value-r.Objective > 1e-9*value {
			t.Fatalf("%v: the judge says %v, %v", value, r, err)
		}
		for k := range in.Requests {
			if !testkit.BruteFits(in, k) {
				never++
			}
		}
		switch len(s.Runs) {
		case n:
			all++
		case 0:
			none++
		default:
			some++
		}
	}
	if all < 50 || some < 50 || none < 3 || never < 50 {
		t.Errorf("%d with all accepted, %d with some, %d with none; %d never fit", all, some, none, never)
	}
}
