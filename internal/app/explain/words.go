// SPDX-License-Identifier: MIT

package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// reasonOf explains a bound by the evidence from which the judge has computed its conclusion. Evidence that the judge
// hasn't accepted may have any shape, so there are no words for it.
func reasonOf(in model.Instance, bound float64, f verify.Followed) Reason {
	e := f.Evidence
	r := Reason{Evidence: e, Checked: true, Elements: e.Elements}
	if p, ok := problems[in.Kind()]; ok {
		p.words(in, f, bound, &r)
	}
	if r.Words == "" {
		r.Words = fmt.Sprintf("It follows from %s.", f.How)
	}
	return r
}

func dagWords(d *model.DAG, e *model.Evidence, bound float64, _ bool, r *Reason) {
	switch e.Type {
	case evidence.Path:
		rows, length, chain := along(d, e.Elements)
		if !chain {
			r.Words = fmt.Sprintf("On whatever machines they run, %d tasks that wait for each other take %.9g s: %s.", len(e.Elements), bound, words.Some(e.Elements, 20))
			return
		}
		r.Words = fmt.Sprintf("These %d tasks wait for each other. On the machines that suit the path best they and the transfers between them take %.9g s:", len(e.Elements), length)
		r.Rows = rows
	case evidence.Load:
		sum := 0.0
		for _, w := range e.Weights {
			sum += w
		}
		r.Words = fmt.Sprintf("The machines have no more time. Weigh a second on each of them as below; wherever a task runs, it costs at least its cheapest weighted time, "+
			"and all tasks together cost as much as the weights times %.9g s:", bound)
		r.Rows = [][]string{{"machine", "weight"}}
		for a, w := range e.Weights {
			r.Rows = append(r.Rows, []string{d.Machines[a].ID, fmt.Sprintf("%.4g", w/sum)})
		}
	case evidence.Interval:
		r.Words = fmt.Sprintf("Too much work falls between %.9g s and %.9g s: before, the tasks wait for others, and after, others wait for them. The %d machines can't do it in that time, so the schedule ends at %.9g s or later.",
			e.Window[0], e.Window[1], len(d.Machines), bound)
	case evidence.Gathering:
		r.Words = fmt.Sprintf("On whatever machines they run, tasks wait for what must come together before them: the tasks on their machine run one after the other, and the data of the others share its link. What must follow likewise. The longest path of such waits is %.9g s.", bound)
	case evidence.Traffic:
		machines, links := 0.0, 0.0
		for k, w := range e.Weights {
			if k < len(d.Machines) {
				machines += w
			} else {
				links += w
			}
		}
		r.Words = fmt.Sprintf("The machines have no more time, and neither have the links between them. Weigh a second of all machines as %.4g and one of all links as %.4g. "+
			"Wherever the tasks run, those on cheap machines send data and those that stay together wait for one machine: what they take, by weight, fills %.9g s, even if tasks may be divided among machines.",
			machines/(machines+links), links/(machines+links), bound)
	case evidence.Ordering:
		if len(e.Parts) == 0 {
			r.Words = fmt.Sprintf("A schedule that ends before %.9g s has a task on a machine where what must come before it, the task and what must come after it take longer.", bound)
			return
		}
		r.Words = fmt.Sprintf("Machines and orders of tasks may be mixed, as parts of 1, in the linear relaxation of the ordering model. Multipliers of its rows, so many of each kind as below, add up to: no mixture ends before %.9g s.", bound)
		r.Rows = [][]string{{"rows", "multipliers"}}
		for k := range e.Parts {
			r.Rows = append(r.Rows, []string{e.Parts[k].Resource, fmt.Sprint(len(e.Parts[k].Rows))})
		}
	}
}

