// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func batchOf(t *testing.T, parameters string, args ...any) *model.Batch {
	t.Helper()
	s := NewBatchSpec()
	s.Seed = 1
	set(t, &s, fmt.Sprintf(parameters, args...))
	return require.Value(s.Generate())(t)
}

// offeredBatch returns the offered load of an instance.
func offeredBatch(in *model.Batch) float64 {
	work := 0.0
	for _, j := range in.Jobs {
		work += float64(j.Processes) * j.RuntimeS
	}
	return work / float64(in.Processors) / (in.Jobs[len(in.Jobs)-1].SubmitS - in.Jobs[0].SubmitS)
}

// Load changes the submissions alone, by one ratio; every other parameter changes only its own values.
func TestBatchPaired(t *testing.T) {
	for _, m := range BatchModels {
		base := batchOf(t, "model=%v jobs=300", m)
		if got := offeredBatch(base); math.Abs(got-0.7) > 1e-6 {
			t.Errorf("%s: offered load %v, want 0.7", m, got)
		}
		for name, c := range map[string]struct {
			parameters string
			but        []string // fields of jobs that may differ
		}{
			"load":        {"load=1.1", []string{"SubmitS"}},
			"tiers":       {"tiers=1", nil},
			"migration":   {"migration_s=900", nil},
			"threshold":   {"threshold=1.01", nil},
			"kill":        {"kill=yes", nil},
			"estimates":   {"user_estimates=exact", []string{"EstimateS"}},
			"cpu":         {"cpu_min=1", []string{"CPU"}},
			"cpu process": {"cpu=process", []string{"CPU"}},
			"efficiency":  {"efficiency=0.6 efficiency_sd=0.05", []string{"BgEfficiency"}},
		} {
			in := batchOf(t, "model=%v jobs=300 "+c.parameters, m)
			if in.Name == base.Name {
				t.Errorf("%s, %s: both instances are called %s", m, name, in.Name)
			}
			require.Same(t, fmt.Sprintf("%s, %s", m, name), base.Jobs, in.Jobs,
				cmpopts.IgnoreFields(model.BatchJob{}, c.but...))
			if len(c.but) > 0 && cmp.Equal(base.Jobs, in.Jobs) {
				t.Errorf("%s, %s: nothing changes", m, name)
			}
			if name == "load" {
				for k := range in.Jobs {
					if got, want := in.Jobs[k].SubmitS, base.Jobs[k].SubmitS*0.7/1.1; math.Abs(got-want) > 0.002 {
						t.Fatalf("%s: job %d is submitted at %v, want %v", m, k, got, want)
					}
				}
			}
		}
		// Fewer jobs are the first of more, except for the load and the estimates.
		few := batchOf(t, "model=%v jobs=100", m)
		require.Same(t, fmt.Sprintf("%s: (-100 of 300 jobs +100 jobs)", m), base.Jobs[:100], few.Jobs,
			cmpopts.IgnoreFields(model.BatchJob{}, "SubmitS", "EstimateS"))
		if other := batchOf(t, "model=%v jobs=300 index=1", m); cmp.Equal(base.Jobs, other.Jobs) {
			t.Errorf("%s: instance 1 is instance 0", m)
		}
	}
}

// CPU uses, losses and efficiencies have the paper's distributions. Job arrays are equal jobs except for their names;
// the last one may be short.
func TestBatchArrays(t *testing.T) {
	s := NewBatchSpec()
	s.Jobs, s.Arrays, s.Seed = 10, 4, 3
	in := require.Value(s.Generate())(t)
	if len(in.Jobs) != 10 {
		t.Fatalf("%d jobs, want 10", len(in.Jobs))
	}
	for k := range in.Jobs {
		x, first := in.Jobs[k], in.Jobs[k-k%4]
		if x.ID = first.ID; !reflect.DeepEqual(x, first) {
			t.Errorf("job %d is %+v, the first of its array %+v", k, x, first)
		}
	}
	if reflect.DeepEqual(in.Jobs[0].RuntimeS, in.Jobs[4].RuntimeS) && in.Jobs[0].SubmitS == in.Jobs[4].SubmitS {
		t.Error("two arrays are alike")
	}
}

