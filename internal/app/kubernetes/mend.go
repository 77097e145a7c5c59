// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"slices"

	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
)

// figure returns what a drain makes less of, now and after a plan: the cost, or, to mend, how much is broken.
func (d *drain) figure(p *Plan) (now, then int64) {
	if !d.Options.Mend {
		return p.Now.Cost, p.Then.Cost
	}
	return broken(p.Broken.Now), broken(p.Broken.Then)
}

// broken counts what is broken.
func broken(b planstate.Broken) int64 { return int64(len(b.Rules) + len(b.Hosts) + b.Tasks) }

// unmade tells before any eviction of the moves that mend and aren't made: those without an order, and those for which no
// cordons leave kube-scheduler the plan's node alone. Their pods aren't evicted.
func (d *drain) unmade(p *Plan) {
	if !d.Options.Mend {
		return
	}
	made := map[string]bool{}
	for _, step := range p.Steps {
		for _, m := range step.Moves {
			made[m.Pod] = true
		}
	}
	for _, wave := range append(slices.Clone(p.Waves), p.Stuck) {
		for _, m := range wave {
			if !made[m.Pod] && m.From != "" {
				made[m.Pod] = true
				d.Log("not evicted: %s, kube-scheduler can't be brought to place it on %s", m.Pod, m.To)
			}
		}
	}
}

// mended returns what was broken before and isn't now, and what is broken now.
func (d *Drained) mended() (gone, left planstate.Broken) {
	less := func(all, without []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(x string) bool { return slices.Contains(without, x) })
	}
	before, after := d.BrokenBefore, d.BrokenAfter
	return planstate.Broken{Rules: less(before.Rules, after.Rules), Hosts: less(before.Hosts, after.Hosts), Tasks: max(0, before.Tasks-after.Tasks)}, after
}

// Mended tells what a drain has mended, and what is broken still, by what was read at its end.
func (d *Drained) Mended() string {
	gone, left := d.mended()
	say := func(b planstate.Broken) string {
		if text := b.Words("node", "pod", "workload", ""); text != "" {
			return text
		}
		return "nothing"
	}
	return "mended: " + say(gone) + "; left: " + say(left)
}
