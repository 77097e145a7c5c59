// SPDX-License-Identifier: MIT

package kubernetes

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// assumedRequests are the assumed requests of containers that request nothing, for the scores.
var assumedRequests = corev1.ResourceList{
	corev1.ResourceCPU:    *resource.NewMilliQuantity(100, resource.DecimalSI),
	corev1.ResourceMemory: *resource.NewQuantity(200<<20, resource.DecimalSI),
}

// defaultSpread is how pods of controllers and services are spread that ask for nothing.
var defaultSpread = []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
	{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
}

// preferences holds kube-scheduler's preferences for the pods of a job, by node where they don't depend on other pods.
type preferences struct {
	needs    usage
	packs    bool // MostAllocated, without balance and default spreading
	cordoned bool // cordoned nodes are taken
	taints   []int64
	nodes    []int64 // nil: none are preferred
	images   []int64
	spread   []softSpread
	// strict: nodes without one of the labels of spread get no score of it.
	strict bool
	terms  []weighted
}

// softSpread is a soft topology spread constraint.
type softSpread struct {
	*domain
	hosts   bool
	skew    int64
	others  []int   // jobs with pods that it counts
	rest    []int64 // pods of no job that it counts, on each node
	counted []bool  // nodes with pods that count
}

// weighted is a preference for nodes of a domain with pods of a job; against them if the weight is negative.
type weighted struct {
	*domain
	job    int // -1: pods of no job, so many on each node
	rest   []int64
	weight int64
}

// preferences makes the preferences of a job. O(nodes × taints + jobs × terms).
func (x *Scheduler) preferences(i int) *preferences {
	p := x.sample(i)
	f := &preferences{needs: usageOf(p), packs: slices.Contains(x.v.Packs, p.Spec.SchedulerName), cordoned: toleratesCordon(p)}
	var tolerations []corev1.Toleration
	for _, t := range p.Spec.Tolerations {
		if t.Effect == "" || t.Effect == corev1.TaintEffectPreferNoSchedule {
			tolerations = append(tolerations, t)
		}
	}
	var preferred *nodeaffinity.PreferredSchedulingTerms
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
		if terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution); err == nil {
			preferred = terms
		}
	}
	for k := range x.in.Cluster.Nodes {
		n := &x.in.Cluster.Nodes[k]
		intolerable := int64(0)
		for t := range n.Spec.Taints {
			if taint := &n.Spec.Taints[t]; taint.Effect == corev1.TaintEffectPreferNoSchedule && !schedulinghelper.TolerationsTolerateTaint(klog.Background(), tolerations, taint, true) {
				intolerable++
			}
		}
		f.taints = append(f.taints, intolerable)
		if preferred != nil {
			f.nodes = append(f.nodes, preferred.Score(n))
		}
		f.images = append(f.images, x.imageScore(p, k))
	}
	x.softSpreads(i, f)
	x.podTerms(i, f)
	return f
}

// softSpreads adds the soft topology spread constraints of a pod, or else the default ones.
func (x *Scheduler) softSpreads(i int, f *preferences) {
	p := x.sample(i)
	constraints := p.Spec.TopologySpreadConstraints
	f.strict = len(constraints) > 0
	var common labels.Selector
	if len(constraints) == 0 {
		if common = x.defaultSelector(p); f.packs || common == nil {
			return
		}
		constraints = defaultSpread
	}
	for k := range constraints {
		t := &constraints[k]
		if t.WhenUnsatisfiable != corev1.ScheduleAnyway {
			continue
		}
		s := common
		if s == nil {
			var err error
			if s, err = selector(t.LabelSelector, p.Labels, t.MatchLabelKeys, nil); err != nil {
				continue
			}
		}
		q := softSpread{domain: x.domain(t.TopologyKey), hosts: t.TopologyKey == hostname, skew: int64(t.MaxSkew)}
		if !s.Empty() { // one that takes everything counts nothing
			q.others = x.matching(func(o *corev1.Pod) bool { return o.Namespace == p.Namespace && s.Matches(labels.Set(o.Labels)) })
			q.rest = x.resting(func(o *corev1.Pod) bool {
				return o.DeletionTimestamp == nil && o.Namespace == p.Namespace && s.Matches(labels.Set(o.Labels))
			})
		}
		var err error
		if q.counted, err = x.v.eligible(x.v.jobs[i].pods[0], t, nil); err != nil {
			continue
		}
		f.spread = append(f.spread, q)
	}
}

// defaultSelector returns which pods the default spreading counts for a pod: those that the services and the controller
// that select it select, too. If the controller wasn't given, these are the pods with the pod's labels. nil: it isn't
// spread.
func (x *Scheduler) defaultSelector(p *corev1.Pod) labels.Selector {
	all := labels.NewSelector()
	kind, name := owned(p)
	found := false
	for k := range x.in.Cluster.Selecting {
		o := &x.in.Cluster.Selecting[k]
		if o.Metadata.Namespace != p.Namespace || o.Kind != "Service" && (o.Kind != kind || o.Metadata.Name != name) {
			continue
		}
		s, err := o.selector()
		if err != nil || s == nil || o.Kind == "Service" && !s.Matches(labels.Set(p.Labels)) {
			continue
		}
		found = found || o.Kind != "Service"
		requirements, _ := s.Requirements()
		all = all.Add(requirements...)
	}
	if (kind == "ReplicaSet" || kind == "StatefulSet" || kind == "ReplicationController") && !found {
		for key, value := range p.Labels {
			if !strings.HasPrefix(key, "statefulset.kubernetes.io/") && !strings.HasPrefix(key, "apps.kubernetes.io/") && key != "controller-revision-hash" && !strings.HasPrefix(key, "topology.kubernetes.io/") {
				more, _ := labels.SelectorFromSet(labels.Set{key: value}).Requirements()
				all = all.Add(more...)
			}
		}
	}
	if all.Empty() {
		return nil
	}
	return all
}

