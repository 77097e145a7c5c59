// SPDX-License-Identifier: MIT

package verify_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

type place = model.Embedding

// span is one segment: servers are pairs of a server and its VMs.
func span(start, end float64, at model.Switch, servers ...int) model.Segment[place] {
	s := model.Segment[place]{StartS: start, EndS: end, Place: place{Switch: at}}
	for i := 0; i < len(servers); i += 2 {
		s.Place.Servers = append(s.Place.Servers, model.ServerVMs{Server: servers[i], VMs: servers[i+1]})
	}
	return s
}

func edgeSwitch(pod, e int) model.Switch {
	return model.Switch{Layer: model.LayerEdge, Group: pod, Index: e}
}
func aggregationSwitch(pod, a int) model.Switch {
	return model.Switch{Layer: model.LayerAggregation, Group: pod, Index: a}
}
func coreSwitch(a, c int) model.Switch {
	return model.Switch{Layer: model.LayerCore, Group: a, Index: c}
}

// fourPods is a fat-tree of 4 pods with 16 servers of 2 slots and links of 100
// Mbps, with six requests, and a solution that loads some links fully.
func fourPods(queue bool) (*model.TVC, *model.Embeddings) {
	in := &model.TVC{Name: "four pods", FatTree: model.FatTree{K: 4, Slots: 2, LinkMbps: 100}, Queue: queue, MigrationS: 1, Requests: []model.TVCRequest{
		{ID: "a", ArrivalS: 0, VMs: 2, BandwidthMbps: 100, DurationS: 10},    // on two servers of one edge switch
		{ID: "b", ArrivalS: 0, VMs: 4, BandwidthMbps: 50, DurationS: 20.25},  // two edge switches of a pod
		{ID: "c", ArrivalS: 5, VMs: 4, BandwidthMbps: 50, DurationS: 10},     // two pods
		{ID: "d", ArrivalS: 10, VMs: 2, BandwidthMbps: 100, DurationS: 5},    // takes a's servers when it leaves
		{ID: "e", ArrivalS: 10, VMs: 2, BandwidthMbps: 1e7, DurationS: 5e-6}, // on one server
		{ID: "f", ArrivalS: 11, VMs: 3, BandwidthMbps: 1000, DurationS: 5},   // never fits
	}}
	one := func(id string, segments ...model.Segment[place]) model.Run[place] {
		return model.Run[place]{ID: id, Segments: segments}
	}
	s := &model.Embeddings{Runs: []model.Run[place]{
		one("a", span(0, 10, edgeSwitch(0, 0), 0, 1, 1, 1)),
		one("b", span(0, 20.25, aggregationSwitch(1, 1), 4, 2, 6, 1, 7, 1)),
		one("c", span(5, 15, coreSwitch(0, 1), 8, 1, 9, 1, 12, 1, 14, 1)),
		one("d", span(10, 15, edgeSwitch(0, 0), 0, 1, 1, 1)),
		one("e", span(10, 10.000005, edgeSwitch(0, 1), 2, 2)),
	}}
	if queue { // c is suspended once and goes on elsewhere, d once and goes on there
		s.Runs[2].Segments = []model.Segment[place]{span(5, 8, coreSwitch(0, 1), 8, 1, 9, 1, 12, 1, 14, 1), span(9, 17, coreSwitch(1, 0), 8, 1, 9, 1, 12, 1, 13, 1)}
		s.Runs[3].Segments = []model.Segment[place]{span(10, 12, edgeSwitch(0, 0), 0, 1, 1, 1), span(12.5, 15.5, aggregationSwitch(0, 1), 0, 1, 1, 1)}
	}
	return in, s
}

