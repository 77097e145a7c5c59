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
	Tiers        int        `json:"tiers"`     // 2: of batch, and jobs run in the background, too
	Placement    string     `json:"placement"` // "contiguous": jobs hold neighbouring processors
}

// transcriptTurn is each line after it: first events E are told, then D decided.
type transcriptTurn[E, D any] struct {
	AtS     float64 `json:"at_s"`
	Told    []E     `json:"told"`
	Decided []D     `json:"decided"`
}

// onlineReplay replays the turns of a transcript beside the solution.
type onlineReplay interface {
	// turn replays the next line, which decode reads. The error is decode's, or for a
	// line that says nothing.
	turn(decode func(any) error) error
	// end checks that everything was told, and that the solution has nothing else.
	end()
}

// replayTurn replays a line: begin, then each event, then each decision. In a time of a
// kind at_s is not negative, and not before the line before.
func replayTurn[E, D any](decode func(any) error, begin func(atS float64) error, told func(*E) error, decided func(*D) error) error {
	var t transcriptTurn[E, D]
	if err := decode(&t); err != nil {
		return err
	}
	if err := begin(t.AtS); err != nil {
		return err
	}
	for i := range t.Told {
		if err := told(&t.Told[i]); err != nil {
			return err
		}
	}
	for i := range t.Decided {
		if err := decided(&t.Decided[i]); err != nil {
			return err
		}
	}
	return nil
}

// replayClock is the time of a replay whose events are told at the instant at which they
// happen.
type replayClock struct {
	report  *Report
	noun    string // what runs is called
	seconds func(int64) float64
	at      int64         // of the turn
	calls   map[int64]int // that are asked for, by time
}

// goOn goes on to the time of a line.
func (c *replayClock) goOn(at int64) error {
	if at < c.at {
		return fmt.Errorf("it is of %v s, after one of %v s", c.seconds(at), c.seconds(c.at))
	}
	c.at = at
	return nil
}

// told checks an event: of one that happens at another time.
func (c *replayClock) told(id, what string, really int64) {
	switch {
	case c.at < really:
		c.report.add(toldEarly, 0, "at %v s it is told that %s %q is %s, at %v s", c.seconds(c.at), c.noun, id, what, c.seconds(really))
	case c.at > really:
		c.report.add(toldLate, 0, "at %v s it is told that %s %q is %s, at %v s", c.seconds(c.at), c.noun, id, what, c.seconds(really))
	}
}

// wrong reports an event that never happened so.
func (c *replayClock) wrong(id, what, why string) {
	c.report.add(toldWrong, 0, "at %v s it is told that %s %q is %s, %s", c.seconds(c.at), c.noun, id, what, why)
}

// called checks that the policy is called when it has asked for that.
func (c *replayClock) called() {
	if c.calls[c.at] == 0 {
		c.report.add(toldWrong, 0, "at %v s the policy is called, and hasn't asked for that", c.seconds(c.at))
	}
	c.calls[c.at]--
}

// call notes that the policy asks to be called.
func (c *replayClock) call(at int64) {
	if at <= c.at {
		c.cannot("call", "", "%v s isn't later", c.seconds(at))
	}
	c.calls[at]++
}

// cannot reports a decision that isn't possible, about what has an id.
func (c *replayClock) cannot(what, id, reason string, args ...any) {
	if id != "" {
		what = fmt.Sprintf("%s of %s %q", what, c.noun, id)
	}
	c.report.add(impossibleDecision, 0, "at %v s, %s: %s", c.seconds(c.at), what, fmt.Sprintf(reason, args...))
}

// microsOf reads a time of a line.
func microsOf(key string, x *float64) (int64, error) {
	if x == nil {
		return 0, fmt.Errorf("there is no %s", key)
	}
	if !(*x >= 0 && *x <= latestTime) {
		return 0, fmt.Errorf("%s is %v, must be from 0 to %g", key, *x, latestTime)
	}
	at, _ := micros(*x)
	return at, nil
}

// replayOf returns the replay of a solution; nil: there is none for such a one.
func replayOf(ctx context.Context, in model.Instance, s model.Solution, h transcriptHeader, r *Report) onlineReplay {
	switch in := in.(type) {
	case *model.Batch:
		if e, ok := s.(*model.Execution); ok && e != nil {
			if h.Tiers == 2 {
				return newTierReplay(ctx, in, e, r)
			}
			j := newOnlineJudge(ctx, in, e, r)
			j.contiguous = h.Placement != ""
			return j
		}
	case *model.Reservation:
		if b, ok := s.(*model.Bookings); ok && b != nil {
			return newReservationReplay(ctx, in, b, r)
		}
	case *model.TVC:
		if e, ok := s.(*model.Embeddings); ok && e != nil {
			return newTVCReplay(ctx, in, e, r)
		}
	}
	return nil
}

// online replays a transcript beside the solution of an instance. The error is for a
// transcript that can't be read; it wraps model.ErrInvalid.
func online(ctx context.Context, in model.Instance, s model.Solution, o Options, r *Report) error {
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
	replay := replayOf(ctx, in, s, h, r)
	if replay == nil {
		return fmt.Errorf("verify: %w: there are no transcripts for a %T of %s", model.ErrUnsupported, s, in.Kind())
	}
	before := len(r.Violations)
	for line := 2; !stopped(ctx, line); line++ {
		err := replay.turn(lines.Decode)
		if errors.Is(err, io.EOF) {
			replay.end()
			break
		}
		if err != nil {
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
