// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// These types of events are tvc's own.
const (
	embedRequest   = "EMBED_REQUEST"
	suspendRequest = "SUSPEND_REQUEST"
)

// tvcPolicy is a scheduler of tvc.
type tvcPolicy struct {
	*session
	requests requests
	never    int // requests that fit no empty data centre
	now      int64
	all      []online.TVCDecision
}

type tvcBegins struct {
	Kind       model.Kind    `json:"kind"`
	FatTree    model.FatTree `json:"fat_tree"`
	Hose       model.Hose    `json:"hose"`
	Queue      bool          `json:"queue"`
	Goal       model.TVCGoal `json:"goal,omitempty"`
	MigrationS float64       `json:"migration_s"`
}

// tvcSubmitted has the keys of an instance.
type tvcSubmitted struct {
	requestName
	Request struct {
		ArrivalS      float64 `json:"arrival_s"`
		VMs           int     `json:"vms"`
		BandwidthMbps float64 `json:"bandwidth_mbps"`
		DurationS     float64 `json:"duration_s"`
		Fits          bool    `json:"fits"` // the empty data centre
	} `json:"request"`
}

// embedded is a request in its place.
type embedded struct {
	requestName
	Place *model.Embedding `json:"place"`
}

// Begin implements online.TVCPolicy.
func (p *tvcPolicy) Begin(platform online.TVCPlatform) error {
	d := tvcBegins{model.KindTVC, platform.FatTree, platform.Hose, platform.Queue, platform.Goal, p.clock.seconds(platform.Migration)}
	if d.FatTree.Fabric = d.FatTree.EffectiveFabric(); d.Queue {
		d.Goal = ""
	}
	return p.begin(d)
}

// Event implements online.TVCPolicy.
func (p *tvcPolicy) Event(e online.TVCEvent) error {
	p.now = e.At
	switch q := e.Request; e.Type {
	case online.Submitted:
		if p.requests[q.ID] = q.Number; !q.Fits {
			p.never++
		}
		d := tvcSubmitted{requestName: requestName{q.ID}}
		r := &d.Request
		r.ArrivalS, r.DurationS, r.BandwidthMbps = p.clock.seconds(q.Arrival), p.clock.seconds(q.Duration), float64(q.Bandwidth)/1e6
		r.VMs, r.Fits = q.VMs, q.Fits
		p.add(e.At, requestSubmitted, d)
	case online.Ended:
		p.add(e.At, requestCompleted, embedded{requestName{q.ID}, e.Place})
	case online.Called:
		p.add(e.At, requestedCall, struct{}{})
	}
	return nil
}

// Decide implements online.TVCPolicy.
func (p *tvcPolicy) Decide() (_ []online.TVCDecision, err error) {
	p.all, err = decideNow(p.session, p.now, p.all[:0], p.decisions)
	return p.all, err
}

// decisions appends what an event of an answer decides.
func (p *tvcPolicy) decisions(all []online.TVCDecision, e *answerEvent) ([]online.TVCDecision, error) {
	types := map[string]online.DecisionType{embedRequest: online.Start, suspendRequest: online.Suspend, rejectRequest: online.Reject}
	x := online.TVCDecision{Type: types[e.Type]}
	switch e.Type {
	case callMeLater:
		at, err := p.clock.call(e)
		return append(all, online.TVCDecision{Type: online.CallAt, At: at}), err
	case embedRequest, suspendRequest, rejectRequest:
	default:
		return nil, notOffered(e, embedRequest, rejectRequest, suspendRequest, callMeLater)
	}
	d, err := read[embedded](e)
	if err != nil {
		return nil, err
	}
	if x.Request, err = p.requests.number(e.Type, d.RequestID); err != nil || x.Type != online.Start {
		return append(all, x), err
	}
	if d.Place == nil {
		return nil, fmt.Errorf("the data of %s of %s have no place", e.Type, d.name())
	}
	x.Place = *d.Place
	return append(all, x), nil
}

// tvc runs the session on an instance.
func (s *session) tvc(in *model.TVC) course {
	s.clock = microseconds
	p := &tvcPolicy{session: s, requests: requests{}}
	e, err := online.TVC(s.ctx, in, p)
	c := course{solution: e, err: err, heard: err == nil && len(p.requests) == len(in.Requests), at: p.now}
	if p.never > 0 {
		c.details = &model.TVCDetails{NeverFit: p.never}
	}
	if e != nil && len(e.Runs) > 0 {
		c.partial = &model.TVCDetails{Partial: e.Runs}
	}
	return c
}
