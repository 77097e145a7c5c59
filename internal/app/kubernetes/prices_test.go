// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// node is one of a type, with more labels as "key=value".
func node(kind string, labels ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"node.kubernetes.io/instance-type": kind}}}
	for _, x := range labels {
		key, value, _ := strings.Cut(x, "=")
		n.Labels[key] = value
	}
	return n
}

// The tables that people have: each has the price of a node by its own words, and tells the unit if it is there.
func TestReadPrices(t *testing.T) {
	t.Parallel()
	const zone, region, spot = "topology.kubernetes.io/zone=", "topology.kubernetes.io/region=", "karpenter.sh/capacity-type=spot"
	for name, x := range map[string]struct {
		text, unit string // the option
		node       *corev1.Node
		cost       int64
		in         string
		month      float64 // of the node
	}{
		"without a heading":    {"m4,0.2\nm8,0.4\n", "", node("m8"), 4000, "1/10000 of the table's unit", 0},
		"type,price":           {"# mine\ntype,price\nm4, 0.2\n", "", node("m4"), 2000, "1/10000 of the table's unit", 0},
		"other words":          {"what,much\nm4,0.2\n", "", node("m4"), 2000, "1/10000 of the table's unit", 0},
		"spot nodes as others": {"type,price\nm4,0.2\n", "", node("m4", spot), 2000, "1/10000 of the table's unit", 0},
		"unit by option":       {"type,price\nm4,146\n", "EUR/month", node("m4"), 14600, "0.01 EUR/month", 146},
		"a heading with both":  {"instance,USD/h\nm4,0.2\n", "", node("m4"), 2000, "0.0001 USD/h", 146},
		"on demand and spot":   {"Instance type,On-demand USD/h,Spot USD/h\nm4,0.2,0.07\n", "", node("m4"), 2000, "0.0001 USD/h", 146},
		"spot by Karpenter":    {"Instance type,On-demand USD/h,Spot USD/h\nm4,0.2,0.07\n", "", node("m4", spot), 700, "0.0001 USD/h", 51.1},
		"spot by EKS":          {"type,price,spot\nm4,0.2,0.07\n", "", node("m4", "eks.amazonaws.com/capacityType=SPOT"), 700, "1/10000 of the table's unit", 0},
		"spot by GKE":          {"machineType,preemptible,price\nm4,0.07,0.2\n", "", node("m4", "cloud.google.com/gke-spot=true"), 700, "1/10000 of the table's unit", 0},
		"spot by AKS":          {"VM size,PAYG ($/hour),Spot ($/hour)\nm4,0.2,0.07\n", "", node("m4", "kubernetes.azure.com/scalesetpriority=spot"), 700, "0.0001 USD/h", 51.1},
		"on demand by Karpenter": {"type,price,spot\nm4,0.2,0.07\n", "", node("m4", "karpenter.sh/capacity-type=on-demand"), 2000,
			"1/10000 of the table's unit", 0},
		"a line for each market": {"type,capacity-type,hourly EUR\nm4,spot,0.07\nm4,on-demand,0.2\n", "", node("m4", spot), 700, "0.0001 EUR/h", 51.1},
		"instances.vantage.sh": {"Name,API Name,Instance Memory,vCPUs,On Demand,Linux Reserved cost,Linux Spot Minimum cost,Windows On Demand cost\n" +
			"Four,m4,16 GiB,4,$0.2 hourly,$0.1 hourly,unavailable,$0.3 hourly\n", "", node("m4"), 2000, "0.0001 USD/h", 146},
		"by zones":           {"type,zone,spot,price\nm4,a,0.01,1\nm4,b,0.02,1\n", "", node("m4", zone+"b", spot), 200, "1/10000 of the table's unit", 0},
		"by regions":         {"type,region,price\nm4,east,1\nm4,west,2\n", "", node("m4", zone+"west-1", region+"west"), 20000, "1/10000 of the table's unit", 0},
		"hourly and monthly": {"type,price per month,price per hour,currency\nm4,146,0.2,x\n", "USD/h", node("m4"), 2000, "0.0001 USD/h", 146},
		"as a German sheet":  {"\ufeffType;€ per month\nm4;1.146,5\n", "", node("m4"), 114650, "0.01 EUR/month", 1146.5},
		"with tabs":          {"type\tprice\nm4\t0.2\n", "", node("m4"), 2000, "1/10000 of the table's unit", 0},
		"an empty cell":      {"type\tspot\tprice\nm4\t\t0.2\n", "", node("m4"), 2000, "1/10000 of the table's unit", 0},
		"thousands":          {"type,yearly USD\nm4,\"1,752.5\"\n", "", node("m4"), 17525, "0.1 USD/year", 146.04},
		"a day":              {"type,GBP/day\nm4,4.8\n", "", node("m4"), 4800, "0.001 GBP/day", 146},
		"a rate":             {"type,price\nm4,1e-1\n", "", node("m4"), 1000, "1/10000 of the table's unit", 0},
		"free":               {"type,price\nm4,0\n", "", node("m4"), 0, "1/10000 of the table's unit", 0},
		"the columns turned": {"price,type\n0.2,m4\n", "", node("m4"), 2000, "1/10000 of the table's unit", 0},
		"an hour, it seems":  {"type,EUR\nm4,0.2\n", "", node("m4"), 2000, "0.0001 EUR/h", 146},
	} {
		rate := kubernetes.Rate{}
		if x.unit != "" {
			rate = require.Value(kubernetes.ParseRate(x.unit))(t)
		}
		p, err := kubernetes.ReadPrices([]byte(x.text), rate)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		cost, err := p.Of(x.node)
		require.OK(t, err, name)
		require.Is(t, x.cost, cost, name)
		require.Is(t, x.in, p.Unit, name)
		if month := p.Month(float64(cost)); math.Abs(month-x.month) > 0.005 {
			t.Errorf("%s: %v a month, want %v", name, month, x.month)
		}
		require.Is(t, name == "an hour, it seems", len(p.Notes) > 0, name)
	}
}

