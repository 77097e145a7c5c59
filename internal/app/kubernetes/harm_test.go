// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// madeUp is a cluster of nodes of 4 CPUs, the last of 16, in two zones.
type madeUp struct{ items []any }

func nodesOf(names ...string) *madeUp {
	d := &madeUp{}
	for k, name := range names {
		n := map[string]any{"kind": "Node", "metadata": map[string]any{"name": name, "labels": map[string]string{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": fmt.Sprint("z", k%2)}},
			"status": map[string]any{"allocatable": map[string]string{"cpu": []string{"4", "16"}[(k+1)/len(names)], "memory": "16Gi", "pods": "58"}}}
		d.items = append(d.items, n)
	}
	return d
}

// pod adds a ready pod of one CPU; change makes it another one.
func (d *madeUp) pod(name, of, kind, node string, change func(*corev1.Pod)) *madeUp {
	yes := true
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": of}}}
	p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: of, Controller: &yes}}
	p.Spec.NodeName, p.Status.Phase = node, corev1.PodRunning
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}}}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if change != nil {
		change(p)
	}
	d.items = append(d.items, p)
	return d
}

func (d *madeUp) cluster(t *testing.T) *kubernetes.Cluster {
	t.Helper()
	text := require.Value(json.Marshal(map[string]any{"kind": "List", "items": d.items}))(t)
	return require.Value(kubernetes.Read(map[string][]byte{"drawn": text}))(t)
}

func unready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

// byNode reads small clusters, whose workloads would survive no plan, and go at once.
var byNode = kubernetes.Options{Prices: kubernetes.PriceByNode, Without: []string{"survive"}, SameStep: true}

func (d *madeUp) plan(t *testing.T) (*kubernetes.Instance, *kubernetes.Plan) {
	t.Helper()
	in := require.Value(kubernetes.Convert(d.cluster(t), byNode))(t)
	p := require.Value(kubernetes.MakePlan(t.Context(), in,
		gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}))(t)
	return in, p
}

