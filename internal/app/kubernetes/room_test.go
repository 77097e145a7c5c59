// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// deployment adds a Deployment whose pods ask for one CPU.
func (d *madeUp) deployment(name string, replicas int, spec map[string]any) *madeUp {
	all := map[string]any{"replicas": replicas, "template": map[string]any{"metadata": map[string]any{"labels": map[string]string{"app": name}},
		"spec": map[string]any{"containers": []any{map[string]any{"resources": map[string]any{"requests": map[string]string{"cpu": "1"}}}}}}}
	for key, x := range spec {
		all[key] = x
	}
	return d.with(map[string]any{"kind": "Deployment", "metadata": map[string]string{"namespace": "shop", "name": name}, "spec": all})
}

func (d *madeUp) scaler(kind, name string, most int) *madeUp {
	return d.with(map[string]any{"kind": "HorizontalPodAutoscaler", "metadata": map[string]string{"namespace": "shop", "name": name},
		"spec": map[string]any{"maxReplicas": most, "scaleTargetRef": map[string]string{"kind": kind, "name": name}}})
}

// Room for surges, for the most pods of autoscalers and for the loss of a node is kept on the fewest nodes that allow it, of
// all places of all pods, and as much as any place allows. The pods that aren't there don't move, wait or survive. For the loss
// of a node there are as few nodes as the empty ones need at most, and mostly as few as any place of pods after which each
// may fail. Faults seen by it: room counted as pods that wait; spares as large as the least node.
func TestRoom(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(10, 1))
	dearer, lacking, fails, exact := map[string]int{}, 0, 0, 0
	for range require.Rounds(60) {
		d, room, pods := nodesOf("n1", "n2", "n3", "n4"), []int{4, 4, 4, 16}, 0
		add := func(name string, n int) {
			for k := range n {
				h := rng.IntN(4)
				for room[h] == 0 {
					h = rng.IntN(4)
				}
				room[h]--
				d.pod(fmt.Sprint(name, "-", k), name, "ReplicaSet", fmt.Sprint("n", h+1), nil)
			}
			pods += n
		}
		web, api := 1+rng.IntN(7), 1+rng.IntN(6)
		add("web", web)
		add("api", api)
		waits := rng.IntN(2)
		for range waits {
			d.pod("new", "new", "ReplicaSet", "", nil)
		}
		surge, most := rng.IntN(4), rng.IntN(40)
		d.deployment("web", web, map[string]any{"strategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": surge}}}).deployment("api", api, nil).scaler("Deployment", "api", most)
		extra := map[string]int{"surge": surge + (api+3)/4, "hpa": max(0, most-api)}
		// fewest returns the fewest nodes with so many pods more, of the given ones, and how many of these have no room.
		fewest := func(more int, spare bool) (nodes, lacks int) {
			nodes, lacks = 4, 0
			size := []int{4, 4, 4, 16}
			all := pods + waits + more
			if spare { // of the nodes that are kept, the used ones hold all, and without any of them the others do
				nodes = 5
				for kept := range 16 {
					for used := range 16 {
						sum, hold, n := 0, 0, 0
						for h := range 4 {
							if kept>>h&1 == 1 {
								sum, n = sum+size[h], n+1
							}
							if used>>h&1 == 1 {
								hold += size[h]
							}
						}
						ok := used&kept == used && hold >= all
						for h := range 4 {
							ok = ok && (used>>h&1 == 0 || sum-size[h] >= all)
						}
						if ok {
							nodes = min(nodes, n)
						}
					}
				}
				return nodes, 0
			}
			if all > 28 {
				return 4, all - 28
			}
			for set := range 16 {
				sum, n := 0, 0
				for h := range 4 {
					if set>>h&1 == 1 {
						sum, n = sum+size[h], n+1
					}
				}
				if sum >= all {
					nodes = min(nodes, n)
				}
			}
			return nodes, lacks
		}
		base, _ := fewest(0, false)
		for _, what := range []string{"surge", "hpa", "node"} {
			o := byNode
			o.Room = []string{what}
			in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
			p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t)
			want, lacks := fewest(extra[what], what == "node")
			name := fmt.Sprintf("%s: %d web, %d api, %d wait, surge %d, at most %d", what, web, api, waits, surge, most)
			asked, kept := 0, 0
			for _, r := range p.Room {
				asked, kept = asked+r.Pods, kept+r.Kept
			}
			if what == "node" {
				most := 1 + (pods+waits+3)/4 // the largest empty
				if want > 4 {
					want = 4
				}
				if p.CostBound > float64(want) || p.Then.Nodes < want && len(p.NodeFails) == 0 || pods+waits <= 12 && (len(p.NodeFails) > 0 || p.Then.Nodes > most) {
					t.Fatalf("%s: %d nodes, %v may not fail; at least %d, at most %d", name, p.Then.Nodes, p.NodeFails, want, most)
				}
				if p.Then.Nodes == want && len(p.NodeFails) == 0 {
					exact++
				}
				want, lacks, p.CostStatus = p.Then.Nodes, p.Then.Roomless, "optimal"
			}
			if p.Then.Nodes != want || p.CostStatus != "optimal" || p.Then.Roomless != lacks || asked-kept != lacks || p.Then.Waiting != 0 || p.Risks.Pods != pods+waits || what != "node" && asked != extra[what] {
				t.Fatalf("%s: %+v, room %+v, want %d nodes and %d without room", name, p.Then, p.Room, want, lacks)
			}
			for _, wave := range p.Waves {
				for _, m := range wave {
					if strings.Contains(m.Pod, " ") {
						t.Fatalf("%s: %v moves, which isn't there", name, m)
					}
				}
			}
			if want > base {
				dearer[what]++
			}
			if lacks > 0 {
				lacking++
				require.Says(t, "the plan", strings.Join(strings.Fields(p.Text(false)), " "), "; none for ")
			}
			if what == "node" {
				free, size := map[string]int{}, map[string]int{"n1": 4, "n2": 4, "n3": 4, "n4": 16}
				on := map[string]int{}
				for _, j := range p.Solution.Jobs {
					for _, h := range j.Hosts {
						if h != "" && !strings.HasPrefix(j.ID, "node like") {
							on[h]++
						} else if h != "" {
							free[h] = size[h]
						}
					}
				}
				for h, n := range on {
					free[h] = size[h] - n
				}
				var none []string
				for _, h := range []string{"n1", "n2", "n3", "n4"} {
					sum := 0
					for other, n := range free {
						if other != h {
							sum += n
						}
					}
					if on[h] > sum {
						none = append(none, h)
					}
				}
				if fmt.Sprint(none) != fmt.Sprint(p.NodeFails) {
					t.Fatalf("%s: %v may not fail, want %v", name, p.NodeFails, none)
				}
				fails += len(none)
			}
		}
	}
	if require.Rounds(60) >= 60 && (dearer["surge"] < 3 || dearer["hpa"] < 5 || dearer["node"] < 10 || lacking < 3 || exact < 5) {
		t.Errorf("room costs nodes in %v draws, is lacking in %d; %d nodes may not fail, %d are exact", dearer, lacking, fails, exact)
	}
}

