// SPDX-License-Identifier: MIT

package kubernetes

import (
	"fmt"
	"math"
	"slices"

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
	{"VolumeRestrictions", exactly, (*converter).sharedClaim},
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
	if s := p.Spec.SchedulerName; s != "" && s != corev1.DefaultSchedulerName && !slices.Contains(v.Packs, s) && !slices.Contains(v.Schedulers, s) {
		return fmt.Sprintf("the scheduler %s places it (--schedulers %s if that is kube-scheduler)", s, s)
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

// attached names the resource of volumes that a node attaches by a driver.
func attached(driver string) string { return "volumes of " + driver }

// attaches returns how many volumes a pod has of each driver that some node attaches a limited number of.
func (v *converter) attaches(p *corev1.Pod) map[string]int64 {
	var count map[string]int64
	for _, name := range claims(p) {
		if pv := v.volume(p.Namespace, name); pv != nil && pv.Spec.CSI != nil && v.limits[pv.Spec.CSI.Driver] != nil {
			if count == nil {
				count = map[string]int64{}
			}
			count[attached(pv.Spec.CSI.Driver)]++
		}
	}
	return count
}

// claims returns the names of the volume claims of a pod, those that are made for it alone included.
func claims(p *corev1.Pod) (names []string) {
	for k := range p.Spec.Volumes {
		switch x := &p.Spec.Volumes[k]; {
		case x.PersistentVolumeClaim != nil:
			names = append(names, x.PersistentVolumeClaim.ClaimName)
		case x.Ephemeral != nil:
			names = append(names, p.Name+"-"+x.Name)
		}
	}
	return names
}

// claim returns a claim, nil if it isn't there.
func (v *converter) claim(namespace, name string) *corev1.PersistentVolumeClaim {
	k, ok := v.claimAt[namespace+"/"+name]
	if !ok {
		return nil
	}
	return &v.c.Claims[k]
}

// unboundClaim explains which claim of a waiting pod has no volume that could be found: it isn't there, or is to be bound
// at once and isn't. Of a claim that waits for its first pod the class decides, see topologies. Pods that run have their
// volumes.
func (v *converter) unboundClaim(p *corev1.Pod) string {
	if p.Spec.NodeName != "" || v.without("volumes") {
		return ""
	}
	for _, name := range claims(p) {
		c := v.claim(p.Namespace, name)
		switch {
		case c == nil && !v.c.Given["PersistentVolumeClaim"]:
			return fmt.Sprintf("its volume claim %s isn't known; give kubectl get pv,pvc, too", name)
		case c == nil:
			return fmt.Sprintf("its volume claim %s isn't there", name)
		case c.DeletionTimestamp != nil:
			return fmt.Sprintf("its volume claim %s is being deleted", name)
		case c.Spec.VolumeName == "" && v.class(c) == nil:
			return fmt.Sprintf("its volume claim %s isn't bound, and no class given binds it with its first pod", name)
		case c.Spec.VolumeName != "" && v.c.Given["PersistentVolume"] && v.volume(p.Namespace, name) == nil:
			return fmt.Sprintf("the volume of its claim %s isn't there", name)
		}
	}
	return ""
}

// class returns the storage class of a claim that waits for its first pod, nil for others.
func (v *converter) class(c *corev1.PersistentVolumeClaim) *storageClass {
	for k := range v.c.Classes {
		x := &v.c.Classes[k]
		named := c.Spec.StorageClassName != nil && *c.Spec.StorageClassName == x.Name ||
			c.Spec.StorageClassName == nil && x.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
		if named && x.VolumeBindingMode != nil && *x.VolumeBindingMode == bindsWithPod {
			return x
		}
	}
	return nil
}

// sharedClaim explains which claim keeps a pod beside others, or away from them. A claim of one pod at a time
// (ReadWriteOncePod) keeps a waiting pod waiting while another one has it; pods that share a claim of one node
// (ReadWriteOnce) would have to move together.
func (v *converter) sharedClaim(p *corev1.Pod) string {
	if v.without("volumes") {
		return ""
	}
	for _, name := range claims(p) {
		c := v.claim(p.Namespace, name)
		if c == nil {
			continue
		}
		shared := false
		for user := range v.users[p.Namespace+"/"+name] {
			shared = shared || user != p.Name
		}
		switch {
		case !shared:
		case slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod) && p.Spec.NodeName == "":
			return fmt.Sprintf("another pod has its volume claim %s (ReadWriteOncePod)", name)
		case len(c.Spec.AccessModes) == 1 && c.Spec.AccessModes[0] == corev1.ReadWriteOnce:
			return "it shares a volume of one node (ReadWriteOnce) with other pods"
		}
	}
	return ""
}

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
	for k := range v.c.Nodes {
		n := &v.c.Nodes[k]
		if why := stays(n); why != "" {
			a.Assumed.Add(n.Name, "nodes kept in use: "+why)
		} else if !answers(n) {
			a.Assumed.Add(n.Name, "nodes kept as they are: not ready")
		}
	}
	least := int32(math.MaxInt32) // priority of what runs
	for _, p := range v.pods {
		if p.Spec.NodeName != "" {
			least = min(least, priorityOf(p))
		}
	}
	for _, p := range v.pods {
		switch kind, _ := owned(p.Pod); {
		case p.room != "":
		case p.held != "":
			a.NotModelled.Add(p.id, "pods kept waiting: "+p.held)
		case p.Spec.NodeName == "" && priorityOf(p) > least && (p.Spec.PreemptionPolicy == nil || *p.Spec.PreemptionPolicy != corev1.PreemptNever):
			a.NotModelled.Add(p.id, "waiting pods with priority over others: no plan pushes pods out (preemption)")
		case p.pin != "" || p.Spec.NodeName == "":
		case kind == "Job":
			a.Assumed.Add(p.id, "pods of Jobs, begun again if moved")
		case slices.ContainsFunc(p.Spec.Volumes, func(x corev1.Volume) bool { return x.EmptyDir != nil }):
			a.Assumed.Add(p.id, "pods with local files (emptyDir), lost if moved")
		}
	}
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
