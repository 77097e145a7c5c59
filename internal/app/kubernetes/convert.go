// SPDX-License-Identifier: MIT

package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/gapwise/gapwise/model"
)

// Instance is a cluster as an instance, with the jobs of its pods.
type Instance struct {
	*model.Consolidation
	Cluster *Cluster
	// Pods names the pod of each task of each job, "namespace/name".
	Pods [][]string
	// Pins explains why the tasks of a pinned job can't move, by the job's id.
	Pins map[string]string
	// Budgets lists the budgets of each pod, by "namespace/name": numbers of Cluster.Budgets.
	Budgets map[string][]int
	// Survivors are the workloads that every plan has survive a loss, with that (see Options).
	Survivors map[string]string
	// Held are the preferences that every plan keeps, by their ids (see Options); nil: none.
	Held map[string]bool
	// Cordoned are the nodes that take pods which tolerate that alone.
	Cordoned map[string]bool

	before    *Instance  // without the nodes that are bought; nil: none is
	outUnit   int64      // the cost of a waiting pod of the least rank
	converter *converter // the data that the instance leaves out, for the simulation of kube-scheduler
}

// Prices are the prices of nodes.
type Prices struct {
	// Unit names it: "vCPU", "nodes", "0.0001 USD/h".
	Unit string
	// Of returns the price of a node.
	Of func(*corev1.Node) (int64, error)
	// Rate is what so many Units of cost are one of; without a currency if that isn't known.
	Rate  Rate
	Units float64
	// Notes are what is assumed of the prices.
	Notes []string
}

// PriceByVCPU counts the vCPUs of a node's capacity, rounded up, or its allocatable ones if they are more, as with
// nodes that Karpenter's KWOK provider makes.
var PriceByVCPU = Prices{Unit: "vCPU", Of: func(n *corev1.Node) (int64, error) {
	q, least := n.Status.Capacity[corev1.ResourceCPU], n.Status.Allocatable[corev1.ResourceCPU]
	return max(q.Value(), least.Value()), nil
}}

// PriceByNode counts nodes.
var PriceByNode = Prices{Unit: "nodes", Of: func(*corev1.Node) (int64, error) { return 1, nil }}

// Options configure how a cluster is read.
type Options struct {
	Prices Prices
	// Keep names nodes that stay in every plan.
	Keep []string
	// Packs names the scheduler profiles that fill nodes (MostAllocated alone, without balance and default spreading).
	Packs []string
	// Schedulers names schedulers of pods that decide as kube-scheduler does; pods of others, but for those of Packs, stay.
	Schedulers []string
	// Offers are nodes that can be bought; nil: none.
	Offers *Offers
	// Stays explains why the pods of a controller (see controller) stay on a node, by both.
	Stays map[[2]string]string
	// Slack is the share of CPU, memory and storage of each node that is to stay free, from 0 to below 1.
	Slack float64
	// Room names pods that aren't there for which a plan keeps room: see Rooms.
	Room []string
	// Mend asks for the fewest moves after which no rule is broken and no node has less than its pods ask for, on the nodes
	// in use today, and as few others as that needs.
	Mend bool
	// MaxNodes bounds the nodes in use; 0: any number.
	MaxNodes int
	// Use is what pods really use; nil: not known. With ByUse they count by that and a share of it as Headroom, not by their
	// requests.
	Use      Use
	ByUse    bool
	Headroom float64
	// Floor is what containers count for that ask for nothing and have no limit; nil: nothing.
	Floor corev1.ResourceList
	// Survive is the loss that workloads which survive it today are to survive after: "zone" (that of a node also counts)
	// or "node"; empty: "zone", but nothing in a small cluster (see small). Survivors, if not nil, are these workloads with
	// the loss, by names as in a plan's risks.
	Survive   string
	Survivors map[string]string
	// Hold names what of today a plan is to hold: "preferences" are those of soft topology spread and of preferred
	// anti-affinity which are kept today, or those of Held, if it isn't nil.
	Hold []string
	Held map[string]bool
	// SameStep lets several pods of a workload without a budget go at once; else one goes at a time.
	SameStep bool
	// Without leaves out some rules: see RuleNames.
	Without  []string
	guards   []string // nodes for whose kinds an empty one is kept: see guard
	launched int      // how many nodes, the last ones, are bought: they aren't there today
	// Asks, if not nil, is called with each question before it is solved, and how many of its values are one of the unit
	// that it names.
	Asks func(question string, per float64)
}

