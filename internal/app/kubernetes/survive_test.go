// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func effort(n int64) gapwise.Options {
	return gapwise.Options{Settings: model.Settings{Seed: 1, Effort: n}}
}

// What survives the loss of a zone or of a node today survives it in the plan, which has the fewest nodes that allow this:
// of all places of all pods. Faults seen by it: a skew of one more; pods that wait counted; a rule for nodes alone.
func TestSurvive(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	dearer := 0
	for range require.Rounds(150) {
		names := []string{"n1", "n2", "n3", "n4"}
		d, at, of := nodesOf(names...), []int{}, []int{}
		for w := range 3 {
			for k := range 1 + rng.IntN(3) {
				at, of = append(at, rng.IntN(4)), append(of, w)
				d.pod(fmt.Sprintf("w%d-%d", w, k), fmt.Sprint("w", w), "ReplicaSet", names[at[len(at)-1]], nil)
			}
		}
		if slices.ContainsFunc([]int{0, 1, 2}, func(n int) bool {
			on := 0
			for _, h := range at {
				if h == n {
					on++
				}
			}
			return on > 4
		}) {
			continue // over its CPUs
		}
		for _, survive := range append(kubernetes.Survivals, "") {
			o := kubernetes.Options{Prices: kubernetes.PriceByNode, Survive: survive}
			if survive == "" {
				o.Without = []string{"survive"}
			}
			in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
			p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t)
			want := fewest(at, of, survive)
			if p.Then.Nodes != want || p.Beyond == nil && p.CostStatus != "optimal" {
				t.Fatalf("survive %q: pods of %v on %v: %d nodes (%s), want %d", survive, of, at, p.Then.Nodes, p.CostStatus, want)
			}
			if survive == "" && p.Then.Nodes < fewest(at, of, "zone") {
				dearer++
			}
			if survive == "zone" && (len(p.Risks.ZoneThen) > len(p.Risks.ZoneNow) || len(p.Risks.NodeThen) > len(p.Risks.NodeNow)) {
				t.Fatalf("%+v", p.Risks)
			}
		}
	}
	if dearer < 10 {
		t.Errorf("survival costs nodes in %d draws only", dearer)
	}
}

// fewest returns the fewest nodes on which pods of workloads may be, of four with 4, 4, 4 and 16 CPUs, in zones of one
// and three, and of two and four.
func fewest(at, of []int, survive string) int {
	spread := func(places []int, w int, zone bool) bool {
		on := map[int]bool{}
		for k, h := range places {
			if zone {
				h %= 2
			}
			if of[k] == w {
				on[h] = true
			}
		}
		return len(on) > 1
	}
	return fewestOfFour(len(at), func(places []int) bool {
		for w := range 3 {
			if survive == "zone" && spread(at, w, true) && !spread(places, w, true) || survive != "" && spread(at, w, false) && !spread(places, w, false) {
				return false
			}
		}
		return true
	})
}

// fewestOfFour returns the fewest nodes, of four with 4, 4, 4 and 16 CPUs, on which so many pods of one CPU may be; 4 if
// they may not be on fewer.
func fewestOfFour(pods int, may func(places []int) bool) int {
	best, places := 4, make([]int, pods)
	var try func(k int)
	try = func(k int) {
		if k < pods {
			for h := range 4 {
				places[k] = h
				try(k + 1)
			}
			return
		}
		on := map[int]int{}
		for _, h := range places {
			on[h]++
		}
		if on[0] > 4 || on[1] > 4 || on[2] > 4 || len(on) >= best || !may(places) {
			return
		}
		best = len(on)
	}
	try(0)
	return best
}

// withCompany has a pod want its own kind in its zone.
func withCompany(p *corev1.Pod) {
	p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: "topology.kubernetes.io/zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}}}}}
}

