// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Text returns the plan in words, in lines of at most 80 columns but for names; with moves each of
// them.
func (p *Plan) Text(moves bool) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	state := p.stateText
	line("now", "%s", state(p.Now))
	named := mostNames
	if moves {
		named = len(p.Empty) + len(p.Filled)
	}
	b.WriteString(emptyText(p.Empty, named, "") + emptyText(p.Filled, named, ", and needed then"))
	line("could be", "%s", state(p.Then))
	name, share, sign := "saved", "", int64(1)
	if p.Then.Cost > p.Now.Cost {
		name, sign = "spent", -1
	}
	saved := sign * (p.Now.Cost - p.Then.Cost)
	if p.Now.Cost > 0 {
		share = fmt.Sprintf(" (%.0f %%)", 100*float64(saved)/float64(p.Now.Cost))
	}
	line(name, "%s%s%s", changeText(int(sign)*(p.Now.Nodes-p.Then.Nodes), sign, Money(float64(saved), p.PriceUnit)), share, idleText(len(p.Empty), p.EmptyCost, p.PriceUnit))
	if m := p.Money; m != nil {
		text := fmt.Sprintf("%.2f %s now, %.2f then, %.2f saved in a month of %d h", m.Now, m.Currency, m.Then, m.Saved, monthHours)
		if m.Empty > 0 {
			text += fmt.Sprintf(", and %.2f by the empty nodes", m.Empty)
		}
		wrapped(&b, "money", text)
	}
	if p.Used != nil {
		line("use", "%s", p.Used.Text())
	}
	if text := p.Used.ByUse(); text != "" {
		wrapped(&b, "by use", text)
	}
	for _, x := range append(p.Risks.Lines(), p.Wishes()...) {
		wrapped(&b, x[0], x[1])
	}
	switch {
	case p.Mend && p.CostStatus == "optimal":
		line("proof", "no plan that mends needs cheaper nodes beyond today's")
	case p.Mend:
		line("bound", "nodes beyond today's: at least %s", Money(p.CostBound, p.PriceUnit))
	case p.CostStatus == "optimal":
		line("proof", "%s costs less", p.Others())
	default:
		gap := fmt.Sprintf("%.2g", 100*model.Gap(float64(p.Then.Cost), p.CostBound))
		if strings.Contains(gap, "e+") {
			gap = "100"
		}
		wrapped(&b, "bound", fmt.Sprintf("at least %s in any%s (gap %s %%)", Money(p.CostBound, p.PriceUnit), strings.TrimPrefix(p.Others(), "no"), gap))
	}
	switch {
	case p.MovesStatus == "optimal" && p.Mend:
		line("moves", "%s, no plan that mends on these nodes moves fewer", words.Plural(int(p.Moves), "pod"))
	case p.MovesStatus == "optimal":
		line("moves", "%s, no plan of that cost moves fewer", words.Plural(int(p.Moves), "pod"))
	case p.MovesBound <= 0:
		line("moves", "%s", words.Plural(int(p.Moves), "pod"))
	default:
		line("moves", "%s, at least %.0f for that cost", words.Plural(int(p.Moves), "pod"), p.MovesBound)
	}
	for _, x := range p.Caveats() {
		wrapped(&b, x[0], x[1])
	}
	if len(p.Launch) > 0 {
		price, text := int64(0), words.Plural(len(p.Launch), "node")+" first"
		for _, x := range p.Launch {
			price += x.Price
		}
		if p.PriceUnit != PriceByNode.Unit {
			text += ", " + Money(float64(price), p.PriceUnit)
		}
		wrapped(&b, "launch", text+": "+launchText(p.Launch))
	}
	if n := len(p.Waves); n > 0 {
		within := "within the budgets and "
		if p.unbudgeted {
			within = "(no PodDisruptionBudget was read) "
		}
		line("waves", "%d, each %swith room for every pod", n, within)
	}
	if len(p.Waves) > 0 {
		wrapped(&b, "scheduler", state(p.Played.Alone)+", if it decides alone")
		more := "no other node"
		if n := p.Played.Closed; n > 0 {
			more = "up to " + words.Plural(n, "node")
		}
		wrapped(&b, "cordoning", fmt.Sprintf("%s, by %s, with %s cordoned", state(p.Played.Steered), words.Plural(p.Played.Steps, "step"), more))
		if p.Played.Left > 0 {
			wrapped(&b, "", p.PartText())
		}
	}
	if p.Beyond != nil {
		wrapped(&b, "no way to", state(*p.Beyond)+": "+p.stuckText())
	}
	if len(p.Emptied) > 0 {
		names, more := p.Emptied, ""
		if n := len(names) - mostNames; n > 0 && !moves {
			names, more = names[:mostNames], fmt.Sprintf(" and %d more (--moves)", n)
		}
		b.WriteString("\nnodes that become empty:\n  " + words.Wrap(strings.Join(names, ", ")+more, 76, 2) + "\n")
	}
	b.WriteString(PinsText(p.Pins))
	b.WriteString(WaitsText(p.Waits))
	if len(p.Waits) > 0 && !p.Offered {
		b.WriteString("  --offers FILE names nodes to buy; the plan then tells how many hold them\n")
	}
	if !moves {
		return b.String()
	}
	if len(p.Launch) > 0 {
		b.WriteString("\nbefore the first wave\n")
		for _, x := range p.Launch {
			fmt.Fprintf(&b, "  launch %s, ready before any eviction\n", x.Node)
		}
	}
	for k, wave := range p.Waves {
		fmt.Fprintf(&b, "\nwave %d\n", k+1)
		for _, m := range wave {
			b.WriteString("  " + m.String() + "\n")
		}
	}
	for _, m := range p.Stuck {
		b.WriteString("  stuck: " + m.String() + "\n")
	}
	return b.String()
}