// along returns the tasks of a path with their machines, times and transfers on the
// machines for which it takes least; chain is false if they are no path.
func along(d *model.DAG, ids []string) (rows [][]string, length float64, chain bool) {
	g := view.OfDAG(d)
	at := map[string]int32{}
	for t := range d.Tasks {
		at[d.Tasks[t].ID] = int32(t)
	}
	n, m := len(ids), g.Machines
	end, from, edge := make([][]float64, n), make([][]int, n), make([]int32, n)
	for k, id := range ids {
		t := int(at[id])
		end[k], from[k], edge[k] = make([]float64, m), make([]int, m), -1
		if k > 0 {
			for _, e := range g.Pred(int32(t)) {
				if g.From[e] == at[ids[k-1]] {
					edge[k] = e
				}
			}
			if edge[k] < 0 {
				return nil, 0, false
			}
		}
		for a := range m {
			ready := 0.0
			if k > 0 {
				ready = math.Inf(1)
				for b := range m {
					if v := end[k-1][b] + g.Comm(edge[k], int32(b), int32(a)); v < ready {
						ready, from[k][a] = v, b
					}
				}
			}
			end[k][a] = ready + g.Cost[t*m+a]
		}
	}
	on := slices.Index(end[n-1], slices.Min(end[n-1]))
	length = end[n-1][on]
	for k := n - 1; k >= 0; k-- {
		before := from[k][on]
		transfer := ""
		if k > 0 && before != on {
			transfer = fmt.Sprintf("%.6g s from %s", g.Comm(edge[k], int32(before), int32(on)), d.Machines[before].ID)
		}
		rows = append(rows, []string{ids[k], d.Machines[on].ID, transfer, fmt.Sprintf("%.6g s", g.Cost[int(at[ids[k]])*m+on]), fmt.Sprintf("%.6g s", end[k][on])})
		on = before
	}
	rows = append(rows, []string{"task", "machine", "transfer", "takes", "ends at"})
	slices.Reverse(rows)
	return rows, length, true
}

func vcschedWords(v *model.VCSched, e *model.Evidence, bound float64, infeasible bool, r *Reason) {
	needs := func(f func(*model.VCSchedJob) float64) (sum float64) {
		for k := range v.Jobs {
			sum += f(&v.Jobs[k]) * float64(v.Jobs[k].Tasks)
		}
		return sum
	}
	then := fmt.Sprintf("so some job gets at most %.6g of what it needs", bound)
	if bound >= 1 {
		then = "and no job can get more than all that it needs"
	}
	if infeasible {
		then = "so they don't fit"
	}
	if bound >= 1 && !infeasible && e.Type != evidence.Sum { // whatever the evidence, it shows no more
		r.Words = "No job can get more than all that it needs."
		return
	}
	if len(v.HostSizes) > 0 {
		if sizedWords(v, e, then, r); r.Words != "" {
			return
		}
	}
	switch e.Type {
	case evidence.Sum:
		if e.Resource != "cpu" {
			need, _ := amountsOf(v, e.Resource)
			r.Words = fmt.Sprintf("The tasks need the %s of %.6g hosts, and there are %d, %s.", e.Resource, needs(need), v.Hosts, then)
			return
		}
		sum := needs(func(j *model.VCSchedJob) float64 { return j.CPU })
		if u := view.OfVCSched(v); sum/float64(v.Hosts) < (1-1e-6)/bound && bound < 1 {
			then = fmt.Sprintf("at least %.6g on one of them; as all needs are multiples of %.6g, it has %.6g, %s",
				sum/float64(v.Hosts), float64(u.Unit)/float64(u.Scale), 1/bound, then)
		}
		r.Words = fmt.Sprintf("The tasks need the CPU of %.6g hosts, and there are %d, %s.", sum, v.Hosts, then)
	case evidence.Crowd:
		order := make([]int, len(v.Jobs))
		for k := range order {
			order[k] = k
		}
		need, _ := amountsOf(v, e.Resource)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(need(&v.Jobs[b]), need(&v.Jobs[a])) })
		left := e.Count
		for _, k := range order {
			if left > 0 {
				r.Elements = append(r.Elements, v.Jobs[k].ID)
				left -= v.Jobs[k].Tasks
			}
		}
		switch {
		case e.Resource != "":
			r.Words = fmt.Sprintf("There is no room on %s for the %s with the largest %s needs (jobs %s), %s.", words.Plural(v.Hosts, "host"), words.Plural(e.Count, "task"), e.Resource, words.Some(r.Elements, 12), then)
			return
		case e.Count == 1:
			r.Words = fmt.Sprintf("The task of the largest CPU need, of job %s, needs that much wherever it is, %s.", r.Elements[0], then)
			return
		}
		r.Words = fmt.Sprintf("Of the %d tasks with the largest CPU needs (jobs %s), %d share one of the %d hosts, %s.", e.Count, words.Some(r.Elements, 12), (e.Count-1)/v.Hosts+1, v.Hosts, then)
	case evidence.Clique:
		n := 0.0
		for _, w := range e.Weights {
			n += w
		}
		more := "without more CPU than that"
		if infeasible {
			more = "in memory"
			if len(v.Resources) > 0 {
				more = "in memory and the other resources"
			}
		}
		r.Words = fmt.Sprintf("No two of %.0f tasks (jobs %s) fit on one host %s, out of %s, %s.", n, words.Some(e.Elements, 20), more, words.Plural(v.Hosts, "host"), then)
	case evidence.Misfit:
		if !infeasible {
			r.Words = fmt.Sprintf("Of the hosts that have the memory and the other resources for a task of job %s, none has more CPU than that, %s.", e.Elements[0], then)
			return
		}
		r.Words = fmt.Sprintf("A task of job %s needs more of memory or of another resource than any host has.", e.Elements[0])
	case evidence.Filling:
		r.Words = fmt.Sprintf("Counted by the dual-feasible function %q, by which what fits on one host never counts more than a host, the %s needs of all tasks count more than the %d hosts, %s.",
			functionName(e.Function), filled(e), v.Hosts, then)
	case evidence.Patterns:
		r.Words = fmt.Sprintf("Give each task of a job the weight below (0 elsewhere). No set of tasks that fits on one host with a CPU load of up to %.6g weighs as much as the weight of all tasks divided by the %d hosts, %s:",
			float64(e.Load)/float64(e.Scale), v.Hosts, then)
		r.Rows = [][]string{{"job", "weight of a task"}}
		largest := slices.Max(append(slices.Clone(e.Weights), 1))
		for k, id := range e.Elements {
			r.Rows = append(r.Rows, []string{id, fmt.Sprintf("%.4f", e.Weights[k]/largest)})
		}
	case evidence.Moves:
		movesWords(v, e, then, r)
	}
}