// Pods that want their own kind's company in their zone go to another one at once, or not at all: then nodes that only
// this would empty aren't promised, and the proof is of the plans that evictions reach.
func TestCompany(t *testing.T) {
	t.Parallel()
	d := func(allowed, desired int32) *madeUp {
		two := intstr.FromInt32(desired)
		return nodesOf("n1", "n2", "n3", "n4").pod("x-1", "x", "StatefulSet", "n1", withCompany).pod("x-2", "x", "StatefulSet", "n3", withCompany).
			pod("fixed", "fixed", "", "n4", func(p *corev1.Pod) { p.OwnerReferences = nil }).with(&policyv1.PodDisruptionBudget{
			TypeMeta: metav1.TypeMeta{Kind: "PodDisruptionBudget"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b"},
			Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}, MinAvailable: &two},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, DesiredHealthy: desired, CurrentHealthy: 2, ExpectedPods: 2}})
	}
	for allowed, want := range map[int32]int{1: 2, 2: 1} {
		in := require.Value(kubernetes.Convert(d(allowed, 2-allowed).cluster(t), byNode))(t)
		p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t)
		if p.Then.Nodes != want || p.CostStatus != "optimal" || p.Beyond != nil || p.Played.Steered.Nodes != want || p.Played.Left > 0 {
			t.Errorf("%d may go at once: %+v, want %d nodes", allowed, p, want)
		}
	}
}

// A cluster is read into the same instance each time, whatever companies it has.
func TestCompanyTheSame(t *testing.T) {
	t.Parallel()
	d := nodesOf("n1", "n2", "n3", "n4")
	for k, node := range []string{"n1", "n2", "n3", "n4"} {
		name := fmt.Sprint("x", k)
		d.pod(name, name, "StatefulSet", node, withCompany).with(&policyv1.PodDisruptionBudget{
			TypeMeta: metav1.TypeMeta{Kind: "PodDisruptionBudget"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
			Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}}})
	}
	c := d.cluster(t)
	first := require.Value(kubernetes.Convert(c, byNode))(t)
	if len(first.HostSets) != 2 {
		t.Fatalf("the sets are %v", first.HostSets)
	}
	for range 20 {
		again := require.Value(kubernetes.Convert(c, byNode))(t)
		require.Same(t, "instance", first.Consolidation, again.Consolidation)
	}
}

func (d *madeUp) with(x any) *madeUp {
	d.items = append(d.items, x)
	return d
}

// Moves that find no order aren't the answer: x has to go to the node of y, and y with z to the node of x.
func TestNoWay(t *testing.T) {
	t.Parallel()
	only := func(node string, cpu string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": node}
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
	}
	d := nodesOf("n1", "n2", "n3", "n9").pod("x", "x", "ReplicaSet", "n1", only("n2", "4")).pod("y", "y", "ReplicaSet", "n2", only("n1", "3")).
		pod("z", "z", "ReplicaSet", "n3", only("n1", "1"))
	in := require.Value(kubernetes.Convert(d.cluster(t), byNode))(t)
	p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t)
	if p.Then != p.Now || p.Now.Nodes != 3 || len(p.Waves) > 0 || p.Beyond == nil || p.Beyond.Nodes != 2 || len(p.Stuck) != 3 || p.CostStatus != "feasible" || p.CostBound != 2 {
		t.Errorf("%+v", p)
	}
	for _, line := range []string{"could be   3 nodes", "bound      at least 2 nodes in any plan", "no way to  2 nodes, 8 vCPU: 3 moves wait for each other's room"} {
		if text := p.Text(false); !strings.Contains(text, line) {
			t.Errorf("%s\nhas no line %q", text, line)
		}
	}
}

// A node has a pod by --pod's answer if kube-scheduler's filters let it have it, as the simulation of the scheduler
// decides, which TestLiveChoice holds against the real one.
func TestWhyPod(t *testing.T) {
	t.Parallel()
	in := require.Value(kubernetes.Convert(export(t, "medium-default-churned"), kubernetes.Options{}))(t)
	x := kubernetes.NewScheduler(in)
	reasons := map[string]int{}
	for i := range in.Pods {
		if in.Jobs[i].Pinned {
			continue // the simulation moves none
		}
		a := require.Value(in.WhyPod(t.Context(), in.Pods[i][0], gapwise.Options{}))(t)
		from := x.State.Plan[i][0]
		if from >= 0 {
			x.Evict(i, 0)
		}
		feasible := map[string]bool{}
		for _, h := range x.Feasible(i, 0) {
			feasible[in.Hosts[h].ID] = true
		}
		if from >= 0 {
			x.Place(i, 0, int(from))
		}
		for _, n := range a.Nodes {
			if (n.Why == "") != feasible[n.Node] {
				t.Errorf("%s on %s: %q, feasible: %v", a.Pod, n.Node, n.Why, feasible[n.Node])
			}
			reasons[strings.Split(n.Why+" ", " ")[0]]++
		}
		if len(a.Nodes) != len(in.Hosts)-1 || a.Node == "" || len(strings.Split(a.Text(5), "\n")) < 9 {
			t.Errorf("%d of %d nodes\n%s", len(a.Nodes), len(in.Hosts), a.Text(5))
		}
	}
	if len(reasons) < 4 {
		t.Errorf("the reasons are %v", reasons)
	}
	require.Refused(t, "a pod of a daemon set", require.Err(in.WhyPod(t.Context(), "kube-system/none", gapwise.Options{})), model.ErrInvalid, "")
}

