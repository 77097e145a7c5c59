// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/gapwise/gapwise/model"
)

// filter finds the nodes on which a pod may be placed by its node selector, required node affinity, tolerations and
// volumes. It uses the library of kube-scheduler's plugins NodeAffinity, TaintToleration, NodeUnschedulable and
// VolumeZone, and decides as they do.
func (v *converter) filter(p *pod) error {
	affinity := nodeaffinity.GetRequiredNodeAffinity(p.Pod)
	volumes, err := v.volumes(p)
	if err != nil {
		return err
	}
	hard, wanted := v.hardSpread(p.Pod), ports(p.Pod)
	p.allowed, p.refused = make([]bool, len(v.places)), make([]string, len(v.places))
	refuses := func(n *corev1.Node) (string, error) {
		if !v.without("selectors") {
			if ok, err := affinity.Match(n); err != nil {
				return "", fmt.Errorf("%w cluster: the node affinity of pod %s: %w", model.ErrInvalid, p.id, err)
			} else if !ok {
				return bySelector, nil
			}
		}
		switch {
		case !v.without("taints") && !tolerates(p.Pod, n):
			return byTaint, nil
		case !labelled(n, hard):
			return byLabel, nil
		case !v.declares(p.Pod, n):
			return byFeature, nil
		case !v.portFree(wanted, n):
			return byPort, nil
		case n.Spec.Unschedulable && !toleratesCordon(p.Pod):
			return byCordon, nil
		case volumes != nil && !volumes(n):
			return byVolume, nil
		}
		return "", nil
	}
	for k, n := range v.places {
		if p.refused[k], err = refuses(n); err != nil {
			return err
		}
		p.allowed[k] = p.refused[k] == "" && p.held == ""
		if why := p.refused[k]; v.Mend && n.Name == p.Spec.NodeName && why != bySelector && why != byTaint && why != byLabel {
			p.allowed[k] = true // it runs there
		}
	}
	if k, runs := v.nodes[p.Spec.NodeName]; runs && volumes != nil && p.pin == "" && volumes(v.places[k]) &&
		!slices.ContainsFunc(v.places, func(n *corev1.Node) bool { return n != v.places[k] && volumes(n) }) {
		p.pin = "its volume is on its node alone"
	}
	return v.besideResidents(p)
}

// tolerates reports whether a pod may be placed on a node in spite of its taints.
func tolerates(p *corev1.Pod, n *corev1.Node) bool {
	_, untolerated := schedulinghelper.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, p.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, true)
	return !untolerated
}

// besideResidents takes away the nodes that a pod can't use because of pods of daemon sets and the like. These are the
// nodes in a domain with such a pod if either keeps apart from the other. If the pod asks for the company of such pods
// and no other pod will do, the nodes without them go, too.
func (v *converter) besideResidents(p *pod) error {
	a := p.Spec.Affinity
	if a == nil {
		a = &corev1.Affinity{}
	}
	// beside returns for each place whether such a pod is in its domain; pods of offers count only in their own place.
	beside := func(t *corev1.PodAffinityTerm, takes func(x *corev1.Pod) bool) []bool {
		values, there := map[string]bool{}, make([]bool, len(v.places))
		for k, n := range v.places {
			for _, x := range v.residents[n.Name] {
				if value := valueOf(n.Labels, t.TopologyKey); value != "" && takes(x) {
					there[k] = true
					values[value] = values[value] || k < len(v.c.Nodes)
				}
			}
		}
		for k, n := range v.places {
			there[k] = there[k] || values[valueOf(n.Labels, t.TopologyKey)]
		}
		return there
	}
	if a.PodAntiAffinity != nil && !v.without("apart") {
		for k := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]
			takes, err := v.taking(t, p.Pod)
			if err != nil {
				return err
			}
			there := beside(t, takes)
			for k := range p.allowed {
				p.allowed[k] = p.allowed[k] && !there[k]
			}
		}
	}
	if a.PodAffinity != nil && !v.without("together") && v.withResidents(p.Pod) && !v.othersToo(p) {
		takes, _ := v.allTerms(p.Pod)
		for k := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			there := beside(&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k], takes)
			for k := range p.allowed {
				p.allowed[k] = p.allowed[k] && there[k]
			}
		}
	}
	if v.without("apart") {
		return nil
	}
	// The residents' own rules.
	for at, n := range v.places {
		for _, x := range v.residents[n.Name] {
			if x.Spec.Affinity == nil || x.Spec.Affinity.PodAntiAffinity == nil {
				continue
			}
			for k := range x.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				t := &x.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]
				takes, err := v.taking(t, x)
				if err != nil {
					return err
				}
				here := valueOf(n.Labels, t.TopologyKey)
				if here == "" || !takes(p.Pod) {
					continue
				}
				for k := range p.allowed {
					if k == at || at < len(v.c.Nodes) && valueOf(v.places[k].Labels, t.TopologyKey) == here {
						p.allowed[k] = false
					}
				}
			}
		}
	}
	return nil
}

