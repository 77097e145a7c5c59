// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// disturbed is a live cluster that is drained by the program, while something happens.
type disturbed struct {
	t       *testing.T
	k       kubernetes.Kubectl
	config  string
	program string
	least   *kubernetes.Plan // before the drain
	said    string           // by drains, all of it
	flags   []string
}

// do calls kubectl.
func (d *disturbed) do(input string, args ...string) string {
	return string(kubectl(d.t, d.k, input, args...))
}

// apply makes objects, given as JSON.
func (d *disturbed) apply(objects ...any) {
	for _, x := range objects {
		d.do(string(require.Value(json.Marshal(x))(d.t)), "create", "-f", "-")
	}
}

// status patches the status of an object.
func (d *disturbed) status(namespace, kind, name, patch string) {
	d.do("", "patch", kind, name, "-n", namespace, "--subresource=status", "-p", patch)
}

// plan reads the cluster, with the marked nodes open, and plans.
func (d *disturbed) plan() *kubernetes.Plan {
	c := require.Value(d.k.Read(d.t.Context()))(d.t)
	for k := range c.Nodes {
		if n := &c.Nodes[k]; n.Annotations[kubernetes.Mark] != "" {
			n.Spec.Unschedulable = false
		}
	}
	in := require.Value(kubernetes.Convert(c, byNode))(d.t)
	return require.Value(kubernetes.MakePlan(d.t.Context(), in, gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: 20 * time.Second}}))(d.t)
}

// command is the program with these arguments, for the cluster.
func (d *disturbed) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(d.t.Context(), d.program, append([]string{"kubernetes", "drain", "--context", "private"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+d.config)
	return cmd
}

// drain runs a drain. After so many evictions something happens, once, with a way to end its pipe; 0 stands for the
// first cordon.
func (d *disturbed) drain(after int, happens func(p *os.Process, log io.Closer)) error {
	args := append([]string{"--execute", "--price", "nodes", "--allow", "single-replica,same-step,cordoned", "--patience", "20s"}, d.flags...)
	cmd := d.command(args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	log := require.Value(cmd.StderrPipe())(d.t)
	require.OK(d.t, cmd.Start())
	begin, evicted := time.Now(), 0
	for lines := bufio.NewScanner(log); lines.Scan(); {
		text := lines.Text()
		d.said += fmt.Sprintf("%5.1f %s\n", time.Since(begin).Seconds(), text)
		if strings.HasPrefix(text, "evict ") {
			evicted++
		}
		if happens != nil && evicted >= after && (evicted > 0 || strings.HasPrefix(text, "cordon ")) {
			happens(cmd.Process, log)
			happens = nil
		}
	}
	err := cmd.Wait()
	d.said += out.String()
	if happens != nil {
		d.t.Errorf("only %d were evicted", evicted)
	}
	return err
}

func (d *disturbed) again() { require.OK(d.t, d.drain(0, nil)) }

// signalled stops a drain by a signal after so many evictions; whether it has opened its nodes is looked at.
func (d *disturbed) signalled(after int, s os.Signal) {
	err := d.drain(after, func(p *os.Process, log io.Closer) {
		if s == nil {
			require.OK(d.t, log.Close())
		} else {
			require.OK(d.t, p.Signal(s))
		}
	})
	marked := len(d.nodes(true)) > 0
	if err == nil && s != nil || marked != (s == syscall.SIGKILL) {
		d.t.Errorf("%v: %v, nodes are cordoned still: %v", s, err, marked)
	}
}

// nodes has what must stay of each node as it is, or only of those with the mark.
func (d *disturbed) nodes(marked bool) map[string]string {
	var list corev1.NodeList
	require.OK(d.t, json.Unmarshal([]byte(d.do("", "get", "nodes", "-o", "json")), &list))
	all := map[string]string{}
	for _, n := range list.Items {
		if n.Annotations[kubernetes.Mark] != "" || !marked {
			all[n.Name] = fmt.Sprint(n.Spec.Unschedulable, n.Annotations, n.Spec.Taints, n.Labels)
		}
	}
	return all
}

// scale changes the replicas of each third deployment.
func (d *disturbed) scale(by int) {
	for k, line := range strings.Fields(d.do("", "get", "deployments", "-A", "-o", `jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}/{.spec.replicas}{"\n"}{end}`)) {
		f := strings.Split(line, "/")
		var n int
		require.OK(d.t, require.Err(fmt.Sscan(f[2], &n)))
		if k%3 == 0 && n+by >= 0 {
			d.do("", "scale", "deployment", "-n", f[0], f[1], fmt.Sprintf("--replicas=%d", n+by))
		}
	}
}

// lingering has all pods take so long to end, by a finalizer, until the returned function is called.
func (d *disturbed) lingering(ends time.Duration) (stop func()) {
	const take = `{"metadata":{"finalizers":null}}`
	for _, pod := range strings.Fields(d.do("", "get", "pods", "-A", "-o", `jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}{"\n"}{end}`)) {
		namespace, name, _ := strings.Cut(pod, "/")
		d.do("", "patch", "pod", "-n", namespace, name, "-p", `{"metadata":{"finalizers":["example.com/ends-slowly"]}}`)
	}
	seen := map[string]time.Time{}
	return d.meanwhile(func(p *corev1.Pod) {
		if p.DeletionTimestamp == nil || len(p.Finalizers) == 0 {
			return
		}
		if at, ok := seen[p.Namespace+p.Name]; !ok {
			seen[p.Namespace+p.Name] = time.Now()
		} else if time.Since(at) >= ends {
			d.do("", "patch", "pod", "-n", p.Namespace, p.Name, "--type", "merge", "-p", take)
		}
	})
}

// meanwhile looks at all pods each second, until the returned function is called.
func (d *disturbed) meanwhile(look func(*corev1.Pod)) (stop func()) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			var list corev1.PodList
			if text, err := exec.Command("kubectl", append(slices.Clone(d.k.Args), "get", "pods", "-A", "-o", "json")...).Output(); err == nil && json.Unmarshal(text, &list) == nil {
				for k := range list.Items {
					look(&list.Items[k])
				}
			}
			select {
			case <-over:
				return
			case <-time.After(time.Second):
			}
		}
	}()
	return func() { close(over); <-done }
}

