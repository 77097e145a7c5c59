// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
)

// played kubectl answers get with docs/examples/cluster.json, and refuses kinds as kubectl 1.32 does. It returns a function that
// returns the command lines.
func playedKubectl(t *testing.T, forbidden, lacking string) func() []string {
	t.Helper()
	folder := standIn(t, fmt.Sprintf(`#!/bin/sh
folder=$(dirname "$0")
echo "$*" >>"$folder/said"
case "$1" in get) ;; *) exit 0 ;; esac
code=0
for kind in %s; do
	case ",$2," in *",$kind,"*)
		echo "error: the server doesn't have a resource type \"$kind\"" >&2
		exit 1 ;;
	esac
done
for kind in %s; do
	case ",$2," in *",$kind,"*)
		echo "Error from server (Forbidden): $kind.any.k8s.io is forbidden: User \"x\" cannot list resource \"$kind\" in API group \"any.k8s.io\" at the cluster scope" >&2
		code=1 ;;
	esac
done
cat "$folder/cluster.json"
exit $code
`, lacking, forbidden))
	require.OK(t, os.WriteFile(filepath.Join(folder, "cluster.json"), require.Value(os.ReadFile("../../../docs/examples/cluster.json"))(t), 0o600))
	return func() []string {
		return strings.Split(strings.TrimSpace(string(require.Value(os.ReadFile(filepath.Join(folder, "said")))(t))), "\n")
	}
}

// What people are told to type has the kinds that are asked for, and it is one list wherever it stands.
func TestKinds(t *testing.T) {
	t.Parallel()
	short := map[string]string{"poddisruptionbudgets": "pdb", "persistentvolumes": "pv", "persistentvolumeclaims": "pvc", "namespaces": "ns", "services": "svc",
		"replicasets": "rs", "statefulsets": "sts", "replicationcontrollers": "rc", "storageclasses": "sc", "deployments": "deploy", "daemonsets": "ds",
		"horizontalpodautoscalers": "hpa"}
	var want []string
	for _, kind := range strings.Split(kubernetes.Objects, ",") {
		want = append(want, cmp.Or(short[kind], kind))
	}
	require.Same(t, "the kinds", strings.Join(want, ","), kubernetes.Kinds)
	lists, found := regexp.MustCompile(`\bnodes,pods[a-z,]*`), 0
	for _, folder := range []string{"../../../docs", "../../../cmd", "../../../instances", "../../../internal/app/kubernetes", "../../../web", "../../../python"} {
		require.OK(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".go", ".html", ".js", ".py", ".yaml"}, filepath.Ext(path)) || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, list := range lists.FindAllString(string(require.Value(os.ReadFile(path))(t)), -1) {
				if found++; list != kubernetes.Kinds && !strings.HasPrefix(kubernetes.Objects, list) {
					t.Errorf("%s asks for %s, want %s", path, list, kubernetes.Kinds)
				}
			}
			return nil
		}))
	}
	if found < 4 {
		t.Errorf("the lists were found %d times", found)
	}
}

// Pods of a scheduler that isn't known stay, which is told at once with the flags that would say more; either of them is
// enough. A name that no pod has is told, too.
func TestSchedulers(t *testing.T) {
	t.Parallel()
	d := nodesOf("n1", "n2").pod("a", "a", "ReplicaSet", "n1", func(p *corev1.Pod) { p.Spec.SchedulerName = "packer" }).pod("b", "b", "ReplicaSet", "n2", nil)
	for name, x := range map[string]struct {
		packs, schedulers []string
		stays             bool
		says              string
	}{
		"neither":             {nil, nil, true, "pod kept because the scheduler packer isn't known; give --packs packer if it fills nodes, or --schedulers packer if it spreads pods"},
		"--packs":             {[]string{"packer"}, nil, false, ""},
		"--schedulers":        {nil, []string{"packer"}, false, ""},
		"the default one":     {[]string{"default-scheduler"}, []string{"packer"}, false, ""},
		"a name without pods": {[]string{"packer"}, []string{"pakcer"}, false, "no pod has the scheduler pakcer of --packs or --schedulers; pods have default-scheduler, packer"},
	} {
		o := byNode
		o.Packs, o.Schedulers = x.packs, x.schedulers
		in := require.Value(kubernetes.Convert(d.cluster(t), o))(t)
		said := fmt.Sprint(in.Account.Assumed)
		if stays := len(in.Pins) > 0; stays != x.stays || !strings.Contains(said, x.says) || x.says == "" && strings.Contains(said, "scheduler") {
			t.Errorf("%s: stays %v, %s", name, stays, said)
		}
	}
}

