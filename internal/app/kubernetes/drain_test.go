// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// played is a cluster with controllers that recreate an evicted pod. Its scheduler places the pod by the simulation,
// or, one time in so many as strays states, on any node that will do.
type played struct {
	t       *testing.T
	c       *kubernetes.Cluster
	rng     *rand.Rand
	strays  int
	made    int
	lost    map[int]int // of each budget, evicted and not replaced
	evicted int
	closed  map[string]bool
	stop    func() // called at each eviction

	bars    func(pod *corev1.Pod, node string) bool // no plan knows that the scheduler doesn't place the pod there
	refused int                                     // so many evictions are refused first
	ends    time.Duration                           // what evicted pods take to end; their successors are made then
	sick    bool                                    // successors don't become ready
	after   func()                                  // called after each eviction
	killed  bool                                    // nothing is done any more

	lease  *coordinationv1.Lease
	leases int // versions of it
}

var errKilled = errors.New("killed")

func (p *played) Read(context.Context) (*kubernetes.Cluster, error) {
	if p.killed {
		return nil, errKilled
	}
	for k := range p.c.Pods {
		if x := &p.c.Pods[k]; p.ends > 0 && x.DeletionTimestamp != nil && !time.Now().Before(x.DeletionTimestamp.Time) {
			x.DeletionTimestamp = nil
			p.succeed(x)
		}
	}
	p.schedule()
	clear(p.lost) // all that can be replaced is
	c := *p.c
	c.Nodes, c.Pods = append([]corev1.Node(nil), c.Nodes...), append([]corev1.Pod(nil), c.Pods...)
	return &c, nil
}

func (p *played) Cordon(_ context.Context, on bool, nodes ...string) error {
	if p.killed {
		return errKilled
	}
	for _, node := range nodes {
		found := false
		for k := range p.c.Nodes {
			if n := &p.c.Nodes[k]; n.Name == node {
				n.Spec.Unschedulable, p.closed[node], found = on, on, true
				if n.Annotations = maps.Clone(n.Annotations); on {
					metav1.SetMetaDataAnnotation(&n.ObjectMeta, kubernetes.Mark, "a test")
				} else {
					delete(n.Annotations, kubernetes.Mark)
				}
			}
		}
		if !found {
			return fmt.Errorf("there is no node %q", node)
		}
	}
	return nil
}

func (p *played) Evict(_ context.Context, pod *corev1.Pod) error {
	namespace, name := pod.Namespace, pod.Name
	if p.stop != nil {
		p.stop()
	}
	if p.killed {
		return errKilled
	}
	if p.refused != 0 {
		p.refused--
		return fmt.Errorf("%w: disruption budget web", kubernetes.ErrRefused)
	}
	if p.after != nil {
		defer p.after()
	}
	in, err := kubernetes.Convert(p.c, kubernetes.Options{})
	if err != nil {
		return err
	}
	budgets := in.Budgets[namespace+"/"+name]
	for _, b := range budgets {
		if p.lost[b] >= int(p.c.Budgets[b].Status.DisruptionsAllowed) {
			return kubernetes.ErrRefused
		}
	}
	for k := range p.c.Pods {
		if x := &p.c.Pods[k]; x.Namespace == namespace && x.Name == name {
			if x.OwnerReferences == nil {
				p.t.Errorf("%s/%s is evicted, and nobody makes it again", namespace, name)
			}
			for _, b := range budgets {
				p.lost[b]++
			}
			if p.evicted++; p.ends > 0 {
				x.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(p.ends)}
				return nil
			}
			p.succeed(x)
			p.schedule()
			return nil
		}
	}
	return kubernetes.ErrGone
}

// Lease writes as an API server does: each write is of the version that was read, and makes another one.
func (p *played) Lease(_ context.Context, verb string, l *coordinationv1.Lease) error {
	switch {
	case p.killed:
		return errKilled
	case verb == "create" && p.lease != nil, verb != "create" && p.lease != nil && verb != "get" && l.ResourceVersion != p.lease.ResourceVersion:
		return kubernetes.ErrTaken
	case verb != "create" && p.lease == nil:
		return kubernetes.ErrGone
	case verb == "delete":
		p.lease = nil
		return nil
	case verb != "get":
		p.leases++
		p.lease = l.DeepCopy()
		p.lease.ResourceVersion = fmt.Sprint(p.leases)
	}
	*l = *p.lease.DeepCopy()
	return nil
}

