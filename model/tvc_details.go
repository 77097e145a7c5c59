// SPDX-License-Identifier: MIT

package model

import "fmt"

// TVCParameters are the settings that only algorithms for TVC know.
type TVCParameters struct {
	// Embedder names the embedder of a scheduler in queue mode; empty: adaba.
	Embedder string `key:"embedder" shown:"adaba" usage:"embedder of fcfs, sdf, sbf, bgmbf, bgmbf-sdf, srpt and repack"`
	// Embeddable, if "yes", has embedders in loss mode count the rejected requests
	// that an embedding existed for.
	Embeddable string `key:"embeddable" shown:"no" usage:"yes: count the rejected requests for which an embedding existed"`
}

// Kind implements Parameters.
func (*TVCParameters) Kind() Kind { return KindTVC }

// TVCDetails holds the solvers' reports on a TVC's result.
type TVCDetails struct {
	// NeverFit counts the requests that don't fit an empty data centre.
	NeverFit int `json:"never_fit,omitempty"`
	// Embeddable counts the rejected requests that an embedding existed for at
	// their arrival; nil: not counted.
	Embeddable *int `json:"embeddable,omitempty"`
	// Preempted counts how often a scheduler took back the resources of a running request. It includes times at which
	// the request went on at once in the same place; the solution doesn't show these, as its segment continues. Nil:
	// not counted.
	Preempted *int `json:"preempted,omitempty"`
	// Partial holds the runs until a policy failed, without a solution: the requests that had started, with running
	// ones continued to their ends.
	Partial []Run[Embedding] `json:"partial,omitempty"`
}

// Kind implements Details.
func (*TVCDetails) Kind() Kind { return KindTVC }

// Lines implements Details.
func (d *TVCDetails) Lines(Result) (lines []string) {
	switch {
	case d.NeverFit == 1:
		lines = append(lines, "1 request never fits, even in an empty data centre")
	case d.NeverFit > 1:
		lines = append(lines, fmt.Sprintf("%d requests never fit, even in an empty data centre", d.NeverFit))
	}
	if d.Embeddable != nil {
		lines = append(lines, fmt.Sprintf("%d of the rejected requests could have been embedded at their arrival", *d.Embeddable))
	}
	if d.Preempted != nil && *d.Preempted > 0 {
		lines = append(lines, fmt.Sprintf("%d preempted, those that went on at once in place included", *d.Preempted))
	}
	if d.Partial != nil {
		lines = append(lines, fmt.Sprintf("%d requests had started until then (the result's key partial)", len(d.Partial)))
	}
	return lines
}

// Claims implements Details.
func (d *TVCDetails) Claims() (claims []string) {
	if d.Embeddable != nil {
		claims = append(claims, "how many rejected requests could have been embedded")
	}
	if d.Preempted != nil {
		claims = append(claims, "how often requests were preempted and went on at once in place")
	}
	return claims
}

// Figures implements Details.
func (d *TVCDetails) Figures() map[string]float64 {
	figures := map[string]float64{}
	for key, x := range map[string]*int{"embeddable": d.Embeddable, "preempted": d.Preempted} {
		if x != nil {
			figures[key] = float64(*x)
		}
	}
	return figures
}