// Whatever has no price, or two, or one that can't be understood, is an error that names it.
func TestPricesRefused(t *testing.T) {
	t.Parallel()
	read := func(text string) error { return require.Err(kubernetes.ReadPrices([]byte(text), kubernetes.Rate{})) }
	for text, want := range map[string]string{
		"":                                    "no columns",
		"m4\n":                                `isn't "type,price"`,
		"m4,0.2,1\n":                          "no column is the type",
		"type,zone,vcpus\nm4,a,4\n":           "none the price",
		"type,price\nm4,much\n":               `price of "m4" is "much"`,
		"type,price\nm4,-1\n":                 "negative",
		"type,price\nm4,NaN\n":                "no number",
		"type,price\nm4,20000\n":              "from 0 to 10000",
		"type,price,spot\nm4,\"1,5\",1\n":     "write a decimal point",
		"type,price\nm4,0.2,7\n":              "wrong number of fields",
		"type,cost USD,price EUR\nm4,1,2\n":   `both "cost USD" and "price EUR" may be the price`,
		"type,USD/h,spot EUR/h\nm4,1,2\n":     "USD/h and in EUR/h",
		"type,price\nm4,$1\nm8,2 EUR\n":       "USD and in EUR",
		"type,zone,price\nm4,a,1\nm4,a,2\n":   "has two, 1 and 2",
		"type,price\nm4,1\nm8,3\nm4,2\n":      "has two, 1 and 2",
		"Type;Price\nm4;1,5\nm4;2\n":          "has two, 1.5 and 2",
		"m4,1\nm4,2\n":                        "has two, 1 and 2",
		"type,price\nm4,0.2 a GiB\n":          "says nothing of a price",
		"type,price\nm4,\"1,23.5\"\n":         "write a decimal point",
		"type,capacity type,price\nm4,\"\n\n": "isn't",
	} {
		require.Refused(t, text, read(text), model.ErrInvalid, want)
	}
	for text, want := range map[string]string{"USD": "no unit", "h": "no unit", "": "no unit", "USD/fortnight": "no unit", "bananas/h": "no unit"} {
		require.Refused(t, text, require.Err(kubernetes.ParseRate(text)), model.ErrInvalid, want)
	}
	require.Refused(t, "another unit", require.Err(kubernetes.ReadPrices([]byte("type,USD/h\nm4,1\n"), kubernetes.Rate{Currency: "EUR", Hours: 1})), model.ErrInvalid, "USD/h and in EUR/h")

	// All nodes without a price are named, by what they lack.
	var items []string
	for k, labels := range []string{`"node.kubernetes.io/instance-type":"m4"`, `"node.kubernetes.io/instance-type":"m4","karpenter.sh/capacity-type":"spot"`,
		`"node.kubernetes.io/instance-type":"m9"`, `"node.kubernetes.io/instance-type":"m9"`, ""} {
		items = append(items, fmt.Sprintf(`{"kind":"Node","metadata":{"name":"n%d","labels":{%s}}}`, k+1, labels))
	}
	c := require.Value(kubernetes.Read(map[string][]byte{"x": []byte(`{"kind":"List","items":[` + strings.Join(items, ",") +
		`,{"kind":"Pod","metadata":{"namespace":"d","name":"p"},"spec":{"nodeName":"n1","containers":[{}]}}]}`)}))(t)
	for text, want := range map[string]string{
		"type,price,spot\nm4,1,\n":           `none for spot nodes of the type "m4" of node n2, the type "" of node n5, the type "m9" of node n3, n4`,
		"type,on-demand\nm4,1\nm9,1\n,1\n":   `none for spot nodes of the type "m4" of node n2`,
		"type,zone,price\nm4,a,1\nm9,a,1\n":  `none for the type "" in "" of node n5, the type "m4" in "" of node n1, n2, the type "m9" in "" of node n3, n4`,
		"type,price,spot\nm4,1,1\nm9,n/a,\n": `the type "m9" of node n3, n4`,
	} {
		p := require.Value(kubernetes.ReadPrices([]byte(text), kubernetes.Rate{}))(t)
		require.Refused(t, text, require.Err(kubernetes.Convert(c, kubernetes.Options{Prices: p})), model.ErrInvalid, want)
	}
}

