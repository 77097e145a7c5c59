// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/model"
)

// BatchSpec specifies rigid parallel jobs as section 3 of the paper has them, by a workload model or of a real log. CPU
// uses, foreground losses and background efficiencies are random.
//
// The offered load is sum n·r / (P · span). There n is the processes and r the runtime of each job, P the processors,
// span the time from the first submission to the last. The times between submissions are multiplied by one ratio that
// gives the load asked for (section 3.3).
//
// Draws are paired. If Seed and Index are the same, the other parameters (load, tiers, CPU uses, efficiency, estimates,
// cost of migrations, threshold) change nothing else. Fewer jobs are the first of more, apart from values that depend
// on all jobs (load, mean runtime, Tsafrir's estimates). The workload model, the estimates, and each job's uses, loss
// and efficiency have random streams of their own.
type BatchSpec struct {
	// Jobs is the number of jobs. With a log it counts usable jobs, from the first on; 0: all.
	Jobs int `key:"jobs" default:"1000" small:"5,2" hard:"60" min:"0" required:"yes" usage:"number of jobs; 0 takes all jobs of a log"`
	// Processors is 320, the paper's, or the number in the log's header.
	Processors int `key:"processors" small:"4" hard:"16" min:"1" shown:"320 or the log's" usage:"number of processors"`
	// Tiers is 2, the paper's, or with a log 1: no log reports a background.
	Tiers int `key:"tiers" small:"1,2" hard:"1" min:"1" shown:"2; a log: 1" usage:"1, or 2: foreground and background"`
	// Model is the workload model, one of BatchModels.
	Model string `key:"model" default:"feitelson" usage:"feitelson, jann or lublin"`
	// Load is the offered load. 0 means 0.7, or with a log its own.
	Load float64 `key:"load" small:"2" hard:"2" min:"0" shown:"0.7 or 0" usage:"offered load; 0: the log's"`
	// Serial, MeanSize and MeanRuntime change the models so that they have the known figures of a workload. These are
	// the share of single-process jobs (feitelson and jann), the mean number of processes (the same), and the mean
	// runtime in seconds. 0 leaves the model's. See tilt.
	Serial      float64 `key:"serial" min:"0" shown:"the model's" usage:"share of single-process jobs"`
	MeanSize    float64 `key:"mean_size" min:"0" shown:"the model's" usage:"mean number of processes"`
	MeanRuntime float64 `key:"mean_runtime" min:"0" shown:"the model's" usage:"mean runtime, in seconds"`
	// RuntimeRatio and Largest are further figures of models that are lost. RuntimeRatio is the mean of feitelson's
	// long runtimes over the mean of its short ones. Largest is the end of jann's last range; 0: 100, as in its log.
	RuntimeRatio float64 `key:"runtime_ratio" default:"100" min:"1" usage:"feitelson: mean of long runtimes divided by the mean of short ones"`
	Largest      int     `key:"largest" min:"0" shown:"100" usage:"jann: number of processes of the largest jobs"`
	// Arrays is the number of equal jobs that are submitted together, as a job array;
	// the last one may have fewer.
	Arrays int `key:"arrays" default:"1" min:"1" usage:"number of equal jobs submitted together, as a job array"`
	// Estimates is the kind of users' estimates, one of batchEstimates; empty: tsafrir, or with a log the log's.
	Estimates string `key:"user_estimates" small:"exact,tsafrir" shown:"tsafrir or log" usage:"exact, tsafrir or log"`
	// Longest is the longest runtime and the largest estimate in hours. Longer runtimes are cut to it. If there is a
	// log, it bounds the estimates of tsafrir alone, and is extended to the log's longest runtime.
	Longest float64 `key:"longest_h" default:"48" min:"2" usage:"longest runtime and estimate, in hours"`
	// CPU says how the uses of a job of several processes are drawn, one of
	// batchUses, from CPUMin to CPUMax. Single processes use 1.
	CPU    string  `key:"cpu" default:"job" usage:"CPU use per job or process"`
	CPUMin float64 `key:"cpu_min" default:"0.4" above:"0" usage:"least CPU use; 1: all use 1"`
	CPUMax float64 `key:"cpu_max" default:"1" above:"0" usage:"largest CPU use of several processes"`
	// Efficiency and EfficiencySD are mean and standard deviation of the background
	// efficiency of several processes, before it is clipped to [0.198, 0.766]. Both
	// are lost from the paper's text; 0.48 is the middle.
	Efficiency   float64 `key:"efficiency" default:"0.48" min:"0" usage:"mean background efficiency of several processes"`
	EfficiencySD float64 `key:"efficiency_sd" default:"0.12" min:"0" usage:"standard deviation of the background efficiency"`
	MigrationS   float64 `key:"migration_s" default:"20" min:"0" usage:"cost of a migration, in seconds"`
	// Threshold is the foreground use from which on no process may start in the
	// background; above 1 all processors take one.
	Threshold float64 `key:"threshold" default:"0.96" min:"0" usage:"foreground use from which no process starts in the background"`
	// Kill is "yes" if jobs are killed at their estimate.
	Kill string `key:"kill" default:"no" small:"no,yes" usage:"yes: jobs are killed at their estimate"`
	// SWF, if not empty, is a log (see LoadSWF): its first usable jobs are taken. On two tiers another Index draws
	// other CPU uses, losses and efficiencies for the same jobs; on one nothing of them is drawn.
	SWF   string `key:"log" file:"yes" usage:"take the jobs of an SWF FILE"`
	Index int
	Seed  uint64
}

