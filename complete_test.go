// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// left leaves keys out of an object, at any depth.
func left(t *testing.T, s model.Solution, keys ...string) []byte {
	t.Helper()
	data := require.Value(json.Marshal(s))(t)
	var x any
	require.OK(t, json.Unmarshal(data, &x))
	var drop func(x any)
	drop = func(x any) {
		switch x := x.(type) {
		case []any:
			for _, y := range x {
				drop(y)
			}
		case map[string]any:
			for _, k := range keys {
				delete(x, k)
			}
			for _, y := range x {
				drop(y)
			}
		}
	}
	drop(x)
	data = require.Value(json.Marshal(x))(t)
	return data
}

// Optional parts of a heuristic's solution are filled in as they were, or no worse, and the judge accepts it.
func TestCompleteSolution(t *testing.T) {
	for _, c := range []struct {
		name      string
		kind      model.Kind
		algorithm string
		without   []string
		same      bool // the very solution comes back
		skips     bool // some instances need the keys
	}{
		{"kind", model.KindDAG, "heft", []string{"kind", "version"}, true, false},
		{"transfers", model.KindDAG, "heft", []string{"kind", "version", "transfers"}, true, false},
		{"shares", model.KindVCSched, "mcb8", []string{"kind", "version", "cpu"}, false, false},
		{"PEs", model.KindReservation, "ff", []string{"kind", "version", "pes"}, false, false},
		{"ends", model.KindTVC, "oktopus", []string{"kind", "version", "end_s"}, true, true},
		{"times", model.KindTVC, "oktopus", []string{"kind", "version", "start_s", "end_s"}, true, true},
		{"ends", model.KindBatch, "easy", []string{"kind", "version", "end_s"}, true, true},
		{"places", model.KindBatch, "easy", []string{"kind", "version", "end_s", "place"}, false, true},
	} {
		t.Run(string(c.kind)+" "+c.name, func(t *testing.T) {
			t.Parallel()
			p := require.Value(gapwise.ProblemOf(c.kind))(t)
			tried := 0
			for _, in := range spread(smallInstances(t, p, 2), 20) {
				r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: c.algorithm})
				if errors.Is(err, model.ErrUnsupported) || err == nil && r.Solution == nil {
					continue
				}
				require.OK(t, err)
				s, err := gapwise.CompleteSolution(t.Context(), in, left(t, r.Solution, c.without...))
				if c.skips && err != nil {
					continue // two tiers, a queue
				}
				require.OK(t, err, in.ID())
				tried++
				if diff := cmp.Diff(r.Solution, s); c.same && diff != "" {
					t.Errorf("%s: %s", in.ID(), diff)
				}
				report, err := verify.Verify(t.Context(), in, s, verify.Options{})
				if err != nil || report.Err() != nil {
					t.Errorf("%s: %v %v", in.ID(), err, report.Err())
				}
				o, err := in.Objective(s)
				if err != nil || model.Gap(o.Value, r.Objective) > 1e-9 {
					t.Errorf("%s: %v, was %v, %v", in.ID(), o.Value, r.Objective, err)
				}
			}
			if tried < 4 {
				t.Errorf("%d solutions say little", tried)
			}
		})
	}
}

// A dag's plan without times is played under the instance's transfer model, its
// tasks listed in the order of their machines. HEFT's own schedule comes out.
func TestCompletePlan(t *testing.T) {
	t.Parallel()
	for _, transfers := range model.TransferModels {
		in := require.Value(instances.DAGSpec{Tasks: 9, Fat: 0.5, Density: 0.5, Regular: 0.5, Jump: 1, MaxCost: 9,
			MaxData: 30, Machines: 3, Platform: "star", Seed: 5}.Generate())(t)
		in.TransferModel = transfers
		r := require.Value(gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: "heft"}))(t)
		s := r.Solution.(*model.Schedule)
		order := *s
		order.Tasks = nil
		for len(order.Tasks) < len(s.Tasks) { // by start
			least := -1
			for i, x := range s.Tasks {
				if (least < 0 || x.StartS < s.Tasks[least].StartS) && !listed(order.Tasks, x.ID) {
					least = i
				}
			}
			order.Tasks = append(order.Tasks, s.Tasks[least])
		}
		got := require.Value(gapwise.CompleteSolution(t.Context(), in,
			left(t, &order, "transfers", "start_s", "kind", "version")))(t)
		require.Same(t, string(transfers), r.Solution, got)
	}
}

func listed(all []model.TaskStart, id string) bool {
	for _, x := range all {
		if x.ID == id {
			return true
		}
	}
	return false
}