// Kinds that a user may not list, or that a server lacks, are left out, told, and not asked for again.
func TestKubectlRefused(t *testing.T) {
	said := playedKubectl(t, "storageclasses jobs", "csinodes")
	k := &kubernetes.Kubectl{}
	for range 2 {
		in := require.Value(kubernetes.Convert(require.Value(k.Read(t.Context()))(t), kubernetes.Options{}))(t)
		require.Says(t, "the account", fmt.Sprint(in.Account.NotModelled), "the cluster gives no csinodes, storageclasses, jobs (for want of rights")
	}
	all := said()
	require.Same(t, "calls", 4, len(all))
	require.Same(t, "the last one", "get nodes,pods,poddisruptionbudgets,persistentvolumes,persistentvolumeclaims,namespaces,services,"+
		"replicasets,statefulsets,replicationcontrollers,deployments,daemonsets,horizontalpodautoscalers -A -o json", all[3])
}

// Kinds that only room or nodes to buy need are told as missing if these are asked for.
func TestKubectlNeedless(t *testing.T) {
	playedKubectl(t, "deployments horizontalpodautoscalers", "daemonsets")
	c := require.Value((&kubernetes.Kubectl{}).Read(t.Context()))(t)
	for what, o := range map[string]kubernetes.Options{"": {}, "deployments (": {Room: []string{"surge"}}, "deployments, horizontalpodautoscalers (": {Room: []string{"hpa"}}} {
		said := fmt.Sprint(require.Value(kubernetes.Convert(c, o))(t).Account.NotModelled)
		if is := strings.Contains(said, "the cluster gives no "+what); is != (what != "") {
			t.Errorf("%q: %s", what, said)
		}
	}
}

// Without nodes or pods there is no plan, whatever else is refused.
func TestKubectlNeedsPods(t *testing.T) {
	for _, kinds := range []string{"pods", "nodes", "jobs pods nodes"} {
		t.Run(kinds, func(t *testing.T) {
			playedKubectl(t, kinds, "none")
			if _, err := (&kubernetes.Kubectl{}).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "is forbidden") {
				t.Errorf("without the right to list %s: %v", kinds, err)
			}
		})
	}
}

// documents reads the objects of a file strictly: each is one of the API's types without any other field.
func documents(t *testing.T, file string) (all []any) {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader(require.Value(os.ReadFile("../../../docs/examples/" + file))(t)))
	for {
		var doc map[string]any
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		to := map[string]any{"v1/Namespace": &corev1.Namespace{}, "v1/ServiceAccount": &corev1.ServiceAccount{}, "batch/v1/CronJob": &batchv1.CronJob{},
			"rbac.authorization.k8s.io/v1/ClusterRole": &rbacv1.ClusterRole{}, "rbac.authorization.k8s.io/v1/ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
			"rbac.authorization.k8s.io/v1/Role": &rbacv1.Role{}, "rbac.authorization.k8s.io/v1/RoleBinding": &rbacv1.RoleBinding{}}[fmt.Sprintf("%v/%v", doc["apiVersion"], doc["kind"])]
		if to == nil {
			t.Fatalf("%s: a %v of %v", file, doc["kind"], doc["apiVersion"])
		}
		strict := json.NewDecoder(bytes.NewReader(require.Value(json.Marshal(doc))(t)))
		strict.DisallowUnknownFields()
		require.OK(t, strict.Decode(to), file, doc["kind"])
		all = append(all, to)
	}
}

