// SPDX-License-Identifier: MIT

package online

import (
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

type toldLine struct {
	Type EventType `json:"type"`
	Job  string    `json:"job,omitempty"`
	AtS  *float64  `json:"at_s,omitempty"` // nil: when it is told
}

type decidedLine struct {
	Type       DecisionType        `json:"type"`
	Job        string              `json:"job,omitempty"`
	AtS        *float64            `json:"at_s,omitempty"` // nil: at once
	Processors model.ProcessorList `json:"processors,omitempty"`
}

// ticksPerSecond are those of a batch or of a tvc: ticks are microseconds.
const ticksPerSecond = 1e6

// newBatchTranscript begins the transcript of a run.
func newBatchTranscript(in *model.Batch, jobs []BatchJob, o BatchOptions) (transcript[BatchEvent, BatchDecision], error) {
	seconds := (*view.Batch)(nil).Seconds
	x := &lines[BatchEvent, BatchDecision, toldLine, decidedLine]{seconds: seconds}
	x.event = func(now int64, e BatchEvent) toldLine {
		told := toldLine{Type: e.Type, AtS: unless(now, e.At, seconds)}
		if e.Job != nil {
			told.Job = e.Job.ID
		}
		return told
	}
	x.decision = func(now int64, d *BatchDecision) decidedLine {
		decided := decidedLine{Type: d.Type, Processors: d.Processors}
		if d.Type != CallAt && d.Type != Busy {
			decided.Job = idOf(d.Job, len(jobs), func(k int32) string { return jobs[k].ID })
		}
		if d.At != 0 {
			decided.AtS = unless(now, d.At, seconds)
		}
		return decided
	}
	h := headerLine{Order: o.Order}
	if o.Placement != model.BatchLowest {
		h.Placement = o.Placement
	}
	return x, x.begin(o.Transcript, in, h)
}
