// SPDX-License-Identifier: MIT

package planstate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// Broken names what a plan breaks, tasks that stay included: a plan that is a solution may leave it so.
type Broken struct {
	Rules []string `json:"rules,omitempty"`
	Hosts []string `json:"hosts,omitempty"` // with less of a resource than their tasks need
	Tasks int      `json:"tasks,omitempty"` // on hosts where their jobs may not be
}

// BrokenBy judges an assignment as if all of its tasks were newly placed. The error is model.ErrInvalid if the assignment
// isn't one of the instance. O(hosts × (resources + sets) + rules × domains + tasks × their rules).
func BrokenBy(in *model.Consolidation, a *model.Assignment) (b Broken, err error) {
	c, plan, err := anew(in, a)
	if err != nil {
		return b, err
	}
	s := Of(c, plan)
	for _, q := range s.BrokenRules() {
		b.Rules = append(b.Rules, in.Rules[q].ID)
	}
	for h := range c.Existing {
		if slices.ContainsFunc(s.Left[h*c.Resources:(h+1)*c.Resources], func(x int64) bool { return x < 0 }) {
			b.Hosts = append(b.Hosts, in.Hosts[h].ID)
		}
	}
	for i := range plan {
		for _, h := range plan[i] {
			if h >= 0 && !c.Jobs[i].Allowed.Has(int(h)) {
				b.Tasks++
			}
		}
	}
	return b, nil
}

// anew returns the view of an instance in which no task has a host yet and no host is closed, and a plan of it.
func anew(in *model.Consolidation, a *model.Assignment) (*view.Consolidation, view.Plan, error) {
	x := *in
	x.Jobs, x.Hosts = slices.Clone(in.Jobs), slices.Clone(in.Hosts)
	for i := range x.Jobs {
		x.Jobs[i].CurrentHosts, x.Jobs[i].Pinned = nil, false
	}
	for h := range x.Hosts {
		x.Hosts[h].Closed = false
	}
	c := view.OfConsolidation(&x, len(a.Bought))
	plan, err := c.PlanOf(a)
	return c, plan, err
}

// String returns it in words: "2 broken rules (r1, r2), 1 host with too little (h4)"; "" if nothing is broken.
func (b Broken) String() string { return b.Words("host", "task", "job", "") }

// Words is String with other words for hosts, tasks and jobs. Beside follows the needs of a host; it may be empty.
func (b Broken) Words(host, task, job, beside string) string {
	var all []string
	some := func(names []string, one, more string) {
		if len(names) > 0 {
			what, text := one, strings.Join(names[:min(len(names), mostNames)], ", ")
			if len(names) > 1 {
				what = more
			}
			if n := len(names) - mostNames; n > 0 {
				text += fmt.Sprintf(" and %d more", n)
			}
			all = append(all, fmt.Sprintf("%d %s (%s)", len(names), what, text))
		}
	}
	some(b.Rules, "broken rule", "broken rules")
	some(b.Hosts, host+" with less than it needs"+beside, host+"s with less than they need"+beside)
	switch {
	case b.Tasks == 1:
		all = append(all, fmt.Sprintf("1 %s where its %s may not be", task, job))
	case b.Tasks > 1:
		all = append(all, fmt.Sprintf("%d %ss where their %ss may not be", b.Tasks, task, job))
	}
	return strings.Join(all, ", ")
}

// mostNames is how many rules or hosts are named.
const mostNames = 4