// ask reports a question.
func (o Options) ask(question string, per float64) {
	if o.Asks != nil {
		o.Asks(question, per)
	}
}

// hostname is the label that each node has for itself.
const hostname = corev1.LabelHostname

// converter makes an Instance.
type converter struct {
	Options
	c         *Cluster
	in        *Instance
	nodes     map[string]int
	pods      []*pod
	jobs      []*group
	budgets   map[string]*selectorIndex // of the namespaces, with the numbers of their budgets
	budgetAt  map[string][]int
	spaces    map[string]labels.Set
	names     []string // of resources
	sets      map[string]string
	starters  map[string]bool             // see findStarters
	others    map[string]bool             // see othersToo
	companies map[*corev1.Pod][]string    // see company
	roomJobs  map[string]bool             // see present
	leaves    map[string]string           // the node of each pod that leaves it, by "namespace/name"
	claimAt   map[string]int              // in c.Claims, by "namespace/name"
	volumeAt  map[string]int              // in c.Volumes, by name
	limits    map[string]map[string]int64 // of volumes, by driver and node
	users     map[string][]attachment     // pods of each claim that have a node, by "namespace/name"
	inline    map[string][]inline         // pods of each disk that is named without a claim
	mounts    int                         // claims of all pods
	declared  bool                        // a node declares features
	asked     map[any]corev1.ResourceList // see requests
	domains   map[string]string           // see domain
	byLabels  *labelIndex                 // of the jobs
	likes     *likes                      // of the schedulers, made with the first
	// residents are the pods of each node that aren't jobs: they go with their node.
	residents map[string][]*corev1.Pod
	// places are the nodes and, behind them, a node of each offer as it would be (templates).
	places    []*corev1.Node
	templates []*template
}

// pod is one that counts: neither ended nor of a daemon set.
type pod struct {
	*corev1.Pod
	id       string
	asks     corev1.ResourceList // as kube-scheduler sees it
	requests corev1.ResourceList // as the plan counts it
	pin      string              // why it can't move, "" if it can
	held     string              // why it goes on waiting, "" if it may start
	room     string              // why room is kept for it, which isn't there (see Rooms), or not for long; "" of others
	budgets  []int
	refused  []string // why a place refuses it, "" if it doesn't
	allowed  []bool   // nodes on which kube-scheduler may place it by selectors, taints and volumes
	places   int      // the number of allowed as filterAll has it
}

// group is a set of pods that are alike: a job.
type group struct {
	id   string
	pods []*pod
}

// IdleError says that a cluster has no pods but those of daemon sets, so that there is nothing to plan.
type IdleError struct {
	Nodes []string // without control planes
}

func (e *IdleError) Error() string { return fmt.Sprintf("%v cluster: %s", model.ErrInvalid, e.Text()) }

// Unwrap returns model.ErrInvalid.
func (*IdleError) Unwrap() error { return model.ErrInvalid }

// Text is the answer that the cluster needs no search for.
func (e *IdleError) Text() string {
	text := "there are no pods but those of daemon sets, so that no pod needs "
	switch len(e.Nodes) {
	case 0:
		return text + "any node but the control planes"
	case 1:
		return text + "the node: " + e.Nodes[0]
	}
	return fmt.Sprintf("%sany of %d nodes: %s", text, len(e.Nodes), strings.Join(e.Nodes, ", "))
}