// matching returns the jobs with pods that takes accepts.
func (x *Scheduler) matching(takes func(*corev1.Pod) bool) (all []int) {
	for i := range x.v.jobs {
		if takes(x.sample(i)) {
			all = append(all, i)
		}
	}
	return all
}

// resting counts the pods of no job that are taken, on each node; nil if there are none.
func (x *Scheduler) resting(takes func(*corev1.Pod) bool) []int64 {
	var all []int64
	for node, pods := range x.v.residents {
		for _, o := range pods {
			if takes(o) {
				if all == nil {
					all = make([]int64, len(x.used))
				}
				all[x.v.nodes[node]]++
			}
		}
	}
	return all
}

// podTerms adds the preferences for nodes by the pods on them: the pod's own, and the ones of existing pods for it.
func (x *Scheduler) podTerms(i int, f *preferences) {
	p := x.sample(i)
	add := func(term *corev1.PodAffinityTerm, of *corev1.Pod, weight int64, others []int, rest []int64) {
		d := x.domain(term.TopologyKey)
		for _, j := range others {
			f.terms = append(f.terms, weighted{domain: d, job: j, weight: weight})
		}
		if rest != nil {
			f.terms = append(f.terms, weighted{domain: d, job: -1, rest: rest, weight: weight})
		}
	}
	eachTerm(p, func(term *corev1.PodAffinityTerm, weight int64, required bool) {
		if required {
			return
		}
		takes := func(o *corev1.Pod) bool { yes, err := x.v.takes(term, p, o); return yes && err == nil }
		add(term, p, weight, x.matching(takes), x.resting(takes))
	})
	for j := range x.v.jobs {
		o := x.sample(j)
		eachTerm(o, func(term *corev1.PodAffinityTerm, weight int64, _ bool) {
			if yes, err := x.v.takes(term, o, p); yes && err == nil {
				add(term, o, weight, []int{j}, nil)
			}
		})
	}
	for node, pods := range x.v.residents {
		for _, o := range pods {
			eachTerm(o, func(term *corev1.PodAffinityTerm, weight int64, _ bool) {
				if yes, err := x.v.takes(term, o, p); yes && err == nil {
					rest := make([]int64, len(x.used))
					rest[x.v.nodes[node]] = 1
					add(term, o, weight, nil, rest)
				}
			})
		}
	}
}

// eachTerm calls yield for the affinity terms of a pod that count in scores, with their weights.
func eachTerm(p *corev1.Pod, yield func(term *corev1.PodAffinityTerm, weight int64, required bool)) {
	a := p.Spec.Affinity
	if a == nil {
		return
	}
	if a.PodAffinity != nil {
		for k := range a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[k]
			yield(&t.PodAffinityTerm, int64(t.Weight), false)
		}
		for k := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			yield(&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[k], hardPods, true)
		}
	}
	if a.PodAntiAffinity != nil {
		for k := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[k]
			yield(&t.PodAffinityTerm, -int64(t.Weight), false)
		}
	}
}

// image is the known data of an image. Its size is the first node's, as kube-scheduler has it.
type image struct {
	size  int64
	nodes map[int]bool
}

// imagesOf returns the images that nodes have, by name.
func imagesOf(nodes []corev1.Node) map[string]*image {
	all := map[string]*image{}
	for k := range nodes {
		for _, i := range nodes[k].Status.Images {
			for _, name := range i.Names {
				if all[name] == nil {
					all[name] = &image{size: i.SizeBytes, nodes: map[int]bool{}}
				}
				all[name].nodes[k] = true
			}
		}
	}
	return all
}

// imageScore is the score of ImageLocality: the sizes of the pod's images that a node has, less where few nodes have
// them.
func (x *Scheduler) imageScore(p *corev1.Pod, h int) int64 {
	if len(x.images) == 0 {
		return 0
	}
	sum, containers := int64(0), int64(0)
	count := func(name string) {
		containers++
		if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
			name += ":latest"
		}
		if i := x.images[name]; i != nil && i.nodes[h] {
			sum += int64(float64(i.size) * (float64(len(i.nodes)) / float64(len(x.used))))
		}
	}
	for k := range p.Spec.InitContainers {
		count(p.Spec.InitContainers[k].Image)
	}
	for k := range p.Spec.Containers {
		count(p.Spec.Containers[k].Image)
	}
	for k := range p.Spec.Volumes {
		if i := p.Spec.Volumes[k].Image; i != nil {
			count(i.Reference)
		}
	}
	highest := largestImages * containers
	if containers == 0 || highest <= smallestImages {
		return 0
	}
	return most * (min(max(sum, smallestImages), highest) - smallestImages) / (highest - smallestImages)
}
