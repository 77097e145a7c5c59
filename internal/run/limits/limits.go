// SPDX-License-Identifier: MIT

// Package limits has the ranges of the settings that all solvers share, for the library, the command and the service.
package limits

import (
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// Wrong returns the first setting that is out of its range, and why ("is 5, must be above 0 and below 1"); "" if there
// is none. 0 is a setting's default; given reports those that were set all the same, and is nil where that can't be
// told.
func Wrong(s model.Settings, given func(setting string) bool) (setting, why string) {
	zero := func(setting string) bool { return given != nil && given(setting) }
	switch {
	case s.Threads < 0 || s.Threads == 0 && zero("threads"):
		return "threads", fmt.Sprintf("is %d, must be at least 1", s.Threads)
	case s.TimeLimit < 0:
		return "time_limit", fmt.Sprintf("is %v, must not be negative", s.TimeLimit)
	case s.Effort < 0 || s.Effort == 0 && zero("effort"):
		return "effort", fmt.Sprintf("is %d, must be at least 1", s.Effort)
	case !(s.Gap >= 0 && s.Gap < 1) || s.Gap == 0 && zero("gap"):
		return "gap", fmt.Sprintf("is %v, must be above 0 and below 1", s.Gap)
	case s.AnswerLimit < 0 || s.AnswerLimit == 0 && zero("answer_limit"):
		return "answer_limit", fmt.Sprintf("is %v, must be above 0", s.AnswerLimit)
	}
	return "", ""
}
