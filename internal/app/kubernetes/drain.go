// SPDX-License-Identifier: MIT

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/text/words"
)

// ErrRefused is the error of an eviction that the cluster refuses now, by a budget.
var ErrRefused = errors.New("the eviction is refused")

// ErrLaunch is the error of a drain with a plan that buys nodes: no eviction launches them.
var ErrLaunch = errors.New("the plan needs nodes that a drain can't launch")

// Control is a drain's access to a cluster.
type Control interface {
	Read(ctx context.Context) (*Cluster, error)
	// Cordon lets no new pods on some nodes; with on false it does again.
	Cordon(ctx context.Context, on bool, nodes ...string) error
	// Evict asks for the eviction of a pod; the error is ErrRefused if a budget doesn't allow it.
	Evict(ctx context.Context, namespace, pod string) error
}

// DrainOptions configure how a plan is carried out.
type DrainOptions struct {
	Options Options
	Solve   gapwise.Options
	// Allow names Harms, and workloads, that don't stop it.
	Allow []string
	// Patience is how long a wave may take until its successors run, Poll how often is asked.
	Patience, Poll time.Duration
	// Steps bounds the steps, but for the steps of the plan that is being carried out; 0: a thousand.
	Steps int
	// Log receives each step in a line.
	Log func(format string, args ...any)
}

// Drained is the result of a drain.
type Drained struct {
	Before, After State
	Planned       int64 // moves of the first plan
	Plans, Steps  int
	Evicted       int
	Refused       int      // evictions that budgets refused, each time counted
	Empty         []string // nodes without pods that count, which stay cordoned: they can be given back
}

// Drain carries out plans, step by step. The nodes that a plan empties, and those that are empty, are cordoned first, so that
// no more nodes are in use than before. Evicted pods' successors go where the scheduler likes. So each step cordons the
// nodes that it would prefer, by the simulation of its choice, until the successors are ready. If then all is as it was
// simulated, the next step follows. Otherwise the cluster is planned again. It ends when no move saves anything, or
// nothing has become cheaper in four plans. If successors find no node in time, an emptied one is opened for them. If
// ctx ends, or something fails, the nodes that it has cordoned are opened again; otherwise only the ones that hold pods
// are. A plan that may harm running pods isn't carried out: ErrHarm.
func Drain(ctx context.Context, k Control, o DrainOptions) (*Drained, error) {
	d := &drain{Control: k, DrainOptions: o, cordoned: map[string]bool{}}
	if d.Steps == 0 {
		d.Steps = 1000
	}
	err := d.run(ctx)
	open := slices.DeleteFunc(d.list(), func(node string) bool { return err == nil && slices.Contains(d.result.Empty, node) })
	if len(open) > 0 {
		err = errors.Join(err, k.Cordon(context.WithoutCancel(ctx), false, open...))
		d.Log("uncordon %s", strings.Join(open, " "))
	}
	return &d.result, err
}

type drain struct {
	Control
	DrainOptions
	cordoned map[string]bool // by this drain
	result   Drained
}

// list returns the nodes that are cordoned, in order.
func (d *drain) list() (all []string) {
	for node, on := range d.cordoned {
		if on {
			all = append(all, node)
		}
	}
	slices.Sort(all)
	return all
}

// plan reads the cluster and plans; nodes that this drain has cordoned count as open.
func (d *drain) plan(ctx context.Context) (*Instance, *Plan, error) {
	c, err := d.Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	for k := range c.Nodes {
		if d.cordoned[c.Nodes[k].Name] {
			open(&c.Nodes[k])
		}
	}
	in, err := Convert(c, d.Options)
	if err != nil {
		return nil, nil, err
	}
	p, err := MakePlan(ctx, in, d.Solve)
	return in, p, err
}

// open turns a cordoned node into one that isn't, as it is read.
func open(n *corev1.Node) {
	n.Spec.Unschedulable = false
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
}