func TestTVCFigures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		queue             bool
		goal              model.TVCGoal
		objective, second float64
	}{
		"requests": {false, "", 5, 2*100*10 + 4*50*20.25 + 4*50*10 + 2*100*5 + 2*1e7*5e-6},
		"revenue":  {false, model.GoalRevenue, 2*100*10 + 4*50*20.25 + 4*50*10 + 2*100*5 + 2*1e7*5e-6, 5},
		"queue":    {true, "", (10 + 20.25 + 12 + 5.5 + 5e-6) / 5, (1 + 1 + 1.2 + 1 + 1) / 5},
	} {
		t.Run(name, func(t *testing.T) {
			in, s := fourPods(c.queue)
			in.Goal = c.goal
			r := judge(t, in, s, verify.Options{})
			if !r.Feasible() {
				t.Fatal(r)
			}
			if math.Abs(r.Objective-c.objective) > 1e-12*c.objective || math.Abs(r.Second-c.second) > 1e-12*c.second {
				t.Errorf("%v and %v, want %v and %v", r.Objective, r.Second, c.objective, c.second)
			}
			o, err := in.Objective(s)
			if err != nil || math.Abs(r.Objective-o.Value) > 1e-12*c.objective || math.Abs(r.Second-o.Second) > 1e-12*c.second {
				t.Errorf("the model says %v, %v", o, err)
			}
		})
	}
}