// NewBatchSpec returns the specification with the paper's defaults: 320 processors
// of two tiers, CPU uses from 40 to 100 %, a cost of migrations of 20 s, Tsafrir's
// estimates.
func NewBatchSpec() BatchSpec { return *params.SetDefaults(&BatchSpec{}) }

// The values of BatchSpec.Model.
const (
	modelFeitelson = "feitelson" // F96-R, see feitelson96
	modelJann      = "jann"      // Jann-style (KTH fit), see jann97
	modelLublin    = "lublin"    // lublinTasks, lublinRuntime and lublinArrivals with lublinColumnT
)

// BatchModels lists the workload models, the default first.
var BatchModels = []string{modelFeitelson, modelJann, modelLublin}

// The values of BatchSpec.Estimates.
const (
	estimatesExact   = "exact" // the runtime
	estimatesTsafrir = "tsafrir"
	estimatesLog     = "log" // the log's; the runtime for a job without one
)

// batchEstimates lists what users may estimate.
var batchEstimates = []string{estimatesExact, estimatesTsafrir, estimatesLog}

// The values of BatchSpec.CPU.
const (
	useOfJob     = "job"     // one value for all processes of a job
	useOfProcess = "process" // a value for each
)

// batchUses lists how CPU uses are drawn, the default first. "The average CPU usage
// of each process is a random number" (section 3.1) may mean either.
var batchUses = []string{useOfJob, useOfProcess}

// The paper's figures of the machine and of the progress of processes (sections 3 and 3.2).
const (
	batchProcessors, batchTiers        = 320, 2
	batchLoad                          = 0.7
	leastLoss, largestLoss             = 0.005, 0.04
	leastSingle, largestSingle         = 0.80, 0.92   // efficiency of one process
	leastEfficiency, largestEfficiency = 0.198, 0.766 // and of several
)

func (s BatchSpec) withDefaults() BatchSpec {
	if s.Arrays == 0 {
		s.Arrays = 1
	}
	if s.Tiers == 0 {
		s.Tiers = batchTiers
		if s.SWF != "" {
			s.Tiers = 1
		}
	}
	if s.SWF == "" {
		if s.Processors == 0 {
			s.Processors = batchProcessors
		}
		if s.Load == 0 {
			s.Load = batchLoad
		}
		if s.Estimates == "" {
			s.Estimates = estimatesTsafrir
		}
	} else if s.Estimates == "" {
		s.Estimates = estimatesLog
	}
	return s
}

