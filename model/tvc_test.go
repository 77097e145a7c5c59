// SPDX-License-Identifier: MIT

package model_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/app/audit/plain"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Beginnings of documents with all that the formats know.
const (
	threeClusters = `{"kind":"tvc","version":1,"name":"three","fat_tree":{"k":4,"slots":2,"link_mbps":1000,"layers_mbps":{"server":100.5,"edge":0},"fabric":"one-path"},
"queue":false,"goal":"revenue","hose":"per-path","migration_s":0.5,"requests":[
{"id":"a","arrival_s":0,"vms":4,"bandwidth_mbps":50.25,"duration_s":60},
{"id":"b","arrival_s":5.5,"vms":1,"bandwidth_mbps":0.000001,"duration_s":0.000001},
{"id":"c","arrival_s":5.5,"vms":32,"bandwidth_mbps":10000,"duration_s":100}]}`
	twoRuns = `{"kind":"tvc","version":1,"runs":[
{"id":"a","segments":[{"start_s":0,"end_s":30.5,"place":{"switch":"aggregation-1-0","servers":[{"server":4,"vms":2},{"server":6,"vms":2}]}},
{"start_s":40,"end_s":70.5,"place":{"switch":"core-0-1","servers":[{"server":0,"vms":2},{"server":15,"vms":2}]}}]},
{"id":"b","segments":[{"start_s":5.5,"end_s":5.500001,"place":{"switch":"edge-3-1","servers":[{"server":15,"vms":1}]}}]}]}`
)

