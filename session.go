// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"slices"
	"time"

	"github.com/gapwise/gapwise/model"
)

// SessionTimeLimit limits the search of each step of a Session if its options have neither a time limit nor an effort.
// A step on 64 hosts with 200 jobs, bounds and judge included, takes 20 to 30 ms with a search, and 1 or 2 without.
const SessionTimeLimit = 15 * time.Millisecond

// Session solves an instance again after each small change: jobs, requests or tasks arrive and leave, needs change.
// Each step starts from the solution of the one before, completed greedily (see CompleteStart), so its solution is
// never worse than that completed start where the start is feasible. The zero value of all but Options is a session
// before its first step. One goroutine uses a session at a time.
//
// For a vcsched without a migration budget, few tasks move from the second step on. The yield counts first, to within a
// hundredth (or Options.Gap, if that is set), then the number of tasks that leave their hosts. The completed start is
// repaired by moves and swaps. The step ends if that brings the yield within a hundredth of a bound. Else a search
// looks for a better yield. It is local search for SessionTimeLimit or the options' effort if the algorithm is auto
// without a time limit, else the algorithm of the options. A hundredth less is then looked for with fewer moves: by
// repairing the start again, and by returning tasks of the solution found to their hosts. The result's algorithm is
// "session".
//
// If the instance is a vcsched with a migration budget, the step uses the last placement as the current hosts of its
// jobs, whatever the instance states. The budget bounds the moves from there.
type Session struct {
	// Options are the options of every step. Without a time limit and an effort the limit is SessionTimeLimit; Start is
	// for the first step alone.
	Options Options
	last    model.Solution
}

// Step solves the instance as it is now, which must not be changed afterwards (see
// Case.Solve): the next step has another. It returns the instance that was solved,
// which is in unless current hosts were filled in. A step without a solution, such as
// one that is infeasible, leaves the session as it was. Errors are as for Solve.
func (s *Session) Step(ctx context.Context, in model.Instance) (model.Instance, model.Result, error) {
	if err := given(in); err != nil {
		return in, model.NewResult(s.Options.Algorithm, s.Options.Seed), err
	}
	o := s.Options
	if o.TimeLimit == 0 && o.Effort == 0 {
		o.TimeLimit = SessionTimeLimit
	}
	c := NewCase(in)
	if s.last != nil && s.last.Kind() == in.Kind() {
		if in = running(in, s.last); in != c.Instance {
			c = NewCase(in)
		}
		start, _, err := CompleteStart(ctx, in, s.last)
		if err != nil { // everything has changed: there is nothing to start from
			start = nil
		}
		if o.Start = start; start != nil && o.Solver == nil {
			o.Solver = s.few(c)
		}
	}
	r, err := c.Solve(ctx, o)
	if err == nil && r.Solution != nil {
		s.last = r.Solution
	}
	return in, r, err
}

// Last returns the last solution, nil before there is one.
func (s *Session) Last() model.Solution { return s.last }

// running returns the instance or, for a vcsched with a migration budget, a copy with its jobs on the hosts of a
// placement. Jobs that aren't in it, or have another number of tasks or a host that the instance doesn't have, are new.
func running(in model.Instance, last model.Solution) model.Instance {
	v, isVCSched := in.(*model.VCSched)
	p, isPlacement := last.(*model.Placement)
	if !isVCSched || !isPlacement || v.MigrationBudget == nil {
		return in
	}
	now := *v
	now.Jobs = slices.Clone(v.Jobs)
	for i, hosts := range lastHosts(v, p) {
		now.Jobs[i].CurrentHosts = hosts
	}
	return &now
}

// lastHosts returns the hosts of each job's tasks in a placement; nil for jobs that aren't
// in it, or that have another number of tasks or a host that the instance hasn't.
func lastHosts(in *model.VCSched, last *model.Placement) [][]int {
	of := make(map[string][]int, len(last.Jobs))
	for i := range last.Jobs {
		of[last.Jobs[i].ID] = last.Jobs[i].Hosts
	}
	all := make([][]int, len(in.Jobs))
	for i := range in.Jobs {
		hosts := of[in.Jobs[i].ID]
		if len(hosts) == in.Jobs[i].Tasks && !slices.ContainsFunc(hosts, func(h int) bool { return h < 0 || h >= in.Hosts }) {
			all[i] = hosts
		}
	}
	return all
}
