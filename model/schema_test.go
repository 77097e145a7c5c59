// SPDX-License-Identifier: MIT

package model_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	return require.Value(require.Schema("../docs/reference/schema", name))(t)
}

func accepts(t *testing.T, s *jsonschema.Schema, data []byte) bool {
	t.Helper()
	return s.Validate(require.Value(jsonschema.UnmarshalJSON(bytes.NewReader(data)))(t)) == nil
}

// mutate changes one value, key or element somewhere in the document.
func mutate(rng *rand.Rand, v any) any {
	values := []any{nil, true, "x", "1", "P1", -1.0, 0.0, 0.5, 2.0, 1e12, []any{}, map[string]any{}}
	switch x := v.(type) {
	case string:
		if strings.Contains(x, ",") { // a list of PEs
			values = append(values, "3-1", "5,3-4", "0,2-2,9999999", "007", "1-", "10000000", "")
		}
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		k := keys[rng.IntN(len(keys))]
		switch rng.IntN(6) {
		case 0:
			delete(x, k)
		case 1:
			x[strings.ToUpper(k[:1])+k[1:]] = x[k]
		case 2:
			x[k] = x[keys[rng.IntN(len(keys))]]
		default:
			x[k] = mutate(rng, x[k])
		}
		return x
	case []any:
		if len(x) > 0 && rng.IntN(5) > 0 {
			k := rng.IntN(len(x))
			switch rng.IntN(8) {
			case 0:
				return slices.Delete(x, k, k+1)
			case 1:
				return append(x, x[k])
			case 2:
				x[k] = x[rng.IntN(len(x))]
			default:
				x[k] = mutate(rng, x[k])
			}
			return x
		}
	}
	return values[rng.IntN(len(values))]
}

// rich is sixTasks with everything that the format knows.
func rich(t *testing.T) []byte {
	t.Helper()
	text := sixTasks
	for _, c := range [][2]string{
		{`"name":"six"`, `"name":"rich","transfer_model":"tcp"`},
		{`[{"id":"P1"},{"id":"P2"},{"id":"P3","startup_s":0}]`, `[{"id":"P1","speed":2},{"id":"P2","speed":1e-30},{"id":"P3","speed":3,"startup_s":0.5,"local_rate":2}]`},
		{`"cost_s":[5,8,8]`, `"cost_s":[5,null,8]`},
		{`{"id":"2","cost_s":[4,8,3]}`, `{"id":"2","work":0},{"id":"7","work":0.5,"cost_s":[]}`},
		{`"links":[{"id":"b","capacity":1}]`, `"path_capacity":[[0,1,1],[1,-1,1],[1,1e30,0]],"links":[{"id":"b"},{"id":"c","capacity":2}]`},
		{`"links":["b"]}]`, `"links":["b","c"],"one_way":true},{"from":"P1","to":"P3","links":[],"one_way":false}]`},
	} {
		changed := strings.Replace(text, c[0], c[1], 1)
		if changed == text {
			t.Fatalf("%s isn't there", c[0])
		}
		text = changed
	}
	return []byte(text)
}

