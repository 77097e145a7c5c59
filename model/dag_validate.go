// SPDX-License-Identifier: MIT

package model

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// maxFigure bounds every time, amount and rate, and minFigure those above 0 from
// below, so that no sum or quotient overflows.
const (
	maxFigure = 1e30
	minFigure = 1e-30
)

var dagKeys = object{about: "A task graph to run on heterogeneous machines so that it ends as early as possible. " +
	"An edge between tasks on " +
	"different machines is a transfer, which may share links of the network with others.",
	keys: []key{
		accountKey,
		{name: "transfer_model", texts: textsOf(TransferModels), about: "how transfers share links: not at all " +
			"(ideal, the default), max-min fair " +
			"(fair), or so that n of them get the share 1 - 1/(1+3n) of a link together (tcp; tcp-all: plans " +
			"count on 3/4 of every path, with " +
			"links or without)"},
		{name: "resources", distinct: true, many: maxResources, each: &key{filled: true}, about: "of machines, with the " +
			"unit; without any a machine runs one task at a time"},
		{name: "machines", of: &machineKeys, few: 1, many: maxSize},
		{name: "tasks", of: &dagTaskKeys, many: maxSize},
		{name: "edges", of: &dagEdgeKeys, many: maxSize},
		{name: "network", of: &networkKeys},
	},
	rules: `"allOf": [
		{"if": {"properties": {"tasks": {"contains": {"required": ["work"]}}}},
			"then": {"properties": {"machines": {"items": {"required": ["speed"], "properties": {"speed": {"exclusiveMinimum": 0}}}}}}},
		{"if": {"properties": {"machines": {"minItems": 2}, "edges": {"minItems": 1}}},
			"then": {"required": ["network"], "properties": {"network": {"anyOf": [{"required": ["path_capacity"]}, ` + bandwidthRule + `]}}}}]`}

// bandwidthRule is the schema of a network with a bandwidth.
const bandwidthRule = `{"required": ["bandwidth"], "properties": {"bandwidth": {"exclusiveMinimum": 0}}}`

var machineKeys = object{keys: []key{
	idKey,
	{name: "startup_s", zero: true, least: minFigure, most: maxFigure, about: "seconds before a transfer from " +
		"here begins to send"},
	{name: "speed", zero: true, least: minFigure, most: maxFigure, about: "work per second, for tasks that state " +
		"their work; 0 is none"},
	{name: "local_rate", zero: true, least: minFigure, most: maxFigure, about: "data units per second between two " +
		"tasks here; missing or 0: their data take no time"},
	{name: "capacity", each: &dagAmountKey, about: "one for each of the instance's resources"},
}}

// dagAmountKey bounds capacities and needs, so that the needs of all tasks add up without overflow.
var dagAmountKey = key{most: 1e12}

var dagTaskKeys = object{
	keys: []key{
		idKey,
		{name: "cost_s", each: &key{zero: true, least: minFigure, most: maxFigure, null: true}, about: "seconds, one " +
			"for each machine in their order; null: it can't run there, but somewhere it must"},
		{name: "work", zero: true, least: minFigure, most: maxFigure, about: "seconds are work over the machine's " +
			"speed"},
		{name: "needs", each: &dagAmountKey, about: "while it runs, one for each of the instance's resources"},
		{name: "needs_on", each: &key{each: &dagAmountKey}, about: "the needs on machines where they differ, by the machine's id"},
	},
	rules: `"if": {"required": ["work"]}, "then": {"properties": {"cost_s": {"maxItems": 0}}},
		"else": {"required": ["cost_s"], "properties": {"cost_s": {"contains": {"type": "number"}}}}`}

var dagEdgeKeys = object{keys: []key{
	{name: "from", filled: true, about: "a task; no two edges have the same ends, and edges make no cycle"},
	{name: "to", filled: true, about: "another task"},
	{name: "data", zero: true, least: minFigure, most: maxFigure, about: "data units"},
	{name: "files", each: &key{zero: true, least: minFigure, most: maxFigure}, rules: `"propertyNames": {"minLength": 1}`,
		about: "the sizes, in data units, of the files that the data are, by name; edges from one task share files of " +
			"one name. A machine gets a file once, as a transfer of its own, and keeps it"},
}}

