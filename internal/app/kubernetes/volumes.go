// SPDX-License-Identifier: MIT

package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/gapwise/gapwise/model"
)

// attachment is a pod that has a claim and a node.
type attachment struct{ pod, node string }

// inline is a pod with a disk that its spec names, without a claim.
type inline struct {
	pod      string
	readOnly bool
}

// indexVolumes finds claims, volumes and their users by name.
func (v *converter) indexVolumes() {
	v.claimAt, v.volumeAt, v.users, v.inline = map[string]int{}, map[string]int{}, map[string][]attachment{}, map[string][]inline{}
	for k := range v.c.Claims {
		v.claimAt[v.c.Claims[k].Namespace+"/"+v.c.Claims[k].Name] = k
	}
	for k := range v.c.Volumes {
		v.volumeAt[v.c.Volumes[k].Name] = k
	}
	v.limits = map[string]map[string]int64{}
	for k := range v.c.Attaching {
		for _, d := range v.c.Attaching[k].Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil && !v.without("volumes") {
				if v.limits[d.Name] == nil {
					v.limits[d.Name] = map[string]int64{}
				}
				v.limits[d.Name][v.c.Attaching[k].Name] = int64(*d.Allocatable.Count)
			}
		}
	}
	for k := range v.c.Pods {
		p := &v.c.Pods[k]
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for disk, readOnly := range disks(p) {
			v.inline[disk] = append(v.inline[disk], inline{p.Namespace + "/" + p.Name, readOnly})
		}
		for _, name := range claims(p) {
			if v.mounts++; p.Spec.NodeName != "" {
				key := p.Namespace + "/" + name
				v.users[key] = append(v.users[key], attachment{p.Name, p.Spec.NodeName})
			}
		}
	}
}

// attached names the resource of volumes that a node attaches by a driver.
func attached(driver string) string { return "volumes of " + driver }

// attaches returns how many volumes a pod has of each driver that some node attaches a limited number of: those of its
// claims, and those that will be made for them. A volume of several pods counts for the first of them on a node.
func (v *converter) attaches(p *corev1.Pod) map[string]int64 {
	var count map[string]int64
	for _, name := range slices.Compact(slices.Sorted(slices.Values(claims(p)))) {
		driver := v.driver(p.Namespace, name)
		if v.limits[driver] == nil || slices.ContainsFunc(v.users[p.Namespace+"/"+name], func(x attachment) bool { return x.node == p.Spec.NodeName && x.pod < p.Name }) {
			continue
		}
		if count == nil {
			count = map[string]int64{}
		}
		count[attached(driver)]++
	}
	return count
}

// driver returns the driver of a claim's volume, of the one that its class makes if it has none; "" if none is known.
func (v *converter) driver(namespace, name string) string {
	if pv := v.volume(namespace, name); pv != nil {
		if pv.Spec.CSI != nil {
			return pv.Spec.CSI.Driver
		}
		return ""
	}
	if c := v.claim(namespace, name); c != nil {
		if x := v.class(c); x != nil {
			return x.Provisioner
		}
	}
	return ""
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

// ephemeral reports whether a claim of a pod is made for it alone.
func ephemeral(p *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(x corev1.Volume) bool { return x.Ephemeral != nil && p.Name+"-"+x.Name == claim })
}

// disks returns the disks that a pod's spec names which no other pod of its node may have (VolumeRestrictions), and
// whether it only reads them. An EBS volume is nobody else's in any case.
func disks(p *corev1.Pod) map[string]bool {
	all := map[string]bool{}
	has := func(readOnly bool, name ...string) {
		key := strings.Join(name, " ")
		before, twice := all[key]
		all[key] = readOnly && (before || !twice)
	}
	for k := range p.Spec.Volumes {
		switch x := &p.Spec.Volumes[k]; {
		case x.GCEPersistentDisk != nil:
			has(x.GCEPersistentDisk.ReadOnly, "gce", x.GCEPersistentDisk.PDName)
		case x.AWSElasticBlockStore != nil:
			has(false, "ebs", x.AWSElasticBlockStore.VolumeID)
		case x.ISCSI != nil:
			has(x.ISCSI.ReadOnly, "iscsi", x.ISCSI.IQN)
		case x.RBD != nil:
			for _, monitor := range x.RBD.CephMonitors {
				has(x.RBD.ReadOnly, "rbd", monitor, x.RBD.RBDPool, x.RBD.RBDImage)
			}
		}
	}
	return all
}

// claim returns a claim, nil if it isn't there.
func (v *converter) claim(namespace, name string) *corev1.PersistentVolumeClaim {
	k, ok := v.claimAt[namespace+"/"+name]
	if !ok {
		return nil
	}
	return &v.c.Claims[k]
}

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