func (d *drain) run(ctx context.Context) error {
	cheapest, since := int64(-1), 0
	for ; ; d.result.Plans++ {
		in, p, err := d.plan(ctx)
		if err != nil {
			return err
		}
		if d.result.Plans == 0 {
			d.result.Before, d.result.Planned = p.Now, p.Moves
		}
		d.result.After = p.Now
		if cheapest < 0 || p.Now.Cost < cheapest {
			cheapest, since = p.Now.Cost, 0
		} else {
			since++
		}
		if p.Now.Cost <= p.Then.Cost || len(p.Steps) == 0 || since > 4 || d.result.Steps >= d.Steps {
			d.result.Empty = in.empty()
			d.Log("done: %s in use, %d could be saved still", words.Plural(p.Now.Nodes, "node"), p.Now.Nodes-p.Then.Nodes)
			return nil
		}
		if len(p.Launch) > 0 {
			return fmt.Errorf("%w: launch %s by your cloud or node pool, then drain again; Karpenter launches nodes by itself only for pods that wait", ErrLaunch, launchText(p.Launch))
		}
		if err := in.harm(p, d.Allow, d.result.Plans > 0, false); err != nil {
			return err
		}
		d.Log("plan %d: %s in use, %d could do, %s to move in %s", d.result.Plans+1, words.Plural(p.Now.Nodes, "node"), p.Then.Nodes,
			words.Plural(int(p.Moves), "pod"), words.Plural(len(p.Steps), "step"))
		if err := d.carryOut(ctx, in, p); err != nil {
			return err
		}
	}
}

// carryOut goes through the steps of a plan, as long as all happens as it was simulated.
func (d *drain) carryOut(ctx context.Context, in *Instance, p *Plan) error {
	fence := map[string]bool{}
	for _, node := range p.fence {
		fence[node] = true
	}
	e := expectations(in.Cluster)
	for k := range p.Steps {
		want := maps.Clone(fence)
		for _, h := range p.Steps[k].Closed {
			want[h] = true
		}
		if err := d.cordon(ctx, want); err != nil {
			return err
		}
		d.result.Steps++
		if err := d.step(ctx, p.Steps[k].Moves, in, e, p.Now.Waiting); err != nil {
			return err
		}
		if !e.met {
			d.Log("not as simulated")
			break
		}
	}
	return d.cordon(ctx, fence)
}

// cordon cordons some nodes and opens all others that this drain has cordoned.
func (d *drain) cordon(ctx context.Context, want map[string]bool) error {
	for _, on := range []bool{false, true} {
		var nodes []string
		for _, some := range []map[string]bool{want, d.cordoned} {
			for node := range some {
				if want[node] == on && d.cordoned[node] != on {
					nodes = append(nodes, node)
				}
			}
		}
		if slices.Sort(nodes); len(nodes) == 0 {
			continue
		}
		nodes = slices.Compact(nodes)
		for _, node := range nodes { // also if it fails: some may be done
			d.cordoned[node] = on || d.cordoned[node]
		}
		if err := d.Cordon(ctx, on, nodes...); err != nil {
			return err
		}
		for _, node := range nodes {
			d.cordoned[node] = on
		}
		d.Log("%s %s", map[bool]string{true: "cordon", false: "uncordon"}[on], strings.Join(nodes, " "))
	}
	return nil
}

// expected is how many pods of each controller each node should have.
type expected struct {
	on    map[[2]string]int // controller, node
	of    map[string]int    // controller: everywhere
	pods  map[string]string // controller of each pod by namespace/name
	node  map[string]string
	moved map[string]bool // controllers
	met   bool
}

func expectations(c *Cluster) *expected {
	e := &expected{on: map[[2]string]int{}, of: map[string]int{}, pods: map[string]string{}, node: map[string]string{}, moved: map[string]bool{}}
	for k := range c.Pods {
		p := &c.Pods[k]
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil {
			continue
		}
		kind, name := owned(p)
		key := p.Namespace + "/" + kind + "/" + name
		e.on[[2]string{key, p.Spec.NodeName}]++
		e.of[key]++
		e.pods[p.Namespace+"/"+p.Name], e.node[p.Namespace+"/"+p.Name] = key, p.Spec.NodeName
	}
	return e
}

