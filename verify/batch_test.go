// SPDX-License-Identifier: MIT

package verify_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// on is one segment on the given processors.
func on(start, end float64, tier model.Tier, processors ...int32) model.Segment[model.BatchPlace] {
	return model.Segment[model.BatchPlace]{StartS: start, EndS: end, Place: model.BatchPlace{Tier: tier, Processors: processors}}
}

func killed(s model.Segment[model.BatchPlace]) model.Segment[model.BatchPlace] {
	s.Lost = true
	return s
}

// twoTiers is an instance of 4 processors and an execution worked out by hand. Job a is in the foreground. Job b is in
// the background below it, at the pace of its first process, and goes to the foreground in place when a ends. Job c is
// in the background of an idle processor, and migrates. Job d is in the background, stops when c's process comes above
// it, is killed, waits, and starts again in the foreground.
func twoTiers() (*model.Batch, *model.Execution) {
	b := &model.Batch{Name: "two tiers", Processors: 4, Tiers: 2, MigrationS: 2, Jobs: []model.BatchJob{
		{ID: "a", SubmitS: 0, RuntimeS: 9.9, Processes: 2, CPU: []float64{0.5}, FgLoss: 0.01},       // 9900/10000
		{ID: "b", SubmitS: 0, RuntimeS: 6, Processes: 2, CPU: []float64{1, 0.5}, BgEfficiency: 0.8}, // 4000, 8000 with a
		{ID: "c", SubmitS: 1, RuntimeS: 3, Processes: 1, FgLoss: 0.25, BgEfficiency: 0.5},           // 1 s of work, then 2/0.75
		{ID: "d", SubmitS: 2, RuntimeS: 4, Processes: 1, CPU: []float64{0.3}, BgEfficiency: 0.9},    // 9000, then 0
	}}
	run := func(id string, segments ...model.Segment[model.BatchPlace]) model.Run[model.BatchPlace] {
		return model.Run[model.BatchPlace]{ID: id, Segments: segments}
	}
	return b, &model.Execution{Runs: []model.Run[model.BatchPlace]{
		run("a", on(0, 10, "", 0, 1)),
		run("b", on(0, 10, "background", 0, 1), on(10, 12, "", 0, 1)),
		run("c", on(1, 3, "background", 2), on(3, 7.666667, "", 3)),
		run("d", killed(on(2, 4, "background", 3)), on(4.5, 8.5, "", 2)),
	}}
}

func TestBatchFigures(t *testing.T) {
	t.Parallel()
	b, e := twoTiers()
	r := judge(t, b, e, verify.Options{})
	if !r.Feasible() {
		t.Fatal(r)
	}
	response, slowdown := (10+12+6.666667+6.5)/4, (1+1.2+1+1)/4
	if math.Abs(r.Objective-response) > 1e-12 || math.Abs(r.Second-slowdown) > 1e-12 {
		t.Errorf("%v and %v, want %v and %v", r.Objective, r.Second, response, slowdown)
	}
	o, err := b.Objective(e)
	if err != nil || math.Abs(o.Value-response) > 1e-12 || math.Abs(o.Second-slowdown) > 1e-12 || o.Others[1] != 1 || o.Others[2] != 1 {
		t.Errorf("the model says %+v, %v", o, err)
	}
	// Weights apply to responses alone.
	for k, w := range []int{3, 0, 1, model.MostWeight} {
		b.Jobs[k].Weight = w
	}
	response = (3*10 + 12 + 6.666667 + model.MostWeight*6.5) / (5 + model.MostWeight)
	r = judge(t, b, e, verify.Options{})
	if !r.Feasible() || math.Abs(r.Objective-response) > 1e-12 || math.Abs(r.Second-slowdown) > 1e-12 {
		t.Errorf("weighted: %v, %v and %v, want %v and %v", r, r.Objective, r.Second, response, slowdown)
	}
	if r := judge(t, &model.Batch{Processors: 1, Tiers: 1}, &model.Execution{}, verify.Options{}); !r.Feasible() || r.Objective != 0 || r.Second != 1 {
		t.Errorf("without jobs: %v", r)
	}
}

