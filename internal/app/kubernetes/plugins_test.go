// SPDX-License-Identifier: MIT

package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// Kube-scheduler 1.37's default profile (pkg/scheduler/apis/config/v1/default_plugins.go and its feature gates).
var defaultPlugins = []string{"SchedulingGates", "PrioritySort", "NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts",
	"NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
	"DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality", "DefaultBinder", "DynamicResources", "NodeDeclaredFeatures", "GangScheduling"}

// Each plugin has a line, and says how much of it a plan holds.
func TestPlugins(t *testing.T) {
	for _, name := range defaultPlugins {
		if !slices.ContainsFunc(plugins, func(p plugin) bool { return p.name == name && p.how != "" }) {
			t.Errorf("the plugin %s has no line", name)
		}
	}
	if len(plugins) != len(defaultPlugins) {
		t.Errorf("%d plugins have a line, kube-scheduler has %d", len(plugins), len(defaultPlugins))
	}
}

// situation is a cluster of the nodes n1 and n2 with 4 CPUs each, in zone a and b. The pod "pod" asks for one CPU; it runs
// on n2, or waits. On n1 runs "keep", which no controller makes again.
type situation struct {
	*Cluster
	pod, keep, n1, n2 int // in the lists
}

func newSituation(waits bool) *situation {
	node := func(name, zone string) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")}}}
	}
	pod := func(name, on, owner string) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name, Labels: map[string]string{"app": name}},
			Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}}}
		if p.Status.Phase = corev1.PodRunning; on == "" {
			p.Status.Phase = corev1.PodPending
		}
		if yes := true; owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: owner, Name: name, Controller: &yes}}
		}
		return p
	}
	on := "n2"
	if waits {
		on = ""
	}
	return &situation{Cluster: &Cluster{Given: map[string]bool{}, Nodes: []corev1.Node{node("n1", "a"), node("n2", "b")},
		Pods: []corev1.Pod{pod("keep", "n1", ""), pod("pod", on, "ReplicaSet")}}, pod: 1, n2: 1}
}

// claim gives a pod a claim, bound to a volume of its name unless there is no volume.
func (s *situation) claim(pod int, name string, mode corev1.PersistentVolumeAccessMode, bound bool) *corev1.PersistentVolume {
	p := &s.Pods[pod]
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	if mode == "" {
		return nil
	}
	s.Given["PersistentVolumeClaim"], s.Given["PersistentVolume"] = true, true
	c := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{mode}}}
	if bound {
		c.Spec.VolumeName = name
		s.Volumes = append(s.Volumes, corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk"}}}})
	}
	s.Claims = append(s.Claims, c)
	if !bound {
		return nil
	}
	return &s.Volumes[len(s.Volumes)-1]
}

// fate is the place of the pod in all plans: "n1 n2" are nodes to which it may be moved or where it may start, "stays:
// WHY" or "waits" that it can't.
func (s *situation) fate(t *testing.T) string {
	t.Helper()
	in, err := Convert(s.Cluster, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if !slices.Contains(in.Pods[i], "d/pod") {
			continue
		}
		if j.Pinned {
			return "stays: " + in.Pins[j.ID]
		}
		var nodes []string
		for k := range in.Hosts {
			h := &in.Hosts[k]
			set := slices.IndexFunc(in.HostSets, func(x model.HostSet) bool { return x.ID == j.Allowed })
			room := true
			for r := range j.Needs {
				room = room && h.Capacity[r] >= j.Needs[r]
			}
			if !h.Closed && room && (j.Allowed == "" || set >= 0 && slices.Contains(in.HostSets[set].Hosts, h.ID)) {
				nodes = append(nodes, h.ID)
			}
		}
		if nodes == nil {
			return "waits"
		}
		return strings.Join(nodes, " ")
	}
	t.Fatal("the pod is no job")
	return ""
}

