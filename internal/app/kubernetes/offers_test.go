// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
)

const fourTypes = "type,zone,price,count,cpu,memory,label:team\nsmall,a,1,,2,4Gi,\nlarge,a,3,,8,16Gi,\nlarge,b,3,2,8,16Gi,red\narm,b,2.5,,8,16Gi,blue\n"

func offers(t *testing.T, texts ...string) *kubernetes.Offers {
	t.Helper()
	files := map[string][]byte{}
	for k, text := range texts {
		files[fmt.Sprint("file", k)] = []byte(text)
	}
	return require.Value(kubernetes.ReadOffers(files))(t)
}

// The offers are the types that a pool's requirements leave, except the ones that others beat.
func TestOffers(t *testing.T) {
	t.Parallel()
	pool := func(spec, more string) string {
		return "kind: NodeClass\nmetadata: {name: x}\n---\nkind: NodePool\nmetadata: {name: p}\nspec:\n  template:\n    spec: {" + spec + "}\n" + more
	}
	in := func(key, op, values string) string {
		return "requirements: [{key: " + key + ", operator: " + op + ", values: [" + values + "]}]"
	}
	zones := `web|n1|"app":"web"|"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}}}]`
	plain := "web|n1||"
	for name, x := range map[string]struct {
		pods   string
		offers []string
		want   string
	}{
		"the cheapest by price for what pods tell apart": {plain, []string{fourTypes}, "arm/b×1 small/a×1"},
		"zones matter":                {zones, []string{fourTypes}, "arm/b×1 large/a×1 small/a×1"},
		"a type":                      {zones, []string{fourTypes, pool(in("node.kubernetes.io/instance-type", "In", "large"), "")}, "p/large/a×1 p/large/b×1"},
		"not a type":                  {zones, []string{fourTypes, pool(in("node.kubernetes.io/instance-type", "NotIn", "large"), "")}, "p/arm/b×1 p/small/a×1"},
		"a zone":                      {plain, []string{fourTypes, pool(in("topology.kubernetes.io/zone", "In", "b, c"), "")}, "p/arm/b×1"},
		"a column's label":            {plain, []string{fourTypes, pool(in("team", "In", "red"), "")}, "p/large/a×1 p/small/a×1"},
		"values of its own":           {`web|n1||"nodeSelector":{"disk":"ssd"}`, []string{fourTypes, pool(in("disk", "In", "ssd, hdd"), "")}, "p/arm/b×1 p/arm/b#2×1 p/small/a×1 p/small/a#2×1"},
		"a limit keeps sizes":         {plain, []string{fourTypes, pool("", "  limits: {cpu: 100}\n")}, "p/arm/b×1 p/small/a×1"},
		"the heavier pool":            {plain, []string{fourTypes, pool("", "") + "---\n" + strings.Replace(pool("", "  weight: 10\n"), "name: p", "name: q", 1)}, "q/arm/b×1 q/small/a×1"},
		"the cheaper pool is lighter": {plain, []string{fourTypes, pool("", "") + "---\n" + strings.Replace(pool(in("node.kubernetes.io/instance-type", "In", "large"), "  weight: 10\n"), "name: p", "name: q", 1)}, "p/arm/b×1 p/small/a×1"},
		"taints":                      {plain, []string{fourTypes, pool("taints: [{key: a, effect: NoSchedule}]", "")}, "p/arm/b×1 p/small/a×1"},
	} {
		c := require.Value(smallCluster([]string{`"topology.kubernetes.io/zone":"a","node.kubernetes.io/instance-type":"small"`}, x.pods))(t)
		o := kubernetes.Options{Offers: offers(t, x.offers...)}
		priced := offers(t, fourTypes) // the node's type, too, if the pool doesn't have it
		o.Prices, _ = priced.Prices()
		got, err := kubernetes.Convert(c, o)
		require.OK(t, err, name)
		var all []string
		for _, o := range got.Offers {
			all = append(all, fmt.Sprintf("%s×%d", o.ID, o.Count))
		}
		if text := strings.Join(all, " "); text != x.want {
			t.Errorf("%s: the offers are\n%s, want\n%s", name, text, x.want)
		}
		id := got.Jobs[0].Allowed
		for _, s := range got.HostSets {
			if taints := name == "taints"; s.ID == id && taints && len(s.Offers) > 0 {
				t.Errorf("%s: pods may be on %v", name, s.Offers)
			}
		}
		if name == "a limit keeps sizes" && (len(got.Limits) != 1 || got.Limits[0].Most != 100_000 || got.Limits[0].Counts[0].Count != 8000) {
			t.Errorf("%s: %+v", name, got.Limits)
		}
	}
}