// Validate reports the first broken rule. The rules are: at least one machine; non-empty, distinct ids; for each task a
// cost on each machine, finite on one at least, or a work and a speed of each machine; edges between known tasks, each
// once, without a cycle; capacities and needs of each
// resource, with a machine that has room for each task; a bandwidth or path capacities if there is anything to transfer; routes of known links between
// known machines, each pair at most once; files that add up to their edge's data, each of one size. Errors about an
// element of a list name it, see ElementError.
func (d *DAG) Validate() error {
	if why := cmp.Or(dagKeys.wrong(d), repeatedResource(d.Resources)); why != "" {
		return d.bad("", -1, "%s", why)
	}
	machines := make(map[string]int, len(d.Machines))
	for m := range d.Machines {
		x := &d.Machines[m]
		if err := d.newID(machines, "machines", m, x.ID, machineKeys.wrong(x)); err != nil {
			return err
		}
		if why := wrongAmounts("capacity", x.Capacity, d.Resources); why != "" {
			return d.bad("machines", m, "id %q: %s", x.ID, why)
		}
	}
	tasks := elements{kind: KindDAG, list: "tasks", id: func(t int) string { return d.Tasks[t].ID }}
	cost, work, needs := dagTaskKeys.key("cost_s").each, dagTaskKeys.key("work"), dagTaskKeys.key("needs")
	for t := range d.Tasks {
		x := &d.Tasks[t]
		if why := tasks.wrong(t, x.ID != "" && (x.Work == nil || work.holds(*x.Work)) && hold(needs, x.Needs), &dagTaskKeys, x); why != "" {
			return tasks.bad(t, "%s", why)
		}
		if err := d.checkCosts(t, cost); err != nil {
			return err
		}
		if err := d.checkNeeds(t, machines); err != nil {
			return err
		}
	}
	if err := d.checkNetwork(machines); err != nil {
		return err
	}
	from, to := d.EdgeTasks()
	repeated, first := repeatedEdge(len(d.Tasks), from, to)
	data := dagEdgeKeys.key("data")
	for e := range d.Edges {
		switch x := &d.Edges[e]; {
		case from[e] < 0:
			return d.bad("edges", e, "from is %q, there is no such task", x.From)
		case to[e] < 0:
			return d.bad("edges", e, "to is %q, there is no such task", x.To)
		case from[e] == to[e]:
			return d.bad("edges", e, "task %q needs itself", x.From)
		case e == repeated:
			return d.bad("edges", e, "the edge from %q to %q is edges[%d] already, add up their data", x.From, x.To, first)
		case !data.holds(x.Data):
			return d.bad("edges", e, "from %q to %q: %s", x.From, x.To, dagEdgeKeys.wrong(x))
		}
	}
	return cmp.Or(d.checkFiles(), d.checkCycle(from, to))
}

// checkFiles returns an error in the files of an edge, nil if there is none.
func (d *DAG) checkFiles() error {
	type file struct{ from, name string }
	sizes, size := map[file]float64{}, dagEdgeKeys.key("files").each
	for e := range d.Edges {
		x := &d.Edges[e]
		if len(x.Files) == 0 {
			continue
		}
		sum := 0.0
		for _, name := range slices.Sorted(maps.Keys(x.Files)) {
			s := x.Files[name]
			first, known := sizes[file{x.From, name}]
			switch {
			case name == "":
				return d.bad("edges", e, "from %q to %q: a file has no name", x.From, x.To)
			case !size.holds(s):
				return d.bad("edges", e, "from %q to %q: %s", x.From, x.To, size.misfit(fmt.Sprintf("files[%q]", name), s, s))
			case known && first != s:
				return d.bad("edges", e, "from %q to %q: the file %q has %v data units, %v on an edge before, give one size", x.From, x.To, name, s, first)
			}
			sizes[file{x.From, name}] = s
			sum += s
		}
		if !(math.Abs(sum-x.Data) <= 1e-9*x.Data) {
			return d.bad("edges", e, "from %q to %q: data are %v, its files add up to %v", x.From, x.To, x.Data, sum)
		}
	}
	return nil
}

// edgesOf groups edges by the tasks that they come from, ascending for each task: task t has edges[at[t]:at[t+1]].
// Edges from -1 are left out. O(V + E).
func edgesOf(tasks int, from []int32) (at, edges []int32) {
	at = make([]int32, tasks+2)
	for _, f := range from {
		at[f+2]++ // the edges from -1 are in at[1], too
	}
	at[1] = 0
	for t := range tasks {
		at[t+2] += at[t+1]
	}
	edges = make([]int32, at[tasks+1])
	for e, f := range from {
		if f >= 0 {
			edges[at[f+1]] = int32(e)
			at[f+1]++
		}
	}
	return at[:tasks+1], edges
}

// repeatedEdge returns the first edge that has the tasks of an earlier one, and that one; -1
// if there is none. O(V + E).
func repeatedEdge(tasks int, from, to []int32) (repeated, first int) {
	at, edges := edgesOf(tasks, from)
	last := make([]int32, tasks) // 1 + the last edge looked at that leads to a task
	repeated, first = -1, -1
	for t := range tasks {
		for _, e := range edges[at[t]:at[t+1]] {
			if to[e] < 0 {
				continue
			}
			if f := int(last[to[e]]) - 1; f >= 0 && int(from[f]) == t {
				if repeated < 0 || int(e) < repeated {
					repeated, first = int(e), f
				}
				continue // of three the second is the first's
			}
			last[to[e]] = e + 1
		}
	}
	return repeated, first
}

func (d *DAG) bad(list string, index int, format string, args ...any) error {
	return &ElementError{Kind: KindDAG, List: list, Index: index, Reason: fmt.Sprintf(format, args...)}
}

// newID reports the error in an element of the network, or an id that another one has; it notes the id.
func (d *DAG) newID(taken map[string]int, list string, index int, id, wrong string) error {
	if wrong != "" {
		return d.bad(list, index, "id %q: %s", id, wrong)
	}
	if first, ok := taken[id]; ok {
		return d.bad(list, index, "id %q is taken by %s[%d] already", id, list, first)
	}
	taken[id] = index
	return nil
}