// What a plan knows is held exactly, and pods of which it knows too little stay, or go on waiting. Each situation has
// one thing more than the plain one, where the pod may be on both nodes.
func TestSituations(t *testing.T) {
	always, whenever, two := corev1.ContainerRestartPolicyAlways, storagev1.VolumeBindingWaitForFirstConsumer, int32(2)
	allow, zero, ignore := policyv1.AlwaysAllow, int32(0), batchv1.PodFailurePolicyActionIgnore
	budget := func(s *situation, healthy, desired int32) *policyv1.PodDisruptionBudget {
		s.Budgets = []policyv1.PodDisruptionBudget{{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "b"},
			Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "pod"}}},
			Status: policyv1.PodDisruptionBudgetStatus{CurrentHealthy: healthy, DesiredHealthy: desired}}}
		return &s.Budgets[0]
	}
	unready := func(s *situation) {
		s.Pods[s.pod].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	}
	job := func(s *situation) *batchv1.Job {
		s.Pods[s.pod].OwnerReferences[0].Kind = "Job"
		s.Jobs = []batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "pod"}, Spec: batchv1.JobSpec{BackoffLimit: &zero}}}
		return &s.Jobs[0]
	}
	term := func(key string, values ...string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: values}}}}
	}
	with := func(s *situation, terms ...corev1.PodAffinityTerm) {
		s.Pods[s.pod].Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
	port := func(s *situation, pod int, address string, init *corev1.ContainerRestartPolicy, main bool) {
		c := corev1.Container{Name: "p", RestartPolicy: init, Ports: []corev1.ContainerPort{{HostPort: 80, HostIP: address}}}
		if main {
			s.Pods[pod].Spec.Containers = append(s.Pods[pod].Spec.Containers, c)
		} else {
			s.Pods[pod].Spec.InitContainers = append(s.Pods[pod].Spec.InitContainers, c)
		}
	}
	daemon := func(s *situation) {
		yes := true
		s.Pods[s.keep].OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "keep", Controller: &yes}}
	}
	for name, x := range map[string]struct {
		waits bool
		make  func(s *situation)
		want  string // the beginning of its fate
	}{
		"plain":                          {false, func(*situation) {}, "n1 n2"},
		"plain, waits":                   {true, func(*situation) {}, "n1 n2"},
		"devices":                        {false, func(s *situation) { s.Pods[s.pod].Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }, "stays: it claims devices"},
		"devices, waits":                 {true, func(s *situation) { s.Pods[s.pod].Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }, "waits"},
		"a group":                        {true, func(s *situation) { s.Pods[s.pod].Spec.SchedulingGroup = &corev1.PodSchedulingGroup{} }, "waits"},
		"another scheduler":              {false, func(s *situation) { s.Pods[s.pod].Spec.SchedulerName = "fargate" }, "stays: the scheduler fargate"},
		"the default scheduler":          {false, func(s *situation) { s.Pods[s.pod].Spec.SchedulerName = "default-scheduler" }, "n1 n2"},
		"a claim that isn't given":       {true, func(s *situation) { s.claim(s.pod, "x", "", false) }, "waits"},
		"a claim that isn't bound":       {true, func(s *situation) { s.claim(s.pod, "x", corev1.ReadWriteMany, false) }, "waits"},
		"a claim that waits for its pod": {true, func(s *situation) { s.class("x", &whenever) }, "n1 n2"},
		"in one zone":                    {true, func(s *situation) { s.class("x", &whenever, "b") }, "n2"},
		"a bound claim":                  {true, func(s *situation) { s.claim(s.pod, "x", corev1.ReadWriteOnce, true) }, "n1 n2"},
		"a volume of a zone by its label": {true, func(s *situation) {
			s.claim(s.pod, "x", corev1.ReadWriteOnce, true).Labels = map[string]string{corev1.LabelFailureDomainBetaZone: "a__c"}
		}, "n1"},
		"a volume of its node": {false, func(s *situation) {
			s.claim(s.pod, "x", corev1.ReadWriteOnce, true).Labels = map[string]string{corev1.LabelTopologyZone: "b"}
		}, "stays: its volume is on its node alone"},
		"a claim of one pod": {true, func(s *situation) {
			s.claim(s.keep, "x", "", false)
			s.claim(s.pod, "x", corev1.ReadWriteOncePod, true)
		}, "waits"},
		"a claim of one pod, its own":    {true, func(s *situation) { s.claim(s.pod, "x", corev1.ReadWriteOncePod, true) }, "n1 n2"},
		"a claim of one node":            {false, func(s *situation) { s.claim(s.keep, "x", "", false); s.claim(s.pod, "x", corev1.ReadWriteOnce, true) }, "stays: it shares a volume"},
		"a claim of many nodes":          {false, func(s *situation) { s.claim(s.keep, "x", "", false); s.claim(s.pod, "x", corev1.ReadWriteMany, true) }, "n1 n2"},
		"features that no node declares": {true, func(s *situation) { s.restarts() }, "n1 n2"},
		"features that one node declares": {true, func(s *situation) {
			s.restarts()
			s.Nodes[s.n2].Status.DeclaredFeatures = []string{"RestartAllContainersOnContainerExits"}
		}, "n2"},
		"a daemon set's port": {true, func(s *situation) { daemon(s); port(s, s.keep, "", nil, true); port(s, s.pod, "10.0.0.1", nil, true) }, "n2"},
		"a sidecar's port":    {true, func(s *situation) { daemon(s); port(s, s.keep, "", &always, false); port(s, s.pod, "", nil, true) }, "n2"},
		"a port given back":   {true, func(s *situation) { daemon(s); port(s, s.keep, "", nil, false); port(s, s.pod, "", nil, true) }, "n1 n2"},
		"ports of two addresses": {true, func(s *situation) {
			daemon(s)
			port(s, s.keep, "10.0.0.2", nil, true)
			port(s, s.pod, "10.0.0.1", nil, true)
		}, "n1 n2"},
		"a greater taint": {true, func(s *situation) {
			s.Nodes[s.n1].Spec.Taints = []corev1.Taint{{Key: "sla", Value: "95", Effect: corev1.TaintEffectNoSchedule}}
			s.Nodes[s.n2].Spec.Taints = []corev1.Taint{{Key: "sla", Value: "85", Effect: corev1.TaintEffectNoSchedule}}
			s.Pods[s.pod].Spec.Tolerations = []corev1.Toleration{{Key: "sla", Operator: corev1.TolerationOpGt, Value: "90"}}
		}, "n1"},
		"company of one pod for two terms": {false, func(s *situation) { with(s, term(corev1.LabelHostname, "keep"), term(corev1.LabelHostname, "other")) }, "stays: " + noCompany},
		"company that isn't there":         {true, func(s *situation) { with(s, term(corev1.LabelHostname, "other")) }, "waits"},
		"its own company":                  {true, func(s *situation) { with(s, term(corev1.LabelHostname, "pod")) }, "n1 n2"},
		"a daemon set's company":           {true, func(s *situation) { daemon(s); with(s, term(corev1.LabelHostname, "keep")) }, "n1"},
		"a daemon set's company, or another's": {true, func(s *situation) {
			daemon(s)
			s.Nodes[s.n1].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1")
			other := *s.Pods[s.pod].DeepCopy()
			other.Name, other.Spec.NodeName, other.Labels = "other", s.Nodes[s.n2].Name, map[string]string{"app": "keep"}
			s.Pods = append(s.Pods, other)
			with(s, term(corev1.LabelHostname, "keep"))
		}, "n2"},
		"a claim that goes": {false, func(s *situation) {
			s.claim(s.pod, "x", corev1.ReadWriteOnce, true)
			s.Claims[0].DeletionTimestamp = &metav1.Time{}
		}, "stays: its volume claim x is being deleted"},
		"a claim without its volume": {false, func(s *situation) {
			s.claim(s.pod, "x", corev1.ReadWriteOnce, true)
			s.Claims[0].Status.Phase = corev1.ClaimLost
		}, "stays: its volume claim x has lost its volume"},
		"a claim that names its volume": {true, func(s *situation) {
			s.claim(s.pod, "x", corev1.ReadWriteOnce, true)
			s.Claims[0].Status.Phase = corev1.ClaimPending
		}, "waits"},
		"a claim without a class": {true, func(s *situation) {
			s.class("x", &whenever)
			s.Classes[0].Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
			s.Claims[0].Spec.StorageClassName = nil
		}, "waits"},
		"a class whose volumes are made by hand": {true, func(s *situation) { s.class("x", &whenever); s.Classes[0].Provisioner = "kubernetes.io/no-provisioner" }, "waits"},
		"a class with a volume that is free": {true, func(s *situation) {
			s.class("x", &whenever)
			s.Volumes = []corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: "free"}, Spec: corev1.PersistentVolumeSpec{StorageClassName: "x"}}}
		}, "waits"},
		"a node chosen for its claim": {true, func(s *situation) {
			s.class("x", &whenever)
			s.Claims[0].Annotations = map[string]string{selectedNode: "n2"}
		}, "n2"},
		"a zone by the label of before, at the node alone": {true, func(s *situation) {
			s.claim(s.pod, "x", corev1.ReadWriteOnce, true).Labels = map[string]string{corev1.LabelTopologyZone: "b"}
			s.Nodes[s.n2].Labels = map[string]string{corev1.LabelHostname: "n2", corev1.LabelFailureDomainBetaZone: "b"}
		}, "waits"},
		"a claim of one pod, that another has, too": {false, func(s *situation) {
			s.claim(s.keep, "x", "", false)
			s.claim(s.pod, "x", corev1.ReadWriteOncePod, true)
		}, "stays: another pod has its volume claim x"},
		"a shared volume of a driver with limits": {false, func(s *situation) {
			s.claim(s.keep, "x", "", false)
			s.claim(s.pod, "x", corev1.ReadWriteMany, true)
			s.limit(5)
		}, "stays: it shares a volume with other pods, and nodes attach so many"},
		"a volume to be made, of a driver with limits": {true, func(s *situation) { s.class("x", &whenever); s.limit(0) }, "n2"},
		"a disk by its name":                           {false, func(s *situation) { s.disk(s.pod, true) }, "n1 n2"},
		"a disk of two":                                {false, func(s *situation) { s.disk(s.pod, true); s.disk(s.keep, false) }, "stays: it names a disk"},
		"a disk of two readers":                        {false, func(s *situation) { s.disk(s.pod, true); s.disk(s.keep, true) }, "n1 n2"},
		"ports of all addresses of either kind":        {true, func(s *situation) { daemon(s); port(s, s.keep, "0.0.0.0", nil, true); port(s, s.pod, "::", nil, true) }, "n2"},
		"a port of one address, and of all of IPv6":    {true, func(s *situation) { daemon(s); port(s, s.keep, "10.0.0.1", nil, true); port(s, s.pod, "::", nil, true) }, "n1 n2"},
		"another scheduler's pod that wants its own company": {true, func(s *situation) {
			s.Pods[s.pod].Spec.SchedulerName = "fargate"
			with(s, term(corev1.LabelHostname, "pod"))
		}, "waits"},
		"a daemon set's company, in no zone": {true, func(s *situation) {
			daemon(s)
			with(s, term(corev1.LabelTopologyZone, "keep"))
			delete(s.Nodes[s.n1].Labels, corev1.LabelTopologyZone)
		}, "waits"},
		"a daemon set's company, in a zone without a name": {true, func(s *situation) {
			daemon(s)
			with(s, term(corev1.LabelTopologyZone, "keep"))
			s.Nodes[s.n1].Labels[corev1.LabelTopologyZone] = ""
		}, "n1"},
		"a budget":                      {false, func(s *situation) { budget(s, 1, 1) }, "stays: budget d/b"},
		"a budget, not ready":           {false, func(s *situation) { unready(s); budget(s, 0, 1) }, "stays: budget d/b"},
		"a budget of enough, not ready": {false, func(s *situation) { unready(s); budget(s, 1, 1) }, "n1 n2"},
		"AlwaysAllow, not ready":        {false, func(s *situation) { unready(s); budget(s, 0, 1).Spec.UnhealthyPodEvictionPolicy = &allow }, "n1 n2"},
		"AlwaysAllow, ready":            {false, func(s *situation) { budget(s, 0, 1).Spec.UnhealthyPodEvictionPolicy = &allow }, "stays: budget d/b"},
		"a budget, pending":             {false, func(s *situation) { s.Pods[s.pod].Status.Phase = corev1.PodPending; budget(s, 0, 1) }, "n1 n2"},
		"a Job that would fail":         {false, func(s *situation) { job(s) }, "stays: its eviction would fail its Job"},
		"a Job with failures left":      {false, func(s *situation) { job(s).Spec.BackoffLimit = &two }, "n1 n2"},
		"a Job that ignores evictions": {false, func(s *situation) {
			job(s).Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: ignore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}}}}
		}, "n1 n2"},
		"resized in place":         {false, func(s *situation) { s.resize() }, "stays: it was resized in place"},
		"resized, with a template": {false, func(s *situation) { s.resize(); s.template("3") }, "n2"},
		"resized in its status": {false, func(s *situation) {
			s.Pods[s.pod].Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
			s.Pods[s.pod].Status.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5")}}
		}, "waits"},
		"do-not-evict":          {false, func(s *situation) { s.Pods[s.pod].Annotations = map[string]string{karpenterKept: "true"} }, "stays: annotation"},
		"do-not-disrupt: 4h":    {false, func(s *situation) { s.Pods[s.pod].Annotations = map[string]string{karpenterKeep: "4h"} }, "stays: annotation"},
		"do-not-disrupt: false": {false, func(s *situation) { s.Pods[s.pod].Annotations = map[string]string{karpenterKeep: "false"} }, "n1 n2"},
		"its node isn't ready": {false, func(s *situation) {
			s.Nodes[s.n2].Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
		}, "stays: its node isn't ready"},
		"a node isn't ready": {true, func(s *situation) {
			s.Nodes[s.n2].Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
		}, "n1"},
	} {
		s := newSituation(x.waits)
		x.make(s)
		if fate := s.fate(t); !strings.HasPrefix(fate, x.want) || !strings.Contains(x.want, ":") && fate != x.want {
			t.Errorf("%s: %q, want %q", name, fate, x.want)
		}
	}
}

