// SPDX-License-Identifier: MIT

package wire

import (
	"errors"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// These types of events are tvc's own.
const (
	embedRequest   = "EMBED_REQUEST"
	suspendRequest = "SUSPEND_REQUEST"
)

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

// tvcDialect is the messages of tvc.
type tvcDialect struct {
	*session
	never int // requests that fit no empty data centre
}

func (p *tvcDialect) begins(platform online.TVCPlatform) any {
	d := tvcBegins{model.KindTVC, platform.FatTree, platform.Hose, platform.Queue, platform.Goal, p.clock.seconds(platform.Migration)}
	if d.FatTree.Fabric = d.FatTree.EffectiveFabric(); d.Queue {
		d.Goal = ""
	}
	return d
}

func (p *tvcDialect) report(e online.TVCEvent) {
	p.now = e.At
	switch q := e.Request; e.Type {
	case online.Submitted:
		if p.items[q.ID] = q.Number; !q.Fits {
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
}

func (*tvcDialect) decision(what online.DecisionType, k int32, at int64) online.TVCDecision {
	return online.TVCDecision{Type: what, Request: k, At: at}
}

func (*tvcDialect) more(x *online.TVCDecision, _ int32, e *answerEvent) error {
	if x.Type != online.Start {
		return nil
	}
	d, err := read[embedded](e)
	switch {
	case err != nil:
		return err
	case d.Place == nil:
		return errors.New("there is no place")
	}
	x.Place = *d.Place
	return nil
}

// tvc runs the session on an instance.
func (s *session) tvc(in *model.TVC) course {
	s.clock, s.noun = microseconds, "request"
	p := &tvcDialect{session: s}
	e, err := online.TVC(s.ctx, in, &policy[online.TVCPlatform, online.TVCEvent, online.TVCDecision]{
		session: s, dialect: p, offers: []offer{
			{embedRequest, online.Start}, {rejectRequest, online.Reject}, {suspendRequest, online.Suspend}}})
	c := course{solution: e, err: err, heard: err == nil && len(s.items) == len(in.Requests)}
	if p.never > 0 {
		c.details = &model.TVCDetails{NeverFit: p.never}
	}
	if e != nil && len(e.Runs) > 0 {
		c.partial = &model.TVCDetails{Partial: e.Runs}
	}
	return c
}