// object is an object of a kind, as JSON has it.
func object(version, kind, namespace, name string, spec any, labels map[string]string) map[string]any {
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name, "labels": labels}, "spec": spec}
}

func podSpec(cpu string, more map[string]any) map[string]any {
	spec := map[string]any{"containers": []any{map[string]any{"name": "main", "image": "none:1", "resources": map[string]any{"requests": map[string]any{"cpu": cpu}}}}}
	maps.Copy(spec, more)
	return spec
}

func deployment(name string, replicas int, cpu string, more map[string]any) map[string]any {
	app := map[string]string{"app": name}
	return object("apps/v1", "Deployment", "team-a", name, map[string]any{"replicas": replicas, "selector": map[string]any{"matchLabels": app},
		"template": map[string]any{"metadata": map[string]any{"labels": app}, "spec": podSpec(cpu, more)}}, app)
}

// settled waits until each pod of a label has a node.
func (d *disturbed) settled(selector string, n int) {
	for range 100 {
		if len(strings.Fields(d.do("", "get", "pods", "-A", "-l", selector, "-o", `jsonpath={.items[*].spec.nodeName}`))) == n {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	d.t.Fatalf("pods of %s have no node", selector)
}

// disturbances, each with what is there before the plan, and the drain.
var disturbances = []struct {
	name   string
	before func(*disturbed)
	drain  func(*disturbed)
}{
	{"nothing", nil, (*disturbed).again},
	{"a failed pod", func(d *disturbed) {
		d.apply(object("v1", "Pod", "default", "old", podSpec("1", map[string]any{"restartPolicy": "Never", "nodeName": "small-000"}), nil))
		time.Sleep(time.Second)
		d.status("default", "pod", "old", `{"status":{"phase":"Failed","conditions":[{"type":"Ready","status":"False","reason":"PodFailed"}]}}`)
	}, (*disturbed).again},
	{"a crash loop", func(d *disturbed) {
		d.apply(deployment("crashes", 2, "100m", nil))
		d.settled("app=crashes", 2)
		stop := d.meanwhile(d.crash)
		time.Sleep(5 * time.Second)
		stop()
	}, func(d *disturbed) {
		defer d.meanwhile(d.crash)()
		d.again()
	}},
	{"KILL after the first cordon and --undo", nil, func(d *disturbed) {
		d.signalled(0, syscall.SIGKILL)
		text := string(require.Value(d.command("--undo").CombinedOutput())(d.t))
		d.said += text
		if n := len(d.nodes(true)); n > 0 || !strings.Contains(text, "opened: ") {
			d.t.Errorf("%d nodes are marked after --undo: %s", n, text)
		}
		d.again()
	}},
	{"KILL after two evictions", nil, func(d *disturbed) { d.signalled(2, syscall.SIGKILL); d.again() }},
	{"KILL after five evictions", nil, func(d *disturbed) { d.signalled(5, syscall.SIGKILL); d.again() }},
	{"HUP", nil, func(d *disturbed) { d.signalled(2, syscall.SIGHUP); d.again() }},
	{"a closed pipe", nil, func(d *disturbed) { d.signalled(2, nil); d.again() }},
	{"Ctrl-C", nil, func(d *disturbed) { d.signalled(2, syscall.SIGINT); d.again() }},
	{"scaled up", nil, func(d *disturbed) { require.OK(d.t, d.drain(1, func(*os.Process, io.Closer) { d.scale(2) })) }},
	{"scaled down", nil, func(d *disturbed) { require.OK(d.t, d.drain(1, func(*os.Process, io.Closer) { d.scale(-1) })) }},
	{"a node joins", nil, func(d *disturbed) {
		require.OK(d.t, d.drain(1, func(*os.Process, io.Closer) {
			var n corev1.Node
			require.OK(d.t, json.Unmarshal([]byte(d.do("", "get", "node", "large-000", "-o", "json")), &n))
			x := corev1.Node{TypeMeta: n.TypeMeta, ObjectMeta: metav1.ObjectMeta{Name: "joined", Labels: n.Labels}, Status: n.Status}
			x.Labels[corev1.LabelHostname] = "joined"
			d.apply(x)
		}))
	}},
	{"pods end slowly", nil, func(d *disturbed) {
		d.flags = []string{"--patience", "10s"}
		defer d.lingering(25 * time.Second)()
		d.again()
	}},
	{"successors become ready slowly", nil, func(d *disturbed) {
		made := map[string]time.Time{}
		begin := time.Now()
		defer d.meanwhile(func(p *corev1.Pod) {
			at := string(p.UID)
			if p.CreationTimestamp.Time.Before(begin) || p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
				return
			}
			ready := `"False"`
			switch seen, ok := made[at]; {
			case !ok:
				made[at] = time.Now()
			case time.Since(seen) > 8*time.Second:
				ready = `"True"`
			default:
				return
			}
			d.patched(p, `{"status":{"conditions":[{"type":"Ready","status":`+ready+`}]}}`)
		})()
		d.again()
	}},
	{"a Job with backoffLimit 0", func(d *disturbed) {
		emptied, closed := d.plan().Emptied, []string{} // by a plan without the Job
		for node := range d.nodes(false) {
			if node != emptied[0] {
				closed = append(closed, node)
			}
		}
		d.do("", append([]string{"cordon"}, closed...)...)
		defer func() { d.do("", append([]string{"uncordon"}, closed...)...) }()
		d.apply(object("batch/v1", "Job", "team-a", "once", map[string]any{"backoffLimit": 0, "template": map[string]any{
			"spec": podSpec("100m", map[string]any{"restartPolicy": "Never"})}}, nil))
		d.settled("job-name=once", 1)
	}, func(d *disturbed) {
		d.again()
		if text := d.do("", "get", "job", "-n", "team-a", "once", "-o", `jsonpath={.status.failed}`); text != "" {
			d.t.Errorf("%s pods of the Job have failed", text)
		}
	}},
	{"a volume with an attach limit", func(d *disturbed) {
		for k := range 3 {
			name := fmt.Sprint("data-db-", k)
			volume := map[string]any{"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []string{"ReadWriteOnce"}, "storageClassName": "fast",
				"csi": map[string]any{"driver": "disk.example.com", "volumeHandle": name}, "claimRef": map[string]any{"namespace": "team-a", "name": name}}
			d.apply(object("v1", "PersistentVolume", "", name, volume, nil), object("v1", "PersistentVolumeClaim", "team-a", name, map[string]any{
				"accessModes": []string{"ReadWriteOnce"}, "storageClassName": "fast", "volumeName": name, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}, nil))
			var claim corev1.PersistentVolumeClaim
			require.OK(d.t, json.Unmarshal([]byte(d.do("", "get", "pvc", "-n", "team-a", name, "-o", "json")), &claim))
			d.do("", "patch", "pv", name, "-p", fmt.Sprintf(`{"spec":{"claimRef":{"uid":%q}}}`, claim.UID))
			d.do("", "annotate", "pvc", "-n", "team-a", name, "pv.kubernetes.io/bind-completed=yes")
			d.status("", "pv", name, `{"status":{"phase":"Bound"}}`)
			d.status("team-a", "pvc", name, `{"status":{"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"}}}`)
		}
		for node := range d.nodes(false) {
			d.apply(object("storage.k8s.io/v1", "CSINode", "", node, map[string]any{"drivers": []any{map[string]any{
				"name": "disk.example.com", "nodeID": node, "topologyKeys": []string{}, "allocatable": map[string]any{"count": 1}}}}, nil))
		}
		app := map[string]string{"app": "db"}
		d.apply(object("apps/v1", "StatefulSet", "team-a", "db", map[string]any{"replicas": 3, "serviceName": "db", "podManagementPolicy": "Parallel",
			"selector": map[string]any{"matchLabels": app}, "volumeClaimTemplates": []any{object("v1", "PersistentVolumeClaim", "", "data", map[string]any{
				"accessModes": []string{"ReadWriteOnce"}, "storageClassName": "fast", "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}, nil)},
			"template": map[string]any{"metadata": map[string]any{"labels": app}, "spec": podSpec("100m", nil)}}, app))
		d.settled("app=db", 3)
	}, (*disturbed).again},
	{"a budget allows nothing for a while", func(d *disturbed) {
		d.apply(deployment("web", 4, "100m", map[string]any{"topologySpreadConstraints": []any{map[string]any{"maxSkew": 1, "topologyKey": corev1.LabelHostname,
			"whenUnsatisfiable": "ScheduleAnyway", "labelSelector": map[string]any{"matchLabels": map[string]string{"app": "web"}}}}}))
		d.apply(object("policy/v1", "PodDisruptionBudget", "team-a", "web", map[string]any{"maxUnavailable": 1,
			"selector": map[string]any{"matchLabels": map[string]string{"app": "web"}}}, nil))
		d.settled("app=web", 4)
	}, func(d *disturbed) {
		budget := func(n int) {
			d.do("", "patch", "pdb", "-n", "team-a", "web", "--type", "merge", "-p", fmt.Sprintf(`{"spec":{"maxUnavailable":%d}}`, n))
		}
		var later *time.Timer
		defer func() { later.Stop() }()
		require.OK(d.t, d.drain(0, func(*os.Process, io.Closer) { budget(0); later = time.AfterFunc(12*time.Second, func() { budget(1) }) }))
	}},
	{"a long grace period", func(d *disturbed) {
		d.apply(deployment("patient", 3, "100m", map[string]any{"terminationGracePeriodSeconds": 300}))
		d.settled("app=patient", 3)
	}, func(d *disturbed) {
		d.flags = []string{"--patience", "10s"}
		defer d.lingering(15 * time.Second)()
		d.again()
	}},
	{"others cordon nodes", func(d *disturbed) { d.do("", "cordon", "small-001") }, func(d *disturbed) {
		require.OK(d.t, d.drain(2, func(*os.Process, io.Closer) { d.do("", "cordon", "small-002") }))
	}},
	{"a second drain and an undo", nil, func(d *disturbed) {
		require.OK(d.t, d.drain(1, func(*os.Process, io.Closer) {
			for _, flag := range []string{"--execute", "--undo"} {
				out, err := d.command(flag, "--allow", "single-replica,same-step,cordoned").CombinedOutput()
				d.said += string(out)
				if err == nil || !strings.Contains(string(out), "another drain holds the lock: gapwise kubernetes drain, ") {
					d.t.Errorf("%s: %v, %s", flag, err, out)
				}
			}
		}))
	}},
	{"a rollout restart", nil, func(d *disturbed) {
		require.OK(d.t, d.drain(2, func(*os.Process, io.Closer) {
			for _, namespace := range []string{"team-a", "team-b", "team-c"} {
				d.do("", "rollout", "restart", "deployment", "-n", namespace)
			}
		}))
	}},
	{"a node is not ready", nil, func(d *disturbed) {
		kept := "" // which the plan keeps
		for node := range d.nodes(false) {
			if !slices.Contains(d.least.Emptied, node) && (kept == "" || node < kept) {
				kept = node
			}
		}
		require.OK(d.t, d.drain(2, func(*os.Process, io.Closer) {
			d.status("", "node", kept, `{"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown"}]}}`)
			d.do("", "taint", "node", kept, "node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute")
		}))
	}},
	{"a hard spread", func(d *disturbed) {
		d.apply(deployment("spread", 6, "100m", map[string]any{"topologySpreadConstraints": []any{map[string]any{"maxSkew": 1, "topologyKey": corev1.LabelHostname,
			"whenUnsatisfiable": "DoNotSchedule", "labelSelector": map[string]any{"matchLabels": map[string]string{"app": "spread"}}}}}))
		d.settled("app=spread", 6)
	}, (*disturbed).again},
}

// crash has pods of the deployment crashes crash, if they are there still.
func (d *disturbed) crash(p *corev1.Pod) {
	if p.Labels["app"] == "crashes" && p.Status.Phase == corev1.PodRunning {
		d.patched(p, `{"status":{"conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"main","image":"none:1","imageID":"","restartCount":9,"ready":false,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`)
	}
}

// patched patches a pod's status; it may be gone.
func (d *disturbed) patched(p *corev1.Pod, status string) {
	_, _ = exec.Command("kubectl", append(slices.Clone(d.k.Args), "patch", "pod", "-n", p.Namespace, p.Name, "--subresource=status", "-p", status)...).Output()
}

// evictions watches pods and budgets from outside.
type evictions struct {
	mu      sync.Mutex
	pods    map[string]*corev1.Pod
	budgets map[string]*policyv1.PodDisruptionBudget
	n       int
	broken  []string
}

func watchEvictions(t *testing.T, k kubernetes.Kubectl) (*evictions, func()) {
	w := &evictions{pods: map[string]*corev1.Pod{}, budgets: map[string]*policyv1.PodDisruptionBudget{}}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for _, kind := range []string{"pdb", "pods"} {
		cmd := exec.CommandContext(ctx, "kubectl", append(slices.Clone(k.Args), "get", kind, "-A", "--watch", "--output-watch-events", "-o", "json")...)
		out := require.Value(cmd.StdoutPipe())(t)
		require.OK(t, cmd.Start())
		group.Go(func() {
			for dec := json.NewDecoder(out); ; {
				var event struct {
					Type   string
					Object json.RawMessage
				}
				if dec.Decode(&event) != nil {
					_ = cmd.Wait() // it was stopped
					return
				}
				w.see(kind, event.Type, event.Object)
			}
		})
		time.Sleep(time.Second)
	}
	return w, func() { time.Sleep(time.Second); stop(); group.Wait() }
}

func evictedBy(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(x corev1.PodCondition) bool {
		return x.Type == corev1.DisruptionTarget && x.Reason == "EvictionByEvictionAPI"
	})
}

func isReady(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(x corev1.PodCondition) bool {
		return x.Type == corev1.PodReady && x.Status == corev1.ConditionTrue
	})
}

// see takes an event. Once a ready pod is evicted, as many others have to be ready as its budgets want.
func (w *evictions) see(kind, what string, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if kind == "pdb" {
		var b policyv1.PodDisruptionBudget
		if json.Unmarshal(data, &b) == nil {
			w.budgets[b.Namespace+"/"+b.Name] = &b
		}
		return
	}
	p := new(corev1.Pod)
	if json.Unmarshal(data, p) != nil {
		return
	}
	old := w.pods[string(p.UID)]
	if w.pods[string(p.UID)] = p; what == "DELETED" {
		delete(w.pods, string(p.UID))
	}
	if old == nil || old.DeletionTimestamp != nil || p.DeletionTimestamp == nil && what != "DELETED" || !evictedBy(p) {
		return
	}
	w.n++
	for name, b := range w.budgets {
		s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || b.Namespace != p.Namespace || !s.Matches(labels.Set(p.Labels)) || !isReady(old) {
			continue
		}
		healthy := int32(0)
		for _, x := range w.pods {
			if x.Namespace == b.Namespace && s.Matches(labels.Set(x.Labels)) && x.UID != p.UID && isReady(x) {
				healthy++
			}
		}
		if healthy < b.Status.DesiredHealthy {
			w.broken = append(w.broken, fmt.Sprintf("%s: %d healthy of %d after %s", name, healthy, b.Status.DesiredHealthy, p.Name))
		}
	}
}

const disturbedCSV = "testdata/disturbed.csv"

const disturbedHead = "disturbance,seed,before,proved,end,proved_at_end,evicted,seconds,broken_budgets"

// Whatever happens while the program drains a cluster, it ends at the number of nodes that is proved for what is there
// then, or says what it leaves, breaks no budget, leaves others' nodes as they are, and gives its lease back. With
// -update a row of each goes to testdata/disturbed.csv.
func TestLiveDisturbed(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gapwise")
	if os.Getenv("GAPWISE_KUBERNETES") != "" {
		require.Run(t, exec.Command("go", "build", "-o", program, "../../../cmd/gapwise"))
	}
	for k, x := range disturbances {
		t.Run(x.name, func(t *testing.T) {
			seed := []int{2, 4, 7, 3, 8}[k%5] // whose plans move seven pods and more
			d := &disturbed{t: t, program: program, k: live(t, "--size", "small", "--seed", fmt.Sprint(seed))}
			d.config = d.k.Args[1]
			if x.before != nil {
				x.before(d)
			}
			d.least = d.plan()
			before := d.nodes(false)
			w, stop := watchEvictions(t, d.k)
			begin := time.Now()
			x.drain(d)
			seconds := time.Since(begin).Seconds()
			stop()
			end := d.plan()
			row := fmt.Sprintf("%s,%d,%d,%d,%d,%d,%d,%.0f,%d", x.name, seed, d.least.Now.Nodes, d.least.Then.Nodes, end.Now.Nodes, end.Then.Nodes, w.n, seconds, len(w.broken))
			t.Log("\n" + d.said + disturbedHead + "\n" + row)
			if d.least.CostStatus != "optimal" || end.CostStatus != "optimal" {
				t.Errorf("not proved: %s, %s", d.least.CostStatus, end.CostStatus)
			}
			if len(w.broken) > 0 {
				t.Errorf("budgets broken: %v", w.broken)
			}
			last := d.said[strings.LastIndex(d.said, "done:")+1:]
			if end.Now.Nodes > end.Then.Nodes && !strings.Contains(last, "not evicted again") && !strings.Contains(last, "left alone: ") {
				t.Errorf("%d nodes in use, %d could do", end.Now.Nodes, end.Then.Nodes)
			}
			if end.Now.Waiting > end.Then.Waiting {
				t.Errorf("%d pods wait, %d have to", end.Now.Waiting, end.Then.Waiting)
			}
			ours := d.nodes(true)
			for node, was := range d.nodes(false) {
				switch is := before[node]; {
				case ours[node] == "" && is != "" && is != was && !slices.Contains([]string{"others cordon nodes", "a node is not ready"}, x.name):
					t.Errorf("%s was %s and is %s", node, is, was)
				case ours[node] != "" && !regexp.MustCompile(`(?s)empty and cordoned:[^:]*\b`+node+`\b`).MatchString(d.said):
					t.Errorf("%s is marked, which isn't said", node)
				}
			}
			if text := d.do("", "get", "leases", "-n", "kube-system", "-o", "name"); strings.Contains(text, kubernetes.LeaseName) {
				t.Errorf("the lease stays: %s", text)
			}
			if *update {
				addRow(t, disturbedCSV, disturbedHead, row)
			}
		})
	}
}

// The how-to's table of disturbed drains matches the recorded runs.
func TestDisturbedInDocuments(t *testing.T) {
	var b strings.Builder
	b.WriteString("| disturbance | nodes before | proved | proved at the end | end | evicted | s | budgets broken |\n|---|---|---|---|---|---|---|---|\n")
	for _, row := range rows(t, disturbedCSV) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", row["disturbance"], row["before"], row["proved"], row["proved_at_end"], row["end"],
			row["evicted"], row["seconds"], row["broken_budgets"])
	}
	inDocument(t, "disturbed", b.String())
}
