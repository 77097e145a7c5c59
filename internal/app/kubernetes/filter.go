// SPDX-License-Identifier: MIT

package kubernetes

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
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
	hard := v.hardSpread(p.Pod)
	p.allowed = make([]bool, len(v.places))
	for k, n := range v.places {
		ok := true
		if !v.without("selectors") {
			if ok, err = affinity.Match(n); err != nil {
				return fmt.Errorf("%w cluster: the node affinity of pod %s: %w", model.ErrInvalid, p.id, err)
			}
		}
		if ok && !v.without("taints") {
			ok = tolerates(p.Pod, n)
		}
		ok = ok && labelled(n, hard)
		if ok && n.Spec.Unschedulable {
			cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
			ok = schedulinghelper.TolerationsTolerateTaint(klog.Background(), p.Spec.Tolerations, &cordon, false)
		}
		if ok && volumes != nil {
			ok = volumes(n)
		}
		p.allowed[k] = ok
	}
	return v.besideResidents(p)
}

// tolerates reports whether a pod may be placed on a node in spite of its taints.
func tolerates(p *corev1.Pod, n *corev1.Node) bool {
	_, untolerated := schedulinghelper.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, p.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, false)
	return !untolerated
}

// besideResidents takes away the nodes that a pod can't use because of pods of daemon sets and the like. These are the
// nodes in a domain with such a pod if either keeps apart from the other. If the pod asks for the company of such pods,
// the nodes without them go, too.
func (v *converter) besideResidents(p *pod) error {
	a := p.Spec.Affinity
	if a == nil {
		a = &corev1.Affinity{}
	}
	// beside returns for each place whether such a pod is in its domain; pods of offers count only in their own place.
	// It reports whether there is one at all.
	beside := func(t *corev1.PodAffinityTerm) (there []bool, some bool, err error) {
		values := map[string]bool{}
		there = make([]bool, len(v.places))
		for k, n := range v.places {
			for _, x := range v.residents[n.Name] {
				yes, err := v.takes(t, p.Pod, x)
				if err != nil {
					return nil, false, err
				}
				if value := n.Labels[t.TopologyKey]; yes && value != "" {
					there[k], some = true, true
					values[value] = values[value] || k < len(v.c.Nodes)
				}
			}
		}
		for k, n := range v.places {
			there[k] = there[k] || values[n.Labels[t.TopologyKey]]
		}
		return there, some, nil
	}
	if a.PodAntiAffinity != nil && !v.without("apart") {
		for k := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]
			there, _, err := beside(t)
			if err != nil {
				return err
			}
			for k := range p.allowed {
				p.allowed[k] = p.allowed[k] && !there[k]
			}
		}
	}
	if a.PodAffinity != nil && !v.without("together") {
		for k := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k]
			there, some, err := beside(t)
			if err != nil {
				return err
			}
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
	var selectors []*nodeaffinity.NodeSelector
	for k := range p.Spec.Volumes {
		claim := p.Spec.Volumes[k].PersistentVolumeClaim
		if claim == nil {
			if p.Spec.Volumes[k].HostPath != nil {
				v.in.Account.NotModelled.Add(p.Name, "pods with files of their node (hostPath), which move as others do")
			}
			continue
		}
		pv := v.volume(p.Namespace, claim.ClaimName)
		if pv == nil {
			if p.Spec.NodeName != "" && p.pin == "" {
				p.pin = noVolume
			}
			continue
		}
		if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
			continue
		}
		s, err := nodeaffinity.NewNodeSelector(pv.Spec.NodeAffinity.Required)
		if err != nil {
			return nil, fmt.Errorf("%w cluster: the node affinity of volume %s: %w", model.ErrInvalid, pv.Name, err)
		}
		selectors = append(selectors, s)
	}
	if len(selectors) == 0 {
		return nil, nil
	}
	return func(n *corev1.Node) bool {
		return !slices.ContainsFunc(selectors, func(s *nodeaffinity.NodeSelector) bool { return !s.Match(n) })
	}, nil
}

// volume returns the volume of a claim, nil if it isn't known.
func (v *converter) volume(namespace, name string) *corev1.PersistentVolume {
	for k := range v.c.Claims {
		if c := &v.c.Claims[k]; c.Namespace == namespace && c.Name == name && c.Spec.VolumeName != "" {
			for i := range v.c.Volumes {
				if v.c.Volumes[i].Name == c.Spec.VolumeName {
					return &v.c.Volumes[i]
				}
			}
		}
	}
	return nil
}

// ports returns the ports of its node that a pod takes.
func ports(p *corev1.Pod) (all []string) {
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			for _, port := range list[i].Ports {
				if port.HostPort > 0 {
					all = append(all, fmt.Sprintf("%s %d", port.Protocol, port.HostPort))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mustJSON returns the JSON of an API type, which always has one.
func mustJSON(x any) string {
	data, err := json.Marshal(x)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(data)
}
