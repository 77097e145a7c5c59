// SPDX-License-Identifier: MIT

package model_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const vectors = `{"kind":"vcsched","version":1,"name":"vectors","hosts":3,"resources":["disk","network"],
"host_sizes":[{"count":2,"cpu":1,"memory":0.5,"resources":[1,0]},{"count":1,"cpu":2.5,"memory":4,"resources":[2,0.25]}],"jobs":[
{"id":"a","tasks":1,"cpu":2,"memory":3,"resources":[0.5,0.25]},
{"id":"b","tasks":2,"cpu":0,"memory":0,"resources":[1,0],"current_hosts":[0,1]}],"migration_budget":0.5}`

const small = `{"kind":"vcsched","version":1,"name":"s","hosts":2,"jobs":[
{"id":"a","tasks":1,"cpu":0.5,"memory":0.3},
{"id":"b","tasks":2,"cpu":1,"memory":0,"current_hosts":[0,1]}],"migration_budget":0.5}`

// decodeInstance decodes an instance of a known problem, which must be valid.
func decodeInstance[I model.Instance](t testing.TB, text string) I {
	t.Helper()
	return require.Value(model.DecodeInstance([]byte(text)))(t).(I)
}

// decodeSolution is the same for a solution.
func decodeSolution[S model.Solution](t testing.TB, text string) S {
	t.Helper()
	return require.Value(model.DecodeSolution([]byte(text)))(t).(S)
}