// The published schemas and the decoders agree on random mutations of a good document, but for rules that a schema
// can't express.
func TestSchemasAgreeWithDecoders(t *testing.T) {
	v := require.Value(model.DecodeInstance([]byte(small)))(t).(*model.VCSched)
	p := v.NewPlacement([]int32{0, 0, 1}, 0.5)
	r := model.NewResult("x", 1)
	require.OK(t, r.SetSolution(v, p))
	r.Kind = v.Kind()
	encode := func(x any) []byte {
		return require.Value(json.Marshal(x))(t)
	}
	d := six(t)
	schedule := d.Schedule([]int32{0, 2, 0, 2, 1, 1}, []float64{0, 6, 3, 9, 14, 17}, []float64{3, 0, 0, 9, 6, 11, 0})
	traced := model.NewResult("x", 1)
	require.OK(t, traced.SetSolution(d, schedule))
	traced.Kind, traced.Details = d.Kind(), model.NewDAGDetails([]model.Round{{Round: 1, Planned: 25, Realistic: 25.5, Kept: true}})
	reservation := decodeInstance[*model.Reservation](t, threeRequests)
	bookings := &model.Bookings{Goal: model.GoalPESeconds, Online: true, Bookings: []model.Booking{
		{ID: "a", StartS: 10, PEs: model.PEList{{First: 0, Last: 31}, {First: 40, Last: 40}}}, {ID: "c", StartS: 100, PEs: model.PEList{{First: 7, Last: 7}, {First: 9, Last: 9}}}}}
	booked := model.NewResult("x", 1)
	require.OK(t, booked.SetSolution(reservation, bookings))
	booked.Kind = reservation.Kind()
	conflicting := model.NewResult("x", 1)
	conflicting.Kind, conflicting.Status, conflicting.Details = reservation.Kind(), model.StatusInfeasible, model.NewReservationDetails([]string{"a", "b"})
	clusters := decodeInstance[*model.TVC](t, threeClusters)
	embedded := model.NewResult("x", 1)
	require.OK(t, embedded.SetSolution(clusters, decodeSolution[*model.Embeddings](t, twoRuns)))
	jobs := decodeInstance[*model.Batch](t, threeJobs)
	executed := model.NewResult("x", 1)
	require.OK(t, executed.SetSolution(jobs, decodeSolution[*model.Execution](t, threeExecuted)))
	executed.Kind, executed.Details = jobs.Kind(), &model.BatchDetails{Partial: decodeSolution[*model.Execution](t, threeExecuted).Runs}
	embeddable := 1
	embedded.Kind, embedded.Details = clusters.Kind(), &model.TVCDetails{NeverFit: 1, Embeddable: &embeddable, Preempted: &embeddable}
	instance := func(d []byte) error { _, err := model.DecodeInstance(d); return err }
	solution := func(d []byte) error { _, err := model.DecodeSolution(d); return err }
	result := func(d []byte) error { _, err := model.DecodeResult(d); return err }
	// The numbers of elements, references between them, and the effects of the edges.
	dagBeyond := []string{"taken by", "there is no such task", "there is no such machine", "there is no link", "needs itself", "is edges[", "no route to itself", "is routes[",
		"cost_s has", "its work takes", "edges make a cycle", "rows for", "entries for", "network.path_capacity["}
	vcschedBeyond := []string{"taken", "current_hosts", "must have one for each of the instance's", "(the largest host", "host_sizes counts"}
	// Times and PEs that must go together; PE lists are ascending.
	reservationBeyond := []string{"the id is taken by", "sort the requests by arrival", "before its arrival", "before ready_s + duration_s", "the cluster has",
		"must be at most duration_s"}
	bookingsBeyond := []string{"comes after", "is neither a PE number nor a range"}
	// Slots and durations in all, whole millionths, arrivals that go together.
	clustersBeyond := []string{"the id is taken by", "sort the requests by arrival", "may have 1000000 slots", "the data centre has", "must be a whole number of microseconds",
		"whole number of bits per second", "leave it out"}
	// Uses and processes that go together, whole microseconds and ten-thousandths.
	jobsBeyond := []string{"the id is taken by", "sort the jobs by submission", "must be a whole number of microseconds", "must have one, or one for each",
		"at most four decimals", "processors"}
	// Numbers of elements, references, rules of one type; amounts in one place.
	hostsBeyond := []string{"is taken already", "entries, must have one for each", "which doesn't exist", "which is no host set", "which is no job",
		"twice", "a host or an offer that exists", "must be at least 1", "are for", "so that the sum is in range", "pinned tasks"}
	// Ranges that ascend.
	executionBeyond := []string{"nor an ascending range"}
	// Edits that random mutations seldom make.
	dagRare := [][2]string{{`"to":"P3","links":[]`, `"to":"P1","links":[]`}, {`"work":0.5`, `"work":1e30`}, {`[1,-1,1]`, `[1,-1]`}}
	reservationRare := [][2]string{{`"c","arrival_s":5`, `"c","arrival_s":4`}}
	bookingsRare := [][2]string{{`"0-31,40"`, `"3-1,40"`}}
	clustersRare := [][2]string{{`"slots":2`, `"slots":62501`}, {`"vms":32`, `"vms":33`}, {`"duration_s":60`, `"duration_s":1e9`}, {`"duration_s":60`, `"duration_s":60.0000001`},
		{`"bandwidth_mbps":50.25`, `"bandwidth_mbps":50.0000001`}, {`"queue":false`, `"queue":true`}, {`"c","arrival_s":5.5`, `"c","arrival_s":4`}}
	jobsRare := [][2]string{{`"processes":8`, `"processes":9`}, {`"weight":3`, `"weight":1000001`}, {`"runtime_s":100`, `"runtime_s":100.0000001`}, {`"migration_s":20`, `"migration_s":20.0000001`}, {`[0.5,0.25,1]`, `[0.5,0.25]`},
		{`"fg_loss":0.04`, `"fg_loss":0.04001`}, {`"c","submit_s":5.5`, `"c","submit_s":4`}, {`"id":"c"`, `"id":"a"`},
		{`"think_s":3.5`, `"think_s":-3`}, {`"user":"u"`, `"user":7`}, {`"user":"u"`, `"usr":"u"`}, {`last part failed`, `lost`}}
	hostsRare := [][2]string{{`"needs":[1]`, `"needs":[1],"pinned":true`}, {`"needs":[1]`, `"needs":[1],"allowed":"set"`}, {`"type":"spread"`, `"type":"apart"`},
		{`"counts":[`, `"counts":[{"host":"b","count":9007199254740992},`}, {`"jobs":["j"]`, `"jobs":["j","j"]`}, {`"tasks":2`, `"tasks":0`}, {`"leave_out_cost":7`, `"leave_out_cost":100000001`},
		{`"leave_out_cost":7`, `"move_cost":-1`}, {`"max_skew":1`, `"max_skew":10000001`}, {`"price":2,"count":1`, `"price":2,"count":0`}, {`"price":3`, `"price":-3`}, {`"most":3`, `"most":-3`},
		{`"needs":[1]`, `"needs":[-1]`}, {`"spread"`, `"spred"`}}
	executionRare := [][2]string{{`"5,3-4"`, `"5,4-3"`}}
	draws := require.Rounds(1000)
	var mutex sync.Mutex
	needed := map[string]bool{}         // kept by mutex
	t.Run("kinds", func(t *testing.T) { // ends with the last of them
		for name, c := range map[string]struct {
			schema string
			good   []byte
			decode func([]byte) error
			beyond []string // errors that only the decoder knows
			rare   [][2]string
		}{
			"vcsched":              {"vcsched.json", []byte(small), instance, vcschedBeyond, nil},
			"vcsched oversized":    {"vcsched.json", []byte(strings.Replace(strings.Replace(small, `"hosts":2`, `"hosts":2,"oversized":true`, 1), `"memory":0.3`, `"memory":1.5`, 1)), instance, vcschedBeyond, nil},
			"vcsched vectors":      {"vcsched.json", []byte(vectors), instance, vcschedBeyond, nil},
			"vcsched solution":     {"vcsched-solution.json", encode(p), solution, nil, nil},
			"vcsched result":       {"vcsched-result.json", encode(r), result, nil, nil},
			"dag":                  {"dag.json", []byte(sixTasks), instance, dagBeyond, nil},
			"rich dag":             {"dag.json", rich(t), instance, dagBeyond, dagRare},
			"dag solution":         {"dag-solution.json", encode(schedule), solution, nil, nil},
			"dag result":           {"dag-result.json", encode(traced), result, nil, nil},
			"reservation":          {"reservation.json", []byte(threeRequests), instance, reservationBeyond, reservationRare},
			"reservation solution": {"reservation-solution.json", encode(bookings), solution, bookingsBeyond, bookingsRare},
			"reservation result":   {"reservation-result.json", encode(booked), result, bookingsBeyond, nil},
			"tvc":                  {"tvc.json", []byte(threeClusters), instance, clustersBeyond, clustersRare},
			"tvc solution":         {"tvc-solution.json", []byte(twoRuns), solution, nil, nil},
			"tvc result":           {"tvc-result.json", encode(embedded), result, nil, nil},
			"batch":                {"batch.json", []byte(threeJobs), instance, jobsBeyond, jobsRare},
			"consolidation":        {"consolidation.json", []byte(twoHosts), instance, hostsBeyond, hostsRare},
			"batch solution":       {"batch-solution.json", []byte(threeExecuted), solution, executionBeyond, executionRare},
			"batch result":         {"batch-result.json", encode(executed), result, executionBeyond, nil},
			"infeasible result":    {"reservation-result.json", encode(conflicting), result, nil, nil},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := schema(t, c.schema)
				rng := rand.New(rand.NewPCG(1, 1))
				refused := 0
				for k := range 1 + len(c.rare) + draws {
					text := c.good
					if 0 < k && k <= len(c.rare) {
						text = bytes.Replace(text, []byte(c.rare[k-1][0]), []byte(c.rare[k-1][1]), 1)
					}
					var doc any
					require.OK(t, json.Unmarshal(text, &doc))
					if k > len(c.rare) {
						doc = mutate(rng, doc)
					}
					data := encode(doc)
					err := c.decode(data)
					ok := accepts(t, s, data)
					if err != nil {
						refused++
					}
					if (err == nil) == ok {
						continue
					}
					k := slices.IndexFunc(c.beyond, func(b string) bool { return ok && strings.Contains(err.Error(), b) })
					if k < 0 {
						t.Fatalf("the schema accepts: %v, the decoder says: %v\n%s", ok, err, data)
					}
					mutex.Lock()
					needed[c.beyond[k]] = true
					mutex.Unlock()
				}
				if refused < draws/4 || refused >= len(c.rare)+draws {
					t.Errorf("%d of %d refused", refused, draws)
				}
			})
		}
	})
	for _, b := range slices.Concat(dagBeyond, vcschedBeyond, reservationBeyond, bookingsBeyond, clustersBeyond, jobsBeyond, hostsBeyond, executionBeyond) {
		if !needed[b] && !testing.Short() { // a tenth of the draws is too few
			t.Errorf("no document was refused by the decoder alone for %q", b)
		}
	}
}

