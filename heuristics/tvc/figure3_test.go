// SPDX-License-Identifier: MIT

package tvc

import (
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/tvc/fattree"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The paper's Figure 3 shows where the embedders put a request of 3 VMs at 10 Mbps, and which of them can then take
// three requests of 2 VMs at 60 Mbps.
//
// The figure's drawing is lost: the paper's text gives the requests, that two jobs run, and how many servers are left
// empty, not the state before. The state here is ours, made so that all statements of the text hold. It has k = 4, L =
// 2 and links of 100 Mbps; F is a full server, H one with a VM, E an empty one, edge switches in brackets:
//
//	pod 0 [F F][F E]   pod 1 [H H][H H]   pod 2 [F E][F F]   pod 3 [F E][F F]
//
// Red has 6 VMs in each of the pods 0, 2 and 3 at 10 Mbps. Green has one on each server of pod 1 at 50 Mbps: no VM at
// 60 Mbps fits next to it. First fit without locality is meant ("arranges the VMs to the servers in sequence"); below
// the smallest subtree it would do as best fit does.
func TestFigure3(t *testing.T) {
	t.Parallel()
	running := []struct {
		e model.Embedding
		request
	}{
		{model.Embedding{Switch: model.Switch{Layer: model.LayerCore, Group: 1}, Servers: placed(0, 2, 1, 2, 2, 2, 8, 2, 10, 2, 11, 2, 12, 2, 14, 2, 15, 2)}, request{18, 10e6}},
		{model.Embedding{Switch: model.Switch{Layer: model.LayerAggregation, Group: 1, Index: 1}, Servers: placed(4, 1, 5, 1, 6, 1, 7, 1)}, request{4, 50e6}},
	}
	for _, x := range []struct {
		name    string
		servers []model.ServerVMs // of the request of 3 VMs
		empty   int               // servers left empty
		then    int               // of three requests of 2 VMs, accepted
	}{
		{"adaba", placed(4, 1, 5, 1, 6, 1), 3, 3},
		{"best-fit", placed(4, 1, 5, 1, 6, 1), 3, 3},
		{"best-fit-local", placed(4, 1, 5, 1, 6, 1), 3, 3},
		{"greedy", placed(3, 2, 9, 1), 1, 1},
		{"first-fit", placed(3, 2, 4, 1), 2, 2},
	} {
		d := fattree.New(view.OfTVC((&model.TVC{FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 100}})))
		add := func(e model.Embedding, r request) {
			if !d.Room(&e, r.n, r.b) {
				t.Fatalf("%s: no room for %v", x.name, e)
			}
			d.Arrive(r.b)
			d.Add(&e, r.n, r.b)
		}
		for _, r := range running {
			add(r.e, r.request)
		}
		embedder := require.Value(findEmbedder(x.name))(t)
		embed := func(r request) (model.Embedding, bool) {
			d.Arrive(r.b)
			e, ok := embedder.Embed(d, r.n, r.b)
			if ok {
				add(e, r)
			}
			return e, ok
		}
		e, _ := embed(request{3, 10e6})
		if !e.SameServers(&model.Embedding{Servers: x.servers}) {
			t.Errorf("%s: %v, want %v", x.name, e.Servers, x.servers)
		}
		empty, then := 0, 0
		for _, free := range d.Free {
			if int(free) == d.Slots {
				empty++
			}
		}
		for range 3 {
			if _, ok := embed(request{2, 60e6}); ok {
				then++
			}
		}
		if empty != x.empty || then != x.then {
			t.Errorf("%s: %d servers left empty, then %d of 3 accepted; want %d and %d", x.name, empty, then, x.empty, x.then)
		}
	}
}

// placed makes servers of pairs of a server and its VMs.
func placed(pairs ...int) (all []model.ServerVMs) {
	for k := 0; k < len(pairs); k += 2 {
		all = append(all, model.ServerVMs{Server: pairs[k], VMs: pairs[k+1]})
	}
	return all
}
