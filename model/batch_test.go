// SPDX-License-Identifier: MIT

package model_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// Documents with all that the formats know.
const (
	threeJobs = `{"kind":"batch","version":1,"name":"three","processors":8,"tiers":2,"threshold":0.9,"migration_s":20,"kill_at_estimate":true,"jobs":[
{"id":"a","submit_s":0,"runtime_s":100,"estimate_s":200.5,"processes":3,"cpu":[0.5,0.25,1],"fg_loss":0.04,"bg_efficiency":0.48},
{"id":"b","submit_s":5.5,"runtime_s":0.000001,"processes":1,"cpu":[0.9999]},
{"id":"c","submit_s":5.5,"runtime_s":60,"estimate_s":50,"processes":8,"weight":3,"bg_efficiency":1,"log":{"user":"u","group":"7","executable":"x","queue":"long","partition":"2","preceding":"a","think_s":3.5,"status":"last part failed"}}]}`
	threeExecuted = `{"kind":"batch","version":1,"runs":[
{"id":"a","segments":[{"start_s":0,"end_s":30.5,"place":{"tier":"background","processors":"5,3-4"},"lost":true},{"start_s":40,"end_s":100,"place":{"processors":"0-2"}}]},
{"id":"c","segments":[{"start_s":6,"end_s":20,"place":{"processors":"0-7"}},{"start_s":20,"end_s":80.25,"place":{"tier":"","processors":"1-7,0"},"lost":false}]},
{"id":"b","segments":[{"start_s":5.5,"end_s":5.500001,"place":{"processors":"0"}}]}]}`
)