// idle returns the error of a cluster without other pods.
func idle(c *Cluster) error {
	e := &IdleError{}
	for k := range c.Nodes {
		if !controlPlane(&c.Nodes[k]) {
			e.Nodes = append(e.Nodes, c.Nodes[k].Name)
		}
	}
	return e
}

// Convert makes the instance. The error wraps model.ErrInvalid, and is an IdleError for a cluster without pods that count.
func Convert(c *Cluster, o Options) (*Instance, error) {
	if o.Prices.Of == nil {
		o.Prices = PriceByVCPU
	}
	if len(c.Nodes) == 0 && o.Offers == nil {
		return nil, fmt.Errorf("%w cluster: it has no nodes; give them, as by kubectl get %s -A -o json, or --offers FILE of nodes to buy for the pods that wait", model.ErrInvalid, Kinds)
	}
	v := &converter{Options: o, c: c, nodes: map[string]int{}, spaces: map[string]labels.Set{}, sets: map[string]string{}, others: map[string]bool{}, companies: map[*corev1.Pod][]string{},
		budgets: map[string]*selectorIndex{}, budgetAt: map[string][]int{}, asked: map[any]corev1.ResourceList{}, domains: map[string]string{}}
	v.in = &Instance{Consolidation: &model.Consolidation{Name: "cluster", PriceUnit: o.Prices.Unit}, Cluster: c, Pins: map[string]string{}, Budgets: map[string][]int{}, Cordoned: map[string]bool{}}
	for k := range c.Nodes {
		v.nodes[c.Nodes[k].Name] = k
		v.places = append(v.places, &c.Nodes[k])
	}
	for k := range c.Namespaces {
		v.spaces[c.Namespaces[k].Name] = c.Namespaces[k].Labels
	}
	for k := range c.Budgets {
		s, err := metav1.LabelSelectorAsSelector(c.Budgets[k].Spec.Selector)
		if err != nil {
			return nil, fmt.Errorf("%w cluster: the budget %s/%s: %w", model.ErrInvalid, c.Budgets[k].Namespace, c.Budgets[k].Name, err)
		}
		space := c.Budgets[k].Namespace
		if v.budgets[space] == nil {
			v.budgets[space] = &selectorIndex{}
		}
		v.budgets[space].add(s)
		v.budgetAt[space] = append(v.budgetAt[space], k)
	}
	v.leave()
	v.indexVolumes()
	v.declared = slices.ContainsFunc(c.Nodes, func(n corev1.Node) bool { return len(n.Status.DeclaredFeatures) > 0 })
	v.in.Account = model.NewAccount("cluster", "Kubernetes")
	v.in.Account.Took(float64(len(c.Nodes)), "nodes")
	needless := map[string]bool{"deployments": !slices.Contains(o.Room, roomSurge) && !slices.Contains(o.Room, roomHPA),
		"horizontalpodautoscalers": !slices.Contains(o.Room, roomHPA), "daemonsets": o.Offers == nil}
	if refused := slices.DeleteFunc(slices.Clone(c.Refused), func(kind string) bool { return needless[kind] }); len(refused) > 0 {
		v.in.Account.NotModelled.Say("the cluster gives no %s (for want of rights, or an old server), so that what they tell isn't known",
			strings.Join(refused, ", "))
	}
	for _, note := range o.Prices.Notes {
		v.in.Account.Assumed.Say("%s", note)
	}
	v.residents = v.read()
	v.in.Account.Took(float64(len(v.pods)), "pods")
	if v.Use != nil && len(v.pods) > 0 && !slices.ContainsFunc(v.pods, func(p *pod) bool { return v.Use[p.id] != nil }) {
		return nil, fmt.Errorf("%w use: it measures none of the %d pods; give what the same cluster's pods use", model.ErrInvalid, len(v.pods))
	}
	if len(v.pods) == 0 {
		return nil, idle(c)
	}
	v.rooms()
	if err := v.hosts(); err != nil {
		return nil, err
	}
	if err := v.offered(); err != nil {
		return nil, err
	}
	if o.MaxNodes > 0 {
		v.in.Limits = append(v.in.Limits, model.HostLimit{ID: "most nodes", Most: int64(o.MaxNodes)})
	}
	if err := v.filterAll(); err != nil {
		return nil, err
	}
	v.told()
	v.strangers()
	v.group()
	v.byLabels = v.jobLabels()
	v.addJobs()
	if err := v.rules(); err != nil {
		return nil, err
	}
	v.spares()
	v.in.converter = v
	if err := v.in.Validate(); err != nil {
		return nil, v.named(err)
	}
	return v.in, nil
}