// movesWords explains the proof by weights by host and the price of moving.
func movesWords(v *model.VCSched, e *model.Evidence, then string, r *Reason) {
	priced := ""
	if len(e.Prices) > 0 {
		priced = ", or that and the price of its memory on the host that it is on now,"
		then = "and more memory must move than the budget allows, " + then
	}
	r.Words = fmt.Sprintf("Give each task the weight below (0 elsewhere)%s. The heaviest sets of tasks that fit on the %d hosts with a CPU load of up to %.6g don't hold all of it together, %s:",
		priced, v.Hosts, float64(e.Load)/float64(e.Scale), then)
	r.Rows = [][]string{{"host now", "job", "weight of a task"}}
	largest := 1.0
	for k := range e.Parts {
		largest = max(largest, slices.Max(e.Parts[k].Weights))
	}
	for k := range e.Parts {
		p, host := &e.Parts[k], "none"
		if p.Count > 0 {
			host = fmt.Sprint(p.Count - 1)
		}
		for i, id := range p.Elements {
			r.Rows = append(r.Rows, []string{host, id, fmt.Sprintf("%.4f", p.Weights[i]/largest)})
		}
	}
}

// sizedWords explains the differences if hosts have sizes.
func sizedWords(v *model.VCSched, e *model.Evidence, then string, r *Reason) {
	switch e.Type {
	case evidence.Sum:
		what := e.Resource
		if what == "cpu" {
			what = "CPU"
		}
		needOf, hasOf := amountsOf(v, e.Resource)
		need, has := 0.0, 0.0
		for k := range v.Jobs {
			need += needOf(&v.Jobs[k]) * float64(v.Jobs[k].Tasks)
		}
		for k := range v.HostSizes {
			has += hasOf(&v.HostSizes[k]) * float64(v.HostSizes[k].Count)
		}
		r.Words = fmt.Sprintf("The tasks need the %s of %.6g reference hosts, and all hosts have that of %.6g, %s.", what, need, has, then)
	case evidence.Crowd:
		s := "s"
		if e.Count == 1 {
			s = ""
		}
		if e.Resource != "" {
			r.Words = fmt.Sprintf("The hosts, by their sizes, don't take the %d largest %s need%s, %s.", e.Count, e.Resource, s, then)
			return
		}
		r.Words = fmt.Sprintf("The hosts, by their sizes, don't take the %d largest CPU need%s without more CPU than that, %s.", e.Count, s, then)
	case evidence.Filling:
		r.Words = fmt.Sprintf("Counted by the dual-feasible function %q, by which what fits on the largest host never counts more than that host, the %s needs of all tasks count more than %d such hosts, %s.",
			functionName(e.Function), filled(e), v.Hosts, then)
	case evidence.Moves:
		movesWords(v, e, then, r)
	}
}

