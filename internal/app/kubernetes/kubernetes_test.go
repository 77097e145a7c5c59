// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// export reads an export of a cluster.
func export(t *testing.T, name string) *kubernetes.Cluster {
	t.Helper()
	files := require.Files(t, filepath.Join(require.Data(t, "kubernetes", name), "*.json.gz"))
	texts := map[string][]byte{}
	for _, file := range files {
		z := require.Value(gzip.NewReader(bytes.NewReader(require.Value(os.ReadFile(file))(t))))(t)
		texts[file] = require.Value(io.ReadAll(z))(t)
	}
	return require.Value(kubernetes.Read(texts))(t)
}

// The nodes in use match the exports' README, nothing has to move, and the plans are proved: the least by the rules,
// with the fewest moves, in waves that can be carried out.
func TestExports(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name        string
		used        int
		least       int
		fewestMoves int64 // -1: not proved here
	}{
		{"small-default", 9, 6, -1}, {"small-default-churned", 9, 5, 12}, {"small-packing-churned", 9, 5, -1},
		{"medium-default-churned", 55, 37, 77}, {"medium-packing-churned", 50, 37, 39},
		{"karpenter-4-churned-before", 23, 14, 45}, {"large-packing", 347, 0, -1}, {"large-default-churned", 500, 0, -1},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			in := require.Value(kubernetes.Convert(export(t, x.name),
				kubernetes.Options{Prices: kubernetes.PriceByNode, Schedulers: []string{"packing-scheduler"}}))(t)
			c := view.OfConsolidation(in.Consolidation, 0)
			if used := c.Used(c.Today()).Len(); used != x.used {
				t.Errorf("%d nodes are in use, the README says %d", used, x.used)
			}
			require.Feasible(verify.Verify(t.Context(), in.Consolidation, c.Assignment(c.Today()), verify.Options{}))(t)
			if x.least == 0 || testing.Short() && x.used > 10 {
				return
			}
			plan := require.Value(kubernetes.MakePlan(t.Context(), in,
				gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: time.Minute}}))(t)
			if plan.CostStatus != "optimal" || plan.Then.Nodes != x.least || x.fewestMoves >= 0 && (plan.MovesStatus != "optimal" || plan.Moves != x.fewestMoves) {
				t.Errorf("%s %d nodes, %s %d moves; want %d and %d", plan.CostStatus, plan.Then.Nodes, plan.MovesStatus, plan.Moves, x.least, x.fewestMoves)
			}
			carriedOut(t, in, plan)
		})
	}
}

// carriedOut follows the waves of a plan. Each pod is where the move starts, each node has room for it at that moment,
// budgets lose no more pods in a wave than they allow, and the end is the plan.
func carriedOut(t *testing.T, in *kubernetes.Instance, p *kubernetes.Plan) {
	t.Helper()
	at, needs, room := map[string]string{}, map[string][]int64{}, map[string][]int64{}
	for k := range in.Hosts {
		room[in.Hosts[k].ID] = slices.Clone(in.Hosts[k].Capacity)
	}
	use := func(node string, needs []int64, by int64) {
		for r, x := range needs {
			if room[node][r] -= by * x; room[node][r] < 0 && by > 0 {
				t.Errorf("%s has %d too little of %s", node, -room[node][r], in.Resources[r])
			}
		}
	}
	for i := range in.Jobs {
		for k, pod := range in.Pods[i] {
			needs[pod] = in.Jobs[i].Needs
			if len(in.Jobs[i].CurrentHosts) > 0 {
				at[pod] = in.Jobs[i].CurrentHosts[k]
				use(at[pod], needs[pod], 1)
			}
		}
	}
	for _, wave := range p.Waves {
		lost := map[int]int{}
		for _, m := range wave {
			require.Same(t, fmt.Sprintf("%s is on", m.Pod), m.From, at[m.Pod])
			if m.From != "" {
				use(m.From, needs[m.Pod], -1)
				for _, b := range in.Budgets[m.Pod] {
					if lost[b]++; lost[b] > int(in.Cluster.Budgets[b].Status.DisruptionsAllowed) {
						t.Errorf("budget %s loses %d pods at once", in.Cluster.Budgets[b].Name, lost[b])
					}
				}
			}
			at[m.Pod] = m.To
			use(m.To, needs[m.Pod], 1)
		}
	}
	if len(p.Stuck) > 0 {
		t.Errorf("%d moves find no order", len(p.Stuck))
	}
	for i := range in.Jobs {
		for k, pod := range in.Pods[i] {
			if want := p.Solution.Jobs[i].Hosts[k]; at[pod] != want {
				t.Errorf("%s ends on %q, the plan has %q", pod, at[pod], want)
			}
		}
	}
}

