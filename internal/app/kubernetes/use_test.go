// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const (
	topped = "NAMESPACE NAME CPU(cores) MEMORY(bytes)\nshop web-0 250m 512Mi\nshop web-1 1 1Gi\n"
	listed = `{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":[{"metadata":{"name":"web-0","namespace":"shop"},
		"containers":[{"name":"a","usage":{"cpu":"200000000n","memory":"256Mi"}},{"name":"b","usage":{"cpu":"50m","memory":"256Mi"}}]},
		{"metadata":{"name":"web-1","namespace":"shop"},"containers":[{"usage":{"cpu":"1","memory":"1Gi"}}]}]}`
	answered = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"namespace":"shop","pod":"web-0"%s},"value":[1,"%s"]},
		{"metric":{"namespace":"shop","pod":"web-1"%[1]s},"value":[1,"%[3]s"]}]}}`
)

// Every source tells the same of the same pods.
func TestReadUse(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"top":                 {"a": topped},
		"top without heading": {"a": strings.SplitAfterN(topped, "\n", 2)[1]},
		"top of containers": {"a": "NAMESPACE POD NAME CPU(cores) MEMORY(bytes)\nshop web-0 a 200m 256Mi\nshop web-0 b 50m 256Mi\n" +
			"shop web-1 a 1 1Gi\n"},
		"the metrics API":   {"a": listed},
		"files by resource": {"cpu=a": fmt.Sprintf(answered, "", "0.2495", "1"), "memory=b": fmt.Sprintf(answered, "", "5.36870912e8", "1073741824")},
		"labels": {"a": fmt.Sprintf(answered, `,"resource":"cpu"`, "0.25", "1"),
			"b": fmt.Sprintf(answered, `,"__name__":"container_memory_working_set_bytes"`, "536870911.5", "1073741824")},
	} {
		texts := map[string][]byte{}
		for file, text := range files {
			texts[file] = []byte(text)
		}
		u, err := kubernetes.ReadUse(texts)
		require.OK(t, err, name)
		var got []int64
		for _, pod := range []string{"shop/web-0", "shop/web-1"} {
			cpu, memory := u[pod]["cpu"], u[pod]["memory"]
			got = append(got, cpu.MilliValue(), memory.Value())
		}
		require.Same(t, name, []int64{250, 512 << 20, 1000, 1 << 30}, got)
	}
}

func TestUseRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "no pod is there with a measure",
		"No resources found\n":                   `line 1 isn't "namespace pod cpu memory"`,
		"web-0 250m 512Mi\n":                     "kubectl top pods -A",
		"shop web-0 much 1Mi\n":                  `"much" for cpu`,
		"shop web-0 -1 1Mi\n":                    "from 0 to 1M",
		"shop web-0 1 2Pi\n":                     "from 0 to 1Pi",
		"shop web-0 1 1Mi\n":                     "",
		"a b <unknown> <unknown>\n":              "no pod is there",
		topped + "shop web-1 1 1Gi\n":            `line 4 has "shop/web-1" again`,
		"{":                                      "JSON",
		`{"kind":"NodeMetricsList"}`:             "it is a NodeMetricsList",
		`{"status":"error","error":"bad query"}`: `status "error", result "" bad query`,
		`{"status":"success","data":{"resultType":"matrix","result":[]}}`:                          `result "matrix"`,
		fmt.Sprintf(answered, "", "1", "1"):                                                        "result[0] lacks a label",
		fmt.Sprintf(answered, `,"resource":"cpu"`, "NaN", "1"):                                     `cpu of pod "shop/web-0" is "NaN"`,
		fmt.Sprintf(answered, `,"resource":"cpu"`, "-1", "1"):                                      "must be a number from 0",
		fmt.Sprintf(answered, `,"resource":"memory"`, "+Inf", "1"):                                 "must be a number from 0",
		strings.ReplaceAll(fmt.Sprintf(answered, `,"resource":"cpu"`, "1", "1"), "web-1", "web-0"): "is there twice; give its sum by namespace and pod",
		strings.ReplaceAll(listed, "web-1", "web-0"):                                               "is there twice",
	} {
		_, err := kubernetes.ReadUse(map[string][]byte{"x": []byte(text)})
		if want == "" {
			require.OK(t, err, text)
			continue
		}
		require.Refused(t, text, err, model.ErrInvalid, want)
	}
	for _, text := range []string{"", "cpu", "cpu=", "cpu=x", "cpu=-1", "gpu=1", "cpu=1,cpu=2", "cpu=1,", "cpu=1e9"} {
		require.Refused(t, text, require.Err(kubernetes.ParseFloor(text)), model.ErrInvalid, "no amount of cpu or memory")
	}
}

