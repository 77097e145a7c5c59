// SPDX-License-Identifier: MIT

package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// mostPins is how many names a list has, and how many reasons of pins are told.
const mostPins = 8

// workload names a pod's owner, "namespace/name": its controller, or the deployment of that.
func workload(p *corev1.Pod) string {
	kind, name := owned(p)
	if hash := p.Labels["pod-template-hash"]; hash != "" && kind == "ReplicaSet" {
		name = strings.TrimSuffix(name, "-"+hash)
	} else if kind == "" {
		name = p.Name
	}
	return p.Namespace + "/" + name
}

// controller names a pod's controller, "namespace/kind/name"; of a deployment's replica sets, which a rollout replaces, by
// its own name.
func controller(p *corev1.Pod) string {
	kind, _ := owned(p)
	return p.Namespace + "/" + kind + strings.TrimPrefix(workload(p), p.Namespace)
}

// zoneOf returns the zone of a node, "" without one.
func zoneOf(n *corev1.Node) string { return n.Labels[corev1.LabelTopologyZone] }

// distinct returns names once each, in order.
func distinct(names []string) []string {
	names = slices.Sorted(slices.Values(names))
	return slices.Compact(names)
}

// list names the first of some names, each once, and counts the rest.
func list(names []string) string {
	names = distinct(names)
	text := strings.Join(names[:min(len(names), mostPins)], ", ")
	if n := len(names) - mostPins; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