// Every rule, with the line that its violation prints.
func TestTVCBadInput(t *testing.T) {
	t.Parallel()
	const where = "invalid tvc instance: "
	const queue = `"queue":false,"goal":"revenue"`
	checkChanges(t, threeClusters, map[string]change{
		"k odd":              {`"k":4`, `"k":5`, where + `fat_tree.k is 5, must be an even number`},
		"k 0":                {`"k":4`, `"k":0`, where + `fat_tree.k is 0, must be from 2 to 128`},
		"k negative":         {`"k":4`, `"k":-2`, where + `fat_tree.k is -2, must be from 2 to 128`},
		"k too large":        {`"k":4`, `"k":130`, where + `fat_tree.k is 130, must be from 2 to 128`},
		"no slots":           {`"slots":2`, `"slots":0`, where + `fat_tree.slots is 0, must be from 1 to 500000`},
		"too many slots":     {`"slots":2`, `"slots":62501`, where + `fat_tree.slots is 62501, must be from 1 to 62500: 16 servers may have 1000000 slots`},
		"rate 0":             {`"link_mbps":1000`, `"link_mbps":0`, where + `fat_tree.link_mbps is 0, must be above 0 and at most 1e+07`},
		"rate negative":      {`"link_mbps":1000`, `"link_mbps":-1`, where + `fat_tree.link_mbps is -1, must be above 0 and at most 1e+07`},
		"rate too large":     {`"link_mbps":1000`, `"link_mbps":1e8`, where + `fat_tree.link_mbps is 1e+08, must be above 0 and at most 1e+07`},
		"half a bit":         {`"link_mbps":1000`, `"link_mbps":1.0000005`, where + `fat_tree.link_mbps is 1.0000005, must be a whole number of bits per second; round it`},
		"layer negative":     {`"edge":0`, `"edge":-1`, where + `fat_tree.layers_mbps.edge is -1, must be above 0 and at most 1e+07`},
		"layer of half bits": {`"edge":0`, `"aggregation":0.0000015`, where + `fat_tree.layers_mbps.aggregation is 1.5e-06, must be a whole number of bits per second; round it`},
		"layer too large":    {`"server":100.5`, `"server":1e9`, where + `fat_tree.layers_mbps.server is 1e+09, must be above 0 and at most 1e+07`},
		"unknown fabric":     {`"one-path"`, `"paths"`, where + `fat_tree.fabric is "paths", must be one of ["one-path" "non-blocking"]`},
		"unknown hose":       {`"per-path"`, `"pipe"`, where + `hose is "pipe", must be one of ["cut" "per-path"]`},
		"unknown goal":       {`"revenue"`, `"money"`, where + `goal is "money", must be one of ["requests" "revenue"]`},
		"goal of a queue":    {queue, `"queue":true,"goal":"requests"`, where + `goal is "requests", but in queue mode the mean response time is minimised; leave it out`},
		"migration negative": {`"migration_s":0.5`, `"migration_s":-0.5`, where + `migration_s is -0.5, must be from 0 to 1e+09`},
		"migration too long": {`"migration_s":0.5`, `"migration_s":1e10`, where + `migration_s is 1e+10, must be from 0 to 1e+09`},
		"fine migration":     {`"migration_s":0.5`, `"migration_s":1e-7`, where + `migration_s is 1e-07, must be a whole number of microseconds; round it`},
		"no id":              {`"id":"b"`, `"id":""`, where + `line 4: requests[1]: id "": id is missing or empty`},
		"id twice":           {`"id":"c"`, `"id":"a"`, where + `line 5: requests[2]: id "a": the id is taken by requests[0] already`},
		"negative arrival":   {`"arrival_s":0`, `"arrival_s":-1`, where + `line 3: requests[0]: id "a": arrival_s is -1, must be from 0 to 1e+09`},
		"arrival too late":   {`"c","arrival_s":5.5`, `"c","arrival_s":2e9`, where + `line 5: requests[2]: id "c": arrival_s is 2e+09, must be from 0 to 1e+09`},
		"order of arrival":   {`"c","arrival_s":5.5`, `"c","arrival_s":5`, where + `line 5: requests[2]: id "c": arrival_s is 5, after one at 5.5; sort the requests by arrival`},
		"no duration":        {`"duration_s":60`, `"duration_s":0`, where + `line 3: requests[0]: id "a": duration_s is 0, must be above 0 and at most 1e+09`},
		"negative duration":  {`"duration_s":60`, `"duration_s":-3`, where + `line 3: requests[0]: id "a": duration_s is -3, must be above 0 and at most 1e+09`},
		"endless":            {`"duration_s":60`, `"duration_s":1.1e9`, where + `line 3: requests[0]: id "a": duration_s is 1.1e+09, must be above 0 and at most 1e+09`},
		"fine arrival":       {`"b","arrival_s":5.5`, `"b","arrival_s":5.4999999`, where + `line 4: requests[1]: id "b": arrival_s is 5.4999999, must be a whole number of microseconds; round it`},
		"fine duration":      {`"duration_s":60`, `"duration_s":60.0000001`, where + `line 3: requests[0]: id "a": duration_s is 60.0000001, must be a whole number of microseconds; round it`},
		"no VMs":             {`"vms":1`, `"vms":0`, where + `line 4: requests[1]: id "b": vms is 0, must be from 1 to 1000000`},
		"too many VMs":       {`"vms":32`, `"vms":33`, where + `line 5: requests[2]: id "c": vms is 33, the data centre has 32 slots`},
		"no bandwidth":       {`"bandwidth_mbps":50.25`, `"bandwidth_mbps":0`, where + `line 3: requests[0]: id "a": bandwidth_mbps is 0, must be above 0 and at most 1e+07`},
		"too much bandwidth": {`"bandwidth_mbps":50.25`, `"bandwidth_mbps":1.1e7`, where + `line 3: requests[0]: id "a": bandwidth_mbps is 1.1e+07, must be above 0 and at most 1e+07`},
		"fine bandwidth":     {`"bandwidth_mbps":50.25`, `"bandwidth_mbps":50.2500001`, where + `line 3: requests[0]: id "a": bandwidth_mbps is 50.2500001, must be a whole number of bits per second; round it`},
		"fraction of a VM":   {`"vms":4`, `"vms":4.5`, `invalid JSON: line 3: requests[0].vms: a whole number is wanted, 4.5 isn't one, or too large`},
		"missing":            {`"queue":false,`, ``, `invalid JSON: line 5: the key "queue" is missing`},
		"unknown layer":      {`"edge":0`, `"core":0`, `invalid JSON: line 1: unknown key "fat_tree.layers_mbps.core"; known here: aggregation, edge, server`},
	}, decodes(model.DecodeInstance))
}

// Values that no file can have: NaN and infinities.
func TestTVCValidateNumbers(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for name, at := range map[string]func(*model.TVC) *float64{
			"link_mbps":      func(in *model.TVC) *float64 { return &in.FatTree.LinkMbps },
			"layers_mbps":    func(in *model.TVC) *float64 { return &in.FatTree.LayersMbps.AggregationMbps },
			"migration_s":    func(in *model.TVC) *float64 { return &in.MigrationS },
			"arrival_s":      func(in *model.TVC) *float64 { return &in.Requests[1].ArrivalS },
			"duration_s":     func(in *model.TVC) *float64 { return &in.Requests[1].DurationS },
			"bandwidth_mbps": func(in *model.TVC) *float64 { return &in.Requests[1].BandwidthMbps },
		} {
			in := decodeInstance[*model.TVC](t, threeClusters)
			*at(in) = x
			require.Refused(t, name, in.Validate(), model.ErrInvalid, name)
		}
	}
}

