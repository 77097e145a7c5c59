// SPDX-License-Identifier: MIT

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/text/words"
)

// bars is a picture of nodes, a row each, before and after: what pods request of each resource.
type bars struct {
	Caption   string
	Resources []string // in words
	Rows      []barRow
	Wide      bool // each pod has a part of its own
}

// barRow is a node with its two states.
type barRow struct {
	Name, What string
	Goes       bool // it holds no pods then
	States     [2]barState
}

// rank orders nodes: those with pods then, those that become empty, those that are empty.
func (x *barRow) rank() int {
	switch {
	case !x.Goes:
		return 0
	case x.States[0].Pods > 0:
		return 1
	}
	return 2
}

// barState has for each resource the parts of its bar, and the share that they are together.
type barState struct {
	Parts  [][]barPart
	Shares []float64
	Pods   int
}

// barPart is a share of a node that pods request: one of them, or all that stay, or move, together.
type barPart struct {
	Share float64
	Names string
	Moves bool
}

const (
	mostParts    = 4000 // pods that have a part of their own
	mostBars     = 4    // resources of a node
	barHigh      = 10.0
	mostBarShare = 1.25 // of a node; what is beyond isn't drawn
)

// clusterBars draws the nodes of a plan: one order for both states, those that hold pods then first.
func clusterBars(plan *kubernetes.Plan, fate func(host string) string) *bars {
	in := plan.Instance
	b := &bars{}
	var shown []int
	for r, name := range in.Resources {
		if name != "pods" && len(shown) < mostBars || len(in.Resources) == 1 {
			shown, b.Resources = append(shown, r), append(b.Resources, kubernetes.ResourceWords(name))
		}
	}
	rows, pods := map[string]*barRow{}, 0
	for k := range in.Hosts {
		x := &barRow{Name: in.Hosts[k].ID, What: fate(in.Hosts[k].ID)}
		for s := range x.States {
			x.States[s].Parts, x.States[s].Shares = make([][]barPart, len(shown)), make([]float64, len(shown))
		}
		rows[x.Name] = x
	}
	capacity := map[string][]int64{}
	for k := range in.Hosts {
		capacity[in.Hosts[k].ID] = in.Hosts[k].Capacity
	}
	for i := range in.Jobs {
		pods += in.Jobs[i].Tasks
	}
	b.Wide = pods <= mostParts
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if plan.Comes(i) { // its pods aren't there
			continue
		}
		for k := range plan.Today.Jobs[i].Hosts {
			at := [2]string{plan.Today.Jobs[i].Hosts[k], plan.Solution.Jobs[i].Hosts[k]}
			for s, host := range at {
				x := rows[host]
				if x == nil {
					continue // it waits
				}
				x.States[s].Pods++
				for n, r := range shown {
					share := float64(j.Needs[r]) / float64(max(1, capacity[host][r]))
					x.States[s].Shares[n] += share
					p := barPart{share, j.ID, at[0] != at[1]}
					if other := at[1-s]; p.Moves {
						p.Names += ", " + []string{"to ", "from "}[s] + cmp.Or(other, "waiting")
					}
					b.part(&x.States[s].Parts[n], p)
				}
			}
		}
	}
	for k := range in.Hosts {
		x := rows[in.Hosts[k].ID]
		x.Goes = x.States[1].Pods == 0
		b.Rows = append(b.Rows, *x)
	}
	slices.SortStableFunc(b.Rows, func(a, c barRow) int { return a.rank() - c.rank() })
	goes := 0
	for k := range b.Rows {
		if b.Rows[k].Goes {
			goes++
		}
	}
	b.Caption = fmt.Sprintf("Each node before and after, in one order: the share that pods request of %s, from above. What moves has an edge, where it is and where it goes.",
		strings.Join(b.Resources, ", "))
	if goes > 0 {
		b.Caption += fmt.Sprintf(" The last %s no pods then.", words.Plural(goes, "node")+map[bool]string{true: " holds", false: " hold"}[goes == 1])
	}
	return b
}

// part adds a part to a bar, where pods have no part of their own to the one of all that move or stay.
func (b *bars) part(all *[]barPart, p barPart) {
	if !b.Wide {
		p.Names = map[bool]string{true: "pods that move", false: "pods that stay"}[p.Moves]
	}
	for k := range *all {
		if x := &(*all)[k]; x.Moves == p.Moves && !b.Wide {
			x.Share += p.Share
			return
		}
	}
	*all = append(*all, p)
}

// bars writes a picture of nodes: a table with a small chart in each cell.
func (m *markup) bars(b *bars) {
	m.putf(`<figure class="nodes"><figcaption>%s</figcaption><div class="paper"><table><thead><tr><th scope="col">node</th><th scope="col">now</th><th scope="col">by the plan</th></tr></thead><tbody>`, b.Caption)
	for k := range b.Rows {
		x := &b.Rows[k]
		m.when(x.Goes, `<tr class="goes">`)
		m.when(!x.Goes, `<tr>`)
		m.putf(`<th scope="row" title="%s">%s`, x.Name+": "+x.What, x.Name)
		if x.What != "in use" {
			m.putf(`<small>%s</small>`, x.What)
		}
		m.WriteString("</th>")
		for s := range x.States {
			m.WriteString("<td>")
			m.bar(x, &x.States[s], b.Resources)
			m.WriteString("</td>")
		}
		m.WriteString("</tr>\n")
	}
	m.WriteString("</tbody></table></div></figure>\n")
}

// bar writes the bars of a node in one state, those of resources one below the other.
func (m *markup) bar(x *barRow, s *barState, resources []string) {
	text := x.Name + ": " + words.Plural(s.Pods, "pod")
	for r, name := range resources {
		text += fmt.Sprintf(", %s %.0f %%", name, 100*s.Shares[r])
	}
	high := barHigh * float64(len(resources))
	m.putf(`<svg role="img" aria-label="%s" `, text)
	fmt.Fprintf(m, `class="rows%d" viewBox="0 0 100 %g" preserveAspectRatio="none">`, len(resources), high)
	m.putf("<title>%s</title>", text)
	for r := range resources {
		at, most := 0.0, 1.0
		if s.Shares[r] > 1 {
			most = min(s.Shares[r], mostBarShare)
		}
		for pass, edge := range []bool{false, true} { // what moves last: its edge is above its neighbours
			for _, p := range s.Parts[r] {
				if p.Moves != edge {
					continue
				}
				wide := min(p.Share, most-at) * 100 / most
				if wide <= 0 {
					continue
				}
				fmt.Fprintf(m, `<rect class="%s" x="%.2f" y="%g" width="%.2f" height="%g">`, []string{"stays r", "moves r"}[pass]+fmt.Sprint(r%2), at*100/most, barHigh*float64(r)+1, wide, barHigh-2)
				m.putf("<title>%s</title></rect>", p.Names)
				at += p.Share
			}
		}
	}
	m.WriteString("</svg>")
}
