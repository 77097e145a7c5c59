// SPDX-License-Identifier: MIT

package online_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// script is a policy of the decisions of one call after the other. It notes the events that it gets.
type script[P, E, D any] struct {
	turns [][]D
	name  func(E) string // of an event
	told  []string
	fails error // when there are no more turns
}

func (*script[P, E, D]) Begin(P) error { return nil }

func (s *script[P, E, D]) Event(e E) error {
	s.told = append(s.told, s.name(e))
	return nil
}

func (s *script[P, E, D]) Decide() ([]D, error) {
	s.told = append(s.told, "?")
	if len(s.turns) == 0 {
		return nil, s.fails
	}
	now := s.turns[0]
	s.turns = s.turns[1:]
	return now, nil
}

// checkTold checks the events that the policy got, and that it asked for decisions between.
func (s *script[P, E, D]) checkTold(t *testing.T, name, want string) {
	t.Helper()
	require.Same(t, name+": told", want, strings.Join(s.told, ", "))
}

// checkRefused checks that a run ended by a decision that is refused, in one line.
func checkRefused(t *testing.T, name string, err error, want string) {
	t.Helper()
	var refused *online.DecisionError
	if !errors.As(err, &refused) || !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v, want %s", name, err, want)
	}
}

// checkError checks that an error contains the wanted text, or that there is none.
func checkError(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %s", name, err, want)
	}
}

// checkRuns checks the segments of a schedule, each followed by the text of its place.
func checkRuns[P any](t *testing.T, name string, all []model.Run[P], place func(P) string, want string) {
	t.Helper()
	var runs []string
	for _, r := range all {
		text := r.ID
		for _, s := range r.Segments {
			text += fmt.Sprintf(" %g-%g%s", s.StartS, s.EndS, place(s.Place))
			if s.Lost {
				text += " lost"
			}
		}
		runs = append(runs, text)
	}
	require.Same(t, name, want, strings.Join(runs, ", "))
}

// nowhere says nothing of a place.
func nowhere[P any](P) string { return "" }