// Volumes that a node can attach are a resource of it, unlimited where a node doesn't tell.
func TestAttachLimits(t *testing.T) {
	s := newSituation(false)
	s.claim(s.pod, "x", corev1.ReadWriteOnce, true)
	s.claim(s.keep, "y", corev1.ReadWriteOnce, true)
	s.limit(1)
	in, err := Convert(s.Cluster, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := slices.Index(in.Resources, "volumes of disk")
	if r < 0 || in.Hosts[0].Capacity[r] != 1 || in.Hosts[1].Capacity[r] < 2 || in.Jobs[0].Needs[r] != 1 || in.Jobs[1].Needs[r] != 1 {
		t.Errorf("resources %q, hosts %v, jobs %v", in.Resources, in.Hosts, in.Jobs)
	}
}

// Control planes and their like stay in use, and the account says so.
func TestNodesThatStay(t *testing.T) {
	for want, change := range map[string]func(n *corev1.Node){
		"kept in use: control plane":        func(n *corev1.Node) { n.Labels["node-role.kubernetes.io/control-plane"] = "" },
		"kept in use: virtual":              func(n *corev1.Node) { n.Labels["type"] = "virtual-kubelet" },
		"kept in use: of one pod (Fargate)": func(n *corev1.Node) { n.Labels["eks.amazonaws.com/compute-type"] = "fargate" },
		"kept in use: annotation scale-down-disabled": func(n *corev1.Node) {
			n.Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}
		},
		"kept in use: annotation do-not-disrupt": func(n *corev1.Node) { n.Annotations = map[string]string{karpenterKeep: "true"} },
	} {
		s := newSituation(false)
		change(&s.Nodes[s.n2])
		in, err := Convert(s.Cluster, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !in.Hosts[1].Kept || in.Hosts[0].Kept || !strings.Contains(in.Account.Assumed.String(), want) {
			t.Errorf("%s: kept %v and %v, %s", want, in.Hosts[0].Kept, in.Hosts[1].Kept, in.Account.Assumed)
		}
	}
}

// class gives the pod a claim of a class that binds it with its first pod, in some zones.
func (s *situation) class(name string, mode *storagev1.VolumeBindingMode, zones ...string) {
	s.claim(s.pod, name, corev1.ReadWriteOnce, false)
	s.Claims[0].Spec.StorageClassName = &name
	x := storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "disk", VolumeBindingMode: mode}
	if zones != nil {
		x.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: corev1.LabelTopologyZone, Values: zones}}}}
	}
	s.Classes = []storagev1.StorageClass{x}
}

