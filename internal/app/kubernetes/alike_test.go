// SPDX-License-Identifier: MIT

package kubernetes

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gapwise/gapwise/internal/test/require"
)

// Indexes find what a look at each pod or selector finds.
func TestIndexes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var sets []labels.Set
		for range rng.IntN(12) {
			set := labels.Set{}
			for _, key := range []string{"a", "b", "c"} {
				if rng.IntN(3) > 0 {
					set[key] = fmt.Sprint(rng.IntN(3))
				}
			}
			sets = append(sets, set)
		}
		pods, selectors := newLabelIndex(sets), &selectorIndex{}
		var all []labels.Selector
		for range 12 {
			text := []string{"a=1", "a in (0,2)", "b!=1", "a=0,b=1", "!c", "c in (1),a", "", "b,c=2", "a=0,a=1"}[rng.IntN(9)]
			s := require.Value(labels.Parse(text))(t)
			if rng.IntN(12) == 0 {
				s = labels.Nothing()
			}
			all = append(all, s)
			selectors.add(s)
			var want, got []int
			for k, set := range sets {
				if s.Matches(set) {
					want = append(want, k)
				}
			}
			pods.matching(s, func(k int) { got = append(got, k) })
			require.Same(t, "the pods of "+text, want, got)
		}
		for _, set := range sets {
			var want []int
			for k, s := range all {
				if s.Matches(set) {
					want = append(want, k)
				}
			}
			require.Same(t, "the selectors of "+set.String(), want, selectors.taking(set))
		}
	}
}

// drawnText draws a cluster of few nodes in which pods, those of daemon sets too, have rules of each kind that filter knows.
func drawnText(rng *rand.Rand) string {
	var items []string
	add := func(format string, args ...any) { items = append(items, fmt.Sprintf(format, args...)) }
	of := func(all ...string) string { return all[rng.IntN(len(all))] }
	const nodes = 5
	for n := range nodes {
		add(`{"kind":"Node","metadata":{"name":"n%d","managedFields":[{"manager":"x"}],"labels":{"kubernetes.io/hostname":"n%d",%s"topology.kubernetes.io/zone":"z%d"}},"spec":{"unschedulable":%v%s},"status":{"allocatable":{"cpu":"8","memory":"8Gi","pods":"20"}}}`,
			n, n, of("", `"disk":"ssd",`), n%2, rng.IntN(5) == 0, of("", "", `,"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]`))
	}
	term := func() string {
		return fmt.Sprintf(`[{"labelSelector":{"matchLabels":{"app":"%d"}},"topologyKey":%q}]`, rng.IntN(4), of("kubernetes.io/hostname", "topology.kubernetes.io/zone"))
	}
	for k := range 24 {
		owner, node := of("ReplicaSet", "ReplicaSet", "ReplicaSet", "DaemonSet"), fmt.Sprintf(`"nodeName":"n%d",`, rng.IntN(nodes))
		if owner == "ReplicaSet" && rng.IntN(6) == 0 {
			node = ""
		}
		spec := of("", "", `"nodeSelector":{"disk":"ssd"},`, `"tolerations":[{"operator":"Exists"}],`, `"tolerations":[{"key":"k","operator":"Exists","tolerationSeconds":9}],`,
			`"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":`+term()+`}},`,
			`"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":`+term()+`}},`,
			`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"DoesNotExist"}]}]}}},`,
			`"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"disk","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"1"}}}],`)
		add(`{"kind":"Pod","metadata":{"name":"p%d","namespace":"d","labels":{"app":"%d"},"ownerReferences":[{"kind":%q,"name":"o%d","controller":true}]},"spec":{%s%s"containers":[{"name":"c","command":["x"]%s}]},"status":{"phase":"Running"}}`,
			k, rng.IntN(4), owner, rng.IntN(4), node, spec, of("", "", `,"ports":[{"hostPort":80}]`))
	}
	return strings.Join(items, ",")
}

// Pods that are alike for filter get what each of them would get by itself.
func TestFilterAll(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	shared := 0
	for range 150 {
		text := drawnText(rng)
		c := require.Value(Read(map[string][]byte{"x": []byte(`{"kind":"List","items":[` + text + `]}`)}))(t)
		in, err := Convert(c, Options{Mend: rng.IntN(2) == 0})
		if err != nil {
			continue // no pods that count
		}
		v := in.converter
		var alone []*pod
		for k, p := range v.pods {
			one, other := &pod{Pod: p.Pod, id: p.id, held: p.held}, &pod{Pod: p.Pod, id: p.id, held: p.held}
			require.OK(t, v.filter(one))
			alone, v.pods[k] = append(alone, one), other
		}
		require.OK(t, v.filterAll())
		lists := map[*bool]bool{}
		for k, p := range v.pods {
			require.Same(t, p.id+": the nodes that may have it", alone[k].allowed, p.allowed)
			require.Same(t, p.id+": why others may not", alone[k].refused, p.refused)
			for l, q := range v.pods[:k] {
				if (p.places == q.places) != slices.Equal(alone[k].allowed, alone[l].allowed) {
					t.Fatalf("%s and %s: numbers %d and %d of sets", p.id, q.id, p.places, q.places)
				}
			}
			lists[&p.allowed[0]] = true
		}
		shared += len(v.pods) - len(lists)
	}
	if shared < 100 {
		t.Errorf("%d pods share their nodes with another one", shared)
	}
}

// Read item by item, a text is the cluster that it is as a whole, whatever its shape.
func TestStream(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		items := drawnText(rng)
		for shape, text := range map[string]string{
			"as kubectl prints it": `{"apiVersion":"v1","items":[` + items + `],"kind":"List","metadata":{}}`,
			"the kind first":       `{"kind":"List","items":[` + items + `]}`,
			"objects":              strings.ReplaceAll(items, `,{"kind":"`, "\n"+`{"kind":"`),
			"a list in a list":     `{"kind":"List","items":[{"kind":"List","items":[` + items + `]}]}`,
			"other keys":           `{"Kind":"List","ITEMS":[` + items + `]}`,
			"twice":                `{"kind":"List","items":[7],"items":[` + items + `]}`,
		} {
			whole := &Cluster{Given: map[string]bool{}, Ignored: map[string]int{}}
			require.OK(t, whole.addAll([]byte(text)))
			opened := 0
			got := require.Value(ReadFrom([]string{"x"}, func(string) (io.ReadCloser, error) {
				opened++
				return io.NopCloser(bytes.NewReader([]byte(text))), nil
			}))(t)
			sortNamed(whole.Pods, func(x *corev1.Pod) string { return x.Namespace + "/" + x.Name })
			require.Same(t, shape+": the nodes", mustJSON(whole.Nodes), mustJSON(got.Nodes))
			require.Same(t, shape+": the pods", mustJSON(whole.Pods), mustJSON(got.Pods))
			require.Same(t, shape+": the kinds", whole.Given, got.Given)
			require.Same(t, shape+": how often it was opened", map[bool]int{false: 1, true: 2}[shape == "other keys" || shape == "twice"], opened)
			if got.Nodes[0].ManagedFields != nil || got.Pods[0].Spec.Containers[0].Command != nil {
				t.Fatal("what no plan looks at is there")
			}
		}
	}
}
