// SPDX-License-Identifier: MIT

package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// The first edge that is there twice is the one that a look at all pairs finds.
func TestRepeatedEdge(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 3))
	found := 0
	for range 3000 {
		tasks := 1 + rng.IntN(5)
		from, to := make([]int32, rng.IntN(9)), make([]int32, 9)
		to = to[:len(from)]
		for e := range from {
			from[e], to[e] = int32(rng.IntN(tasks+1)-1), int32(rng.IntN(tasks+1)-1)
		}
		want, first := -1, -1
		for e := range from {
			for f := range e {
				if want < 0 && from[e] == from[f] && to[e] == to[f] && from[e] >= 0 && to[e] >= 0 {
					want, first = e, f
				}
			}
		}
		if want >= 0 {
			found++
		}
		if got, of := repeatedEdge(tasks, from, to); got != want || of != first {
			t.Fatalf("%v to %v: %d repeats %d, want %d and %d", from, to, got, of, want, first)
		}
	}
	if found < 300 || found > 2700 {
		t.Errorf("%d of 3000 have repeated edges", found)
	}
}

// Files add up to their edge's data, and have one size; what is read is what was written.
func TestFilesOfEdges(t *testing.T) {
	t.Parallel()
	head := `{"kind":"dag","version":1,"name":"f","machines":[{"id":"m"}],"tasks":[{"id":"a","cost_s":[1]},{"id":"b","cost_s":[1]},{"id":"c","cost_s":[1]}],"edges":[`
	for files, want := range map[string]string{
		`{"data":5,"files":{"x":2,"y":3}} {"data":2,"files":{"x":2}}`:             "",
		`{"data":0,"files":{"x":0}} {"data":2}`:                                   "",
		`{"data":1e30,"files":{"x":1e30}} {"data":0.3,"files":{"y":0.1,"z":0.2}}`: "",
		`{"data":5,"files":{"x":2,"y":4}} {"data":2}`:                             "data are 5, its files add up to 6",
		`{"data":5,"files":{"x":2,"y":3}} {"data":3,"files":{"x":3}}`:             `the file "x" has 3 data units, 2 on an edge before`,
		`{"data":5,"files":{"":5}} {"data":2}`:                                    "a file has no name",
		`{"data":5,"files":{"x":-5}} {"data":2}`:                                  `files["x"] is -5`,
		`{"data":5,"files":{"x":5,"x":5}} {"data":2}`:                             `edges[0].files.x" is there twice`,
		`{"data":5,"files":{"x":null}} {"data":2}`:                                "is null, must be a value",
		`{"data":5,"files":{"x":"5"}} {"data":2}`:                                 "string",
		`{"data":5,"files":[5]} {"data":2}`:                                       "there is a list",
		`{"data":5,"files":{"x":5} {"data":2}`:                                    "JSON",
		`{"data":5,"files":{"x" 5}} {"data":2}`:                                   "JSON",
	} {
		first, second, _ := strings.Cut(files, "} {")
		text := head + `{"from":"a","to":"b",` + strings.TrimPrefix(first, "{") + `},{"from":"a","to":"c",` + second + `]}`
		in, err := DecodeInstance([]byte(text))
		if want != "" {
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: the error is %v, want %s", files, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", files, err)
			continue
		}
		again, err := in.(*DAG).MarshalJSON()
		if err != nil || !strings.Contains(string(again), `"files":{`) || string(again) != strings.ReplaceAll(strings.TrimSuffix(text, "}"), "1e30", "1e+30")+`,"network":{}}` {
			t.Errorf("%s is written as %s (%v)", files, again, err)
		}
	}
}

// Capacities and needs are one for each resource and at most 1e12, and each task has room on a machine that can run it.
func TestDAGResources(t *testing.T) {
	t.Parallel()
	with := func(change func(d *DAG)) *DAG {
		d := &DAG{Resources: []string{"cores", "memory_mb"},
			Machines: []Machine{{ID: "a", Capacity: []int64{4, 10}}, {ID: "b", Capacity: []int64{1, 100}}},
			Tasks: []DAGTask{{ID: "s", CostS: []float64{1, math.Inf(1)}, Needs: []int64{4, 0}},
				{ID: "t", CostS: []float64{3, 2}, Needs: []int64{9, 9}, NeedsOn: map[string][]int64{"b": {1, 100}}}},
			Edges: []DAGEdge{}}
		change(d)
		return d
	}
	valid := with(func(*DAG) {})
	if err := valid.Validate(); err != nil || !math.IsInf(valid.Cost(1, 0), 1) || valid.Cost(1, 1) != 2 {
		t.Errorf("a valid graph: %v, task t costs %v on a, %v on b", err, valid.Cost(1, 0), valid.Cost(1, 1))
	}
	for want, change := range map[string]func(d *DAG){
		`resources[1] is "cores"`: func(d *DAG) { d.Resources[1] = "cores" },
		`id "b": capacity has 1 entries, must have one for each of the instance's 2`: func(d *DAG) { d.Machines[1].Capacity = []int64{1} },
		`id "s": needs has 0 entries`:                      func(d *DAG) { d.Tasks[0].Needs = nil },
		`capacity has 2 entries`:                           func(d *DAG) { d.Resources = nil },
		`needs_on has the machine "c"`:                     func(d *DAG) { d.Tasks[1].NeedsOn["c"] = []int64{1, 1} },
		`needs_on["b"] has 1 entries`:                      func(d *DAG) { d.Tasks[1].NeedsOn["b"] = []int64{1} },
		`needs_on["b"][0] is -1`:                           func(d *DAG) { d.Tasks[1].NeedsOn["b"][0] = -1 },
		`needs[0] is 1000000000001`:                        func(d *DAG) { d.Tasks[0].Needs[0] = 1e12 + 1 },
		`capacity[0] is -1`:                                func(d *DAG) { d.Machines[0].Capacity[0] = -1 },
		`id "t": its needs are above the capacity of each`: func(d *DAG) { d.Tasks[1].NeedsOn["b"][1] = 101 },
		`id "s": its needs are above the capacity of each`: func(d *DAG) { d.Machines[0].Capacity[0] = 3; d.Machines[1].Capacity[0] = 4 },
	} {
		if err := with(change).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
