// SPDX-License-Identifier: MIT

package kubernetes

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// features are the parts of a drawn cluster by which a filter of kube-scheduler refuses nodes, or takes them.
var features = []string{"selectors", "node affinity", "node fields", "taints", "compared taints", "cordons", "room", "pod slots", "extended resources",
	"overhead", "init containers", "pod-level resources", "resized daemons", "resized pods", "templates", "declared features", "ports", "daemons' ports", "apart", "daemons apart",
	"own company", "company", "two terms", "daemons' company", "spread", "spread policies", "claims", "claims that aren't ready", "zones of volumes", "classes",
	"one pod's claims", "attach limits", "shared claims", "inline disks", "odd labels", "what others decide"}

// drawer draws a cluster. Each feature has a random sequence of its own, so that the cluster without it is the same in
// all else.
type drawer struct {
	seed    uint64
	rng     *rand.Rand
	without string
	used    map[string]bool
	scope   string // the object that is drawn
	nodes   []*corev1.Node
	items   []runtime.Object
}

// drawFeasible returns a cluster of 4 to 10 nodes and 10 to 30 pods as kubectl prints it, without a feature, and the
// features that it has.
func drawFeasible(t testing.TB, seed uint64, without string) (list []byte, used map[string]bool) {
	t.Helper()
	d := &drawer{seed: seed, rng: rand.New(rand.NewPCG(seed, 1037)), without: without, used: map[string]bool{}}
	for range 2 {
		name := string(rune('d' + len(d.items)))
		d.add("v1", "Namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}})
	}
	d.classes()
	for k := range 4 + d.rng.IntN(7) {
		d.node(fmt.Sprint("n", k+1))
	}
	for k := range 1 + d.rng.IntN(2) {
		d.daemons(fmt.Sprint("daemon", k+1))
	}
	for k, left := 0, 10+d.rng.IntN(14); left > 0; k++ {
		n := min(left, 1+d.rng.IntN(4))
		d.workload(fmt.Sprint("w", k+1), n)
		left -= n
	}
	for _, n := range d.nodes {
		d.add("v1", "Node", n)
	}
	data, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": d.items})
	if err != nil {
		t.Fatal(err)
	}
	return data, d.used
}

// within names the object that is drawn, and returns the function that ends that.
func (d *drawer) within(scope string) func() {
	before := d.scope
	d.scope = scope
	return func() { d.scope = before }
}

// feature does something with this chance.
func (d *drawer) feature(name string, chance float64, do func(r *rand.Rand)) {
	if !slices.Contains(features, name) && name != "ephemeral claims" { // which decide as others do
		panic(name)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name + " of " + d.scope))
	r := rand.New(rand.NewPCG(d.seed, h.Sum64()))
	if r.Float64() < chance && name != d.without {
		d.used[name] = true
		do(r)
	}
}

func one[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// add adds an object with its kind.
func (d *drawer) add(version, kind string, x runtime.Object) {
	x.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(version, kind))
	d.items = append(d.items, x)
}

const (
	gpu       = "example.com/gpu"
	driver    = "disk.example.com"
	driverKey = "topology.disk.example.com/zone"
	declares  = "RestartAllContainersOnContainerExits"
)

