// SPDX-License-Identifier: MIT

package runs

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// traced is a batch of three jobs and how they run: one plainly, one restarted,
// migrated and promoted, one killed at its estimate.
func traced() (*model.Batch, *model.Execution) {
	in := &model.Batch{Name: "three", Processors: 8, Tiers: 2, KillAtEstimate: true, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 10, EstimateS: 20, Processes: 4}, {ID: "b", SubmitS: 1.5, RuntimeS: 30, Processes: 2}, {ID: "c", SubmitS: 2, RuntimeS: 50, EstimateS: 40, Processes: 1}}}
	place := func(tier model.Tier, processors ...int32) model.BatchPlace {
		return model.BatchPlace{Tier: tier, Processors: processors}
	}
	type segment = model.Segment[model.BatchPlace]
	return in, &model.Execution{Runs: []model.Run[model.BatchPlace]{
		{ID: "c", Segments: []segment{{StartS: 2, EndS: 42, Place: place("", 7)}}},
		{ID: "b", Segments: []segment{{StartS: 1.5, EndS: 5, Place: place(model.TierBackground, 1, 0), Lost: true},
			{StartS: 6, EndS: 7, Place: place(model.TierBackground, 2, 3)}, {StartS: 7, EndS: 20, Place: place("", 6, 4)}, {StartS: 20, EndS: 61.5, Place: place("", 6, 4)}}},
		{ID: "a", Segments: []segment{{StartS: 0, EndS: 10, Place: place("", 3, 1, 0, 5)}}},
	}}
}

func TestJobTable(t *testing.T) {
	in, s := traced()
	table := require.Value(JobTable(in, s))(t)
	var b bytes.Buffer
	require.OK(t, table.Render(&b, "csv"))
	want := `job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata
a,three,a,0,4,20,1,COMPLETED_SUCCESSFULLY,0,10,10,0,10,1,0-1 3 5,,
b,three,b,1.5,2,30,1,COMPLETED_SUCCESSFULLY,1.5,60,61.5,0,60,1,4 6,,segments=4 restarts=1 migrations=1
c,three,c,2,1,40,0,COMPLETED_WALLTIME_REACHED,2,40,42,0,40,1,7,,
`
	require.Same(t, "values", want, b.String())
	require.Same(t, "without a time of day", table, require.Value(TimedJobTable(in, s))(t))
	timed := *in
	timed.StartTime = "2026-11-28T08:13:11+01:00"
	var at []string
	for _, row := range require.Value(TimedJobTable(&timed, s))(t).Rows {
		at = append(at, row[len(row)-1])
	}
	require.Same(t, "times of day", []string{"2026-11-28T08:13:11+01:00", "2026-11-28T08:13:12+01:00", "2026-11-28T08:13:13+01:00"}, at)
	tvc := &model.TVC{Name: "v", FatTree: model.FatTree{K: 2, Slots: 4, LinkMbps: 10}, Requests: []model.TVCRequest{
		{ID: "x", VMs: 3, BandwidthMbps: 1, DurationS: 7}, {ID: "y", ArrivalS: 1, VMs: 9, BandwidthMbps: 1, DurationS: 3}}}
	table = require.Value(JobTable(tvc,
		&model.Embeddings{Runs: []model.Run[model.Embedding]{{ID: "x", Segments: []model.Segment[model.Embedding]{
			{StartS: 0, EndS: 7, Place: model.Embedding{Servers: []model.ServerVMs{{Server: 0, VMs: 2}, {Server: 1, VMs: 1}}}}}}}}))(t)
	rows := [][]string{{"x", "v", "x", "0", "3", "7", "1", "COMPLETED_SUCCESSFULLY", "0", "7", "7", "0", "7", "1", "0-1", "", ""},
		{"y", "v", "y", "1", "9", "3", "0", "REJECTED", "", "", "", "", "", "", "", "", ""}}
	require.Same(t, "values", rows, table.Rows)
	for _, c := range []struct {
		in   model.Instance
		s    model.Solution
		want error
	}{{&model.DAG{}, &model.Schedule{}, model.ErrUnsupported}, {in, &model.Schedule{}, model.ErrInvalid}, {tvc, s, model.ErrInvalid}, {in, &model.Execution{}, model.ErrInvalid}} {
		require.Refused(t, "refusal", require.Err(JobTable(c.in, c.s)), c.want, "")
	}
}

