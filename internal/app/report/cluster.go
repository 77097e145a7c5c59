// SPDX-License-Identifier: MIT

package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Cluster writes the page of a plan for a cluster: the present and the possible state, the nodes before and after, each
// move, why pods can't move, and the costs of rules (nil: left out).
func Cluster(w io.Writer, plan *kubernetes.Plan, costs *kubernetes.Explanation, o Options) error {
	money := func(x int64) string { return kubernetes.Money(float64(x), plan.PriceUnit) }
	p := &page{Title: cmp.Or(o.Title, "A plan for a cluster"), Left: plan.Account.Lines()}
	p.Subtitle = fmt.Sprintf("Kubernetes · %s%s · gapwise %s", o.dated(), words.Plural(len(plan.Instance.Hosts)-len(plan.Launch), "node"), gapwise.Version)
	saved := plan.Now.Cost - plan.Then.Cost
	p.Cards = []card{{fmt.Sprint(plan.Now.Nodes), "nodes in use"}, {fmt.Sprint(plan.Then.Nodes), "could do"}, {money(saved), "saved"}, {fmt.Sprint(plan.Moves), "pods move"}}
	if plan.Now.Cost > 0 {
		p.Cards[2].Label = fmt.Sprintf("saved, %.0f %%", 100*float64(saved)/float64(plan.Now.Cost))
	}
	others := "N" + plan.Others()[1:]
	cost := fmt.Sprintf("%s costs less than %s.", others, kubernetes.Money(plan.CostBound, plan.PriceUnit))
	if plan.CostStatus == string(model.StatusOptimal) {
		cost = others + " costs less: that is proved."
	}
	moves := fmt.Sprintf("At least %.0f moves are needed for that cost.", plan.MovesBound)
	if plan.MovesStatus == string(model.StatusOptimal) {
		moves = "No plan of that cost moves fewer pods: that is proved, too."
	}
	p.Lead = append(o.told(), fmt.Sprintf("The nodes in use %s %s now and %s then. %s %s", map[bool]string{true: "are", false: "cost"}[plan.PriceUnit == kubernetes.PriceByNode.Unit], money(plan.Now.Cost), money(plan.Then.Cost), cost, moves))
	if n := len(plan.Empty); n > 0 {
		text := words.Plural(n, "node") + " more are"
		if n == 1 {
			text = "One node more is"
		}
		p.Lead = append(p.Lead, text+" empty today and then, but for daemon sets: without a move that saves "+money(plan.EmptyCost)+" besides.")
	}
	if n := len(plan.Filled); n > 0 {
		p.Lead = append(p.Lead, "Of the nodes without such pods today, the plan needs "+words.Plural(n, "node")+".")
	}
	if m := plan.Money; m != nil {
		p.Lead = append(p.Lead, fmt.Sprintf("In a month of 730 hours that is %.2f %s now and %.2f then: %.2f less.", m.Now, m.Currency, m.Then, m.Saved))
		if m.Empty > 0 {
			p.Lead = append(p.Lead, fmt.Sprintf("The empty nodes are another %.2f %s.", m.Empty, m.Currency))
		}
	}
	if plan.Used != nil {
		p.Lead = append(p.Lead, "Of what they request, pods use "+plan.Used.Text()+".")
	}
	if text := plan.Used.ByUse(); text != "" {
		p.Lead = append(p.Lead, words.Upper(text)+".")
	}
	for _, risk := range plan.Risks.Lines() {
		p.Lead = append(p.Lead, strings.ToUpper(risk[0][:1])+risk[0][1:]+": "+risk[1]+".")
	}
	for _, x := range slices.Concat(plan.Wishes(), plan.Caveats()) {
		p.Lead = append(p.Lead, words.Upper(x[0])+": "+x[1]+".")
	}
	if n := plan.Then.Waiting; plan.Now.Waiting > 0 || n > 0 {
		p.Lead = append(p.Lead, fmt.Sprintf("Pods that wait for a node: %d now, %d then.", plan.Now.Waiting, n))
	}
	if len(plan.Launch) > 0 {
		p.Lead = append(p.Lead, fmt.Sprintf("The plan needs %s that must be launched and ready before the first wave.", words.Plural(len(plan.Launch), "new node")))
	}
	if len(plan.Waves) > 0 {
		steered := fmt.Sprintf("Left alone with the emptied nodes cordoned, kube-scheduler would end with %s in use, and %s would wait. By %s that %s more for a moment it ends with %d",
			words.Plural(plan.Played.Alone.Nodes, "node"), words.Plural(plan.Played.Alone.Waiting, "pod"), words.Plural(plan.Played.Steps, "step"), map[bool]string{true: "cordons", false: "cordon"}[plan.Played.Steps == 1], plan.Played.Steered.Nodes)
		if plan.Played.Left > 0 {
			steered += " so far: " + plan.PartText()
		}
		p.Lead = append(p.Lead, steered+".")
	}
	nodes := clusterNodes(plan)
	fates := map[string]string{}
	for _, r := range nodes.Rows {
		fates[r.Cells[0].Text] = r.Values[0]
	}
	pictures := section{ID: "pictures", Title: "Before and after", Blocks: []block{{Bars: clusterBars(plan, func(host string) string { return fates[host] })}}}
	p.Sections = []section{pictures, {ID: "nodes", Title: "Nodes", Blocks: []block{{Table: nodes}}}, clusterMoves(plan), clusterRules(plan, costs)}
	return p.write(w)
}

