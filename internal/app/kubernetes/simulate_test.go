// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
)

// choices returns the nodes that kube-scheduler may choose for the last pod.
func choices(t *testing.T, packs bool, nodes []string, pods ...string) string {
	t.Helper()
	return choicesOf(t, require.Value(smallCluster(nodes, pods...))(t), packs, len(pods))
}

func choicesOf(t *testing.T, c *kubernetes.Cluster, packs bool, pods int) string {
	t.Helper()
	o := kubernetes.Options{}
	if packs {
		o.Packs = []string{"default-scheduler"}
	}
	in := require.Value(kubernetes.Convert(c, o))(t)
	last := fmt.Sprint("d/p", pods)
	for i := range in.Pods {
		if k := slices.Index(in.Pods[i], last); k >= 0 {
			var names []string
			for _, h := range kubernetes.NewScheduler(in).Choice(i, k) {
				names = append(names, in.Hosts[h].ID)
			}
			return strings.Join(names, " ")
		}
	}
	t.Fatal("the pod isn't there")
	return ""
}

// The nodes of the best score, each score by itself; TestLiveChoice compares them with the real scheduler.
func TestChoice(t *testing.T) {
	t.Parallel()
	three := []string{`"zone":"a"`, `"zone":"a"`, `"zone":"b"`}
	web := `"app":"web"`
	preferred := func(kind, more string) string {
		return `||` + web + `|"affinity":{"` + kind + `":{"preferredDuringSchedulingIgnoredDuringExecution":[` + more + `]}}`
	}
	term := `{"weight":10,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"web"}}}}`
	soft := `"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app":"web"}}}]`
	for _, x := range []struct {
		name  string
		packs bool
		nodes []string
		pods  []string
		want  string
	}{
		{"all are alike", false, three, []string{"||" + web + "|"}, "n1 n2 n3"},
		{"LeastAllocated", false, three, []string{"|n1||", "|n2||", "|||"}, "n3"},
		{"MostAllocated", true, three, []string{"|n1||", "|n2||", "|n2||", "|||"}, "n2"},
		{"default spreading", false, three, []string{"a|n1|" + web + "|", "a|n2|" + web + "|", "b|n3||", "a||" + web + "|"}, "n3"},
		{"no default spreading without controller", false, three, []string{"a|n1|" + web + "|", "b|n2||", "b|n3||", "||" + web + "|"}, "n1 n2 n3"},
		{"soft spread over zones", false, three, []string{"|n1|" + web + "|", "|n2||", "|n3||", "||" + web + "|" + soft}, "n3"},
		{"soft taint", false, []string{`|"taints":[{"key":"x","effect":"PreferNoSchedule"}]`, ""}, []string{"|n2||", "|||"}, "n2"},
		{"tolerated soft taint", false, []string{`|"taints":[{"key":"x","effect":"PreferNoSchedule"}]`, ""}, []string{"|n2||", `|||"tolerations":[{"key":"x","operator":"Exists"}]`}, "n1"},
		{"preferred nodes", false, three, []string{"|n3||", preferred("nodeAffinity", `{"weight":1,"preference":{"matchExpressions":[{"key":"zone","operator":"In","values":["b"]}]}}`)}, "n3"},
		{"preferred company", false, three, []string{"|n2|" + web + "|", preferred("podAffinity", term)}, "n1"},
		{"preferred distance", false, three, []string{"|n2|" + web + "|", "|n3||", "|n3||", preferred("podAntiAffinity", term)}, "n3"},
		{"who is there prefers distance", false, three, []string{`|n2|` + preferred("podAntiAffinity", term)[2:], "|n3||", "|n3||", "||" + web + "|"}, "n3"},
		{"no node", false, []string{""}, []string{`|||"nodeSelector":{"zone":"c"}`}, ""},
	} {
		require.Same(t, x.name, x.want, choices(t, x.packs, x.nodes, x.pods...))
	}
}