// Why a node stays, and the changes that would free it.
func TestWhyNode(t *testing.T) {
	t.Parallel()
	one := intstr.FromInt32(2)
	d := nodesOf("n1", "n2").pod("web-1", "web", "ReplicaSet", "n1", nil).pod("web-2", "web", "ReplicaSet", "n2", nil).
		pod("alone", "alone", "", "n1", func(p *corev1.Pod) { p.OwnerReferences = nil }).
		pod("kept", "kept", "ReplicaSet", "n1", func(p *corev1.Pod) {
			p.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
		}).
		pod("big", "big", "ReplicaSet", "n2", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("8")
		}).with(&policyv1.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{Kind: "PodDisruptionBudget"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b"},
		Spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, MinAvailable: &one},
		Status: policyv1.PodDisruptionBudgetStatus{CurrentHealthy: 2, DesiredHealthy: 2, ExpectedPods: 2}})
	in := require.Value(kubernetes.Convert(d.cluster(t), kubernetes.Options{}))(t)
	for node, want := range map[string]string{
		"n1": `node       n1 has 3 pods, 0 of them can be evicted
stays      shop/alone: no controller would make it again
stays      shop/kept: annotation karpenter.sh/do-not-disrupt
stays      shop/web-1: budget shop/b allows no eviction
frees      1 pod: not by a setting: no controller would make it again
frees      1 pod: no karpenter.sh/do-not-disrupt on shop/kept
frees      1 pod: shop/b: minAvailable from 2 to 1
`,
		"n2": `node       n2 has 2 pods, 1 of them can be evicted
stays      shop/web-2: budget shop/b allows no eviction
no place   shop/big: of 1 other node: 1 no room
frees      1 pod: 7 CPU more free on n1
frees      1 pod: shop/b: minAvailable from 2 to 1
           all other pods are where they are now; plan --moves moves them, too
`,
	} {
		if got := require.Value(in.WhyNode(node))(t).Text(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	require.Refused(t, "no such node", require.Err(in.WhyNode("n9")), model.ErrInvalid, "")
}

// What holds a node whose pods could all be evicted: a rule of the plan, the room for all at once, or nothing.
func TestWhyNodeIsHeld(t *testing.T) {
	t.Parallel()
	size := func(cpu string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
	}
	survives := nodesOf("n1", "n2").pod("web-1", "web", "ReplicaSet", "n1", nil).pod("web-2", "web", "ReplicaSet", "n2", nil)
	full := nodesOf("n1", "n2", "n3").pod("a", "a", "ReplicaSet", "n1", size("2")).pod("b", "b", "ReplicaSet", "n1", size("2")).
		pod("c", "c", "ReplicaSet", "n2", size("2")).pod("d", "d", "ReplicaSet", "n3", size("15"))
	for name, x := range map[string]struct {
		d    *madeUp
		o    kubernetes.Options
		node string
		want string
	}{
		"a workload that survives": {survives, kubernetes.Options{Survive: "node"}, "n1", `node       n1 has 1 pod, 1 of them can be evicted
no place   shop/web-1: of 1 other node: 1 rule survive node shop/web
frees      1 pod: --without survive: n2 would have it but for the rule survive
           node shop/web
           all other pods are where they are now; plan --moves moves them, too
`},
		"without that": {survives, byNode, "n1", `node       n1 has 1 pod, 1 of them can be evicted
together   all of its pods would have places on other nodes now; plan says
           whether that is cheapest
`},
		"room for one of two": {full, byNode, "n1", `node       n1 has 2 pods, 2 of them can be evicted
together   each pod would have a place elsewhere, but not all at once: first fit
           has none for shop/b; plan --moves also moves other pods
`},
		"an empty node": {nodesOf("n1", "n2", "n3").pod("a", "a", "ReplicaSet", "n1", nil), byNode, "n2",
			"node       n2 has no pods but those of daemon sets: nothing holds it\n"},
	} {
		in := require.Value(kubernetes.Convert(x.d.cluster(t), x.o))(t)
		require.Same(t, name, x.want, require.Value(in.WhyNode(x.node))(t).Text())
	}
}

// A pod that waits gets the fewest moves of others that make room for it, or the proof that none do.
func TestMakingRoom(t *testing.T) {
	t.Parallel()
	size := func(cpu string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
	}
	for cpu, want := range map[string]string{
		"1":  "node       n1: would have it now\n",
		"3":  "room       1 move makes room for it on n1, fewer don't: shop/a",
		"4":  "room       2 moves make room for it on n1, fewer don't: ",
		"15": "room       no moves of pods that run make room for it: that is proved\n",
	} {
		// 4, 4 and 16 CPU, of which 2, 2 and 2 are free; only n1 can be made emptier.
		d := nodesOf("n1", "n2", "n3").pod("a", "a", "ReplicaSet", "n1", size("1")).pod("a2", "a2", "ReplicaSet", "n1", size("1")).
			pod("b", "b", "", "n2", func(p *corev1.Pod) { p.OwnerReferences = nil; size("2")(p) }).
			pod("big", "big", "", "n3", func(p *corev1.Pod) { p.OwnerReferences = nil; size("14")(p) }).
			pod("new", "new", "ReplicaSet", "", size(cpu)).pod("other", "other", "ReplicaSet", "", size("2"))
		in := require.Value(kubernetes.Convert(d.cluster(t), byNode))(t)
		a := require.Value(in.WhyPod(t.Context(), "shop/new", effort(1_000_000)))(t)
		require.Says(t, cpu, a.Text(9), want)
		if quick := require.Value(in.WhyPod(t.Context(), "shop/new", effort(1)))(t).Making; a.Making != nil && len(quick.Moves) != len(a.Making.Moves) {
			t.Errorf("%s CPU: without a search %+v", cpu, quick)
		}
		on := map[string]string{"shop/a": "n1", "shop/a2": "n1", "shop/b": "n2", "shop/big": "n3"}
		free := map[string]int{"n1": 2, "n2": 2, "n3": 2}
		needs := map[string]int{"shop/a": 1, "shop/a2": 1, "shop/b": 2, "shop/new": int(cpu[0] - '0')}
		if a.Making == nil {
			continue
		}
		for _, m := range a.Making.Moves {
			if on[m.Pod] != m.From {
				t.Errorf("%s CPU: %+v, it is on %q", cpu, m, on[m.Pod])
			}
			free[m.From] += needs[m.Pod]
			if free[m.To] -= needs[m.Pod]; free[m.To] < 0 {
				t.Errorf("%s CPU: %+v finds no room", cpu, m)
			}
			on[m.Pod] = m.To
		}
		if n := len(a.Making.Moves); n > 0 && a.Making.Moves[n-1].Pod != "shop/new" {
			t.Errorf("%s CPU: the last move isn't the pod's: %+v", cpu, a.Making.Moves)
		}
	}
}

// A plan says whether the number of pods that wait, or have no room, is proved the least.
func TestFewest(t *testing.T) {
	t.Parallel()
	p := &kubernetes.Plan{WaitingStatus: "optimal", Then: kubernetes.State{Waiting: 1, Roomless: 1}}
	if text := p.Text(false); strings.Contains(text, "stopped") {
		t.Error(text)
	}
	p.WaitingStatus, p.Room = "feasible", make([]kubernetes.Room, 1)
	require.Same(t, "the plans that the bound is of", "no plan with at most 0 pods waiting and 0 without room", p.Others())
	require.Says(t, "both", p.Text(false), "stopped    whether fewer pods have to wait, or more pods to come have room, is\n           open: the search for that was stopped")
	p.Then.Waiting = 0
	require.Says(t, "room", p.Text(false), "stopped    whether more pods to come have room, is open")
	p.Then.Roomless = 0
	if text := p.Text(false); strings.Contains(text, "stopped") {
		t.Error(text)
	}
	d := nodesOf("n1", "n2").pod("a", "a", "ReplicaSet", "n1", nil).pod("new", "new", "ReplicaSet", "", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("99")
	})
	in := require.Value(kubernetes.Convert(d.cluster(t), byNode))(t)
	require.Same(t, "proved", "optimal", require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t).WaitingStatus)
}