// Every rule, with the line that its violation prints.
func TestBatchBadInput(t *testing.T) {
	t.Parallel()
	const where = "invalid batch instance: "
	const a, b, c = where + `line 2: jobs[0]: id "a": `, where + `line 3: jobs[1]: id "b": `, where + `line 4: jobs[2]: id "c": `
	const whole = `, must be a whole number of microseconds; round it`
	checkChanges(t, threeJobs, map[string]change{
		"no processors":       {`"processors":8`, `"processors":0`, where + `processors is 0, must be from 1 to 10000000`},
		"too many processors": {`"processors":8`, `"processors":10000001`, where + `processors is 10000001, must be from 1 to 10000000`},
		"no tiers":            {`"tiers":2`, `"tiers":0`, where + `tiers is 0, must be from 1 to 2`},
		"three tiers":         {`"tiers":2`, `"tiers":3`, where + `tiers is 3, must be from 1 to 2`},
		"threshold negative":  {`"threshold":0.9`, `"threshold":-0.9`, where + `threshold is -0.9, must be from 0 to 2`},
		"threshold too large": {`"threshold":0.9`, `"threshold":2.5`, where + `threshold is 2.5, must be from 0 to 2`},
		"fine threshold":      {`"threshold":0.9`, `"threshold":0.90001`, where + `threshold is 0.90001, must have at most four decimals`},
		"migration negative":  {`"migration_s":20`, `"migration_s":-1`, where + `migration_s is -1, must be from 0 to 1e+09`},
		"migration too long":  {`"migration_s":20`, `"migration_s":1e10`, where + `migration_s is 1e+10, must be from 0 to 1e+09`},
		"fine migration":      {`"migration_s":20`, `"migration_s":1e-7`, where + `migration_s is 1e-07` + whole},
		"no id":               {`"id":"b"`, `"id":""`, where + `line 3: jobs[1]: id "": id is missing or empty`},
		"id twice":            {`"id":"c"`, `"id":"a"`, where + `line 4: jobs[2]: id "a": the id is taken by jobs[0] already`},
		"negative submission": {`"submit_s":0`, `"submit_s":-1`, a + `submit_s is -1, must be from 0 to 1e+09`},
		"submission too late": {`"c","submit_s":5.5`, `"c","submit_s":2e9`, c + `submit_s is 2e+09, must be from 0 to 1e+09`},
		"order of submission": {`"c","submit_s":5.5`, `"c","submit_s":5`, c + `submit_s is 5, after one at 5.5; sort the jobs by submission`},
		"no runtime":          {`"runtime_s":100`, `"runtime_s":0`, a + `runtime_s is 0, must be above 0 and at most 1e+08`},
		"negative runtime":    {`"runtime_s":100`, `"runtime_s":-1`, a + `runtime_s is -1, must be above 0 and at most 1e+08`},
		"runtime too long":    {`"runtime_s":100`, `"runtime_s":1.1e8`, a + `runtime_s is 1.1e+08, must be above 0 and at most 1e+08`},
		"negative estimate":   {`"estimate_s":50`, `"estimate_s":-50`, c + `estimate_s is -50, must be from 0 to 1e+09`},
		"estimate too long":   {`"estimate_s":50`, `"estimate_s":1.1e9`, c + `estimate_s is 1.1e+09, must be from 0 to 1e+09`},
		"fine submission":     {`"b","submit_s":5.5`, `"b","submit_s":5.4999999`, b + `submit_s is 5.4999999` + whole},
		"fine runtime":        {`"runtime_s":100`, `"runtime_s":100.0000001`, a + `runtime_s is 100.0000001` + whole},
		"fine estimate":       {`"estimate_s":50`, `"estimate_s":50.0000001`, c + `estimate_s is 50.0000001` + whole},
		"no processes":        {`"processes":1`, `"processes":0`, b + `processes is 0, must be at least 1`},
		"too many processes":  {`"processes":8`, `"processes":9`, c + `processes is 9, there are 8 processors`},
		"uses of others":      {`[0.5,0.25,1]`, `[0.5,0.25]`, a + `cpu has 2 values, must have one, or one for each of the 3 processes`},
		"use 0":               {`[0.9999]`, `[0]`, b + `cpu[0] is 0, must be above 0 and at most 1`},
		"use negative":        {`[0.5,0.25,1]`, `[0.5,-0.25,1]`, a + `cpu[1] is -0.25, must be above 0 and at most 1`},
		"use above 1":         {`[0.9999]`, `[1.0001]`, b + `cpu[0] is 1.0001, must be above 0 and at most 1`},
		"fine use":            {`[0.9999]`, `[0.99999]`, b + `cpu[0] is 0.99999, must have at most four decimals`},
		"negative loss":       {`"fg_loss":0.04`, `"fg_loss":-0.04`, a + `fg_loss is -0.04, must be from 0 to below 1`},
		"all is lost":         {`"fg_loss":0.04`, `"fg_loss":1`, a + `fg_loss is 1, must be from 0 to below 1`},
		"fine loss":           {`"fg_loss":0.04`, `"fg_loss":0.99999`, a + `fg_loss is 0.99999, must have at most four decimals`},
		"negative efficiency": {`"bg_efficiency":1`, `"bg_efficiency":-1`, c + `bg_efficiency is -1, must be from 0 to 1`},
		"efficiency above 1":  {`"bg_efficiency":1`, `"bg_efficiency":1.1`, c + `bg_efficiency is 1.1, must be from 0 to 1`},
		"fine efficiency":     {`"bg_efficiency":0.48`, `"bg_efficiency":0.48001`, a + `bg_efficiency is 0.48001, must have at most four decimals`},
		"half a process":      {`"processes":8`, `"processes":7.5`, `invalid JSON: line 4: jobs[2].processes: a whole number is wanted, 7.5 isn't one, or too large`},
		"missing":             {`"tiers":2,`, ``, `invalid JSON: line 4: the key "tiers" is missing`},
		"unknown key":         {`"fg_loss":0.04`, `"loss":0.04`, `invalid JSON: line 2: unknown key "jobs[0].loss"; known here: bg_efficiency, cpu, estimate_s, fg_loss, id, log, needs, processes, runtime_s, submit_s, weight`},
		"negative weight":     {`"weight":3`, `"weight":-1`, c + `weight is -1, must be 0 or from 1 to 1000000`},
		"weight too large":    {`"weight":3`, `"weight":1000001`, c + `weight is 1000001, must be 0 or from 1 to 1000000`},
		"half a weight":       {`"weight":3`, `"weight":0.5`, `invalid JSON: line 4: jobs[2].weight: a whole number is wanted, 0.5 isn't one, or too large`},
	}, decodes(model.DecodeInstance))
}

