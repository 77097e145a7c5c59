// SPDX-License-Identifier: MIT

// Package steps reports the steps of an algorithm (model.Settings.Trace): a decision about an element of the instance,
// in words and in figures, and the candidates that it chose from.
package steps

import (
	"fmt"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Teller reports steps. A nil one has no listener.
type Teller func(model.Step)

// Tell reports a step about the element with the id of.
func (tell Teller) Tell(what, of string, figures []model.StepValue, words string, args ...any) {
	if tell != nil {
		tell(model.Step{What: what, Of: of, Words: fmt.Sprintf(words, args...), Values: figures})
	}
}

// Figures are named values, alternately a name and a float64.
func Figures(pairs ...any) []model.StepValue {
	all := make([]model.StepValue, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, model.StepValue{Name: pairs[i].(string), Value: pairs[i+1].(float64)})
	}
	return all
}

// Candidates are the choices for a decision, each in words, with its figures.
type Candidates struct {
	Figures []model.StepValue
	words   []string
}

// Add adds a candidate.
func (c *Candidates) Add(words string, figures ...model.StepValue) {
	c.words, c.Figures = append(c.words, words), append(c.Figures, figures...)
}

// String lists the candidates.
func (c *Candidates) String() string { return strings.Join(c.words, ", ") }
