// SPDX-License-Identifier: MIT

package report_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/app/report"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// The page of a plan has its figures, both pictures, each node and each move, and the costs of rules.
func TestCluster(t *testing.T) {
	t.Parallel()
	text := require.Value(os.ReadFile("../../../docs/examples/cluster.json"))(t)
	text = []byte(strings.ReplaceAll(string(text), `"n5"`, `"<b>n5"`))
	types := require.Value(os.ReadFile("../../../docs/examples/node-types.csv"))(t)
	c := require.Value(kubernetes.Read(map[string][]byte{"cluster.json": text}))(t)
	offers := require.Value(kubernetes.ReadOffers(map[string][]byte{"types.csv": types}))(t)
	read := kubernetes.Options{Offers: offers}
	read.Prices, _ = offers.Prices()
	in := require.Value(kubernetes.Convert(c, read))(t)
	solve := gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: time.Minute}}
	plan := require.Value(kubernetes.MakePlan(t.Context(), in, solve))(t)
	costs := require.Value(kubernetes.Explain(t.Context(), c, read, solve))(t)
	var b bytes.Buffer
	require.OK(t, report.Cluster(&b, plan, costs, report.Options{}))
	page := b.String()
	require.Says(t, "the page", page, "No plan with as few pods waiting costs less: that is proved.", "price 0.64",
		"2 new nodes", "m2/a-1", "becomes empty", "shop/worker-2", "budget shop/ledger-pdb", "&lt;b&gt;n5",
		"by the plan", "budget shop/ledger-pdb allows no eviction")
	if strings.Contains(page, "<b>n5") {
		t.Error("a name is taken for markup")
	}
	bound := in.Bound(t.Context())
	if bound.Infeasible || bound.Cost > plan.Then.Cost || bound.Cost <= 0 || !strings.Contains(bound.Text(), "no plan with as few pods waiting costs less than price 0.") {
		t.Errorf("%+v: %s", bound, bound.Text())
	}
}

// A node that is kept as room has no pods then, in the table and the picture. The page has what is broken, and what the
// removal of nodes means.
func TestClusterRoom(t *testing.T) {
	t.Parallel()
	text := require.Value(os.ReadFile("../../../docs/examples/cluster.json"))(t)
	c := require.Value(kubernetes.Read(map[string][]byte{"cluster.json": text}))(t)
	page := func(read kubernetes.Options) (string, *kubernetes.Plan) {
		in := require.Value(kubernetes.Convert(c, read))(t)
		plan := require.Value(kubernetes.MakePlan(t.Context(), in, gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 1_000_000}}))(t)
		var b bytes.Buffer
		require.OK(t, report.Cluster(&b, plan, nil, report.Options{}))
		return b.String(), plan
	}
	html, plan := page(kubernetes.Options{Prices: kubernetes.PriceByVCPU, Room: []string{"node"}, Without: []string{"taints"}})
	kept := ""
	for _, x := range plan.Room {
		kept += strings.Join(x.Nodes, " ")
	}
	require.Same(t, "the nodes with room", "n5", kept)
	require.Says(t, "the page", html, `title="n5: kept as room"`, `aria-label="n5: 0 pods, CPU 0 %, memory 0 %"`)
	use := require.Value(kubernetes.ReadUse(map[string][]byte{"use": require.Value(os.ReadFile("../../../docs/examples/pod-use.txt"))(t)}))(t)
	html, plan = page(kubernetes.Options{Prices: kubernetes.PriceByVCPU, Use: use, ByUse: true, Headroom: 0.3})
	if all := plan.Caveats(); len(all) != 1 || !strings.Contains(html, "One by one: "+all[0][1]) {
		t.Errorf("%v", all)
	}
}