// One pod at a time goes of a workload without a budget, so that nothing has to be allowed; of several workloads one each.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	d := nodesOf("n1", "n2", "n3").pod("fixed", "fixed", "", "n3", func(p *corev1.Pod) { p.OwnerReferences = nil })
	for k, node := range []string{"n1", "n1", "n2"} {
		d.pod(fmt.Sprint("web-", k), "web", "ReplicaSet", node, nil).pod(fmt.Sprint("api-", k), "api", "ReplicaSet", node, nil)
	}
	o := byNode
	o.SameStep = false
	in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
	p := require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t)
	if p.Then.Nodes != 1 || len(p.Waves) != 3 || len(p.Waves[0]) != 2 || p.Waves[0][0].Pod[:8] == p.Waves[0][1].Pod[:8] || p.Waves[2][0].After == "" {
		t.Errorf("%+v", p.Waves)
	}
	if _, err := in.Commands(p, nil); err != nil {
		t.Error(err)
	}
}

// The steps of a long way read as a part of it.
func TestPart(t *testing.T) {
	p := &kubernetes.Plan{Waves: [][]kubernetes.Move{make([]kubernetes.Move, 100), make([]kubernetes.Move, 40)}}
	p.Played.Steps, p.Played.Left = 22, 118
	for left, want := range map[int]string{118: "           steps 1 to 22 of about 140; plan again after them (118 moves left)\n", 140: "           140 moves that no cordons can steer\n"} {
		p.Played.Left = left
		if text := p.Text(false); !strings.Contains(text, want) {
			t.Errorf("%s\nhas no line %q", text, want)
		}
	}
}