// succeed turns a pod into its successor.
func (p *played) succeed(x *corev1.Pod) {
	p.made++
	x.Name, x.Spec.NodeName, x.Status.Phase = fmt.Sprintf("%s-%d", x.Name, p.made), "", corev1.PodPending
	if p.sick {
		x.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	}
}

// schedule places the waiting pods, one after another.
func (p *played) schedule() {
	in, err := kubernetes.Convert(p.c, kubernetes.Options{Packs: []string{"packing-scheduler"}})
	if err != nil {
		p.t.Fatal(err)
	}
	x := kubernetes.NewScheduler(in)
	for i := range in.Pods {
		for k, name := range in.Pods[i] {
			if x.State.Plan[i][k] >= 0 {
				continue
			}
			nodes := x.Choice(i, k)
			if len(nodes) > 0 && p.strays > 0 && p.rng.IntN(p.strays) == 0 {
				nodes = x.Feasible(i, k)
			}
			if p.bars != nil {
				nodes = slices.DeleteFunc(slices.Clone(x.Feasible(i, k)), func(h int) bool { return p.barred(name, p.c.Nodes[h].Name) })
			}
			if len(nodes) == 0 {
				continue
			}
			h := nodes[p.rng.IntN(len(nodes))]
			x.Place(i, k, h)
			for n := range p.c.Pods {
				if q := &p.c.Pods[n]; q.Namespace+"/"+q.Name == name {
					q.Spec.NodeName, q.Status.Phase = p.c.Nodes[h].Name, corev1.PodRunning
				}
			}
		}
	}
}

func (p *played) barred(pod, node string) bool {
	return slices.ContainsFunc(p.c.Pods, func(x corev1.Pod) bool { return x.Namespace+"/"+x.Name == pod && p.bars(&x, node) })
}

func waits(c *kubernetes.Cluster) (n int) {
	for k := range c.Pods {
		if c.Pods[k].Spec.NodeName == "" {
			n++
		}
	}
	return n
}

// A drain ends near the least that budgets allow, whatever the scheduler does with the pods. No pod waits that didn't,
// no more nodes are in use than before at any time, and nodes that stay cordoned are empty.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name   string
		strays int
		least  int
		slow   bool
	}{{"small-default-churned", 0, 5, false}, {"small-packing-churned", 0, 5, false}, {"small-default-churned", 3, 5, false}, {"medium-default-churned", 0, 37, true},
		{"medium-default-churned", 5, 37, true}, {"medium-packing-churned", 0, 37, true}, {"karpenter-4-churned-before", 0, 14, true}} {
		t.Run(fmt.Sprint(x.name, x.strays), func(t *testing.T) {
			t.Parallel()
			if x.slow && testing.Short() {
				t.Skip("slow")
			}
			p := &played{t: t, c: export(t, x.name), strays: x.strays, rng: rand.New(rand.NewPCG(1, 2)), lost: map[int]int{}, closed: map[string]bool{}}
			before := waits(p.c)
			d := require.Value(kubernetes.Drain(t.Context(), p,
				kubernetes.DrainOptions{Options: kubernetes.Options{Prices: kubernetes.PriceByNode,
					Packs: []string{"packing-scheduler"}},
					Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}, Allow: kubernetes.Harms, Patience: time.Millisecond, Poll: time.Millisecond, Log: t.Logf}))(t)
			p.schedule()
			if n := waits(p.c); n > before {
				t.Errorf("%d pods wait, %d did before", n, before)
			}
			if d.After.Nodes > x.least+1 || d.After.Nodes > d.Before.Nodes {
				t.Errorf("%d nodes in use, %d before; the least is %d", d.After.Nodes, d.Before.Nodes, x.least)
			}
			used := map[string]bool{}
			for k := range p.c.Pods {
				if owners := p.c.Pods[k].OwnerReferences; len(owners) == 0 || owners[0].Kind != "DaemonSet" {
					used[p.c.Pods[k].Spec.NodeName] = true
				}
			}
			for node, closed := range p.closed {
				if closed && used[node] {
					t.Errorf("%s stays cordoned and has pods", node)
				}
			}
			if x.strays == 0 && int64(d.Evicted) != d.Planned {
				t.Errorf("%d pods evicted, the first plan moves %d", d.Evicted, d.Planned)
			}
			t.Logf("%d -> %d nodes, %d evicted, %d refused, %d steps", d.Before.Nodes, d.After.Nodes, d.Evicted, d.Refused, d.Steps)
		})
	}
}