func (d *DAG) checkCosts(t int, cost *key) error {
	x := &d.Tasks[t]
	if x.Work != nil {
		if len(x.CostS) > 0 {
			return d.bad("tasks", t, "id %q: has both cost_s and work, give one", x.ID)
		}
		for m := range d.Machines {
			if d.Machines[m].Speed == 0 {
				return d.bad("machines", m, "id %q: speed is missing, task %q states its work", d.Machines[m].ID, x.ID)
			}
			if c := d.seconds(t, m); !(c <= maxFigure) {
				return d.bad("tasks", t, "id %q: its work takes %v seconds on machine %q, at most %g are allowed", x.ID, c, d.Machines[m].ID, maxFigure)
			}
		}
		return nil
	}
	switch have, want := len(x.CostS), len(d.Machines); {
	case have < want:
		return d.bad("tasks", t, "id %q: cost_s has %d entries for %d machines, the cost on machine %q is missing", x.ID, have, want, d.Machines[have].ID)
	case have > want:
		return d.bad("tasks", t, "id %q: cost_s has %d entries for %d machines, must have one for each", x.ID, have, want)
	}
	runs := false
	for m, c := range x.CostS {
		if !cost.holds(c) {
			return d.bad("tasks", t, "id %q: %s", x.ID, cost.misfit(fmt.Sprintf("cost_s[%d] (machine %q)", m, d.Machines[m].ID), c, c))
		}
		runs = runs || !math.IsInf(c, 1)
	}
	if !runs {
		return d.bad("tasks", t, "id %q: cost_s has only null, it can run on no machine; give one a cost", x.ID)
	}
	return nil
}

// checkNeeds returns an error in the needs of a task, nil if there is none: it can run somewhere.
func (d *DAG) checkNeeds(t int, machines map[string]int) error {
	x := &d.Tasks[t]
	if why := wrongAmounts("needs", x.Needs, d.Resources); why != "" {
		return d.bad("tasks", t, "id %q: %s", x.ID, why)
	}
	for _, id := range slices.Sorted(maps.Keys(x.NeedsOn)) {
		own := x.NeedsOn[id]
		if _, ok := machines[id]; !ok {
			return d.bad("tasks", t, "id %q: needs_on has the machine %q, there is no such machine", x.ID, id)
		}
		if why := wrongAmounts(fmt.Sprintf("needs_on[%q]", id), own, d.Resources); why != "" {
			return d.bad("tasks", t, "id %q: %s", x.ID, why)
		}
		for r, n := range own {
			if !dagAmountKey.holds(float64(n)) {
				return d.bad("tasks", t, "id %q: %s", x.ID, dagAmountKey.misfit(fmt.Sprintf("needs_on[%q][%d]", id, r), float64(n), n))
			}
		}
	}
	if len(d.Resources) == 0 {
		return nil
	}
	for m := range d.Machines {
		if !math.IsInf(d.Cost(t, m), 1) {
			return nil
		}
	}
	return d.bad("tasks", t, "id %q: its needs are above the capacity of each machine that could run it; raise one", x.ID)
}

// checkCycle returns an error that names the tasks of a cycle, nil if there is none.
// O(V + E).
func (d *DAG) checkCycle(from, to []int32) error {
	if allAhead(from, to) {
		return nil
	}
	next, edges := edgesOf(len(d.Tasks), from)
	const unseen, open, done = 0, 1, 2
	state := make([]byte, len(d.Tasks))
	at := slices.Clone(next[:len(d.Tasks)]) // the next edge to look at
	var path []int
	for root := range d.Tasks {
		if state[root] != unseen {
			continue
		}
		path = append(path[:0], root)
		state[root] = open
		for len(path) > 0 {
			t := path[len(path)-1]
			if at[t] == next[t+1] {
				state[t] = done
				path = path[:len(path)-1]
				continue
			}
			s := int(to[edges[at[t]]])
			at[t]++
			switch state[s] {
			case unseen:
				state[s] = open
				path = append(path, s)
			case open:
				return d.bad("", -1, "the edges make a cycle: %s", d.cycleNames(path[slices.Index(path, s):]))
			}
		}
	}
	return nil
}

// allAhead reports whether each edge leads to a later task of the list, as in most files: then
// there is no cycle.
func allAhead(from, to []int32) bool {
	for e := range from {
		if from[e] >= to[e] {
			return false
		}
	}
	return true
}

// cycleNames returns the ids of a cycle's tasks, without the middle of a long one.
func (d *DAG) cycleNames(cycle []int) string {
	const most = 12
	var names []string
	for k, t := range cycle {
		if len(cycle) > most && k == most/2 {
			names = append(names, fmt.Sprintf("(%d more)", len(cycle)-most))
		}
		if len(cycle) <= most || k < most/2 || k >= len(cycle)-most/2 {
			names = append(names, d.Tasks[t].ID)
		}
	}
	return strings.Join(append(names, d.Tasks[cycle[0]].ID), " -> ")
}
