// SPDX-License-Identifier: MIT

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	gapwise "github.com/gapwise/gapwise"
)

// ErrRefused is the error of an eviction that the cluster refuses now, by a budget.
var ErrRefused = errors.New("the eviction is refused")

// Control is what a drain does to a cluster.
type Control interface {
	Read(ctx context.Context) (*Cluster, error)
	// Cordon lets no new pods on a node; with on false it does again.
	Cordon(ctx context.Context, node string, on bool) error
	// Evict asks for the eviction of a pod; the error is ErrRefused if a budget doesn't allow it.
	Evict(ctx context.Context, namespace, pod string) error
}

// DrainOptions say how a plan is carried out.
type DrainOptions struct {
	Options Options
	Solve   gapwise.Options
	// Patience is how long a wave may take until its successors run, Poll how often is asked.
	Patience, Poll time.Duration
	// Waves bounds the waves; 0: a hundred.
	Waves int
	// Log is told each step in a line.
	Log func(format string, args ...any)
}

// Drained is what came of a drain.
type Drained struct {
	Before, After State
	Waves         int
	Evicted       int
	Refused       int      // evictions that budgets refused, each time counted
	Empty         []string // nodes without pods that count, which stay cordoned: they can be given back
}

// Drain carries out plans, wave by wave. The nodes that a plan empties, and those that are empty,
// are cordoned first, so that no more nodes are in use than before. Evicted pods' successors go where the scheduler
// likes; so after each wave the cluster is read and planned again, and nodes that the new plan needs are opened again.
// Where a wave has saved nothing, the next is steered: the pods of one node after another, while all others are cordoned.
// It ends when no move saves anything, or nothing has become cheaper in four waves. Where successors find no
// node in time, an emptied one is opened for them. If ctx ends, or something fails, the nodes that it has cordoned and that
// hold pods are opened again.
func Drain(ctx context.Context, k Control, o DrainOptions) (*Drained, error) {
	d := &drain{Control: k, DrainOptions: o, cordoned: map[string]bool{}}
	if d.Waves == 0 {
		d.Waves = 100
	}
	err := d.run(ctx)
	for _, node := range d.list() {
		if err == nil && slices.Contains(d.result.Empty, node) {
			continue // it can be given back
		}
		if e := k.Cordon(context.WithoutCancel(ctx), node, false); e != nil {
			err = errors.Join(err, e)
		}
		d.Log("uncordon %s", node)
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

// open makes of a cordoned node one that isn't, as it is read.
func open(n *corev1.Node) {
	n.Spec.Unschedulable = false
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
}

// fence cordons what a plan leaves empty, and opens what it needs again.
func (d *drain) fence(ctx context.Context, in *Instance, p *Plan) error {
	needed := map[string]bool{}
	for i := range p.Solution.Jobs {
		for _, h := range p.Solution.Jobs[i].Hosts {
			needed[h] = true
		}
	}
	for k := range in.Hosts {
		h := &in.Hosts[k]
		want := !needed[h.ID] && !h.Kept && !h.Closed
		if h.Closed || in.Cordoned[h.ID] {
			continue
		}
		if err := d.set(ctx, h.ID, want); err != nil {
			return err
		}
	}
	return nil
}

func (d *drain) run(ctx context.Context) error {
	cheapest, since := int64(-1), 0
	for ; ; d.result.Waves++ {
		in, p, err := d.plan(ctx)
		if err != nil {
			return err
		}
		if d.result.Waves == 0 {
			d.result.Before = p.Now
		}
		d.result.After = p.Now
		if cheapest < 0 || p.Now.Cost < cheapest {
			cheapest, since = p.Now.Cost, 0
		} else {
			since++
		}
		saved := p.Now.Cost - p.Then.Cost
		if saved <= 0 || len(p.Waves) == 0 || since > 4 || d.result.Waves == d.Waves {
			d.result.Empty = in.empty()
			d.Log("done: %d nodes in use, %d could be saved still", p.Now.Nodes, p.Now.Nodes-p.Then.Nodes)
			return nil
		}
		d.Log("wave %d: %d nodes in use, %d are enough, %d pods to move, %d of them now", d.result.Waves+1, p.Now.Nodes, p.Then.Nodes, p.Moves, len(p.Waves[0]))
		if err := d.fence(ctx, in, p); err != nil {
			return err
		}
		if since > 0 {
			err = d.steer(ctx, in, p)
		} else {
			err = d.wave(ctx, p.Waves[0], p.Now.Waiting)
		}
		if err != nil {
			return err
		}
	}
}

// set cordons a node or opens it, if it isn't so.
func (d *drain) set(ctx context.Context, node string, on bool) error {
	if d.cordoned[node] == on {
		return nil
	}
	if err := d.Cordon(ctx, node, on); err != nil {
		return err
	}
	d.Log("%s %s", map[bool]string{true: "cordon", false: "uncordon"}[on], node)
	d.cordoned[node] = on
	return nil
}

// steer carries out a wave node by node: all nodes but one are cordoned while the pods that
// the plan has on that one are evicted, so that the scheduler has no choice. Meanwhile other new pods have none,
// either; so this is for when a wave has saved nothing.
func (d *drain) steer(ctx context.Context, in *Instance, p *Plan) error {
	var targets []string
	to := map[string][]Move{}
	for _, m := range p.Waves[0] {
		if len(to[m.To]) == 0 {
			targets = append(targets, m.To)
		}
		to[m.To] = append(to[m.To], m)
	}
	for _, target := range targets {
		for k := range in.Hosts {
			if h := &in.Hosts[k]; !h.Closed && !in.Cordoned[h.ID] {
				if err := d.set(ctx, h.ID, h.ID != target); err != nil {
					return err
				}
			}
		}
		if err := d.wave(ctx, to[target], p.Now.Waiting); err != nil {
			return err
		}
	}
	return d.fence(ctx, in, p)
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

// wave evicts pods and waits until no more wait for a node than did before.
func (d *drain) wave(ctx context.Context, moves []Move, before int) error {
	for _, m := range moves {
		if m.From == "" {
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
		}
	}
	deadline := time.Now().Add(d.Patience)
	for {
		c, err := d.Read(ctx)
		if err != nil {
			return err
		}
		waiting := c.waiting()
		if waiting <= before && c.settled() {
			return nil
		}
		if time.Now().After(deadline) {
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
		return d.set(ctx, node, false) == nil
	}
	return false
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

// settled reports whether no pod is being deleted and all that have a node are ready, as far as they say.
func (c *Cluster) settled() bool {
	for k := range c.Pods {
		p := &c.Pods[k]
		if p.DeletionTimestamp != nil {
			return false
		}
		for _, x := range p.Status.Conditions {
			if x.Type == corev1.PodReady && x.Status != corev1.ConditionTrue && p.Spec.NodeName != "" && p.Status.Phase != corev1.PodSucceeded {
				return false
			}
		}
	}
	return true
}