// A drain that is interrupted opens the nodes again.
func TestDrainInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := &played{t: t, c: export(t, "small-default-churned"), rng: rand.New(rand.NewPCG(1, 2)), lost: map[int]int{}, closed: map[string]bool{}}
	p.stop = cancel
	_, err := kubernetes.Drain(ctx, p, kubernetes.DrainOptions{Options: kubernetes.Options{Prices: kubernetes.PriceByNode, Packs: []string{"packing-scheduler"}},
		Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}, Allow: kubernetes.Harms, Patience: time.Second, Poll: time.Millisecond, Log: t.Logf})
	require.Refused(t, "error", err, context.Canceled, "")
	for node, closed := range p.closed {
		if closed {
			t.Errorf("%s stays cordoned", node)
		}
	}
}

// drained drains a cluster by a clock that stands still while anything is done, so that only waiting takes time.
type drained struct {
	*kubernetes.Drained
	err  error
	log  string
	took time.Duration
}

func (p *played) drain(t *testing.T) (d drained) {
	t.Helper()
	p.t, p.lost, p.rng = t, map[int]int{}, rand.New(rand.NewPCG(1, 2))
	if p.closed == nil {
		p.closed = map[string]bool{}
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		d.Drained, d.err = kubernetes.Drain(t.Context(), p, kubernetes.DrainOptions{Options: byNode, Allow: []string{"single-replica", "same-step", "cordoned"},
			Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}, Patience: 10 * time.Second, Poll: time.Second,
			Log: func(format string, args ...any) { d.log += fmt.Sprintf(format, args...) + "\n" }})
		d.took = time.Since(begin)
	})
	return d
}

// inUse returns the nodes that hold pods, and those that are cordoned.
func (p *played) inUse() (used, closed []string) {
	for k := range p.c.Pods {
		if node := p.c.Pods[k].Spec.NodeName; node != "" {
			used = append(used, node)
		}
	}
	for k := range p.c.Nodes {
		if p.c.Nodes[k].Spec.Unschedulable {
			closed = append(closed, p.c.Nodes[k].Name)
		}
	}
	slices.Sort(used)
	return slices.Compact(used), closed
}

// three is a cluster of which n1 and n2 can be emptied: two pods of web are there, and n3 has room for both.
func three() *madeUp {
	return nodesOf("n1", "n2", "n3").pod("web-0", "web", "ReplicaSet", "n1", nil).pod("web-1", "web", "ReplicaSet", "n2", nil).
		pod("fixed", "fixed", "", "n3", func(p *corev1.Pod) { p.OwnerReferences = nil })
}