// Solutions that don't fit the instance have no objective.
func TestTVCObjectiveRefuses(t *testing.T) {
	t.Parallel()
	in := decodeInstance[*model.TVC](t, threeClusters)
	checkChanges(t, twoRuns, map[string]change{
		"unknown request": {`"id":"b"`, `"id":"x"`, `invalid solution: runs[1] is of "x", there is no such request`},
		"twice":           {`"id":"b"`, `"id":"a"`, `invalid solution: "a" runs twice; give its segments in one run`},
		"negative":        {`"start_s":40`, `"start_s":-40`, `invalid solution: "a" runs from -40 to 70.5, times must be from 0 to 1e+10`},
		"too late":        {`"end_s":70.5`, `"end_s":1e11`, `invalid solution: "a" runs from 40 to 1e+11, times must be from 0 to 1e+10`},
	}, func(t *testing.T, text string) error {
		_, err := in.Objective(decodeSolution[*model.Embeddings](t, text))
		return err
	})
	if _, err := in.Objective(&model.Embeddings{Runs: []model.Run[model.Embedding]{{ID: "a"}}}); err == nil || err.Error() != `invalid solution: the run of "a" has no segments; leave out a request that never runs` {
		t.Errorf("no segments: %v", err)
	}
	require.Refused(t, "bookings", require.Err(in.Objective(&model.Bookings{})), model.ErrInvalid, "")
}

// All figures of one solution, worked out by hand.
func TestTVCObjective(t *testing.T) {
	t.Parallel()
	in, s := decodeInstance[*model.TVC](t, threeClusters), decodeSolution[*model.Embeddings](t, twoRuns)
	revenue := 4*50.25*60 + 1e-6*1e-6
	check := func(o model.Objective, err error, sense model.Sense, want ...float64) {
		t.Helper()
		got := append([]float64{o.Value, o.Second}, o.Others...)
		if err != nil || o.Sense != sense || len(got) != len(want) || len(got) != len(in.Metrics()) {
			t.Fatalf("%+v, error %v, want %v", o, err, want)
		}
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-12*math.Abs(want[k]) {
				t.Errorf("%s is %v, want %v", in.Metrics()[k].Key, got[k], want[k])
			}
		}
	}
	o, err := in.Objective(s)
	check(o, err, model.Maximise, revenue, 2, 200./3, 1)
	in.Goal = ""
	o, err = in.Objective(s)
	check(o, err, model.Maximise, 2, revenue, 200./3, 1)
	in.Queue = true
	// a: 70.5 s for 60 s of work. b: a microsecond at once.
	o, err = in.Objective(s)
	check(o, err, model.Minimise, (70.5+1e-6)/2, (70.5/60+1)/2, 0, (1+(5.5+1e-6)/10)/2, 1, 1, 1)
	o, err = in.Objective(&model.Embeddings{})
	check(o, err, model.Minimise, 0, 1, 0, 1, 0, 0, 1)
}

func TestSwitchText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]model.Switch{
		"edge-0-0":          {Layer: model.LayerEdge},
		"edge-12-3":         {Layer: model.LayerEdge, Group: 12, Index: 3},
		"aggregation-7-100": {Layer: model.LayerAggregation, Group: 7, Index: 100},
		"core-1-2":          {Layer: model.LayerCore, Group: 1, Index: 2},
	} {
		var s model.Switch
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%s is read as %+v, %v", text, s, err)
		}
		if back, err := s.MarshalText(); err != nil || string(back) != text {
			t.Errorf("%s is written as %s, %v", text, back, err)
		}
	}
	for _, text := range []string{"", "edge", "edge-1", "edge-1-", "edge--1-2", "edge-1-2-3", "Edge-1-2", "rack-1-2", "core-01-2", "core-1-+2", "core-1-2 ", "core-1-99999999999999999999", "aggregation-1-x"} {
		var s model.Switch
		if err := s.UnmarshalText([]byte(text)); !errors.Is(err, model.ErrInvalid) || s != (model.Switch{}) {
			t.Errorf("%q is read as %+v, %v", text, s, err)
		}
	}
	require.Refused(t, "layer 3 is written", require.Err((model.Switch{Layer: 3}).MarshalText()), model.ErrInvalid, "")
	f := &model.FatTree{K: 4}
	has := 0
	for layer := range model.Layer(5) {
		for group := -1; group < 6; group++ {
			for index := -1; index < 6; index++ {
				if f.Has(model.Switch{Layer: layer, Group: group, Index: index}) {
					has++
				}
			}
		}
	}
	if has != 8+8+4 {
		t.Errorf("a fat-tree of 4 pods has %d switches, want 20", has)
	}
}