func TestOffersRefused(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no table": "types", "no type": "type,price\n,1\n", "no number": "type,price\na,x\n", "too dear": "type,price\na,10001\n", "an amount": "type,cpu\na,many\n",
		"below 0": "type,cpu\na,-1\n", "no JSON": "[", "no name": `[{"offerings":[]}]`, "no types": "kind: NodePool\nmetadata: {name: a}\n", "no YAML": "kind: [\n", "a count": "type,count\na,0\n", "a pool": "kind: NodePool\n",
	} {
		require.Refused(t, name, require.Err(kubernetes.ReadOffers(map[string][]byte{"x": []byte(text)})),
			model.ErrInvalid, "")
	}
	for text, want := range map[string]string{
		"type,price,cpu\nm4,0.9,4\nm4,0.2,4\n":                                                    `"m4" is there twice`,
		"type,zone,price,cpu\nm4,a,0.2,4\nm4,a,0.1,2\n":                                           `"m4/a" is there twice`,
		"type,price,cpu,mem\nm4,0.1,4,8Gi\n":                                                      `the column "mem" is no resource`,
		"type,price\nm4,0.1 USD\n":                                                                "--price-unit names the unit",
		`[{"name":"m4","offerings":[{"Price":1,"Available":true},{"Price":2,"Available":true}]}]`: `"m4" is there twice`,
	} {
		require.Refused(t, text, require.Err(kubernetes.ReadOffers(map[string][]byte{"x": []byte(text)})), model.ErrInvalid, want)
	}
	// A table in the form of prices' is read as those are; a line that is there twice is one.
	prices, ok := offers(t, "Type;Price;CPU;example.com/Foo\nm4;0,1;3,9;1\nm4;0,1;3,9;1\n").Prices()
	cost, err := prices.Of(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelInstanceTypeStable: "m4"}}})
	if !ok || err != nil || cost != 1000 {
		t.Errorf("%d, %v", cost, err)
	}
	lacks := offers(t, "type,price\nm4,1\nm8,\n")
	if _, ok := lacks.Prices(); ok {
		t.Error("m8 has a price")
	}
	require.Says(t, "the note", strings.Join(lacks.Unpriced().Notes, ""), "no price (m8), so that costs are in vCPU")
}

// Karpenter's cluster can shrink to 10.8 an hour with two small nodes that are bought and 56 moves, as another model
// found before. It costs more after a limit of its pool that allows none of them, and also with slack.
func TestPlanBuys(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("twenty seconds, most of them in HiGHS")
	}
	c := export(t, "karpenter-4-churned-before")
	types := `[`
	for k, cpu := range []int{4, 8, 16} {
		if k > 0 {
			types += ","
		}
		types += fmt.Sprintf(`{"name":"general-%d","architecture":"amd64","operatingSystems":["linux"],"resources":{"cpu":"%[1]d","memory":"%dGi","pods":"110"},
			"offerings":[{"Price":%g,"Available":true,"Requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]}]},{"Price":0.01,"Available":false}]}`, cpu, 4*cpu, 0.05*float64(cpu))
	}
	texts := []string{types + "]", `{"kind":"NodePool","metadata":{"name":"default"},"spec":{"template":{"spec":{"requirements":[{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]}},"limits":{"cpu":"10000"}}}`}
	plan := func(o kubernetes.Options, effort int64) *kubernetes.Plan {
		prices, ok := o.Offers.Prices()
		if !ok {
			t.Fatal("no prices")
		}
		o.Prices = prices
		in := require.Value(kubernetes.Convert(c, o))(t)
		return require.Value(kubernetes.MakePlan(t.Context(), in,
			gapwise.Options{Settings: model.Settings{Seed: 1, Effort: effort}}))(t)
	}
	free := plan(kubernetes.Options{Without: []string{"survive"}, Offers: offers(t, texts...)}, 20_000_000)
	// HiGHS finds the moves, and calls them optimal, by two thirds of the effort; no certificate is found in the rest.
	found := free.MovesStatus != "infeasible" && (free.Moves == 56 || !highs.Available() && free.Moves > 56)
	if free.CostStatus != "optimal" || free.Then.Cost != 108_000 || !found || len(free.Launch) != 2 || len(free.Stuck) > 0 || free.Then.Waiting > 0 {
		t.Errorf("%s %d, bound %v, %s %d moves, %v to launch; out of reach %v by %d moves", free.CostStatus, free.Then.Cost, free.CostBound, free.MovesStatus, free.Moves, free.Launch,
			free.Beyond, len(free.Stuck))
	}
	texts[1] = strings.Replace(texts[1], `{"cpu":"10000"}`, `{"nodes":"24"}`, 1)
	if p := plan(kubernetes.Options{Offers: offers(t, texts...)}, 60_000); len(p.Launch) > 1 || p.Then.Cost < free.Then.Cost {
		t.Errorf("with one more node of the pool: %d nodes to launch, cost %d", len(p.Launch), p.Then.Cost)
	}
	if p := plan(kubernetes.Options{Offers: offers(t, texts[0]), MaxNodes: 14}, 60_000); p.Then.Nodes > 14 {
		t.Errorf("%d nodes, at most 14 were asked for", p.Then.Nodes)
	}
}
