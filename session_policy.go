// SPDX-License-Identifier: MIT

package gapwise

import (
	"context"
	"slices"

	"github.com/gapwise/gapwise/heuristics/online"
	"github.com/gapwise/gapwise/model"
)

// Policy returns the session as a policy for online.VCSched. Each of its instants is a step for the jobs that are
// there. If the step has no solution, the job that has arrived last is rejected, then the one before it, until a step
// has one. If there is none even without any of them, nothing moves. All steps use ctx.
func (s *Session) Policy(ctx context.Context) online.VCSchedPolicy {
	return &sessionPolicy{ctx: ctx, session: s, hosts: map[string][]int{}}
}

// sessionPolicy is a Session as a policy.
type sessionPolicy struct {
	ctx     context.Context
	session *Session
	in      model.VCSched    // the jobs that are there, in the order of their arrivals
	numbers []int32          // of these
	arrived int              // how many of the last ones have arrived at this instant
	hosts   map[string][]int // of the placed jobs
}

// Begin implements online.VCSchedPolicy.
func (p *sessionPolicy) Begin(platform online.VCSchedPlatform) error {
	p.in = *platform.Cluster
	return nil
}

// Event implements online.VCSchedPolicy.
func (p *sessionPolicy) Event(e online.VCSchedEvent) error {
	if e.Type == online.Submitted {
		p.in.Jobs, p.numbers, p.arrived = append(p.in.Jobs, *e.Job), append(p.numbers, e.Number), p.arrived+1
		return nil
	}
	at := slices.Index(p.numbers, e.Number)
	p.in.Jobs, p.numbers = slices.Delete(p.in.Jobs, at, at+1), slices.Delete(p.numbers, at, at+1)
	delete(p.hosts, e.Job.ID)
	return nil
}

// Decide implements online.VCSchedPolicy.
func (p *sessionPolicy) Decide() (all []online.VCSchedDecision, err error) {
	for ; len(p.numbers) > 0; p.arrived-- {
		now := p.in
		now.Jobs = slices.Clone(p.in.Jobs)
		_, r, err := p.session.Step(p.ctx, &now)
		if err != nil {
			return nil, err
		}
		if r.Solution != nil {
			all = p.follow(all, r.Solution.(*model.Placement))
			break
		}
		if p.arrived == 0 { // running jobs go on where they are
			break
		}
		last := len(p.numbers) - 1
		all = append(all, online.VCSchedDecision{Type: online.Reject, Job: p.numbers[last]})
		p.in.Jobs, p.numbers = p.in.Jobs[:last], p.numbers[:last]
	}
	p.arrived = 0
	return all, nil
}

// follow appends the decisions that lead to a placement.
func (p *sessionPolicy) follow(all []online.VCSchedDecision, to *model.Placement) []online.VCSchedDecision {
	for i := range to.Jobs {
		j := &to.Jobs[i]
		before := p.hosts[j.ID]
		for task, h := range j.Hosts {
			d := online.VCSchedDecision{Type: online.Start, Job: p.numbers[i], Task: task, Host: h}
			if before != nil {
				d.Type = online.Move
			}
			if before == nil || before[task] != h {
				all = append(all, d)
			}
		}
		p.hosts[j.ID] = j.Hosts
	}
	return all
}
