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
	f := &preferences{needs: usageOf(p), packs: slices.Contains(x.v.Packs, schedulerOf(p)), cordoned: toleratesCordon(p)}
	f.taints = x.intolerable(p)
	f.images = x.imageScores(p)
	var preferred *nodeaffinity.PreferredSchedulingTerms
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
		if terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution); err == nil {
			preferred = terms
		}
	}
	for k := range x.in.Cluster.Nodes {
		if preferred != nil {
			f.nodes = append(f.nodes, preferred.Score(&x.in.Cluster.Nodes[k]))
		}
	}
	x.softSpreads(i, f)
	x.podTerms(i, f)
	return f
}

// intolerable counts for each node the taints of it that a pod would rather avoid. Pods with the same tolerations share
// the counts.
func (x *Scheduler) intolerable(p *corev1.Pod) []int64 {
	key := tolerationsKey(p.Spec.Tolerations)
	if all, known := x.likes.taints[key]; known {
		return all
	}
	var tolerations []corev1.Toleration
	for _, t := range p.Spec.Tolerations {
		if t.Effect == "" || t.Effect == corev1.TaintEffectPreferNoSchedule {
			tolerations = append(tolerations, t)
		}
	}
	all := make([]int64, len(x.in.Cluster.Nodes))
	for k := range all {
		n := &x.in.Cluster.Nodes[k]
		for t := range n.Spec.Taints {
			if taint := &n.Spec.Taints[t]; taint.Effect == corev1.TaintEffectPreferNoSchedule && !schedulinghelper.TolerationsTolerateTaint(klog.Background(), tolerations, taint, true) {
				all[k]++
			}
		}
	}
	x.likes.taints[key] = all
	return all
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
			q.others = x.matching(s, func(o *corev1.Pod) bool { return o.Namespace == p.Namespace })
			q.rest = x.resting(s, func(o *corev1.Pod) bool { return o.DeletionTimestamp == nil && o.Namespace == p.Namespace })
		}
		var err error
		if q.counted, err = x.eligible(x.v.jobs[i].pods[0], t); err != nil {
			continue
		}
		f.spread = append(f.spread, q)
	}
}

// eligible is the converter's for a soft constraint. Pods with the same selectors and tolerations share the nodes.
func (x *Scheduler) eligible(p *pod, t *corev1.TopologySpreadConstraint) ([]bool, error) {
	key := mustJSON([]any{p.Spec.NodeSelector, t.NodeAffinityPolicy, t.NodeTaintsPolicy})
	if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		key += mustJSON(a.NodeAffinity)
	}
	if t.NodeTaintsPolicy != nil {
		key += tolerationsKey(p.Spec.Tolerations)
	}
	if all, known := x.likes.counted[key]; known {
		return all, nil
	}
	all, err := x.v.eligible(p, t, nil)
	if err == nil {
		x.likes.counted[key] = all
	}
	return all, err
}