func TestDecodeInstanceErrors(t *testing.T) {
	edit := func(old, new string) string {
		if !strings.Contains(small, old) {
			t.Fatalf("nothing to replace: %s", old)
		}
		return strings.Replace(small, old, new, 1)
	}
	oversized := strings.Replace(small, `"hosts":2`, `"hosts":2,"oversized":true`, 1)
	if _, err := model.DecodeInstance([]byte(strings.Replace(oversized, `"memory":0.3`, `"memory":1000`, 1))); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct{ data, want string }{
		"oversized CPU":      {strings.Replace(oversized, `"cpu":0.5`, `"cpu":1.5`, 1), "cpu is 1.5, must be from 0 to 1 (a whole host)"},
		"far too oversized":  {strings.Replace(oversized, `"memory":0.3`, `"memory":1001`, 1), "memory is 1001, must be from 0 to 1000 (the limit of oversized needs)"},
		"empty":              {"", "empty"},
		"white space":        {" \n", "empty"},
		"not JSON":           {"hosts: 2", "line 1"},
		"NaN":                {edit(`"cpu":0.5`, `"cpu":NaN`), "line 2"},
		"cut off":            {small[:60], "line"},
		"unknown key":        {edit(`"name"`, `"Name"`), `unknown key "Name"`},
		"unknown key in job": {edit(`"memory":0.3`, `"memory":0.3,"disk":1`), `line 2: unknown key "jobs[0].disk"`},
		"key twice":          {edit(`"hosts":2`, `"hosts":2,"hosts":3`), `"hosts" is there twice`},
		"key missing":        {edit(`,"memory":0.3`, ``), `line 2: the key "jobs[0].memory" is missing`},
		"null":               {edit(`"cpu":0.5`, `"cpu":null`), `"jobs[0].cpu" is null`},
		"something follows":  {small + "{}", "line 3"},
		"a list":             {"[" + small + "]", "line 1"},
		"no kind":            {edit(`"kind":"vcsched",`, ``), `"kind" is missing`},
		"unknown kind":       {edit(`"vcsched"`, `"vcschd"`), `kind "vcschd" is unknown`},
		"no version":         {edit(`"version":1,`, ``), `"version" is missing`},
		"later version":      {edit(`"version":1`, `"version":2`), "version 2"},
		"wrong type":         {edit(`"hosts":2`, `"hosts":"2"`), "hosts"},
		"jobs not a list":    {edit(`"tasks":1`, `"tasks":[]`), "tasks"},
		"fractional tasks":   {edit(`"tasks":1`, `"tasks":1.5`), "tasks"},
		"no hosts":           {edit(`"hosts":2`, `"hosts":0`), "hosts is 0"},
		"negative need":      {edit(`"cpu":0.5`, `"cpu":-0.5`), "cpu is -0.5"},
		"CPU too small":      {edit(`"cpu":0.5`, `"cpu":1e-30`), "cpu is 1e-30, must be 0 or from 1e-12"},
		"memory too small":   {edit(`"memory":0.3`, `"memory":5e-324`), "memory is 5e-324, must be 0 or from 1e-12"},
		"larger than a host": {edit(`"memory":0.3`, `"memory":1.3`), "memory is 1.3"},
		"infinite":           {edit(`"cpu":0.5`, `"cpu":1e999`), "cpu"},
		"no tasks":           {edit(`"tasks":1`, `"tasks":0`), "tasks is 0"},
		"too many tasks":     {edit(`"tasks":1`, `"tasks":99999999`), "tasks"},
		"id twice":           {edit(`"id":"b"`, `"id":"a"`), "taken"},
		"no id":              {edit(`"id":"a"`, `"id":""`), "id is missing"},
		"host out of range":  {edit(`[0,1]`, `[0,2]`), "host 2"},
		"one host too few":   {edit(`[0,1]`, `[0]`), "1 entries"},
		"negative budget":    {edit(`"migration_budget":0.5`, `"migration_budget":-1`), "migration_budget is -1"},

		"a resource for nobody":    {edit(`"hosts":2`, `"hosts":2,"resources":["disk"]`), "resources has 0 entries, must have one for each of the instance's 1"},
		"a need of nothing":        {edit(`"memory":0.3`, `"memory":0.3,"resources":[1]`), "resources has 1 entries"},
		"a resource without name":  {edit(`"hosts":2`, `"hosts":2,"resources":[""]`), "resources[0] is missing or empty"},
		"a resource twice":         {edit(`"hosts":2`, `"hosts":2,"resources":["a","a"]`), `resources[1] is "a", must be a name that no other has`},
		"memory as a resource":     {edit(`"hosts":2`, `"hosts":2,"resources":["memory"]`), `resources[0] is "memory"`},
		"another number of hosts":  {edit(`"hosts":2`, `"hosts":2,"host_sizes":[{"count":3,"cpu":1,"memory":1}]`), "counts 3 hosts, hosts says 2"},
		"hosts of no CPU":          {edit(`"hosts":2`, `"hosts":2,"host_sizes":[{"count":2,"cpu":0,"memory":1}]`), "host_sizes[0]: cpu is 0, must be from 0.001 to 1000 reference hosts"},
		"hosts of little memory":   {edit(`"hosts":2`, `"hosts":2,"host_sizes":[{"count":2,"cpu":1,"memory":1e-4}]`), "host_sizes[0]: memory is 0.0001"},
		"hosts without a resource": {edit(`"hosts":2`, `"hosts":2,"resources":["disk"],"host_sizes":[{"count":2,"cpu":1,"memory":1}]`), "host_sizes[0]: resources has 0"},
		"no host is large enough":  {edit(`"hosts":2`, `"hosts":2,"host_sizes":[{"count":2,"cpu":2,"memory":0.25}]`), `memory is 0.3, must be from 0 to 0.25 (the largest host, or more with "oversized": true)`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := model.DecodeInstance([]byte(c.data))
			require.Refused(t, "the error", err, model.ErrInvalid, "")
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line with %q", err, c.want)
			}
		})
	}
	for name, data := range map[string]string{"the unedited instance": small, "no CPU": edit(`"cpu":0.5`, `"cpu":0`), "two resources": vectors} {
		if _, err := model.DecodeInstance([]byte(data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// anyInstance draws valid instances.
func anyInstance(t *rapid.T) *model.VCSched {
	in := &model.VCSched{Name: rapid.StringMatching(`[a-z0-9-]{0,8}`).Draw(t, "name"), Hosts: rapid.IntRange(1, 5).Draw(t, "hosts")}
	most := model.HostSize{CPU: 1, Memory: 1, Resources: []float64{1, 1}}
	if n := rapid.IntRange(0, 2).Draw(t, "resources"); n > 0 {
		in.Resources = []string{"disk", "network"}[:n]
	}
	if rapid.Bool().Draw(t, "sizes") {
		most = model.HostSize{Resources: []float64{0, 0}}
		for left := in.Hosts; left > 0; {
			amount := func(low float64) float64 { return rapid.Float64Range(low, 4).Draw(t, "size") }
			s := model.HostSize{Count: rapid.IntRange(1, left).Draw(t, "count"), CPU: amount(0.01), Memory: amount(0.01)}
			for r := range in.Resources {
				s.Resources = append(s.Resources, amount(0.01))
				most.Resources[r] = max(most.Resources[r], s.Resources[r])
			}
			most.CPU, most.Memory = max(most.CPU, s.CPU), max(most.Memory, s.Memory)
			left -= s.Count
			in.HostSizes = append(in.HostSizes, s)
		}
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "jobs") {
		need := func(most float64, name string) float64 {
			if x := rapid.Float64Range(0, most).Draw(t, name); x >= 1e-12 {
				return x
			}
			return 0
		}
		j := model.VCSchedJob{ID: string(rune('a' + i)), Tasks: rapid.IntRange(1, 3).Draw(t, "tasks"),
			CPU: rapid.Float64Range(1e-6, most.CPU).Draw(t, "cpu"), Memory: need(most.Memory, "memory")}
		if rapid.IntRange(0, 9).Draw(t, "free") == 0 {
			j.CPU = 0
		}
		for r := range in.Resources {
			j.Resources = append(j.Resources, need(most.Resources[r], "resource"))
		}
		if rapid.Bool().Draw(t, "runs") {
			for range j.Tasks {
				j.CurrentHosts = append(j.CurrentHosts, rapid.IntRange(0, in.Hosts-1).Draw(t, "current"))
			}
		}
		in.Jobs = append(in.Jobs, j)
	}
	if rapid.Bool().Draw(t, "budget") {
		b := rapid.Float64Range(0, 2).Draw(t, "b")
		in.MigrationBudget = &b
	}
	return in
}

func anyHosts(t *rapid.T, in *model.VCSched) []int32 {
	hosts := make([]int32, in.Tasks())
	for i := range hosts {
		hosts[i] = int32(rapid.IntRange(0, in.Hosts-1).Draw(t, "host"))
	}
	return hosts
}

func TestRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInstance(t)
		data := require.Value(json.Marshal(in))(t)
		if !strings.HasPrefix(string(data), `{"kind":"vcsched","version":1,`) {
			t.Fatalf("kind and version don't come first: %s", data)
		}
		back := require.Value(model.DecodeInstance(data))(t)
		if d := cmp.Diff(model.Instance(in), back); d != "" {
			t.Fatalf("(-want,+got)\n%s", d)
		}
		r := model.NewResult("x", 3)
		if rapid.Bool().Draw(t, "solved") {
			hosts := anyHosts(t, in)
			require.OK(t, r.SetSolution(in, in.NewPlacement(hosts, in.Yield(hosts))))
			r.SetBound(model.Metric{Sense: model.Maximise}, rapid.Float64Range(0, 1).Draw(t, "bound"), 1e-6)
		}
		r.Kind, r.Instance = in.Kind(), in.Name
		resultRoundTrip(t, r)
	})
}

