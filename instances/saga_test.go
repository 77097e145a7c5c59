// SPDX-License-Identifier: MIT

package instances

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// One instance in two forms of SAGA and DAGBench. One is its classes', with a null and a large number for the rate from
// a node to itself. The other is networkx's, with plain and with typed weights, and with Python's text for infinity.
const (
	sagaTasks    = `{"tasks": [{"name": "c", "cost": 6.0}, {"name": "a", "cost": 2.0}, {"name": "b", "cost": 3.0}], "dependencies": [{"source": "a", "target": "c", "size": 8.0}, {"source": "a", "target": "b", "size": 1.5}]}`
	sagaNet      = `{"nodes": [{"name": "Q", "speed": 4.0}, {"name": "P", "speed": 0.5}, {"name": "R", "speed": 1.0}], "edges": [{"source": "P", "target": "Q", "speed": 2.0}, {"source": "P", "target": "P", "speed": null}, {"source": "R", "target": "P", "speed": 8.0}, {"source": "Q", "target": "R", "speed": 0.25}, {"source": "Q", "target": "Q", "speed": 1000000000.0}]}`
	sagaInstance = `{"name": "iot.three", "task_graph": ` + sagaTasks + `, "network": ` + sagaNet + `}`
	linkTasks    = `{"directed": true, "multigraph": false, "graph": {}, "nodes": [{"weight": 6.0, "id": "c"}, {"weight": 2, "id": "a"}, {"weight": 3, "id": "b"}], "links": [{"weight": 8, "source": "a", "target": "c"}, {"weight": 1.5, "source": "a", "target": "b"}]}`
	linkNet      = `{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"weight": 4, "id": "Q"}, {"weight": 0.5, "id": "P"}, {"weight": 1, "id": "R"}], "edges": [{"weight": 2, "source": "P", "target": "Q"}, {"weight": Infinity, "source": "P", "target": "P"}, {"weight": 8, "source": "R", "target": "P"}, {"weight": 0.25, "source": "Q", "target": "R"}]}`
	linkInstance = `{"name": "iot.three", "task_graph": ` + linkTasks + `, "network": ` + linkNet + `}`
)

var sagaTyped = strings.NewReplacer(`"weight": 2,`, `"weight": {"type": "float", "value": 2},`, `"weight": Infinity`, `"weight": {"type": "float", "value": 1e9}`).Replace(linkInstance)

func sagaWant() workflow {
	return workflow{Name: "iot.three", Tasks: []workTask{{ID: "c", Work: 6}, {ID: "a", Work: 2}, {ID: "b", Work: 3}},
		Edges: []model.DAGEdge{{From: "a", To: "c", Data: 8}, {From: "a", To: "b", Data: 1.5}},
		Platform: &Platform{Name: "network", Machines: []model.Machine{{ID: "Q", Speed: 4}, {ID: "P", Speed: 0.5}, {ID: "R", Speed: 1}},
			Network: model.Network{PathCapacity: [][]float64{{0, 2, 0.25}, {2, 0, 8}, {0.25, 8, 0}}}}}
}