// defaultSelector returns which pods the default spreading counts for a pod: those that the services and the controller
// that select it select, too. If the controller wasn't given, these are the pods with the pod's labels. nil: it isn't
// spread.
func (x *Scheduler) defaultSelector(p *corev1.Pod) labels.Selector {
	all := labels.NewSelector()
	kind, name := owned(p)
	found := false
	for _, o := range x.likes.selecting[p.Namespace] {
		s := o.taken
		if o.Kind != "Service" && (o.Kind != kind || o.Metadata.Name != name) {
			continue
		}
		if s == nil || o.Kind == "Service" && !s.Matches(labels.Set(p.Labels)) {
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

// matching returns the jobs with pods that a selector takes, of those that count.
func (x *Scheduler) matching(s labels.Selector, counts func(*corev1.Pod) bool) (all []int) {
	x.v.byLabels.matching(s, func(i int) {
		if counts(x.sample(i)) {
			all = append(all, i)
		}
	})
	return all
}

// resting counts the pods of no job that a selector takes, of those that count, on each node; nil if there are none.
func (x *Scheduler) resting(s labels.Selector, counts func(*corev1.Pod) bool) (all []int64) {
	x.likes.resting.matching(s, func(k int) {
		if o := &x.likes.residents[k]; counts(o.Pod) {
			if all == nil {
				all = make([]int64, len(x.used))
			}
			all[o.node]++
		}
	})
	return all
}

// podTerms adds the preferences for nodes by the pods on them: the pod's own, and the ones of existing pods for it.
func (x *Scheduler) podTerms(i int, f *preferences) {
	p := x.sample(i)
	eachTerm(p, func(term *corev1.PodAffinityTerm, weight int64, required bool) {
		if required {
			return
		}
		s, namespace, err := x.v.scope(term, p)
		if err != nil {
			return
		}
		d, counts := x.domain(term.TopologyKey), func(o *corev1.Pod) bool { return namespace(o.Namespace) }
		for _, j := range x.matching(s, counts) {
			f.terms = append(f.terms, weighted{domain: d, job: j, weight: weight})
		}
		if rest := x.resting(s, counts); rest != nil {
			f.terms = append(f.terms, weighted{domain: d, job: -1, rest: rest, weight: weight})
		}
	})
	for _, k := range x.likes.byTerms.taking(p.Labels) {
		if t := &x.likes.terms[k]; t.namespace(p.Namespace) {
			f.terms = append(f.terms, weighted{domain: x.domain(t.key), job: t.job, rest: t.rest, weight: t.weight})
		}
	}
}

// likes holds what the preferences of all jobs are made of, and those that were made. The schedulers of an instance share
// it, as none of it depends on where the jobs' pods are.
type likes struct {
	jobs      []*preferences // of each job, made when it is asked for
	domains   map[string]*domain
	images    map[string]*image
	taints    map[string][]int64 // see intolerable
	scores    map[string][]int64 // see imageScores
	counted   map[string][]bool  // see eligible
	selecting map[string][]taking
	residents []resident
	resting   *labelIndex // of the residents
	terms     []termOf
	byTerms   *selectorIndex // of the terms
}

// taking is a controller or service with its selector.
type taking struct {
	*Selecting
	taken labels.Selector
}

// resident is a pod of no job.
type resident struct {
	*corev1.Pod
	node int
}

// termOf is an affinity term of existing pods that counts in scores: of a job's, or of equal ones of no job, with their
// number on each node.
type termOf struct {
	key       string
	weight    int64
	namespace func(string) bool
	job       int // -1: of no job
	rest      []int64
}

// likesOf collects what preferences are made of. O(nodes + pods + terms).
func (v *converter) likesOf() *likes {
	x := &likes{jobs: make([]*preferences, len(v.jobs)), domains: map[string]*domain{}, images: imagesOf(v.c.Nodes), taints: map[string][]int64{},
		scores: map[string][]int64{}, counted: map[string][]bool{}, selecting: map[string][]taking{}, byTerms: &selectorIndex{}}
	for k := range v.c.Selecting {
		o := &v.c.Selecting[k]
		if s, err := o.selector(); err == nil && s != nil {
			x.selecting[o.Metadata.Namespace] = append(x.selecting[o.Metadata.Namespace], taking{o, s})
		}
	}
	var sets []labels.Set
	for k := range v.c.Nodes {
		for _, p := range v.residents[v.c.Nodes[k].Name] {
			x.residents, sets = append(x.residents, resident{p, k}), append(sets, p.Labels)
		}
	}
	x.resting = newLabelIndex(sets)
	add := func(t *corev1.PodAffinityTerm, weight int64, of *corev1.Pod, job int, rest []int64) {
		if s, namespace, err := v.scope(t, of); err == nil {
			x.byTerms.add(s)
			x.terms = append(x.terms, termOf{t.TopologyKey, weight, namespace, job, rest})
		}
	}
	for j, g := range v.jobs {
		eachTerm(g.pods[0].Pod, func(t *corev1.PodAffinityTerm, weight int64, _ bool) { add(t, weight, g.pods[0].Pod, j, nil) })
	}
	known := map[string][]int64{}
	for _, o := range x.residents {
		eachTerm(o.Pod, func(t *corev1.PodAffinityTerm, weight int64, _ bool) {
			key := mustJSON([]any{t, weight, o.Namespace, o.Labels})
			if known[key] == nil {
				known[key] = make([]int64, len(v.c.Nodes))
				add(t, weight, o.Pod, -1, known[key])
			}
			known[key][o.node]++
		})
	}
	return x
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

// imageScores returns the scores of ImageLocality of all nodes. Pods with the same images share them.
func (x *Scheduler) imageScores(p *corev1.Pod) []int64 {
	var names []string
	for k := range p.Spec.InitContainers {
		names = append(names, p.Spec.InitContainers[k].Image)
	}
	for k := range p.Spec.Containers {
		names = append(names, p.Spec.Containers[k].Image)
	}
	for k := range p.Spec.Volumes {
		if i := p.Spec.Volumes[k].Image; i != nil {
			names = append(names, i.Reference)
		}
	}
	key := strings.Join(names, "\n")
	all, known := x.likes.scores[key]
	if !known {
		all = make([]int64, len(x.in.Cluster.Nodes))
		for h := range all {
			all[h] = x.imageScore(names, h)
		}
		x.likes.scores[key] = all
	}
	return all
}

// imageScore is the score of ImageLocality: the sizes of the pod's images that a node has, less where few nodes have
// them.
func (x *Scheduler) imageScore(images []string, h int) int64 {
	if len(x.likes.images) == 0 {
		return 0
	}
	sum, containers := int64(0), int64(0)
	count := func(name string) {
		containers++
		if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
			name += ":latest"
		}
		if i := x.likes.images[name]; i != nil && i.nodes[h] {
			sum += int64(float64(i.size) * (float64(len(i.nodes)) / float64(len(x.used))))
		}
	}
	for _, name := range images {
		count(name)
	}
	highest := largestImages * containers
	if containers == 0 || highest <= smallestImages {
		return 0
	}
	return most * (min(max(sum, smallestImages), highest) - smallestImages) / (highest - smallestImages)
}