// roomKept is the fate of a node that a plan keeps for pods that aren't there.
const roomKept = "kept as room"

// clusterNodes lists the nodes with their pods now and then.
func clusterNodes(plan *kubernetes.Plan) *table {
	in := plan.Instance
	now, then := map[string]int{}, map[string]int{}
	need, room := map[string][]int64{}, map[string]bool{}
	for i := range in.Jobs {
		for k, h := range plan.Solution.Jobs[i].Hosts {
			if plan.Comes(i) {
				room[h] = true
				continue
			}
			now[plan.Today.Jobs[i].Hosts[k]]++
			if then[h]++; need[h] == nil {
				need[h] = make([]int64, len(in.Resources))
			}
			for r, x := range in.Jobs[i].Needs {
				need[h][r] += x
			}
		}
	}
	launched := map[string]bool{}
	for _, x := range plan.Launch {
		launched[x.Node] = true
	}
	t := &table{Caption: "Nodes", Columns: []column{{Name: "node"}, {Name: "price", Number: true}, {Name: "pods now", Number: true}, {Name: "pods then", Number: true},
		{Name: "fullest then", Help: "The resource of which the pods request the largest share of what the node has for them"}, {Name: "what becomes of it"}},
		Choices: []choice{{Name: "What", Index: 0, Values: []string{"in use", "becomes empty", "to launch", "empty", "kept", "takes no pods", roomKept}}}}
	for k := range in.Hosts {
		h := &in.Hosts[k]
		what := "in use"
		switch {
		case launched[h.ID]:
			what = "to launch"
		case then[h.ID] == 0 && room[h.ID]:
			what = roomKept
		case then[h.ID] == 0 && h.Kept:
			what = "kept"
		case then[h.ID] == 0 && now[h.ID] > 0:
			what = "becomes empty"
		case then[h.ID] == 0 && h.Closed: // as it is being deleted
			what = "takes no pods"
		case then[h.ID] == 0:
			what = "empty"
		}
		fullest, share := "", 0.0
		for r, x := range need[h.ID] {
			if s := float64(x) / float64(max(1, h.Capacity[r])); s > share {
				fullest, share = fmt.Sprintf("%s, %.0f %%", kubernetes.ResourceWords(in.Resources[r]), 100*s), s
			}
		}
		t.Rows = append(t.Rows, row{Values: []string{what}, Cells: []cell{text(h.ID), number(float64(h.Price), kubernetes.Money(float64(h.Price), plan.PriceUnit)), count(now[h.ID]), count(then[h.ID]),
			{Text: fullest, Sort: fmt.Sprint(share)}, text(what)}})
	}
	return t
}