// nth implements Spec.
func (s *BatchSpec) nth(k, _ int, seed uint64) Planned {
	one := s.withDefaults()
	one.Index, one.Seed = k, seed
	c := newPlanned(&one, one.name(), k, one.Generate)
	if one.SWF == "" {
		c.Try = one.try
	}
	for key, known := range map[string]bool{"jobs": one.Jobs != 0, "processors": one.Processors != 0, "load": one.Load != 0,
		"serial": one.Serial != 0, "mean_size": one.MeanSize != 0, "mean_runtime": one.MeanRuntime != 0, "largest": one.Largest != 0} {
		if !known {
			delete(c.Params, key)
		}
	}
	return c
}

// checkKeys implements Spec.
func (s *BatchSpec) checkKeys(given map[string]bool) error {
	for _, x := range []struct {
		key, value string
		values     []string
	}{
		{"model", s.Model, BatchModels}, {"user_estimates", s.Estimates, slices.Concat([]string{""}, batchEstimates)},
		{"cpu", s.CPU, batchUses}, {"kill", s.Kill, []string{"no", "yes"}},
	} {
		if !slices.Contains(x.values, x.value) {
			return fmt.Errorf("%s is %q, must be one of %q", x.key, x.value, x.values)
		}
	}
	for _, key := range []string{"model", "serial", "mean_size", "mean_runtime", "runtime_ratio", "largest", "arrays"} {
		if given[key] && given["log"] {
			return fmt.Errorf("%s goes with workload models, the jobs of a log are what they are", key)
		}
	}
	if given["log"] && !given["tiers"] {
		for _, key := range ofTwoTiers {
			if given[key] {
				return fmt.Errorf("%s matters on two tiers alone, and a log is of one: give tiers as well", key)
			}
		}
	}
	if given["load"] && !given["log"] && s.Load == 0 {
		return errors.New("load is 0, that of a log; give one above 0")
	}
	if s.SWF == "" && s.Model == modelLublin && (s.Serial != 0 || s.MeanSize != 0) {
		return fmt.Errorf("serial and mean_size go with the models %s and %s", modelFeitelson, modelJann)
	}
	if s.Model != modelFeitelson && given["runtime_ratio"] {
		return fmt.Errorf("runtime_ratio goes with the model %s", modelFeitelson)
	}
	if s.Model != modelJann && s.Largest != 0 {
		return fmt.Errorf("largest goes with the model %s", modelJann)
	}
	return nil
}

// name names all parameters and the index: instance 3 with the defaults is batch-feitelson-p320-t2-n1000-load0.7-3.
// Parameters that are not the defaults follow the load. With a log it begins with the file's name:
// KTH-SP2-1996-2.1-cln-t1-n0-3.
func (s BatchSpec) name() string {
	s = s.withDefaults()
	parts := []string{"batch"}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	usual := estimatesTsafrir
	if s.SWF != "" {
		parts[0], usual = logName(s.SWF), estimatesLog
	} else {
		add("%s", s.Model)
	}
	if s.Processors != 0 {
		add("p%d", s.Processors)
	}
	add("t%d-n%d", s.Tiers, s.Jobs)
	if s.Load != 0 {
		add("load%g", s.Load)
	}
	d := NewBatchSpec()
	for _, x := range []struct {
		key             string
		value, default_ float64
	}{
		{"serial", s.Serial, d.Serial}, {"size", s.MeanSize, d.MeanSize}, {"runtime", s.MeanRuntime, d.MeanRuntime},
		{"ratio", s.RuntimeRatio, d.RuntimeRatio}, {"largest", float64(s.Largest), float64(d.Largest)}, {"arrays", float64(s.Arrays), float64(d.Arrays)}, {"longest", s.Longest, d.Longest},
		{"cpu", s.CPUMin, d.CPUMin}, {"to", s.CPUMax, d.CPUMax}, {"efficiency", s.Efficiency, d.Efficiency}, {"sd", s.EfficiencySD, d.EfficiencySD},
		{"migration", s.MigrationS, d.MigrationS}, {"threshold", s.Threshold, d.Threshold},
	} {
		if x.value != x.default_ {
			add("%s%g", x.key, x.value)
		}
	}
	for _, x := range [][2]string{{s.Estimates, usual}, {s.CPU, d.CPU}} {
		if x[0] != x[1] {
			add("%s", x[0])
		}
	}
	if s.Kill == "yes" {
		add("kill")
	}
	return fmt.Sprintf("%s-%d", strings.Join(parts, "-"), s.Index)
}

