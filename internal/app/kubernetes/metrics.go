// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise/model"
)

// Metrics returns a plan, made at a time for a cluster of this name, in the text format of Prometheus
// (its exposition format 0.0.4). Every sample has the label cluster.
func (p *Plan) Metrics(cluster string, at time.Time) string {
	var b strings.Builder
	labelEscapes := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	type sample struct {
		labels []string // names and values
		value  float64
	}
	family := func(name, help string, samples ...sample) {
		fmt.Fprintf(&b, "# HELP gapwise_plan_%s %s\n# TYPE gapwise_plan_%[1]s gauge\n", name, help)
		for _, s := range samples {
			fmt.Fprintf(&b, "gapwise_plan_%s{cluster=\"%s\"", name, labelEscapes.Replace(strings.ToValidUTF8(cluster, "\ufffd")))
			for pair := range slices.Chunk(s.labels, 2) {
				fmt.Fprintf(&b, ",%s=\"%s\"", pair[0], labelEscapes.Replace(pair[1]))
			}
			fmt.Fprintf(&b, "} %s\n", strconv.FormatFloat(s.value, 'g', -1, 64))
		}
	}
	when := func(now, then float64, more ...string) []sample {
		return []sample{{append([]string{"state", "now"}, more...), now}, {append([]string{"state", "then"}, more...), then}}
	}
	family("nodes", "Nodes with pods that count, now and then.", when(float64(p.Now.Nodes), float64(p.Then.Nodes))...)
	costs := func(name, help string, now, then, bound, empty float64, of ...string) {
		family(name, help+" of the nodes with pods, now and then, and of those that are empty now and then; no plan costs less than the bound.",
			append(when(now, then, of...), sample{append([]string{"state", "bound"}, of...), bound}, sample{append([]string{"state", "empty"}, of...), empty})...)
	}
	unit, per := unitOf(p.PriceUnit)
	costs("cost", "Cost, in the unit of the label,", float64(p.Now.Cost)/per, float64(p.Then.Cost)/per, p.CostBound/per, float64(p.EmptyCost)/per, "unit", unit)
	if m := p.Money; m != nil {
		costs("money_per_month", "Cost in a month of 730 hours", m.Now, m.Then, m.Bound, m.Empty, "currency", m.Currency)
	}
	family("waiting_pods", "Pods without a node.", when(float64(p.Now.Waiting), float64(p.Then.Waiting))...)
	family("moved_pods", "Pods that the plan moves.", sample{nil, float64(p.Moves)})
	family("stuck_pods", "Moves of the cheapest plan that find no order; pods that can't move aren't counted.", sample{nil, float64(len(p.Stuck))})
	family("steps", "Steps in which the plan is carried out.", sample{nil, float64(len(p.Steps))})
	family("gap_ratio", "Gap between the cost and its bound, as a share of the cost; 0 is proved optimal.",
		sample{nil, model.Gap(float64(p.Then.Cost), p.CostBound)})
	family("timestamp_seconds", "Time of the plan in seconds since 1970.", sample{nil, float64(at.Unix())})
	return b.String()
}
