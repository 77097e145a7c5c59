// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/problem/consolidation/planstate"
)

// Scheduler plays kube-scheduler 1.37 on a cluster: which nodes it may choose for a new pod, by its filters (the
// instance's rules) and the scores of its plugins with their default weights. Pods come and go by Place and Evict.
type Scheduler struct {
	State *planstate.State
	in    *Instance
	v     *converter
	// Closed are nodes that are cordoned in addition to the cluster's own.
	Closed []bool
	used   []usage // of each node
	room   []usage
	likes  *likes
	scored int // nodes so far
}

// usage is the requests of pods: as stated, and with kube-scheduler's assumptions for containers that state nothing.
type usage struct{ cpu, memory, assumedCPU, assumedMemory int64 }

func (u *usage) add(x usage, by int64) {
	u.cpu += by * x.cpu
	u.memory += by * x.memory
	u.assumedCPU += by * x.assumedCPU
	u.assumedMemory += by * x.assumedMemory
}

// domain holds the nodes' values of a label: values from 0, the last one for nodes without it.
type domain struct {
	of      []int32
	missing int32
}

// NewScheduler returns the scheduler of a cluster as it is. O(nodes + pods).
func NewScheduler(in *Instance) *Scheduler {
	c := view.OfConsolidation(schedulers(in.asked()), 0)
	x := &Scheduler{in: in, v: in.converter, State: planstate.Of(c, c.Today()), Closed: make([]bool, c.Existing), used: make([]usage, c.Existing), room: make([]usage, c.Existing),
		likes: in.converter.likes}
	if x.likes == nil {
		x.likes = x.v.likesOf()
		x.v.likes = x.likes
	}
	for h := range x.used {
		n := &in.Cluster.Nodes[h]
		x.room[h] = usage{cpu: amount(corev1.ResourceCPU, n.Status.Allocatable), memory: amount(corev1.ResourceMemory, n.Status.Allocatable)}
		for _, p := range x.v.residents[n.Name] {
			x.used[h].add(usageOf(p), 1)
		}
	}
	for i := range x.State.Plan {
		for _, h := range x.State.Plan[i] {
			if h >= 0 {
				x.used[h].add(x.preferencesOf(i).needs, 1)
			}
		}
	}
	return x
}

// Place puts task k of job i on node h, Evict takes it away.
func (x *Scheduler) Place(i, k, h int) {
	x.State.Add(i, k, h)
	if h < len(x.used) {
		x.used[h].add(x.preferencesOf(i).needs, 1)
	}
}

func (x *Scheduler) Evict(i, k int) {
	if h := x.State.Plan[i][k]; int(h) < len(x.used) {
		x.used[h].add(x.preferencesOf(i).needs, -1)
	}
	x.State.Remove(i, k)
}

// Feasible returns the nodes that pass kube-scheduler's filters for task k of job i, which has no node: a pod that is made
// again is a new one, also where it ran. A pinned one has no other node than that.
func (x *Scheduler) Feasible(i, k int) (all []int) {
	j := &x.State.C.Jobs[i]
	for h := range x.used {
		if j.Allowed.Has(h) && (!x.Closed[h] || x.preferencesOf(i).cordoned) && x.State.Fits(i, h) && (x.State.CanAnew(i, h) || j.Pinned && x.State.Can(i, k, h)) {
			all = append(all, h)
		}
	}
	return all
}

// Choice returns the nodes that kube-scheduler may choose for task k of job i, which has no node: the nodes of the
// highest score; it draws one of them. If there are more than a hundred nodes, it examines only a part of the feasible
// ones (see examined), from where it left off. Then Choice returns all nodes that can be the best of a part. O(nodes ×
// rules of the job + tasks of the jobs that its preferences are about).
func (x *Scheduler) Choice(i, k int) []int {
	nodes := x.Feasible(i, k)
	return x.best(nodes, x.scores(i, nodes))
}

// best returns the nodes that may be the best of those examined.
func (x *Scheduler) best(nodes []int, scores []int64) (all []int) {
	sorted := slices.Clone(scores)
	slices.SortFunc(sorted, func(a, b int64) int { return cmp.Compare(b, a) })
	passed := max(0, len(nodes)-examined(len(x.used)))
	for n, h := range nodes {
		if scores[n] >= sorted[passed] {
			all = append(all, h)
		}
	}
	return all
}

// examined returns how many feasible nodes satisfy kube-scheduler in a cluster of n (numFeasibleNodesToFind of its
// schedule_one.go with percentageOfNodesToScore of 0). It is all of up to a hundred, else 50 % less one point for 125
// nodes, at least 5 % and a hundred.
func examined(n int) int {
	if n < 100 {
		return n
	}
	return max(100, n*max(5, 50-n/125)/100)
}

// usageOf returns the requests of a pod.
func usageOf(p *corev1.Pod) usage {
	list := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: true})
	assumed := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: true, NonMissingContainerRequests: assumedRequests})
	return usage{amount(corev1.ResourceCPU, list), amount(corev1.ResourceMemory, list), amount(corev1.ResourceCPU, assumed), amount(corev1.ResourceMemory, assumed)}
}

// domain returns the values of a label.
func (x *Scheduler) domain(key string) *domain {
	if d := x.likes.domains[key]; d != nil {
		return d
	}
	d, numbers := &domain{}, map[string]int32{}
	for k := range x.in.Cluster.Nodes {
		value, ok := x.in.Cluster.Nodes[k].Labels[key]
		n, seen := numbers[value]
		switch {
		case !ok:
			n = -1
		case !seen:
			n = int32(len(numbers))
			numbers[value] = n
		}
		d.of = append(d.of, n)
	}
	d.missing = int32(len(numbers))
	for k := range d.of {
		if d.of[k] < 0 {
			d.of[k] = d.missing
		}
	}
	x.likes.domains[key] = d
	return d
}

// sample returns a pod of a job: its pods are alike.
func (x *Scheduler) sample(i int) *corev1.Pod { return x.v.jobs[i].pods[0].Pod }

// preferencesOf returns the preferences for the pods of a job.
func (x *Scheduler) preferencesOf(i int) *preferences {
	if x.likes.jobs[i] == nil {
		x.likes.jobs[i] = x.preferences(i)
	}
	return x.likes.jobs[i]
}

// toleratesCordon reports whether a pod may be placed on cordoned nodes.
func toleratesCordon(p *corev1.Pod) bool {
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	return schedulinghelper.TolerationsTolerateTaint(klog.Background(), p.Spec.Tolerations, &cordon, true)
}

// owned returns the controller of a pod: its kind and name, both empty if it has none.
func owned(p *corev1.Pod) (kind, name string) {
	if o := metav1.GetControllerOf(p); o != nil {
		return o.Kind, o.Name
	}
	return "", ""
}
