// SPDX-License-Identifier: MIT

package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gapwise/gapwise/internal/core/evidence"
)

// Evidence lets a judge recompute a bound from the instance without the code of the
// solver that found it. Which fields count depends on the type. All figures are
// exact: whole numbers, or the float64s that they print as.
type Evidence struct {
	Type string `json:"type"`
	// Method is the name of the bound, as gapwise bound prints it.
	Method string `json:"method,omitempty"`
	// Figure names the bounded figure if that isn't the objective: a bound's name, as gapwise bound --json lists it
	// under others.
	Figure string `json:"figure,omitempty"`

	Elements []string  `json:"elements,omitempty"` // ids of tasks, jobs or requests; of a host set or a rule; names of resources
	Weights  []float64 `json:"weights,omitempty"`
	Window   []float64 `json:"window,omitempty"`   // seconds, from and to
	Resource string    `json:"resource,omitempty"` // cpu or memory; slots or links; one of the instance; a kind of rows
	Count    int       `json:"count,omitempty"`
	// Load is a CPU load that no placement reaches or stays below, in units. A host has Scale units.
	Load  int64 `json:"load,omitempty"`
	Scale int64 `json:"scale,omitempty"`
	// Function is the dual-feasible function that demands are seen by; nil: none.
	Function *DualFunction    `json:"function,omitempty"`
	Mirrored bool             `json:"mirrored,omitempty"`
	Windows  []EvidenceWindow `json:"windows,omitempty"`
	// Times are in ticks of the instance's integer view; Prices[i] is the price from
	// Times[i] to Times[i+1].
	Times []int64 `json:"times,omitempty"`
	// Rows are numbers of rows of a formulation, of the kind Resource; Weights[i] is the
	// multiplier of Rows[i]. Or they are numbers of machines, from 0.
	Rows   []int64   `json:"rows,omitempty"`
	Prices []float64 `json:"prices,omitempty"`
	// Parts are evidence of the same problem for disjoint sets of requests (Elements); their bounds add up.
	Parts []Evidence `json:"parts,omitempty"`

	// The fields of a search are its engine, nodes, the closed part (all or part), and the bound before it branched
	// with its evidence.
	Engine string    `json:"engine,omitempty"`
	Nodes  int64     `json:"nodes,omitempty"`
	Closed string    `json:"closed,omitempty"`
	Root   *Evidence `json:"root,omitempty"`
	// RootBound is the value of Root.
	RootBound *float64 `json:"root_bound,omitempty"`
	// SHA256 is the digest of a proof's file.
	SHA256 string `json:"sha256,omitempty"`
}

// EvidenceWindow is a window of time in ticks, in which demands are seen by a
// dual-feasible function.
type EvidenceWindow struct {
	From     int64         `json:"from"`
	To       int64         `json:"to"`
	Function *DualFunction `json:"function,omitempty"`
}

// DualFunction names a dual-feasible function on [0, capacity]: f with Σ f(x) ≤
// f(capacity) for all x with Σ x ≤ capacity. See package bounds.
type DualFunction struct {
	// Name is steps (u of Parameter), threshold (U), pieces (p) or halves (p of
	// half the capacity, times 1/2).
	Name      string `json:"name"`
	Parameter int64  `json:"parameter,omitempty"`
}

// Checkable reports whether the judge recomputes bounds from evidence of this type.
func (e *Evidence) Checkable() bool {
	if e == nil {
		return false
	}
	switch e.Type {
	case evidence.Relaxation, evidence.Search, evidence.Proof:
		return false
	}
	return true
}

// maxEvidence is the depth of evidence in evidence that is read.
const maxEvidence = 5

// decodeEvidence reads evidence, strictly.
func decodeEvidence(data []byte) (*Evidence, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	e := new(Evidence)
	if err := d.Decode(e); err != nil {
		return nil, fmt.Errorf("%w result: evidence: %w", ErrInvalid, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w result: there is something after the evidence", ErrInvalid)
	}
	if e.depth() > maxEvidence {
		return nil, fmt.Errorf("%w result: evidence lies in evidence more than %d deep", ErrInvalid, maxEvidence)
	}
	return e, nil
}

func (e *Evidence) depth() int {
	below := 0
	if e.Root != nil {
		below = e.Root.depth()
	}
	for k := range e.Parts {
		below = max(below, e.Parts[k].depth())
	}
	return below + 1
}