// Each break of the execution is found, by its name and amount, and nothing else.
func TestBatchViolations(t *testing.T) {
	t.Parallel()
	type execution = model.Execution
	at := func(e *execution, run, s int) *model.Segment[model.BatchPlace] { return &e.Runs[run].Segments[s] }
	for name, c := range map[string]struct {
		set  string
		edit func(b *model.Batch, e *execution)
		want []string
	}{
		// Runs, times and their order.
		"unknown job":        {"S.Runs.3.ID=x", nil, []string{"declined_request", "unknown_request"}},
		"two runs":           {"", func(_ *model.Batch, e *execution) { e.Runs = append(e.Runs, e.Runs[1]) }, []string{"repeated_request"}},
		"a job less":         {"S.Runs=[:3]", nil, []string{"declined_request"}},
		"no segments":        {"S.Runs.3.Segments=nil", nil, []string{"empty_run"}},
		"NaN":                {"S.Runs.1.Segments.1.EndS=NaN", nil, []string{"invalid_time"}},
		"infinite":           {"S.Runs.1.Segments.1.EndS=+Inf", nil, []string{"invalid_time"}},
		"half a microsecond": {"S.Runs.2.Segments.1.EndS=7.6666668", nil, []string{"fractional_time"}},
		"early":              {"S.Runs.3.Segments.0.StartS=1", nil, []string{"early_start 0.25"}},
		"a microsecond early": {"S.Runs.3.Segments.0.StartS=1.999999", nil,
			[]string{"early_start 2.5e-07"}},
		"empty segment": {"", func(_ *model.Batch, e *execution) {
			e.Runs[3].Segments = append(e.Runs[3].Segments, on(8.5, 8.5, "", 2))
		}, []string{"segment_length"}},
		"backwards":        {"S.Runs.3.Segments.1.StartS=8.5; S.Runs.3.Segments.1.EndS=4.5", nil, []string{"segment_length"}},
		"overlap in a run": {"S.Runs.2.Segments.1.StartS=2.5", nil, []string{"segment_order 0.166667"}},
		"suspended": {"", func(_ *model.Batch, e *execution) {
			e.Runs[3].Segments = []model.Segment[model.BatchPlace]{on(4, 6, "", 2), on(8, 10, "", 2)}
		}, []string{"suspended_job 0.5"}},
		"suspended for a microsecond": {"", func(_ *model.Batch, e *execution) {
			e.Runs[1].Segments = []model.Segment[model.BatchPlace]{on(0, 10, "background", 0, 1), on(10.000001, 12.000001, "", 0, 1)}
		}, []string{"suspended_job 1.66667e-07"}},
		"cut in two": {"", func(_ *model.Batch, e *execution) {
			e.Runs[0].Segments = []model.Segment[model.BatchPlace]{on(0, 5, "", 0, 1), on(5, 10, "", 0, 1)}
		}, nil},
		// Places.
		"foreground by another name": {"S.Runs.3.Segments.1.Place.Tier=foreground", nil, []string{"unknown_tier"}},
		"no background": {"", func(b *model.Batch, e *execution) {
			b.Tiers, b.Jobs = 1, b.Jobs[3:]
			e.Runs = []model.Run[model.BatchPlace]{{ID: "d", Segments: []model.Segment[model.BatchPlace]{killed(on(2, 4, "background", 3)), on(4.5, 8.5, "", 2)}}}
		}, []string{"unknown_tier"}},
		"a processor less":  {"S.Runs.1.Segments.1.Place.Processors=0", nil, []string{"process_count"}},
		"a processor more":  {"S.Runs.3.Segments.1.Place.Processors=2,1", nil, []string{"process_count"}},
		"none":              {"S.Runs.3.Segments.1.Place.Processors=nil", nil, []string{"process_count"}},
		"unknown processor": {"S.Runs.3.Segments.1.Place.Processors=4", nil, []string{"unknown_processor"}},
		"below 0":           {"", func(_ *model.Batch, e *execution) { at(e, 3, 1).Place.Processors = model.ProcessorList{-1} }, []string{"unknown_processor"}},
		"a processor twice": {"S.Runs.1.Segments.1.Place.Processors=1,1", nil, []string{"repeated_processor"}},
		// Capacity.
		"two in the foreground": {"S.Runs.3.Segments.1.Place.Processors=3", nil, []string{"foreground_overlap 1"}},
		"who was there stays": {"", func(_ *model.Batch, e *execution) {
			e.Runs[3].Segments = []model.Segment[model.BatchPlace]{killed(on(2, 3, "", 0)), killed(on(3.5, 4, "", 0)), on(4.5, 8.5, "", 2)}
		}, []string{"foreground_overlap 1", "foreground_overlap 1"}},
		"two in the background": {"", func(_ *model.Batch, e *execution) {
			e.Runs[3].Segments = []model.Segment[model.BatchPlace]{killed(on(2, 2.5, "background", 2)), on(4.5, 8.5, "", 2)}
		},
			[]string{"background_overlap 1"}},
		"one processor of two": {"", func(_ *model.Batch, e *execution) { // b goes on at 8 and needs less work
			e.Runs[1].Segments = []model.Segment[model.BatchPlace]{killed(on(0, 8, "background", 0, 1)), on(8, 14, "", 2, 1)}
			e.Runs[0].Segments[0].Place.Processors = model.ProcessorList{0, 1}
			e.Runs[3].Segments[1] = on(14, 18, "", 2)
		}, []string{"foreground_overlap 0.5"}},
		"as another ends": {"", func(_ *model.Batch, e *execution) { e.Runs[3].Segments[1] = on(7.666667, 11.666667, "", 3) }, nil},
		"a microsecond too soon": {"", func(_ *model.Batch, e *execution) { e.Runs[3].Segments[1] = on(7.666666, 11.666666, "", 3) },
			[]string{"foreground_overlap 1"}},
		// The threshold.
		"busy foreground": {"", func(_ *model.Batch, e *execution) { // c is above it, with a use of 1
			e.Runs[3].Segments[0] = killed(on(3.5, 4, "background", 3))
		}, []string{"busy_foreground 1"}},
		"at the threshold": {"In.Threshold=0.5", nil, []string{"busy_foreground 1"}},
		"below it":         {"In.Threshold=0.5001", nil, nil},
		"above 1": {"", func(b *model.Batch, e *execution) {
			b.Threshold = 1.0001
			e.Runs[3].Segments[0] = killed(on(3.5, 4, "background", 3))
		}, nil},
		"foreground first": {"", func(_ *model.Batch, e *execution) { // c and d start at one instant
			e.Runs[3].Segments[0] = killed(on(3, 4, "background", 3))
		}, []string{"busy_foreground 1"}},
		"foreground later": {"", func(_ *model.Batch, e *execution) {
			e.Runs[3].Segments[0] = killed(on(2.999999, 4, "background", 3))
		}, nil},
		// Work.
		"too short": {"", func(_ *model.Batch, e *execution) {
			at(e, 0, 0).EndS = 9.999999
			at(e, 1, 0).EndS = 9.999999
			at(e, 1, 1).StartS = 9.999999
			at(e, 1, 1).EndS = 12
		}, []string{"wrong_work 1e-07"}},
		"too long":      {"S.Runs.1.Segments.1.EndS=12.000001", nil, []string{"wrong_work 1.66667e-07"}},
		"a rounded end": {"S.Runs.2.Segments.1.EndS=7.666666", nil, []string{"wrong_work 1.66667e-07"}},
		"after a rounded end": {"S.Runs.2.Segments.1.EndS=7.666668", nil,
			[]string{"wrong_work 3.33333e-07"}},
		"free migration":      {"S.Runs.2.Segments.1.EndS=5.666667", nil, []string{"wrong_work 0.5"}},
		"kept, though killed": {"S.Runs.3.Segments.1.EndS=7.6", nil, []string{"wrong_work 0.225"}},
		"lost, though kept":   {"S.Runs.1.Segments.0.Lost=true", nil, []string{"wrong_work 0.666667"}},
		"killed in the end":   {"S.Runs.3.Segments.1.Lost=true", nil, []string{"wrong_work"}},
		"goes on after its work": {"", func(_ *model.Batch, e *execution) {
			e.Runs[3].Segments = append(e.Runs[3].Segments, on(8.5, 9, "", 2))
		}, []string{"wrong_work"}},
		"killed after its work": {"", func(_ *model.Batch, e *execution) {
			e.Runs[3].Segments = []model.Segment[model.BatchPlace]{killed(on(4.5, 8.5, "", 2)), on(8.5, 12.5, "", 2)}
		}, []string{"wrong_work"}},
		"another order of processors": {"S.Runs.1.Segments.1.Place.Processors=1,0", nil, []string{"wrong_work 0.333333"}},
		"a migration in place":        {"S.Runs.1.Segments.1.Place.Processors=1,0; S.Runs.1.Segments.1.EndS=14", nil, nil},
		"a migration goes on in another tier": {"", func(_ *model.Batch, e *execution) {
			e.Runs[2].Segments = []model.Segment[model.BatchPlace]{on(1, 2, "background", 2), on(2, 3, "background", 1), on(3, 10, "", 1)}
			e.Runs = append(e.Runs[:1:1], e.Runs[2], e.Runs[3])
			e.Runs[0].Segments[0].Place.Processors = model.ProcessorList{0, 3}
			e.Runs[2].Segments = []model.Segment[model.BatchPlace]{on(12, 16, "", 3)}
			e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: "b", Segments: []model.Segment[model.BatchPlace]{on(20, 26, "", 0, 1)}})
			e.Runs[1].Segments[2].EndS = 7.333334 // 0.5 done by 2, nothing until 4, 2.5/0.75 s more
		}, nil},
		"faster in the foreground": {"In.Jobs.0.FgLoss=0.0099", nil, []string{"wrong_work 0.00010101"}},
		"slower in the foreground": {"In.Jobs.0.FgLoss=0.0101", nil, []string{"wrong_work 0.00010101"}},
		"faster in the background": {"In.Jobs.1.BgEfficiency=0.8002", nil, []string{"wrong_work 0.000166667"}},
		"a rate rounded down":      {"In.Jobs.1.BgEfficiency=0.8001", nil, nil},
		"another use above":        {"In.Jobs.0.CPU.0=0.499", nil, []string{"wrong_work 0.00133333"}},
		"another use below":        {"In.Jobs.1.CPU.0=0.9", nil, []string{"wrong_work 0.074"}},
		"the slower process":       {"In.Jobs.1.CPU.1=1", nil, nil},
		"killed at the estimate": {"", func(b *model.Batch, e *execution) {
			b.KillAtEstimate, b.Jobs[3].EstimateS = true, 1
			at(e, 3, 0).EndS = 2.5
			at(e, 3, 1).EndS = 5.5
		}, nil},
		"an estimate alone": {"In.Jobs.3.EstimateS=1", nil, nil},
		"no estimate":       {"In.KillAtEstimate=true", nil, nil},
		"for all time":      {"S.Runs.3.Segments.1.EndS=8e9", nil, []string{"wrong_work 1e+08"}},
		"for a long time in the background": {"", func(b *model.Batch, e *execution) { // counted in parts that sum to more than 2^63
			b.Jobs[3].BgEfficiency = 1
			e.Runs[2].Segments = []model.Segment[model.BatchPlace]{killed(on(4e8, 4e8+1, "", 3)), killed(on(8e8, 8e8+1, "", 3)), killed(on(1.2e9, 1.2e9+1, "", 3)), on(1.3e9, 1.3e9+4, "", 3)}
			e.Runs[3].Segments = []model.Segment[model.BatchPlace]{on(2, 1.25e9, "background", 3)}
		}, []string{"wrong_work 1e+08"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, e := twoTiers()
			edited(t, b, e, c.set, c.edit)
			require.Same(t, "violations", c.want, constraints(judge(t, b, e, verify.Options{})))
		})
	}
}

// Objectives are right where response times sum to more than 2^63 microseconds, and
// where they are negative.
func TestBatchLongResponses(t *testing.T) {
	t.Parallel()
	b, e := &model.Batch{Processors: 1, Tiers: 1}, &model.Execution{}
	for k := range 4000 {
		id := fmt.Sprint(k)
		b.Jobs = append(b.Jobs, model.BatchJob{ID: id, RuntimeS: 1, Processes: 1})
		e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: id, Segments: []model.Segment[model.BatchPlace]{on(7e9-1, 7e9, "", 0)}})
	}
	if r := judge(t, b, e, verify.Options{}); r.Objective != 7e9 || r.Second != 7e8 || r.Feasible() {
		t.Errorf("%v and %v", r.Objective, r.Second)
	}
	for k := range b.Jobs {
		b.Jobs[k].SubmitS = 1e9
		e.Runs[k].Segments[0] = on(0, 1, "", 0)
	}
	if r := judge(t, b, e, verify.Options{}); r.Objective != 1-1e9 || r.Second != 1 {
		t.Errorf("before the submission: %v and %v", r.Objective, r.Second)
	}
}
