// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

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
}

func (p *played) Read(context.Context) (*kubernetes.Cluster, error) {
	p.schedule()
	clear(p.lost) // all that can be replaced is
	c := *p.c
	c.Nodes, c.Pods = append([]corev1.Node(nil), c.Nodes...), append([]corev1.Pod(nil), c.Pods...)
	return &c, nil
}

func (p *played) Cordon(_ context.Context, on bool, nodes ...string) error {
	for _, node := range nodes {
		found := false
		for k := range p.c.Nodes {
			if n := &p.c.Nodes[k]; n.Name == node {
				n.Spec.Unschedulable, p.closed[node], found = on, on, true
			}
		}
		if !found {
			return fmt.Errorf("there is no node %q", node)
		}
	}
	return nil
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
			p.schedule()
			return nil
		}
	}
	return errors.New("there is no such pod")
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
