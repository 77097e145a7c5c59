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

func batchOf(t *testing.T, edit func(*BatchSpec)) *model.Batch {
	t.Helper()
	s := NewBatchSpec()
	s.Seed = 1
	edit(&s)
	in, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// offeredBatch returns the offered load of an instance.
func offeredBatch(in *model.Batch) float64 {
	work := 0.0
	for _, j := range in.Jobs {
		work += float64(j.Processes) * j.RuntimeS
	}
	return work / float64(in.Processors) / (in.Jobs[len(in.Jobs)-1].SubmitS - in.Jobs[0].SubmitS)
}

// over returns the mean and the standard deviation of a figure of jobs.
func over(in *model.Batch, figure func(model.BatchJob) float64) (mean, deviation float64) {
	n := float64(len(in.Jobs))
	for _, j := range in.Jobs {
		mean += figure(j) / n
	}
	for _, j := range in.Jobs {
		deviation += (figure(j) - mean) * (figure(j) - mean) / n
	}
	return mean, math.Sqrt(deviation)
}

// Load changes the submissions alone, by one ratio; every other parameter changes only its own values.
func TestBatchPaired(t *testing.T) {
	for _, m := range BatchModels {
		base := batchOf(t, func(s *BatchSpec) { s.Model, s.Jobs = m, 300 })
		if got := offeredBatch(base); math.Abs(got-0.7) > 1e-6 {
			t.Errorf("%s: offered load %v, want 0.7", m, got)
		}
		for name, c := range map[string]struct {
			edit func(*BatchSpec)
			but  []string // fields of jobs that may differ
		}{
			"load":        {func(s *BatchSpec) { s.Load = 1.1 }, []string{"SubmitS"}},
			"tiers":       {func(s *BatchSpec) { s.Tiers = 1 }, nil},
			"migration":   {func(s *BatchSpec) { s.MigrationS = 900 }, nil},
			"threshold":   {func(s *BatchSpec) { s.Threshold = 1.01 }, nil},
			"kill":        {func(s *BatchSpec) { s.Kill = "yes" }, nil},
			"estimates":   {func(s *BatchSpec) { s.Estimates = estimatesExact }, []string{"EstimateS"}},
			"cpu":         {func(s *BatchSpec) { s.CPUMin = 1 }, []string{"CPU"}},
			"cpu process": {func(s *BatchSpec) { s.CPU = useOfProcess }, []string{"CPU"}},
			"efficiency":  {func(s *BatchSpec) { s.Efficiency, s.EfficiencySD = 0.6, 0.05 }, []string{"BgEfficiency"}},
		} {
			in := batchOf(t, func(s *BatchSpec) { s.Model, s.Jobs = m, 300; c.edit(s) })
			if in.Name == base.Name {
				t.Errorf("%s, %s: both instances are called %s", m, name, in.Name)
			}
			if d := cmp.Diff(base.Jobs, in.Jobs, cmpopts.IgnoreFields(model.BatchJob{}, c.but...)); d != "" {
				t.Errorf("%s, %s: (-base +got)\n%s", m, name, d)
			}
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
		few := batchOf(t, func(s *BatchSpec) { s.Model, s.Jobs = m, 100 })
		if d := cmp.Diff(base.Jobs[:100], few.Jobs, cmpopts.IgnoreFields(model.BatchJob{}, "SubmitS", "EstimateS")); d != "" {
			t.Errorf("%s: (-100 of 300 jobs +100 jobs)\n%s", m, d)
		}
		if other := batchOf(t, func(s *BatchSpec) { s.Model, s.Jobs, s.Index = m, 300, 1 }); cmp.Equal(base.Jobs, other.Jobs) {
			t.Errorf("%s: instance 1 is instance 0", m)
		}
	}
}

// CPU uses, losses and efficiencies have the paper's distributions. Job arrays are equal jobs except for their names;
// the last one may be short.
func TestBatchArrays(t *testing.T) {
	t.Parallel()
	s := NewBatchSpec()
	s.Jobs, s.Arrays, s.Seed = 10, 4, 3
	in, err := s.Generate()
	if err != nil {
		t.Fatal(err)
	}
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
	in := batchOf(t, func(s *BatchSpec) { s.Jobs = n })
	one := func(want bool) *model.Batch {
		return &model.Batch{Jobs: slices.DeleteFunc(slices.Clone(in.Jobs), func(j model.BatchJob) bool { return (j.Processes == 1) != want })}
	}
	single, several := one(true), one(false)
	loss := func(j model.BatchJob) float64 { return j.FgLoss }
	efficiency := func(j model.BatchJob) float64 { return j.BgEfficiency }
	use := func(j model.BatchJob) float64 { return j.Use(0) }
	uniform := func(what string, in *model.Batch, figure func(model.BatchJob) float64, low, high float64) {
		t.Helper()
		mean, sd := over(in, figure)
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
	if _, sd := over(single, use); sd > 1e-12 || single.Jobs[0].Use(0) != 1 {
		t.Errorf("single processes use %v ± %v, want 1", single.Jobs[0].Use(0), sd)
	}
	// The normal distribution is clipped at 2.35 and 2.38 standard deviations.
	mean, sd := over(several, efficiency)
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
	each := batchOf(t, func(s *BatchSpec) { s.Jobs, s.CPU, s.CPUMin, s.CPUMax = 2000, useOfProcess, 0.2, 0.5 })
	for _, j := range each.Jobs {
		if j.Processes > 1 && len(j.CPU) != j.Processes || slices.ContainsFunc(j.CPU, func(x float64) bool { return x < 0.2 || x > 0.5 }) {
			t.Fatalf("%d processes use %v", j.Processes, j.CPU)
		}
	}
}

func TestBatchRefuses(t *testing.T) {
	for want, edit := range map[string]func(*BatchSpec){
		"jobs is 0, must be at least 1 without a log": func(s *BatchSpec) { s.Jobs = 0 },
		"jobs is -1":                                 func(s *BatchSpec) { s.Jobs = -1 },
		"processors is -4, must be from 1 to":        func(s *BatchSpec) { s.Processors = -4 },
		"tiers is 3, must be 1 or 2":                 func(s *BatchSpec) { s.Tiers = 3 },
		"load is NaN":                                func(s *BatchSpec) { s.Load = math.NaN() },
		"load is 0.0001, must be from 0.001 to 1000": func(s *BatchSpec) { s.Load = 0.0001 },
		`model is "x", must be one of ["feitelson" "jann" "lublin"]`:        func(s *BatchSpec) { s.Model = "x" },
		`user_estimates is "log", a workload model has none`:                func(s *BatchSpec) { s.Estimates = estimatesLog },
		`cpu is "full", must be one of ["job" "process"]`:                   func(s *BatchSpec) { s.CPU = "full" },
		`kill is "", must be one of ["no" "yes"]`:                           func(s *BatchSpec) { s.Kill = "" },
		"CPU uses are from 0.5 to 0.4":                                      func(s *BatchSpec) { s.CPUMin, s.CPUMax = 0.5, 0.4 },
		"the efficiency is 1.5 ± 0.12, both must be from 0 to 1":            func(s *BatchSpec) { s.Efficiency = 1.5 },
		"longest_h is 1, must be from 2 to 10,000":                          func(s *BatchSpec) { s.Longest = 1 },
		"mean_runtime is 172800, must be from 1 to below longest_h":         func(s *BatchSpec) { s.MeanRuntime = 172_800 },
		"serial is 1, must be from 0 to below 1":                            func(s *BatchSpec) { s.Serial = 1 },
		"serial and mean_size go with the models feitelson and jann":        func(s *BatchSpec) { s.Model, s.Serial = modelLublin, 0.3 },
		"the others would have 399.8 processes on average, must be above 2": func(s *BatchSpec) { s.MeanSize, s.Serial = 200, 0.501 },
		"mean_size is 2, there is one size":                                 func(s *BatchSpec) { s.MeanSize, s.Processors = 2, 1 },
		"log is standard input, give a file":                                func(s *BatchSpec) { s.SWF = "-" },
		"runtime_ratio is 0.5, must be from 1 to 10^6":                      func(s *BatchSpec) { s.RuntimeRatio = 0.5 },
		"largest goes with the model jann":                                  func(s *BatchSpec) { s.Largest = 320 },
		"largest is 64, must be at least 65":                                func(s *BatchSpec) { s.Model, s.Largest = modelJann, 64 },
		"arrays is -1, must be at least 1":                                  func(s *BatchSpec) { s.Arrays = -1 },
		"threshold is 3, must be above 0":                                   func(s *BatchSpec) { s.Threshold = 3 },
		"migration_s is -1":                                                 func(s *BatchSpec) { s.MigrationS = -1 },
	} {
		s := NewBatchSpec()
		edit(&s)
		if _, err := s.Generate(); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestBatchFromSWF(t *testing.T) {
	job := func(id string, submit, runtime, estimate float64, processes int) model.BatchJob {
		return model.BatchJob{ID: id, SubmitS: submit, RuntimeS: runtime, EstimateS: estimate, Processes: processes}
	}
	s := NewBatchSpec()
	in, report, err := s.fromSWF("n", readLog(t, smallLog), SWFJobs{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := &model.Batch{Name: "n", Processors: 16, Tiers: 1, MigrationS: 20, Jobs: []model.BatchJob{job("1", 0, 1, 0, 4), job("2", 10, 60, 120, 4),
		job("3", 20, 50, 40, 2), job("5", 35, 80, 80, 1), job("4", 40, 70, 0, 16), job("record-10", 71, 30, 0, 8)}}
	for k := range want.Jobs {
		want.Jobs[k].Log = &model.JobLog{User: "1", Group: "1", Executable: "1", Queue: "1", Status: "completed"}
	}
	if d := cmp.Diff(want, in); d != "" { // on one tier nothing is drawn
		t.Errorf("(-want +got)\n%s", d)
	}
	if invented := report.Invented(); invented != "" {
		t.Errorf("of the log itself: %s", invented)
	}
	drawn := s
	drawn.Tiers = 2
	two, told, err := drawn.fromSWF("n", readLog(t, smallLog), SWFJobs{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if j := two.(*model.Batch).Jobs[0]; j.FgLoss == 0 || len(j.CPU) == 0 || j.BgEfficiency == 0 {
		t.Errorf("on two tiers %+v has no traits", j)
	}
	for _, want := range []string{"drawn with seed 7", "CPU uses from 0.4 to 1", "0.48 ± 0.12", "a migration costs 20 s"} {
		if !strings.Contains(told.String(), want) && !strings.Contains(told.Invented(), want) {
			t.Errorf("%v doesn't say %q", told, want)
		}
	}
	if want := "6 of 10 jobs taken; 1 left out without a submit time; 1 left out without processors; 1 left out without a runtime; 1 left out, larger than the machine; " +
		"1 with a runtime of 0, which becomes 1 s; 1 longer than their estimate; 3 without an estimate, which is then the runtime; 1 out of order, sorted"; report.String() != want {
		t.Errorf("report %q, want\n%q", report, want)
	}
	s.Kill = "yes"
	if _, report, err = s.fromSWF("n", readLog(t, smallLog), SWFJobs{Seed: 1}); err != nil || report.Cut != 1 || report.Longer != 0 {
		t.Errorf("with jobs killed: error %v, report %v", err, report)
	}
	s.Processors = 8
	_, _, err = s.fromSWF("n", readLog(t, smallLog), SWFJobs{RefuseLarge: true})
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
			time := rapid.Int64Range(-1, 5000)
			log.Jobs = append(log.Jobs, swf.Job{Number: int64(k), Submit: time.Draw(t, "submit"), Runtime: time.Draw(t, "runtime"),
				Procs: rapid.Int64Range(-1, 10).Draw(t, "procs"), RequestedProcs: rapid.Int64Range(-1, 10).Draw(t, "requested"), RequestedTime: time.Draw(t, "estimate")})
		}
		s := NewBatchSpec()
		s.Processors, s.Load = 8, rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "load")
		s.Estimates, s.Kill = rapid.SampledFrom(append(batchEstimates, "")).Draw(t, "estimates"), rapid.SampledFrom([]string{"no", "yes"}).Draw(t, "kill")
		s.CPU, s.Tiers = rapid.SampledFrom(batchUses).Draw(t, "cpu"), rapid.IntRange(1, 2).Draw(t, "tiers")
		made, report, err := s.fromSWF("n", log, SWFJobs{Seed: rapid.Uint64().Draw(t, "seed")})
		if report.Requests == 0 {
			if !errors.Is(err, model.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		in := made.(*model.Batch)
		if report.Jobs != len(log.Jobs) || report.Requests+leftOut(report) != report.Jobs || len(in.Jobs) != report.Requests || in.Jobs[0].SubmitS != 0 {
			t.Fatalf("%v; the first job is submitted at %v", report, in.Jobs[0].SubmitS)
		}
		if last := in.Jobs[len(in.Jobs)-1].SubmitS; s.Load > 0 && last > 1 && math.Abs(offeredBatch(in)/s.Load-1) > 0.001 {
			t.Fatalf("load %v, want %v", offeredBatch(in), s.Load)
		}
		for _, j := range in.Jobs {
			of := log.Jobs[mustInt(t, j.ID)]
			if j.RuntimeS != float64(max(1, of.Runtime)) || j.Processes != int(of.Size()) {
				t.Fatalf("%+v of %+v", j, of)
			}
			switch want := float64(max(0, of.RequestedTime)); {
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
		{"KTH-SP2-1996-2.1-cln", 100, 0.701, "28475 of 28476 jobs taken; 1 left out without processors; 8 with a runtime of 0, which becomes 1 s; 475 longer than their estimate"},
		{"NASA-iPSC-1993-3.1-cln", 128, 0.466, "18239 of 18239 jobs taken; 173 with a runtime of 0, which becomes 1 s; 18239 without an estimate, which is then the runtime; " +
			"the log's submit times are really start times"},
		{"LANL-CM5-1994-4.1-cln", 1024, 0.744, "122057 of 122060 jobs taken; 3 left out without processors; 2 with a runtime of 0, which becomes 1 s; " +
			"40180 longer than their estimate; 11287 without an estimate, which is then the runtime"},
	} {
		t.Setenv("GAPWISE_DATA", filepath.Dir(filepath.Dir(require.Data(t, "swf", c.log+".swf.gz"))))
		in := batchOf(t, func(s *BatchSpec) { s.SWF, s.Jobs = c.log, 0 })
		if got := offeredBatch(in); in.Processors != c.processors || math.Abs(got-c.load) > 0.001 {
			t.Errorf("%s: %d processors, load %v, want %d, %v", in.Name, in.Processors, got, c.processors, c.load)
		}
		log, err := LoadSWF(c.log)
		if err != nil {
			t.Fatal(err)
		}
		s := NewBatchSpec()
		if _, report, err := s.fromSWF("n", log, SWFJobs{}); err != nil || report.String() != c.said {
			t.Errorf("%s: error %v, said\n%v, want\n%v", c.log, err, report, c.said)
		}
		scaled := batchOf(t, func(s *BatchSpec) { s.SWF, s.Jobs, s.Load, s.Estimates = c.log, 1000, 0.9, estimatesTsafrir })
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
					if _, err := s.Generate(); err != nil {
						b.Fatal(err)
					}
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
		in, report, err := s.fromSWF("log", log, SWFJobs{Skip: skip, First: first, RefuseLarge: flags&1 == 1, Seed: 1})
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if err := in.Validate(); err != nil {
			t.Fatal(err)
		}
		b := in.(*model.Batch)
		if n := report.Requests + report.Skipped + leftOut(report); n != report.Jobs || report.Requests != len(b.Jobs) {
			t.Fatalf("%d jobs, report %+v", len(b.Jobs), report)
		}
	})
}