// Documents that random mutations seldom or never make, and that a schema can describe.
func TestDAGSchemaRefuses(t *testing.T) {
	s := schema(t, "dag.json")
	good := string(rich(t))
	if !accepts(t, s, []byte(good)) {
		t.Fatal("the good document is refused")
	}
	for name, c := range map[string]struct{ old, new string }{
		"cost too large":             {`[3,4,11]`, `[3,4,1e31]`},
		"only null":                  {`[3,4,11]`, `[null,null,null]`},
		"cost and work":              {`"cost_s":[3,4,11]`, `"cost_s":[3,4,11],"work":3`},
		"no cost":                    {`"cost_s":[3,4,11]`, `"cost_s":[]`},
		"neither":                    {`,"cost_s":[3,4,11]`, ``},
		"work too large":             {`"work":0.5`, `"work":1e31`},
		"speed missing for work":     {`"id":"P1","speed":2`, `"id":"P1"`},
		"speed 0 for work":           {`"speed":2`, `"speed":0`},
		"speed too small":            {`"speed":1e-30`, `"speed":1e-31`},
		"start-up too large":         {`"startup_s":0.5`, `"startup_s":1e31`},
		"cost too small":             {`[3,4,11]`, `[3,4,1e-31]`},
		"local rate too large":       {`"local_rate":2`, `"local_rate":1e31`},
		"data too small":             {`"data":7`, `"data":5e-324`},
		"start-up too small":         {`"startup_s":0.5`, `"startup_s":5e-324`},
		"data too large":             {`"data":7`, `"data":1e31`},
		"capacity too small":         {`"capacity":2`, `"capacity":1e-31`},
		"bandwidth for a link":       {`"bandwidth":1,`, ``},
		"bandwidth 0 for a link":     {`"bandwidth":1,`, `"bandwidth":0,`},
		"link twice":                 {`["b","c"]`, `["b","b"]`},
		"unknown model":              {`"tcp"`, `"udp"`},
		"empty id":                   {`"id":"P1"`, `"id":""`},
		"no machines":                {`[{"id":"P1","speed":2},{"id":"P2","speed":1e-30},{"id":"P3","speed":3,"startup_s":0.5,"local_rate":2}]`, `[]`},
		"a row of path capacities":   {`[1,-1,1]`, `[]`},
		"no rate for the transfers":  {good[strings.LastIndex(good, `"network"`)-2:], `}`},
		"null among the path's rows": {`[1,-1,1]`, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatal("nothing replaced")
			}
			if accepts(t, s, []byte(text)) {
				t.Error("the schema accepts it")
			}
			if _, err := model.DecodeInstance([]byte(text)); err == nil {
				t.Error("the decoder accepts it")
			}
		})
	}
}
