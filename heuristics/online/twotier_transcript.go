// SPDX-License-Identifier: MIT

package online

import (
	"io"

	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// twoTierDecided is a decision in a transcript.
type twoTierDecided struct {
	Type       DecisionType        `json:"type"`
	Job        string              `json:"job,omitempty"`
	Tier       model.Tier          `json:"tier,omitempty"`
	Processors model.ProcessorList `json:"processors,omitempty"`
	AtS        *float64            `json:"at_s,omitempty"`
}

// newTwoTierTranscript begins the transcript of a run.
func newTwoTierTranscript(in *model.Batch, jobs []TwoTierJob, to io.Writer) (transcript[TwoTierEvent, TwoTierDecision], error) {
	seconds := (*view.Batch)(nil).Seconds
	x := &lines[TwoTierEvent, TwoTierDecision, toldLine, twoTierDecided]{seconds: seconds}
	x.event = func(_ int64, e TwoTierEvent) toldLine {
		told := toldLine{Type: e.Type}
		if e.Job != nil {
			told.Job = e.Job.ID
		}
		return told
	}
	x.decision = func(_ int64, d *TwoTierDecision) twoTierDecided {
		if d.Type == CallAt {
			at := seconds(d.At)
			return twoTierDecided{Type: d.Type, AtS: &at}
		}
		id := idOf(d.Job, len(jobs), func(k int32) string { return jobs[k].ID })
		return twoTierDecided{Type: d.Type, Job: id, Tier: d.Tier, Processors: d.Processors}
	}
	return x, x.begin(to, in, headerLine{Tiers: 2})
}
