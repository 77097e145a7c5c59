// SPDX-License-Identifier: MIT

package model

import (
	"errors"
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
