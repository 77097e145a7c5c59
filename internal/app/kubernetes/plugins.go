// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// plugin is a plugin of kube-scheduler 1.37 and its place in a plan. Pods whose nodes it would choose by facts that a
// plan doesn't know are counted and stay where they are, or go on waiting: none of them is said to move or to start.
type plugin struct {
	name string
	how  modelled
	// unknown explains why the plan can't tell where a pod may be, "" if it can; nil: it always can.
	unknown func(v *converter, p *corev1.Pod) string
}

// modelled is how much of a plugin a plan holds.
type modelled string

const (
	exactly modelled = "exactly"           // it allows the same nodes
	pinned  modelled = "counted and kept"  // pods that use it are counted, and not placed
	order   modelled = "by its preference" // it allows all nodes; its scores count in the simulation, if at all
	apart   modelled = "elsewhere"         // it is no matter of nodes
)

// plugins lists those of kube-scheduler's default profile, from 1.34 to 1.37.
var plugins = []plugin{
	{"PrioritySort", apart, nil},
	{"SchedulingGates", apart, nil}, // such pods are left out
	{"DefaultBinder", apart, nil},
	{"DefaultPreemption", pinned, nil}, // see preempting
	{"NodeName", exactly, nil},
	{"NodeUnschedulable", exactly, nil},
	{"NodeAffinity", exactly, nil},
	{"TaintToleration", exactly, nil},
	{"NodePorts", exactly, nil},
	{"NodeResourcesFit", exactly, nil},
	{"PodTopologySpread", exactly, nil},
	{"InterPodAffinity", exactly, nil},
	{"VolumeZone", exactly, nil},
	{"VolumeBinding", exactly, (*converter).unboundClaim},
	{"VolumeRestrictions", exactly, (*converter).sharedVolume},
	{"NodeVolumeLimits", exactly, nil},
	{"NodeDeclaredFeatures", exactly, nil},
	{"DynamicResources", pinned, func(_ *converter, p *corev1.Pod) string {
		if len(p.Spec.ResourceClaims) > 0 {
			return "it claims devices (DynamicResources)"
		}
		return ""
	}},
	{"GangScheduling", pinned, func(_ *converter, p *corev1.Pod) string {
		if p.Spec.SchedulingGroup != nil {
			return "its pod group is scheduled together (GangScheduling)"
		}
		return ""
	}},
	{"ImageLocality", order, nil},
	{"NodeResourcesBalancedAllocation", order, nil},
}

// unknown explains why a plan can't tell where a pod may be, "" if it can.
func (v *converter) unknown(p *corev1.Pod) string {
	if s := schedulerOf(p); s != corev1.DefaultSchedulerName && !slices.Contains(v.Packs, s) && !slices.Contains(v.Schedulers, s) {
		return byScheduler(s) // a note tells of --packs and --schedulers
	}
	for _, x := range plugins {
		if x.unknown == nil {
			continue
		}
		if why := x.unknown(v, p); why != "" {
			return why
		}
	}
	return ""
}

// schedulerOf names the scheduler of a pod.
func schedulerOf(p *corev1.Pod) string {
	return cmp.Or(p.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

// schedulerNotes notes the pods that stay because nothing is known of their scheduler, with the flags that would say it,
// and names in flags that no pod has.
func (v *converter) schedulerNotes() {
	there := map[string]bool{}
	for _, p := range v.pods {
		s := schedulerOf(p.Pod)
		if there[s] = true; p.Spec.NodeName != "" && strings.HasPrefix(p.pin, byScheduler(s)) {
			v.in.Account.Assumed.Add(p.id, fmt.Sprintf("pods kept because the scheduler %s isn't known; give --packs %[1]s if it fills nodes, or --schedulers %[1]s if it spreads pods", s))
		}
	}
	for _, name := range distinct(slices.Concat(v.Packs, v.Schedulers)) {
		if !there[name] {
			v.in.Account.Assumed.Say("no pod has the scheduler %s of --packs or --schedulers; pods have %s", name, list(slices.Collect(maps.Keys(there))))
		}
	}
}

// byScheduler begins the reason of a pod that another scheduler places.
func byScheduler(name string) string { return "the scheduler " + name + " places it" }

// stays explains why a node isn't one that could be given back, "" if it could: plans keep it in use.
func stays(n *corev1.Node) string {
	switch {
	case controlPlane(n):
		return "control plane"
	case n.Labels["type"] == "virtual-kubelet", slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "virtual-kubelet.io/provider" }):
		return "virtual"
	case n.Labels["eks.amazonaws.com/compute-type"] == "fargate":
		return "of one pod (Fargate)"
	case n.Annotations["cluster-autoscaler.kubernetes.io/scale-down-disabled"] == "true":
		return "annotation scale-down-disabled"
	case n.Annotations[karpenterKeep] == "true":
		return "annotation do-not-disrupt"
	}
	return ""
}

