// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/hosting"
	"github.com/gapwise/gapwise/internal/kubernetes"
	"github.com/gapwise/gapwise/internal/view"
	"github.com/gapwise/gapwise/model"
)

// played is a cluster whose controllers make a pod anew when it is evicted, and whose scheduler places
// it on the allowed node with most left (LeastAllocated), or, if packs, least.
type played struct {
	t       *testing.T
	c       *kubernetes.Cluster
	packs   bool
	made    int
	lost    map[int]int // of each budget, evicted and not replaced
	evicted int
	closed  map[string]bool
	stop    func() // called at each eviction
}

func (p *played) Read(context.Context) (*kubernetes.Cluster, error) {
	p.schedule()
	c := *p.c
	c.Nodes, c.Pods = append([]corev1.Node(nil), c.Nodes...), append([]corev1.Pod(nil), c.Pods...)
	return &c, nil
}

func (p *played) Cordon(_ context.Context, node string, on bool) error {
	for k := range p.c.Nodes {
		if n := &p.c.Nodes[k]; n.Name == node {
			n.Spec.Unschedulable = on
			p.closed[node] = on
			return nil
		}
	}
	return fmt.Errorf("there is no node %q", node)
}

func (p *played) Evict(_ context.Context, namespace, name string) error {
	if p.stop != nil {
		p.stop()
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
			p.made++
			p.evicted++
			x.Name, x.Spec.NodeName, x.Status.Phase = fmt.Sprintf("%s-%d", x.Name, p.made), "", corev1.PodPending
			return nil
		}
	}
	return errors.New("there is no such pod")
}

// schedule places what waits, one pod after another.
func (p *played) schedule() {
	for {
		in, err := kubernetes.Convert(p.c, kubernetes.Options{})
		if err != nil {
			p.t.Fatal(err)
		}
		c := view.OfConsolidation(in.Consolidation, 0)
		s := hosting.Of(c, c.Today())
		placed := ""
		node := 0
		for i := range c.Jobs {
			if placed != "" || c.Jobs[i].Current[0] >= 0 {
				continue
			}
			best, most := -1, -1.0
			for h := range c.Hosts {
				if c.Hosts[h].Closed || !s.Can(i, 0, h) {
					continue
				}
				free := 0.0
				for r := range 2 {
					free += float64(s.Left[h*c.Resources+r]) / float64(max(1, c.Hosts[h].Capacity[r]))
				}
				if p.packs {
					free = 10 - free
				}
				if free > most {
					best, most = h, free
				}
			}
			if best >= 0 {
				placed, node = in.Pods[i][0], best
			}
		}
		if placed == "" {
			break
		}
		for k := range p.c.Pods {
			if x := &p.c.Pods[k]; x.Namespace+"/"+x.Name == placed {
				x.Spec.NodeName, x.Status.Phase = p.c.Nodes[node].Name, corev1.PodRunning
			}
		}
	}
	clear(p.lost) // all that can be replaced is
}

func waits(c *kubernetes.Cluster) (n int) {
	for k := range c.Pods {
		if c.Pods[k].Spec.NodeName == "" {
			n++
		}
	}
	return n
}

// A drain ends near the least that budgets allow, whatever the scheduler does with the pods: none waits that didn't, no
// more nodes are in use than before at any time, and what stays cordoned is empty.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name  string
		packs bool
		least int
		slow  bool
	}{{"small-default-churned", false, 5, false}, {"small-packing-churned", true, 5, false}, {"medium-default-churned", false, 37, true}, {"medium-packing-churned", true, 37, true}, {"karpenter-4-churned-before", false, 14, true}} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if x.slow && testing.Short() {
				t.Skip("slow")
			}
			p := &played{t: t, c: export(t, x.name), packs: x.packs, lost: map[int]int{}, closed: map[string]bool{}}
			before := waits(p.c)
			d, err := kubernetes.Drain(t.Context(), p, kubernetes.DrainOptions{Options: kubernetes.Options{Prices: kubernetes.PriceByNode},
				Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}, Patience: time.Millisecond, Poll: time.Millisecond, Log: t.Logf})
			if err != nil {
				t.Fatal(err)
			}
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
			t.Logf("%d -> %d nodes, %d evicted, %d refused, %d waves", d.Before.Nodes, d.After.Nodes, d.Evicted, d.Refused, d.Waves)
		})
	}
}

// A drain that is interrupted opens the nodes again.
func TestDrainInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := &played{t: t, c: export(t, "small-default-churned"), lost: map[int]int{}, closed: map[string]bool{}}
	p.stop = cancel
	_, err := kubernetes.Drain(ctx, p, kubernetes.DrainOptions{Options: kubernetes.Options{Prices: kubernetes.PriceByNode},
		Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}, Patience: time.Second, Poll: time.Millisecond, Log: t.Logf})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	for node, closed := range p.closed {
		if closed {
			t.Errorf("%s stays cordoned", node)
		}
	}
}