// A possible harm stops commands and a drain by name, before anything is done, until it is allowed, by its kind or by
// the workload's name. A harm that is allowed doesn't stop them, nor does a plan without harm.
func TestHarm(t *testing.T) {
	t.Parallel()
	two := func() *madeUp {
		return fixed(nodesOf("n1", "n2")).pod("web-0", "web", "ReplicaSet", "n1", nil).pod("web-1", "web", "ReplicaSet", "n2", nil)
	}
	budget := &policyv1.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{Kind: "PodDisruptionBudget"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b"},
		Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 2}}
	critical := func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" }
	three := func() *madeUp {
		return fixed(nodesOf("n1", "n2")).pod("web-0", "web", "ReplicaSet", "n1", nil).pod("web-1", "web", "ReplicaSet", "n1", nil).pod("web-2", "web", "ReplicaSet", "n2", nil)
	}
	budgeted := three()
	budgeted.items = append(budgeted.items, budget)
	for name, x := range map[string]struct {
		d     *madeUp
		allow []string // all of it, and each is needed
		names []string
	}{
		"two replicas":            {d: two()},
		"a budget":                {d: budgeted},
		"a Job":                   {d: two().pod("x-0", "x", "Job", "n1", nil), allow: []string{"jobs"}, names: []string{"shop/x"}},
		"one replica":             {d: two().pod("pay-0", "pay", "StatefulSet", "n1", nil), allow: []string{"single-replica"}, names: []string{"shop/pay"}},
		"one by name":             {d: two().pod("pay-0", "pay", "StatefulSet", "n1", nil), allow: []string{"shop/pay"}, names: []string{"shop/pay"}},
		"a second isn't ready":    {d: two().pod("pay-0", "pay", "ReplicaSet", "n1", nil).pod("pay-1", "pay", "ReplicaSet", "n2", unready), allow: []string{"single-replica"}, names: []string{"shop/pay"}},
		"system-critical":         {d: two().pod("dns-0", "dns", "ReplicaSet", "n1", critical), allow: []string{"shop/dns"}, names: []string{"shop/dns", "system-critical"}},
		"critical by its number":  {d: two().pod("dns-0", "dns", "ReplicaSet", "n1", func(p *corev1.Pod) { most := int32(2_000_001_000); p.Spec.Priority = &most }), allow: []string{"shop/dns"}, names: []string{"shop/dns", "system-critical"}},
		"critical, two of it":     {d: two().pod("dns-0", "dns", "ReplicaSet", "n1", critical).pod("dns-1", "dns", "ReplicaSet", "n2", critical)},
		"two in a step":           {d: three(), allow: []string{"same-step"}, names: []string{"shop/web"}},
		"failed elsewhere":        {d: two().pod("old", "old", "ReplicaSet", "n2", func(p *corev1.Pod) { unready(p); p.Status.Phase = corev1.PodFailed })},
		"a daemon set's, unready": {d: two().pod("agent", "agent", "DaemonSet", "n2", unready)},
		"terminating":             {d: two().pod("old", "old", "ReplicaSet", "n2", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} })},
		"succeeded":               {d: two().pod("done", "done", "Job", "n2", func(p *corev1.Pod) { unready(p); p.Status.Phase = corev1.PodSucceeded })},
		"waits for ever": {d: two().pod("big", "big", "ReplicaSet", "", func(p *corev1.Pod) {
			unready(p)
			p.Status.Phase, p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = corev1.PodPending, resource.MustParse("99")
		})},
		"cordoned by others": {d: cordoned(fixed(nodesOf("n0", "n1", "n2")).pod("web-0", "web", "ReplicaSet", "n1", nil).pod("web-1", "web", "ReplicaSet", "n2", nil)), allow: []string{"cordoned"}, names: []string{"n0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, p := x.d.plan(t)
			if len(p.Steps) == 0 {
				t.Fatal("the plan moves nothing")
			}
			drain := func(allow []string) (*played, error) {
				k := &played{t: t, c: x.d.cluster(t), lost: map[int]int{}, closed: map[string]bool{}, rng: rand.New(rand.NewPCG(1, 2))}
				_, err := kubernetes.Drain(t.Context(), k, kubernetes.DrainOptions{Options: byNode, Allow: allow,
					Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}, Patience: time.Millisecond, Poll: time.Millisecond, Log: t.Logf})
				return k, err
			}
			for left := range x.allow {
				allow := append(append([]string{}, x.allow[:left]...), x.allow[left+1:]...)
				text, err := in.Commands(p, allow)
				if !errors.Is(err, kubernetes.ErrHarm) || text != "" {
					t.Errorf("%v is allowed: %v, and a script of %d bytes", allow, err, len(text))
				}
				for _, name := range x.names {
					if len(allow) == 0 && !strings.Contains(fmt.Sprint(err), name) {
						t.Errorf("%q isn't named: %v", name, err)
					}
				}
				if len(allow) == 0 && !strings.Contains(fmt.Sprint(err), "--allow "+x.allow[0]) && x.allow[0] != "shop/pay" {
					t.Errorf("what allows it isn't named: %v", err)
				}
				if k, err := drain(allow); !errors.Is(err, kubernetes.ErrHarm) || k.evicted > 0 || len(k.closed) > 0 {
					t.Errorf("%v is allowed: %v, %d evicted, cordoned: %v", allow, err, k.evicted, k.closed)
				}
			}
			if text, err := in.Commands(p, x.allow); err != nil || !strings.Contains(text, "\nevict shop ") {
				t.Errorf("all is allowed: %v\n%s", err, text)
			}
			if k, err := drain(x.allow); err != nil || k.evicted == 0 {
				t.Errorf("all is allowed: %v, %d evicted", err, k.evicted)
			}
		})
	}
}

// fixed adds a pod on n2 that can't move.
func fixed(d *madeUp) *madeUp {
	return d.pod("fixed", "fixed", "", "n2", func(p *corev1.Pod) { p.OwnerReferences = nil })
}

func cordoned(d *madeUp) *madeUp {
	d.items[0].(map[string]any)["spec"] = map[string]any{"unschedulable": true}
	return d
}