// Each break of the solution is found, by its name and amount, and nothing else.
func TestTVCViolations(t *testing.T) {
	t.Parallel()
	type solution = model.Embeddings
	segment := func(s *solution, run int) *model.Segment[place] { return &s.Runs[run].Segments[0] }
	for name, c := range map[string]struct {
		queue bool
		set   string
		edit  func(in *model.TVC, s *solution)
		want  []string
	}{
		"unknown request": {false, "S.Runs.0.ID=x", nil, []string{"unknown_request"}},
		"two runs":        {false, "", func(_ *model.TVC, s *solution) { s.Runs = append(s.Runs, s.Runs[1]) }, []string{"repeated_request"}},
		"no segments":     {false, "S.Runs.0.Segments=nil", nil, []string{"empty_run"}},
		"NaN":             {false, "S.Runs.0.Segments.0.StartS=NaN", nil, []string{"invalid_time"}},
		"before 0":        {false, "S.Runs.0.Segments.0.StartS=-1e-6", nil, []string{"invalid_time"}},
		"too late":        {false, "S.Runs.0.Segments.0.EndS=8.1e9", nil, []string{"invalid_time"}},
		"infinite":        {true, "S.Runs.2.Segments.1.EndS=+Inf", nil, []string{"invalid_time"}},
		"half a microsecond": {false, "S.Runs.4.Segments.0.EndS=10.0000052", nil,
			[]string{"fractional_time"}},
		"an ulp": {false, "", func(_ *model.TVC, s *solution) { segment(s, 4).EndS = math.Nextafter(10.000005, 20) }, []string{"fractional_time"}},
		"early":  {true, "S.Runs.2.Segments.0.StartS=4; S.Runs.2.Segments.0.EndS=7", nil, []string{"early_start 0.1"}},
		"early in loss mode": {false, "S.Runs.2.Segments.0.StartS=4.999999; S.Runs.2.Segments.0.EndS=14.999999", nil,
			[]string{"early_start 1e-07"}},
		"a microsecond late in loss mode": {false, "S.Runs.2.Segments.0.StartS=5.000001; S.Runs.2.Segments.0.EndS=15.000001", nil,
			[]string{"delayed_start 1e-07"}},
		"late in loss mode": {false, "S.Runs.2.Segments.0.StartS=6; S.Runs.2.Segments.0.EndS=16", nil, []string{"delayed_start 0.1"}},
		"two segments in loss mode": {false, "", func(_ *model.TVC, s *solution) {
			s.Runs[0].Segments = []model.Segment[place]{span(0, 4, edgeSwitch(0, 0), 0, 1, 1, 1), span(4, 10, edgeSwitch(0, 0), 0, 1, 1, 1)}
		}, []string{"suspended_request"}},
		"too short":         {false, "S.Runs.2.Segments.0.EndS=14.999999", nil, []string{"wrong_work 1e-07"}},
		"too long":          {true, "S.Runs.3.Segments.1.EndS=16", nil, []string{"wrong_work 0.1"}},
		"migration is free": {true, "S.Runs.2.Segments.1.EndS=16", nil, []string{"wrong_work 0.1"}},
		"going on costs": {true, "S.Runs.3.Segments.1.EndS=16.5", nil,
			[]string{"wrong_work 0.2"}},
		"short migration": {true, "", func(_ *model.TVC, s *solution) { // the rest of it comes with the next segment there
			s.Runs[2].Segments = []model.Segment[place]{span(5, 8, edgeSwitch(2, 0), 8, 2, 9, 2), span(9, 9.5, edgeSwitch(3, 0), 12, 2, 13, 2), span(9.5, 17, edgeSwitch(3, 0), 12, 2, 13, 2)}
		}, nil},
		"lost":              {true, "S.Runs.2.Segments.0.Lost=true", nil, []string{"wrong_work 0.2"}}, // it is 1 s shorter without a migration
		"begun anew":        {true, "S.Runs.2.Segments.0.Lost=true; S.Runs.2.Segments.1.EndS=19", nil, nil},
		"lost in the end":   {true, "S.Runs.3.Segments.1.Lost=true", nil, []string{"wrong_work 1"}},
		"lost in loss mode": {false, "S.Runs.0.Segments.0.Lost=true", nil, []string{"wrong_work 1"}},
		"short migration is free": {true, "", func(_ *model.TVC, s *solution) {
			s.Runs[2].Segments = []model.Segment[place]{span(5, 8, edgeSwitch(2, 0), 8, 2, 9, 2), span(9, 9.5, edgeSwitch(3, 0), 12, 2, 13, 2), span(9.5, 16.5, edgeSwitch(3, 0), 12, 2, 13, 2)}
		}, []string{"wrong_work 0.05"}},
		"empty segment": {true, "", func(_ *model.TVC, s *solution) {
			s.Runs[3].Segments = append(s.Runs[3].Segments, span(16, 16, edgeSwitch(0, 0), 0, 1, 1, 1))
		}, []string{"segment_length"}},
		"backwards": {false, "S.Runs.0.Segments.0.StartS=10; S.Runs.0.Segments.0.EndS=0", nil,
			[]string{"delayed_start 1", "segment_length", "wrong_work 1"}},
		"overlap in a run": {true, "S.Runs.2.Segments.1.StartS=7; S.Runs.2.Segments.1.EndS=15", nil, []string{"segment_order 0.1"}},
		"segments in reverse": {true, "", func(_ *model.TVC, s *solution) { slices.Reverse(s.Runs[3].Segments) },
			[]string{"segment_order 1.1"}},
		"too few VMs":          {false, "S.Runs.4.Segments.0.Place.Servers.0.VMs=1", nil, []string{"server_link 99999", "vm_count"}},
		"no servers":           {false, "S.Runs.4.Segments.0.Place.Servers=nil", nil, []string{"vm_count"}},
		"a server without VMs": {false, "", func(_ *model.TVC, s *solution) { segment(s, 4).Place = span(0, 0, edgeSwitch(0, 1), 2, 2, 3, 0).Place }, []string{"vm_count"}},
		"negative VMs": {false, "", func(_ *model.TVC, s *solution) {
			segment(s, 0).Place = span(0, 0, edgeSwitch(0, 0), 0, 2, 1, -1, 2, 1).Place
		}, []string{"not_below", "vm_count"}},
		"most negative VMs":        {false, "S.Runs.4.Segments.0.Place.Servers.0.VMs=-9223372036854775808", nil, []string{"vm_count", "vm_count"}},
		"unknown server":           {false, "S.Runs.2.Segments.0.Place.Servers.3.Server=16", nil, []string{"unknown_server"}},
		"server -1":                {false, "S.Runs.2.Segments.0.Place.Servers.0.Server=-1", nil, []string{"unknown_server"}},
		"not ascending":            {false, "", func(_ *model.TVC, s *solution) { slices.Reverse(segment(s, 0).Place.Servers) }, []string{"server_order"}},
		"server twice":             {false, "", func(_ *model.TVC, s *solution) { segment(s, 4).Place = span(0, 0, edgeSwitch(0, 1), 2, 1, 2, 1).Place }, []string{"server_order"}},
		"no such edge switch":      {false, "S.Runs.0.Segments.0.Place.Switch=edge-0-2", nil, []string{"unknown_switch"}},
		"no such pod":              {false, "S.Runs.0.Segments.0.Place.Switch=aggregation-4-0", nil, []string{"unknown_switch"}},
		"no such core group":       {false, "S.Runs.0.Segments.0.Place.Switch=core-2-0", nil, []string{"unknown_switch"}},
		"negative switch":          {false, "", func(_ *model.TVC, s *solution) { segment(s, 0).Place.Switch = coreSwitch(0, -1) }, []string{"unknown_switch"}},
		"no such layer":            {false, "S.Runs.0.Segments.0.Place.Switch.Layer=3", nil, []string{"unknown_switch"}},
		"another edge switch":      {false, "S.Runs.4.Segments.0.Place.Switch=edge-0-0", nil, []string{"not_below"}},
		"another pod":              {false, "S.Runs.4.Segments.0.Place.Switch=aggregation-1-0", nil, []string{"not_below"}},
		"a higher switch":          {false, "S.Runs.0.Segments.0.Place.Switch=core-1-1", nil, nil},
		"a slot too many":          {false, "", func(_ *model.TVC, s *solution) { segment(s, 4).Place = span(0, 0, edgeSwitch(0, 0), 0, 2).Place }, []string{"server_slots 0.5"}},
		"more than any server":     {false, "In.Requests.4.VMs=3; S.Runs.4.Segments.0.Place.Servers.0.VMs=3", nil, []string{"server_slots 0.5"}},
		"bit too many on a server": {false, "In.Requests.0.BandwidthMbps=100.000001", nil, []string{"server_link 1e-08", "server_link 1e-08"}},
		"shared server link": {false, "", func(_ *model.TVC, s *solution) { segment(s, 4).Place = span(0, 0, edgeSwitch(0, 0), 0, 1, 2, 1).Place },
			[]string{"not_below", "server_link 100000", "server_link 99999"}},
		"bit too many above an edge switch": {false, "In.Requests.1.BandwidthMbps=50.000001", nil, []string{"edge_link 2e-08", "edge_link 2e-08", "server_link 2e-08"}},
		"edge layer": {false, "", func(in *model.TVC, _ *solution) { in.FatTree.LayersMbps = &model.LayerRates{EdgeMbps: 99} },
			[]string{"edge_link 0.010101", "edge_link 0.010101", "edge_link 0.010101"}},
		"aggregation layer": {false, "", func(in *model.TVC, _ *solution) {
			in.FatTree.LayersMbps = &model.LayerRates{AggregationMbps: 99}
		}, []string{"aggregation_link 0.010101", "aggregation_link 0.010101"}},
		"server layer": {false, "", func(in *model.TVC, _ *solution) { in.FatTree.LayersMbps = &model.LayerRates{ServerMbps: 99} },
			[]string{"server_link 0.010101", "server_link 0.010101", "server_link 0.010101", "server_link 0.010101", "server_link 0.010101"}},
		"non-blocking": {false, "", func(in *model.TVC, _ *solution) {
			in.FatTree.Fabric, in.FatTree.LayersMbps = model.FabricNonBlocking, &model.LayerRates{AggregationMbps: 1, EdgeMbps: 1}
		}, nil},
		"two on one core link": {false, "", func(in *model.TVC, s *solution) {
			in.Requests[3].BandwidthMbps = 1
			segment(s, 3).Place = span(0, 0, coreSwitch(0, 1), 0, 1, 15, 1).Place
		}, []string{"aggregation_link 0.01"}},
		"beside it": {false, "", func(in *model.TVC, s *solution) {
			in.Requests[3].BandwidthMbps = 1
			segment(s, 3).Place = span(0, 0, coreSwitch(1, 1), 0, 1, 15, 1).Place
		}, nil},
		"two on one edge link": {false, "", func(in *model.TVC, s *solution) {
			in.Requests[3].BandwidthMbps = 1
			segment(s, 3).Place = span(0, 0, coreSwitch(1, 1), 0, 1, 5, 1).Place
		}, []string{"edge_link 0.01"}},
		"per path": {false, "", func(in *model.TVC, s *solution) {
			in.Hose = model.HosePerPath
			segment(s, 2).Place = span(0, 0, aggregationSwitch(2, 0), 8, 2, 9, 1, 10, 1).Place // 3 VMs below the first edge switch: 3·50, not 1·50
		}, []string{"edge_link 0.5"}},
		"the cut": {false, "", func(_ *model.TVC, s *solution) {
			segment(s, 2).Place = span(0, 0, aggregationSwitch(2, 0), 8, 2, 9, 1, 10, 1).Place
		}, nil},
		"per path above all VMs": {false, "", func(in *model.TVC, s *solution) {
			in.Hose = model.HosePerPath
			segment(s, 0).Place.Switch = aggregationSwitch(0, 0)
		}, []string{"edge_link 1"}},
		"a departure after an arrival": {true, "S.Runs.0.Segments.0.EndS=10.000001; In.Requests.0.DurationS=10.000001", nil,
			[]string{"server_link 1", "server_link 1"}},
		"a queue that drops":     {true, "", func(_ *model.TVC, s *solution) { s.Runs = slices.Delete(s.Runs, 0, 1) }, []string{"declined_request"}},
		"a queue that drops two": {true, "S.Runs=[2:]", nil, []string{"declined_request", "declined_request"}},
		"one that never fits": {true, "", func(_ *model.TVC, s *solution) {
			s.Runs = append(s.Runs, model.Run[place]{ID: "f", Segments: []model.Segment[place]{span(20.25, 25.25, edgeSwitch(0, 0), 0, 2, 1, 1)}})
		}, []string{"server_link 9", "server_link 9"}},
	} {
		t.Run(name, func(t *testing.T) {
			in, s := fourPods(c.queue)
			if r := judge(t, in, s, verify.Options{}); !r.Feasible() {
				t.Fatal(r)
			}
			edited(t, in, s, c.set, c.edit)
			got := constraints(judge(t, in, s, verify.Options{}))
			require.Same(t, "violations", c.want, got)
		})
	}
}