// Any text is measures or an error, and no measure is below 0.
func FuzzUse(f *testing.F) {
	for _, text := range []string{topped, listed, fmt.Sprintf(answered, `,"resource":"cpu"`, "0.25", "1")} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := kubernetes.ReadUse(map[string][]byte{"x": []byte(text)})
		if err != nil {
			return
		}
		for pod, list := range u {
			for name, q := range list {
				if q.Sign() < 0 || q.Value() < 0 || q.MilliValue() < 0 && name == "cpu" {
					t.Errorf("%s of %q is %s", name, pod, q.String())
				}
			}
		}
	})
}

// asking gives a pod's container these requests and limits of CPU, "" for none.
func asking(request, limit string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
		for _, x := range []struct {
			text string
			to   *corev1.ResourceList
		}{{request, &p.Spec.Containers[0].Resources.Requests}, {limit, &p.Spec.Containers[0].Resources.Limits}} {
			if x.text != "" {
				*x.to = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(x.text)}
			}
		}
	}
}

// needs returns the CPU that a job counts for.
func needs(t *testing.T, in *kubernetes.Instance, job string) int64 {
	t.Helper()
	for i := range in.Jobs {
		if in.Jobs[i].ID == job {
			return in.Jobs[i].Needs[0]
		}
	}
	t.Fatalf("there is no job %q", job)
	return 0
}