// stateText writes a state; the price is left out where the nodes or their vCPU are it.
func (p *Plan) stateText(s State) string {
	text := fmt.Sprintf("%s, %d vCPU", words.Plural(s.Nodes, "node"), s.VCPU)
	if p.PriceUnit != "vCPU" && p.PriceUnit != "nodes" {
		text += ", " + Money(float64(s.Cost), p.PriceUnit)
	}
	if s.Waiting > 0 {
		text += fmt.Sprintf("; waiting pods: %d", s.Waiting)
	}
	return text
}

// stoppedText tells of a plan whose search was stopped at Ctrl-C.
const stoppedText = "before all questions were answered: a plan that is sought longer may save more"

// Caveats returns in lines, each after its name, what a plan leaves open, what it breaks or leaves broken, and what the
// removal of nodes means.
func (p *Plan) Caveats() (all [][2]string) {
	if p.Stopped {
		all = append(all, [2]string{"stopped", stoppedText})
	} else if text := p.fewestText(); text != "" {
		all = append(all, [2]string{"stopped", text})
	}
	if text := p.brokenText(); text != "" {
		all = append(all, [2]string{"broken", text})
	}
	if p.Removal != nil {
		all = append(all, p.Removal.text(p.stateText)...)
	}
	return all
}

// wrapped writes a text behind its name, in lines of at most 80 columns but for names.
func wrapped(b *strings.Builder, name, text string) {
	fmt.Fprintf(b, "%-10s %s\n", name, words.Wrap(text, 69, 11))
}

// fewestText says that fewer pods might wait, or more room be kept, than in the plan; "" if that is proved not to be.
func (p *Plan) fewestText() string {
	if p.WaitingStatus == string(model.StatusOptimal) || p.Then.Waiting+p.Then.Roomless == 0 {
		return ""
	}
	what := "whether fewer pods have to wait"
	switch {
	case p.Then.Waiting == 0:
		what = "whether more pods to come have room"
	case p.Then.Roomless > 0:
		what += ", or more pods to come have room"
	}
	return what + ", is open: the search for that was stopped; a longer --time-limit may find it"
}

// PartText tells which part of the way the steps are: about as many moves are in each step that is left.
func (p *Plan) PartText() string {
	left, all := p.Played.Left, 0
	for _, wave := range p.Waves {
		all += len(wave)
	}
	if left >= all {
		return words.Plural(left, "move") + " that no cordons can steer"
	}
	return fmt.Sprintf("steps 1 to %d of about %d; plan again after them (%s left)", p.Played.Steps, (p.Played.Steps*all+all-left-1)/(all-left), words.Plural(left, "move"))
}