// limit has n1 attach so many volumes of the driver "disk", or the class's.
func (s *situation) limit(count int32) {
	s.Attaching = []storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: "disk", Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}}}}
}

// disk has a pod name a disk without a claim.
func (s *situation) disk(pod int, readOnly bool) {
	s.Pods[pod].Spec.Volumes = append(s.Pods[pod].Spec.Volumes, corev1.Volume{Name: "disk", VolumeSource: corev1.VolumeSource{
		GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "pd", ReadOnly: readOnly}}})
}

// restarts has the pod ask for a feature of its node.
func (s *situation) restarts() {
	never := corev1.ContainerRestartPolicyNever
	c := &s.Pods[s.pod].Spec.Containers[0]
	c.RestartPolicy, c.RestartPolicyRules = &never, []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
}

// resize says that the pod was resized in place.
func (s *situation) resize() {
	p := &s.Pods[s.pod]
	p.Generation = 2
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Resources: &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}
}

// template gives the pod's controller, and takes so much CPU of n1 that a pod of the template doesn't fit there.
func (s *situation) template(cpu string) {
	x := Selecting{Kind: "ReplicaSet", Metadata: metav1.ObjectMeta{Namespace: "d", Name: "pod"}}
	x.Spec.Template = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}}}
	s.Selecting = []Selecting{x}
	s.Nodes[s.n1].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("2")
}

