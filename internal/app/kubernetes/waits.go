// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/text/words"
)

// Wait explains why a pod goes on waiting in a plan.
type Wait struct {
	Pod string `json:"pod"`
	Why string `json:"why"`
}

// waits explains for each waiting pod of a plan why no node has it. Rooms are those after the plan.
func (in *Instance) waits(plan view.Plan) (all []Wait, room []Room) {
	free := make([][]int64, len(in.Hosts))
	for h := range in.Hosts {
		free[h] = slices.Clone(in.Hosts[h].Capacity)
	}
	for i := range plan {
		for _, h := range plan[i] {
			for r, need := range in.Jobs[i].Needs {
				if h >= 0 && int(h) < len(free) {
					free[h][r] -= need
				}
			}
		}
	}
	for i := range plan {
		for k, h := range plan[i] {
			if h < 0 && !in.isRoom(i) {
				p := in.converter.jobs[i].pods[k]
				all = append(all, Wait{p.id, in.whyWaits(p, i, free)})
			}
		}
	}
	return all, in.room(plan, func(p *pod, i int) string { return in.whyWaits(p, i, free) })
}

// whyWaits explains why a pod of job i waits: the fact that holds it, or how many nodes refuse it for which reason.
func (in *Instance) whyWaits(p *pod, i int, free [][]int64) string {
	if p.held != "" {
		return p.held
	}
	count := map[string]int{}
	for h := range in.Hosts {
		reason := in.refusedBy(p, h)
		if reason == "" {
			reason = byCompany
			for r, need := range in.Jobs[i].Needs {
				if need > free[h][r] && need > 0 {
					reason = byOtherRoom + " for " + in.converter.names[r]
					break
				}
			}
		}
		count[reason]++
	}
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, reason := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", count[reason], reason))
	}
	text := fmt.Sprintf("of %s: %s", words.Plural(len(in.Hosts), "node"), strings.Join(parts, ", "))
	of := in
	if in.before != nil { // it has the offers
		of = in.before
	}
	if len(of.Offers) == 0 {
		return text
	}
	k := slices.IndexFunc(of.converter.pods, func(x *pod) bool { return x.id == p.id })
	if k < 0 { // no pod, but a node that is to be kept
		return text
	}
	if fits := of.offersFor(of.converter.pods[k]); fits != nil {
		return text + "; the limits on nodes to buy leave no " + list(fits)
	}
	return text + "; no node to buy takes it"
}

// refusedBy explains why a node refuses a pod whatever else is on it, but for room; "" if it doesn't.
func (in *Instance) refusedBy(p *pod, h int) string {
	switch {
	case p.refused[h] != "":
		return p.refused[h]
	case !p.allowed[h]:
		return byResident
	case in.Hosts[h].Closed:
		return byClosed
	}
	return ""
}

// offersFor returns the nodes to buy that would have a pod on an empty one, by their rules and amounts.
func (in *Instance) offersFor(p *pod) (fits []string) {
	needs := in.converter.needs(p.requests)
	for k := range in.Offers {
		if p.allowed[len(in.Hosts)+k] && within(needs, in.Offers[k].Capacity) {
			fits = append(fits, in.Offers[k].ID)
		}
	}
	return fits
}

// WaitsText lists why pods go on waiting; "" if none does.
func WaitsText(all []Wait) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\npods that go on waiting:\n")
	for k, x := range all {
		if k == mostPins {
			fmt.Fprintf(&b, "  and %d more (--json)\n", len(all)-k)
			break
		}
		b.WriteString("  " + words.Wrap(x.Pod+": "+x.Why, 77, 4) + "\n")
	}
	return b.String()
}
