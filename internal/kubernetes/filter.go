// SPDX-License-Identifier: MIT

package kubernetes

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/gapwise/gapwise/model"
)

// filter finds the nodes on which a pod may be placed by its node selector, required node affinity,
// tolerations and volumes, as kube-scheduler's plugins NodeAffinity, TaintToleration, NodeUnschedulable
// and VolumeZone decide, by the library that they use.
func (v *converter) filter(p *pod) error {
	affinity := nodeaffinity.GetRequiredNodeAffinity(p.Pod)
	volumes, err := v.volumes(p)
	if err != nil {
		return err
	}
	p.allowed = make([]bool, len(v.c.Nodes))
	for k := range v.c.Nodes {
		n := &v.c.Nodes[k]
		ok := true
		if !v.without("selectors") {
			if ok, err = affinity.Match(n); err != nil {
				return fmt.Errorf("%w cluster: the node affinity of pod %s: %w", model.ErrInvalid, p.id, err)
			}
		}
		if ok && !v.without("taints") {
			_, untolerated := schedulinghelper.FindMatchingUntoleratedTaint(klog.Background(), n.Spec.Taints, p.Spec.Tolerations, func(t *corev1.Taint) bool {
				return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
			}, false)
			ok = !untolerated
		}
		if ok && volumes != nil {
			ok = volumes(n)
		}
		p.allowed[k] = ok
	}
	return nil
}

// volumes returns which nodes have the volumes of a pod; nil: all. A pod whose volumes weren't given stays
// where it is.
func (v *converter) volumes(p *pod) (func(*corev1.Node) bool, error) {
	if v.without("volumes") {
		return nil, nil
	}
	var selectors []*nodeaffinity.NodeSelector
	for k := range p.Spec.Volumes {
		claim := p.Spec.Volumes[k].PersistentVolumeClaim
		if claim == nil {
			if p.Spec.Volumes[k].HostPath != nil {
				v.notes["pods with files of their node (hostPath) move as others do"]++
			}
			continue
		}
		pv := v.volume(p.Namespace, claim.ClaimName)
		if pv == nil {
			if p.Spec.NodeName != "" && p.pin == "" {
				p.pin = "its volume isn't known; give kubectl get pv,pvc, too"
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