// What is kept is named, with its price, and what couldn't be read, too.
func TestRoomText(t *testing.T) {
	t.Parallel()
	d := nodesOf("n1", "n2", "n3").pod("web-0", "web", "ReplicaSet", "n1", nil).pod("web-1", "web", "ReplicaSet", "n2", nil).
		pod("db-0", "db", "StatefulSet", "n1", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zoneLabel: "z0"} })
	o := byNode
	o.Room = kubernetes.Rooms
	in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
	require.Says(t, "the account", strings.Join(in.Account.Lines(), "\n"), "no HorizontalPodAutoscalers were read", "no Deployments were read")
	d.deployment("web", 2, nil).deployment("old", 5, map[string]any{"strategy": map[string]any{"type": "Recreate"}}).scaler("StatefulSet", "db", 4).scaler("Rollout", "gone", 4)
	c := d.cluster(t)
	in = require.Value(kubernetes.Convert(c, o))(t)
	require.Says(t, "the account", strings.Join(in.Account.Lines(), "\n"), "1 workload of HorizontalPodAutoscalers without a pod or a template")
	p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t)
	require.Says(t, "the plan", strings.Join(strings.Fields(p.Text(true)), " "), "room surge 1 of 1 pod to come, of 1 workload, have room",
		"room hpa 3 of 3 pods to come, of 1 workload, have room", "room node 1 of 1 kind of nodes have an empty one kept: n3", "node fails the pods of any one node then have a place", "bound at least 1 node in any plan with as much room kept")
	e := require.Value(kubernetes.Explain(t.Context(), c, byNode, effort(100_000)))(t)
	want := "[[slack node 2 1 feasible 0 to 1] [slack hpa 1 1 optimal 0] [slack surge 1 1 optimal 0]]"
	if got := fmt.Sprint(e.GoalRows()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// What the rules of pods that are there demand holds without the pods to come, too: neither company nor even spread is
// counted on that may never come. With them it is a plan of the instance that has them, which is verified.
func TestRoomApart(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 1))
	moved := 0
	for range require.Rounds(60) {
		d := nodesOf("n1", "n2", "n3", "n4")
		same := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		spec := corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneLabel, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: same}}}
		near := &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "kubernetes.io/hostname", LabelSelector: same}}}}
		at := []int{}
		for k := range 2 + rng.IntN(3) {
			at = append(at, rng.IntN(4))
			d.pod(fmt.Sprint("web-", k), "web", "ReplicaSet", fmt.Sprint("n", at[k]+1), func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = spec.TopologySpreadConstraints })
		}
		for k := range 1 + rng.IntN(2) {
			d.pod(fmt.Sprint("api-", k), "api", "ReplicaSet", fmt.Sprint("n", at[rng.IntN(len(at))]+1), func(p *corev1.Pod) { p.Spec.Affinity = near })
		}
		spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}
		d.deployment("web", len(at), map[string]any{"strategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": 1 + rng.IntN(3)}},
			"template": map[string]any{"metadata": map[string]any{"labels": map[string]string{"app": "web"}}, "spec": spec}})
		c, o := d.cluster(t), byNode
		without := require.Value(kubernetes.Convert(c, o))(t)
		o.Room = []string{"surge"}
		in := require.Value(kubernetes.Convert(c, o))(t)
		p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(300_000)))(t)
		a := &model.Assignment{}
		for k := range without.Jobs {
			if p.Solution.Jobs[k].ID != without.Jobs[k].ID {
				t.Fatalf("job %d is %s, want %s", k, p.Solution.Jobs[k].ID, without.Jobs[k].ID)
			}
			a.Jobs = append(a.Jobs, p.Solution.Jobs[k])
		}
		require.Feasible(verify.Verify(t.Context(), without.Consolidation, a, verify.Options{}))(t)
		require.Feasible(verify.Verify(t.Context(), in.Consolidation, p.Solution, verify.Options{}))(t)
		if p.Moves > 0 {
			moved++
		}
	}
	if require.Rounds(60) >= 60 && moved < 20 {
		t.Errorf("pods move in %d draws", moved)
	}
}