// Values that no file has: NaN and infinities, and too much of everything.
func TestBatchValidateNumbers(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for name, at := range map[string]func(*model.Batch) *float64{
			"threshold":     func(b *model.Batch) *float64 { return &b.Threshold },
			"migration_s":   func(b *model.Batch) *float64 { return &b.MigrationS },
			"submit_s":      func(b *model.Batch) *float64 { return &b.Jobs[1].SubmitS },
			"runtime_s":     func(b *model.Batch) *float64 { return &b.Jobs[1].RuntimeS },
			"estimate_s":    func(b *model.Batch) *float64 { return &b.Jobs[1].EstimateS },
			"cpu":           func(b *model.Batch) *float64 { return &b.Jobs[0].CPU[1] },
			"fg_loss":       func(b *model.Batch) *float64 { return &b.Jobs[1].FgLoss },
			"bg_efficiency": func(b *model.Batch) *float64 { return &b.Jobs[1].BgEfficiency },
		} {
			b := decodeInstance[*model.Batch](t, threeJobs)
			*at(b) = x
			require.Refused(t, name, b.Validate(), model.ErrInvalid, name)
		}
	}
	long := &model.Batch{Processors: 1, Tiers: 1}
	for k := range 21 {
		long.Jobs = append(long.Jobs, model.BatchJob{ID: string(rune('a' + k)), RuntimeS: 1e8, Processes: 1})
	}
	if err := long.Validate(); !errors.Is(err, model.ErrInvalid) || err.Error() != `invalid batch instance: jobs[20]: id "u": the jobs up to here keep all processors busy for 2.1e+09 s, the most is 2e+09` {
		t.Errorf("21 long jobs: %v", err)
	}
}

// Executions that don't fit the instance have no objective.
func TestBatchObjectiveRefuses(t *testing.T) {
	t.Parallel()
	b := decodeInstance[*model.Batch](t, threeJobs)
	checkChanges(t, threeExecuted, map[string]change{
		"unknown job": {`"id":"b"`, `"id":"x"`, `invalid solution: runs[2] is of "x", there is no such job`},
		"twice":       {`"id":"b"`, `"id":"a"`, `invalid solution: "a" runs twice; give its segments in one run`},
		"negative":    {`"start_s":40`, `"start_s":-40`, `invalid solution: "a" runs from -40 to 100, times must be from 0 to 1e+10`},
		"too late":    {`"end_s":100`, `"end_s":1e11`, `invalid solution: "a" runs from 40 to 1e+11, times must be from 0 to 1e+10`},
	}, func(t *testing.T, text string) error {
		_, err := b.Objective(decodeSolution[*model.Execution](t, text))
		return err
	})
	e := decodeSolution[*model.Execution](t, threeExecuted)
	e.Runs = e.Runs[1:]
	if _, err := b.Objective(e); !errors.Is(err, model.ErrInvalid) || err.Error() != `invalid solution: job "a" doesn't run` {
		t.Errorf("a job less: %v", err)
	}
	e.Runs[0].Segments = nil
	if _, err := b.Objective(e); !errors.Is(err, model.ErrInvalid) || !strings.HasPrefix(err.Error(), `invalid solution: the run of "c" has no segments`) {
		t.Errorf("no segments: %v", err)
	}
	require.Refused(t, "bookings", require.Err(b.Objective(&model.Bookings{})), model.ErrInvalid, "")
}

// All figures of one execution, worked out by hand.
func TestBatchObjective(t *testing.T) {
	t.Parallel()
	b, e := decodeInstance[*model.Batch](t, threeJobs), decodeSolution[*model.Execution](t, threeExecuted)
	check := func(want ...float64) {
		t.Helper()
		o, err := b.Objective(e)
		got := append([]float64{o.Value, o.Second}, o.Others...)
		if err != nil || o.Sense != model.Minimise || o.SecondSense != model.Minimise || len(got) != len(want) || len(got) != len(b.Metrics()) {
			t.Fatalf("%+v, error %v, want %v", o, err, want)
		}
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-12*math.Abs(want[k]) {
				t.Errorf("%s is %v, want %v", b.Metrics()[k].Key, got[k], want[k])
			}
		}
	}
	// c works for 50 s, its estimate, and has a weight in the first figure.
	check((100+1e-6+3*74.75)/5, (1+1+74.75/50)/3, (300+1e-6+400)/8, 1, 1, 0.5/3, 0.5)
	for k := range b.Jobs {
		b.Jobs[k].Weight = 7 * k // with one job of weight 1
	}
	check((100+7e-6+14*74.75)/22, (1+1+74.75/50)/3, (300+1e-6+400)/8, 1, 1, 0.5/3, 0.5)
	require.Same(t, "weights differ", "weighted mean response time", b.Metrics()[0].Name)
	for k := range b.Jobs {
		b.Jobs[k].Weight = model.MostWeight
	}
	require.Same(t, "equal weights", "mean response time", b.Metrics()[0].Name)
	check((100+1e-6+74.75)/3, (1+1+74.75/50)/3, (300+1e-6+400)/8, 1, 1, 0.5/3, 0.5)
	b.KillAtEstimate, b.Jobs[2].Weight = false, 0
	b.Jobs[0].Weight, b.Jobs[1].Weight = 1, 0
	check((100+1e-6+74.75)/3, (1+1+74.75/60)/3, (300+1e-6+480)/8, 1, 1, 0.5/3, 0.5)
	e.Runs[0].Segments[0].Lost = false // then its next segment is a migration
	check((100+1e-6+74.75)/3, (1+1+74.75/60)/3, (300+1e-6+480)/8, 2, 0, 0.5/3, 0.5)
	o, err := (&model.Batch{}).Objective(&model.Execution{})
	if err != nil || o.Value != 0 || o.Second != 1 || !math.IsNaN(o.Others[0]) {
		t.Errorf("without jobs: %+v, %v", o, err)
	}
}

