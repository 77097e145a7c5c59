// SPDX-License-Identifier: MIT

package online

import (
	"io"

	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// tvcTold is an event in a transcript.
type tvcTold struct {
	Type    EventType `json:"type"`
	Request string    `json:"request,omitempty"`
}

// tvcDecided is a decision in a transcript.
type tvcDecided struct {
	Type    DecisionType     `json:"type"`
	Request string           `json:"request,omitempty"`
	Place   *model.Embedding `json:"place,omitempty"`
	AtS     *float64         `json:"at_s,omitempty"`
}

// newTVCTranscript begins the transcript of a run.
func newTVCTranscript(in *model.TVC, requests []TVCRequest, to io.Writer) (transcript[TVCEvent, TVCDecision], error) {
	seconds := (*view.TVC)(nil).Seconds
	x := &lines[TVCEvent, TVCDecision, tvcTold, tvcDecided]{seconds: seconds}
	x.event = func(_ int64, e TVCEvent) tvcTold {
		told := tvcTold{Type: e.Type}
		if e.Request != nil {
			told.Request = e.Request.ID
		}
		return told
	}
	x.decision = func(now int64, d *TVCDecision) tvcDecided {
		decided := tvcDecided{Type: d.Type}
		if d.Type == CallAt {
			at := seconds(d.At)
			decided.AtS = &at
			return decided
		}
		if d.Type == Start {
			decided.Place = &d.Place
		}
		decided.Request = idOf(d.Request, len(requests), func(k int32) string { return requests[k].ID })
		return decided
	}
	return x, x.begin(to, in, headerLine{})
}
