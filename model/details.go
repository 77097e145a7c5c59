// SPDX-License-Identifier: MIT

package model

// Details holds results that only the solvers of one problem report. It is a pointer to a struct; its keys are in the
// JSON object of the result.
type Details interface {
	Kind() Kind
	// Lines describes the details in words, one string for each line.
	Lines(Result) []string
	// Claims names, in words, the claims of the details that the judge doesn't check.
	Claims() []string
	// Figures returns the figures that experiments record, by key.
	Figures() map[string]float64
}

// Parameters are settings of the algorithms of one problem: a pointer to a
// struct with the tags of package params.
type Parameters interface{ Kind() Kind }
