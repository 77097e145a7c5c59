// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
)

// liveRoles starts a control plane that keeps roles (RBAC), with some nodes and pods.
func liveRoles(t *testing.T) kubernetes.Kubectl {
	t.Helper()
	folder := os.Getenv("GAPWISE_KUBERNETES")
	if folder == "" {
		t.Skip("GAPWISE_KUBERNETES doesn't name the programs of a control plane (make kubernetes)")
	}
	const open, at = "--authorization-mode=AlwaysAllow", `here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)`
	text := string(require.Value(os.ReadFile(filepath.Join(folder, "kube-up")))(t))
	if strings.Count(text, open) != 1 || strings.Count(text, at) != 1 {
		t.Skip("kube-up can't be changed to keep roles")
	}
	text = strings.NewReplacer(open, "--authorization-mode=RBAC", at, "here='"+require.Value(filepath.Abs(folder))(t)+"'").Replace(text)
	up, dir := filepath.Join(t.TempDir(), "kube-up"), t.TempDir()
	require.OK(t, os.WriteFile(up, []byte(text), 0o755))
	out, err := exec.Command(up, dir).Output()
	if err != nil {
		t.Skipf("kube-up: %v: there is no control plane", err)
	}
	t.Cleanup(func() { _ = exec.Command(filepath.Join(folder, "kube-down"), dir).Run() })
	config := strings.TrimSpace(string(out))
	require.Run(t, exec.Command(filepath.Join(folder, "kube-fill"), "--size", "small", "--seed", "4", config))
	return kubernetes.Kubectl{Args: []string{"--kubeconfig", config}}
}

// A real server takes the manifests of the examples. Its roles let each account do what gapwise does with it: one reads a
// cluster, the other one also cordons, evicts and takes the lease. They let them do nothing else.
func TestLiveRoles(t *testing.T) {
	k := liveRoles(t)
	kubectl(t, k, "", "create", "namespace", "gapwise") // objects in it are refused before
	for _, name := range []string{"kubernetes-nightly.yaml", "kubernetes-drain.yaml"} {
		text := string(require.Value(os.ReadFile(filepath.Join("../../../docs/examples", name)))(t))
		said := string(kubectl(t, k, text, "apply", "--dry-run=server", "--validate=strict", "-f", "-"))
		if n := strings.Count(said, "(server dry run)"); n != strings.Count(text, "\nkind: ") {
			t.Errorf("%s: the server took %d objects: %s", name, n, said)
		}
		kubectl(t, k, text, "apply", "-f", "-")
	}
	as := func(account string) kubernetes.Kubectl {
		return kubernetes.Kubectl{Args: append([]string{"--as", "system:serviceaccount:gapwise:" + account}, k.Args...), By: "a test", Namespace: "gapwise"}
	}
	plan, drain := as("gapwise-plan"), as("gapwise-drain")
	var pod *corev1.Pod
	for _, k := range []*kubernetes.Kubectl{&plan, &drain} {
		c := require.Value(k.Read(t.Context()))(t)
		if len(c.Nodes) == 0 || len(c.Pods) == 0 || len(c.Refused) > 0 {
			t.Fatalf("%v: %d nodes, %d pods, refused: %v", k.Args, len(c.Nodes), len(c.Pods), c.Refused)
		}
		for i := range c.Pods {
			if c.Pods[i].Spec.NodeName != "" {
				pod = &c.Pods[i]
			}
		}
	}
	node := pod.Spec.NodeName
	forbidden := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), "forbidden") {
			t.Errorf("%s: %v, want it to be forbidden", what, err)
		}
	}
	forbidden("a plan cordons", plan.Cordon(t.Context(), true, node))
	forbidden("a plan evicts", plan.Evict(t.Context(), pod))
	forbidden("a plan takes the lease", plan.Lease(t.Context(), "create", new(coordinationv1.Lease)))
	require.OK(t, drain.Cordon(t.Context(), true, node))
	require.OK(t, drain.Cordon(t.Context(), false, node))
	if err := drain.Evict(t.Context(), pod); err != nil && strings.Contains(strings.ToLower(err.Error()), "forbidden") {
		t.Error(err) // a budget may refuse it
	}
	lease := new(coordinationv1.Lease)
	for _, verb := range []string{"create", "get", "replace", "delete"} {
		require.OK(t, drain.Lease(t.Context(), verb, lease), verb)
	}
	drain.Namespace = "kube-system"
	forbidden("a drain takes a lease elsewhere", drain.Lease(t.Context(), "create", new(coordinationv1.Lease)))
	for _, line := range []string{"delete pods", "delete nodes", "create pods", "get secrets", "update deployments.apps"} {
		f := strings.Fields(line)
		out, _ := exec.Command("kubectl", append(append([]string{"auth", "can-i", "-n", pod.Namespace}, drain.Args...), f...)...).Output()
		require.Same(t, "a drain may "+line, "no", strings.TrimSpace(string(out)))
	}
}