// stuckText explains why a plan can't be reached.
func (p *Plan) stuckText() string {
	moves := words.Plural(len(p.Stuck), "move")
	if slices.ContainsFunc(p.Stuck, func(m Move) bool { return strings.HasPrefix(m.After, roomOn) }) {
		return moves + " wait for each other's room (one more node for a while)"
	}
	return moves + " one by one break a rule between pods"
}

// changeText tells how many nodes, and how much, are saved (sign 1) or spent (-1). The number may have the other sign.
func changeText(nodes int, sign int64, money string) string {
	text := words.Plural(nodes, "node")
	switch {
	case nodes < 0 && sign > 0:
		return fmt.Sprintf("%s, by %s more", money, words.Plural(-nodes, "node"))
	case nodes < 0:
		return fmt.Sprintf("%s, by %s fewer", money, words.Plural(-nodes, "node"))
	case money == text:
		return text
	}
	return text + ", " + money
}

// emptyText names the first of the nodes that are empty today, with what becomes of them; "" if none is.
func emptyText(nodes []string, most int, then string) string {
	if len(nodes) == 0 {
		return ""
	}
	names := strings.Join(nodes[:min(most, len(nodes))], ", ")
	if n := len(nodes) - most; n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	verb := "are"
	if len(nodes) == 1 {
		verb = "is"
	}
	text := fmt.Sprintf("%s %s empty today (but for daemon sets)%s: %s", words.Plural(len(nodes), "node"), verb, then, names)
	return "           " + words.Wrap(text, 69, 11) + "\n"
}

// idleText tells what nodes cost that are empty today; "" without any.
func idleText(n int, cost int64, unit string) string {
	if n == 0 {
		return ""
	}
	text := ", and " + words.Plural(n, "empty node")
	if unit != PriceByNode.Unit {
		text += ", " + Money(float64(cost), unit)
	}
	return text
}

// Others names the plans that the bound on the cost is of.
func (p *Plan) Others() string {
	switch {
	case p.Then.Waiting > p.fewest[0] || p.Then.Roomless > p.fewest[1]: // the bound isn't of plans like this one
		text := fmt.Sprintf("no plan with at most %s waiting", words.Plural(p.fewest[0], "pod"))
		if len(p.Room) > 0 {
			text += fmt.Sprintf(" and %d without room", p.fewest[1])
		}
		return text
	case p.Now.Waiting+p.Then.Waiting == 0 && len(p.Room) == 0:
		return "no plan"
	case p.Now.Waiting+p.Then.Waiting == 0:
		return "no plan with as much room kept"
	case len(p.Room) > 0:
		return "no plan with as few pods waiting and as much room kept"
	}
	return "no plan with as few pods waiting"
}

// Money returns a cost with its unit; a table's costs are in the table's own.
func Money(x float64, unit string) string {
	switch of, per := unitOf(unit); {
	case unit == tableUnit:
		return fmt.Sprintf("price %.12g", x/per)
	case unit == PriceByNode.Unit:
		return words.Plural(int(math.Round(x)), "node")
	case per != 1:
		return fmt.Sprintf("%.12g %s", x/per, of)
	}
	return fmt.Sprintf("%.0f %s", x, unit)
}

// unitOf returns the unit that people know for a unit of costs, and how many costs are one of it: USD/h and 10000 for
// "0.0001 USD/h".
func unitOf(unit string) (of string, per float64) {
	if unit == tableUnit {
		return "the table's unit", priceUnits
	}
	if scale, of, ok := strings.Cut(unit, " "); ok {
		if x, err := strconv.ParseFloat(scale, 64); err == nil && x > 0 {
			return of, math.Round(1 / x)
		}
	}
	return unit, 1
}

// launchText names offers with how many nodes of each are to be launched.
func launchText(all []Launch) string {
	count := map[string]int{}
	for _, x := range all {
		count[x.Offer]++
	}
	var names []string
	for _, offer := range slices.Sorted(maps.Keys(count)) {
		names = append(names, fmt.Sprintf("%d of %s", count[offer], offer))
	}
	return strings.Join(names, ", ")
}

