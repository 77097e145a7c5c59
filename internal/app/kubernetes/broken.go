// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"slices"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
)

// broken counts what a plan breaks, pods that stay included: kube-scheduler checks a pod once. Pods on nodes that are only
// cordoned or not ready are where they may be.
func (in *Instance) broken(c *view.Consolidation, plan view.Plan) planstate.Broken {
	b, err := planstate.BrokenBy(in.Consolidation, c.Assignment(plan))
	if err != nil {
		return planstate.Broken{}
	}
	b.Rules = slices.DeleteFunc(b.Rules, wished)
	b.Tasks = 0
	for i := range plan {
		for k, h := range plan[i] {
			p := in.converter.jobs[i].pods[k]
			if h < 0 || int(h) >= len(p.refused) || p.held != "" {
				continue
			}
			if why := p.refused[h]; why != byCordon && (why != "" || !p.allowed[h]) {
				b.Tasks++
			}
		}
	}
	return b
}

// brokenText says what is broken today and after the plan, "" if nothing is.
func (p *Plan) brokenText() string {
	beside := ""
	if p.slack { // a node may lack that alone
		beside = " and the slack"
	}
	now, then := p.Broken.Now.Words("node", "pod", "workload", beside), p.Broken.Then.Words("node", "pod", "workload", beside)
	switch {
	case now == "" && then == "":
		return ""
	case now == then:
		return now + "; the plan leaves it so"
	case then == "":
		return now + "; none after the plan"
	case now == "":
		return "nothing today, after the plan " + then
	}
	return now + "; after the plan " + then
}