// clusterMoves lists the moves by waves.
func clusterMoves(plan *kubernetes.Plan) section {
	t := &table{Caption: "Moves", Columns: []column{{Name: "wave", Number: true}, {Name: "pod"}, {Name: "from"}, {Name: "to"}, {Name: "why not before"}},
		Note: "Moves of a wave may go at once: each finds room, and no budget loses more pods than it allows."}
	add := func(wave string, m kubernetes.Move) {
		why := m.After
		if m.Detour {
			why = "on the way to another node"
		}
		t.Rows = append(t.Rows, row{Cells: []cell{text(wave), text(m.Pod), text(cmp.Or(m.From, "waits")), text(m.To), text(why)}})
	}
	for _, x := range plan.Launch {
		t.Rows = append(t.Rows, row{Cells: []cell{text("0"), text(""), text("launch"), text(x.Node), text("before any eviction")}})
	}
	for k, wave := range plan.Waves {
		for _, m := range wave {
			add(fmt.Sprint(k+1), m)
		}
	}
	for _, m := range plan.Stuck {
		add("none", m)
	}
	s := section{ID: "moves", Title: "Waves"}
	if len(t.Rows) > 0 {
		s.Blocks = []block{{Table: t}}
	}
	return s
}

// add adds rows of texts.
func (t *table) add(rows [][]string) {
	for _, r := range rows {
		cells := make([]cell, len(r))
		for c := range r {
			cells[c] = text(r[c])
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
}

// clusterRules shows the costs of rules, and why pods can't move, or go on waiting.
func clusterRules(plan *kubernetes.Plan, costs *kubernetes.Explanation) section {
	s := section{ID: "rules", Title: "What rules cost"}
	if costs != nil && costs.Stopped {
		s.Blocks = append(s.Blocks, block{Words: "Stopped: the questions that aren't answered here are open."})
	}
	if costs != nil {
		for k, all := range [][]kubernetes.RuleCost{costs.Rules, costs.Singles} {
			t := &table{Caption: []string{"Kinds of rules left out", "Single budgets and rules left out"}[k], Plain: true,
				Columns: []column{{Name: "without"}, {Name: "cost", Number: true}, {Name: "bound", Number: true}, {Name: "status"}, {Name: "saved by it", Number: true}}}
			t.add(costs.Rows(all))
			if k == 1 {
				t.Note = costs.Others()
			}
			if len(t.Rows) > 0 {
				s.Blocks = append(s.Blocks, block{Table: t})
			}
		}
	}
	if costs != nil && len(costs.Goals) > 0 {
		t := &table{Caption: "Goals beside the rules", Plain: true,
			Columns: []column{{Name: "with"}, {Name: "cost", Number: true}, {Name: "bound", Number: true}, {Name: "status"}, {Name: "its price", Number: true}}}
		t.add(costs.GoalRows())
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	pins := &table{Caption: "Pods that can't move", Plain: true, Columns: []column{{Name: "why"}, {Name: "pods", Number: true}, {Name: "on nodes", Number: true}}}
	for _, x := range plan.Pins {
		pins.Rows = append(pins.Rows, row{Cells: []cell{text(x.Why), count(x.Pods), count(x.Nodes)}})
	}
	waits := &table{Caption: "Pods that go on waiting", Plain: true, Columns: []column{{Name: "pod"}, {Name: "why"}}}
	for _, x := range plan.Waits {
		waits.Rows = append(waits.Rows, row{Cells: []cell{text(x.Pod), text(x.Why)}})
	}
	for _, t := range []*table{pins, waits} {
		if len(t.Rows) > 0 {
			s.Blocks = append(s.Blocks, block{Table: t})
		}
	}
	return s
}
