// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Whatever nodes cost, no pod waits that can be placed, and cost always means the cost of nodes. It is the same in
// plan, bound and explanation, and no bound is above it. Some pods of the drawn clusters fit nowhere, and nodes to buy
// cost up to a hundred times as much as existing ones.
func TestCostIsOfNodes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(48, 1))
	bought, waited := 0, 0
	for draw := range 3 {
		var pods []string
		for k := range 4 + rng.IntN(8) {
			pods = append(pods, fmt.Sprintf(`w%d|n%d||`, k, 1+k%2))
		}
		nowhere, room := rng.IntN(3), 10+rng.IntN(12)
		if draw == 0 { // that it is worth it doesn't depend on chance
			nowhere, room = 1, 24
		}
		for range nowhere {
			pods = append(pods, `gpu|||"nodeSelector":{"gpu":"yes"}`)
		}
		for k := range room {
			pods = append(pods, fmt.Sprintf(`new%d|||"priority":%d`, k%3, 10*(k%3)))
		}
		c := require.Value(smallCluster([]string{`"node.kubernetes.io/instance-type":"small"`,
			`"node.kubernetes.io/instance-type":"small"`, `"node.kubernetes.io/instance-type":"small"`}, pods...))(t)
		o := kubernetes.Options{Offers: offers(t, fmt.Sprintf("type,price,cpu,memory\nsmall,0.05,4,8Gi\nlarge,%g,1500m,3Gi\n", 0.05*float64(1+rng.IntN(100))))}
		o.Prices, _ = o.Offers.Prices()
		in := require.Value(kubernetes.Convert(c, o))(t)
		solve := gapwise.Options{Settings: model.Settings{Seed: 1, Effort: 50_000}}
		p := require.Value(kubernetes.MakePlan(t.Context(), in, solve))(t)
		e := require.Value(kubernetes.Explain(t.Context(), c, o, solve))(t)
		b := in.Bound(t.Context())
		if p.Then.Waiting != nowhere || e.Rules[0].Waiting != nowhere {
			t.Errorf("%d: %d pods wait, of an explanation %d, %d fit nowhere", draw, p.Then.Waiting, e.Rules[0].Waiting, nowhere)
		}
		if p.CostStatus == "optimal" && (e.Rules[0].Cost != p.Then.Cost || p.CostBound != float64(p.Then.Cost)) || p.CostBound > float64(p.Then.Cost) {
			t.Errorf("%d: the plan costs %d, its bound %v, with all rules %d", draw, p.Then.Cost, p.CostBound, e.Rules[0].Cost)
		}
		if b.Infeasible || b.Cost > p.Then.Cost || b.Cost == 0 {
			t.Errorf("%d: no plan costs less than %d, one costs %d", draw, b.Cost, p.Then.Cost)
		}
		for _, text := range []string{b.Text(), p.Text(false)} {
			if waits := p.Now.Waiting > 0; strings.Contains(text, "with as few pods waiting") != waits {
				t.Errorf("%d: %v, of which plans it is isn't said:\n%s", draw, waits, text)
			}
		}
		bought, waited = bought+len(p.Launch), waited+p.Then.Waiting
	}
	if bought == 0 || waited == 0 {
		t.Errorf("%d nodes were bought, %d pods wait: nothing was tried", bought, waited)
	}
}