func (d *drawer) node(name string) {
	defer d.within(name)()
	r := d.rng
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name,
		corev1.LabelTopologyZone: one(r, "a", "b", "c"), corev1.LabelTopologyRegion: "r", "disk": one(r, "ssd", "hdd"), "gen": fmt.Sprint(1 + r.IntN(5))}}}
	n.Labels[driverKey] = n.Labels[corev1.LabelTopologyZone]
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("60")}
	has := func(name corev1.ResourceName, amount string) { n.Status.Allocatable[name] = resource.MustParse(amount) }
	d.feature("room", 0.8, func(r *rand.Rand) {
		has(corev1.ResourceCPU, one(r, "3", "6", "12", "16"))
		has(corev1.ResourceMemory, one(r, "6Gi", "16Gi", "32Gi"))
		has(corev1.ResourceEphemeralStorage, one(r, "6Gi", "20Gi", "60Gi"))
	})
	d.feature("pod slots", 0.12, func(r *rand.Rand) { has(corev1.ResourcePods, fmt.Sprint(1+r.IntN(6))) })
	d.feature("extended resources", 0.6, func(r *rand.Rand) { has(gpu, fmt.Sprint(r.IntN(4))) })
	d.feature("declared features", 1, func(r *rand.Rand) {
		if len(d.nodes) == 0 || r.IntN(2) == 0 { // no cluster of 1.37 has none
			n.Status.DeclaredFeatures = []string{declares}
		}
	})
	taint := func(key, value string, effect corev1.TaintEffect) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
	d.feature("taints", 0.18, func(r *rand.Rand) {
		taint("pool", one(r, "batch", "gpu"), one(r, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule))
	})
	d.feature("compared taints", 0.06, func(r *rand.Rand) { taint("sla", one(r, "90", "95", "-1"), corev1.TaintEffectNoSchedule) })
	d.feature("cordons", 0.06, func(r *rand.Rand) {
		if n.Spec.Unschedulable = true; r.IntN(3) > 0 { // the node controller adds it, a little later
			taint(corev1.TaintNodeUnschedulable, "", corev1.TaintEffectNoSchedule)
		}
	})
	d.feature("odd labels", 0.12, func(r *rand.Rand) {
		zone := n.Labels[corev1.LabelTopologyZone]
		switch r.IntN(5) {
		case 0:
			delete(n.Labels, corev1.LabelTopologyZone)
		case 1: // as before 1.17
			delete(n.Labels, corev1.LabelTopologyZone)
			n.Labels[corev1.LabelFailureDomainBetaZone] = zone
		case 2:
			delete(n.Labels, corev1.LabelHostname)
		case 3:
			for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
				delete(n.Labels, key)
			}
		default:
			n.Labels[corev1.LabelTopologyZone] = ""
		}
	})
	d.feature("attach limits", 0.4, func(r *rand.Rand) {
		count := int32(r.IntN(4))
		x := storagev1.CSINodeDriver{Name: driver, NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: &count}}
		if r.IntN(6) == 0 {
			x.Allocatable = nil
		}
		d.add("storage.k8s.io/v1", "CSINode", &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{x}}})
	})
	d.nodes = append(d.nodes, n)
}

// classes are those of the claims: bound at once, with the first pod, in some zones, and of volumes that are there.
func (d *drawer) classes() {
	later, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	class := func(name, provisioner string, mode *storagev1.VolumeBindingMode, key string, zones ...string) {
		x := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: mode}
		if zones != nil {
			x.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: key, Values: zones}}}}
		}
		d.add("storage.k8s.io/v1", "StorageClass", x)
	}
	class("now", driver, &now, "")
	class("later", driver, &later, "")
	class("zones", driver, &later, corev1.LabelTopologyZone, "a", "b")
	class("keys", driver, &later, driverKey, "a")
	class("static", "kubernetes.io/no-provisioner", &later, "")
	d.feature("classes", 0.5, func(r *rand.Rand) { // a volume that is free
		d.add("v1", "PersistentVolume", &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "free"}, Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}, StorageClassName: one(r, "static", "later"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "free"}}}, Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable}})
	})
	d.add("storage.k8s.io/v1", "StorageClass", &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "default",
		Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: driver, VolumeBindingMode: &later})
}

// container adds a container to a pod.
func container(p *corev1.PodSpec, init bool, restart *corev1.ContainerRestartPolicy, requests corev1.ResourceList) *corev1.Container {
	c := corev1.Container{Name: fmt.Sprint("c", len(p.Containers), "-", len(p.InitContainers)), RestartPolicy: restart, Resources: corev1.ResourceRequirements{Requests: requests}}
	all := &p.Containers
	if init {
		all = &p.InitContainers
	}
	*all = append(*all, c)
	return &(*all)[len(*all)-1]
}

func cpus(milli int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI)}
}

// port has a container take a port of its node.
func port(r *rand.Rand, c *corev1.Container) {
	c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: 80, HostPort: one(r, int32(80), 81), Protocol: one(r, "", corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP),
		HostIP: one(r, "", "", "0.0.0.0", "10.0.0.1", "10.0.0.2", "::")})
}

