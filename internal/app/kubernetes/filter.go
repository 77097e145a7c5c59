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
	// It reports whether there is one at all.
	beside := func(t *corev1.PodAffinityTerm, takes func(x *corev1.Pod) bool) (there []bool, some bool) {
		values := map[string]bool{}
		there = make([]bool, len(v.places))
		for k, n := range v.places {
			for _, x := range v.residents[n.Name] {
				if value := n.Labels[t.TopologyKey]; value != "" && takes(x) {
					there[k], some = true, true
					values[value] = values[value] || k < len(v.c.Nodes)
				}
			}
		}
		for k, n := range v.places {
			there[k] = there[k] || values[n.Labels[t.TopologyKey]]
		}
		return there, some
	}
	if a.PodAntiAffinity != nil && !v.without("apart") {
		for k := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]
			s, namespace, err := v.scope(t, p.Pod)
			if err != nil {
				return err
			}
			there, _ := beside(t, func(x *corev1.Pod) bool { return namespace(x.Namespace) && s.Matches(labels.Set(x.Labels)) })
			for k := range p.allowed {
				p.allowed[k] = p.allowed[k] && !there[k]
			}
		}
	}
	if a.PodAffinity != nil && !v.without("together") && v.withResidents(p.Pod) && !v.othersToo(p) {
		for k := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]
			there, some := beside(t, v.allTerms(p.Pod))
			for k := range p.allowed {
				p.allowed[k] = p.allowed[k] && (there[k] || !some)
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
				yes, err := v.takes(t, x, p.Pod)
				if err != nil {
					return err
				}
				here := n.Labels[t.TopologyKey]
				for k := range p.allowed {
					if yes && here != "" && (k == at || at < len(v.c.Nodes) && v.places[k].Labels[t.TopologyKey] == here) {
						p.allowed[k] = false
					}
				}
			}
		}
	}
	return nil
}

// takes reports whether an affinity term of a pod takes another one.
func (v *converter) takes(t *corev1.PodAffinityTerm, of, x *corev1.Pod) (bool, error) {
	s, namespace, err := v.scope(t, of)
	return err == nil && namespace(x.Namespace) && s.Matches(labels.Set(x.Labels)), err
}

// volumes returns which nodes have the volumes of a pod; nil: all. A pod without given volumes stays where it is.
func (v *converter) volumes(p *pod) (func(*corev1.Node) bool, error) {
	if v.without("volumes") {
		return nil, nil
	}
	var all []func(*corev1.Node) bool
	for k := range p.Spec.Volumes {
		if p.Spec.Volumes[k].HostPath != nil {
			v.in.Account.NotModelled.Add(p.Name, "pods with files of their node (hostPath), which move as others do")
		}
	}
	for _, name := range claims(p.Pod) {
		pv := v.volume(p.Namespace, name)
		if pv == nil {
			if p.Spec.NodeName != "" && p.pin == "" {
				p.pin = noVolume
			}
			if c := v.claim(p.Namespace, name); c != nil && v.class(c) != nil && p.Spec.NodeName == "" {
				all = append(all, func(n *corev1.Node) bool { return topologies(v.class(c), n) })
			}
			continue
		}
		all = append(all, func(n *corev1.Node) bool { return zones(pv, n) })
		if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
			continue
		}
		s, err := nodeaffinity.NewNodeSelector(pv.Spec.NodeAffinity.Required)
		if err != nil {
			return nil, fmt.Errorf("%w cluster: the node affinity of volume %s: %w", model.ErrInvalid, pv.Name, err)
		}
		all = append(all, s.Match)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return func(n *corev1.Node) bool {
		return !slices.ContainsFunc(all, func(ok func(*corev1.Node) bool) bool { return !ok(n) })
	}, nil
}

// zones reports whether a node is in the zones and regions that a volume's labels name, as the plugin VolumeZone decides:
// a node without any such label has all.
func zones(pv *corev1.PersistentVolume, n *corev1.Node) bool {
	names := [][2]string{{corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone}, {corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaRegion}}
	of := func(all map[string]string, name [2]string) string { return cmp.Or(all[name[0]], all[name[1]]) }
	if of(n.Labels, names[0]) == "" && of(n.Labels, names[1]) == "" {
		return true
	}
	for _, name := range names {
		if value := of(pv.Labels, name); value != "" && !slices.Contains(strings.Split(value, "__"), of(n.Labels, name)) {
			return false
		}
	}
	return true
}

// topologies reports whether a class provides volumes on a node.
func topologies(x *storageClass, n *corev1.Node) bool {
	return len(x.AllowedTopologies) == 0 || slices.ContainsFunc(x.AllowedTopologies, func(t corev1.TopologySelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchLabelExpressions, func(r corev1.TopologySelectorLabelRequirement) bool {
			return !slices.Contains(r.Values, n.Labels[r.Key])
		})
	})
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

// volume returns the volume of a claim, nil if it isn't known.
func (v *converter) volume(namespace, name string) *corev1.PersistentVolume {
	c := v.claim(namespace, name)
	if c == nil || c.Spec.VolumeName == "" {
		return nil
	}
	k, ok := v.volumeAt[c.Spec.VolumeName]
	if !ok {
		return nil
	}
	return &v.c.Volumes[k]
}

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
				if x.address == "0.0.0.0" || x.address == "::" {
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