// By use, measured pods count by that and the headroom, whether it is more or less than they ask for, daemon sets' pods, too. The
// others keep their requests and are told. Such a plan has nothing to carry out.
func TestByUse(t *testing.T) {
	t.Parallel()
	c := nodesOf("n1", "n2").pod("less-0", "less", "ReplicaSet", "n1", nil).pod("more-0", "more", "ReplicaSet", "n1", nil).
		pod("half-0", "half", "ReplicaSet", "n1", nil).pod("new-0", "new", "ReplicaSet", "n2", nil).pod("agent-0", "agent", "DaemonSet", "n1", nil).cluster(t)
	use := require.Value(kubernetes.ReadUse(map[string][]byte{"x": []byte("shop less-0 101m 1Gi\nshop more-0 1501m 1Gi\nshop half-0 500m <unknown>\nshop agent-0 100m 1Gi\nshop gone-0 1 1Gi\n")}))(t)
	in := require.Value(kubernetes.Convert(c, kubernetes.Options{Use: use, ByUse: true, Headroom: 0.3}))(t)
	for job, want := range map[string]int64{"shop/less": 132, "shop/more": 1952, "shop/half": 650, "shop/new": 1000} { // rounded up
		require.Same(t, job, want, needs(t, in, job))
	}
	require.Same(t, "room beside the daemon set", int64(4000-130), in.Hosts[0].Capacity[0])
	require.Says(t, "the account", fmt.Sprint(in.Account.Assumed, in.Account.LeftOut), "pod without a measure", "(new-0)",
		"pod with one measure of two", "(half-0)", "(shop/gone-0)")
	plan := require.Value(kubernetes.MakePlan(t.Context(), in, gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
	if plan.Moves == 0 || len(plan.Waves)+len(plan.Steps) > 0 {
		t.Errorf("%d moves in %d waves and %d steps, want some in none", plan.Moves, len(plan.Waves), len(plan.Steps))
	}
	require.Says(t, "the plan", plan.Text(false), "use        1.6 of 2.0 vCPU requested, 2.0 GiB of 0.0 GiB; 2 pods not measured\n",
		"by use     pods count by their use and 30 % more. kube-scheduler places by", "no evictions lead to this plan")
	if text := plan.Text(false); strings.Contains(text, "alone") || strings.Contains(text, "steered") || strings.Contains(text, "waves") {
		t.Errorf("a plan that nothing leads to tells a way:\n%s", text)
	}

	// Beside requests it only tells.
	in = require.Value(kubernetes.Convert(c, kubernetes.Options{Use: use}))(t)
	require.Same(t, "by requests", int64(1000), needs(t, in, "shop/less"))
	plan = require.Value(kubernetes.MakePlan(t.Context(), in, gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
	if plan.Used.ByUse() != "" || len(plan.Steps) == 0 {
		t.Errorf("a plan by requests: %q, %d steps", plan.Used.ByUse(), len(plan.Steps))
	}
}

// With a floor a container that asks for nothing counts by its limit, else at the floor; without one as nothing.
// kube-scheduler is simulated without it: it doesn't know of any.
func TestFloor(t *testing.T) {
	t.Parallel()
	c := nodesOf("n1", "n2").pod("asks-0", "asks", "ReplicaSet", "n1", asking("20m", "2")).pod("limits-0", "limits", "ReplicaSet", "n1", asking("", "300m")).
		pod("nothing-0", "nothing", "ReplicaSet", "n1", asking("", "")).pod("agent-0", "agent", "DaemonSet", "n1", asking("", "")).
		pod("side-0", "side", "ReplicaSet", "n1", func(p *corev1.Pod) {
			always := corev1.ContainerRestartPolicyAlways
			p.Spec.InitContainers = []corev1.Container{{Name: "ends"}, {Name: "side", RestartPolicy: &always}}
		}).pod("whole-0", "whole", "ReplicaSet", "n1", func(p *corev1.Pod) {
		asking("", "")(p)
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("40m")}}
	}).cluster(t)
	floor := require.Value(kubernetes.ParseFloor("cpu=100m"))(t)
	in := require.Value(kubernetes.Convert(c, kubernetes.Options{Floor: floor}))(t)
	for job, want := range map[string]int64{"shop/asks": 20, "shop/limits": 300, "shop/nothing": 100, "shop/side": 1100, "shop/whole": 40} {
		require.Same(t, job, want, needs(t, in, job))
	}
	require.Same(t, "room beside the daemon set", int64(3900), in.Hosts[0].Capacity[0])
	require.Says(t, "the account", fmt.Sprint(in.Account.Assumed), "3 pods with containers that ask for nothing, which count by their limits, else at cpu=100m (limits-0, nothing-0, side-0)")
	x := kubernetes.NewScheduler(in)
	for i := range in.Jobs {
		if in.Jobs[i].ID == "shop/nothing" {
			require.Same(t, "to kube-scheduler", int64(0), x.State.C.Jobs[i].Needs[0])
		}
	}
	require.Same(t, "to kube-scheduler, room", int64(4000), x.State.C.Hosts[0].Capacity[0])
	plain := require.Value(kubernetes.Convert(c, kubernetes.Options{}))(t)
	require.Same(t, "without a floor", []int64{0, 0}, []int64{needs(t, plain, "shop/nothing"), needs(t, plain, "shop/limits")})
	require.Same(t, "without a floor, room", int64(4000), plain.Hosts[0].Capacity[0])
}

var (
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)\{(.*)\} (\S+)$`)
	labelPart  = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)`)
)