// resizedTo states the CPU that a running pod has, as the kubelet does; its spec says the same once that is done.
func resizedTo(p *corev1.Pod, milli int64, done bool) {
	p.Generation = 2
	for k := range p.Spec.Containers {
		c := &p.Spec.Containers[k]
		list := corev1.ResourceList{}
		for name, q := range c.Resources.Requests {
			list[name] = q
		}
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(milli, resource.DecimalSI)
		if done {
			c.Resources.Requests = list
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Resources: &corev1.ResourceRequirements{Requests: list}, AllocatedResources: list})
	}
}

// term is an affinity term.
func (d *drawer) term(r *rand.Rand, keys []string, values ...string) corev1.PodAffinityTerm {
	x := corev1.PodAffinityTerm{TopologyKey: one(r, keys...), LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: values}}}}
	switch r.IntN(6) {
	case 0:
		x.Namespaces = []string{"d", "e"}
	case 1:
		x.NamespaceSelector = &metav1.LabelSelector{}
	case 2:
		x.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "e"}}
	}
	return x
}

var (
	apps   = []string{"app1", "app2", "app3", "app4"}
	places = []string{corev1.LabelHostname, corev1.LabelHostname, corev1.LabelTopologyZone, "disk"}
)

// affinities returns the pod affinity and the pod anti-affinity of a pod.
func affinities(p *corev1.PodSpec) (company, apart *[]corev1.PodAffinityTerm) {
	if p.Affinity == nil {
		p.Affinity = &corev1.Affinity{}
	}
	if p.Affinity.PodAffinity == nil {
		p.Affinity.PodAffinity, p.Affinity.PodAntiAffinity = &corev1.PodAffinity{}, &corev1.PodAntiAffinity{}
	}
	return &p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, &p.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func (d *drawer) daemons(name string) {
	defer d.within(name)()
	p := corev1.PodSpec{}
	main := container(&p, false, nil, cpus(50))
	d.feature("daemons' ports", 0.4, func(r *rand.Rand) {
		if always := corev1.ContainerRestartPolicyAlways; r.IntN(2) == 0 {
			main = container(&p, true, &always, nil)
		}
		port(r, main)
	})
	d.feature("daemons apart", 0.35, func(r *rand.Rand) {
		_, apart := affinities(&p)
		*apart = append(*apart, d.term(r, []string{corev1.LabelHostname}, one(r, apps...)))
	})
	for _, n := range d.nodes {
		if d.rng.IntN(3) == 0 {
			continue
		}
		x := d.pod(one(d.rng, "d", "e"), name+"-"+n.Name, "DaemonSet", name, p)
		x.Labels, x.Spec.NodeName, x.Status.Phase = map[string]string{"app": name}, n.Name, corev1.PodRunning
		end := d.within(x.Name)
		d.feature("resized daemons", 0.3, func(r *rand.Rand) { resizedTo(x, one(r, int64(1), 600, 1500), r.IntN(2) == 0) })
		end()
		d.add("v1", "Pod", x)
	}
}

func (d *drawer) pod(space, name, kind, owner string, spec corev1.PodSpec) *corev1.Pod {
	yes := true
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, UID: types.UID(space + name), OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: kind, Name: owner, UID: types.UID(owner), Controller: &yes}}}, Spec: *spec.DeepCopy()}
}