// Each pod that goes on waiting has its reason, by node; pods that want their own kind near start one after the other.
func TestWaits(t *testing.T) {
	s := newSituation(true)
	s.Pods[s.pod].Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
	s.Nodes[s.n1].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1500m")
	plan := func(s *situation) *Plan {
		t.Helper()
		in, err := Convert(s.Cluster, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := MakePlan(t.Context(), in, gapwise.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := []Wait{{"d/pod", "of 2 nodes: 1 its node selector or affinity, 1 no room for cpu"}}
	if p := plan(s); !slices.Equal(p.Waits, want) || !strings.Contains(p.Text(false), "pods that go on waiting:\n  d/pod: of 2 nodes") {
		t.Errorf("%v\n%s", p.Waits, p.Text(false))
	}
	s = newSituation(true)
	s.Pods[s.pod].Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "pod"}}}}}}
	second := *s.Pods[s.pod].DeepCopy()
	second.Name = "pod2"
	s.Pods = append(s.Pods, second)
	if p := plan(s); p.Then.Waiting != 0 || len(p.Stuck) > 0 || len(p.Waves) != 1 || p.Waves[0][0].To != p.Waves[0][1].To {
		t.Errorf("two that want each other: %+v", p)
	}
	for i := range 2 { // each wants the other one, and neither itself
		x := &s.Pods[1+i]
		x.Labels = map[string]string{"app": []string{"x", "y"}[i]}
		x.OwnerReferences[0].Name = x.Labels["app"]
		x.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": []string{"y", "x"}[i]}}}}
	}
	if p := plan(s); p.Then.Waiting != 2 || len(p.Stuck) > 0 || p.Waits[0].Why != noCompany {
		t.Errorf("two that wait for each other: %+v, %v", p, p.Waits)
	}
}

