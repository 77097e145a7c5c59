// SPDX-License-Identifier: MIT

package online_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/test/need"
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

// shuffle embeds at random where slots are free; with a queue it suspends, too.
type shuffle struct {
	rng              *rand.Rand
	queue            bool
	now              int64
	free             []int
	waiting, running []*online.TVCRequest
	places           map[*online.TVCRequest]model.Embedding
	begun            map[*online.TVCRequest]int64
}

func (p *shuffle) Begin(platform online.TVCPlatform) error {
	p.queue, p.places, p.begun = platform.Queue, map[*online.TVCRequest]model.Embedding{}, map[*online.TVCRequest]int64{}
	for range platform.FatTree.Servers() {
		p.free = append(p.free, platform.FatTree.Slots)
	}
	return nil
}

func (p *shuffle) Event(e online.TVCEvent) error {
	p.now = e.At
	switch e.Type {
	case online.Submitted:
		p.waiting = append(p.waiting, e.Request)
	case online.Ended:
		p.leave(e.Request)
	}
	return nil
}

func (p *shuffle) leave(q *online.TVCRequest) {
	for _, s := range p.places[q].Servers {
		p.free[s.Server] += s.VMs
	}
	kept := p.running[:0]
	for _, x := range p.running {
		if x != q {
			kept = append(kept, x)
		}
	}
	p.running = kept
}

func (p *shuffle) Decide() (all []online.TVCDecision, err error) {
	if p.queue && len(p.running) > 0 && p.rng.IntN(3) == 0 {
		if q := p.running[p.rng.IntN(len(p.running))]; p.begun[q] < p.now {
			p.leave(q)
			p.waiting = append(p.waiting, q)
			all = append(all, online.TVCDecision{Type: online.Suspend, Request: q.Number})
		}
	}
	rest := p.waiting[:0]
	for _, q := range p.waiting {
		place := model.Embedding{Switch: below}
		if old, is := p.places[q]; is && p.rng.IntN(2) == 0 && p.fits(&old) {
			place = old
		} else {
			left := q.VMs
			for s := range p.free {
				if n := min(left, p.free[s], p.rng.IntN(3)); n > 0 {
					place.Servers = append(place.Servers, model.ServerVMs{Server: s, VMs: n})
					left -= n
				}
			}
			if left > 0 {
				if !p.queue {
					all = append(all, online.TVCDecision{Type: online.Reject, Request: q.Number})
				} else {
					rest = append(rest, q)
				}
				continue
			}
		}
		for _, s := range place.Servers {
			p.free[s.Server] -= s.VMs
		}
		p.places[q], p.begun[q], p.running = place, p.now, append(p.running, q)
		all = append(all, online.TVCDecision{Type: online.Start, Request: q.Number, Place: place})
	}
	if p.waiting = rest; len(rest) > 0 {
		all = append(all, online.TVCDecision{Type: online.CallAt, At: p.now + 1 + p.rng.Int64N(3*second)})
	}
	return all, nil
}

func (p *shuffle) fits(e *model.Embedding) bool {
	for _, s := range e.Servers {
		if s.VMs > p.free[s.Server] {
			return false
		}
	}
	return true
}

// The judge accepts what random policies make of random instances.
func TestTVCJudged(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 7))
	for range need.Rounds(100) {
		in := &model.TVC{FatTree: model.FatTree{K: 4, Slots: 1, LinkMbps: 1000}, Queue: rng.IntN(3) > 0, MigrationS: float64(rng.IntN(3))}
		at := 0.0
		for k := range 1 + rng.IntN(12) {
			at += float64(rng.IntN(4))
			q := model.TVCRequest{ID: fmt.Sprint(k), ArrivalS: at, VMs: 1 + rng.IntN(12), BandwidthMbps: 1, DurationS: float64(1 + rng.IntN(9))}
			in.Requests = append(in.Requests, q)
		}
		e, err := online.TVC(t.Context(), in, &shuffle{rng: rng})
		checkJudged(t, in, e, err)
	}
}