// parsed reads the text format of Prometheus strictly: each family once, its help, its type and then its samples. The
// samples are by name and sorted labels.
func parsed(t *testing.T, text string) map[string]float64 {
	t.Helper()
	all, families := map[string]float64{}, map[string]bool{}
	lines, family := strings.SplitAfter(text, "\n"), ""
	for k, line := range lines {
		line, ended := strings.CutSuffix(line, "\n")
		if k == len(lines)-1 {
			require.Same(t, "behind the last line", "", line)
			continue
		}
		require.Is(t, true, ended, line)
		if help, ok := strings.CutPrefix(line, "# HELP "); ok {
			family, _, _ = strings.Cut(help, " ")
			require.Is(t, false, families[family], line)
			families[family] = true
			require.Same(t, "the next line", "# TYPE "+family+" gauge\n", lines[k+1])
			continue
		}
		if strings.HasPrefix(line, "# TYPE ") {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || m[1] != family {
			t.Fatalf("no sample of %s: %q", family, line)
		}
		key := m[1]
		for rest := m[2]; rest != ""; {
			l := labelPart.FindStringSubmatch(rest)
			if l == nil {
				t.Fatalf("labels: %q", rest)
			}
			value := require.Value(strconv.Unquote(`"` + l[2] + `"`))(t)
			key, rest = key+"|"+l[1]+"="+value, rest[len(l[0]):]
		}
		if _, twice := all[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		all[key] = require.Value(strconv.ParseFloat(m[3], 64))(t)
	}
	return all
}

// The metrics are the plan's figures, whatever names the cluster and the unit have.
func TestMetrics(t *testing.T) {
	t.Parallel()
	p := &kubernetes.Plan{PriceUnit: "0.0001 USD/h", Now: kubernetes.State{Nodes: 5, Cost: 14000, Waiting: 1}, Then: kubernetes.State{Nodes: 3, Cost: 8000},
		CostBound: 7600, EmptyCost: 2000, Moves: 5, Steps: make([]kubernetes.Step, 4), Stuck: make([]kubernetes.Move, 2), Money: &kubernetes.InMoney{Currency: "USD", Now: 1022, Then: 584, Bound: 554.8, Empty: 146}}
	const cluster = "a \"b\" \\ c\n"
	got := parsed(t, p.Metrics(cluster, time.Unix(1_800_000_000, 5)))
	want := map[string]float64{"nodes|state=now": 5, "nodes|state=then": 3, "cost|state=now|unit=USD/h": 1.4, "cost|state=then|unit=USD/h": 0.8,
		"cost|state=bound|unit=USD/h": 0.76, "cost|state=empty|unit=USD/h": 0.2, "money_per_month|state=empty|currency=USD": 146, "money_per_month|state=now|currency=USD": 1022, "money_per_month|state=then|currency=USD": 584,
		"money_per_month|state=bound|currency=USD": 554.8, "waiting_pods|state=now": 1, "waiting_pods|state=then": 0, "moved_pods": 5, "stuck_pods": 2, "steps": 4,
		"gap_ratio": 0.05, "timestamp_seconds": 1_800_000_000}
	for name, value := range want {
		name, labels, some := strings.Cut(name, "|")
		key := "gapwise_plan_" + name + "|cluster=" + cluster
		if some {
			key += "|" + labels
		}
		if x, ok := got[key]; !ok || x != value {
			t.Errorf("%q is %v (there: %v), want %v", key, x, ok, value)
		}
	}
	require.Same(t, "samples", len(want), len(got))
	p.Then.Cost, p.Money = 0, nil
	if gap := parsed(t, p.Metrics("\xff", time.Unix(0, 0)))["gapwise_plan_gap_ratio|cluster=\ufffd"]; !math.IsInf(gap, 1) {
		t.Errorf("the gap of a cost of 0 is %v", gap)
	}
}

// A rule of a workload is one, whatever the sizes of its pods: the jobs of each size have it without each other's.
func TestExplainByUse(t *testing.T) {
	t.Parallel()
	read := func(name string) []byte { return require.Value(os.ReadFile("../../../docs/examples/" + name))(t) }
	c := require.Value(kubernetes.Read(map[string][]byte{"c": read("cluster.json")}))(t)
	use := require.Value(kubernetes.ReadUse(map[string][]byte{"u": read("pod-use.txt")}))(t)
	e := require.Value(kubernetes.Explain(t.Context(), c, kubernetes.Options{Prices: kubernetes.PriceByVCPU, Use: use, ByUse: true}, effort(0)))(t)
	saved := map[string]int64{}
	for _, r := range e.Singles {
		saved[r.Without] += e.Rules[0].Cost - r.Cost
	}
	want := map[string]int64{"rule spread shop/web 1": 4, "rule survive zone shop/web": 0, "rule survive zone shop/worker": 0, "rule apart shop/cache 1": 0,
		"rule survive node shop/cache": 0, "budget shop/ledger-pdb": 0}
	require.Same(t, "the rules", want, saved)
}