// A node that is over its CPU takes pods that ask for none, as kube-scheduler looks at nothing else. Company of a daemon
// set's pod is as good as another pod's.
func TestShortNodes(t *testing.T) {
	for name, x := range map[string]struct {
		make  func(s *situation)
		waits int
	}{
		"plain":            {func(*situation) {}, 1},
		"asks for nothing": {func(s *situation) { s.Pods[s.pod].Spec.Containers[0].Resources.Requests = nil }, 0},
		"no place": {func(s *situation) {
			s.Pods[s.pod].Spec.Containers[0].Resources.Requests = nil
			s.Nodes[s.n1].Status.Allocatable[corev1.ResourcePods] = resource.MustParse("1")
		}, 1},
		"another pod's company": {func(s *situation) {
			yes, full := true, *s.Nodes[s.n1].DeepCopy()
			full.Name, full.Labels = "n3", map[string]string{corev1.LabelHostname: "n3"}
			full.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1")
			s.Nodes[s.n1].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("2")
			s.Nodes = append(s.Nodes, full)
			agent := *s.Pods[s.keep].DeepCopy()
			agent.Name, agent.Spec.NodeName, agent.OwnerReferences = "agent", "n3", []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent", Controller: &yes}}
			s.Pods = append(s.Pods, agent)
			s.Pods[s.pod].Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "keep"}}}}}}
		}, 0},
	} {
		s := newSituation(true)
		s.Nodes = s.Nodes[:1]
		s.Nodes[s.n1].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("500m")
		x.make(s)
		in, err := Convert(s.Cluster, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := MakePlan(t.Context(), in, gapwise.Options{})
		if err != nil || p.Then.Waiting != x.waits || p.Played.Alone.Waiting != x.waits && len(p.Waves) > 0 {
			t.Errorf("%s: %+v, want %d to wait: %v", name, p, x.waits, err)
		}
	}
}