// Whatever happens in a cluster, a drain waits for its own pods alone, ends, and leaves no node in use cordoned. The planted
// faults that each case finds are beside it.
func TestDrainDisturbed(t *testing.T) {
	for name, x := range map[string]struct {
		d       *madeUp
		change  func(*played)
		used    string
		closed  string
		evicted int
		err     string
		log     string // has all of these, parted by "|"
		not     string
		took    time.Duration // at least, and less than one more patience
		check   func(drained) string
	}{
		"nothing": {used: "n3", closed: "n1 n2", evicted: 2, not: "stays|not as simulated"},
		// Without stays it is evicted five times.
		"comes back": {change: func(p *played) {
			p.bars = func(x *corev1.Pod, node string) bool { return strings.HasPrefix(x.Name, "web-0") && node != "n1" }
		}, used: "n1 n3", closed: "n2", evicted: 2, took: 10 * time.Second, log: "wait for a node: shop/web-0-|stays: shop/ReplicaSet/web on n1, it came back",
			not: "plan 2", check: func(d drained) string { return strings.Join(d.Stayed, "") }},
		// If the first cordoned node is opened, it takes one patience more.
		"comes back to n2": {d: fixed(nodesOf("n1", "n2", "n3")).pod("web-0", "web", "ReplicaSet", "n1", nil).pod("db-0", "db", "StatefulSet", "n2", nil).each(func(p *corev1.Pod) {
			if p.Name == "fixed" {
				p.Spec.NodeName = "n3"
			}
		}), change: func(p *played) {
			p.bars = func(x *corev1.Pod, node string) bool { return strings.HasPrefix(x.Name, "db-0") && node != "n2" }
		}, used: "n2 n3", closed: "n1", evicted: 2, took: 10 * time.Second, not: "uncordon n1"},
		// With the patience from the eviction on, nodes are opened.
		"ends slowly": {d: three().each(func(p *corev1.Pod) { grace := int64(60); p.Spec.TerminationGracePeriodSeconds = &grace }),
			change: func(p *played) {
				p.ends = 50 * time.Second
				var begin time.Time
				p.after = func() { begin = time.Now() }
				p.bars = func(*corev1.Pod, string) bool { return time.Since(begin) < 55*time.Second }
			}, used: "n3", closed: "n1 n2", evicted: 2, took: 55 * time.Second, not: "uncordon|stays"},
		// Without a limit it waits for ever.
		"doesn't end": {change: func(p *played) { p.ends = 1000 * time.Hour }, used: "n1 n2 n3", closed: "n1 n2", evicted: 2, took: 40 * time.Second, log: "it doesn't end"},
		// Its pod stays for who deletes it to evict, and finds room then.
		"a node is being deleted": {change: func(p *played) { p.c.Nodes[0].DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, used: "n3", closed: "n2", evicted: 1, not: "stays|not as simulated"},
		// If all waiting pods count, three nodes are opened one after another.
		"scaled in mid-drain": {change: func(p *played) {
			p.after = func() {
				if p.evicted == 1 {
					x := p.c.Pods[len(p.c.Pods)-1].DeepCopy()
					x.Name, x.Spec.NodeName, x.Status.Phase = "web-9", "", corev1.PodPending
					x.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("99")
					p.c.Pods = append(p.c.Pods, *x)
				}
			}
		}, used: "n3", closed: "n1 n2", evicted: 2, not: "uncordon"},
		// If all empty nodes are cordoned at the end, a pod waits for one of them for good.
		"scaled beyond the nodes in use": {d: three().each(func(p *corev1.Pod) {
			if p.Name == "fixed" {
				p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("13")
			}
		}), change: func(p *played) {
			p.after = func() {
				if p.evicted == 2 {
					x := p.c.Pods[len(p.c.Pods)-1].DeepCopy()
					x.Name, x.Spec.NodeName, x.Status.Phase = "web-9", "", corev1.PodPending
					x.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("4")
					p.c.Pods = append(p.c.Pods, *x)
				}
			}
		}, used: "n1 n3", closed: "n2", evicted: 2, not: "-1 could"},
		// If the controller's number of before is asked for, it fails.
		"scaled down in mid-drain": {change: func(p *played) {
			p.after = func() {
				if p.evicted == 2 {
					p.c.Pods = slices.DeleteFunc(p.c.Pods, func(x corev1.Pod) bool { return strings.HasPrefix(x.Name, "web-1") })
				}
			}
		}, used: "n3", closed: "n1 n2", evicted: 2, took: 10 * time.Second, not: "uncordon"},
		// Without a second look at conditions, more are evicted.
		"isn't ready": {change: func(p *played) { p.sick = true }, used: "n3", closed: "", evicted: 2, took: 10 * time.Second,
			err: "successors of evicted pods don't run: after 10s these aren't ready, where the pods before them were: shop/web-0-1, shop/web-1-2"},
		// An eviction that is not tried again leaves n1 in use, at first.
		"refused for a while": {change: func(p *played) { p.refused = 4 }, used: "n3", closed: "n1 n2", evicted: 2, took: 4 * time.Second,
			log: "refused, to be tried again for 10s: shop/web-0: the eviction is refused: disruption budget web", not: "not as simulated",
			check: func(d drained) string { return map[bool]string{true: "one"}[d.Refused == 1] }},
		// Without stays it is asked for in five plans.
		"refused for good": {change: func(p *played) { p.refused = -1 }, used: "n1 n2 n3", closed: "", evicted: 0, took: 20 * time.Second, log: "its eviction was refused for 10s", not: "plan 2"},
		// If new nodes aren't kept, n9 is emptied and cordoned.
		"a node joins": {change: func(p *played) {
			p.after = func() {
				if p.evicted == 1 {
					x := p.c.Nodes[0].DeepCopy()
					x.Name, x.Labels["kubernetes.io/hostname"], x.Spec.Unschedulable, x.Annotations = "n9", "n9", false, nil
					p.c.Nodes = append(p.c.Nodes, *x)
				}
			}
			p.bars = func(_ *corev1.Pod, node string) bool { return p.evicted == 2 && node != "n9" }
		}, used: "n3 n9", closed: "n1 n2", evicted: 2, log: "joined: n9|not as simulated", check: func(d drained) string { return strings.Join(d.Joined, "") }},
		// Opening a node that is gone fails.
		"an emptied node is removed": {change: func(p *played) {
			p.after = func() {
				if p.evicted == 2 {
					p.c.Nodes = p.c.Nodes[1:]
				}
			}
		}, used: "n3", closed: "n2", evicted: 2},
		// Nodes in use that others have cordoned are named; marked ones are the drain's.
		"others' cordons and marks": {d: three().pod("web-2", "web", "ReplicaSet", "n4", nil).node("n4", false).node("n5", true).node("n6", true), change: func(p *played) {
			for k := range p.c.Nodes {
				switch n := &p.c.Nodes[k]; n.Name {
				case "n3": // which others have opened
					n.Annotations = map[string]string{kubernetes.Mark: "a drain that was killed"}
				case "n5":
					n.Annotations = nil
				}
			}
		}, used: "n3", closed: "n1 n2 n4 n5 n6", evicted: 3, log: "take over n6, cordoned by a drain that was killed",
			check: func(d drained) string {
				return map[bool]string{true: "n5 isn't marked"}[strings.Join(d.Idle, "") == "n5"]
			}},
		// If its own list of cordons is believed, n1 is cordoned again, or named as cordoned.
		"others open a node": {change: func(p *played) {
			p.after = func() {
				if p.evicted == 2 {
					p.c.Nodes[0].Spec.Unschedulable = false
				}
			}
			p.bars = func(_ *corev1.Pod, node string) bool { return node == "n1" }
		}, used: "n3", closed: "n2", evicted: 2, log: "opened by others: n1", not: "\ncordon n1\n", check: func(d drained) string { return strings.Join(d.Opened, "") }},
		// If others' cordons are taken over, n2 is marked, and opened when it is in use.
		"others cordon a node in use": {change: func(p *played) {
			p.after = func() {
				if p.evicted == 1 {
					p.c.Nodes[2].Spec.Unschedulable = true
				}
			}
		}, used: "n1 n3", closed: "n2 n3", evicted: 2, took: 10 * time.Second, log: "wait for a node", check: func(d drained) string { return strings.Join(d.Closed, "") }},
		// If a replica set's pods are waited for, it takes the patience.
		"a rollout in mid-drain": {d: three().each(func(p *corev1.Pod) {
			if p.OwnerReferences != nil {
				p.Labels["pod-template-hash"], p.OwnerReferences[0].Name = "a", "web-a"
			}
		}), change: func(p *played) {
			p.after = func() {
				p.each(func(x *corev1.Pod) {
					if x.OwnerReferences != nil && x.Labels["pod-template-hash"] == "a" {
						x.Labels, x.OwnerReferences = maps.Clone(x.Labels), slices.Clone(x.OwnerReferences)
						x.Name, x.Labels["pod-template-hash"], x.OwnerReferences[0].Name = strings.Replace(x.Name, "web-", "web-b-", 1), "b", "web-b"
					}
				})
			}
		}, used: "n3", closed: "n1 n2", evicted: 2, not: "stays"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if x.d == nil {
				x.d = three()
			}
			p := &played{t: t, c: x.d.cluster(t)}
			if x.change != nil {
				x.change(p)
			}
			d := p.drain(t)
			used, closed := p.inUse()
			if strings.Join(used, " ") != x.used || strings.Join(closed, " ") != x.closed || p.evicted != x.evicted {
				t.Errorf("in use %v, want %s; cordoned %v, want %s; %d evicted, want %d", used, x.used, closed, x.closed, p.evicted, x.evicted)
			}
			for k := range p.c.Nodes {
				if _, marked := p.c.Nodes[k].Annotations[kubernetes.Mark]; marked && !p.c.Nodes[k].Spec.Unschedulable {
					t.Errorf("%s is open and has the mark", p.c.Nodes[k].Name)
				}
			}
			if d.err == nil && x.err != "" || d.err != nil && d.err.Error() != x.err {
				t.Errorf("%v, want %q", d.err, x.err)
			}
			if d.took < x.took || d.took >= x.took+10*time.Second {
				t.Errorf("it took %v, want %v", d.took, x.took)
			}
			for _, line := range strings.Split(x.log, "|") {
				if !strings.Contains(d.log, line) {
					t.Errorf("the log has no %q", line)
				}
			}
			for _, line := range strings.Split(x.not, "|") {
				if line != "" && strings.Contains(d.log, line) {
					t.Errorf("the log has %q", line)
				}
			}
			if x.check != nil && x.check(d) == "" {
				t.Errorf("the account is empty: %+v", *d.Drained)
			}
			if t.Failed() {
				t.Log(d.log)
			}
		})
	}
}

