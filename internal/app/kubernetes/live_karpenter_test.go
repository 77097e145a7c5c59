// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

const (
	karpenterCSV  = "testdata/karpenter.csv"
	karpenterHead = "pods,seed,who,nodes_before,vcpu_before,nodes,vcpu,evicted,launched,waiting,least_vcpu,status,seconds"
)

// The same cluster, which Karpenter made and a day has changed, is consolidated by a drain and then, put back as it was, by
// Karpenter. GAPWISE_KARPENTER is Karpenter's program with the KWOK provider. It listens on all addresses, so run this
// as make karpenter does, in a network namespace.
func TestLiveKarpenter(t *testing.T) {
	program, folder := os.Getenv("GAPWISE_KARPENTER"), os.Getenv("GAPWISE_KUBERNETES")
	if program == "" || folder == "" {
		t.Skip("GAPWISE_KARPENTER and GAPWISE_KUBERNETES don't name Karpenter and the programs of a control plane (make karpenter)")
	}
	for _, seed := range []string{"2", "4", "5"} {
		t.Run(seed, func(t *testing.T) { karpenterRows(t, program, folder, seed) })
	}
}

func karpenterRows(t *testing.T, program, folder, seed string) {
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		out, err := exec.Command(filepath.Join(folder, name), args...).Output()
		require.OK(t, err, name)
		return strings.TrimSpace(string(out))
	}
	config := run("kube-up", dir)
	t.Cleanup(func() { run("kube-down", dir) })
	k := kubernetes.Kubectl{Args: []string{"--kubeconfig", config}}
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/karpenter")
	list.Dir = filepath.Join(folder, "karpenter")
	crds := strings.TrimSpace(string(require.Value(list.Output())(t)))
	kubectl(t, k, "", "apply", "-f", crds+"/kwok/apis/crds", "-f", crds+"/pkg/apis/crds")
	time.Sleep(2 * time.Second)
	kubectl(t, k, "", "apply", "-f", filepath.Join(folder, "karpenter", "nodepool.yaml"))
	start := func() func() {
		ctx, stop := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, program)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+config, "DISABLE_LEADER_ELECTION=true", "METRICS_PORT=18080", "HEALTH_PROBE_PORT=18081", "KUBE_CLIENT_QPS=2000", "KUBE_CLIENT_BURST=2000",
			"INSTANCE_TYPES_FILE_PATH="+filepath.Join(folder, "karpenter", "instance_types.json"), "KARPENTER_SERVICE=karpenter", "SYSTEM_NAMESPACE=kube-system")
		require.OK(t, cmd.Start())
		return func() { stop(); _ = cmd.Wait() } // it was stopped
	}
	stop := start()
	run("kube-fill", "--size", "medium", "--seed", seed, "--plain", "--no-nodes", "--limit", "90", config)
	still(t, k, 20*time.Second)
	stop()
	run("kube-fill", "--churn", "--size", "medium", "--seed", seed, config)

	before := require.Value(k.Read(t.Context()))(t)
	in := require.Value(kubernetes.Convert(before, kubernetes.Options{}))(t)
	solve := gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: 20 * time.Second}}
	plan := require.Value(kubernetes.MakePlan(t.Context(), in, solve))(t)
	row := func(who string, nodes int, vcpu int64, evicted, launched, waiting int, seconds float64) {
		text := fmt.Sprintf("%d,%s,%s,%d,%d,%d,%d,%d,%d,%d,%d,%s,%.0f", len(before.Pods), seed, who, plan.Now.Nodes, plan.Now.VCPU, nodes, vcpu, evicted, launched, waiting, plan.Then.VCPU, plan.CostStatus, seconds)
		t.Log(karpenterHead + "\n" + text)
		if *update {
			addRow(t, karpenterCSV, karpenterHead, text)
		}
	}
	deleted := count(t, k, "pods", "DELETED")
	began := time.Now()
	d := require.Value(kubernetes.Drain(t.Context(), &k,
		kubernetes.DrainOptions{Solve: solve, Allow: kubernetes.Harms, Patience: time.Minute,
			Poll: 300 * time.Millisecond, Log: t.Logf}))(t)
	row("gapwise", d.After.Nodes, d.After.VCPU, deleted(), 0, d.After.Waiting, time.Since(began).Seconds())

	restore(t, k, dir, before, run)
	deleted, launched := count(t, k, "pods", "DELETED"), count(t, k, "nodes", "ADDED")
	began = time.Now()
	stop = start()
	last := still(t, k, 75*time.Second)
	stop()
	after := require.Value(k.Read(t.Context()))(t)
	vcpu, waiting := int64(0), 0
	for n := range after.Nodes {
		vcpu += require.Value(kubernetes.PriceByVCPU.Of(&after.Nodes[n]))(t)
	}
	for n := range after.Pods {
		if after.Pods[n].Spec.NodeName == "" {
			waiting++
		}
	}
	row("Karpenter", len(after.Nodes), vcpu, deleted(), launched(), waiting, last.Sub(began).Seconds())
}