// move notes that a pod moves.
func (e *expected) move(m Move) {
	key := e.pods[m.Pod]
	if e.on[[2]string{key, m.From}]--; e.on[[2]string{key, m.From}] == 0 {
		delete(e.on, [2]string{key, m.From})
	}
	e.on[[2]string{key, m.To}]++
	e.moved[key] = true
}

// complete reports whether each controller with moved pods has as many as before.
func (e *expected) complete(now *expected) bool {
	for key := range e.moved {
		if now.of[key] < e.of[key] {
			return false
		}
	}
	return true
}

// empty returns the nodes without pods that count.
func (in *Instance) empty() (all []string) {
	used := map[string]bool{}
	for i := range in.Jobs {
		for _, h := range in.Jobs[i].CurrentHosts {
			used[h] = true
		}
	}
	for k := range in.Hosts {
		if h := &in.Hosts[k]; !used[h.ID] && !h.Kept {
			all = append(all, h.ID)
		}
	}
	return all
}

// step evicts pods and waits until their successors are ready, no more wait for a node than before, and the budgets
// allow as much as before.
func (d *drain) step(ctx context.Context, moves []Move, in *Instance, e *expected, before int) error {
	budgets := map[int]bool{}
	for _, m := range moves {
		if m.From == "" {
			e.move(m)
			continue
		}
		namespace, name, _ := strings.Cut(m.Pod, "/")
		switch err := d.Evict(ctx, namespace, name); {
		case errors.Is(err, ErrRefused):
			d.result.Refused++
			d.Log("refused: %s", m.Pod)
		case err != nil:
			return err
		default:
			d.result.Evicted++
			d.Log("evict %s from %s", m.Pod, m.From)
			e.move(m)
		}
		for _, b := range in.Budgets[m.Pod] {
			budgets[b] = true
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(d.Patience)
	for {
		c, err := d.Read(ctx)
		if err != nil {
			return err
		}
		now, late := expectations(c), time.Now().After(deadline)
		waiting := c.waiting()
		if waiting <= before && c.settled() && (late || e.complete(now) && c.allows(in.Cluster, budgets)) {
			e.met = maps.Equal(e.on, now.on)
			return nil
		}
		if late {
			if !d.relieve(ctx) {
				return fmt.Errorf("after %v %d pods wait for a node, %d did before", d.Patience, waiting, before)
			}
			deadline = time.Now().Add(d.Patience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d.Poll):
		}
	}
}

// relieve opens a node that was cordoned, and reports whether there was one.
func (d *drain) relieve(ctx context.Context) bool {
	for _, node := range d.list() {
		want := maps.Clone(d.cordoned)
		want[node] = false
		return d.cordon(ctx, want) == nil
	}
	return false
}

// allows reports whether some budgets allow as many evictions as they did.
func (c *Cluster) allows(then *Cluster, budgets map[int]bool) bool {
	for k := range budgets {
		b := &then.Budgets[k]
		for n := range c.Budgets {
			if x := &c.Budgets[n]; x.Namespace == b.Namespace && x.Name == b.Name && x.Status.DisruptionsAllowed < b.Status.DisruptionsAllowed {
				return false
			}
		}
	}
	return true
}

// waiting counts the pods without a node that no gate holds.
func (c *Cluster) waiting() (n int) {
	for k := range c.Pods {
		p := &c.Pods[k]
		if p.Spec.NodeName == "" && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0 && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			n++
		}
	}
	return n
}

// settled reports whether all pods are ready and none is being deleted.
func (c *Cluster) settled() bool {
	return !slices.ContainsFunc(c.Pods, func(p corev1.Pod) bool { return unready(&p) })
}

// unready reports whether a pod is being deleted, or has a node and reports that it isn't ready.
func unready(p *corev1.Pod) bool {
	return p.DeletionTimestamp != nil || p.Spec.NodeName != "" && p.Status.Phase != corev1.PodSucceeded &&
		slices.ContainsFunc(p.Status.Conditions, func(x corev1.PodCondition) bool {
			return x.Type == corev1.PodReady && x.Status != corev1.ConditionTrue
		})
}