// check reports values out of range.
func (s BatchSpec) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w batch specification: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	if err := s.checkKeys(nil); err != nil {
		return bad("%v", err)
	}
	switch {
	case s.SWF == "-":
		return bad("log is standard input, give a file")
	case s.Jobs < 0 || s.Jobs > 10_000_000:
		return bad("jobs is %d, must be from 0 to 10,000,000", s.Jobs)
	case s.SWF == "" && s.Estimates == estimatesLog:
		return bad("user_estimates is %q, a workload model has none; give one of %q", s.Estimates, batchEstimates[:2])
	case s.SWF == "" && s.Jobs == 0:
		return bad("jobs is 0, must be at least 1 without a log")
	case s.Processors < 0 || s.Processors > maxPEs:
		return bad("processors is %d, must be from 1 to %d", s.Processors, maxPEs)
	case s.Tiers != 1 && s.Tiers != 2:
		return bad("tiers is %d, must be 1 or 2", s.Tiers)
	case !(s.Load == 0 || s.Load >= 0.001 && s.Load <= 1000):
		return bad("load is %v, must be from 0.001 to 1000", s.Load)
	case !(s.Serial >= 0 && s.Serial < 1):
		return bad("serial is %v, must be from 0 to below 1", s.Serial)
	case !(s.MeanSize == 0 || s.MeanSize >= 1):
		return bad("mean_size is %v, must be at least 1", s.MeanSize)
	case !(s.RuntimeRatio >= 1 && s.RuntimeRatio <= 1e6):
		return bad("runtime_ratio is %v, must be from 1 to 10^6", s.RuntimeRatio)
	case s.Largest != 0 && s.Largest < jannKTH[len(jannKTH)-1].Low:
		return bad("largest is %d, must be at least %d, from where on the model's last range of sizes is", s.Largest, jannKTH[len(jannKTH)-1].Low)
	case s.Arrays < 1:
		return bad("arrays is %d, must be at least 1", s.Arrays)
	case !(s.Longest >= 2 && s.Longest <= 10_000):
		return bad("longest_h is %v, must be from 2 to 10,000", s.Longest)
	case !(s.MeanRuntime == 0 || s.MeanRuntime >= 1 && s.MeanRuntime < 3600*s.Longest):
		return bad("mean_runtime is %v, must be from 1 to below longest_h, %v s", s.MeanRuntime, 3600*s.Longest)
	case !(s.CPUMin >= 0.0001 && s.CPUMin <= s.CPUMax && s.CPUMax <= 1):
		return bad("CPU uses are from %v to %v, must be from 0.0001 to 1", s.CPUMin, s.CPUMax)
	case !(s.Efficiency >= 0 && s.Efficiency <= 1) || !(s.EfficiencySD >= 0 && s.EfficiencySD <= 1):
		return bad("the efficiency is %v ± %v, both must be from 0 to 1", s.Efficiency, s.EfficiencySD)
	case !(s.Threshold > 0 && s.Threshold <= 2):
		return bad("threshold is %v, must be above 0 and at most 2", s.Threshold)
	case s.Index < 0 || s.Index > 1_000_000_000:
		return bad("index is %d, must be from 0 to 10^9", s.Index)
	}
	return nil
}

// ofTwoTiers are the keys that matter on two tiers alone.
var ofTwoTiers = []string{"cpu", "cpu_min", "cpu_max", "efficiency", "efficiency_sd", "migration_s", "threshold"}

// These are the purposes of a job's random streams. The workload model's stream has the job's number.
const (
	streamTraits    = 1 << 40 // plus the job's number: loss, efficiency, CPU uses
	streamEstimates = 2 << 40
)