// To mend is to move the fewest pods after which nothing is broken, on the nodes in use today: one of two that keep apart,
// one where its selector doesn't want it, and one of a node that is over its CPU. A cordon alone breaks nothing.
func TestMend(t *testing.T) {
	s := newSituation(false)
	term := []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "fw"}}}}
	for k, on := range []string{"n1", "n1", "n2", "n2"} {
		p := *s.Pods[s.pod].DeepCopy()
		p.Name, p.Spec.NodeName = fmt.Sprint("p", k), on
		switch k {
		case 0, 1:
			p.Labels, p.OwnerReferences[0].Name = map[string]string{"app": "fw"}, "fw"
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
		case 2:
			p.OwnerReferences[0].Name = "sel"
			p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
		}
		s.Pods = append(s.Pods, p)
	}
	s.Nodes[s.n1].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("5")
	third := *s.Nodes[s.n2].DeepCopy()
	third.Name, third.Labels[corev1.LabelHostname], third.Spec.Unschedulable = "n3", "n3", true
	s.Nodes = append(s.Nodes, third)
	old := *s.Pods[s.pod].DeepCopy()
	old.Name, old.Spec.NodeName = "old", "n3"
	s.Pods = append(s.Pods, old)
	for _, x := range []struct {
		cpu   string // of n2
		moves int64
		is    string
	}{{"4", 2, "1 broken rule (apart d/fw 1), 1 pod where its workload may not be; none after the plan"},
		{"2", 3, "1 broken rule (apart d/fw 1), 1 node with less than it needs (n2), 1 pod where its workload may not be; none after the plan"}} {
		s.Nodes[s.n2].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(x.cpu)
		in, err := Convert(s.Cluster, Options{Prices: PriceByNode, Mend: true})
		if err != nil {
			t.Fatal(err)
		}
		p, err := MakePlan(t.Context(), in, gapwise.Options{})
		if err != nil || p.Moves != x.moves || p.MovesStatus != "optimal" || p.brokenText() != x.is || p.Then.Nodes != 3 {
			t.Errorf("%s CPUs: %v, %s, %+v", x.cpu, err, p.brokenText(), p)
		}
	}
}

// Preemption is told by name of waiting pods with a priority above that of something that runs, in whatever order pods
// come, also if the plan doesn't know where they may be.
func TestPreemptionIsTold(t *testing.T) {
	never, yes := corev1.PreemptNever, true
	for name, x := range map[string]struct {
		runs, waits int32
		make        func(s *situation)
		told        bool
	}{
		"less":                     {1000, 500, nil, false},
		"more":                     {1000, 2000, nil, true},
		"more than a negative one": {-5, 0, nil, true},
		"the same":                 {0, 0, nil, false},
		"never":                    {0, 10, func(s *situation) { s.Pods[s.pod].Spec.PreemptionPolicy = &never }, false},
		"devices":                  {0, 10, func(s *situation) { s.Pods[s.pod].Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }, true},
		"a claim that isn't there": {0, 10, func(s *situation) { s.claim(s.pod, "x", "", false) }, false},
		"others are gone already":  {0, 0, func(s *situation) { s.Pods[s.pod].Status.NominatedNodeName = "n1" }, true},
		"more than a daemon set has": {0, 10, func(s *situation) {
			s.Pods[s.keep].OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: &yes}}
		}, true},
	} {
		s := newSituation(true)
		s.Pods[s.keep].Spec.Priority, s.Pods[s.pod].Spec.Priority = &x.runs, &x.waits
		if x.make != nil {
			x.make(s)
		}
		slices.Reverse(s.Pods)
		in, err := Convert(s.Cluster, Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := in.Account.NotModelled.String()
		if told := strings.Contains(said, "preemption") && strings.Contains(said, "d/pod"); told != x.told {
			t.Errorf("%s: %s", name, in.Account.NotModelled)
		}
	}
}