func (d *drawer) workload(name string, pods int) {
	defer d.within(name)()
	r := d.rng
	always := corev1.ContainerRestartPolicyAlways
	space, app, hash := one(r, "d", "d", "d", "e"), one(r, apps...), one(r, "h1", "h2")
	own := map[string]string{"app": app, "pod-template-hash": hash}
	p := corev1.PodSpec{}
	main := container(&p, false, nil, corev1.ResourceList{})
	d.feature("room", 0.8, func(r *rand.Rand) {
		asks := func(name corev1.ResourceName, amounts ...string) {
			if amount := one(r, amounts...); amount != "" {
				main.Resources.Requests[name] = resource.MustParse(amount)
			}
		}
		asks(corev1.ResourceCPU, "", "0", "100m", "300m", "900m", "1700m")
		asks(corev1.ResourceMemory, "", "0", "256Mi", "1Gi", "3Gi")
		asks(corev1.ResourceEphemeralStorage, "", "", "500Mi", "3Gi")
	})
	d.feature("extended resources", 0.15, func(r *rand.Rand) { main.Resources.Requests[gpu] = resource.MustParse(fmt.Sprint(r.IntN(3))) })
	d.feature("overhead", 0.12, func(*rand.Rand) { p.Overhead = cpus(900) })
	d.feature("init containers", 0.16, func(r *rand.Rand) {
		for range 1 + r.IntN(2) {
			container(&p, true, one(r, nil, &always), cpus(one(r, int64(100), 800, 2000)))
		}
	})
	d.feature("pod-level resources", 0.06, func(r *rand.Rand) {
		p.Resources = &corev1.ResourceRequirements{Requests: cpus(2500)}
	})
	d.feature("ports", 0.12, func(r *rand.Rand) {
		switch r.IntN(3) {
		case 0:
			port(r, container(&p, true, one(r, nil, &always), nil))
		default:
			port(r, &p.Containers[0])
		}
	})
	d.feature("declared features", 0.08, func(*rand.Rand) {
		never := corev1.ContainerRestartPolicyNever
		p.Containers[0].RestartPolicy, p.Containers[0].RestartPolicyRules = &never, []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	})
	d.feature("selectors", 0.08, func(r *rand.Rand) { p.NodeSelector = map[string]string{"disk": one(r, "ssd", "hdd")} })
	need := func(x corev1.NodeSelectorTerm) {
		if p.Affinity == nil {
			p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}}
		}
		all := p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		all.NodeSelectorTerms = append(all.NodeSelectorTerms, x)
	}
	d.feature("node affinity", 0.08, func(r *rand.Rand) {
		for range 1 + r.IntN(2) {
			x := one(r, corev1.NodeSelectorRequirement{Key: "gen", Operator: corev1.NodeSelectorOpGt, Values: []string{"2"}},
				corev1.NodeSelectorRequirement{Key: "gen", Operator: corev1.NodeSelectorOpLt, Values: []string{"4"}},
				corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}},
				corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"a"}},
				corev1.NodeSelectorRequirement{Key: gpu, Operator: corev1.NodeSelectorOpDoesNotExist})
			need(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{x}})
		}
	})
	d.feature("node fields", 0.03, func(r *rand.Rand) {
		need(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name",
			Operator: one(r, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{"n1"}}}})
	})
	tolerate := func(x ...corev1.Toleration) { p.Tolerations = append(p.Tolerations, x...) }
	d.feature("taints", 0.45, func(r *rand.Rand) {
		tolerate(one(r, corev1.Toleration{Key: "pool", Operator: corev1.TolerationOpExists}, corev1.Toleration{Key: "pool", Value: "batch"},
			corev1.Toleration{Key: "pool", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, corev1.Toleration{Operator: corev1.TolerationOpExists}))
	})
	d.feature("compared taints", 0.4, func(r *rand.Rand) {
		tolerate(corev1.Toleration{Key: "sla", Operator: one(r, corev1.TolerationOpGt, corev1.TolerationOpLt), Value: one(r, "92", "80")})
	})
	d.feature("cordons", 0.2, func(*rand.Rand) {
		tolerate(corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists})
	})
	d.feature("apart", 0.1, func(r *rand.Rand) {
		_, apart := affinities(&p)
		x := d.term(r, places, one(r, app, one(r, apps...)))
		if r.IntN(4) == 0 { // the API server adds it to the selector
			x.MatchLabelKeys = []string{"pod-template-hash"}
			x.LabelSelector.MatchExpressions = append(x.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{Key: "pod-template-hash", Operator: metav1.LabelSelectorOpIn, Values: []string{hash}})
		}
		*apart = append(*apart, x)
	})
	d.feature("own company", 0.05, func(r *rand.Rand) {
		company, _ := affinities(&p)
		*company = append(*company, d.term(r, places, app))
	})
	d.feature("company", 0.05, func(r *rand.Rand) {
		company, _ := affinities(&p)
		*company = append(*company, d.term(r, places, one(r, append([]string{"nobody"}, apps...)...), one(r, apps...)))
	})
	d.feature("daemons' company", 0.03, func(r *rand.Rand) {
		company, _ := affinities(&p)
		*company = append(*company, d.term(r, places, one(r, []string{"daemon1"}, []string{"daemon2", app})...))
	})
	d.feature("two terms", 0.03, func(r *rand.Rand) {
		company, _ := affinities(&p)
		*company = append(*company, d.term(r, places, apps[:2]...), d.term(r, places, apps[1:]...))
	})
	d.feature("spread", 0.25, func(r *rand.Rand) {
		for range 1 + r.IntN(2) {
			t := corev1.TopologySpreadConstraint{MaxSkew: 1 + int32(r.IntN(2)), TopologyKey: one(r, places...), WhenUnsatisfiable: one(r, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway),
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": one(r, app, app, one(r, apps...), "daemon1")}}}
			if slices.ContainsFunc(p.TopologySpreadConstraints, func(x corev1.TopologySpreadConstraint) bool { return x.TopologyKey == t.TopologyKey }) {
				continue
			}
			switch r.IntN(8) {
			case 0:
				t.LabelSelector = &metav1.LabelSelector{}
			case 1:
				t.LabelSelector = nil
			}
			p.TopologySpreadConstraints = append(p.TopologySpreadConstraints, t)
		}
	})
	d.feature("spread policies", 0.9, func(r *rand.Rand) {
		honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
		for k := range p.TopologySpreadConstraints {
			t := &p.TopologySpreadConstraints[k]
			t.NodeAffinityPolicy, t.NodeTaintsPolicy = one(r, nil, &honor, &ignore), one(r, nil, &honor, &ignore)
			if least := 1 + int32(r.IntN(4)); t.WhenUnsatisfiable == corev1.DoNotSchedule && r.IntN(2) == 0 {
				t.MinDomains = &least
			}
			if r.IntN(3) == 0 && t.LabelSelector != nil {
				t.MatchLabelKeys = []string{"pod-template-hash"}
			}
		}
	})
	d.feature("what others decide", 0.05, func(r *rand.Rand) {
		switch r.IntN(3) {
		case 0:
			group := "group"
			p.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
		case 1:
			p.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
		default:
			p.SchedulerName = "other"
		}
	})
	d.feature("inline disks", 0.04, func(r *rand.Rand) {
		p.Volumes = append(p.Volumes, corev1.Volume{Name: "disk", VolumeSource: corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{
			PDName: one(r, "pd1", "pd2"), ReadOnly: r.IntN(2) == 0}}})
	})
	d.feature("shared claims", 0.04, func(r *rand.Rand) {
		claim := d.claim(space, name+"-shared", "later", one(r, corev1.ReadWriteOnce, corev1.ReadWriteMany), true)
		d.add("v1", "PersistentVolumeClaim", claim)
		mount(&p, claim.Name)
	})
	d.feature("one pod's claims", 0.03, func(r *rand.Rand) {
		claim := d.claim(space, name+"-one", "later", corev1.ReadWriteOncePod, true)
		d.add("v1", "PersistentVolumeClaim", claim)
		mount(&p, claim.Name)
	})
	bad := "" // of the claims of its pods
	d.feature("claims that aren't ready", 0.04, func(r *rand.Rand) {
		bad = one(r, "missing", "unbound", "lost", "deleted", "no volume", "unfinished", "static", "default")
	})
	claims := false
	d.feature("claims", 0.15, func(*rand.Rand) { claims = true })
	class := ""
	d.feature("classes", 0.08, func(r *rand.Rand) { class = one(r, "later", "zones", "keys") })
	d.feature("templates", 0.5, func(*rand.Rand) {
		d.add("apps/v1", "ReplicaSet", &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}, Spec: appsv1.ReplicaSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: own}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: own}, Spec: p}}})
	})
	for k := range pods {
		x := d.pod(space, fmt.Sprint(name, "-", k+1), "ReplicaSet", name, p)
		if x.Labels = own; r.IntN(5) > 0 {
			x.Spec.NodeName = one(r, d.nodes...).Name
		}
		if x.Status.Phase = corev1.PodRunning; x.Spec.NodeName == "" {
			x.Status.Phase = corev1.PodPending
		}
		end := d.within(x.Name)
		if claims || bad != "" || class != "" {
			d.ownClaim(x, bad, class)
		}
		d.feature("resized pods", 0.04, func(r *rand.Rand) {
			if x.Spec.NodeName != "" {
				resizedTo(x, one(r, int64(1), 1200), r.IntN(2) == 0)
			}
		})
		d.feature("what others decide", 0.03, func(r *rand.Rand) { // pods that go or have ended
			switch gone := metav1.Unix(1e9, 0); {
			case x.Spec.NodeName == "":
			case r.IntN(2) == 0:
				x.DeletionTimestamp = &gone
			default:
				x.Status.Phase = corev1.PodSucceeded
			}
		})
		end()
		d.add("v1", "Pod", x)
	}
}