// resultRoundTrip writes a result and reads it again.
func resultRoundTrip(t *rapid.T, r model.Result) {
	again := require.Value(model.DecodeResult(require.Value(json.Marshal(r))(t)))(t)
	require.Same(t, "again", r, again,
		cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }))
}

func TestDecodeResultErrors(t *testing.T) {
	r := model.NewResult("x", 1)
	r.Kind = model.KindVCSched
	data := require.Value(json.Marshal(r))(t)
	for name, edit := range map[string][2]string{
		"status": {`"unknown"`, `"done"`}, "kind": {`"vcsched"`, `"x"`}, "unknown key": {`"nodes"`, `"knots"`},
		"solution of no kind": {`"nodes":0`, `"nodes":0,"solution":{}`},
	} {
		changed := strings.Replace(string(data), edit[0], edit[1], 1)
		if _, err := model.DecodeResult([]byte(changed)); changed == string(data) || !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
}

func TestHash(t *testing.T) {
	a := require.Value(model.DecodeInstance([]byte(small)))(t)
	b := require.Value(model.DecodeInstance([]byte(strings.Join(strings.Fields(small), "\n "))))(t)
	ha, _ := model.Hash(a)
	hb, _ := model.Hash(b)
	if ha != hb || !strings.HasPrefix(ha, "sha256:") || len(ha) != 71 {
		t.Errorf("hashes %s and %s", ha, hb)
	}
	b.(*model.VCSched).Jobs[0].Memory += 1e-9
	if hb, _ = model.Hash(b); ha == hb {
		t.Error("another instance has the same hash")
	}
}

func TestGap(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ objective, bound, want float64 }{
		{0.5, 0.6, 0.2}, {-2, -1, 0.5}, {0, 0, 0}, {0, 1, inf}, {1, 1, 0}, {1, inf, nan}, {nan, 1, nan}, {1, nan, nan}, {2, 1, 0.5},
	} {
		if got := model.Gap(c.objective, c.bound); math.Abs(got-c.want) > 1e-12 && got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Gap(%v, %v) = %v, want %v", c.objective, c.bound, got, c.want)
		}
	}
}