// Generate draws the instance. Runtimes and estimates are whole seconds, submissions whole milliseconds, shares have
// four decimals. Errors about an unusable specification or log wrap model.ErrInvalid. O(n log n) for n jobs.
func (s BatchSpec) Generate() (*model.Batch, error) {
	s = s.withDefaults()
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.SWF != "" {
		return generated[*model.Batch](s.fromLog())
	}
	jobs, err := s.workload()
	if err != nil {
		return nil, err
	}
	in := s.empty(s.name(), s.Processors)
	in.Jobs = make([]model.BatchJob, len(jobs))
	longest := math.Floor(3600 * s.Longest)
	ratio := s.runtimeRatio(jobs, longest)
	for k := range jobs {
		j := jobs[k/s.Arrays]
		in.Jobs[k] = model.BatchJob{ID: strconv.Itoa(k + 1), SubmitS: j.submit, RuntimeS: wholeRuntime(ratio*j.runtime, longest), Processes: j.size}
		s.traits(&in.Jobs[k], uint64(s.Index), uint64(k/s.Arrays))
	}
	s.estimate(in, longest, uint64(s.Index))
	for k := range in.Jobs {
		in.Jobs[k].EstimateS = in.Jobs[k-k%s.Arrays].EstimateS
	}
	s.scale(in)
	return in, in.Validate()
}

// try draws an instance of at most 1,000 jobs: defects of a workload model's specification don't depend on their
// number.
func (s BatchSpec) try() error {
	if err := s.check(); err != nil {
		return err
	}
	s.Jobs = min(s.Jobs, 1000)
	_, err := s.Generate()
	return err
}

// wholeRuntime rounds a runtime to seconds, from 1 to longest.
func wholeRuntime(x, longest float64) float64 { return min(max(1, math.Round(x)), longest) }

// empty returns the instance without jobs.
func (s BatchSpec) empty(name string, processors int) *model.Batch {
	in := &model.Batch{Name: name, Processors: processors, Tiers: s.Tiers, MigrationS: s.MigrationS, KillAtEstimate: s.Kill == "yes"}
	if s.Threshold != model.DefaultThreshold {
		in.Threshold = s.Threshold
	}
	return in
}

// traits draws loss, efficiency and CPU uses of a job, from a stream of its number.
func (s BatchSpec) traits(j *model.BatchJob, index, number uint64) {
	rng := stream(s.Seed, index, streamTraits+number)
	share := func(x float64) float64 { return math.Round(1e4*x) / 1e4 }
	j.FgLoss = share(leastLoss + (largestLoss-leastLoss)*rng.Float64())
	single, normal, use := rng.Float64(), rng.NormFloat64(), rng.Float64()
	if j.Processes == 1 {
		j.BgEfficiency = share(leastSingle + (largestSingle-leastSingle)*single)
		return
	}
	j.BgEfficiency = share(min(max(leastEfficiency, s.Efficiency+s.EfficiencySD*normal), largestEfficiency))
	uses := 1
	if s.CPU == useOfProcess {
		uses = j.Processes
	}
	if s.CPUMin == 1 {
		return // all use 1
	}
	j.CPU = make([]float64, uses)
	for i := range j.CPU {
		j.CPU[i] = share(s.CPUMin + (s.CPUMax-s.CPUMin)*use)
		use = rng.Float64()
	}
}

// estimate gives the jobs their estimates; a log's estimates are there already.
func (s BatchSpec) estimate(in *model.Batch, longest float64, index uint64) {
	if s.Estimates != estimatesTsafrir {
		return
	}
	runtimes := make([]float64, len(in.Jobs))
	for k := range in.Jobs {
		runtimes[k] = in.Jobs[k].RuntimeS
	}
	for k, x := range tsafrir(runtimes, longest, stream(s.Seed, index, streamEstimates)) {
		in.Jobs[k].EstimateS = x
	}
}

// scale multiplies the times between submissions by the ratio that gives the load,
// and lets the first be at 0.
func (s BatchSpec) scale(in *model.Batch) {
	work := 0.0
	for k := range in.Jobs {
		work += float64(in.Jobs[k].Processes) * in.Jobs[k].RuntimeS
	}
	first, last := in.Jobs[0].SubmitS, in.Jobs[len(in.Jobs)-1].SubmitS
	ratio := 1.0
	if s.Load > 0 && last > first {
		ratio = work / (float64(in.Processors) * s.Load) / (last - first)
	}
	for k := range in.Jobs {
		in.Jobs[k].SubmitS = math.Round(1000*ratio*(in.Jobs[k].SubmitS-first)) / 1000
	}
}