// Names that no API server takes are shown, and nothing is carried out with them. Names that it takes are one word each
// to a shell, and nothing else runs.
func TestHostileCluster(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{"x; touch INJECTED", "$(touch INJECTED)", "`touch INJECTED`", "x\ntouch INJECTED", "--all", "a/b", "..", "'", "X", "", "a\x1b[31m", strings.Repeat("a", 300)} {
		for what, d := range map[string]*madeUp{
			"node":      nodesOf(evil+"", "n2").pod("web-0", "web", "ReplicaSet", evil, nil).pod("web-1", "web", "ReplicaSet", "n2", nil),
			"target":    nodesOf("n1", evil).pod("web-0", "web", "ReplicaSet", "n1", nil).pod("web-1", "web", "ReplicaSet", evil, nil),
			"pod":       nodesOf("n1", "n2").pod(evil, "web", "ReplicaSet", "n1", nil).pod("web-1", "web", "ReplicaSet", "n2", nil),
			"namespace": nodesOf("n1", "n2").pod("web-0", "web", "ReplicaSet", "n1", func(p *corev1.Pod) { p.Namespace = evil }).pod("web-1", "web", "ReplicaSet", "n2", func(p *corev1.Pod) { p.Namespace = evil }),
		} {
			if evil == "" && what != "pod" && what != "namespace" {
				continue // a pod without a node
			}
			in, p := d.plan(t)
			if text, err := in.Commands(p, kubernetes.Harms); !errors.Is(err, model.ErrInvalid) || text != "" {
				t.Errorf("a %s called %q: %v\n%s", what, evil, err, text)
			}
			k := &played{t: t, c: d.cluster(t), lost: map[int]int{}, closed: map[string]bool{}, rng: rand.New(rand.NewPCG(1, 2))}
			_, err := kubernetes.Drain(t.Context(), k, kubernetes.DrainOptions{Options: byNode, Allow: kubernetes.Harms,
				Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}, Patience: time.Millisecond, Poll: time.Millisecond, Log: t.Logf})
			if !errors.Is(err, model.ErrInvalid) || k.evicted > 0 || len(k.closed) > 0 {
				t.Errorf("a %s called %q: %v, %d evicted, cordoned: %v", what, evil, err, k.evicted, k.closed)
			}
		}
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	folder := t.TempDir()
	run := func(script string) string {
		kubectl := "#!/bin/sh\nfor x; do printf '[%s]' \"$x\" >>said; done; echo >>said\n"
		for name, text := range map[string]string{"kubectl": kubectl, "plan.sh": script} {
			require.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755))
		}
		c := exec.Command("sh", "plan.sh")
		c.Dir, c.Env = folder, append(os.Environ(), "PATH="+folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if _, e := os.Stat(filepath.Join(folder, "INJECTED")); e == nil {
			t.Fatalf("a name ran:\n%s", script)
		}
		return fmt.Sprintf("%s%v", out, err)
	}
	in, p := nodesOf("n1.example.org", "n2").pod("web-0", "web", "ReplicaSet", "n1.example.org", nil).pod("web-1", "web", "ReplicaSet", "n2", nil).plan(t)
	text := require.Value(in.Commands(p, nil))(t)
	if out := run(text); out != "<nil>" {
		t.Errorf("%s\n%s", out, text)
	}
	said, err := os.ReadFile(filepath.Join(folder, "said"))
	want := "[patch][node][n1.example.org][--type][merge][-p][{\"metadata\":{\"annotations\":{\"gapwise.dev/cordoned-by\":\"gapwise kubernetes plan --commands\"}},\"spec\":{\"unschedulable\":true}}]\n" +
		"[get][pods][-n][shop][-o]"
	if then := "\n[create][--raw][/api/v1/namespaces/shop/pods/web-0/eviction][-f][-]\n[get][pods][-n][shop]"; err != nil ||
		!strings.HasPrefix(string(said), want) || !strings.Contains(string(said), then) {
		t.Errorf("%s\nwant %s (%v)", said, want, err)
	}
	// An offer's name is in a comment.
	p.Launch = []kubernetes.Launch{{Offer: "m4\ntouch INJECTED"}}
	text = require.Value(in.Commands(p, nil))(t)
	if out := run(text); !strings.Contains(out, "exit status 1") {
		t.Errorf("%s\n%s", out, text)
	}
}

// A plan states which workloads one node or zone would take with it, now and then, and how many pods request nothing.
func TestRisks(t *testing.T) {
	d := nodesOf("n1", "n2", "n3").pod("web-0", "web", "ReplicaSet", "n1", nil).pod("web-1", "web", "ReplicaSet", "n2", nil).pod("web-2", "web", "ReplicaSet", "n3", nil).
		pod("db-0", "db", "StatefulSet", "n1", nil).pod("db-1", "db", "StatefulSet", "n3", nil).pod("one", "one", "ReplicaSet", "n1", nil).pod("j-0", "j", "Job", "n3", nil).pod("j-1", "j", "Job", "n3", nil).
		pod("idle-0", "idle", "ReplicaSet", "n3", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("3Gi")}}
		}).pod("asks", "asks", "ReplicaSet", "n3", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("2Gi")
	})
	_, p := d.plan(t)
	require.Is(t, 1, p.Then.Nodes, "nodes")
	want := "now        3 nodes, 24 vCPU\ncould be   1 node, 16 vCPU\nsaved      2 nodes (67 %)\n" +
		"node lost  all replicas of 0 of 2 replicated workloads now, of 2 then, new:\n           shop/db, shop/web\n" +
		"zone lost  all replicas of 1 of 2 replicated workloads now, of 2 then, new:\n           shop/web\n" +
		"asking     1 of 10 pods for no CPU and no memory; memory limits are 1.5 times\n           what all ask for\n"
	if text := p.Text(false); !strings.HasPrefix(text, want) {
		t.Errorf("%s\nwant %s", text, want)
	}
	if r := p.Risks; r.Replicated != 2 || len(r.NodeNow) != 0 || len(r.NodeThen) != 2 || len(r.ZoneNow) != 1 || len(r.ZoneThen) != 2 || r.AskNothing != 1 || r.Memory != 2<<30 || r.MemoryLimits != 3<<30 {
		t.Errorf("%+v", r)
	}
}