// A better bound replaces a worse one, never the other way round; the status is
// optimal only within the gap.
func TestSetBound(t *testing.T) {
	in := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 1}, {ID: "b", Tasks: 1, CPU: 1}}}
	r := model.NewResult("x", 0)
	r.SetBound(model.Metric{Sense: model.Maximise}, 1, 1e-6)
	if r.Status != model.StatusUnknown || r.Bound != 1 {
		t.Fatalf("%+v", r)
	}
	require.OK(t, r.SetSolution(in, in.NewPlacement([]int32{0, 0}, 0.5)))
	for _, c := range []struct {
		bound, want float64
		status      model.Status
	}{{0.75, 0.75, model.StatusFeasible}, {0.9, 0.75, model.StatusFeasible}, {math.NaN(), 0.75, model.StatusFeasible}, {0.5 + 1e-7, 0.5 + 1e-7, model.StatusOptimal}} {
		r.SetBound(model.Metric{Sense: model.Maximise}, c.bound, 1e-6)
		if r.Bound != c.want || r.Status != c.status {
			t.Errorf("after %v: bound %v, status %s, want %v, %s", c.bound, r.Bound, r.Status, c.want, c.status)
		}
	}
}

func TestObjective(t *testing.T) {
	in := &model.VCSched{Hosts: 2, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.5}, {ID: "b", Tasks: 2, CPU: 1}}}
	p := &model.Placement{Jobs: []model.JobPlacement{{"a", []int{0}, []float64{0.25}}, {"b", []int{0, 1}, []float64{0.75, 0.75}}}}
	o, err := in.Objective(p)
	if err != nil || o.Value != 0.5 || o.Second != 0.625 {
		t.Errorf("%+v, %v, want 0.5 and 0.625", o, err)
	}
	p.Jobs[0].Hosts[0] = 2
	require.Refused(t, "a host that isn't there", require.Err(in.Objective(p)), model.ErrInvalid, "")
	if o := (model.Objective{Value: 1, Second: 2, Sense: model.Maximise, SecondSense: model.Maximise}); !o.Better(model.Objective{Value: 1, Second: 1}) || o.Better(o) {
		t.Error("ties are broken by the second objective")
	}
}

func TestDecimalsThatFillAHost(t *testing.T) {
	in := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 7, CPU: 1, Memory: 0.1}, {ID: "b", Tasks: 1, CPU: 1, Memory: 0.3}}}
	u := view.OfVCSched(in)
	sum := int64(0)
	for _, m := range u.Memory {
		sum += m
	}
	if sum > u.Classes[0].Cap[0] {
		t.Errorf("7 times 0.1 and 0.3 need %d of %d", sum, u.Classes[0].Cap[0])
	}
}

func FuzzDecodeInstance(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(vectors))
	f.Add([]byte(`{"kind":"vcsched","version":1,"name":"","hosts":1,"jobs":[]}`))
	f.Add([]byte(strings.Replace(small, "[0,1]", "[]", 1))) // written as no list at all
	f.Add([]byte(threeRequests))
	f.Add([]byte(threeClusters))
	f.Add([]byte(`{"kind":"consolidation","version":1,"name":"c","goal":"moves","resources":["cpu"],"hosts":[{"id":"a","capacity":[4],"price":1,"labels":{"zone":"x"},"kept":true}],
		"offers":[{"id":"big","capacity":[8],"price":2,"count":1}],"host_sets":[{"id":"s","hosts":["a"],"offers":["big"]}],"jobs":[{"id":"j","tasks":2,"needs":[1],
		"current_hosts":["a",""],"allowed":"s","move_cost":3,"leave_out_cost":0}],"rules":[{"id":"r","type":"spread","domain":"zone","jobs":["j"],"max_skew":1,"among":"s","min_domains":2,"standing":[{"host":"a","count":1},{"offer":"big","count":2}]}],
		"move_budget":0,"cost_limit":5}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := model.DecodeInstance(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		again := require.Value(json.Marshal(in))(t)
		back, err := model.DecodeInstance(again)
		if err != nil {
			t.Fatalf("%v: %s", err, again)
		}
		require.Same(t, "back", in, back, cmpopts.EquateEmpty())
	})
}

func FuzzDecodeResult(f *testing.F) {
	r := model.NewResult("x", 1)
	r.Kind = model.KindVCSched
	data, _ := json.Marshal(r)
	f.Add(data)
	f.Add([]byte(`{"kind":"vcsched","version":1,"jobs":[{"id":"a","hosts":[0],"cpu":[1]}]}`))
	f.Add([]byte(`{"kind":"reservation","version":1,"goal":"all","online":true,"bookings":[{"id":"a","start_s":0.5,"pes":"0-31,40"}]}`))
	f.Add([]byte(twoRuns))
	r.Kind, r.Status, r.Details = model.KindReservation, model.StatusInfeasible, model.NewReservationDetails([]string{"a", "b"})
	data, _ = json.Marshal(r)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := model.DecodeResult(data); err == nil {
			require.OK(t, require.Err(json.Marshal(r)))
		}
		if s, err := model.DecodeSolution(data); err == nil {
			require.OK(t, require.Err(json.Marshal(s)))
		}
	})
}