// small is a cluster of text: nodes and pods as JSON, with the fields that their templates leave open.
func small(t *testing.T, nodes []string, pods ...string) *kubernetes.Instance {
	t.Helper()
	c := require.Value(smallCluster(nodes, pods...))(t)
	return require.Value(kubernetes.Convert(c, kubernetes.Options{}))(t)
}

func smallCluster(nodes []string, pods ...string) (*kubernetes.Cluster, error) {
	var items []string
	for k, n := range nodes {
		var labels, spec string
		labels, spec, _ = strings.Cut(n, "|")
		if labels != "" {
			labels = "," + labels
		}
		items = append(items, fmt.Sprintf(`{"kind":"Node","metadata":{"name":"n%d","labels":{"kubernetes.io/hostname":"n%[1]d"%s}},"spec":{%s},
			"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"4","memory":"8Gi","pods":"10"}}}`, k+1, labels, spec))
	}
	for k, p := range pods { // owner|node|labels|spec
		f := strings.SplitN(p, "|", 4)
		owner := fmt.Sprintf(`"ownerReferences":[{"kind":"ReplicaSet","name":%q,"uid":"u","apiVersion":"apps/v1","controller":true}],`, f[0])
		if f[0] == "" {
			owner = ""
		}
		spec := f[3]
		if spec != "" {
			spec = "," + spec
		}
		if f[1] != "" {
			spec += fmt.Sprintf(`,"nodeName":%q`, f[1])
		}
		items = append(items, fmt.Sprintf(`{"kind":"Pod","metadata":{"name":"p%d","namespace":"d",%s"labels":{%s}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}]%s},"status":{"phase":"Running"}}`,
			k+1, owner, f[2], spec))
	}
	return kubernetes.Read(map[string][]byte{"all.json": []byte(`{"kind":"List","items":[` + strings.Join(items, ",") + `]}`)})
}

// allowed returns the nodes on which a job's pods may be newly placed.
func allowed(in *kubernetes.Instance, job int) string {
	id := in.Jobs[job].Allowed
	for _, s := range in.HostSets {
		if s.ID == id {
			return strings.Join(s.Hosts, " ")
		}
	}
	return "all"
}

