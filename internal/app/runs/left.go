// SPDX-License-Identifier: MIT

package runs

import (
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
	"github.com/gapwise/gapwise/model"
)

// Left says what a solution of a consolidation leaves broken, as tasks that stay may: in words, today and in the solution;
// "" if nothing is, and for other problems.
func Left(in model.Instance, s model.Solution) string {
	c, ok := in.(*model.Consolidation)
	a, is := s.(*model.Assignment)
	if !ok || !is {
		return ""
	}
	today := &model.Assignment{}
	for i := range c.Jobs {
		j := model.JobAssignment{ID: c.Jobs[i].ID, Hosts: make([]string, c.Jobs[i].Tasks)}
		copy(j.Hosts, c.Jobs[i].CurrentHosts)
		today.Jobs = append(today.Jobs, j)
	}
	before, err := planstate.BrokenBy(c, today)
	if err != nil {
		return ""
	}
	after, err := planstate.BrokenBy(c, a)
	switch was, is := before.String(), after.String(); {
	case err != nil || was == "" && is == "":
		return ""
	case was == is:
		return "left as today: " + is
	case is == "":
		return "mended: " + was
	case was == "":
		return "left broken: " + is
	default:
		return "today: " + was + "; left: " + is
	}
}