// named returns the error of an instance with the cluster's names in the place of numbers.
func (v *converter) named(err error) error {
	text := regexp.MustCompile(`(hosts|jobs|offers)\[(\d+)\]`).ReplaceAllStringFunc(err.Error(), func(at string) string {
		kind, number, _ := strings.Cut(strings.TrimSuffix(at, "]"), "[")
		k, wrong := strconv.Atoi(number)
		switch {
		case wrong != nil:
		case kind == "hosts" && k < len(v.in.Hosts):
			return "node " + v.in.Hosts[k].ID
		case kind == "jobs" && k < len(v.in.Jobs):
			return "pods of " + v.in.Jobs[k].ID
		case kind == "offers" && k < len(v.in.Offers):
			return "offer " + v.in.Offers[k].ID
		}
		return at
	})
	return fmt.Errorf("%w cluster: %s", model.ErrInvalid, strings.TrimPrefix(text, model.ErrInvalid.Error()+" consolidation instance: "))
}

func (v *converter) without(what string) bool { return slices.Contains(v.Without, what) }

// read sorts the pods: those that count, and those that stay with their node or are about to
// go, which it returns by node.
func (v *converter) read() map[string][]*corev1.Pod {
	residents := map[string][]*corev1.Pod{}
	for k := range v.c.Pods {
		p := &v.c.Pods[k]
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		if _, there := v.nodes[p.Spec.NodeName]; !there && p.Spec.NodeName != "" {
			v.in.Account.LeftOut.Add(p.Name, "pods on nodes that weren't given")
			continue
		}
		switch owner := metav1.GetControllerOf(p); {
		case owner != nil && owner.Kind == "DaemonSet":
			residents[p.Spec.NodeName] = append(residents[p.Spec.NodeName], p)
			continue
		case owner != nil && owner.Kind == "Node", p.Annotations[corev1.MirrorPodAnnotationKey] != "":
			residents[p.Spec.NodeName] = append(residents[p.Spec.NodeName], p)
			continue
		case p.DeletionTimestamp != nil:
			v.in.Account.Assumed.Add(p.Name, "pods being deleted, which keep their room and don't hold their node")
			residents[p.Spec.NodeName] = append(residents[p.Spec.NodeName], p)
			continue
		case p.Spec.NodeName == "" && len(p.Spec.SchedulingGates) > 0:
			v.in.Account.LeftOut.Add(p.Name, "pods behind scheduling gates")
			continue
		}
		x := &pod{Pod: p, id: p.Namespace + "/" + p.Name}
		x.requests = v.requests(p)
		v.assume(p)
		if !v.ignoresBudgets(p) {
			x.budgets = v.budgetsOf(p)
		}
		v.in.Budgets[x.id] = x.budgets
		if p.Spec.NodeName != "" {
			x.pin = v.pinOf(x)
			v.succeeded(x)
		} else {
			x.held = v.unknown(p)
		}
		if node := v.leaves[x.id]; node != "" {
			v.succeeded(x)
			x.room, x.held, x.pin = roomLeaving, cmp.Or(x.held, x.pin), ""
			v.in.Account.Remarks.Add(x.id, "pods on nodes being deleted, for which room is kept elsewhere")
		}
		x.asks, x.requests = x.requests, v.weighed(p, x.requests)
		v.pods = append(v.pods, x)
	}
	return residents
}