// The sum of response times is exact where microseconds don't fit an int64.
func TestBatchObjectiveOfLongResponses(t *testing.T) {
	t.Parallel()
	b, e := &model.Batch{Processors: 1, Tiers: 1}, &model.Execution{}
	for k := range 4000 {
		id := string(rune('a'+k%26)) + strings.Repeat("x", k/26)
		b.Jobs = append(b.Jobs, model.BatchJob{ID: id, RuntimeS: 1, Processes: 1})
		e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: id, Segments: []model.Segment[model.BatchPlace]{{StartS: 7e9 - 1, EndS: 7e9}}})
	}
	if o, err := b.Objective(e); err != nil || o.Value != 7e9 || o.Second != 7e8 {
		t.Errorf("%+v, %v", o, err)
	}
	early := &model.Batch{Processors: 1, Tiers: 1}
	for k := range b.Jobs {
		b.Jobs[k].SubmitS = 1e9
		e.Runs[k].Segments[0] = model.Segment[model.BatchPlace]{}
	}
	early.Jobs = b.Jobs
	if o, err := early.Objective(e); err != nil || o.Value != -1e9 {
		t.Errorf("before the submission: %+v, %v", o, err)
	}
}

func TestProcessorList(t *testing.T) {
	t.Parallel()
	type list = model.ProcessorList
	for text, c := range map[string]struct {
		want   list
		string string // if not text
	}{
		"":              {list{}, ""},
		"0":             {list{0}, ""},
		"5,3-4":         {list{5, 3, 4}, ""},
		"4,3,2":         {list{4, 3, 2}, ""},
		"3-4,5":         {list{3, 4, 5}, "3-5"},
		"7-7":           {list{7}, "7"},
		"1,1":           {list{1, 1}, ""}, // for the judge to find
		"0-2,1-2":       {list{0, 1, 2, 1, 2}, ""},
		"000000007-010": {list{7, 8, 9, 10}, "7-10"},
		"9999999":       {list{9_999_999}, ""},
	} {
		got := list{1, 2} // earlier contents go
		if err := got.UnmarshalText([]byte(text)); err != nil || !slices.Equal(got, c.want) || got == nil {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
		if c.string == "" {
			c.string = text
		}
		if back, err := got.MarshalText(); err != nil || string(back) != c.string || got.String() != c.string {
			t.Errorf("%q is written as %q, %v", text, back, err)
		}
	}
	require.Same(t, "the text of no list", "", list(nil).String())
	for _, text := range []string{" ", ",", "1,", ",1", "-", "1-", "-1", "1-2-3", "+1", "1-+2", "1_0", "0x1", "1, 2", "1 ", "1.0", "2-1", "10000000", "99999999999999999999", "٣"} {
		got := list{1}
		if err := got.UnmarshalText([]byte(text)); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "is neither a number nor an ascending range like 0-31") || !slices.Equal(got, list{1}) {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
	if err := new(list).UnmarshalText([]byte("0-9999999,1")); !errors.Is(err, model.ErrInvalid) || err.Error() != "invalid processor list: more than 10000000 processors" {
		t.Errorf("too many processors: %v", err)
	}
}

// Lists of any numbers are the same again after writing and reading.
func TestProcessorListRoundTrip(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 42))
	for range require.Rounds(20_000) {
		var l model.ProcessorList
		for range rng.IntN(12) {
			if n := len(l); n > 0 && rng.IntN(2) == 0 {
				l = append(l, l[n-1]+1)
			} else {
				l = append(l, rng.Int32N(20))
			}
		}
		var back model.ProcessorList
		if err := back.UnmarshalText([]byte(l.String())); err != nil || !slices.Equal(l, back) {
			t.Fatalf("%v is written as %q and read as %v, %v", []int32(l), l, []int32(back), err)
		}
	}
}