// amountsOf returns a task's need, and a host's amount, of a resource; CPU unless it is another one.
func amountsOf(v *model.VCSched, resource string) (need func(*model.VCSchedJob) float64, has func(*model.HostSize) float64) {
	k := slices.Index(v.Resources, resource)
	if k >= 0 || resource == "memory" {
		return func(j *model.VCSchedJob) float64 { return j.Rigid(k) }, func(s *model.HostSize) float64 { return s.Rigid(k) }
	}
	return func(j *model.VCSchedJob) float64 { return j.CPU }, func(s *model.HostSize) float64 { return s.CPU }
}

// filled names the resources of a filling.
func filled(e *model.Evidence) string {
	if len(e.Elements) > 0 {
		return strings.Join(e.Elements, " and ")
	}
	return e.Resource
}

func functionName(f *model.DualFunction) string {
	if f == nil {
		return "identity"
	}
	if f.Parameter == 0 {
		return f.Name
	}
	return fmt.Sprintf("%s of %d", f.Name, f.Parameter)
}

func reservationWords(in *model.Reservation, e *model.Evidence, bound float64, infeasible bool, r *Reason) {
	t := view.OfReservation(in)
	then := fmt.Sprintf("so at most %.9g can be accepted", bound)
	if infeasible {
		then = "so they can't all be accepted"
	}
	counted := func(f *model.DualFunction) string {
		if f == nil {
			return ""
		}
		return fmt.Sprintf(", PEs counted by the dual-feasible function %q", functionName(f))
	}
	switch e.Type {
	case evidence.Areas:
		side := "the ready times"
		if e.Mirrored {
			side = "the deadlines"
		}
		r.Words = fmt.Sprintf("Even if requests could be interrupted and %s didn't matter, their PEs times runtimes are more than the %d PEs have%s; leaving out those that take most, %s.", side, in.PEs, counted(e.Function), then)
		if bound >= float64(len(in.Requests)) && !in.EffectiveGoal().PESeconds() {
			r.Words = fmt.Sprintf("There are %d requests, so no more can be accepted.", len(in.Requests))
		}
	case evidence.Windows:
		if len(e.Windows) == 0 {
			r.Words = fmt.Sprintf("All requests that can be accepted are %.9g together.", bound)
			return
		}
		r.Words = fmt.Sprintf("In these times the requests must run longer, whenever they start, than the %d PEs have time, %s:", in.PEs, then)
		r.Rows = [][]string{{"from", "to", "PE-seconds needed", "there are", "requests"}}
		perSecond := t.PerSecond()
		for _, w := range e.Windows {
			var ids []string
			energy := 0.0
			for k := range t.Jobs {
				j := &t.Jobs[k]
				if x := min(w.To-w.From, j.Length, j.Ready+j.Length-w.From, w.To-j.Latest()); x > 0 {
					ids = append(ids, in.Requests[j.Request].ID)
					energy += float64(x) * float64(j.PEs)
				}
			}
			r.Elements = append(r.Elements, ids...)
			r.Rows = append(r.Rows, []string{fmt.Sprintf("%.9g s", t.Seconds(w.From)), fmt.Sprintf("%.9g s", t.Seconds(w.To)), fmt.Sprintf("%.6g", energy/perSecond),
				fmt.Sprintf("%.6g", float64(w.To-w.From)*float64(in.PEs)/perSecond), words.Some(ids, 6)})
		}
	case evidence.Prices:
		parts, per := e.Parts, " per second"
		if len(parts) > 0 && parts[0].Resource != "" {
			r.Elements = parts[0].Elements
			r.Words = fmt.Sprintf("Let each request pay a price of its own for a PE, in each of %d spans of time. Whoever is accepted pays at its cheapest time, "+
				"and requests that fit together pay no more than the most that any such set pays; %s.", len(parts[0].Times)-1, then)
			return
		}
		if len(parts) > 0 && len(parts[0].Prices) == len(parts[0].Times) {
			per = " at moments, and let requests start only when they are ready or another ends"
		}
		r.Words = fmt.Sprintf("Let a PE cost what stands below%s. Whoever is accepted pays for what it uses, and all PEs together take no more than they cost; "+
			"by that price some requests of each group are in the way of the others, %s:", per, then)
		r.Rows = [][]string{{"group", "requests", "from", "to", "price"}}
		for p := range parts {
			r.Elements = append(r.Elements, parts[p].Elements...)
			instants := len(parts[p].Prices) == len(parts[p].Times)
			for i := range parts[p].Prices {
				name := ""
				if i == 0 {
					name = words.Some(parts[p].Elements, 6)
				}
				if price := parts[p].Prices[i]; price > 0 && instants {
					at := fmt.Sprintf("%.9g s", t.Seconds(parts[p].Times[i]))
					r.Rows = append(r.Rows, []string{fmt.Sprint(p + 1), name, at, "that moment", fmt.Sprintf("%.4g", price)})
				} else if price > 0 {
					r.Rows = append(r.Rows, []string{fmt.Sprint(p + 1), name, fmt.Sprintf("%.9g s", t.Seconds(parts[p].Times[i])), fmt.Sprintf("%.9g s", t.Seconds(parts[p].Times[i+1])),
						fmt.Sprintf("%.4g", price*t.PerSecond())})
				}
			}
		}
	}
}

