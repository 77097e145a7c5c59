// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// What is bought for pods that wait, in a cluster of one node or of none, is the cheapest of all ways to buy under which as
// few as possible wait. There are zones of selectors and volumes, pods of daemon sets on new nodes, also of a set that has
// none yet, and limits of a NodePool. Faults seen by it: no pods of daemon sets on new nodes; the limit without the nodes
// there; offers of two zones merged if volumes alone tell them apart.
func TestBuy(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 1))
	type node struct {
		id, zone string
		room     int
		cpu      int // of the pool's limit
		price    int64
	}
	types := []node{{"small/a", "a", 1, 2, 30_000}, {"small/b", "b", 1, 2, 40_000}, {"large/a", "a", 4, 5, 70_000}, {"large/b", "b", 4, 5, 60_000}}
	table := "type,zone,price,cpu,memory\nsmall,a,3,2,8Gi\nsmall,b,4,2,8Gi\nlarge,a,7,5,8Gi\nlarge,b,6,5,8Gi\n"
	agent := map[string]any{"containers": []any{map[string]any{"resources": map[string]any{"requests": map[string]string{"cpu": "1"}}}}}
	some, waited, limited := 0, 0, 0
	for range require.Rounds(120) {
		d, there := &madeUp{}, rng.IntN(2)
		if there == 1 {
			d.with(map[string]any{"kind": "Node", "metadata": map[string]any{"name": "n1", "labels": map[string]string{"kubernetes.io/hostname": "n1", zoneLabel: "a", "topology.x.io/zone": "a",
				"node.kubernetes.io/instance-type": "small", "karpenter.sh/nodepool": "p"}}, "status": map[string]any{"allocatable": map[string]string{"cpu": "2", "memory": "8Gi", "pods": "9"}, "capacity": map[string]string{"cpu": "2"}}})
			d.pod("agent", "agent", "DaemonSet", "n1", nil)
		} else {
			d.with(map[string]any{"kind": "DaemonSet", "metadata": map[string]string{"namespace": "shop", "name": "agent"}, "spec": map[string]any{"template": map[string]any{"spec": agent}}})
		}
		limit := 2*there + []int{0, 2, 7, 100}[rng.IntN(4)]
		var cpu []int
		var zone []string
		for k := range 1 + rng.IntN(4) {
			cpu, zone = append(cpu, 1+rng.IntN(3)), append(zone, []string{"", "a", "b"}[rng.IntN(3)])
			volume := rng.IntN(2) == 0
			name := fmt.Sprint("w", k)
			d.pod(name, name, "ReplicaSet", "", func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(fmt.Sprint(cpu[k]))
				switch {
				case zone[k] == "":
				case volume:
					p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
				default:
					p.Spec.NodeSelector = map[string]string{zoneLabel: zone[k]}
				}
			})
			d.with(&corev1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{Kind: "PersistentVolumeClaim"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
				Spec: corev1.PersistentVolumeClaimSpec{VolumeName: name}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}})
			d.with(&corev1.PersistentVolume{TypeMeta: metav1.TypeMeta{Kind: "PersistentVolume"}, ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: name}, NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "topology.x.io/zone", Operator: corev1.NodeSelectorOpIn, Values: []string{max(zone[k], "a")}}}}}}}}})
		}
		best := [2]int64{int64(len(cpu)), 0} // waiting, price
		var nodes []node
		var place func(k int, room []int, used map[int]bool, waits int64)
		place = func(k int, room []int, used map[int]bool, waits int64) {
			if k == len(cpu) {
				price := int64(0)
				for n := range nodes {
					if n >= there || used[n] { // what is there costs if it is used, what is bought always
						price += nodes[n].price
					}
				}
				if x := [2]int64{waits, price}; x[0] < best[0] || x[0] == best[0] && x[1] < best[1] {
					best = x
				}
				return
			}
			place(k+1, room, used, waits+1)
			for n := range nodes {
				if room[n] >= cpu[k] && (zone[k] == "" || zone[k] == nodes[n].zone) {
					room[n] -= cpu[k]
					was := used[n]
					used[n] = true
					place(k+1, room, used, waits)
					used[n], room[n] = was, room[n]+cpu[k]
				}
			}
		}
		var buy func(from, left int)
		buy = func(from, left int) {
			room := []int{}
			for _, n := range nodes {
				room = append(room, n.room)
			}
			place(0, room, map[int]bool{}, 0)
			for k := from; k < len(types) && len(nodes) < there+len(cpu); k++ {
				if types[k].cpu <= left {
					nodes = append(nodes, types[k])
					buy(k, left-types[k].cpu)
					nodes = nodes[:len(nodes)-1]
				}
			}
		}
		if there == 1 {
			nodes = append(nodes, types[0])
		}
		buy(0, limit-2*there)
		o := byNode
		o.Offers = offers(t, table, fmt.Sprintf("kind: NodePool\nmetadata: {name: p}\nspec:\n  template: {spec: {}}\n  limits: {cpu: %d}\n", limit))
		o.Prices, _ = offers(t, table).Prices()
		in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
		p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t)
		name := fmt.Sprintf("%d nodes, limit %d, pods of %v in %v", there, limit, cpu, zone)
		if got := [2]int64{int64(p.Then.Waiting), p.Then.Cost}; got != best || p.CostStatus != string(model.StatusOptimal) || p.Beyond != nil {
			t.Fatalf("%s: %v waiting and price (%s), want %v; buys %+v", name, got, p.CostStatus, best, p.Launch)
		}
		if b := in.Bound(t.Context()); b.Cost > p.Then.Cost {
			t.Fatalf("%s: bound %d, price %d", name, b.Cost, p.Then.Cost)
		}
		placed := 0
		for _, wave := range p.Waves {
			placed += len(wave)
		}
		if placed != len(cpu)-p.Then.Waiting || len(p.Waits) != p.Then.Waiting || p.Played.Steered != p.Then {
			t.Fatalf("%s: %d pods are placed, %d of %d wait; steered %+v, want %+v", name, placed, p.Then.Waiting, len(cpu), p.Played.Steered, p.Then)
		}
		for k := range cpu {
			a := require.Value(in.WhyPod(t.Context(), fmt.Sprint("shop/w", k), gapwise.Options{}))(t)
			fits := 0
			for _, x := range types {
				if x.room >= cpu[k] && (zone[k] == "" || zone[k] == x.zone) {
					fits++
					if text := strings.Join(a.Offers, " "); zone[k] != "" && cpu[k] > 1 && !strings.Contains(text, x.id) {
						t.Fatalf("%s: pod %d: %s, want %s", name, k, text, x.id)
					}
				}
			}
			if fits > 0 != (len(a.Offers) > 0) {
				t.Fatalf("%s: pod %d: %v, %d fit", name, k, a.Offers, fits)
			}
		}
		if len(p.Launch) > 0 {
			some++
		}
		if p.Then.Waiting > 0 {
			waited++
		}
		if limit < 9 {
			limited++
		}
	}
	if require.Rounds(120) >= 120 && (some < 30 || waited < 10 || limited < 20) {
		t.Errorf("nodes are bought in %d draws, pods wait in %d, limits bind in %d", some, waited, limited)
	}
}