// each changes all pods.
func (d *madeUp) each(change func(*corev1.Pod)) *madeUp {
	for _, x := range d.items {
		if p, ok := x.(*corev1.Pod); ok {
			change(p)
		}
	}
	return d
}

// node adds a node of 4 CPUs, cordoned by a drain of before if it is marked.
func (d *madeUp) node(name string, marked bool) *madeUp {
	n := nodesOf(name, "other").items[0].(map[string]any)
	if marked {
		n["spec"] = map[string]any{"unschedulable": true}
		n["metadata"].(map[string]any)["annotations"] = map[string]string{kubernetes.Mark: "a drain that was killed"}
	}
	d.items = append(d.items, n)
	return d
}

// What a killed drain leaves cordoned, the next one takes over, and Undo opens; of others' nodes neither opens any.
func TestDrainKilled(t *testing.T) {
	t.Parallel()
	killed := func() *played {
		p := &played{c: three().node("n4", false).cluster(t)}
		p.after = func() { p.killed = true }
		for k := range p.c.Pods { // n4 is in use, too
			if x := &p.c.Pods[k]; x.Name == "fixed" {
				y := x.DeepCopy()
				y.Name, y.Spec.NodeName = "other", "n4"
				y.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("4")
				p.c.Pods = append(p.c.Pods, *y)
			}
		}
		if d := p.drain(t); !errors.Is(d.err, errKilled) || len(p.closed) != 2 {
			t.Fatalf("%v, cordoned: %v", d.err, p.closed)
		}
		p.after, p.killed = nil, false
		p.c.Nodes[3].Spec.Unschedulable = true
		return p
	}
	p := killed()
	for k := range p.c.Pods { // no pod can move any more
		p.c.Pods[k].OwnerReferences = nil
	}
	d := p.drain(t)
	if _, closed := p.inUse(); d.err != nil || strings.Join(closed, " ") != "n1 n4" || strings.Join(d.Closed, "") != "n4 (by others)" || strings.Join(d.Empty, "") != "n1" {
		t.Errorf("the next drain: %v, cordoned: %v, %+v\n%s", d.err, closed, *d.Drained, d.log)
	}
	p = killed()
	undo := func() (opened []string, err error) { // it waits for the killed one's lease to end
		synctest.Test(t, func(t *testing.T) { opened, err = kubernetes.Undo(t.Context(), p, "a test", t.Logf) })
		return opened, err
	}
	if opened, err := undo(); err != nil || strings.Join(opened, " ") != "n1 n2" {
		t.Errorf("undo: %v, %v", opened, err)
	}
	if _, closed := p.inUse(); strings.Join(closed, " ") != "n4" {
		t.Errorf("cordoned after undo: %v", closed)
	}
	if opened, err := undo(); err != nil || len(opened) != 0 {
		t.Errorf("undo again: %v, %v", opened, err)
	}
	// A drain that may not begin leaves them as they are, and names those in use.
	p = killed()
	p.c.Nodes[3].Spec.Unschedulable = false
	p.each(func(x *corev1.Pod) {
		if strings.HasPrefix(x.Name, "web-1") {
			x.OwnerReferences[0].Kind = "Job"
		}
	})
	d = p.drain(t)
	if _, closed := p.inUse(); !errors.Is(d.err, kubernetes.ErrHarm) || strings.Join(closed, " ") != "n1 n2" || len(d.Closed) != 1 || !strings.HasPrefix(d.Closed[0], "n2 (by an earlier run") {
		t.Errorf("a drain that may not begin: %v, cordoned: %v, %+v", d.err, closed, *d.Drained)
	}
}