// Kube-scheduler doesn't know of slack: a node that the plan has full takes a pod all the same, so that a step has to
// cordon it.
func TestSlackIsThePlans(t *testing.T) {
	t.Parallel()
	d := nodesOf("n1", "n2", "n3").pod("a", "a", "ReplicaSet", "n1", nil).pod("b", "b", "ReplicaSet", "n2", nil).pod("c", "c", "ReplicaSet", "n2", nil)
	o := byNode
	o.Slack = 0.5 // two CPUs of n1 and n2, eight of n3
	in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
	for _, n := range require.Value(in.WhyPod(t.Context(), "shop/a", gapwise.Options{}))(t).Nodes {
		if n.Why != "" {
			t.Errorf("%s: %s", n.Node, n.Why)
		}
	}
	x := kubernetes.NewScheduler(in)
	i := slices.IndexFunc(in.Pods, func(pods []string) bool { return pods[0] == "shop/a" })
	x.Evict(i, 0)
	if nodes := x.Feasible(i, 0); len(nodes) != 3 {
		t.Errorf("it may be on %v", nodes)
	}
}

// Where survival isn't asked for, as in one zone of few nodes, a workload that is lost with a node then is told of with the
// flag that keeps it.
func TestSurviveSmall(t *testing.T) {
	t.Parallel()
	d := nodesOf("n1", "n2", "n3").pod("web-0", "web", "ReplicaSet", "n1", nil).pod("web-1", "web", "ReplicaSet", "n3", nil)
	for k := range 3 {
		d.items[k].(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]string)["topology.kubernetes.io/zone"] = "z"
	}
	text := func(o kubernetes.Options) string {
		o.Prices = kubernetes.PriceByNode
		in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
		return require.Value(kubernetes.MakePlan(t.Context(), in, effort(1_000_000)))(t).Text(false)
	}
	require.Says(t, "by default", text(kubernetes.Options{}), "of 1 then, new:\n           shop/web; in one zone of up to 3 nodes, --survive node prevents it\n")
	for _, o := range []kubernetes.Options{{Survive: "node"}, {Without: []string{"survive"}}} {
		if got := text(o); strings.Contains(got, "prevents it") {
			t.Errorf("%+v: %s", o, got)
		}
	}
}