// Fits reports that a request fits the empty data centre if plain enumeration finds an embedding. The tables look at
// each number of VMs, at bandwidths around which the answer changes.
func TestFitsAgainstEnumeration(t *testing.T) {
	t.Parallel()
	fits := map[model.Hose][2]int{}
	try := func(in *model.TVC) {
		t.Helper()
		ticks := view.OfTVC(in)
		for k := range in.Requests {
			want := plain.Fits(in, k)
			if got := in.Fits()(k); got != want || ticks.Requests[k].Fits != want {
				t.Fatalf("%+v fits: %v, want %v\n%+v %s", in.Requests[k], got, want, in.FatTree, in.EffectiveHose())
			}
			n := fits[in.EffectiveHose()]
			if n[0]++; want {
				n[1]++
			}
			fits[in.EffectiveHose()] = n
		}
	}
	rng := rand.New(rand.NewPCG(11, 2))
	draw := func(k, most int) {
		in := testkit.RandomTVC(rng, k, 0, false)
		f := &in.FatTree
		f.Slots = 1 + rng.IntN(3)
		// A link lets some VMs through, and the one above it others.
		rates := make([]float64, 3)
		for layer := range rates {
			rates[layer] = float64(1 + rng.IntN(most+1))
		}
		f.LinkMbps, f.LayersMbps = 1, &model.LayerRates{ServerMbps: rates[0], EdgeMbps: rates[1], AggregationMbps: rates[2]}
		for vms := 1; vms <= min(most, f.Servers()*f.Slots); vms++ {
			in.Requests = append(in.Requests, model.TVCRequest{ID: "r", VMs: vms, DurationS: 1,
				BandwidthMbps: []float64{1, 2, 0.999999, 1.000001}[rng.IntN(4)]})
		}
		try(in)
	}
	for range require.Rounds(2000) {
		draw(2, 6)
	}
	for range require.Rounds(150) {
		draw(4, 6)
	}
	for range require.Rounds(500) {
		try(testkit.RandomTVC(rng, 2, 6, rng.IntN(2) == 0))
	}
	for hose, n := range fits {
		if n[1] < n[0]/10 || n[1] > n[0]*9/10 {
			t.Errorf("%s: %d of %d fit", hose, n[1], n[0])
		}
	}
}

// A decoded instance is valid, has ticks, is written as it was read, and is the same again. Figures of any solution are
// finite or refused.
func FuzzTVC(f *testing.F) {
	f.Add([]byte(threeClusters), []byte(twoRuns))
	f.Add([]byte(strings.Replace(threeClusters, `"queue":false,"goal":"revenue"`, `"queue":true`, 1)), []byte(twoRuns))
	f.Fuzz(func(t *testing.T, instance, solution []byte) {
		in, err := model.DecodeInstance(instance)
		if err != nil {
			return
		}
		v, ok := in.(*model.TVC)
		if !ok || len(v.Requests) > 100 {
			return
		}
		ticks := view.OfTVC(v)
		for k := range v.Requests {
			q, x := &v.Requests[k], &ticks.Requests[k]
			if ticks.Seconds(x.Arrival) != q.ArrivalS || ticks.Seconds(x.Duration) != q.DurationS || ticks.Seconds(x.Bandwidth) != q.BandwidthMbps {
				t.Fatalf("%+v isn't %+v", x, q)
			}
		}
		s, err := model.DecodeSolution(solution)
		if err != nil {
			return
		}
		o, err := v.Objective(s)
		if err == nil && (math.IsNaN(o.Value) || math.IsInf(o.Value, 0) || math.IsNaN(o.Second) || math.IsInf(o.Second, 0)) {
			t.Fatalf("objective %+v", o)
		}
	})
}

// The sum of long responses isn't an int64 of microseconds.
func TestTVCLongResponses(t *testing.T) {
	in := &model.TVC{FatTree: model.FatTree{K: 2, Slots: 1, LinkMbps: 1}, Queue: true}
	e := &model.Embeddings{}
	for k := range 2000 {
		id := strconv.Itoa(k + 1)
		in.Requests = append(in.Requests, model.TVCRequest{ID: id, VMs: 1, BandwidthMbps: 1, DurationS: 1})
		e.Runs = append(e.Runs, model.Run[model.Embedding]{ID: id, Segments: []model.Segment[model.Embedding]{{StartS: 8e9 - 1, EndS: 8e9}}})
	}
	if o, err := in.Objective(e); err != nil || math.Abs(o.Value-8e9) > 1e-3 || math.Abs(o.Others[0]-(8e9-1)) > 1e-3 {
		t.Errorf("mean response %v, wait %v, error %v", o.Value, o.Others, err)
	}
}