// The means of the outcomes are the objectives.
func TestOutcomesAreTheObjective(t *testing.T) {
	in, s := traced()
	o := require.Value(in.Objective(s))(t)
	all := require.Value(in.Outcomes(s))(t)
	response, slowdown, migrations, restarts := 0.0, 0.0, 0.0, 0.0
	for i := range all {
		response += all[i].Response() / 3
		slowdown += all[i].Slowdown() / 3
		migrations += float64(all[i].Migrations)
		restarts += float64(all[i].Restarts)
	}
	if math.Abs(response-o.Value) > 1e-9 || math.Abs(slowdown-o.Second) > 1e-9 || migrations != o.Others[1] || restarts != o.Others[2] {
		t.Errorf("outcomes: %v, %v, %v, %v; objective %+v", response, slowdown, migrations, restarts, o)
	}
}

// Intervals by batch means cover the true mean of values that depend on their neighbours, and intervals for independent
// values don't.
func TestBatchMeansCovers(t *testing.T) {
	const rounds, n, mean, keep = 400, 8000, 10.0, 0.9
	covered, plain := 0.0, 0.0
	for round := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(7, round))
		values, x := make([]float64, n), rng.NormFloat64()/math.Sqrt(1-keep*keep)
		for k := range values {
			values[k] = mean + x
			x = keep*x + rng.NormFloat64()
		}
		got := stat.Mean(values, nil)
		if math.Abs(got-mean) <= BatchMeans(values) {
			covered += 1.0 / rounds
		}
		if _, half := Interval(values); math.Abs(got-mean) <= half {
			plain += 1.0 / rounds
		}
	}
	// 0.95 within three standard errors; batches of 400 depend on one another a little.
	if math.Abs(covered-0.95) > 0.035 || plain > 0.6 {
		t.Errorf("batch means cover the mean in %.3f of the runs, want 0.95; intervals of single values in %.3f, want few", covered, plain)
	}
	if x := BatchMeans(make([]float64, 999)); !math.IsNaN(x) {
		t.Errorf("999 values: %v, want none", x)
	}
	step := make([]float64, 2000) // every batch has its number as mean
	for k := range step {
		step[k] = float64(k / 100)
	}
	// Student's t for 19 degrees of freedom is 2.0930; the variance of 0, ..., 19 is 35.
	if got, want := BatchMeans(step), 2.0930*math.Sqrt(35.0/20); math.Abs(got-want) > 1e-4 {
		t.Errorf("half-width %v, want %v", got, want)
	}
}

// A record holds the half-widths of its run, and tables and curves show them where
// there is one run.
func TestHalvesInTables(t *testing.T) {
	in := &model.Batch{Name: "many", Processors: 1, Tiers: 1}
	s := &model.Execution{}
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 2000 {
		id, start := string(rune('a'+k%26))+strings.Repeat("x", k/26), float64(10*k)
		in.Jobs = append(in.Jobs, model.BatchJob{ID: id, SubmitS: start, RuntimeS: 1 + float64(rng.IntN(9)), Processes: 1})
		s.Runs = append(s.Runs, model.Run[model.BatchPlace]{ID: id, Segments: []model.Segment[model.BatchPlace]{
			{StartS: start, EndS: start + in.Jobs[k].RuntimeS, Place: model.BatchPlace{Processors: model.ProcessorList{0}}}}})
	}
	first, second, err := Halves(in, s)
	if err != nil || !(first > 0.05 && first < 0.3) || second != 0 {
		t.Fatalf("half-widths %v and %v, error %v", first, second, err)
	}
	in.Jobs[0].Weight = 2
	if first, second, err := Halves(in, s); err != nil || !math.IsNaN(first) || second != 0 {
		t.Errorf("of a weighted mean: %v and %v, %v", first, second, err)
	}
	if first, _, err := Halves(&model.DAG{}, &model.Schedule{}); err != nil || !math.IsNaN(first) {
		t.Errorf("of a dag: %v, %v", first, err)
	}
	value := 5.0
	r := Record{Plan: "p", Instance: "i", Hash: "h", Kind: model.KindBatch, Algorithm: "fcfs", Status: model.StatusFeasible, Objective: &value, Second: &value,
		Params: map[string]float64{"load": 0.5}, Metrics: map[string]float64{firstHalf: 0.25, secondHalf: 0.125}, Version: "v"}
	table := require.Value(tabulate([]Record{r}, TableOptions{Columns: []string{firstHalf, secondHalf}}))(t)
	require.Same(t, "values", [][]string{{"fcfs", "0.25", "0.125"}}, table.Rows)
	for y, want := range map[string]float64{"objective": 0.25, "second": 0.125} {
		lines, err := Series([]Record{r}, SeriesOptions{X: []string{"load"}, Y: y})
		if err != nil || len(lines) != 1 || len(lines[0].Points) != 1 || lines[0].Points[0].Half != want {
			t.Errorf("curve of %s: %+v, error %v, want a half-width of %v", y, lines, err, want)
		}
	}
}
