// SPDX-License-Identifier: MIT

package model_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// sixTasks is the motivating example of the paper's section 5.3.
const sixTasks = `{"kind":"dag","version":1,"name":"six",
"machines":[{"id":"P1"},{"id":"P2"},{"id":"P3","startup_s":0}],
"tasks":[
{"id":"1","cost_s":[3,5,7]},
{"id":"2","cost_s":[4,8,3]},
{"id":"3","cost_s":[3,4,11]},
{"id":"4","cost_s":[5,8,2]},
{"id":"5","cost_s":[10,3,5]},
{"id":"6","cost_s":[5,8,8]}],
"edges":[
{"from":"1","to":"2","data":3},
{"from":"1","to":"3","data":4},
{"from":"2","to":"4","data":2},
{"from":"2","to":"5","data":5},
{"from":"3","to":"5","data":7},
{"from":"4","to":"6","data":3},
{"from":"5","to":"6","data":6}],
"network":{"bandwidth":1,"links":[{"id":"b","capacity":1}],
"routes":[{"from":"P1","to":"P2","links":["b"]},{"from":"P3","to":"P2","links":["b"]}]}}`

func six(t *testing.T) *model.DAG {
	t.Helper()
	return require.Value(model.DecodeInstance([]byte(sixTasks)))(t).(*model.DAG)
}