// mount gives a pod a claim.
func mount(p *corev1.PodSpec, claim string) {
	p.Volumes = append(p.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
}

// claim returns a claim, with its volume if it is bound.
func (d *drawer) claim(space, name, class string, mode corev1.PersistentVolumeAccessMode, bound bool) *corev1.PersistentVolumeClaim {
	defer d.within(name)()
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class,
		AccessModes: []corev1.PersistentVolumeAccessMode{mode}, Resources: corev1.VolumeResourceRequirements{Requests: size}}}
	if c.Status.Phase = corev1.ClaimPending; !bound {
		return c
	}
	c.Annotations, c.Status.Phase = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}, corev1.ClaimBound
	c.Spec.VolumeName = "pv-" + name
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: c.Spec.VolumeName}, Spec: corev1.PersistentVolumeSpec{Capacity: size, StorageClassName: class,
		AccessModes: c.Spec.AccessModes, ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: space, Name: name},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: c.Spec.VolumeName}}}}
	d.feature("zones of volumes", 0.4, func(r *rand.Rand) {
		zone := one(r, "a", "b", "c")
		switch key := one(r, driverKey, driverKey, corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone, "fields"); key {
		case driverKey:
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: driverKey, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}}}}
		case "fields":
			pv.Labels = map[string]string{corev1.LabelTopologyRegion: one(r, "r", "other"), corev1.LabelTopologyZone: zone}
		default:
			pv.Labels = map[string]string{key: one(r, zone, "a__b", "")}
		}
	})
	d.add("v1", "PersistentVolume", pv)
	return c
}