// A pod that is made again is a new one: the rules bind it where it ran, too, and of those that want each other's company
// the first goes anywhere that has the label. TestFeasible compares many with kube-scheduler.
func TestFeasibleAnew(t *testing.T) {
	t.Parallel()
	rule := func(kind string) string {
		return `"app":"web"|"affinity":{"` + kind + `":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"web"}}}]}}`
	}
	company, apart := rule("podAffinity"), rule("podAntiAffinity")
	zones, some := []string{`"zone":"a"`, `"zone":"a"`, `"zone":"b"`}, []string{`"zone":"a"`, `"zone":"a"`, ""}
	for _, x := range []struct {
		name  string
		nodes []string
		pods  []string
		want  string
	}{
		{"the first", zones, []string{"x|n1||", "y||" + company}, "n1 n2 n3"},
		{"the first, where it ran", zones, []string{"x|n1||", "y|n1|" + company}, "n1 n2 n3"},
		{"the second", zones, []string{"y|n3|" + company, "y||" + company}, "n3"},
		{"the second, made again", zones, []string{"y|n3|" + company, "y|n1|" + company}, "n3"},
		{"the second, beside one that has no zone", some, []string{"y|n3|" + company, "y||" + company}, "n1 n2"},
		{"apart, made again", zones, []string{"y|n2|" + apart, "y|n1|" + apart}, "n3"},
		{"apart in a zone without a name", []string{`"zone":""`, `"zone":""`, `"zone":"b"`}, []string{"y|n2|" + apart, "y||" + apart}, "n3"},
	} {
		c := require.Value(smallCluster(x.nodes, x.pods...))(t)
		in := require.Value(kubernetes.Convert(c, kubernetes.Options{}))(t)
		for i := range in.Pods {
			if k := slices.Index(in.Pods[i], "d/p2"); k >= 0 {
				s, names := kubernetes.NewScheduler(in), []string(nil)
				if s.State.Plan[i][k] >= 0 {
					s.Evict(i, k)
				}
				for _, h := range s.Feasible(i, k) {
					names = append(names, in.Hosts[h].ID)
				}
				require.Same(t, x.name, x.want, strings.Join(names, " "))
			}
		}
	}
}

// In a cluster of 120 nodes kube-scheduler is content with a hundred feasible ones: nodes may be chosen that have
// twenty better ones, but not thirty.
func TestChoiceOfMany(t *testing.T) {
	t.Parallel()
	for better, want := range map[int]int{30: 30, 20: 120} {
		var pods []string
		for n := better; n < 120; n++ {
			pods = append(pods, fmt.Sprintf("|n%d||", n+1))
		}
		if got := strings.Fields(choices(t, false, make([]string, 120), append(pods, "|||")...)); len(got) != want {
			t.Errorf("with %d better ones, one of %d nodes is chosen, want %d", better, len(got), want)
		}
	}
}

// Pods that a service selects are spread by default, and a given controller decides which are counted.
func TestDefaultSpread(t *testing.T) {
	service := `{"kind":"Service","metadata":{"name":"s","namespace":"d"},"spec":{"selector":{"app":"web"}}}`
	elsewhere := `{"kind":"Service","metadata":{"name":"s","namespace":"other"},"spec":{"selector":{"app":"web"}}}`
	set := `{"kind":"ReplicaSet","metadata":{"name":"a","namespace":"d"},"spec":{"selector":{"matchLabels":{"app":"web"}}}}`
	others := []string{`b|n1|"app":"web","old":"yes"|`, `c|n2||`, `c|n3||`}
	for _, x := range []struct {
		name, object, pod, want string
	}{
		{"no service", "", `||"app":"web"|`, "n1 n2 n3"},
		{"a service", service, `||"app":"web"|`, "n2 n3"},
		{"a service of another namespace", elsewhere, `||"app":"web"|`, "n1 n2 n3"},
		{"a controller that wasn't given: its pods alone", "", `a||"app":"web","old":"no"|`, "n1 n2 n3"},
		{"a controller", set, `a||"app":"web","old":"no"|`, "n2 n3"},
	} {
		c := require.Value(smallCluster([]string{"", "", ""}, append(others, x.pod)...))(t)
		if x.object != "" {
			c.Selecting = make([]kubernetes.Selecting, 1)
			require.OK(t, json.Unmarshal([]byte(x.object), &c.Selecting[0]))
		}
		require.Same(t, x.name, x.want, choicesOf(t, c, false, 4))
	}
}