// requests returns what a pod takes of its node, also while it is resized in place, with the volumes to be attached.
func (v *converter) requests(p *corev1.Pod) corev1.ResourceList {
	type kind struct{ containers, starters, status, starting, conditions any }
	alike := p.Spec.Overhead == nil && p.Spec.Resources == nil && p.Status.Resources == nil && p.Status.AllocatedResources == nil && len(claims(p)) == 0
	key := kind{first(p.Spec.Containers), first(p.Spec.InitContainers), first(p.Status.ContainerStatuses), first(p.Status.InitContainerStatuses), first(p.Status.Conditions)}
	if all, known := v.asked[key]; alike && known {
		return all
	}
	all := resourcehelper.PodRequests(p, requestsOptions)
	if alike {
		v.asked[key] = all
	}
	for name, n := range v.attaches(p) {
		all[corev1.ResourceName(name)] = *resource.NewQuantity(n, resource.DecimalSI)
	}
	return all
}

// first returns the address of a list's first element: lists that pods share (see slimPod) have the same.
func first[T any](all []T) *T {
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

var requestsOptions = resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}

// succeeded raises the requests of a pod that was resized in place to what its successor asks for, by the template of its
// controller. Without one it stays.
func (v *converter) succeeded(p *pod) {
	if !resized(p.Pod) || p.pin != "" {
		return
	}
	c := v.controller(p.Pod)
	if c == nil || c.Spec.Template == nil {
		p.pin = "it was resized in place, and its successor asks for what its template says; give its controller, too"
		return
	}
	next := resourcehelper.PodRequests(&corev1.Pod{Spec: c.Spec.Template.Spec}, resourcehelper.PodResourcesOptions{})
	all := maps.Clone(p.requests)
	for name, q := range next {
		if old, ok := all[name]; !ok || q.Cmp(old) > 0 {
			all[name] = q
			v.in.Account.Assumed.Add(p.id, "pods resized in place, counted with what their template asks for")
		}
	}
	p.requests = all
}