// controlPlane reports whether a node is one of the control plane, by its label or the one of before 1.24.
func controlPlane(n *corev1.Node) bool {
	_, plane := n.Labels["node-role.kubernetes.io/control-plane"]
	_, master := n.Labels["node-role.kubernetes.io/master"]
	return plane || master
}

// answers reports whether a node reports that it is ready, or reports nothing.
func answers(n *corev1.Node) bool {
	return !slices.ContainsFunc(n.Status.Conditions, func(x corev1.NodeCondition) bool {
		return x.Type == corev1.NodeReady && x.Status != corev1.ConditionTrue
	})
}

// told adds what a plan of the cluster can't promise: nodes that stay or don't answer, and pods that could push others away.
func (v *converter) told() {
	a := v.in.Account
	v.schedulerNotes()
	for k := range v.c.Nodes {
		n := &v.c.Nodes[k]
		if why := stays(n); ends(n) {
			a.Assumed.Add(n.Name, "nodes being deleted: no pods are placed there, and those that are made again count as gone from there")
		} else if why != "" {
			a.Assumed.Add(n.Name, "nodes kept in use: "+why)
		} else if !answers(n) {
			a.Assumed.Add(n.Name, "nodes kept as they are: not ready")
		}
	}
	least := v.leastPriority()
	for _, p := range v.pods {
		if v.preempting(p, least) {
			a.NotModelled.Add(p.id, "pods that wait, with priority over others: no plan pushes pods out (preemption)")
		}
		switch kind, _ := owned(p.Pod); {
		case p.room != "":
		case p.held != "":
			a.NotModelled.Add(p.id, "pods kept waiting: "+p.held)
		case p.pin != "" || p.Spec.NodeName == "":
		case kind == "Job":
			a.Assumed.Add(p.id, "pods of Jobs, begun again if moved")
		case slices.ContainsFunc(p.Spec.Volumes, func(x corev1.Volume) bool { return x.EmptyDir != nil }):
			a.Assumed.Add(p.id, "pods with local files (emptyDir), lost if moved")
		}
	}
}

// leastPriority returns the least priority of the pods that run, those of daemon sets included.
func (v *converter) leastPriority() int32 {
	least := int32(math.MaxInt32)
	for _, p := range v.pods {
		if p.Spec.NodeName != "" {
			least = min(least, priorityOf(p.Pod))
		}
	}
	for _, all := range v.residents {
		for _, p := range all {
			if p.Spec.NodeName != "" { // no node that could be bought has one
				least = min(least, priorityOf(p))
			}
		}
	}
	return least
}

// preempting reports whether a waiting pod could push others out in the middle of a plan, which no simulation of it does:
// one of a greater priority than a pod that runs. It could even if the plan doesn't know where it may be, but not if its
// claims aren't ready. A pod that has pushed others out has a node kept for it until they are gone.
func (v *converter) preempting(p *pod, least int32) bool {
	if p.Spec.NodeName != "" || p.Spec.PreemptionPolicy != nil && *p.Spec.PreemptionPolicy == corev1.PreemptNever {
		return false
	}
	return p.Status.NominatedNodeName != "" || priorityOf(p.Pod) > least && v.unboundClaim(p.Pod) == ""
}

// resized reports whether a pod's requests were changed in place, so that they may differ from its successor's.
func resized(p *corev1.Pod) bool {
	return p.Generation > 1 && slices.ContainsFunc(p.Status.ContainerStatuses, func(x corev1.ContainerStatus) bool { return x.Resources != nil })
}

// controller returns the object of a pod's controller, nil if it wasn't given.
func (v *converter) controller(p *corev1.Pod) *Selecting {
	owner := metav1.GetControllerOf(p)
	for k := range v.c.Selecting {
		if x := &v.c.Selecting[k]; owner != nil && x.Kind == owner.Kind && x.Metadata.Name == owner.Name && x.Metadata.Namespace == p.Namespace {
			return x
		}
	}
	return nil
}