func TestBatchTraits(t *testing.T) {
	const n = 50_000
	in := batchOf(t, "jobs=%v", n)
	one := func(want bool) *model.Batch {
		return &model.Batch{Jobs: slices.DeleteFunc(slices.Clone(in.Jobs), func(j model.BatchJob) bool { return (j.Processes == 1) != want })}
	}
	single, several := one(true), one(false)
	loss := func(j model.BatchJob) float64 { return j.FgLoss }
	efficiency := func(j model.BatchJob) float64 { return j.BgEfficiency }
	use := func(j model.BatchJob) float64 { return j.Use(0) }
	uniform := func(what string, in *model.Batch, figure func(model.BatchJob) float64, low, high float64) {
		t.Helper()
		mean, sd := moments(in.Jobs, figure)
		wantSD := (high - low) / math.Sqrt(12)
		if math.Abs(mean-(low+high)/2) > 5*wantSD/math.Sqrt(float64(len(in.Jobs))) || math.Abs(sd/wantSD-1) > 0.05 {
			t.Errorf("%s is %v ± %v, want uniform from %v to %v", what, mean, sd, low, high)
		}
		for _, j := range in.Jobs {
			if x := figure(j); x < low || x > high {
				t.Fatalf("%s is %v, want from %v to %v", what, x, low, high)
			}
		}
	}
	uniform("loss", in, loss, 0.005, 0.04)
	uniform("efficiency of one process", single, efficiency, 0.80, 0.92)
	uniform("CPU use", several, use, 0.4, 1)
	if _, sd := moments(single.Jobs, use); sd > 1e-12 || single.Jobs[0].Use(0) != 1 {
		t.Errorf("single processes use %v ± %v, want 1", single.Jobs[0].Use(0), sd)
	}
	// The normal distribution is clipped at 2.35 and 2.38 standard deviations.
	mean, sd := moments(several.Jobs, efficiency)
	if math.Abs(mean-0.48) > 0.003 || sd > 0.12 || sd < 0.112 {
		t.Errorf("efficiency of several processes is %v ± %v, want 0.48 ± 0.12, clipped", mean, sd)
	}
	least, most := 0.0, 0.0
	for _, j := range several.Jobs {
		switch {
		case j.BgEfficiency < 0.198 || j.BgEfficiency > 0.766:
			t.Fatalf("efficiency %v isn't clipped", j.BgEfficiency)
		case j.BgEfficiency == 0.198:
			least++
		case j.BgEfficiency == 0.766:
			most++
		}
	}
	for what, share := range map[string]float64{"lower": least, "upper": most} {
		if share /= float64(len(several.Jobs)); math.Abs(share-0.009) > 0.003 {
			t.Errorf("a share of %v of the efficiencies is at the %s end, want 0.009", share, what)
		}
	}
	each := batchOf(t, "jobs=2000 cpu=process cpu_min=0.2 cpu_max=0.5")
	for _, j := range each.Jobs {
		if j.Processes > 1 && len(j.CPU) != j.Processes || slices.ContainsFunc(j.CPU, func(x float64) bool { return x < 0.2 || x > 0.5 }) {
			t.Fatalf("%d processes use %v", j.Processes, j.CPU)
		}
	}
}

func TestBatchRefuses(t *testing.T) {
	for want, parameters := range map[string]string{
		"jobs is 0, must be at least 1 without a log": "jobs=0",
		"jobs is -1":                                 "jobs=-1",
		"processors is -4, must be from 1 to":        "processors=-4",
		"tiers is 3, must be 1 or 2":                 "tiers=3",
		"load is NaN":                                "load=NaN",
		"load is 0.0001, must be from 0.001 to 1000": "load=0.0001",
		`model is "x", must be one of ["feitelson" "jann" "lublin"]`:        "model=x",
		`user_estimates is "log", a workload model has none`:                "user_estimates=log",
		`cpu is "full", must be one of ["job" "process"]`:                   "cpu=full",
		`kill is "", must be one of ["no" "yes"]`:                           "kill=",
		"CPU uses are from 0.5 to 0.4":                                      "cpu_min=0.5 cpu_max=0.4",
		"the efficiency is 1.5 ± 0.12, both must be from 0 to 1":            "efficiency=1.5",
		"longest_h is 1, must be from 2 to 10,000":                          "longest_h=1",
		"mean_runtime is 172800, must be from 1 to below longest_h":         "mean_runtime=172800",
		"serial is 1, must be from 0 to below 1":                            "serial=1",
		"serial and mean_size go with the models feitelson and jann":        "model=lublin serial=0.3",
		"the others would have 399.8 processes on average, must be above 2": "mean_size=200 serial=0.501",
		"mean_size is 2, there is one size":                                 "mean_size=2 processors=1",
		"log is standard input, give a file":                                "log=-",
		"runtime_ratio is 0.5, must be from 1 to 10^6":                      "runtime_ratio=0.5",
		"largest goes with the model jann":                                  "largest=320",
		"largest is 64, must be at least 65":                                "model=jann largest=64",
		"arrays is -1, must be at least 1":                                  "arrays=-1",
		"threshold is 3, must be above 0":                                   "threshold=3",
		"migration_s is -1":                                                 "migration_s=-1",
	} {
		s := NewBatchSpec()
		set(t, &s, parameters)
		require.Refused(t, want, require.Err(s.Generate()), model.ErrInvalid, want)
	}
}

