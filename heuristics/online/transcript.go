// SPDX-License-Identifier: MIT

package online

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// transcript writes what is told and decided as JSON lines: a header, then a line for each
// call of Decide before which something was told or by which something was decided.
// docs/reference/schema/batch-transcript.json describes them.
type transcript struct {
	w    *bufio.Writer
	out  *json.Encoder
	jobs []BatchJob
	told []toldLine
}

type headerLine struct {
	Kind         model.Kind       `json:"kind"`
	Version      int              `json:"version"`
	Transcript   string           `json:"transcript"`
	Instance     string           `json:"instance"`
	InstanceHash string           `json:"instance_hash"`
	Order        model.BatchOrder `json:"order"`
	// Placement is missing if it is model.BatchLowest.
	Placement model.BatchPlacement `json:"placement,omitempty"`
}

type turnLine struct {
	AtS     float64       `json:"at_s"`
	Told    []toldLine    `json:"told,omitempty"`
	Decided []decidedLine `json:"decided,omitempty"`
}

type toldLine struct {
	Type BatchEventType `json:"type"`
	Job  string         `json:"job,omitempty"`
	AtS  *float64       `json:"at_s,omitempty"` // nil: when it is told

	at int64
}

type decidedLine struct {
	Type       BatchDecisionType   `json:"type"`
	Job        string              `json:"job,omitempty"`
	AtS        *float64            `json:"at_s,omitempty"` // nil: at once
	Processors model.ProcessorList `json:"processors,omitempty"`
}

func newTranscript(in *model.Batch, jobs []BatchJob, o BatchOptions) (*transcript, error) {
	hash, err := model.Hash(in)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriter(o.Transcript)
	x := &transcript{w: w, out: json.NewEncoder(w), jobs: jobs}
	x.out.SetEscapeHTML(false)
	h := headerLine{Kind: in.Kind(), Version: 1, Transcript: "online", Instance: in.Name, InstanceHash: hash, Order: o.Order}
	if o.Placement != model.BatchLowest {
		h.Placement = o.Placement
	}
	return x, x.out.Encode(h)
}

// seconds returns ticks in seconds.
func seconds(ticks int64) float64 { return float64(ticks) / 1e6 }

// tell notes an event.
func (x *transcript) tell(e BatchEvent) {
	told := toldLine{Type: e.Type, at: e.At}
	if e.Job != nil {
		told.Job = e.Job.ID
	}
	x.told = append(x.told, told)
}

// decided writes what was told since the last call, and decided now.
func (x *transcript) decided(now int64, all []BatchDecision) error {
	if len(x.told) == 0 && len(all) == 0 {
		return nil
	}
	line := turnLine{AtS: seconds(now), Told: x.told}
	for i := range x.told {
		if t := &x.told[i]; t.at != now {
			at := seconds(t.at)
			t.AtS = &at
		}
	}
	for i := range all {
		d := &all[i]
		decided := decidedLine{Type: d.Type, Processors: d.Processors}
		if d.Type != CallAt && d.Type != Busy {
			if decided.Job = fmt.Sprintf("number %d", d.Job); d.Job >= 0 && int(d.Job) < len(x.jobs) {
				decided.Job = x.jobs[d.Job].ID
			}
		}
		if d.At != 0 && d.At != now {
			at := seconds(d.At)
			decided.AtS = &at
		}
		line.Decided = append(line.Decided, decided)
	}
	x.told = x.told[:0]
	return x.out.Encode(line)
}

// close writes what is left.
func (x *transcript) close() error {
	if err := x.w.Flush(); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	return nil
}