// taking returns whether an affinity term of a pod takes another one.
func (v *converter) taking(t *corev1.PodAffinityTerm, of *corev1.Pod) (func(x *corev1.Pod) bool, error) {
	s, namespace, err := v.scope(t, of)
	return func(x *corev1.Pod) bool {
		return err == nil && namespace(x.Namespace) && s.Matches(labels.Set(x.Labels))
	}, err
}

// declares reports whether a node declares the features that a pod's spec asks for. A cluster in which no node declares
// any doesn't look.
func (v *converter) declares(p *corev1.Pod, n *corev1.Node) bool {
	if !v.declared {
		return true
	}
	needs, err := v.features(p)
	if err != nil || needs.IsEmpty() {
		return err == nil
	}
	match, err := nodedeclaredfeatures.DefaultFramework.MatchNode(needs, n)
	return err == nil && match.IsMatch
}

// schedulerVersion is that of the rules.
var schedulerVersion = version.MajorMinor(1, 37)

// hostPort is a port of its node that a pod takes; without an address of all of the node's.
type hostPort struct{ protocol, address, port string }

// String returns "TCP 80", with an address if it has one.
func (x hostPort) String() string {
	return strings.TrimSpace(x.protocol + " " + x.port + " " + x.address)
}

// conflicts reports whether two pods on a node can't both have their ports.
func (x hostPort) conflicts(y hostPort) bool {
	return x.protocol == y.protocol && x.port == y.port && (x.address == y.address || x.address == "" || y.address == "")
}

// running returns the containers of a pod that run as long as it does: not the init containers that end.
func running(p *corev1.Pod) (all []*corev1.Container) {
	for i := range p.Spec.Containers {
		all = append(all, &p.Spec.Containers[i])
	}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	return all
}

// ports returns the ports of its node that a pod takes as long as it runs.
func ports(p *corev1.Pod) (all []hostPort) {
	for _, c := range running(p) {
		for _, port := range c.Ports {
			if port.HostPort > 0 {
				x := hostPort{string(cmp.Or(port.Protocol, corev1.ProtocolTCP)), port.HostIP, strconv.Itoa(int(port.HostPort))}
				if x.address == "0.0.0.0" { // kube-scheduler takes "::" for one address
					x.address = ""
				}
				all = append(all, x)
			}
		}
	}
	slices.SortFunc(all, func(a, b hostPort) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// portFree reports whether no pod that goes with a node has one of the wanted ports there.
func (v *converter) portFree(wanted []hostPort, n *corev1.Node) bool {
	if v.without("ports") {
		return true
	}
	for _, x := range wanted {
		for _, y := range v.residents[n.Name] {
			if slices.ContainsFunc(ports(y), x.conflicts) {
				return false
			}
		}
	}
	return true
}

// mustJSON returns the JSON of an API type, which always has one.
func mustJSON(x any) string {
	data, err := json.Marshal(x)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(data)
}

// Why a node doesn't take a pod, by the plugin that decides first.
const (
	bySelector  = "its node selector or affinity"
	byTaint     = "a taint"
	byCordon    = "cordoned"
	byLabel     = "no label of its topology spread"
	byVolume    = "its volumes are elsewhere"
	byPort      = "its host port is taken"
	byFeature   = "a feature that isn't declared"
	byResident  = "pods of daemon sets that it avoids, or needs"
	byClosed    = "the node isn't ready, or is being deleted"
	byCompany   = "affinity, spread or ports of other pods"
	byOtherRoom = "no room"
)
