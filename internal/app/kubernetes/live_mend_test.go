// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// On a live cluster, a drain that mends brings pods that run against their node selector to the node that has its label
// now. It evicts no others, and no node stays cordoned.
func TestLiveMend(t *testing.T) {
	k := live(t, "--size", "small", "--seed", "4")
	k.By, k.Namespace = "a test", "kube-system"
	c := require.Value(k.Read(t.Context()))(t)
	var nodes []string // in use, without taints
	for n := range c.Nodes {
		if name := c.Nodes[n].Name; len(c.Nodes[n].Spec.Taints) == 0 && slices.ContainsFunc(c.Pods, func(p corev1.Pod) bool { return p.Spec.NodeName == name }) {
			nodes = append(nodes, name)
		}
	}
	if len(nodes) < 2 {
		t.Fatalf("nodes in use: %v", nodes)
	}
	from, to := nodes[0], nodes[1]
	kubectl(t, k, "", "label", "node", from, "mended=yes")
	kubectl(t, k, "", "create", "namespace", "mend")
	kubectl(t, k, `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"wrong","namespace":"mend"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"wrong"}},
		"template":{"metadata":{"labels":{"app":"wrong"}},"spec":{"nodeSelector":{"mended":"yes"},"containers":[{"name":"c","image":"c","resources":{"requests":{"cpu":"1m","memory":"1Mi"}}}]}}}}`, "create", "-f", "-")
	on := func() []string {
		return strings.Fields(string(kubectl(t, k, "", "get", "pods", "-n", "mend", "-o", "jsonpath={.items[*].spec.nodeName}")))
	}
	for range 100 {
		if len(on()) == 2 {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	require.Same(t, "the pods' nodes before", []string{from, from}, on())
	kubectl(t, k, "", "label", "node", from, "mended-")
	kubectl(t, k, "", "label", "node", to, "mended=yes")
	before := map[string]bool{}
	for _, uid := range strings.Fields(string(kubectl(t, k, "", "get", "pods", "-A", "-o", "jsonpath={.items[*].metadata.uid}"))) {
		before[uid] = true
	}
	d := require.Value(kubernetes.Drain(t.Context(), &k, kubernetes.DrainOptions{Options: kubernetes.Options{Mend: true, Packs: []string{"packing-scheduler"}},
		Solve: gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}, Allow: kubernetes.Harms, Patience: time.Minute, Poll: 300 * time.Millisecond, Log: t.Logf}))(t)
	require.Same(t, "the pods' nodes after", []string{to, to}, on())
	t.Log(d.Mended())
	if d.BrokenBefore.Tasks < 2 || d.BrokenAfter.Tasks != d.BrokenBefore.Tasks-2 || !strings.Contains(d.Mended(), "mended: 2 pods where their workloads may not be") {
		t.Errorf("%s: %+v, %+v", d.Mended(), d.BrokenBefore, d.BrokenAfter)
	}
	gone := len(before)
	for _, uid := range strings.Fields(string(kubectl(t, k, "", "get", "pods", "-A", "-o", "jsonpath={.items[*].metadata.uid}"))) {
		if before[uid] {
			gone--
		}
	}
	require.Same(t, "pods that are gone", d.Evicted, gone)
	if said := string(kubectl(t, k, "", "get", "nodes", "-o", "jsonpath={.items[*].spec.unschedulable}")); strings.Contains(said, "true") {
		t.Error("a node stays cordoned")
	}
}