// ownClaim gives a pod a claim of its own: bound, of a class that binds it with the pod, or one that isn't ready.
func (d *drawer) ownClaim(x *corev1.Pod, bad, class string) {
	name := x.Name + "-data"
	mount(&x.Spec, name)
	c := d.claim(x.Namespace, name, class, corev1.ReadWriteOnce, class == "" || x.Spec.NodeName != "")
	d.feature("ephemeral claims", 0.3, func(*rand.Rand) { // the name says whose it is
		x.Spec.Volumes[len(x.Spec.Volumes)-1] = corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: c.Spec}}}}
		yes := true
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: x.Name, UID: x.UID, Controller: &yes}}
	})
	missing := metav1.Unix(1e9, 0)
	if x.Spec.NodeName == "" && class != "" {
		d.feature("classes", 0.2, func(r *rand.Rand) {
			c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": one(r, d.nodes...).Name}
		})
	}
	switch bad {
	case "missing":
		return
	case "lost":
		c.Status.Phase = corev1.ClaimLost
	case "deleted":
		c.DeletionTimestamp, c.Finalizers = &missing, []string{"kubernetes.io/pvc-protection"}
	case "no volume":
		c.Spec.VolumeName = "gone"
	case "unfinished": // the volume controller has still to bind it
		c.Annotations, c.Status.Phase = nil, corev1.ClaimPending
	case "unbound", "static":
		kind := map[string]string{"unbound": "now", "static": "static"}[bad]
		c.Spec.VolumeName, c.Spec.StorageClassName, c.Annotations, c.Status.Phase = "", &kind, nil, corev1.ClaimPending
	case "default": // as long as the controller hasn't given it the default class
		c.Spec.VolumeName, c.Spec.StorageClassName, c.Annotations, c.Status.Phase = "", nil, nil, corev1.ClaimPending
	}
	d.add("v1", "PersistentVolumeClaim", c)
}