// Without nodes to buy a line names the flag; a cluster without nodes needs it.
func TestBuyText(t *testing.T) {
	t.Parallel()
	none := (&madeUp{}).pod("new", "new", "ReplicaSet", "", nil)
	require.Refused(t, "no nodes", require.Err(kubernetes.Convert(none.cluster(t), byNode)), model.ErrInvalid, "--offers FILE")
	d := nodesOf("n1").pod("new", "new", "ReplicaSet", "", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zoneLabel: "b"} }).pod("old", "old", "ReplicaSet", "n1", nil)
	in := require.Value(kubernetes.Convert(d.cluster(t), byNode))(t)
	p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(100_000)))(t)
	require.Says(t, "the plan", p.Text(false), "  --offers FILE names nodes to buy")
	require.Says(t, "the answer", require.Value(in.WhyPod(t.Context(), "shop/new", gapwise.Options{}))(t).Text(9), "to buy     --offers FILE names nodes to buy")
	o := byNode
	o.Offers = offers(t, "type,zone,price,cpu,memory\nx,b,2,4,8Gi\n")
	in = require.Value(kubernetes.Convert(d.cluster(t), o))(t)
	p = require.Value(kubernetes.MakePlan(t.Context(), in, effort(100_000)))(t)
	require.Says(t, "the plan", p.Text(true), "launch     1 node first: 1 of x/b", "shop/new: waits -> x/b-1")
	require.Says(t, "the answer", require.Value(in.WhyPod(t.Context(), "shop/new", gapwise.Options{}))(t).Text(9), "to buy     a node of type x/b would hold it")
	o.Offers = offers(t, "type,zone,price,cpu,memory\nx,c,2,4,8Gi\n")
	in = require.Value(kubernetes.Convert(d.cluster(t), o))(t)
	p = require.Value(kubernetes.MakePlan(t.Context(), in, effort(100_000)))(t)
	require.Says(t, "the plan", p.Text(true), "shop/new: of 1 node: 1 its node selector or affinity; no node to buy takes it")
	require.Says(t, "the answer", require.Value(in.WhyPod(t.Context(), "shop/new", gapwise.Options{}))(t).Text(9), "to buy     no node to buy would hold it")
}