// ignoresBudgets reports whether the eviction API evicts a pod whatever its budgets allow. It does if the pod hasn't
// begun, or if it isn't ready and its budget says so: always, or as long as enough others are healthy.
func (v *converter) ignoresBudgets(p *corev1.Pod) bool {
	all := v.budgetsOf(p)
	if len(all) != 1 {
		return false // two refuse any
	}
	if p.Status.Phase == corev1.PodPending {
		return true
	}
	ready := slices.ContainsFunc(p.Status.Conditions, func(x corev1.PodCondition) bool { return x.Type == corev1.PodReady && x.Status == corev1.ConditionTrue })
	known := slices.ContainsFunc(p.Status.Conditions, func(x corev1.PodCondition) bool { return x.Type == corev1.PodReady })
	b := &v.c.Budgets[all[0]]
	if ready || !known {
		return false
	}
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

// budgetsOf returns the budgets that select a pod. A budget without a selector selects none.
func (v *converter) budgetsOf(p *corev1.Pod) (all []int) {
	x := v.budgets[p.Namespace]
	if x == nil {
		return nil
	}
	for _, k := range x.taking(p.Labels) {
		all = append(all, v.budgetAt[p.Namespace][k])
	}
	return all
}

// Annotations by which pods ask not to be evicted.
const (
	karpenterKeep  = "karpenter.sh/do-not-disrupt"
	karpenterKept  = "karpenter.sh/do-not-evict" // its name until 0.31
	autoscalerKeep = "cluster-autoscaler.kubernetes.io/safe-to-evict"
)

// Why pods can't be moved.
const (
	noEviction = " allows no eviction" // after the budget
	noVolume   = "its volume isn't known; give kubectl get pv,pvc, too"
	noCompany  = "no pod is there that its affinity asks for"
)

// pinOfBudget is the reason of pods that a budget keeps.
func pinOfBudget(b *policyv1.PodDisruptionBudget) string {
	return "budget " + b.Namespace + "/" + b.Name + noEviction
}

// pinOf explains why a pod can't be moved, "" if it can.
func (v *converter) pinOf(p *pod) string {
	if why := v.Stays[[2]string{controller(p.Pod), p.Spec.NodeName}]; why != "" {
		return why
	}
	if !v.without("pins") {
		switch {
		case metav1.GetControllerOf(p.Pod) == nil:
			if p.Annotations[autoscalerKeep] == "true" {
				return "no controller would make it again: it is safe to evict by its annotation, but would end"
			}
			return "no controller would make it again"
		case keeps(p.Annotations[karpenterKeep]):
			return "annotation " + karpenterKeep
		case p.Annotations[karpenterKept] == "true":
			return "annotation " + karpenterKept
		case p.Annotations[autoscalerKeep] == "false":
			return "annotation " + autoscalerKeep + ": false"
		}
	}
	if why := v.lost(p.Pod); why != "" && !v.without("pins") {
		return why
	}
	if why := v.unknown(p.Pod); why != "" {
		return why
	}
	switch n := &v.c.Nodes[v.nodes[p.Spec.NodeName]]; {
	case ends(n): // it isn't made again
		return "its node is being deleted"
	case !answers(n):
		return "its node isn't ready"
	}
	if v.without("budgets") {
		return ""
	}
	if len(p.budgets) > 1 {
		return fmt.Sprintf("%d budgets select it, so that evictions fail", len(p.budgets))
	}
	for _, k := range p.budgets {
		if b := &v.c.Budgets[k]; b.Status.DisruptionsAllowed == 0 {
			return pinOfBudget(b)
		}
	}
	return ""
}

// keeps reports whether an annotation asks to keep a pod: always, or for a duration from its start. When that ends isn't
// looked at: a plan is for later.
func keeps(value string) bool {
	d, err := time.ParseDuration(value)
	return value == "true" || err == nil && d > 0
}

// lost explains what the eviction of a Job's pod would end for good: an eviction counts as a failure. "" if it doesn't, or
// the Job wasn't given.
func (v *converter) lost(p *corev1.Pod) string {
	owner := metav1.GetControllerOf(p)
	if owner == nil || owner.Kind != "Job" {
		return ""
	}
	for k := range v.c.Jobs {
		x := &v.c.Jobs[k]
		if x.Name != owner.Name || x.Namespace != p.Namespace {
			continue
		}
		ignored := x.Spec.PodFailurePolicy != nil && slices.ContainsFunc(x.Spec.PodFailurePolicy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
			return r.Action == batchv1.PodFailurePolicyActionIgnore && slices.ContainsFunc(r.OnPodConditions, func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
				return c.Type == corev1.DisruptionTarget && c.Status != corev1.ConditionFalse
			})
		})
		if limit := x.Spec.BackoffLimit; limit != nil && x.Status.Failed >= *limit && !ignored {
			return "its eviction would fail its Job (backoffLimit)"
		}
	}
	return ""
}

// amount returns a quantity as a whole number: thousandths of a CPU, bytes, units, rounded up.
func amount(name corev1.ResourceName, list corev1.ResourceList) int64 {
	q := list[name]
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// resourceName names a resource with its unit.
func resourceName(name string) string {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU:
		return "cpu_m"
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return name + "_bytes"
	}
	return name
}

// ResourceWords names a resource of an instance as people do, without its unit.
func ResourceWords(name string) string {
	switch name {
	case "cpu_m":
		return "CPU"
	case string(corev1.ResourcePods):
		return "number of pods"
	}
	return strings.TrimSuffix(name, "_bytes")
}