// A text that can't be read gives a reason.
func TestCompleteErrors(t *testing.T) {
	t.Parallel()
	two, half := 2.0, 0.5
	dag := &model.DAG{Name: "d", Machines: []model.Machine{{ID: "P1", Speed: 1}, {ID: "P2", Speed: 1}}, Tasks: []model.DAGTask{{ID: "a", Work: &two}, {ID: "b", Work: &half}},
		Edges: []model.DAGEdge{{From: "a", To: "b", Data: 1}}, Network: model.Network{Bandwidth: 1}}
	vc := &model.VCSched{Name: "v", Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.5}}}
	reservation := &model.Reservation{Name: "r", PEs: 2, Requests: []model.Request{{ID: "a", DurationS: 3, DeadlineS: 9, PEs: 2}, {ID: "b", DurationS: 2, DeadlineS: 9, PEs: 1}}}
	batch := &model.Batch{Name: "b", Processors: 1, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 2, Processes: 1}, {ID: "b", RuntimeS: 2, Processes: 1}}}
	for _, c := range []struct {
		in   model.Instance
		text string
		want string
	}{
		{dag, ``, "it is empty"},
		{dag, `[`, "JSON"},
		{dag, `{"tasks":[],"makespan":3}`, `unknown key "makespan"`},
		{dag, `{"kind":"tvc","tasks":[]}`, `kind is "tvc"`},
		{dag, `{"version":9,"tasks":[]}`, `version 9`},
		{dag, `{"status":"unknown","solution":null}`, "holds no solution"},
		{dag, `{"tasks":[{"id":"a","machine":"P1","start_s":0},{"id":"b","machine":"P1"}]}`, `"start_s" is there 1 times of 2`},
		{dag, `{"tasks":[{"id":"a","machine":"P1"},{"id":"b","machine":"P1"}],"transfers":[]}`, "transfers start at times"},
		{dag, `{"tasks":[{"id":"a","machine":"P1"}]}`, "has 1 tasks"},
		{dag, `{"tasks":[{"id":"a","machine":"P1"},{"id":"b","machine":"P9"}]}`, `"P9"`},
		{dag, `{"tasks":[{"id":"a","machine":"P1","start_s":0},{"id":"c","machine":"P1","start_s":2}]}`, `"c"`},
		{vc, `{"jobs":[{"id":"a","hosts":[7]}]}`, "host 7"},
		{vc, `{"jobs":[{"id":"a","hosts":[0,0]}]}`, "2 hosts"},
		{reservation, `{"bookings":[{"id":"a","start_s":0,"pes":"0-1"},{"id":"b","start_s":3}]}`, `"pes" is there 1 times`},
		{reservation, `{"bookings":[{"id":"z","start_s":0}]}`, `"z"`},
		{batch, `{"runs":[{"id":"a","segments":[{"start_s":0}]}]}`, `"b" doesn't run`},
		{batch, `{"runs":[{"id":"a","segments":[{"start_s":-5}]},{"id":"b","segments":[{"start_s":2}]}]}`, `"a" runs from -5 to`},
		{batch, `{"runs":[{"id":"a","segments":[{}]}]}`, `"start_s" is missing`},
	} {
		s, err := gapwise.CompleteSolution(context.Background(), c.in, []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %q", c.text, s, err, c.want)
		}
	}
}