// pricesHeader heads the table of a batch's prices, which is long, and names no job.
var pricesHeader = []string{"from", "to", "price of a processor (s per s)"}

func batchWords(_ *model.Batch, e *model.Evidence, bound float64, _ bool, r *Reason) {
	if e.Type == evidence.Sum {
		r.Words = fmt.Sprintf("Even if no job waited for another, the mean response time would be %.9g s: no job takes less than its runtime.", bound)
		return
	}
	if e.Type == evidence.Machine {
		counted := ""
		if e.Function != nil {
			counted = fmt.Sprintf(", widths counted by the dual-feasible function %q", functionName(e.Function))
		}
		r.Words = fmt.Sprintf("Let one machine as fast as all processors together do the jobs one after the other%s. Whatever their order, and though it may interrupt them, "+
			"the mean response time is %.9g s or more.", counted, bound)
		return
	}
	whose := ""
	if e.Resource == "job" {
		whose = ", which is not the same for each job"
	}
	r.Words = fmt.Sprintf("Let a processor cost a price per second%s. Put each job where its response and what it pays for processors cost least together, as if it were alone; "+
		"less what all processors cost, that is %.9g s a job, and no schedule costs less:", whose, bound)
	r.Rows = [][]string{pricesHeader}
	cells := len(e.Times) - 1
	span := func(i int) (least, most float64) { // the prices of one after the other class of jobs
		least, most = e.Prices[i], e.Prices[i]
		for ; i < len(e.Prices); i += cells {
			least, most = min(least, e.Prices[i]), max(most, e.Prices[i])
		}
		return least, most
	}
	for i := 0; i < cells; i++ {
		from := e.Times[i]
		least, most := span(i)
		for i+1 < cells {
			if a, b := span(i + 1); a != least || b != most {
				break
			}
			i++
		}
		if most > 0 {
			price := fmt.Sprintf("%.4g", most)
			if least < most {
				price = fmt.Sprintf("%.4g to %.4g", least, most)
			}
			r.Rows = append(r.Rows, []string{fmt.Sprintf("%.6g s", float64(from)/1e6), fmt.Sprintf("%.6g s", float64(e.Times[i+1])/1e6), price})
		}
	}
}

