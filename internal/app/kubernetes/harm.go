// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// ErrHarm is the error of a plan that isn't carried out because it may harm running pods: it names them, and the option
// that allows it.
var ErrHarm = errors.New("what runs may be harmed")

// Harms are the kinds of harm for which a plan isn't carried out unless they are allowed. A workload, as
// NAMESPACE/NAME, can be allowed, too.
var Harms = []string{harmJobs, harmSingle, harmStep, harmCordoned}

const (
	harmJobs     = "jobs"           // their pods begin again, or the Job fails
	harmSingle   = "single-replica" // no other pod serves meanwhile
	harmStep     = "same-step"      // several pods of a workload without a budget go at once
	harmCordoned = "cordoned"       // nodes that somebody else has closed
)

// systemCritical is the priority of system-cluster-critical, which only the system's classes have.
const systemCritical = 2_000_000_000

// harm returns why the steps of a plan aren't carried out; nil if they can be. With begun the plan follows steps that
// have been made: nodes were looked at before.
func (in *Instance) harm(p *Plan, allow []string, begun bool) error {
	if err := p.named(); err != nil {
		return err
	}
	ready, pods := map[string]int{}, map[string]*corev1.Pod{}
	for k := range in.Cluster.Pods {
		x := &in.Cluster.Pods[k]
		pods[x.Namespace+"/"+x.Name] = x
		if x.Spec.NodeName != "" && !unready(x) && (x.Status.Phase == corev1.PodRunning || x.Status.Phase == "") {
			ready[workload(x)]++
		}
	}
	found, by := map[string][]string{}, map[string][]string{} // the elements of each harm; the option that allows it
	add := func(harm, what string) {
		if !slices.Contains(allow, harm) && !slices.Contains(allow, what) {
			found[harm], by[harm] = append(found[harm], what), []string{harm}
		}
	}
	const critical = "system-critical " + harmSingle
	for _, step := range p.Steps {
		gone := map[string]int{}
		for _, m := range step.Moves {
			x := pods[m.Pod]
			if m.From == "" {
				continue
			}
			name := workload(x)
			switch kind, _ := owned(x); {
			case kind == "Job":
				add(harmJobs, name)
				continue
			case ready[name] > 1:
			case strings.HasPrefix(x.Spec.PriorityClassName, "system-"),
				x.Spec.Priority != nil && *x.Spec.Priority >= systemCritical:
				if !slices.Contains(allow, name) {
					found[critical], by[critical] = append(found[critical], name), append(by[critical], name)
				}
			default:
				add(harmSingle, name)
			}
			if gone[name]++; gone[name] == 2 && len(in.Budgets[m.Pod]) == 0 {
				add(harmStep, name)
			}
		}
	}
	for k := range in.Hosts {
		if node := in.Hosts[k].ID; !begun && in.Cordoned[node] {
			add(harmCordoned, node)
		}
	}
	var all []string
	for _, harm := range slices.Sorted(maps.Keys(found)) {
		all = append(all, fmt.Sprintf("%s: %s (--allow %s)", harm, list(found[harm]), strings.Join(distinct(by[harm]), ",")))
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("%w, nothing is done; allow what may be: %s", ErrHarm, strings.Join(all, "; "))
}

// named reports a name of a step that no API server has: such a file isn't of a cluster.
func (p *Plan) named() error {
	check := func(name string, wrong func(string) []string) error {
		if len(wrong(name)) > 0 {
			return fmt.Errorf("%w cluster: no node, namespace or pod can be called %q (RFC 1123), so nothing is carried out; "+
				"give what kubectl get prints", model.ErrInvalid, name)
		}
		return nil
	}
	nodes := slices.Clone(p.fence)
	for _, step := range p.Steps {
		nodes = append(nodes, step.Closed...)
		for _, m := range step.Moves {
			namespace, name, _ := strings.Cut(m.Pod, "/")
			if nodes = append(nodes, m.To); m.From != "" {
				nodes = append(nodes, m.From)
			}
			err := cmp.Or(check(namespace, validation.IsDNS1123Label), check(name, validation.IsDNS1123Subdomain))
			if err != nil {
				return err
			}
		}
	}
	for _, node := range nodes {
		if err := check(node, validation.IsDNS1123Subdomain); err != nil {
			return err
		}
	}
	return nil
}

// Risks are a plan's risks for the pods that should survive.
type Risks struct {
	// Replicated counts the workloads of several replicas, but for Jobs.
	Replicated int `json:"replicated_workloads"`
	// Node and Zone name the workloads on one node or in one zone: it takes them with it. Zone is null if there are no
	// two zones.
	NodeNow  []string `json:"lost_with_a_node_now"`
	NodeThen []string `json:"lost_with_a_node_then"`
	ZoneNow  []string `json:"lost_with_a_zone_now"`
	ZoneThen []string `json:"lost_with_a_zone_then"`
	// Pods are those that count; AskNothing of them request neither CPU nor memory. Memory is the sum of all requests,
	// and MemoryLimits of their limits.
	Pods         int   `json:"pods"`
	AskNothing   int   `json:"pods_without_requests"`
	Memory       int64 `json:"memory_requested_bytes"`
	MemoryLimits int64 `json:"memory_limits_bytes"`

	small bool // the cluster is one in which no workload is kept from being lost with a node, unless that is asked for
}

// risks compares a plan with today's.
func (in *Instance) risks(today, then view.Plan) (r Risks) {
	for _, p := range in.converter.pods {
		if p.room != "" {
			continue
		}
		if r.Pods++; amount(corev1.ResourceCPU, p.asks) == 0 && amount(corev1.ResourceMemory, p.asks) == 0 {
			r.AskNothing++
		}
		r.Memory += amount(corev1.ResourceMemory, p.asks)
		r.MemoryLimits += amount(corev1.ResourceMemory, resourcehelper.PodLimits(p.Pod, resourcehelper.PodResourcesOptions{}))
	}
	r.small = in.converter.Survive == "" && in.converter.small() && !in.converter.without("survive")
	zones := map[string]bool{}
	for k := range in.Cluster.Nodes {
		zones[zoneOf(&in.Cluster.Nodes[k])] = true
	}
	delete(zones, "")
	lost := func(p view.Plan, loss string) []string {
		names, replicated := in.converter.spreadOver(loss, false, func(i, k int) int { return int(p[i][k]) })
		r.Replicated = replicated
		return names
	}
	if len(zones) > 1 {
		r.ZoneNow, r.ZoneThen = lost(today, surviveZone), lost(then, surviveZone)
	}
	r.NodeNow, r.NodeThen = lost(today, surviveNode), lost(then, surviveNode)
	return r
}

// Lines returns the risks in lines, each after its name.
func (r *Risks) Lines() (all [][2]string) {
	one := func(name string, now, then []string) {
		text := fmt.Sprintf("all replicas of %d of %s now, of %d then",
			len(now), words.Plural(r.Replicated, "replicated workload"), len(then))
		worse := slices.DeleteFunc(slices.Clone(then), func(x string) bool { return slices.Contains(now, x) })
		if len(worse) > 0 {
			if text += ", new: " + list(worse); r.small {
				text += "; in one zone of up to 3 nodes, --survive node prevents it"
			}
		}
		all = append(all, [2]string{name, text})
	}
	if r.Replicated > 0 {
		if one("node lost", r.NodeNow, r.NodeThen); r.ZoneNow != nil {
			one("zone lost", r.ZoneNow, r.ZoneThen)
		}
	}
	if r.AskNothing > 0 || r.MemoryLimits > r.Memory {
		text := fmt.Sprintf("%d of %s for no CPU and no memory", r.AskNothing, words.Plural(r.Pods, "pod"))
		if r.MemoryLimits > 0 && r.Memory > 0 {
			text += fmt.Sprintf("; memory limits are %.1f times what all ask for", float64(r.MemoryLimits)/float64(r.Memory))
		}
		all = append(all, [2]string{"asking", text})
	}
	return all
}