// mostNames is how many nodes are named.
const mostNames = 40

// String returns "POD: FROM -> TO", with the reason.
func (m Move) String() string {
	from := m.From
	if from == "" {
		from = "waits"
	}
	text := fmt.Sprintf("%s: %s -> %s", m.Pod, from, m.To)
	if m.Detour {
		text += " (on the way)"
	}
	if m.After != "" {
		text += ", after " + m.After
	}
	return text
}

// PinsText explains why pods can't move; "" if all can.
func PinsText(pins []Pin) string {
	if len(pins) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\npods that can't move:\n")
	for k, p := range pins {
		if k == mostPins && len(pins) > mostPins+1 {
			rest := 0
			for _, p := range pins[k:] {
				rest += p.Pods
			}
			fmt.Fprintf(&b, "  %4d for %d other reasons (--json)\n", rest, len(pins)-k)
			break
		}
		fmt.Fprintf(&b, "  %4d on %-9s %s\n", p.Pods, words.Plural(p.Nodes, "node")+":", words.Wrap(p.Why, 59, 20))
	}
	return b.String()
}

// scriptHead begins a script of Commands. Its jsonpath prints for each pod: controller, when it is being deleted, and
// whether it is ready.
const scriptHead = `#!/bin/sh
# kube-scheduler chooses the nodes of the successors: what it would prefer is cordoned for each step.
# What fails or is stopped opens all nodes that it has cordoned. After a kill, gapwise kubernetes drain --undo does.
# It doesn't take the lease that lets one drain run at a time: run no drain beside it.
set -e
cordoned=
cordon() { # nodes, with the mark in the same call
  for node; do
    cordoned="$cordoned $node"
    kubectl patch node "$node" --type merge -p '%[1]s'
  done
}
uncordon() { # nodes
  for node; do
    kubectl patch node "$node" --type merge -p '%[2]s'
  done
}
undo() {
  code=$?
  trap '' INT TERM HUP PIPE
  trap - EXIT
  for node in $cordoned; do
    uncordon "$node" >/dev/null || echo "$node may be cordoned still" >&2
  done
  exit "$code"
}
trap undo EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM
evict() { # namespace, pod; what a budget refuses is tried again for 10 minutes
  tries=0
  until said=$(printf '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"namespace":"%%s","name":"%%s"}}' "$1" "$2" |
    kubectl create --raw "/api/v1/namespaces/$1/pods/$2/eviction" -f - 2>&1); do
    tries=$((tries + 1))
    case $said in
    *TooManyRequests* | *'disruption budget'*) [ "$tries" -lt 120 ] || { echo "$said" >&2 && return 1; } ;;
    *) echo "$said" >&2 && return 1 ;;
    esac
    [ "$tries" -gt 1 ] || echo "tried again: $said" >&2
    sleep 5
  done
}
ready() { # namespace, controller: how many of its pods are ready and stay
  all=$(kubectl get pods -n "$1" -o jsonpath='{range .items[*]}{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name},{.metadata.deletionTimestamp},{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}') || return 1
  echo "$all" | awk -F, -v of="$2" '$1 == of && $2 == "" && $3 == "True"' | wc -l
}
await() { # number, namespace, controller, seconds: until as many of its pods are ready as before
  end=$(($(date +%%s) + $4))
  until now=$(ready "$2" "$3") && [ "$now" -ge "$1" ]; do
    [ "$(date +%%s)" -lt "$end" ] || { echo "$2 $3: fewer pods are ready than before" >&2 && return 1; }
    sleep 2
  done
}
`