// still waits until the nodes haven't changed for some time, and returns when they did last.
func still(t *testing.T, k kubernetes.Kubectl, quiet time.Duration) time.Time {
	t.Helper()
	end, was, since := time.Now().Add(6*time.Minute), "", time.Now()
	for time.Now().Before(end) && (time.Since(since) < quiet || was == "") {
		now := string(kubectl(t, k, "", "get", "nodes", "-o", "name"))
		if now != was {
			was, since = now, time.Now()
		}
		time.Sleep(time.Second)
	}
	return since
}

// count counts the events of a kind from now on, until the returned function is called.
func count(t *testing.T, k kubernetes.Kubectl, what, event string) func() int {
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "kubectl", append(slices.Clone(k.Args), "get", what, "-A", "--watch-only", "--output-watch-events", "-o", `jsonpath={.type}{"\n"}`)...)
	var said bytes.Buffer
	cmd.Stdout = &said
	require.OK(t, cmd.Start())
	time.Sleep(time.Second)
	return func() int {
		time.Sleep(time.Second)
		stop()
		_ = cmd.Wait() // it was stopped
		return strings.Count(said.String(), event+"\n")
	}
}

// restore puts all pods back: without a scheduler they are created again and bound to the nodes of their controllers'
// earlier pods.
func restore(t *testing.T, k kubernetes.Kubectl, dir string, before *kubernetes.Cluster, run func(string, ...string) string) {
	t.Helper()
	pid := require.Value(os.ReadFile(filepath.Join(dir, "scheduler.pid")))(t)
	require.Run(t, exec.Command("kill", "-9", strings.TrimSpace(string(pid))))
	var names []string
	nodes := map[string][]string{} // of the pods of a controller
	controller := func(p *corev1.Pod) string { return p.Namespace + "/" + p.OwnerReferences[0].Name }
	for n := range before.Nodes {
		names = append(names, before.Nodes[n].Name)
	}
	for n := range before.Pods {
		nodes[controller(&before.Pods[n])] = append(nodes[controller(&before.Pods[n])], before.Pods[n].Spec.NodeName)
	}
	kubectl(t, k, "", append([]string{"uncordon"}, names...)...)
	for _, space := range []string{"team-a", "team-b", "team-c"} {
		kubectl(t, k, "", "delete", "pods", "-n", space, "--all", "--force", "--grace-period=0")
	}
	var list corev1.PodList
	for range 100 {
		list = corev1.PodList{}
		require.OK(t, json.Unmarshal(kubectl(t, k, "", "get", "pods", "-A", "-o", "json"), &list))
		bound := slices.ContainsFunc(list.Items, func(p corev1.Pod) bool { return p.Spec.NodeName != "" })
		if len(list.Items) == len(before.Pods) && !bound {
			break
		}
		time.Sleep(300 * time.Millisecond)
	}
	for n := range list.Items {
		p := &list.Items[n]
		all := nodes[controller(p)]
		if len(all) == 0 {
			t.Fatalf("%s/%s had no node", p.Namespace, p.Name)
		}
		nodes[controller(p)] = all[1:]
		if all[0] == "" {
			continue
		}
		kubectl(t, k, fmt.Sprintf(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q,"namespace":%q},"target":{"apiVersion":"v1","kind":"Node","name":%q}}`, p.Name, p.Namespace, all[0]),
			"create", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/binding", p.Namespace, p.Name), "-f", "-")
	}
	run("kube-up", dir) // starts the scheduler again
	time.Sleep(3 * time.Second)
}

// The how-to's table with Karpenter matches the recorded runs.
func TestKarpenterInDocuments(t *testing.T) {
	var b strings.Builder
	b.WriteString("| cluster | | nodes | vCPU | USD/h | pods evicted | nodes launched | left waiting | seconds |\n|---|---|---|---|---|---|---|---|---|\n")
	last := ""
	for _, row := range rows(t, karpenterCSV) {
		if row["seed"] != last {
			last = row["seed"]
			fmt.Fprintf(&b, "| %s pods, seed %s | before | %s | %s | %.2f | | | | |\n", row["pods"], last, row["nodes_before"], row["vcpu_before"], 0.05*number(t, row, "vcpu_before"))
			least := "least, proved, on these nodes"
			if row["status"] != "optimal" {
				least = "best found on these nodes"
			}
			fmt.Fprintf(&b, "| | %s | | %s | %.2f | | | | |\n", least, row["least_vcpu"], 0.05*number(t, row, "least_vcpu"))
		}
		fmt.Fprintf(&b, "| | %s | %s | %s | %.2f | %s | %s | %s | %s |\n", row["who"], row["nodes"], row["vcpu"], 0.05*number(t, row, "vcpu"), row["evicted"], row["launched"], row["waiting"], row["seconds"])
	}
	inDocument(t, "karpenter", b.String())
}