func TestBatchFromSWF(t *testing.T) {
	job := func(id string, submit, runtime, estimate float64, processes int) model.BatchJob {
		return model.BatchJob{ID: id, SubmitS: submit, RuntimeS: runtime, EstimateS: estimate, Processes: processes}
	}
	s := NewBatchSpec()
	in, _ := require.Pair(s.fromSWF("n", readLog(t, smallLog), SWFJobs{Seed: 1}))(t)
	account := model.AccountOf(in)
	model.SetAccount(in, nil)
	want := &model.Batch{Name: "n", Processors: 16, Tiers: 1, MigrationS: 20, Jobs: []model.BatchJob{job("1", 0, 1, 0, 4), job("2", 10, 60, 120, 4),
		job("3", 20, 50, 40, 2), job("5", 35, 80, 80, 1), job("4", 40, 70, 0, 16), job("record-10", 71, 30, 0, 8)}}
	for k := range want.Jobs {
		want.Jobs[k].Log = &model.JobLog{User: "1", Group: "1", Executable: "1", Queue: "1", Status: "completed"}
	}
	if d := cmp.Diff(want, in); d != "" { // on one tier nothing is drawn
		t.Errorf("(-want +got)\n%s", d)
	}
	drawn := s
	drawn.Tiers = 2
	two, _ := require.Pair(drawn.fromSWF("n", readLog(t, smallLog), SWFJobs{Seed: 7}))(t)
	if j := two.(*model.Batch).Jobs[0]; j.FgLoss == 0 || len(j.CPU) == 0 || j.BgEfficiency == 0 {
		t.Errorf("on two tiers %+v has no traits", j)
	}
	told := model.AccountOf(two).Assumed.String()
	for _, want := range []string{"drawn with seed 7", "CPU uses from 0.4 to 1", "0.48 ± 0.12", "a migration costs 20 s"} {
		if !strings.Contains(told, want) {
			t.Errorf("%v doesn't say %q", told, want)
		}
	}
	require.Same(t, "account", []string{"log: Standard Workload Format, taken: 6 jobs, 16 processors",
		"left out: 1 job larger than the machine (6); 1 job without processors (7); 1 job without a submit time (8); 1 job without a runtime (9)",
		"assumed: 1 job with a runtime of 0, which becomes 1 s; 3 jobs without an estimate, which is their runtime",
		"note: 1 job submitted before an earlier one of the log, put in order", "note: 1 job longer than the estimate"}, account.Lines())
	s.Kill = "yes"
	killed, _ := require.Pair(s.fromSWF("n", readLog(t, smallLog), SWFJobs{Seed: 1}))(t)
	if told := model.AccountOf(killed); !strings.Contains(told.Assumed.String(), "1 job cut at the estimate") || len(told.Remarks) != 1 {
		t.Errorf("with jobs killed: %v", told)
	}
	s.Processors = 8
	_, _, err := s.fromSWF("n", readLog(t, smallLog), SWFJobs{RefuseLarge: true})
	if err == nil || !errors.Is(err, model.ErrInvalid) || err.Error() != "invalid SWF: line 6: job 4 needs 16 processors, the machine has 8" {
		t.Errorf("error %v about a job that is larger than the machine", err)
	}
	long := smallLog + "11 2000000000 -1 30 8 -1 -1 -1 0 -1 1 1 1 1 1 -1 -1 -1\n"
	if _, _, err = s.fromSWF("n", readLog(t, long), SWFJobs{}); !errors.Is(err, model.ErrInvalid) || !strings.HasPrefix(err.Error(), "line 13: invalid") || !strings.Contains(err.Error(), `id "11": submit_s is 1.99999991e+09`) {
		t.Errorf("error %v about a late job", err)
	}
	if _, _, err = s.fromSWF("n", &swf.Log{Jobs: readLog(t, long).Jobs}, SWFJobs{RefuseLarge: true}); err == nil || err.Error() != "invalid SWF: job 4 needs 16 processors, the machine has 8" {
		t.Errorf("error %v about a log without lines", err)
	}
	for want, o := range map[string]SWFJobs{"its estimates are chosen by user_estimates": {Estimate: true}, "mean nothing to batch": {Cancelled: 0.1}} {
		if _, _, err := s.fromSWF("n", readLog(t, smallLog), o); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// For any log and options the instance is valid, all jobs are accounted for, each keeps its processes and runtime, and
// the load is as asked for.
func TestBatchFromSWFProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := &swf.Log{}
		for k := range rapid.IntRange(1, 40).Draw(t, "jobs") {
			time := rapid.Map(rapid.IntRange(-1, 5000), func(n int) float64 { return float64(n) })
			log.Jobs = append(log.Jobs, swf.Job{Number: int64(k), Submit: time.Draw(t, "submit"), Runtime: time.Draw(t, "runtime"),
				Procs: rapid.Int64Range(-1, 10).Draw(t, "procs"), RequestedProcs: rapid.Int64Range(-1, 10).Draw(t, "requested"), RequestedTime: time.Draw(t, "estimate")})
		}
		s := NewBatchSpec()
		s.Processors, s.Load = 8, rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "load")
		s.Estimates, s.Kill = rapid.SampledFrom(append(batchEstimates, "")).Draw(t, "estimates"), rapid.SampledFrom([]string{"no", "yes"}).Draw(t, "kill")
		s.CPU, s.Tiers = rapid.SampledFrom(batchUses).Draw(t, "cpu"), rapid.IntRange(1, 2).Draw(t, "tiers")
		usable := slices.ContainsFunc(log.Jobs, func(j swf.Job) bool { return j.Submit >= 0 && j.Size() >= 1 && j.Size() <= 8 && j.Runtime >= 0 })
		made, _, err := s.fromSWF("n", log, SWFJobs{Seed: rapid.Uint64().Draw(t, "seed")})
		if !usable && errors.Is(err, model.ErrInvalid) {
			return
		}
		if err != nil || !usable {
			t.Fatalf("a usable job: %v; error %v", usable, err)
		}
		in := made.(*model.Batch)
		if float64(len(in.Jobs))+leftOut(in.Account) != float64(len(log.Jobs)) || in.Jobs[0].SubmitS != 0 {
			t.Fatalf("%v; the first job is submitted at %v", in.Account.Lines(), in.Jobs[0].SubmitS)
		}
		if last := in.Jobs[len(in.Jobs)-1].SubmitS; s.Load > 0 && last > 1 && math.Abs(offeredBatch(in)/s.Load-1) > 0.001 {
			t.Fatalf("load %v, want %v", offeredBatch(in), s.Load)
		}
		for _, j := range in.Jobs {
			of := log.Jobs[mustInt(t, j.ID)]
			if j.RuntimeS != max(1, of.Runtime) || j.Processes != int(of.Size()) {
				t.Fatalf("%+v of %+v", j, of)
			}
			switch want := max(0, of.RequestedTime); {
			case s.Estimates == estimatesExact && j.EstimateS != 0, s.Estimates == estimatesTsafrir && j.EstimateS < j.RuntimeS,
				(s.Estimates == estimatesLog || s.Estimates == "") && j.EstimateS != want:
				t.Fatalf("estimates %q: %+v of %+v", s.Estimates, j, of)
			}
		}
	})
}