func TestFilters(t *testing.T) {
	t.Parallel()
	ssd, gpu := `"disk":"ssd"`, `|"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]`
	soft := `|"taints":[{"key":"x","effect":"PreferNoSchedule"}]`
	nodes := []string{ssd, "", gpu, `"cores":"16"` + soft}
	affinity := func(key, op, values string) string {
		return fmt.Sprintf(`a|n1||"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":%q,"operator":%q%s}]}]}}}`, key, op, values)
	}
	for name, x := range map[string]struct{ pod, want string }{
		"anything":        {"a|n1||", "n1 n2 n4"},
		"selector":        {`a|n1||"nodeSelector":{"disk":"ssd"}`, "n1"},
		"tolerated":       {`a|n1||"tolerations":[{"key":"gpu","operator":"Exists"}]`, "all"},
		"wrong value":     {`a|n1||"tolerations":[{"key":"gpu","operator":"Equal","value":"no"}]`, "n1 n2 n4"},
		"in":              {affinity("disk", "In", `,"values":["ssd","hdd"]`), "n1"},
		"not in":          {affinity("disk", "NotIn", `,"values":["ssd"]`), "n2 n4"},
		"exists":          {affinity("cores", "Exists", ""), "n4"},
		"greater":         {affinity("cores", "Gt", `,"values":["8"]`), "n4"},
		"one of two":      {`a|n1||"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"Exists"}]},{"matchFields":[{"key":"metadata.name","operator":"In","values":["n2"]}]}]}}}`, "n1 n2"},
		"selector at all": {`a|n1||"nodeSelector":{"disk":"tape"}`, ""},
	} {
		require.Same(t, fmt.Sprintf("%s: the pod may be on", name), x.want, allowed(small(t, nodes, x.pod), 0))
	}
}

func TestRules(t *testing.T) {
	zone := func(z string) string { return fmt.Sprintf(`"zone":%q`, z) }
	nodes := []string{zone("a"), zone("b"), zone("b")}
	web := `"app":"web"`
	spread := func(when, more string) string {
		return `web|n1|` + web + `|"topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"` + when + `","labelSelector":{"matchLabels":{"app":"web"}}` + more + `}]`
	}
	term := func(kind, key, selector, more string) string {
		return `web|n1|` + web + `|"affinity":{"` + kind + `":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"` + key + `","labelSelector":{"matchLabels":{` + selector + `}}` + more + `}]}}`
	}
	port := `web|n1||"containers":[{"name":"x","ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"}]}]`
	for name, x := range map[string]struct {
		pods []string
		want string
	}{
		"none":             {[]string{"web|n1|" + web + "|"}, "[]"},
		"hard spread":      {[]string{spread("DoNotSchedule", "")}, `[{"id":"spread d/web 1","type":"spread","domain":"zone","jobs":["d/web"],"others":["d/web"],"max_skew":2}]`},
		"soft spread":      {[]string{spread("ScheduleAnyway", "")}, "[]"},
		"apart by host":    {[]string{term("podAntiAffinity", "kubernetes.io/hostname", web, "")}, `[{"id":"apart d/web 1","type":"apart","jobs":["d/web"],"others":["d/web"]}]`},
		"apart from db":    {[]string{term("podAntiAffinity", "zone", `"app":"db"`, ""), `db|n2|"app":"db"|`}, `[{"id":"apart d/web 1","type":"apart","domain":"zone","jobs":["d/web"],"others":["d/db"]}]`},
		"another space":    {[]string{term("podAntiAffinity", "zone", `"app":"db"`, `,"namespaces":["e"]`), `db|n2|"app":"db"|`}, "[]"},
		"all spaces":       {[]string{term("podAntiAffinity", "zone", `"app":"db"`, `,"namespaceSelector":{}`), `db|n2|"app":"db"|`}, `[{"id":"apart d/web 1","type":"apart","domain":"zone","jobs":["d/web"],"others":["d/db"]}]`},
		"with db":          {[]string{term("podAffinity", "zone", `"app":"db"`, ""), `db|n2|"app":"db"|`}, `[{"id":"together d/web 1","type":"together","domain":"zone","jobs":["d/web"],"others":["d/db"]}]`},
		"one port":         {[]string{port}, `[{"id":"host port TCP 80","type":"apart","jobs":["d/web"]}]`},
		"a label's spread": {[]string{spread("DoNotSchedule", `,"matchLabelKeys":["app"]`)}, `[{"id":"spread d/web 1","type":"spread","domain":"zone","jobs":["d/web"],"others":["d/web"],"max_skew":2}]`},
	} {
		pods := x.pods
		if name == "one port" { // a sidecar's, too; init containers that end give theirs back
			pods = []string{strings.Replace(port, `"containers":[{`, `"initContainers":[{"restartPolicy":"Always",`, 1)}
		}
		in := small(t, nodes, pods...)
		rules := in.Rules
		if rules == nil {
			rules = []model.PlacementRule{}
		}
		require.Same(t, name, x.want, string(require.Value(json.Marshal(rules))(t)))
	}
}

