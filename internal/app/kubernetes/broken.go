// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"slices"
	"strings"

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

// brokenWords says what is broken. A node that lacks the slack alone isn't short of what its pods need.
func (p *Plan) brokenWords(b *planstate.Broken) string {
	text := b.Words("node", "pod", "workload")
	if p.slack {
		for _, need := range []string{"than it needs", "than they need"} {
			text = strings.Replace(text, need, need+" and the slack", 1)
		}
	}
	return text
}

// brokenText says what is broken today and after the plan, "" if nothing is.
func (p *Plan) brokenText() string {
	now, then := p.brokenWords(&p.Broken.Now), p.brokenWords(&p.Broken.Then)
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