// Fewer preemptions than the solution has suspensions can't be; how many more there were
// is on trust.
func TestPreempted(t *testing.T) {
	t.Parallel()
	in := &model.TVC{Name: "t", Queue: true, FatTree: model.FatTree{K: 2, Slots: 2, LinkMbps: 10}, Requests: []model.TVCRequest{{ID: "a", VMs: 1, BandwidthMbps: 1, DurationS: 3}}}
	place := model.Embedding{Switch: model.Switch{Layer: model.LayerEdge}, Servers: []model.ServerVMs{{Server: 0, VMs: 1}}}
	e := &model.Embeddings{Runs: []model.Run[model.Embedding]{{ID: "a", Segments: []model.Segment[model.Embedding]{{StartS: 0, EndS: 1, Place: place}, {StartS: 2, EndS: 4, Place: place}}}}}
	for stated, want := range map[int]bool{0: false, 1: true, 7: true} {
		r := model.NewResult("mine", 1)
		require.OK(t, r.SetSolution(in, e))
		r.Details = &model.TVCDetails{Preempted: &stated}
		report, err := verify.Result(t.Context(), in, r, verify.Options{})
		if err != nil || report.Feasible() != want || !want && report.Violations[0].Constraint != "wrong_details" {
			t.Errorf("stated %d: %v %v", stated, report, err)
		}
		if !slices.Contains(report.Trusted, "how often requests were preempted and went on at once in place") {
			t.Errorf("stated %d: on trust is %v", stated, report.Trusted)
		}
	}
}

// How many requests never fit is counted by the judge, too.
func TestNeverFit(t *testing.T) {
	t.Parallel()
	in := &model.TVC{Name: "t", FatTree: model.FatTree{K: 2, Slots: 2, LinkMbps: 10}, Requests: []model.TVCRequest{
		{ID: "a", VMs: 1, BandwidthMbps: 1, DurationS: 1}, {ID: "b", VMs: 4, BandwidthMbps: 9, DurationS: 1}}}
	for stated, want := range map[int]bool{1: true, 2: false, -1: false, 0: true} { // 0: nothing is stated
		r := model.NewResult("mine", 1)
		require.OK(t, r.SetSolution(in, &model.Embeddings{}))
		r.Details = &model.TVCDetails{NeverFit: stated}
		report, err := verify.Result(t.Context(), in, r, verify.Options{})
		if err != nil || report.Feasible() != want || !want && report.Violations[0].Constraint != "wrong_details" {
			t.Errorf("stated %d: %v %v", stated, report, err)
		}
		require.Same(t, fmt.Sprintf("stated %d: checked", stated), stated != 0,
			slices.Contains(report.Checked, "how many requests never fit"))
	}
}