// Pods that can't be evicted are pinned, and those that don't count aren't there.
func TestPins(t *testing.T) {
	in := small(t, []string{"", ""}, "|n1||", "a|n1||", "a|n2||", `b|n1||"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]`)
	got := map[string]string{}
	for i := range in.Jobs {
		got[in.Jobs[i].ID] = fmt.Sprint(in.Jobs[i].Tasks, " ", in.Pins[in.Jobs[i].ID])
	}
	want := map[string]string{"d/p1": "1 no controller would make it again", "d/a": "2 ", "d/b": "1 its volume isn't known; give kubectl get pv,pvc, too"}
	for id, text := range want {
		require.Same(t, id, text, got[id])
	}
	require.Same(t, fmt.Sprintf("jobs in %v", got), len(want), len(got))
}

// What kubectl prints one behind the other, an object a line and the API's own lists are the same cluster.
func TestReadLists(t *testing.T) {
	list := func(kind string, items ...string) string {
		return `{"kind":"` + kind + `","items":[` + strings.Join(items, ",") + "]}"
	}
	node := func(kind string) string { return `{` + kind + `"metadata":{"name":"n"}}` }
	pod := func(kind, name string) string { return `{` + kind + `"metadata":{"name":"` + name + `"}}` }
	const ofNode, ofPod = `"kind":"Node",`, `"kind":"Pod",`
	want := require.Value(kubernetes.Read(map[string][]byte{"x": []byte(list("List", node(ofNode), pod(ofPod, "a"), pod(ofPod, "b")))}))(t)
	for name, text := range map[string]string{
		"lists one behind the other": list("List", node(ofNode)) + list("List", pod(ofPod, "b"), pod(ofPod, "a")) + "\n",
		"an object a line":           node(ofNode) + "\n" + pod(ofPod, "a") + "\n" + pod(ofPod, "b"),
		"lists of the API":           list("NodeList", node("")) + list("PodList", pod("", "a"), pod("", "b")),
		"a list within":              list("List", list("NodeList", node("")), pod(ofPod, "a"), pod(ofPod, "b")),
	} {
		got := require.Value(kubernetes.Read(map[string][]byte{"x": []byte(text)}))(t)
		require.Same(t, name, []int{1, 2}, []int{len(got.Nodes), len(got.Pods)})
		for k := range want.Pods {
			require.Same(t, name, want.Pods[k].Name, got.Pods[k].Name)
		}
		require.Same(t, name, "n", got.Nodes[0].Name)
	}
	require.Refused(t, "no kind", require.Err(kubernetes.Read(map[string][]byte{"x": []byte(list("List", node("")))})), model.ErrInvalid, "an object without a kind")
	require.Refused(t, "something behind", require.Err(kubernetes.Read(map[string][]byte{"x": []byte(list("NodeList", node("")) + "\nnodes")})), model.ErrInvalid, "invalid JSON")
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no JSON": "nodes", "no kind": "{}", "no pods": `{"kind":"List","items":[{"kind":"Node","metadata":{"name":"a"}}]}`,
		"cut off": `{"kind":"List","items":[{"kind":"Pod"`, "a wrong amount": `{"kind":"Pod","spec":{"containers":[{"resources":{"requests":{"cpu":"many"}}}]}}`,
		"twice": `{"kind":"List","items":[{"kind":"Node","metadata":{"name":"a"}},{"kind":"Node","metadata":{"name":"a"}},{"kind":"Pod"}]}`,
	} {
		require.Refused(t, name, require.Err(kubernetes.Read(map[string][]byte{"x.json": []byte(text)})),
			model.ErrInvalid, "")
	}
	c := require.Value(smallCluster([]string{""},
		`a|n1||"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"x","operator":"Near"}]}]}}}`))(t)
	require.Refused(t, "an unknown operator", require.Err(kubernetes.Convert(c, kubernetes.Options{})),
		model.ErrInvalid, "")
}

