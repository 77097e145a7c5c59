// SPDX-License-Identifier: MIT

package online

import (
	"io"

	"github.com/gapwise/gapwise/model"
)

// reservationTold is an event in a transcript.
type reservationTold struct {
	Type    EventType `json:"type"`
	Request string    `json:"request,omitempty"`
}

// reservationDecided is a decision in a transcript.
type reservationDecided struct {
	Type    DecisionType `json:"type"`
	Request string       `json:"request,omitempty"`
	StartS  *float64     `json:"start_s,omitempty"`
	PEs     model.PEList `json:"pes,omitempty"`
	AtS     *float64     `json:"at_s,omitempty"`
}

// newReservationTranscript begins the transcript of a run.
func newReservationTranscript(in *model.Reservation, requests []ReservationRequest, seconds func(int64) float64, to io.Writer) (transcript[ReservationEvent, ReservationDecision], error) {
	x := &lines[ReservationEvent, ReservationDecision, reservationTold, reservationDecided]{seconds: seconds}
	x.event = func(_ int64, e ReservationEvent) reservationTold {
		told := reservationTold{Type: e.Type}
		if e.Request != nil {
			told.Request = e.Request.ID
		}
		return told
	}
	x.decision = func(_ int64, d *ReservationDecision) reservationDecided {
		decided, at := reservationDecided{Type: d.Type, PEs: d.PEs}, seconds(d.At)
		if d.Type == CallAt {
			decided.AtS = &at
			return decided
		}
		if d.Type != Reject {
			decided.StartS = &at
		}
		decided.Request = idOf(d.Request, len(requests), func(k int32) string { return requests[k].ID })
		return decided
	}
	return x, x.begin(to, in, headerLine{})
}
