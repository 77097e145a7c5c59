// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gapwise/gapwise/model"
)

// Constraints on the transcript of an online run, which says what a policy was told when,
// and what it decided when.
const (
	toldEarly          = "told_early"          // told before it happened
	toldLate           = "told_late"           // told after that, though the policy wasn't busy
	toldWrong          = "told_wrong"          // it never happened so, or is told twice
	untold             = "untold"              // it happened, and is never told
	impossibleDecision = "impossible_decision" // it couldn't be carried out, or rests on what wasn't told
	undecided          = "undecided"           // the solution isn't what was decided
)

// transcriptHeader is the first line of a transcript.
type transcriptHeader struct {
	Kind         model.Kind `json:"kind"`
	Version      int        `json:"version"`
	Transcript   string     `json:"transcript"`
	Instance     string     `json:"instance"`
	InstanceHash string     `json:"instance_hash"`
	Order        string     `json:"order"`
	Placement    string     `json:"placement"` // "contiguous": jobs hold neighbouring processors
}

// transcriptTurn is each line after it: first something is told, then decided.
type transcriptTurn struct {
	AtS     float64           `json:"at_s"`
	Told    []transcriptEvent `json:"told"`
	Decided []transcriptEvent `json:"decided"`
}

// transcriptEvent is an event or a decision.
type transcriptEvent struct {
	Type       string              `json:"type"`
	Job        string              `json:"job"`
	AtS        *float64            `json:"at_s"` // nil: when it is told or decided
	Processors model.ProcessorList `json:"processors"`
}

// online replays a transcript beside the solution of a batch instance. The error is for a
// transcript that can't be read; it wraps model.ErrInvalid.
func online(ctx context.Context, in model.Instance, s model.Solution, o Options, r *Report) error {
	b, ok := in.(*model.Batch)
	e, isExecution := s.(*model.Execution)
	if !ok || !isExecution {
		return fmt.Errorf("verify: %w: there are no transcripts for %s, but for batch", model.ErrUnsupported, in.Kind())
	}
	lines := json.NewDecoder(o.Transcript)
	lines.DisallowUnknownFields()
	bad := func(line int, reason any) error {
		return fmt.Errorf("%w transcript: line %d: %v", model.ErrInvalid, line, reason)
	}
	var h transcriptHeader
	if err := lines.Decode(&h); err != nil {
		return bad(1, err)
	}
	if h.Kind != in.Kind() || h.Version != 1 || h.Transcript != "online" {
		return bad(1, fmt.Sprintf("it is no header of an online transcript of %s, version 1", in.Kind()))
	}
	hash := o.Hash
	if hash == "" {
		var err error
		if hash, err = model.Hash(in); err != nil {
			return fmt.Errorf("verify: %w", err)
		}
	}
	if h.InstanceHash != hash {
		r.add(wrongInstance, 0, "the transcript is of the instance %q with the hash %s, this one has %s", h.Instance, h.InstanceHash, hash)
		return nil
	}
	if h.Placement != "" && h.Placement != string(model.BatchContiguous) {
		return bad(1, fmt.Sprintf("placement is %q, must be %q or missing", h.Placement, model.BatchContiguous))
	}
	before := len(r.Violations)
	j := newOnlineJudge(ctx, b, e, r)
	j.contiguous = h.Placement != ""
	for line := 2; !stopped(ctx, line); line++ {
		var turn transcriptTurn
		err := lines.Decode(&turn)
		if errors.Is(err, io.EOF) {
			j.end()
			break
		}
		if err != nil {
			return bad(line, err)
		}
		if err := j.turn(&turn); err != nil {
			return bad(line, err)
		}
		if len(r.Violations) > before {
			break // what follows may follow from that
		}
	}
	r.Checked = append(r.Checked, "that nothing was told before its time", "that each decision was possible then", "that the solution is what was decided")
	r.Trusted = append(r.Trusted, "that the policy knew nothing else")
	r.Online = len(r.Violations) == before
	return nil
}
