// SPDX-License-Identifier: MIT

package online_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// embeds are the decisions of a policy, one call after the other.
func embeds(turns [][]online.TVCDecision) *script[online.TVCPlatform, online.TVCEvent, online.TVCDecision] {
	return &script[online.TVCPlatform, online.TVCEvent, online.TVCDecision]{turns: turns, name: func(e online.TVCEvent) string {
		id := ""
		if e.Request != nil {
			id = " " + e.Request.ID
		}
		return fmt.Sprintf("%g %s%s", float64(e.At)/second, e.Type, id)
	}}
}

// clusters has two servers of two slots, at one edge switch each. The requests are a of 2 VMs for 10 s, and b of 2 VMs
// and c of 1, which arrive at 5 s.
func clusters(queue bool) *model.TVC {
	return &model.TVC{FatTree: model.FatTree{K: 2, Slots: 2, LinkMbps: 10}, Queue: queue, MigrationS: 2, Requests: []model.TVCRequest{
		{ID: "a", VMs: 2, BandwidthMbps: 1, DurationS: 10}, {ID: "b", ArrivalS: 5, VMs: 2, BandwidthMbps: 11, DurationS: 3},
		{ID: "c", ArrivalS: 5, VMs: 1, BandwidthMbps: 1, DurationS: 4}}}
}

// below is the core switch, above all servers.
var below = model.Switch{Layer: model.LayerCore}

// embed starts request k with VMs on servers 0, 1, ...
func embed(k int32, vms ...int) online.TVCDecision {
	d := online.TVCDecision{Type: online.Start, Request: k, Place: model.Embedding{Switch: below}}
	for s, n := range vms {
		if n != 0 {
			d.Place.Servers = append(d.Place.Servers, model.ServerVMs{Server: s, VMs: n})
		}
	}
	return d
}

// Impossible decisions are refused in a line, and the runs until then are kept.
func TestTVCRefused(t *testing.T) {
	t.Parallel()
	type turns = [][]online.TVCDecision
	of := func(k int32, what online.DecisionType) online.TVCDecision {
		return online.TVCDecision{Type: what, Request: k}
	}
	elsewhere := embed(0, 0, 2)
	elsewhere.Place.Switch = model.Switch{Layer: model.LayerEdge}
	nowhere := embed(0, 2)
	nowhere.Place.Switch = model.Switch{Layer: model.LayerEdge, Group: 7}
	backwards := embed(0, 1, 1)
	backwards.Place.Servers[0], backwards.Place.Servers[1] = backwards.Place.Servers[1], backwards.Place.Servers[0]
	for name, c := range map[string]struct {
		turns turns
		queue bool
		want  string
	}{
		"no answer":         {turns{{}}, false, `invalid decision at 0 s (call 1): none on request "a": without a queue a request starts or is rejected when it arrives`},
		"not arrived":       {turns{{embed(1, 2)}}, true, `start of request number 1: no such request has arrived, the policy knows numbers below 1`},
		"running":           {turns{{embed(0, 2), embed(0, 0, 2)}}, true, `start of request "a": it is running since 0 s`},
		"too many VMs":      {turns{{embed(0, 2, 1)}}, true, `server 1 gets 1 VMs, it asks for 2 in all`},
		"too few VMs":       {turns{{embed(0, 1)}}, true, `it asks for 2 VMs and gets 1`},
		"no slots":          {turns{{embed(0, 2)}, {embed(2, 1)}}, true, `start of request "c": server 0 gets 1 VMs and has 0 free slots`},
		"no bandwidth":      {turns{{embed(0, 0, 2)}, {of(0, online.Suspend), embed(1, 1, 1)}}, true, `start of request "b": a link on the way to its switch hasn't the bandwidth`},
		"no switch":         {turns{{nowhere}}, true, `there is no switch edge-7-0`},
		"not below":         {turns{{elsewhere}}, true, `server 1 isn't below the switch edge-0-0`},
		"backwards":         {turns{{backwards}}, true, `server 0 comes after 1, they must ascend`},
		"rejected":          {turns{{of(0, online.Reject), embed(0, 2)}}, true, `it has ended, or is rejected`},
		"suspended at once": {turns{{embed(0, 2), of(0, online.Suspend)}}, true, `it hasn't run yet`},
		"suspended, waits":  {turns{{of(0, online.Suspend)}}, true, `suspend of request "a": it isn't running`},
		"suspended, loss":   {turns{{embed(0, 2)}, {of(0, online.Suspend)}}, false, `without a queue none is suspended`},
		"called before":     {turns{{of(0, online.CallAt)}}, true, `call at 0 s: this isn't later than now`},
		"no decision":       {turns{{of(0, online.Kill)}}, true, `there is no such decision`},
	} {
		e, err := online.TVC(context.Background(), clusters(c.queue), embeds(c.turns))
		checkRefused(t, name, err, c.want)
		if e == nil {
			t.Errorf("%s: what ran until then is lost", name)
		}
	}
}

// Events come in time, with suspensions, a migration and a request that goes on as if it hadn't been suspended.
func TestTVCTold(t *testing.T) {
	t.Parallel()
	type turns = [][]online.TVCDecision
	suspend := online.TVCDecision{Type: online.Suspend}
	for name, c := range map[string]struct {
		turns turns
		queue bool
		told  string
		runs  string
		err   string
	}{
		"loss": {turns: turns{{embed(0, 1, 1)}, {{Type: online.Reject, Request: 1}, embed(2, 0, 1)}},
			told: "0 submitted a, ?, 5 submitted b, 5 submitted c, ?, 9 ended c, ?, 10 ended a, ?", runs: "a 0-10, c 5-9"},
		"a migration": {queue: true, turns: turns{{embed(0, 1, 1)}, {suspend, embed(1, 2), embed(2, 0, 1), {Type: online.CallAt, At: 7 * second}}, {}, {embed(0, 2)}},
			told: "0 submitted a, ?, 5 submitted b, 5 submitted c, ?, 7 called, ?, 8 ended b, ?, 9 ended c, ?, 15 ended a, ?", runs: "a 0-5 8-15, b 5-8, c 5-9"},
		"it goes on": {queue: true, turns: turns{{embed(0, 1, 1)}, {suspend, embed(2, 1), embed(0, 1, 1)}, {}, {embed(1, 2)}},
			told: "0 submitted a, ?, 5 submitted b, 5 submitted c, ?, 9 ended c, ?, 10 ended a, ?, 13 ended b, ?", runs: "a 0-10, b 10-13, c 5-9"},
		"left waiting": {queue: true, turns: turns{{embed(0, 1, 1)}}, told: "0 submitted a, ?, 5 submitted b, 5 submitted c, ?, 10 ended a, ?",
			runs: "a 0-10", err: "no solution found: 2 requests that fit haven't run to their ends, and nothing happens any more"},
	} {
		p := embeds(c.turns)
		e, err := online.TVC(context.Background(), clusters(c.queue), p)
		checkError(t, name, err, c.err)
		p.checkTold(t, name, c.told)
		checkRuns(t, name, e.Runs, nowhere, c.runs)
	}
}