// rights returns what rules allow, as "verb group/resource" in order.
func rights(rules []rbacv1.PolicyRule) (all []string) {
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, what := range r.Resources {
				for _, verb := range r.Verbs {
					all = append(all, verb+" "+group+"/"+what)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// asked returns the rights that kubectl's command lines need.
func asked(t *testing.T, lines []string) (all []string) {
	t.Helper()
	groups := map[string]string{"poddisruptionbudgets": "policy", "replicasets": "apps", "statefulsets": "apps", "jobs": "batch",
		"storageclasses": "storage.k8s.io", "csinodes": "storage.k8s.io", "deployments": "apps", "daemonsets": "apps", "horizontalpodautoscalers": "autoscaling"}
	for _, line := range lines {
		switch f := strings.Fields(line); {
		case f[0] == "get" && f[2] == "-A":
			for _, kind := range strings.Split(f[1], ",") {
				all = append(all, "list "+groups[kind]+"/"+kind)
			}
		case f[0] == "patch" && f[1] == "node": // it gets the object first
			all = append(all, "get /nodes", "patch /nodes")
		case f[0] == "create" && f[1] == "--raw" && strings.HasSuffix(f[2], "/eviction"):
			all = append(all, "create /pods/eviction")
		case strings.Contains(line, " --raw /apis/coordination.k8s.io/"):
			all = append(all, strings.Replace(f[0], "replace", "update", 1)+" coordination.k8s.io/leases")
		default:
			t.Errorf("no role allows kubectl %s", line)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// The roles of the examples allow just what gapwise asks kubectl for, and are bound to the accounts that their file makes.
func TestRoles(t *testing.T) {
	said := playedKubectl(t, "none", "none")
	k := &kubernetes.Kubectl{By: "a test"}
	require.Value(k.Read(t.Context()))(t)
	plan := asked(t, said())
	require.OK(t, k.Cordon(t.Context(), true, "n1"))
	require.OK(t, k.Cordon(t.Context(), false, "n1"))
	require.OK(t, k.Evict(t.Context(), &corev1.Pod{}))
	drain := asked(t, said())
	for _, verb := range []string{"create", "get", "replace", "delete"} {
		_ = k.Lease(t.Context(), verb, new(coordinationv1.Lease)) // its answer is none
	}
	lock := slices.DeleteFunc(asked(t, said()), func(right string) bool { return !strings.HasSuffix(right, "/leases") })
	for _, x := range []struct {
		file, name    string
		cluster, some []string
	}{{"kubernetes-nightly.yaml", "gapwise-plan", plan, nil}, {"kubernetes-drain.yaml", "gapwise-drain", drain, lock}} {
		var cluster, some []string
		subject := []rbacv1.Subject{{Kind: "ServiceAccount", Name: x.name, Namespace: "gapwise"}}
		made := map[string]bool{}
		for _, o := range documents(t, x.file) {
			switch o := o.(type) {
			case *rbacv1.ClusterRole:
				cluster = rights(o.Rules)
				require.Same(t, x.file, x.name, o.Name)
			case *rbacv1.Role:
				some = rights(o.Rules)
				require.Same(t, x.file, "gapwise/"+x.name, o.Namespace+"/"+o.Name)
			case *rbacv1.ClusterRoleBinding:
				require.Same(t, x.file, rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: x.name}, o.RoleRef)
				require.Same(t, x.file, subject, o.Subjects)
			case *rbacv1.RoleBinding:
				require.Same(t, x.file, rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: x.name}, o.RoleRef)
				require.Same(t, x.file, subject, o.Subjects)
			case *corev1.Namespace:
				made[o.Name] = true
			case *corev1.ServiceAccount:
				made[o.Namespace+"/"+o.Name] = true
			case *batchv1.CronJob:
				require.Same(t, x.file, x.name, o.Spec.JobTemplate.Spec.Template.Spec.ServiceAccountName)
			}
		}
		require.Same(t, x.file+": of the cluster", x.cluster, cluster)
		require.Same(t, x.file+": of its namespace", x.some, some)
		require.Same(t, x.file+": made", map[string]bool{"gapwise": true, "gapwise/" + x.name: true}, made)
	}
}

// standIn has a script of the shell stand for kubectl in a test, and returns its folder.
func standIn(t *testing.T, script string) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	folder := t.TempDir()
	t.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
	require.OK(t, os.WriteFile(filepath.Join(folder, "kubectl"), []byte(script), 0o755))
	return folder
}