func tvcWords(v *model.TVC, e *model.Evidence, bound float64, _ bool, r *Reason) {
	if v.Queue {
		r.Words = fmt.Sprintf("Even if no request waited for another, the mean response time would be %.9g s.", bound)
		if e.Type == evidence.Machine {
			r.Words = fmt.Sprintf("Let one machine as fast as all %s together run the requests one after the other. Whatever their order, and though it may interrupt them, "+
				"the mean response time is %.9g s or more.", map[string]string{"slots": "slots", "links": "links of servers", "servers": "servers, of which who has many slots leaves the link to few,",
				"shares": "servers, of which small parts of a request load more links,", "edge_links": "links of edge switches", "aggregation_links": "links of pods"}[e.Resource], bound)
		}
		return
	}
	if e.Type == evidence.Sum {
		r.Words = fmt.Sprintf("All requests that fit the empty data centre together are %.9g.", bound)
		return
	}
	if len(e.Parts) == 0 {
		r.Words = fmt.Sprintf("Nothing is short at any time by slots or links, so the requests that fit, %.9g in all, are the bound.", bound)
		return
	}
	count, patterns := 0, ""
	for p := range e.Parts {
		for _, x := range e.Parts[p].Parts {
			if x.Resource == evidence.PatternsOfServers {
				count++
			}
		}
	}
	if count > 0 {
		patterns = fmt.Sprintf("; at %d moments servers also cost what the heaviest set of VMs costs that one holds, by weights of VMs", count)
	}
	r.Words = fmt.Sprintf("Let slots, the bandwidth of links and servers, which have both, cost what stands below at these moments. Who runs then pays for what it holds, and all together pay no more than everything costs; "+
		"some requests of each group are in the way of the others, so at most %.9g can be had%s:", bound, patterns)
	r.Rows = [][]string{{"group", "requests", "moment", "price of all slots", "price of all links", "price of all servers"}}
	t := view.OfTVC(v)
	for p := range e.Parts {
		r.Elements = append(r.Elements, e.Parts[p].Elements...)
		moments := map[int64][3]float64{}
		var order []int64
		for _, x := range e.Parts[p].Parts {
			column, capacity := tvcPriced(t, &x)
			for i, at := range x.Times {
				m, ok := moments[at]
				if !ok {
					order = append(order, at)
				}
				m[column] += x.Prices[i] * capacity
				moments[at] = m
			}
		}
		slices.Sort(order)
		for i, at := range order {
			name := ""
			if i == 0 {
				name = words.Some(e.Parts[p].Elements, 6)
			}
			r.Rows = append(r.Rows, []string{fmt.Sprint(p + 1), name, fmt.Sprintf("%.6g s", t.Seconds(at)), fmt.Sprintf("%.4g", moments[at][0]), fmt.Sprintf("%.4g", moments[at][1]), fmt.Sprintf("%.4g", moments[at][2])})
		}
	}
}

// tvcPriced returns the column of a resource's price (slots, links or servers), and how much of the resource there is, under
// its functions.
func tvcPriced(t *view.TVC, x *model.Evidence) (column int, capacity float64) {
	whole := func(d *model.DualFunction, all int64) float64 {
		switch {
		case d == nil || d.Name == "threshold":
			return float64(all)
		case d.Name == "steps":
			return float64(d.Parameter * (d.Parameter + 1))
		case d.Name == "pieces":
			return float64(2 * (all / max(1, d.Parameter)))
		}
		return 2 // halves
	}
	servers := float64(t.Servers)
	switch x.Resource {
	case evidence.Slots:
		return 0, servers * float64(t.Slots)
	case evidence.Servers: // of each share
		return 2, servers * float64(t.ServerRate) * float64(x.Count)
	case evidence.Shares:
		return 2, servers * whole(x.Parts[0].Function, int64(t.Slots)) * whole(x.Parts[1].Function, t.ServerRate) * float64(x.Count+1)
	}
	// As many links lead up from edge switches, and from pods, as from servers.
	level := max(0, slices.Index(evidence.Links, x.Resource))
	return 1, servers * whole(x.Function, []int64{t.ServerRate, t.EdgeRate, t.AggregationRate}[level])
}