// A plan tells what it saves in a month, in text and as data. By prices without a currency it doesn't.
func TestMoney(t *testing.T) {
	t.Parallel()
	in := func(text string) *kubernetes.Plan {
		d := three()
		for k := range 3 {
			d.items[k].(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]string)["node.kubernetes.io/instance-type"] = "m4"
		}
		o := kubernetes.Options{Without: []string{"survive"}, Prices: require.Value(kubernetes.ReadPrices([]byte(text), kubernetes.Rate{}))(t)}
		return require.Value(kubernetes.MakePlan(t.Context(), require.Value(kubernetes.Convert(d.cluster(t), o))(t), gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
	}
	p := in("type,USD/h\nm4,0.2\n")
	require.Same(t, "money", &kubernetes.InMoney{Currency: "USD", Now: 438, Then: 146, Saved: 292, Bound: 146, NowHour: 0.6, ThenHour: 0.2, SavedHour: 0.4, BoundHour: 0.2}, p.Money)
	require.Says(t, "the plan", p.Text(false), "3 nodes, 24 vCPU, 0.6 USD/h\n", "saved      2 nodes, 0.4 USD/h (67 %)\n",
		"money      438.00 USD now, 146.00 then, 292.00 saved in a month of 730 h\n")
	d := three()
	for k := range 3 {
		d.items[k].(map[string]any)["metadata"].(map[string]any)["labels"].(map[string]string)["node.kubernetes.io/instance-type"] = "m4"
	}
	c := d.cluster(t)
	for k := range c.Pods { // n1 has none then
		if c.Pods[k].Spec.NodeName == "n1" {
			c.Pods[k].Spec.NodeName = "n2"
		}
	}
	prices := require.Value(kubernetes.ReadPrices([]byte("type,USD/h\nm4,0.2\n"), kubernetes.Rate{}))(t)
	idle := require.Value(kubernetes.Convert(c, kubernetes.Options{Without: []string{"survive"}, Prices: prices}))(t)
	q := require.Value(kubernetes.MakePlan(t.Context(), idle, gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
	require.Same(t, "the empty node", 0.2, q.Money.EmptyHour)
	require.Says(t, "the plan", q.Text(false), "saved      1 node, 0.2 USD/h (50 %), and 1 empty node, 0.2 USD/h\n",
		"money      292.00 USD now, 146.00 then, 146.00 saved in a month of 730 h, and\n           146.00 by the empty nodes\n")
	// The progress is money without the addition of pods that wait.
	asked, best := []string{}, 0.0
	d.pod("huge", "huge", "ReplicaSet", "", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("99")
	})
	told := require.Value(kubernetes.Convert(d.cluster(t), kubernetes.Options{Without: []string{"survive"}, Prices: prices, Asks: func(question string, per float64) {
		asked = append(asked, fmt.Sprint(question, " ", per))
	}}))(t)
	o := gapwise.Options{Settings: model.Settings{Seed: 1, Progress: func(x model.Progress) {
		if strings.HasPrefix(asked[len(asked)-1], "least cost") {
			best = x.Incumbent
		}
	}}}
	require.Value(kubernetes.MakePlan(t.Context(), told, o))(t)
	require.Same(t, "the questions", "fewest waiting pods, by rank 1; least cost, in USD/h 10000; fewest moves to it, in pods 1", strings.Join(asked, "; "))
	require.Same(t, "the last cost", 2000.0, best)
	b := idle.Bound(t.Context())
	require.Same(t, "the bound", kubernetes.BoundMoney{Currency: "USD", Now: 0.4, Bound: 0.2, Empty: 0.2}, *b.Money)
	require.Says(t, "the bound", b.Text(), "saved      at most 0.2 USD/h (50 %), and 1 empty node, 0.2 USD/h\n")
	e := require.Value(kubernetes.Explain(t.Context(), c, kubernetes.Options{Without: []string{"survive"}, Prices: prices}, gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
	if r := e.Rules[0]; e.Currency != "USD" || e.NowHour != 0.4 || r.CostHour != 0.2 || r.BoundHour != 0.2 {
		t.Errorf("%+v", e)
	}
	p = in("type,price\nm4,0.2\n")
	if p.Money != nil || strings.Contains(p.Text(false), "\nmoney") {
		t.Errorf("money of no currency: %v", p.Money)
	}
	require.Says(t, "the plan", p.Text(false), "price 0.6")
}

// Any text is prices or an error, and a price is never below 0.
func FuzzPrices(f *testing.F) {
	for _, text := range []string{"m4,0.2\n", "Type;€ per month\nm4;1.146,5\n", "type,zone,on demand,spot\nm4,a,$0.2 hourly,n/a\n", "type,capacity type,price\nm4,spot,\"1,000.5\"\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := kubernetes.ReadPrices([]byte(text), kubernetes.Rate{})
		if err != nil {
			return
		}
		for _, n := range []*corev1.Node{node("m4"), node("m4", "karpenter.sh/capacity-type=spot"), node(text)} {
			if cost, err := p.Of(n); err == nil && (cost < 0 || cost > 1e8) {
				t.Errorf("a price of %d", cost)
			}
		}
	})
}