func TestReadSAGA(t *testing.T) {
	within := func(machine int) workflow {
		w := sagaWant()
		w.Platform.Machines[machine].LocalRate = 1e9
		return w
	}
	apart := within(0)
	apart.Platform.Network.PathCapacity[0][2], apart.Platform.Network.PathCapacity[2][0] = 0, 0
	alone := sagaWant()
	alone.Name, alone.Platform = "", nil
	for name, c := range map[string]struct {
		text string
		want workflow
	}{
		"instance": {sagaInstance, within(0)}, "node-link": {linkInstance, sagaWant()}, "typed weights": {sagaTyped, within(1)},
		"no link":    {strings.Replace(sagaInstance, `"speed": 0.25`, `"speed": 0`, 1), apart},
		"task graph": {sagaTasks, alone}, "node-link task graph": {linkTasks, alone},
		"names that are numbers": {strings.NewReplacer(`"id": "a"`, `"id": 7`, `"source": "a"`, `"source": 7`).Replace(linkTasks),
			workflow{Tasks: []workTask{{ID: "c", Work: 6}, {ID: "7", Work: 2}, {ID: "b", Work: 3}}, Edges: []model.DAGEdge{{From: "7", To: "c", Data: 8}, {From: "7", To: "b", Data: 1.5}}}},
		"the word in a name": {`{"tasks": [{"name": "to \" Infinity", "cost": 1}], "dependencies": []}`, workflow{Tasks: []workTask{{ID: "to \" Infinity", Work: 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Same(t, "result", c.want, require.Value(readSAGA(fileOf(c.text)))(t))
		})
	}
}

// Attributes of the whole graph are told; data that take time within a machine aren't, as they are modelled.
func TestSAGAAccount(t *testing.T) {
	slow := strings.Replace(sagaNet, `"speed": null`, `"speed": 2`, 1)
	graph := strings.Replace(linkTasks, `"graph": {}`, `"graph": {"deadline": 9}`, 1)
	for name, c := range map[string]struct{ text, platform, want string }{
		"its own":   {`{"name": "x", "task_graph": ` + sagaTasks + `, "network": ` + slow + `}`, "", ""},
		"a file":    {sagaTasks, write(t, "net.json", slow), ""},
		"infinite":  {linkInstance, "", ""},
		"replaced":  {sagaInstance, "bus", ""},
		"the graph": {graph, "bus", "attributes of the whole graph, in its key graph"},
	} {
		in := require.Value(Read(write(t, "x.json", c.text), Options{Platform: c.platform}))(t)
		require.Same(t, name, c.want, model.AccountOf(in).NotModelled.String())
	}
}

// Times are SAGA's: cost over speed, size over the speed between, or within a node.
func TestSAGATimes(t *testing.T) {
	d := require.Value(Load(write(t, "graph.json", sagaInstance)))(t).(*model.DAG)
	if d.Name != "iot.three" || d.Transfers() != model.TransferIdeal {
		t.Errorf("it is %q under %s", d.Name, d.Transfers())
	}
	g := view.OfDAG(d)
	never := math.Inf(1)
	speed, between := []float64{4, 0.5, 1}, [][]float64{{1e9, 2, 0.25}, {2, never, 8}, {0.25, 8, never}}
	for task, cost := range []float64{6, 2, 3} {
		for m := range speed {
			if got := d.Cost(task, m); got != cost/speed[m] {
				t.Errorf("task %d takes %v on node %d", task, got, m)
			}
		}
	}
	for e, size := range []float64{8, 1.5} {
		for m := range speed {
			for n := range speed {
				want := size / between[m][n]
				if got := g.Comm(int32(e), int32(m), int32(n)); got != want {
					t.Errorf("edge %d takes %v from node %d to %d, want %v", e, got, m, n, want)
				}
			}
		}
	}
}

// A network is a platform, of any task graph; a platform goes before an instance's
// own network; a graph alone needs one.
func TestSAGAPlatforms(t *testing.T) {
	net, tasks, both := write(t, "net.json", sagaNet), write(t, "tasks.json", sagaTasks), write(t, "both.json", zipped(t, linkInstance))
	for _, c := range []struct {
		file, platform, name, machine string
		machines                      int
	}{
		{tasks, net, "tasks", "Q", 3}, {tasks, write(t, "n.json", linkNet), "tasks", "Q", 3}, {tasks, both, "tasks", "Q", 3},
		{both, "", "iot.three", "Q", 3}, {both, "star,machines=2", "iot.three", "P1", 2}, {write(t, "a.stg", smallSTG), net, "a", "Q", 3},
	} {
		in, err := loadOn(c.file, c.platform)
		if err != nil {
			t.Error(err)
			continue
		}
		if d := in.(*model.DAG); d.Name != c.name || len(d.Machines) != c.machines || d.Machines[0].ID != c.machine {
			t.Errorf("%s on %q is %s on %+v", c.file, c.platform, d.Name, d.Machines)
		}
	}
	_, err := Load(tasks)
	wantError(t, err, tasks+": invalid: the file tells tasks and no machines, give a platform")
	_, err = Load(net)
	wantError(t, err, net+": invalid SAGA file: it is a network without tasks, give it as the platform of a task graph")
	_, err = loadOn(tasks, tasks)
	wantError(t, err, tasks+": invalid SAGA file: it is a task graph, a platform is a network")
	one := write(t, "one.json", `{"nodes": [{"name": "alone", "speed": 2}], "edges": [{"source": "alone", "target": "alone", "speed": 4}]}`)
	if in, err := loadOn(tasks, one); err != nil || in.(*model.DAG).Cost(0, 0) != 3 || in.(*model.DAG).Machines[0].LocalRate != 4 {
		t.Errorf("on one node: %v, error %v", in, err)
	}
	if all, err := Folder(filepath.Dir(net)); err != nil || len(all) != 1 {
		t.Errorf("the folder holds %v, error %v", all, err)
	}
}

func TestSAGAErrors(t *testing.T) {
	for name, c := range map[string]struct{ good, old, new, want string }{
		"no cost":         {sagaInstance, `"name": "a", "cost": 2.0`, `"name": "a"`, `task "a": its cost is missing or null`},
		"null cost":       {sagaInstance, `"cost": 2.0`, `"cost": null`, `task "a": its cost is missing or null, no node could run it; give a number`},
		"no name":         {sagaInstance, `"name": "a", "cost": 2.0`, `"cost": 2.0`, "tasks[1]: its name is missing"},
		"negative cost":   {sagaInstance, `"cost": 2.0`, `"cost": -2.0`, `task "a": cost is -2, must be at least 0`},
		"task twice":      {sagaInstance, `"name": "b"`, `"name": "a"`, `tasks[2]: task "a" is there twice`},
		"unknown task":    {sagaInstance, `"target": "b", "size"`, `"target": "x", "size"`, `dependencies[1]: there is no task "a" or no task "x"`},
		"no size":         {sagaInstance, `"target": "b", "size": 1.5`, `"target": "b"`, "dependencies[1]: the size of its data is missing"},
		"negative size":   {sagaInstance, `"size": 1.5`, `"size": -1`, `the size of the data from "a" to "b" is -1`},
		"twice":           {sagaInstance, `"target": "b", "size"`, `"target": "c", "size"`, `dependencies[1]: the dependency of "c" on "a" is there twice`},
		"constraints":     {sagaInstance, `"cost": 2.0`, `"cost": 2.0, "allowed_nodes": ["P"]`, `the key "allowed_nodes" isn't known, and may change what the graph means`},
		"conditional":     {sagaInstance, `"size": 1.5`, `"size": 1.5, "probability": 0.5`, `the key "probability" isn't known`},
		"no graph":        {sagaInstance, `"task_graph"`, `"taskgraph"`, ""},
		"node twice":      {sagaInstance, `"name": "P"`, `"name": "Q"`, `network: node "Q" is there twice`},
		"no speed":        {sagaInstance, `"name": "P", "speed": 0.5`, `"name": "P"`, "network: nodes[1]: its name or its speed is missing"},
		"speed of 0":      {sagaInstance, `"speed": 0.5`, `"speed": 0`, `network: node "P": speed is 0, must be from 1e-30 to 1e+30`},
		"no link":         {sagaInstance, `{"source": "P", "target": "Q", "speed": 2.0}, `, ``, `network: there is no edge from "Q" to "P", each pair needs one`},
		"few links":       {sagaInstance, `{"source": "P", "target": "Q", "speed": 2.0}, {"source": "P", "target": "P", "speed": null}, {"source": "R", "target": "P", "speed": 8.0}, `, ``, "network: 2 edges for 3 nodes; each pair of them needs one"},
		"itself by 0":     {sagaInstance, `"speed": 1000000000.0`, `"speed": 0`, `network: the speed from "Q" to "Q" is 0, must be from 1e-30 to 1e+30, or 0 between two nodes`},
		"link below 0":    {sagaInstance, `"speed": 0.25`, `"speed": -1`, `network: the speed from "Q" to "R" is -1, must be from 1e-30 to 1e+30`},
		"infinite link":   {sagaInstance, `"speed": 0.25`, `"speed": null`, `network: the speed from "Q" to "R" is missing or infinite, give a number`},
		"two speeds":      {sagaInstance, `{"source": "Q", "target": "Q", "speed": 1000000000.0}`, `{"source": "Q", "target": "P", "speed": 3}`, `network: there are two speeds between "Q" and "P"`},
		"unknown node":    {sagaInstance, `{"source": "P", "target": "P"`, `{"source": "P", "target": "X"`, `network: edges[1]: there is no node "P" or no node "X"`},
		"text for number": {sagaInstance, `"cost": 2.0`, `"cost": "two"`, "line 1: "},
		"stochastic":      {sagaTyped, `"type": "float", "value": 2`, `"type": "random_variable", "samples": [1, 2]`, "a weight is a random variable, give its mean or a sample"},
		"undirected":      {linkInstance, `"directed": true`, `"directed": false`, "a task graph must be directed, and no multigraph"},
		"multigraph":      {linkInstance, `"multigraph": false, "graph": {}, "nodes": [{"weight": 4`, `"multigraph": true, "graph": {}, "nodes": [{"weight": 4`, "a network must be no multigraph"},
		"no end":          {sagaInstance, `]}}`, `]}`, "invalid"},
		"two":             {sagaInstance, `]}}`, `]}} {}`, "invalid"},
		"NaN":             {linkInstance, `"weight": 0.25`, `"weight": NaN`, "invalid"},
		"negative inf.":   {linkInstance, `Infinity`, `-Infinity`, "invalid"},
		"a data set":      {`{"name": "chains", "pairs": [[` + linkNet + `, ` + linkTasks + `]]}`, `"chains"`, `"set"`, "it is a data set of many instances (pairs)"},
		"cycle":           {sagaInstance, `"source": "a", "target": "b"`, `"source": "c", "target": "a"`, "invalid dag instance: "},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(c.good, c.old, c.new, 1)
			if text == c.good {
				t.Fatal("nothing replaced")
			}
			_, err := Load(write(t, "x.json", text))
			wantError(t, err, "")
			if err != nil && !strings.Contains(err.Error(), c.want) || err != nil && strings.Contains(err.Error(), "Go ") {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func FuzzReadSAGA(f *testing.F) {
	for _, s := range []string{sagaInstance, sagaTasks, sagaNet, linkInstance, linkTasks, linkNet, sagaTyped, `{"nodes":[],"edges":[]}`, `{"task_graph":{},"network":{"nodes":[{"id":1,"weight":1}],"links":null}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := readSAGANetwork(text); err != nil {
			wantError(t, err, "invalid ")
		} else if w := (workflow{Tasks: []workTask{{ID: "a", Work: 1}, {ID: "b", Work: 2}}, Edges: []model.DAGEdge{{From: "a", To: "b", Data: 1}}}); len(p.Machines) < 100 {
			if d, err := p.place("x", w); err != nil {
				wantError(t, err, "invalid ")
			} else {
				view.OfDAG(d)
			}
		}
		w, err := readSAGA(fileOf(string(text)))
		checkRead(t, w, err)
	})
}
