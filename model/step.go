// SPDX-License-Identifier: MIT

package model

// Step is one decision of an algorithm, for people and programs that follow it. See
// Settings.Trace.
type Step struct {
	// What is the kind of step. Kinds are rank, place, accept, decline, slots, start, head, backfill, reserve, move; on
	// two tiers foreground, background, change, kill, migrate, lift, lower, end; of vcsched yield, place, stuck, back,
	// close, packed, unpacked, again; of tvc arrive, pass, try, accept, decline.
	What string `json:"what"`
	// Of is the id of the step's task, request or job.
	Of string `json:"of,omitempty"`
	// Words describe the step in a sentence.
	Words string `json:"words"`
	// Values are the figures behind it.
	Values []StepValue `json:"values,omitempty"`
}

// StepValue is a figure of a step: times in seconds.
type StepValue struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}