// unboundClaim explains which claim of a pod keeps it, or its successor, from any node: it isn't there or about to go, or
// is to be bound at once and isn't. Of a claim that waits for its first pod the class decides, see topologies; but which
// of the volumes that are there it gets isn't known.
func (v *converter) unboundClaim(p *corev1.Pod) string {
	if v.without("volumes") {
		return ""
	}
	for _, name := range claims(p) {
		c := v.claim(p.Namespace, name)
		if c == nil && !v.c.Given["PersistentVolumeClaim"] {
			if p.Spec.NodeName == "" {
				return fmt.Sprintf("its volume claim %s isn't known; give kubectl get pv,pvc, too", name)
			}
			continue // see volumes
		}
		why := ""
		switch {
		case c == nil:
			why = "isn't there"
		case c.DeletionTimestamp != nil:
			why = "is being deleted"
		case c.Status.Phase == corev1.ClaimLost:
			why = "has lost its volume"
		case c.Spec.VolumeName != "" && v.c.Given["PersistentVolume"] && v.volume(p.Namespace, name) == nil:
			return fmt.Sprintf("the volume of its claim %s isn't there", name)
		case c.Spec.VolumeName != "" && c.Status.Phase == corev1.ClaimPending && c.Annotations[bindCompleted] == "":
			why = "isn't bound to its volume yet"
		case c.Spec.VolumeName != "":
		case v.class(c) == nil || *v.class(c).VolumeBindingMode != bindsWithPod:
			why = "isn't bound, and no class given binds it with its first pod"
		case c.Annotations[selectedNode] == "" && v.couldTake(c):
			return fmt.Sprintf("which volume its claim %s gets isn't known: there are volumes of its class", name)
		case noProvisioner(v.class(c).Provisioner):
			why = "has no volume, and its class makes none"
		}
		if why != "" {
			return fmt.Sprintf("its volume claim %s %s", name, why)
		}
	}
	return ""
}

// What the volume controller and kube-scheduler note at claims.
const (
	bindCompleted = "pv.kubernetes.io/bind-completed"
	selectedNode  = "volume.kubernetes.io/selected-node"
)

// noProvisioner reports whether a class's volumes are made by hand.
func noProvisioner(name string) bool { return name == "" || name == "kubernetes.io/no-provisioner" }

// couldTake reports whether a volume is there that a claim could get.
func (v *converter) couldTake(c *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(v.c.Volumes, func(x corev1.PersistentVolume) bool {
		free := x.Spec.ClaimRef == nil || x.Spec.ClaimRef.Namespace == c.Namespace && x.Spec.ClaimRef.Name == c.Name
		return free && x.DeletionTimestamp == nil && x.Spec.StorageClassName == className(c)
	})
}

// className returns the class of a claim, "" if it has none: a default class counts once it stands in the claim.
func className(c *corev1.PersistentVolumeClaim) string {
	if name, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	if c.Spec.StorageClassName == nil {
		return ""
	}
	return *c.Spec.StorageClassName
}

// class returns the storage class of a claim, nil if it isn't there, or doesn't say when it binds.
func (v *converter) class(c *corev1.PersistentVolumeClaim) *storageClass {
	for k := range v.c.Classes {
		if x := &v.c.Classes[k]; x.Name == className(c) && x.VolumeBindingMode != nil {
			return x
		}
	}
	return nil
}

// sharedVolume explains which volume keeps a pod beside others, or away from them. A claim of one pod at a time
// (ReadWriteOncePod) keeps a pod from all nodes while another one has it; pods that share a claim of one node
// (ReadWriteOnce) would have to move together. Where nodes attach so many volumes, and where pods name a disk without a
// claim, a plan doesn't follow on which nodes the others are.
func (v *converter) sharedVolume(p *corev1.Pod) string {
	if v.without("volumes") {
		return ""
	}
	for _, name := range claims(p) {
		c := v.claim(p.Namespace, name)
		if c == nil || !slices.ContainsFunc(v.users[p.Namespace+"/"+name], func(x attachment) bool { return x.pod != p.Name }) {
			continue
		}
		switch {
		case slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod):
			return fmt.Sprintf("another pod has its volume claim %s (ReadWriteOncePod)", name)
		case len(c.Spec.AccessModes) == 1 && c.Spec.AccessModes[0] == corev1.ReadWriteOnce:
			return "it shares a volume of one node (ReadWriteOnce) with other pods"
		case v.limits[v.driver(p.Namespace, name)] != nil:
			return "it shares a volume with other pods, and nodes attach so many"
		}
	}
	for disk, readOnly := range disks(p) {
		for _, x := range v.inline[disk] {
			if x.pod != p.Namespace+"/"+p.Name && !(readOnly && x.readOnly) {
				return "it names a disk that another pod names (VolumeRestrictions)"
			}
		}
	}
	return ""
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
				at := c.Annotations[selectedNode]
				all = append(all, func(n *corev1.Node) bool { return topologies(v.class(c), n) && (at == "" || at == n.Name) })
			}
			continue
		}
		if !ephemeral(p.Pod, name) { // VolumeZone doesn't look at these
			all = append(all, func(n *corev1.Node) bool { return zones(pv, n) })
		}
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
// a node without any such label has all. A label of before 1.17 also finds its successor at the node, not the other way
// round.
func zones(pv *corev1.PersistentVolume, n *corev1.Node) bool {
	names := [][2]string{{corev1.LabelTopologyZone}, {corev1.LabelTopologyRegion},
		{corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone}, {corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion}}
	there := func(name [2]string) bool { _, ok := n.Labels[name[0]]; return ok }
	if !slices.ContainsFunc(names, there) {
		return true
	}
	for _, name := range names {
		allowed := strings.Split(pv.Labels[name[0]], "__")
		value, ok := n.Labels[name[0]]
		if !ok && name[1] != "" {
			value = n.Labels[name[1]]
		}
		if !slices.Contains(allowed, "") && !slices.Contains(allowed, value) {
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