// Commands returns the plan as a script for a shell: the nodes that become or are empty are cordoned, and
// the pods of each step evicted through the eviction API. An eviction can't name a node: so the nodes that kube-scheduler
// would prefer are cordoned for the step, which ends when as many pods of the controllers of evicted ones are ready as
// before. If the script fails or is stopped, it opens the nodes. Every word is quoted, though no name is left that needs
// it. The error is ErrHarm, or wraps model.ErrInvalid for a name that no cluster has.
func (in *Instance) Commands(p *Plan, allow []string) (string, error) {
	var b strings.Builder
	if len(p.Launch) > 0 {
		fmt.Fprintf(&b, "#!/bin/sh\n# The plan needs nodes that no kubectl command launches: %s.\n"+
			"# Launch them by your cloud or node pool and plan again: the commands then use them. Karpenter launches\n"+
			"# nodes by itself only for pods that wait.\nexit 1\n", visible.Text(launchText(p.Launch), ""))
		return b.String(), nil
	}
	if err := in.harm(p, allow, false); err != nil {
		return "", err
	}
	const by = "gapwise kubernetes plan --commands"
	fmt.Fprintf(&b, scriptHead, cordonPatch(true, by), cordonPatch(false, by))
	if p.Stopped {
		fmt.Fprintf(&b, "# The search was stopped %s.\n", stoppedText)
	}
	if p.Played.Left > 0 {
		fmt.Fprintf(&b, "# A part of the plan: %s.\n", p.PartText())
	}
	for _, node := range p.fence {
		fmt.Fprintf(&b, "cordon %s\n", process.Quote(node))
	}
	pods := map[string]*corev1.Pod{}
	for k := range in.Cluster.Pods {
		x := &in.Cluster.Pods[k]
		pods[x.Namespace+"/"+x.Name] = x
	}
	for k, step := range p.Steps {
		fmt.Fprintf(&b, "# step %d of wave %d\n", k+1, step.Wave)
		closed := process.Quote(step.Closed...)
		if closed != "" {
			fmt.Fprintf(&b, "cordon %s\n", closed)
		}
		longest := map[string]int64{} // grace period, by the quoted namespace and controller
		var evict strings.Builder
		for _, m := range step.Moves {
			if m.From == "" {
				continue
			}
			namespace, name, _ := strings.Cut(m.Pod, "/")
			fmt.Fprintf(&evict, "evict %s # from %s, planned for %s\n", process.Quote(namespace, name), process.Quote(m.From), process.Quote(m.To))
			kind, owner := owned(pods[m.Pod])
			of, grace := process.Quote(namespace, kind+"/"+owner), int64(corev1.DefaultTerminationGracePeriodSeconds)
			if g := pods[m.Pod].Spec.TerminationGracePeriodSeconds; g != nil {
				grace = *g
			}
			longest[of] = max(longest[of], grace)
		}
		owners := slices.Sorted(maps.Keys(longest))
		for n, of := range owners {
			fmt.Fprintf(&b, "n%d=$(ready %s)\n", n+1, of)
		}
		b.WriteString(evict.String())
		for n, of := range owners {
			fmt.Fprintf(&b, "await \"$n%d\" %s %d\n", n+1, of, 600+longest[of])
		}
		if closed != "" {
			fmt.Fprintf(&b, "uncordon %s\n", closed)
		}
	}
	b.WriteString("trap - EXIT\n")
	if p.Played.Left > 0 {
		fmt.Fprintf(&b, "echo %s\n", process.Quote("these were "+p.PartText()))
	}
	return b.String(), nil
}

// Rows returns a table's rows of some of the costs without rules, compared with the cost with all. The columns are the
// omitted rule, cost, bound, status, and the saving: from the least to the most, unless both costs are proved. It is unknown
// where other numbers of pods wait, or have no room: those cost nothing, and are why more or less is spent.
func (e *Explanation) Rows(all []RuleCost) (rows [][]string) {
	cost := e.number()
	for _, r := range all {
		name, base := r.Without, e.Rules[0]
		first, saved := name == "", "unknown"
		least, most := math.Max(0, base.Bound-float64(r.Cost)), float64(base.Cost)-r.Bound
		switch {
		case first:
			name, saved = "nothing", ""
		case r.Waiting != base.Waiting || r.Roomless != base.Roomless:
		case cost(least) != cost(most):
			saved = cost(least) + " to " + cost(most)
		default:
			saved = cost(float64(base.Cost - r.Cost))
		}
		if r.Change != "" {
			name += " (" + r.Change + ")"
		}
		if r.Roomless != base.Roomless || first && r.Roomless > 0 {
			name += fmt.Sprintf(" (no room found for %d)", r.Roomless)
		}
		if r.Waiting != base.Waiting || first && r.Waiting > 0 {
			name += fmt.Sprintf(" (waiting pods: %d)", r.Waiting)
		}
		rows = append(rows, []string{name, cost(float64(r.Cost)), cost(r.Bound), r.Status, saved})
	}
	return rows
}