func (p *played) each(change func(*corev1.Pod)) {
	for k := range p.c.Pods {
		change(&p.c.Pods[k])
	}
}

// Nodes that are empty today are named first, and a drain cordons them without a move.
func TestEmptyToday(t *testing.T) {
	t.Parallel()
	d := nodesOf("n1", "n2", "n3").pod("fixed", "fixed", "", "n3", func(p *corev1.Pod) { p.OwnerReferences = nil }).pod("agent-1", "agent", "DaemonSet", "n1", nil)
	in, p := d.plan(t)
	want := "           2 nodes are empty today (but for daemon sets): n1, n2\n"
	for _, text := range []string{p.Text(false), p.Text(true), in.Bound(t.Context()).Text()} {
		if lines := strings.SplitAfterN(text, "\n", 3); lines[1] != want {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
	k := &played{c: d.cluster(t)}
	r := k.drain(t)
	if _, closed := k.inUse(); r.err != nil || k.evicted > 0 || strings.Join(closed, " ") != "n1 n2" || strings.Join(r.Empty, " ") != "n1 n2" {
		t.Errorf("%v, %d evicted, cordoned: %v, %+v", r.err, k.evicted, closed, *r.Drained)
	}
}

// A node that is empty today and that the plan needs, for a pod that waits or as room, isn't one that is saved.
func TestEmptyNodesInUse(t *testing.T) {
	t.Parallel()
	d := nodesOf("n1", "n2", "n3").pod("a", "a", "ReplicaSet", "n1", nil).pod("big", "big", "ReplicaSet", "", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("8")
	})
	prices := require.Value(kubernetes.ReadPrices([]byte("type,USD/h\nm4,0.2\n"), kubernetes.Rate{}))(t)
	for k := range 3 {
		d.items[k].(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]string)["node.kubernetes.io/instance-type"] = "m4"
	}
	in := require.Value(kubernetes.Convert(d.cluster(t), kubernetes.Options{Prices: prices}))(t)
	p := require.Value(kubernetes.MakePlan(t.Context(), in, gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
	require.Same(t, "the nodes that are empty today", "[n2] 2000 0.2 [n3]", fmt.Sprint(p.Empty, p.EmptyCost, p.Money.EmptyHour, p.Filled))
	require.Says(t, "the plan", p.Text(false), "(but for daemon sets): n2\n", "(but for daemon sets), and needed then: n3\n", "saved      0 nodes, 0 USD/h (0 %), and 1 empty node, 0.2 USD/h\n")
	spare := require.Value(kubernetes.Convert(nodesOf("n1", "n2").pod("a", "a", "ReplicaSet", "n1", nil).cluster(t), kubernetes.Options{Prices: kubernetes.PriceByNode, Room: []string{"node"}}))(t)
	p = require.Value(kubernetes.MakePlan(t.Context(), spare, gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
	require.Same(t, "the nodes with room for the loss of one", "[] 2", fmt.Sprint(p.Empty, p.Then.Nodes))
}

// The script of a plan waits for successors of what it evicts alone, tries refused evictions again, and opens the nodes
// that it has cordoned if it fails or is stopped.
func TestCommands(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	in, p := three().plan(t)
	text := require.Value(in.Commands(p, []string{"same-step"}))(t)
	const one, both = "ReplicaSet/other,,False\nReplicaSet/web,,True\n", "ReplicaSet/other,,False\nReplicaSet/web,,True\nReplicaSet/web,,True\n"
	for name, x := range map[string]struct {
		evicting string // what an eviction does, in the shell
		closed   string
		err      string
		said     string
	}{
		"all goes well":     {evicting: "cp one pods", closed: "n1 n2", err: "<nil>"},
		"refused first":     {evicting: `[ -e refused ] || { touch refused; echo "Error from server (TooManyRequests): disruption budget" >&2; exit 1; }`, closed: "n1 n2", err: "<nil>", said: "tried again: "},
		"an eviction fails": {evicting: "echo no such pod >&2; exit 1", err: "exit status 1", said: "no such pod"},
		"Ctrl-C":            {evicting: "kill -INT $SCRIPT", err: "exit status 130"},
		"TERM":              {evicting: "kill -TERM $SCRIPT", err: "exit status 143"},
		"a lost terminal":   {evicting: "kill -HUP $SCRIPT", err: "exit status 129"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for name, text := range map[string]string{"plan.sh": text, "pods": both, "one": one, "both": both, "sleep": "#!/bin/sh\ncp both pods\n",
				"kubectl": "#!/bin/sh\ncase \"$1 $7\" in\n'patch '*'\"unschedulable\":true'*) touch \"closed-$3\" ;;\npatch*) rm \"closed-$3\" ;;\nget*) cat pods ;;\ncreate*) " + x.evicting + " ;;\nesac\n"} {
				require.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755))
			}
			c := exec.CommandContext(t.Context(), "sh", "-c", "SCRIPT=$$; export SCRIPT; exec sh plan.sh")
			c.Dir, c.Env = folder, append(os.Environ(), "PATH="+folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
			out, err := c.CombinedOutput()
			if pods := require.Value(os.ReadFile(filepath.Join(folder, "pods")))(t); err == nil && string(pods) != both {
				t.Error("it doesn't wait for the successors")
			}
			closed := require.Value(filepath.Glob(filepath.Join(folder, "closed-*")))(t)
			for k := range closed {
				_, closed[k], _ = strings.Cut(filepath.Base(closed[k]), "-")
			}
			if fmt.Sprint(err) != x.err || strings.Join(closed, " ") != x.closed || !strings.Contains(string(out), x.said) {
				t.Errorf("%v, want %s; cordoned %v, want %q\n%s", err, x.err, closed, x.closed, out)
			}
		})
	}
}

// kubectl's answers: a patch that is refused is made without the mark, and said so; nodes that are gone are open; evictions
// are refused, of pods that are gone, or fail.
func TestKubectl(t *testing.T) {
	folder := standIn(t, `#!/bin/sh
echo "$*" >>"$(dirname "$0")/said"
case "$*" in
"patch node n2 "*) echo 'admission webhook denied the request' ;;
*n3*) echo 'Error from server (NotFound): nodes "n3" not found' ;;
*busy*) echo "Error from server (TooManyRequests): Cannot evict pod as it would violate the pod's disruption budget." ;;
*gone*) echo 'Error from server (NotFound): pods "gone" not found' ;;
*twice*) echo 'Error from server (InternalError): This pod has more than one PodDisruptionBudget' ;;
*other*) echo 'Error from server (Conflict): Precondition failed: UID in precondition: 1, UID in object meta: 2' ;;
*) exit 0 ;;
esac >&2
exit 1
`)
	k, ctx := kubernetes.Kubectl{By: "a test"}, t.Context()
	if err := k.Cordon(ctx, true, "n1", "n2"); !errors.Is(err, kubernetes.ErrUnmarked) || !strings.Contains(err.Error(), "n2: kubectl patch: exit status 1: admission webhook") {
		t.Errorf("no mark on n2: %v", err)
	}
	said := string(require.Value(os.ReadFile(filepath.Join(folder, "said")))(t))
	want := `patch node n1 --type merge -p {"metadata":{"annotations":{"gapwise.dev/cordoned-by":"a test"}},"spec":{"unschedulable":true}}`
	if !strings.HasPrefix(said, want+"\n") || !strings.HasSuffix(said, "\ncordon n2\n") {
		t.Errorf("%s\nwant %s", said, want)
	}
	require.OK(t, k.Cordon(ctx, false, "n1", "n2", "n3"))
	if err := k.Cordon(ctx, true, "n3"); err == nil || errors.Is(err, kubernetes.ErrUnmarked) {
		t.Errorf("a node that is gone: %v", err)
	}
	for pod, want := range map[string]error{"busy": kubernetes.ErrRefused, "twice": kubernetes.ErrRefused, "gone": kubernetes.ErrGone,
		"other": kubernetes.ErrGone, "web": nil} {
		if err := k.Evict(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: pod}}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", pod, err, want)
		}
	}
}
