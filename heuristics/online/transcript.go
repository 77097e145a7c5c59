// SPDX-License-Identifier: MIT

package online

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gapwise/gapwise/model"
)

// transcript takes what is told and decided, at instants in ticks.
type transcript[E, D any] interface {
	tell(now int64, e E)
	decided(now int64, all []D) error
	close() error
}

// lines writes a transcript as JSON lines: a header, then a line for each call of Decide
// before which something was told or by which something was decided, with an object for
// each of these. docs/reference/schema/KIND-transcript.json describes them.
type lines[E, D, EL, DL any] struct {
	w        *bufio.Writer
	out      *json.Encoder
	seconds  func(int64) float64
	event    func(now int64, e E) EL  // makes the object of an event
	decision func(now int64, d *D) DL // and of a decision
	told     []EL
}

type headerLine struct {
	Kind         model.Kind       `json:"kind"`
	Version      int              `json:"version"`
	Transcript   string           `json:"transcript"`
	Instance     string           `json:"instance"`
	InstanceHash string           `json:"instance_hash"`
	Order        model.BatchOrder `json:"order,omitempty"` // of batch
	Tiers        int              `json:"tiers,omitempty"` // of batch, 2: jobs run in the background, too
	// Placement, of batch, is missing if it is model.BatchLowest.
	Placement model.BatchPlacement `json:"placement,omitempty"`
}

type turnLine[EL, DL any] struct {
	AtS     float64 `json:"at_s"`
	Told    []EL    `json:"told,omitempty"`
	Decided []DL    `json:"decided,omitempty"`
}

// begin writes the header, which may hold options already.
func (x *lines[E, D, EL, DL]) begin(to io.Writer, in model.Instance, h headerLine) error {
	hash, err := model.Hash(in)
	if err != nil {
		return err
	}
	x.w = bufio.NewWriter(to)
	x.out = json.NewEncoder(x.w)
	x.out.SetEscapeHTML(false)
	h.Kind, h.Version, h.Transcript, h.Instance, h.InstanceHash = in.Kind(), 1, "online", in.ID(), hash
	return x.out.Encode(h)
}

// tell notes an event.
func (x *lines[E, D, EL, DL]) tell(now int64, e E) { x.told = append(x.told, x.event(now, e)) }

// decided writes what was told since the last call, and decided now.
func (x *lines[E, D, EL, DL]) decided(now int64, all []D) error {
	if len(x.told) == 0 && len(all) == 0 {
		return nil
	}
	line := turnLine[EL, DL]{AtS: x.seconds(now), Told: x.told}
	for i := range all {
		line.Decided = append(line.Decided, x.decision(now, &all[i]))
	}
	x.told = x.told[:0]
	return x.out.Encode(line)
}

// close writes what is left.
func (x *lines[E, D, EL, DL]) close() error {
	if err := x.w.Flush(); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	return nil
}

// idOf returns the id of number k of n; of one that isn't there, its number.
func idOf(k int32, n int, id func(int32) string) string {
	if k < 0 || int(k) >= n {
		return fmt.Sprintf("number %d", k)
	}
	return id(k)
}

// unless returns the seconds of a time, nil if that is now.
func unless(now, at int64, seconds func(int64) float64) *float64 {
	if at == now {
		return nil
	}
	s := seconds(at)
	return &s
}