// The real logs, whole: sizes, loads, and the texts of their reports.
func TestBatchOfLogs(t *testing.T) {
	for _, c := range []struct {
		log        string
		processors int
		load       float64
		said       string
	}{
		{"KTH-SP2-1996-2.1-cln", 100, 0.701, "28,475 jobs|1 job without processors|8 jobs with a runtime of 0, which becomes 1 s|475 jobs longer than the estimate"},
		{"NASA-iPSC-1993-3.1-cln", 128, 0.466, "18,239 jobs|173 jobs with a runtime of 0, which becomes 1 s|18,239 jobs without an estimate, which is their runtime|" +
			"the log's submit times are really start times"},
		{"LANL-CM5-1994-4.1-cln", 1024, 0.744, "122,057 jobs|3 jobs without processors|2 jobs with a runtime of 0, which becomes 1 s|" +
			"40,180 jobs longer than the estimate|11,287 jobs without an estimate, which is their runtime"},
	} {
		t.Setenv("GAPWISE_DATA", filepath.Dir(filepath.Dir(require.Data(t, "swf", c.log+".swf.gz"))))
		in := batchOf(t, "log=%v jobs=0", c.log)
		if got := offeredBatch(in); in.Processors != c.processors || math.Abs(got-c.load) > 0.001 {
			t.Errorf("%s: %d processors, load %v, want %d, %v", in.Name, in.Processors, got, c.processors, c.load)
		}
		log := require.Value(LoadLog(c.log, LogOptions{}))(t)
		s := NewBatchSpec()
		made, _ := require.Pair(s.fromSWF("n", log, SWFJobs{}))(t)
		lines := strings.Join(model.AccountOf(made).Lines(), "; ")
		for part := range strings.SplitSeq(c.said, "|") {
			if !strings.Contains(lines, part) {
				t.Errorf("%s: %s, want %q", c.log, lines, part)
			}
		}
		scaled := batchOf(t, "log=%v jobs=1000 load=0.9 user_estimates=tsafrir", c.log)
		if got := offeredBatch(scaled); math.Abs(got-0.9) > 1e-4 {
			t.Errorf("%s: load %v, want 0.9", scaled.Name, got)
		}
		for _, j := range scaled.Jobs {
			if j.EstimateS < j.RuntimeS {
				t.Fatalf("%s: job %s is estimated at %v and runs %v", scaled.Name, j.ID, j.EstimateS, j.RuntimeS)
			}
		}
	}
}