// The weighted mean is exact but for its roundings where the sum is far beyond 64
// bits, and Mean is it to the last bit.
func TestBatchWeightedSums(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 48))
	for range require.Rounds(500) {
		b := &model.Batch{Processors: 1, Tiers: 1}
		e := &model.Execution{}
		sum, weights := new(big.Int), int64(0)
		for k := range 1 + rng.IntN(30) {
			w := 1 + rng.Int64N(model.MostWeight)
			submit, end := rng.Int64N(1e6), rng.Int64N(1<<rng.IntN(53))
			b.Jobs = append(b.Jobs, model.BatchJob{ID: string(rune('A' + k)), SubmitS: float64(submit) / 1e6, RuntimeS: 1, Processes: 1, Weight: int(w)})
			e.Runs = append(e.Runs, model.Run[model.BatchPlace]{ID: b.Jobs[k].ID, Segments: []model.Segment[model.BatchPlace]{{EndS: float64(end) / 1e6}}})
			sum.Add(sum, new(big.Int).Mul(big.NewInt(end-submit), big.NewInt(w))) // below 0, too
			weights += w
		}
		want, _ := new(big.Rat).SetFrac(sum, big.NewInt(weights*1e6)).Float64()
		o, err := b.Objective(e)
		if err != nil || math.Abs(o.Value-want) > 1e-15*math.Abs(want) {
			t.Fatalf("%v, %v, want %v: %+v", err, o.Value, want, b)
		}
		if sum.IsInt64() && math.Abs(float64(sum.Int64())) < 1<<61 {
			require.Same(t, fmt.Sprintf("Mean of %v", sum), o.Value, view.OfBatch(b).Mean(sum.Int64(), 1))
		}
	}
	x := &model.Batch{Jobs: make([]model.BatchJob, 1)}
	require.Same(t, "Mean of 2^61 times 2^50", float64(0x1p111/1e6), view.OfBatch(x).Mean(1<<61, 1<<50))
}

// The integer view, worked out by hand and on random instances.
func TestBatchTicks(t *testing.T) {
	t.Parallel()
	b := decodeInstance[*model.Batch](t, threeJobs)
	want := &view.Batch{Processors: 8, Tiers: 2, Threshold: 9000, Migration: 20e6, KillAtEstimate: true, Jobs: []view.BatchJob{
		{Submit: 0, Runtime: 100e6, Estimate: 200.5e6, Length: 100e6, Processes: 3, Weight: 1, Use: []int64{5000, 2500, 10000}, Foreground: 9600, Efficiency: 4800},
		{Submit: 5.5e6, Runtime: 1, Estimate: 1, Length: 1, Processes: 1, Weight: 1, Use: []int64{9999}, Foreground: 10000, Efficiency: 0},
		{Submit: 5.5e6, Runtime: 60e6, Estimate: 50e6, Length: 50e6, Processes: 8, Weight: 3, Use: []int64{10000}, Foreground: 10000, Efficiency: 10000},
	}}
	require.Same(t, "ofbatch b", want, view.OfBatch(b))
	b.Tiers, b.KillAtEstimate, b.Threshold = 1, false, 0
	one := view.OfBatch(b)
	if one.Jobs[0].Foreground != 10000 || one.Jobs[2].Length != 60e6 || one.Threshold != 9600 {
		t.Errorf("on one tier: %+v", one)
	}
	j := want.Jobs[0]
	for _, c := range []struct{ use, idle, rate int64 }{
		{5000, 5000, 4800}, {5000, 10000, 4800}, {5000, 4999, 4799}, {5000, 2500, 2400}, {3, 1, 1600}, {10000, 1, 0}, {10000, 3, 1}, {1, 0, 0}, {1, -1, 0},
	} {
		require.Same(t, fmt.Sprintf("the rate of a use of %d with %d idle", c.use, c.idle), c.rate,
			j.BackgroundRate(c.use, c.idle))
	}
	if j.Work() != 100e10 || j.CPU(2) != 10000 || want.Jobs[2].CPU(7) != 10000 {
		t.Errorf("work %d, uses %d and %d", j.Work(), j.CPU(2), want.Jobs[2].CPU(7))
	}
	rng := rand.New(rand.NewPCG(12, 43))
	for range require.Rounds(2000) {
		b := testkit.RandomBatch(rng, 1+rng.IntN(2), 8, 10)
		require.OK(t, b.Validate())
		sameBatchTicks(t, b)
	}
}