// Three clusters in which pods to come would do harm if they counted as others do. An api would go to a node where web's
// company is but to come; a pod of web would leave the zone where others of web are but to come; and two pods to come
// would take the place of one that waits, whatever a node costs.
func TestRoomRules(t *testing.T) {
	t.Parallel()
	alone := func(p *corev1.Pod) { p.OwnerReferences = nil }
	same := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	asks := func(cpu string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
	}
	surge := func(n int) map[string]any {
		return map[string]any{"strategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": n}}}
	}
	company := nodesOf("n1", "n2", "n3", "n4").pod("web-0", "web", "ReplicaSet", "n1", func(p *corev1.Pod) { alone(p); asks("4")(p) }).pod("fixed", "fixed", "", "n4", alone).
		pod("api-0", "api", "ReplicaSet", "n3", func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "kubernetes.io/hostname", LabelSelector: same}}}}
		}).deployment("web", 1, surge(1))
	spread := nodesOf("n1", "n2", "n3", "n4").pod("fixed", "fixed", "", "n4", alone)
	ignore := corev1.NodeInclusionPolicyIgnore
	spec := []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneLabel, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: same, NodeAffinityPolicy: &ignore}}
	for k, node := range []string{"n1", "n1", "n2"} {
		spread.pod(fmt.Sprint("web-", k), "web", "ReplicaSet", node, func(p *corev1.Pod) {
			if p.Spec.TopologySpreadConstraints = spec; k < 2 {
				alone(p)
				return
			}
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "kubernetes.io/hostname", Operator: corev1.NodeSelectorOpIn, Values: []string{"n1", "n2"}}}}}}}}
		})
	}
	spread.deployment("web", 3, surge(2))
	waits := nodesOf("n1").pod("web-0", "web", "ReplicaSet", "n1", asks("14")).pod("new", "new", "ReplicaSet", "", asks("2")).deployment("web", 1, surge(2))
	for name, x := range map[string]struct {
		d               *madeUp
		nodes, roomless int
	}{"company": {company, 3, 0}, "spread": {spread, 3, 0}, "waits": {waits, 1, 2}} {
		o := byNode
		o.Room = []string{"surge"}
		o.Prices.Of = func(*corev1.Node) (int64, error) { return 90_000_000 / int64(x.nodes*x.nodes), nil }
		in := require.Value(kubernetes.Convert(x.d.cluster(t), o))(t)
		p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(300_000)))(t)
		if p.Then.Nodes != x.nodes || p.Then.Roomless != x.roomless || p.Then.Waiting > 0 || p.Beyond != nil || p.CostStatus != "optimal" {
			t.Errorf("%s: %+v\n%s", name, p.Then, p.Text(true))
		}
	}
}

