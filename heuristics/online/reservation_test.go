// SPDX-License-Identifier: MIT

package online_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// answers are the decisions of a policy, one call after the other.
func answers(turns [][]online.ReservationDecision) *script[online.ReservationPlatform, online.ReservationEvent, online.ReservationDecision] {
	return &script[online.ReservationPlatform, online.ReservationEvent, online.ReservationDecision]{turns: turns, name: func(e online.ReservationEvent) string {
		id := ""
		if e.Request != nil {
			id = " " + e.Request.ID
		}
		return fmt.Sprintf("%g %s%s", float64(e.At)/1, e.Type, id)
	}}
}

// requests has 4 PEs, and the requests a of 3 PEs for 10 s that takes 6 s, b of 2 PEs
// that is cancelled at second 8, and c of 2 PEs.
func requests() *model.Reservation {
	six, eight := 6.0, 8.0
	return &model.Reservation{PEs: 4, Requests: []model.Request{
		{ID: "a", DurationS: 10, DeadlineS: 30, PEs: 3, RuntimeS: &six},
		{ID: "b", ArrivalS: 1, ReadyS: 2, DurationS: 5, DeadlineS: 40, PEs: 2, CancelS: &eight},
		{ID: "c", ArrivalS: 3, ReadyS: 3, DurationS: 5, DeadlineS: 20, PEs: 2}}}
}

func accept(k int32, at int64, pes ...int) online.ReservationDecision {
	d := online.ReservationDecision{Type: online.Accept, Request: k, At: at}
	for _, pe := range pes {
		d.PEs = d.PEs.Append(pe)
	}
	return d
}

func move(k int32, at int64, pes ...int) online.ReservationDecision {
	d := accept(k, at, pes...)
	d.Type = online.Move
	return d
}

// Each impossible decision is refused in a line, and the bookings until then are kept.
func TestReservationRefused(t *testing.T) {
	t.Parallel()
	type turns = [][]online.ReservationDecision
	reject := func(k int32) online.ReservationDecision {
		return online.ReservationDecision{Type: online.Reject, Request: k}
	}
	for name, c := range map[string]struct {
		turns turns
		want  string
	}{
		"no answer":        {turns{{accept(0, 0, 0, 1, 2)}, {}}, `invalid decision at 1 s (call 2): none on request "b": a request is accepted or rejected when it arrives`},
		"not arrived":      {turns{{accept(1, 2, 0, 1)}}, `accept of request number 1: no such request has arrived, the policy knows numbers below 1`},
		"answered twice":   {turns{{reject(0), accept(0, 0, 0, 1, 2)}}, `accept of request "a": it is answered already`},
		"in the past":      {turns{{reject(0)}, {reject(1)}, {accept(2, 2, 0, 1)}}, `its start, 2 s, is in the past`},
		"not ready":        {turns{{reject(0)}, {accept(1, 1, 0, 1)}}, `its start, 1 s, is before it is ready, at 2 s`},
		"too late":         {turns{{accept(0, 21, 0, 1, 2)}}, `from 21 s on it isn't over by its deadline, 30 s`},
		"too few PEs":      {turns{{accept(0, 0, 0, 1)}}, `it asks for 3 PEs and gets 2`},
		"no PE":            {turns{{accept(0, 0, 2, 3, 4)}}, `its PEs, "2-4", aren't ascending ranges from 0 to 3`},
		"promised":         {turns{{accept(0, 5, 0, 1, 2)}, {accept(1, 12, 0, 3)}}, `accept of request "b": PE 0 is that of request "a" from 5 s to 15 s`},
		"not enough then":  {turns{{accept(0, 5, 0, 1, 2)}, {accept(1, 6)}, {reject(2)}}, `start of request "b": it asks for 2 PEs, 1 are no one else's until its end`},
		"moved, not known": {turns{{reject(0), move(0, 3)}}, `move of request "a": it isn't booked`},
		"moved, started":   {turns{{accept(0, 0, 0, 1, 2)}, {reject(1), move(0, 5)}}, `move of request "a": it has started at 0 s`},
		"called before":    {turns{{reject(0), {Type: online.CallAt}}}, `call at 0 s: this isn't later than now`},
		"no decision":      {turns{{{Type: online.Kill}}}, `kill of request "a": there is no such decision`},
	} {
		b, err := online.Reservation(context.Background(), requests(), answers(c.turns))
		checkRefused(t, name, err, c.want)
		if b == nil {
			t.Errorf("%s: what ran until then is lost", name)
		}
	}
}

// Events come in time: b, moved behind its cancellation, is withdrawn; PEs that a leaves early are free for c.
func TestReservationTold(t *testing.T) {
	t.Parallel()
	p := answers([][]online.ReservationDecision{{accept(0, 0, 0, 1, 2), {Type: online.CallAt, At: 2}}, {accept(1, 2)}, {move(1, 30)}, {accept(2, 12, 2, 3)}, {move(2, 6)}})
	b, err := online.Reservation(context.Background(), requests(), p)
	// b would start at 2, where it has too few PEs: it is called at 2 only after the start.
	if err == nil || !strings.Contains(err.Error(), `start of request "b"`) {
		t.Fatal(err, b)
	}
	p = answers([][]online.ReservationDecision{{accept(0, 0, 0, 1, 2), {Type: online.CallAt, At: 2}}, {accept(1, 15)}, {move(1, 30)}, {accept(2, 12, 2, 3)}, {move(2, 6)}})
	b, err = online.Reservation(context.Background(), requests(), p)
	want := "0 submitted a, ?, 1 submitted b, ?, 2 called, ?, 3 submitted c, ?, 6 ended a, ?, 8 withdrawn b, ?"
	checkError(t, "b moved", err, "")
	p.checkTold(t, "b moved", want)
	if got, want := fmt.Sprint(b.Bookings), "[{a 0 0-2} {b 30 0-1} {c 6 0-1}]"; got != want || b.Online {
		t.Errorf("%s, want %s; online: %v", got, want, b.Online)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if b, err := online.Reservation(ctx, requests(), answers(nil)); err != nil || len(b.Bookings) > 0 {
		t.Error(err, b)
	}
}