// number returns how costs are written in tables: without their unit.
func (e *Explanation) number() func(float64) string {
	if _, per := unitOf(e.PriceUnit); per != 1 {
		return func(x float64) string { return fmt.Sprintf("%.12g", x/per) }
	}
	return func(x float64) string { return fmt.Sprintf("%.0f", x) }
}

// Others reports the results on the budgets and rules that the table doesn't have; "" if there are none.
func (e *Explanation) Others() string {
	var b strings.Builder
	if e.Stopped {
		b.WriteString("stopped: questions that aren't answered here are open\n")
	}
	if e.Needless > 0 {
		fmt.Fprintf(&b, "without any other one of %d budgets and rules nothing is saved, as a bound shows\n", e.Needless)
	}
	if e.Untried > 0 {
		fmt.Fprintf(&b, "%d budgets and rules were not tried one by one: less can be saved by them, or fewer pods are theirs\n", e.Untried)
	}
	return b.String()
}

// Wishes returns in lines, each after its name, what a plan does to what isn't a rule of kube-scheduler.
func (p *Plan) Wishes() (all [][2]string) {
	r := p.Preferences
	all = p.roomLines()
	if r != nil && len(r.Lost) > 0 {
		text := fmt.Sprintf("%d of %s that hold today don't then: %s; ", len(r.Lost), words.Plural(r.Held, "workload")+" with preferences", list(r.Lost))
		if r.Price != nil {
			text += "holding them costs " + Money(float64(*r.Price), p.PriceUnit) + " (--hold preferences)"
		} else {
			text += "--hold preferences holds them, explain has the price"
		}
		all = append(all, [2]string{"prefers", text})
	}
	if r != nil && r.Pods+r.Nodes > 0 {
		all = append(all, [2]string{"prefers", fmt.Sprintf("met today and not then: a preferred node of %s, preferred company of %d", words.Plural(r.Nodes, "pod"), r.Pods)})
	}
	return all
}

// roomLines returns the room that a plan keeps in lines, each after its name.
func (p *Plan) roomLines() (all [][2]string) {
	for _, what := range append(slices.Clone(Rooms), roomLeaving) {
		pods, kept, none := 0, 0, []string{}
		of, nodes := map[string]bool{}, []string{}
		why := ""
		for _, r := range p.Room {
			if r.For != what {
				continue
			}
			pods, kept, of[r.Of], nodes = pods+r.Pods, kept+r.Kept, true, append(nodes, r.Nodes...)
			if r.Kept < r.Pods {
				none, why = append(none, fmt.Sprintf("%s (%d)", r.Of, r.Pods-r.Kept)), cmp.Or(why, r.Why)
			}
		}
		if pods == 0 {
			continue
		}
		text := fmt.Sprintf("%d of %s to come, of %s, have room", kept, words.Plural(pods, "pod"), words.Plural(len(of), "workload"))
		switch what {
		case roomLeaving:
			text = fmt.Sprintf("%d of %s on nodes being deleted, of %s, have room elsewhere", kept, words.Plural(pods, "pod"), words.Plural(len(of), "workload"))
		case roomNode:
			text = fmt.Sprintf("%d of %s of nodes have an empty one kept: %s", kept, words.Plural(pods, "kind"), cmp.Or(list(nodes), "none"))
		}
		if len(none) > 0 {
			text += "; none for " + list(none) + ": " + why
		}
		all = append(all, [2]string{"room " + what, text})
	}
	switch x := p.NodeFails; {
	case x == nil:
	case len(x) == 0:
		all = append(all, [2]string{"node fails", "the pods of any one node then have a place"})
	default:
		all = append(all, [2]string{"node fails", fmt.Sprintf("the pods of %s have no other place, as first fit finds: %s", words.Plural(len(x), "node"), list(x))})
	}
	return all
}