// The room of a plan is all kept at its end, also where the pods to come would break a rule one after the other: as many of
// them have a place as the search proved that any plan gives them.
func TestRoomAtTheEnd(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 1))
	lacking := 0
	for range require.Rounds(200) {
		d := nodesOf("n1", "n2", "n3", "n4")
		for _, name := range []string{"web", "api"} {
			same := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
			spec := corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneLabel, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: same}}}
			spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(fmt.Sprint(1 + rng.IntN(3)))}}}}
			d.pod(name+"-0", name, "ReplicaSet", fmt.Sprint("n", rng.IntN(4)+1), func(p *corev1.Pod) {
				p.OwnerReferences, p.Spec.TopologySpreadConstraints = nil, spec.TopologySpreadConstraints
			})
			d.deployment(name, 1, map[string]any{"strategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": 1 + rng.IntN(7)}},
				"template": map[string]any{"metadata": map[string]any{"labels": map[string]string{"app": name}}, "spec": spec}})
		}
		o := byNode
		o.Room = []string{"surge"}
		in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
		p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(300_000)))(t)
		require.Feasible(verify.Verify(t.Context(), in.Consolidation, p.Solution, verify.Options{}))(t)
		require.Same(t, "the fewest without room", "optimal", p.WaitingStatus)
		if p.Then.Roomless > 0 {
			lacking++
		}
	}
	if require.Rounds(200) >= 200 && lacking < 20 {
		t.Errorf("room lacks in %d draws", lacking)
	}
}

// An answer with empty nodes for the loss of one is no bound of all plans after which any may fail, nor compared with one
// that lacks other room. What no plan is known to reach has no price.
func TestExplainRoom(t *testing.T) {
	t.Parallel()
	c := require.Value(kubernetes.Read(map[string][]byte{"cluster.json": require.Value(os.ReadFile("../../../docs/examples/cluster.json"))(t)}))(t)
	read := kubernetes.Options{Prices: kubernetes.PriceByVCPU, Room: []string{"node"}}
	e := require.Value(kubernetes.Explain(t.Context(), c, read, effort(0)))(t)
	rows := map[string]string{}
	for _, r := range append(e.Rows(e.Rules), e.Rows(e.Singles)...) {
		rows[r[0]] = strings.Join(r[1:], " ")
	}
	for name, want := range map[string]string{"nothing (no room found for 3)": "16 16 optimal ", "taints (no room found for 2)": "24 16 feasible unknown",
		"spread (no room found for 2)": "20 16 feasible unknown", "budgets": "16 16 optimal 0", "rule spread shop/web 1 (no room found for 2)": "20 16 feasible unknown"} {
		require.Same(t, name, want, rows[name])
	}
	read.Without = []string{"taints"}
	in := require.Value(kubernetes.Convert(c, read))(t)
	p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t)
	require.Same(t, "the bound of the plan", 16.0, p.CostBound)
	if g := e.Goals[0]; g.Fails != 3 || g.Least != nil || g.Most != nil {
		t.Errorf("%+v", g)
	}
}

// A search that is stopped has places for pods that wait before it keeps room, and has the bound that needs no search.
func TestRoomStopped(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range 40 {
		names = append(names, fmt.Sprint("n", n))
	}
	d := nodesOf(names...)
	asks := func(cpu string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
	}
	for n := range 40 {
		d.pod(fmt.Sprint("a", n), fmt.Sprint("a", n), "ReplicaSet", names[n], asks("3"))
		template := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"resources": map[string]any{"requests": map[string]string{"cpu": "3"}}}}}}
		d.deployment(fmt.Sprint("a", n), 1, map[string]any{"template": template, "strategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": 3}}})
	}
	for k := range 3 {
		d.pod(fmt.Sprint("big", k), fmt.Sprint("big", k), "ReplicaSet", "", asks("4"))
	}
	o := byNode
	o.Room = []string{"surge"}
	in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
	p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1000)))(t)
	if p.Then.Waiting > 0 || p.CostBound < 27 {
		t.Errorf("%+v, bound %v, %s", p.Then, p.CostBound, p.Text(false))
	}
}