// Whatever is read becomes a valid instance or an error.
func FuzzCluster(f *testing.F) {
	text := require.Value(os.ReadFile("../../../docs/examples/cluster.json"))(f)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := kubernetes.Read(map[string][]byte{"x": text})
		if err != nil {
			return
		}
		if in, err := kubernetes.Convert(c, kubernetes.Options{}); err == nil {
			require.OK(t, in.Validate())
		}
	})
}

// The costs of single budgets and rules: without the dearest ones four nodes fewer are needed, without most of them none
// fewer, nor without the survival of any workload.
func TestExplain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow")
	}
	e := require.Value(kubernetes.Explain(t.Context(), export(t, "medium-default-churned"),
		kubernetes.Options{Prices: kubernetes.PriceByNode},
		gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: 4 * time.Minute}}))(t)
	nothing, all := e.Rules[0], e.Rules[len(e.Rules)-1]
	if nothing.Cost != 37 || nothing.Status != "optimal" || all.Cost != 14 {
		t.Errorf("with all rules %+v, without any %+v", nothing, all)
	}
	got := ""
	for _, s := range e.Singles {
		if s.Status != "optimal" || s.Cost > nothing.Cost || s.Cost < all.Cost {
			t.Errorf("%+v", s)
		}
		got += fmt.Sprint(s.Cost, " ")
	}
	if got != "33 33 34 35 36 36 36 36 37 " || e.Needless != 68 || e.Untried != 0 {
		t.Errorf("%s and %d, %d not tried", got, e.Needless, e.Untried)
	}
}

// A cluster with pods of daemon sets alone needs none of its nodes but control planes, and there is nothing to search for.
func TestIdle(t *testing.T) {
	node := func(name, labels string) string {
		return `{"kind":"Node","metadata":{"name":"` + name + `","labels":{` + labels + `}},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}}`
	}
	daemon := `{"kind":"Pod","metadata":{"name":"d","namespace":"x","ownerReferences":[{"kind":"DaemonSet","name":"d","apiVersion":"apps/v1","uid":"u","controller":true}]},"spec":{"nodeName":"a","containers":[{"name":"c"}]},"status":{"phase":"Running"}}`
	for want, items := range map[string]string{
		"no pod needs any of 2 nodes: a, b":           node("a", "") + "," + node("b", "") + "," + daemon,
		"no pod needs the node: a":                    node("a", "") + "," + node("p", `"node-role.kubernetes.io/control-plane":""`) + "," + daemon,
		"no pod needs any node but the control plane": node("a", `"node-role.kubernetes.io/control-plane":""`) + "," + daemon,
	} {
		c := require.Value(kubernetes.Read(map[string][]byte{"x.json": []byte(`{"kind":"List","items":[` + items + `]}`)}))(t)
		var idle *kubernetes.IdleError
		if err := require.Err(kubernetes.Convert(c, kubernetes.Options{})); !errors.As(err, &idle) || !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What a cluster has out of range is an error that names the node.
func TestNamedNode(t *testing.T) {
	t.Parallel()
	d := nodesOf("n1", "n2").pod("a", "a", "ReplicaSet", "n1", nil)
	d.items[1].(map[string]any)["status"].(map[string]any)["allocatable"].(map[string]string)["cpu"] = "1e18"
	_, err := kubernetes.Convert(d.cluster(t), kubernetes.Options{Prices: kubernetes.PriceByVCPU})
	require.Refused(t, "a node of 1e18 CPU", err, model.ErrInvalid, "invalid cluster: node n2: price is")
}