func BenchmarkBatchSpec(b *testing.B) {
	for _, m := range BatchModels {
		for _, n := range []int{2_000, 20_000, 200_000} {
			s := NewBatchSpec()
			s.Model, s.Jobs = m, n
			b.Run(fmt.Sprintf("%s/jobs=%d", m, n), func(b *testing.B) {
				for b.Loop() {
					require.OK(b, require.Err(s.Generate()))
				}
			})
		}
	}
}

// Any log, with any options, gives an error of one line that wraps ErrInvalid, or a valid instance and a report that
// adds up. All jobs of the instance fit.
func FuzzBatchFromSWF(f *testing.F) {
	const line = " 0 -1 10 4 -1 -1 4 20 -1 1 1 1 1 1 -1 -1 -1\n"
	f.Add([]byte("; MaxProcs: 4\n1"+line+"2"+line), 0, 0, 0, 0.0, uint8(0))
	f.Add([]byte("; MaxNodes: 2\n1"+line+"2 5 -1 0 1 -1 -1 1 -1 -1 1 1 1 1 1 -1 -1 -1\n3 2 -1 7 2 -1 -1 2 5 -1 1 1 1 1 1 -1 -1 -1\n"), 0, 1, 1, 0.7, uint8(0b1011))
	f.Add([]byte("1"+line+"1"+line), 4, 2, 0, 1e3, uint8(0b110))
	f.Add([]byte("1 9999999999999 -1 1e9 4 -1 -1 4 20 -1 1 1 1 1 1 -1 -1 -1\n"), 1<<20, -1, 0, 1e-3, uint8(0b10100))
	f.Fuzz(func(t *testing.T, text []byte, processors, skip, first int, load float64, flags uint8) {
		log, err := swf.ReadAll(bytes.NewReader(text))
		if err != nil || len(log.Jobs) > 100 {
			return
		}
		s := NewBatchSpec()
		s.Processors, s.Load, s.Tiers = processors, load, 1+int(flags>>2&1)
		s.Kill = []string{"no", "yes"}[flags>>1&1]
		s.Estimates = []string{"", estimatesExact, estimatesTsafrir, estimatesLog}[flags>>3&3]
		in, _, err := s.fromSWF("log", log, SWFJobs{Skip: skip, First: first, RefuseLarge: flags&1 == 1, Seed: 1})
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("error %q", err)
			}
			return
		}
		require.OK(t, in.Validate())
		b := in.(*model.Batch)
		if n := float64(len(b.Jobs)) + leftOut(b.Account); n != float64(len(log.Jobs)) {
			t.Fatalf("%d of %d jobs, %v", len(b.Jobs), len(log.Jobs), b.Account.Lines())
		}
	})
}