func TestDAGBadInput(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"missing cost":   {`[4,8,3]`, `[4,8]`, `invalid dag instance: line 5: tasks[1]: id "2": cost_s has 2 entries for 3 machines, the cost on machine "P3" is missing`},
		"cost too many":  {`[4,8,3]`, `[4,8,3,3]`, "cost_s has 4 entries for 3 machines, must have one for each"},
		"no cost":        {`,"cost_s":[4,8,3]`, ``, `cost_s has 0 entries for 3 machines, the cost on machine "P1" is missing`},
		"negative cost":  {`[4,8,3]`, `[4,-8,3]`, `cost_s[1] (machine "P2") is -8`},
		"tiny cost":      {`[4,8,3]`, `[4,5e-324,3]`, `cost_s[1] (machine "P2") is 5e-324, must be 0 or from 1e-30 to 1e+30`},
		"huge cost":      {`[4,8,3]`, `[4,1e308,3]`, `cost_s[1] (machine "P2") is 1e+308, must be 0 or from 1e-30 to 1e+30`},
		"tiny data":      {`"data":7`, `"data":1e-31`, `data is 1e-31, must be 0 or from 1e-30 to 1e+30`},
		"null costs":     {`[4,8,3]`, `[null,null,null]`, `line 5: tasks[1]: id "2": cost_s has only null, it can run on no machine; give one a cost`},
		"null for costs": {`[4,8,3]`, `null`, `"tasks[1].cost_s" is null`},
		"nul cost":       {`[4,8,3]`, `[4,nul,3]`, "JSON"},
		"both":           {`"cost_s":[4,8,3]`, `"cost_s":[4,8,3],"work":3`, "has both cost_s and work"},
		"no speed":       {`"cost_s":[4,8,3]`, `"work":3`, `line 2: machines[0]: id "P1": speed is missing, task "2" states its work`},
		"unknown task":   {`"to":"5","data":7`, `"to":"55","data":7`, `invalid dag instance: line 15: edges[4]: to is "55", there is no such task`},
		"own":            {`"to":"5","data":7`, `"to":"3","data":7`, `task "3" needs itself`},
		"twice":          {`"to":"5","data":7`, `"to":"5","data":7},{"from":"3","to":"5","data":1`, `edges[5]: the edge from "3" to "5" is edges[4] already`},
		"negative data":  {`"data":7`, `"data":-7`, `data is -7`},
		"cycle":          {`"from":"5","to":"6"`, `"from":"5","to":"1"`, "the edges make a cycle: 1 -> 2 -> 5 -> 1"},
		"two of a cycle": {`"from":"5","to":"6"`, `"from":"5","to":"3"`, "the edges make a cycle: 5 -> 3 -> 5"},
		"task twice":     {`"id":"2"`, `"id":"1"`, `line 5: tasks[1]: id "1": the id is taken by tasks[0] already`},
		"no id":          {`"id":"2"`, `"id":""`, `tasks[1]: id "": id is missing or empty`},
		"no machines":    {`[{"id":"P1"},{"id":"P2"},{"id":"P3","startup_s":0}]`, `[]`, "machines is empty"},
		"local rate":     {`"startup_s":0`, `"local_rate":-1`, "local_rate is -1"},
		"startup":        {`"startup_s":0`, `"startup_s":-1`, "startup_s is -1"},
		"no bandwidth":   {`"bandwidth":1,"links":[{"id":"b","capacity":1}]`, `"links":[{"id":"b","capacity":1}]`, "network.bandwidth is missing"},
		"zero capacity":  {`"capacity":1`, `"capacity":-1`, `line 18: network.links[0]: id "b": capacity is -1`},
		"unknown link":   {`"links":["b"]},{`, `"links":["c"]},{`, `line 19: network.routes[0]: there is no link "c"`},
		"unknown end":    {`"from":"P3"`, `"from":"P4"`, `network.routes[1]: from is "P4", there is no such machine`},
		"route twice":    {`{"from":"P3","to":"P2"`, `{"from":"P2","to":"P1"`, `network.routes[1]: the route from "P2" to "P1" is routes[0] already`},
		"link twice":     {`"links":["b"]},{`, `"links":["b","b"]},{`, `link "b" is on the route twice`},
		"model":          {`"version":1`, `"version":1,"transfer_model":"magic"`, `transfer_model is "magic"`},
		"path rows":      {`"bandwidth":1`, `"bandwidth":1,"path_capacity":[[1,1,1]]`, "path_capacity has 1 rows for 3 machines"},
		"path null":      {`"bandwidth":1`, `"bandwidth":1,"path_capacity":[[0,1,1],[1,0,1],[1,null,0]]`, `"network.path_capacity[2][1]" is null`},
		"path zero":      {`"bandwidth":1`, `"bandwidth":1,"path_capacity":[[0,1,1],[1,0,1],[1,1e-31,0]]`, "path_capacity[2][1]"},
		"unknown key":    {`"bandwidth":1`, `"bandwith":1`, `unknown key "network.bandwith"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(sixTasks, c.old, c.new, 1)
			if text == sixTasks {
				t.Fatal("nothing replaced")
			}
			_, err := model.DecodeInstance([]byte(text))
			require.Refused(t, name, err, model.ErrInvalid, c.want)
		})
	}
}

func TestDAGEdgeCases(t *testing.T) {
	for name, text := range map[string]string{
		"empty":               `{"kind":"dag","version":1,"name":"","machines":[{"id":"a"}],"tasks":[],"edges":[]}`,
		"one task":            `{"kind":"dag","version":1,"name":"","machines":[{"id":"a"},{"id":"b"}],"tasks":[{"id":"x","cost_s":[0,0]}],"edges":[]}`,
		"work":                `{"kind":"dag","version":1,"name":"","machines":[{"id":"a","speed":2}],"tasks":[{"id":"x","work":0},{"id":"y","work":3}],"edges":[{"from":"y","to":"x","data":0}]}`,
		"one way":             strings.Replace(sixTasks, `{"from":"P3","to":"P2","links":["b"]}`, `{"from":"P3","to":"P2","links":["b"],"one_way":true},{"from":"P2","to":"P3","links":[],"one_way":true}`, 1),
		"no path":             strings.Replace(sixTasks, `"bandwidth":1`, `"bandwidth":1,"path_capacity":[[0,1,1],[1,0,1],[1,0,0]]`, 1),
		"can't run there":     strings.Replace(sixTasks, `[4,8,3]`, `[null,8,null]`, 1),
		"capacity by default": strings.Replace(sixTasks, `,"capacity":1`, ``, 1),
	} {
		t.Run(name, func(t *testing.T) {
			in := require.Value(model.DecodeInstance([]byte(text)))(t)
			require.Same(t, "again", in, require.Value(model.DecodeInstance(require.Value(json.Marshal(in))(t)))(t))
		})
	}
}

func TestDAGGraph(t *testing.T) {
	d := six(t)
	d.Network.PathCapacity = [][]float64{{0, 4, 2}, {0.5, 0, 1}, {3, 1, 0}}
	d.Machines[0].StartupS = 0.5
	g := view.OfDAG(d)
	require.Same(t, "order", []int32{0, 1, 2, 3, 4, 5}, g.Order)
	require.Same(t, "pred 4", []int32{3, 4}, g.Pred(4))
	for _, c := range []struct {
		e, m, n int32
		want    float64
	}{{4, 0, 0, 0}, {4, 0, 1, 7.5}, {4, 0, 2, 4}, {4, 1, 0, 14}, {4, 2, 0, 7. / 3}} { // the link caps 4 to 1
		require.Same(t, fmt.Sprintf("edge %d from %d to %d", c.e, c.m, c.n), c.want, g.Comm(c.e, c.m, c.n))
	}
	if len(g.Route(1, 2)) != 1 || len(g.Route(0, 2)) != 0 {
		t.Error("routes are wrong")
	}
	if g.Uniform || !view.OfDAG(six(t)).Uniform {
		t.Error("Uniform is wrong")
	}
	slices.Reverse(d.Tasks)
	require.Same(t, "order", []int32{5, 3, 4, 1, 2, 0}, view.OfDAG(d).Order)
}

func TestDAGObjective(t *testing.T) {
	d := six(t)
	s := d.Schedule([]int32{0, 2, 0, 2, 1, 1}, []float64{0, 6, 3, 9, 14, 17}, []float64{3, 0, 0, 9, 6, 11, 0})
	require.Same(t, "transfers", 4, len(s.Transfers))
	o, err := d.Objective(s)
	if err != nil || o.Value != 25 || o.Second != 71./6 {
		t.Errorf("objective %+v, error %v, want 25 and 11.83", o, err)
	}
	d.TransferModel = model.TransferFair
	require.Refused(t, "a schedule for another transfer model", require.Err(d.Objective(s)), model.ErrInvalid, "")
}

func FuzzDecodeDAG(f *testing.F) {
	f.Add([]byte(sixTasks))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := model.DecodeInstance(data)
		if err != nil {
			return
		}
		if d, ok := in.(*model.DAG); ok && len(d.Machines) < 100 {
			if g := view.OfDAG(d); len(g.Order) != len(d.Tasks) {
				t.Error("a valid instance with a cycle")
			}
		}
	})
}

// A task that can't run on a machine costs +Inf there, null in files. Its schedule there is invalid.
func TestCostsNull(t *testing.T) {
	d := six(t)
	d.Tasks[1].CostS[0] = math.Inf(1)
	text := string(require.Value(json.Marshal(d))(t))
	if want := `{"id":"2","cost_s":[null,8,3]}`; !strings.Contains(text, want) {
		t.Errorf("it is written as %s, want %s in it", text, want)
	}
	s := d.Schedule(make([]int32, 6), make([]float64, 6), make([]float64, 7))
	_, err := d.Objective(s)
	require.Refused(t, "there", err, model.ErrInvalid, `task "2" is on machine "P1", where it can't run`)
	d.Tasks[1].CostS[0] = math.Inf(-1)
	require.Refused(t, "-Inf", d.Validate(), model.ErrInvalid, "cost_s[0]")
}