// What follows from a solution may be infeasible: the judge names what is broken, and by how much.
func TestCompleteInfeasible(t *testing.T) {
	t.Parallel()
	one := 1.0
	dag := &model.DAG{Name: "d", Machines: []model.Machine{{ID: "P1", Speed: 1}}, Tasks: []model.DAGTask{{ID: "a", Work: &one}, {ID: "b", Work: &one}},
		Edges: []model.DAGEdge{{From: "a", To: "b", Data: 1}}, Network: model.Network{Bandwidth: 1}}
	far := &model.DAG{Name: "f", Machines: []model.Machine{{ID: "P1", Speed: 1}, {ID: "P2", Speed: 1}}, Tasks: dag.Tasks, Edges: dag.Edges,
		Network: model.Network{Bandwidth: 1, PathCapacity: [][]float64{{0, 0}, {1, 0}}}}
	reservation := &model.Reservation{Name: "r", PEs: 4, Requests: []model.Request{{ID: "a", DurationS: 4, DeadlineS: 9, PEs: 3}, {ID: "b", DurationS: 2, DeadlineS: 9, PEs: 2}}}
	batch := &model.Batch{Name: "b", Processors: 4, Tiers: 1, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 60, Processes: 3}, {ID: "b", RuntimeS: 20, Processes: 2},
		{ID: "c", RuntimeS: 5, Processes: 4}}}
	for name, c := range map[string]struct {
		in   model.Instance
		text string
		want []string
	}{
		"dag": {dag, `{"tasks":[{"id":"b","machine":"P1"},{"id":"a","machine":"P1"}]}`, []string{
			`invalid_start: task "a" starts at +Inf: it waits for tasks that wait for it, or for data that have no path`,
			`invalid_start: task "b" starts at +Inf: it waits for tasks that wait for it, or for data that have no path`}},
		"reservation": {reservation, `{"bookings":[{"id":"a","start_s":0},{"id":"b","start_s":1}]}`, []string{
			`pe_overlap: requests "a" and "b" on PEs 0 for 2 s, by 1`}},
		"batch": {batch, `{"runs":[{"id":"a","segments":[{"start_s":0}]},{"id":"b","segments":[{"start_s":1}]},{"id":"c","segments":[{"start_s":60}]}]}`, []string{
			`foreground_overlap: job "b" starts at 1 on processor 0, where job "a" runs until 60, by 0.5`}},
		"no path": {far, `{"tasks":[{"id":"a","machine":"P1"},{"id":"b","machine":"P2"}]}`, []string{
			`invalid_start: task "b" starts at +Inf: it waits for tasks that wait for it, or for data that have no path`,
			`missing_path: there is no path from machine "P1" to "P2" for the data from "a" to "b"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := require.Value(gapwise.CompleteSolution(t.Context(), c.in, []byte(c.text)))(t)
			report := require.Value(verify.Verify(t.Context(), c.in, s, verify.Options{}))(t)
			var got []string
			for _, v := range report.Violations {
				got = append(got, v.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Jobs that start anywhere overlap if and only if they need too many processors at a time; so do bookings.
func TestCompleteOverlaps(t *testing.T) {
	t.Parallel()
	fit, overlap := 0, 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 31))
		b := &model.Batch{Name: "b", Processors: 1 + rng.IntN(6), Tiers: 1}
		r := &model.Reservation{Name: "r", PEs: b.Processors}
		var runs, bookings []string
		for k := range 1 + rng.IntN(6) {
			id, long, wide := fmt.Sprint(k), float64(1+rng.IntN(4)), 1+rng.IntN(b.Processors)
			b.Jobs = append(b.Jobs, model.BatchJob{ID: id, RuntimeS: long, Processes: wide})
			r.Requests = append(r.Requests, model.Request{ID: id, DurationS: long, DeadlineS: 99, PEs: wide})
			at := rng.IntN(8)
			runs = append(runs, fmt.Sprintf(`{"id":"%d","segments":[{"start_s":%d}]}`, k, at))
			bookings = append(bookings, fmt.Sprintf(`{"id":"%d","start_s":%d}`, k, at))
		}
		for _, c := range []struct {
			in         model.Instance
			text, name string
		}{
			{b, `{"runs":[` + strings.Join(runs, ",") + `]}`, "foreground_overlap"},
			{r, `{"bookings":[` + strings.Join(bookings, ",") + `]}`, "pe_overlap"},
		} {
			s := require.Value(gapwise.CompleteSolution(t.Context(), c.in, []byte(c.text)))(t)
			report := require.Value(verify.Verify(t.Context(), c.in, s, verify.Options{}))(t)
			need := map[int]int{}
			most := 0
			for k, j := range b.Jobs {
				at := 0
				switch s := s.(type) {
				case *model.Execution:
					at = int(s.Runs[k].Segments[0].StartS)
				case *model.Bookings:
					at = int(s.Bookings[k].StartS)
				}
				for now := at; now < at+int(j.RuntimeS); now++ {
					need[now] += j.Processes
					most = max(most, need[now])
				}
			}
			if fit++; most > b.Processors {
				fit, overlap = fit-1, overlap+1
			}
			require.Is(t, report.Feasible(), most <= b.Processors, "seed", seed, c.text, report)
			for _, v := range report.Violations {
				require.Is(t, v.Constraint, c.name, "seed", seed, v)
			}
		}
	}
	if min(fit, overlap) < 500 {
		t.Errorf("%d fit, %d overlap: the draws are too much of one kind", fit, overlap)
	}
}

// A solution of any text is read without a panic, and the judge takes one that is read.
func FuzzCompleteSolution(f *testing.F) {
	var all []model.Instance
	for _, p := range gapwise.Problems() {
		values := map[string][]string{}
		for _, x := range p.Generator.Parameters() {
			if len(x.Small) > 0 {
				values[x.Key] = x.Small[:1]
			}
		}
		specs := require.Value(p.Generator.Grid(values, 1))(f)
		in := require.Value(instances.Nth(specs[0], 0, 1, 1).Load())(f)
		r, err := gapwise.Solve(context.Background(), in, gapwise.Options{})
		if err != nil || r.Solution == nil {
			f.Fatalf("%s: %v, %v", in.ID(), r.Status, err)
		}
		f.Add(len(all), require.Value(json.Marshal(r.Solution))(f))
		all = append(all, in)
	}
	f.Add(1, []byte(`{"tasks":[{"id":"1","machine":"P1"}]}`))
	f.Fuzz(func(t *testing.T, k int, data []byte) {
		if k < 0 || k >= len(all) {
			return
		}
		s, err := gapwise.CompleteSolution(context.Background(), all[k], data)
		if err != nil {
			return
		}
		if s == nil || s.Kind() != all[k].Kind() {
			t.Errorf("%v", s)
		}
	})
}