// hosts makes a host of each node: its allocatable amounts less daemon sets and the like.
func (v *converter) hosts() error {
	needed := map[string]bool{}
	for _, p := range v.pods {
		for name, q := range p.requests {
			if !q.IsZero() {
				needed[string(name)] = true
			}
		}
	}
	needed[string(corev1.ResourcePods)] = true
	v.names = slices.SortedFunc(maps.Keys(needed), func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	for _, name := range v.names {
		v.in.Resources = append(v.in.Resources, resourceName(name))
	}
	for _, name := range v.Keep {
		if _, ok := v.nodes[name]; !ok {
			return fmt.Errorf("%w cluster: there is no node %q to keep", model.ErrInvalid, name)
		}
	}
	none, missing := map[string][]string{}, (*unpriced)(nil)
	for k := range v.c.Nodes {
		n := &v.c.Nodes[k]
		h := model.ConsolidationHost{ID: n.Name, Kept: !ends(n) && (slices.Contains(v.Keep, n.Name) || stays(n) != "" || !answers(n)), Closed: ends(n) || !answers(n) || v.Mend && n.Spec.Unschedulable}
		v.in.Cordoned[n.Name] = n.Spec.Unschedulable
		h.Capacity = v.capacity(n, v.residents[n.Name])
		price, err := v.Prices.Of(n)
		if errors.As(err, &missing) {
			none[missing.which] = append(none[missing.which], n.Name)
		} else if err != nil {
			return err
		}
		h.Price = price
		v.in.Hosts = append(v.in.Hosts, h)
	}
	return noPrices(none)
}

// capacity returns a node's allocatable amounts less some pods and the slack.
func (v *converter) capacity(n *corev1.Node, residents []*corev1.Pod) (all []int64) {
	taken := make([]int64, len(v.names))
	for _, p := range residents {
		list := v.weighed(p, v.requests(p))
		for r, name := range v.names {
			taken[r] += amount(corev1.ResourceName(name), list)
			if name == string(corev1.ResourcePods) {
				taken[r]++
			}
		}
	}
	for r, name := range v.names {
		has := amount(corev1.ResourceName(name), n.Status.Allocatable)
		if driver, ok := strings.CutPrefix(name, attached("")); ok {
			var limited bool
			if has, limited = v.limits[driver][n.Name]; !limited {
				has = int64(v.mounts) + 1 // all of them
			}
		}
		if slices.Contains(divisible, corev1.ResourceName(name)) {
			has -= int64(math.Ceil(v.Slack * float64(has)))
		}
		all = append(all, max(0, has-taken[r]))
	}
	return all
}

// divisible are the resources that can keep a share free.
var divisible = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// rank puts CPU and memory first.
func rank(name string) int {
	return slices.Index([]string{"zzz", string(corev1.ResourcePods), string(corev1.ResourceMemory), string(corev1.ResourceCPU)}, name) * -1
}

// group makes jobs of the pods that are alike for everything that counts.
func (v *converter) group() {
	byKey, names := map[string]*group{}, map[string]int{}
	for _, p := range v.pods {
		owner := strings.TrimSpace(workload(p.Pod) + " " + p.room)
		var requests []string
		for _, name := range v.names {
			requests = append(requests, fmt.Sprint(amount(corev1.ResourceName(name), p.requests)))
			if v.Floor != nil {
				requests = append(requests, fmt.Sprint(amount(corev1.ResourceName(name), p.asks)))
			}
		}
		labels := maps.Clone(p.Labels)
		for _, own := range []string{"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"} {
			delete(labels, own)
		}
		for key := range labels { // the label that kube-scheduler copies from the node
			if strings.HasPrefix(key, "topology.kubernetes.io/") {
				delete(labels, key)
			}
		}
		key := fmt.Sprintln(owner, requests, p.pin, p.held, p.Spec.NodeName == "", priorityOf(p.Pod), labels, p.budgets, p.places, mustJSON(p.Spec.Affinity), mustJSON(p.Spec.TopologySpreadConstraints),
			p.Spec.NodeSelector, ports(p.Pod), p.Spec.SchedulerName, mustJSON(p.Spec.Tolerations))
		g := byKey[key]
		if g == nil {
			g = &group{id: owner}
			if names[owner]++; names[owner] > 1 {
				g.id = fmt.Sprintf("%s#%d", owner, names[owner])
			}
			byKey[key] = g
			v.jobs = append(v.jobs, g)
		}
		g.pods = append(g.pods, p)
	}
}

// addJobs adds the jobs to the instance. Waiting pods may go on waiting, at a price above that of all nodes, including
// nodes to buy; the price is higher the higher their priority.
func (v *converter) addJobs() {
	all, ranks := int64(1), map[int32]int64{}
	for k := range v.in.Hosts {
		all += v.in.Hosts[k].Price
	}
	for k := range v.in.Offers {
		x := &v.in.Offers[k]
		all += x.Price * int64(min(x.Count, len(v.pods)))
	}
	var priorities []int32
	for _, g := range v.jobs {
		if p := g.pods[0]; p.Spec.NodeName == "" && p.room == "" {
			priorities = append(priorities, priorityOf(p.Pod))
		}
	}
	slices.Sort(priorities)
	priorities = slices.Compact(priorities)
	scale := int64(v.mostRooms()) + 1 // a waiting pod weighs more than all room
	for k, p := range priorities {
		ranks[p] = (int64(k) + 1) * scale
	}
	v.in.outUnit = max(1, min(all, mostLeaveOut/(scale*int64(max(1, len(priorities))))))
	for _, g := range v.jobs {
		p := g.pods[0]
		j := model.ConsolidationJob{ID: g.id, Tasks: len(g.pods), Pinned: p.pin != "", Needs: v.needs(p.requests)}
		var names []string
		for _, p := range g.pods {
			names = append(names, p.id)
			if p.Spec.NodeName != "" {
				j.CurrentHosts = append(j.CurrentHosts, p.Spec.NodeName)
			}
		}
		if j.Pinned {
			v.in.Pins[j.ID] = p.pin
		}
		if len(j.CurrentHosts) == 0 {
			cost := v.in.outUnit
			if p.room == "" {
				cost *= ranks[priorityOf(p.Pod)]
			}
			j.LeaveOutCost = &cost
		}
		if !v.Mend || !j.Pinned { // what can't move isn't to be mended
			j.Allowed = v.set(p.allowed)
		}
		v.in.Jobs, v.in.Pods = append(v.in.Jobs, j), append(v.in.Pods, names)
	}
}

// needs returns the amounts of a pod in the order of the resources.
func (v *converter) needs(list corev1.ResourceList) (all []int64) {
	for _, name := range v.names {
		need := amount(corev1.ResourceName(name), list)
		if name == string(corev1.ResourcePods) {
			need = 1
		}
		all = append(all, need)
	}
	return all
}

func priorityOf(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// set returns the id of the host set of some places, "" if it is all of them.
func (v *converter) set(nodes []bool) string {
	if !slices.Contains(nodes, false) {
		return ""
	}
	key := packed(nodes)
	if id, ok := v.sets[key]; ok {
		return id
	}
	id := fmt.Sprintf("nodes-%d", len(v.sets)+1)
	v.sets[key] = id
	s := model.HostSet{ID: id}
	for k, there := range nodes {
		switch {
		case !there:
		case k < len(v.in.Hosts):
			s.Hosts = append(s.Hosts, v.in.Hosts[k].ID)
		default:
			s.Offers = append(s.Offers, v.in.Offers[k-len(v.in.Hosts)].ID)
		}
	}
	v.in.HostSets = append(v.in.HostSets, s)
	return id
}

// mostLeaveOut is the largest leave-out cost that an instance may have.
const mostLeaveOut = 100_000_000