// sameBatchTicks checks that the integer view equals the instance.
func sameBatchTicks(t *testing.T, b *model.Batch) {
	t.Helper()
	ticks := view.OfBatch(b)
	share := func(n int64) float64 { return float64(n) / view.FullRate }
	if share(ticks.Threshold) != b.EffectiveThreshold() || ticks.Seconds(ticks.Migration) != b.MigrationS || len(ticks.Jobs) != len(b.Jobs) {
		t.Fatalf("%+v isn't %+v", ticks, b)
	}
	for k := range b.Jobs {
		j, x := &b.Jobs[k], &ticks.Jobs[k]
		same := ticks.Seconds(x.Submit) == j.SubmitS && ticks.Seconds(x.Runtime) == j.RuntimeS && ticks.Seconds(x.Estimate) == j.Estimate() &&
			ticks.Seconds(x.Length) == b.Work(k) && x.Weight >= 1 && (x.Weight == int64(j.Weight) || j.Weight == 0 && x.Weight == 1) && share(x.Efficiency) == j.BgEfficiency
		if b.Tiers == 2 {
			same = same && share(view.FullRate-x.Foreground) == j.FgLoss
		}
		for i := range min(j.Processes, 100) {
			same = same && share(x.CPU(i)) == j.Use(i)
		}
		if !same {
			t.Fatalf("%+v isn't %+v", x, j)
		}
	}
}

// A decoded instance is valid, has the same ticks, and the figures of any execution are finite or refused.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(threeJobs), []byte(threeExecuted))
	f.Add([]byte(strings.Replace(threeJobs, `"tiers":2`, `"tiers":1`, 1)), []byte(strings.Replace(threeExecuted, `"1-7,0"`, `""`, 1)))
	f.Fuzz(func(t *testing.T, instance, solution []byte) {
		in, err := model.DecodeInstance(instance)
		if err != nil {
			return
		}
		b, ok := in.(*model.Batch)
		if !ok || len(b.Jobs) > 100 {
			return
		}
		sameBatchTicks(t, b)
		s, err := model.DecodeSolution(solution)
		if err != nil {
			return
		}
		o, err := b.Objective(s)
		if err == nil && (math.IsNaN(o.Value) || math.IsInf(o.Value, 0) || math.IsNaN(o.Second) || math.IsInf(o.Second, 0)) {
			t.Fatalf("objective %+v", o)
		}
	})
}

// A parsed list of processors is written so that it can be read again, and the published pattern accepts it. A list
// that is refused although the pattern accepts it fails by the order of its numbers or by their number.
func FuzzProcessorList(f *testing.F) {
	for _, text := range []string{"", "0", "0-31,64,70-71", "5,3-4", "7-6", "1,1", "007", "0-9999999", "10000000", "1-2-3", ",", "-1", "1,-", "0-9999999,1"} {
		f.Add(text)
	}
	number := `0*[0-9]{1,7}`
	part := number + `(-` + number + `)?`
	pattern := regexp.MustCompile(`\A(` + part + `(,` + part + `)*)?\z`)
	f.Fuzz(func(t *testing.T, text string) {
		var l, back model.ProcessorList
		err := l.UnmarshalText([]byte(text))
		if err != nil {
			require.Refused(t, "error", err, model.ErrInvalid, "")
			if pattern.MatchString(text) && !strings.Contains(text, "-") {
				t.Errorf("%q is refused: %v", text, err)
			}
			return
		}
		if !pattern.MatchString(text) {
			t.Errorf("%q is read, the pattern refuses it", text)
		}
		if err := back.UnmarshalText([]byte(l.String())); err != nil || !slices.Equal(l, back) {
			t.Errorf("%q is written as %q and read as %d processors, %v", text, l, len(back), err)
		}
	})
}
