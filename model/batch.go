// SPDX-License-Identifier: MIT

package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
)

// Batch is the scheduling of rigid parallel jobs on identical processors of one or
// two tiers (Liu et al.: FCFS, EASY, KEASY, REASY, MEASY; sections 2 and 3.2).
//
// A job runs all its processes at once, each on a processor of its own, or on a machine of nodes where its needs fit
// beside the needs of the others there (see Nodes). On one tier a processor runs one process, as a
// dedicated one does. On two tiers it also runs a process in the background, which uses the cycles that the foreground
// leaves idle. A process progresses, per second of a dedicated processor,
//
//   - with one tier: 1;
//   - in the foreground of two: 1 - loss;
//   - in the background: efficiency · min(1, idle/use), idle the share of the
//     processor that its foreground process leaves (1 without one), use the
//     process's own CPU use.
//
// Rates are rounded down to ten-thousandths. A job progresses at the pace of its
// slowest process. It ends as soon as its work is done, in whole microseconds. A
// process may start in the background only where the foreground use is below
// Threshold.
//
// A job runs in one or more segments, none before its submission. Between them it
// may change tier on the same processors at no cost, or be moved to others: then it
// does no work for MigrationS seconds from there on. On nodes it isn't moved. It isn't suspended: each
// segment starts when the one before ends. Only a segment with lost work ends with the job killed; the next one starts
// it from the beginning, at any time.
//
// The objective, to be minimised, is the mean response time, weighted by the jobs'
// weights; the mean bounded slowdown, unweighted, breaks ties (see Metrics). At one instant ends come before starts.
//
// Times are whole microseconds, rates and shares whole ten-thousandths, so that all
// arithmetic on them is exact (see view.Batch).
type Batch struct {
	Name string `json:"name"`
	// Account tells what reading files made of them, nil if the instance comes from none.
	Account *Account `json:"account,omitempty"`
	// StartTime is when second 0 is, of an instance made from a log (RFC 3339);
	// pictures show dates by it. It means nothing to a solver.
	StartTime  string `json:"start_time,omitempty"`
	Processors int    `json:"processors"` // P, numbered from 0; of a machine of nodes their number
	Tiers      int    `json:"tiers"`      // 1 or 2
	// Threshold is the foreground use from which on no process may start in the
	// background; 0 means 0.96.
	Threshold float64 `json:"threshold,omitempty"`
	// MigrationS is the cost of a migration in seconds (20 in the paper).
	MigrationS float64 `json:"migration_s,omitempty"`
	// KillAtEstimate ends a job when it has done the work of its estimate: its work
	// is then min(runtime, estimate).
	KillAtEstimate bool `json:"kill_at_estimate,omitempty"`
	// Resources names the resources of Nodes, with their unit: "cpu", "memory_mb", "gpu".
	Resources []string `json:"resources,omitempty"`
	// Nodes, if there are any, are the machine. Several processes of one or more jobs share a node as long as the sums
	// of their needs are within its capacity.
	Nodes []NodeGroup `json:"nodes,omitempty"`
	Jobs  []BatchJob  `json:"jobs" nil:"[]"` // by submission
}

// BatchJob is a rigid parallel job.
type BatchJob struct {
	ID        string  `json:"id"`
	SubmitS   float64 `json:"submit_s"`
	RuntimeS  float64 `json:"runtime_s"`            // on dedicated processors; online schedulers learn it when the job ends
	EstimateS float64 `json:"estimate_s,omitempty"` // the user's; 0 or missing means RuntimeS
	Processes int     `json:"processes"`
	// Needs states what the job needs of nodes, and is there if the machine has any.
	Needs *NodeNeeds `json:"needs,omitempty"`
	// Weight is the weight of the job's response in the objective, up to MostWeight; 0 or missing means 1. Schedulers
	// don't look at it.
	Weight int `json:"weight,omitempty"`
	// CPU is the use of a dedicated processor by each process, in (0, 1]; one value applies to all processes, none
	// means 1.
	CPU []float64 `json:"cpu,omitempty"`
	// FgLoss is the loss of the foreground of two tiers, from 0 to below 1.
	FgLoss float64 `json:"fg_loss,omitempty"`
	// BgEfficiency is the share of the idle cycles that the background makes use of,
	// from 0 to 1; 0 or missing: the job makes no progress there.
	BgEfficiency float64 `json:"bg_efficiency,omitempty"`
	// Log is the log's other data on the job; nil for none. Jobs may share one.
	Log *JobLog `json:"log,omitempty"`
}

// DefaultThreshold is the paper's (section 2.1): with more foreground use the
// background gains nothing.
const DefaultThreshold = 0.96

// EffectiveThreshold returns Threshold, or DefaultThreshold if it is 0.
func (b *Batch) EffectiveThreshold() float64 {
	if b.Threshold == 0 {
		return DefaultThreshold
	}
	return b.Threshold
}

// Estimate returns the estimate, or the runtime if there is none.
func (j *BatchJob) Estimate() float64 {
	if j.EstimateS == 0 {
		return j.RuntimeS
	}
	return j.EstimateS
}

// EffectiveWeight returns Weight, or 1 if it is 0.
func (j *BatchJob) EffectiveWeight() int { return max(1, j.Weight) }

// Weighted reports whether the jobs' weights differ.
func (b *Batch) Weighted() bool {
	return slices.ContainsFunc(b.Jobs, func(j BatchJob) bool { return j.EffectiveWeight() != b.Jobs[0].EffectiveWeight() })
}

// MostWeight is the largest weight of a job.
const MostWeight = 1_000_000

// Use returns the CPU use of process i.
func (j *BatchJob) Use(i int) float64 {
	switch len(j.CPU) {
	case 0:
		return 1
	case 1:
		return j.CPU[0]
	}
	return j.CPU[i]
}

// Execution is a solution of Batch: a run for each job, in any order.
type Execution struct {
	Runs []Run[BatchPlace] `json:"runs" nil:"[]"`
}

// executionKeys describes a solution; nothing but the judge holds its values against an instance.
var executionKeys = object{
	about: "An execution: for each job its segments, spans of time in which its processes run on the same " +
		"processors in one tier. Each segment starts when the one before ends; only after a lost one the job may " +
		"wait.",
	keys: []key{{name: "runs", about: "one for each job, in any order", of: &object{keys: []key{
		{name: "segments", about: "in the order of time", of: &object{keys: []key{
			{name: "start_s", about: "seconds, in whole microseconds"},
			{name: "end_s", about: "seconds, in whole microseconds; of the last segment the first by which the " +
				"job's work is done"},
			{name: "place", of: &object{keys: []key{
				{name: "tier", about: "background, or the foreground if it is empty or missing"},
				{name: "processors", rules: numbersRule, about: "the processor of each process, in their order: " +
					"numbers and ascending ranges of them, such as 5,3-4. A segment on other processors, or the " +
					"same ones in another order, than the one before it is a migration, unless that one is lost"},
			}}},
			{name: "lost", about: "true: the job is killed at the end, all work that it has done is lost, and its " +
				"next segment starts it from the beginning; false if it is missing"},
		}}},
	}}}}}

// BatchPlace is the place where a segment of a job runs.
type BatchPlace struct {
	Tier Tier `json:"tier,omitempty"`
	// Processors[i] is the processor, or the node, of process i.
	Processors ProcessorList `json:"processors"`
}

// Tier is a tier of processors.
type Tier string

// The tiers. TierForeground is the only one of a platform with one tier.
const (
	TierForeground Tier = ""
	TierBackground Tier = "background"
)

// Kind returns KindBatch.
func (*Batch) Kind() Kind { return KindBatch }

// Kind returns KindBatch.
func (*Execution) Kind() Kind { return KindBatch }

// ID returns the instance's name.
func (b *Batch) ID() string { return b.Name }

// KindBatch is the problem of batch scheduling.
const KindBatch Kind = "batch"

var batchFormat = format{
	Kind:     KindBatch,
	Instance: func() Instance { return new(Batch) },
	Solution: func() Solution { return new(Execution) },
	Details:  func() Details { return new(BatchDetails) },
	Keys:     &batchKeys,
	Decided:  &executionKeys,
}

// Work returns the work of job k in seconds of dedicated processors.
func (b *Batch) Work(k int) float64 {
	j := &b.Jobs[k]
	if b.KillAtEstimate {
		return min(j.RuntimeS, j.Estimate())
	}
	return j.RuntimeS
}

var batchKeys = object{about: "Rigid parallel jobs on identical processors of one or two tiers. A job runs all " +
	"its processes at once, each " +
	"on a processor of its own. With two tiers a processor also runs a process in the background, with the cycles " +
	"that its foreground leaves " +
	"idle. A process progresses, per second of a dedicated processor, by 1 with one tier, by 1 - fg_loss in the " +
	"foreground of two, and by " +
	"bg_efficiency·min(1, idle/use) in the background, rounded down to ten-thousandths; a job at the pace of its " +
	"slowest process. Times are " +
	"seconds since the beginning of the instance, in whole microseconds; shares have at most four decimals.",
	keys: []key{
		accountKey,
		startTimeKey,
		{name: "processors", least: 1, most: maxSize, about: "numbered from 0"},
		{name: "tiers", least: 1, most: 2, about: "1: the foreground alone; 2: foreground and background"},
		{name: "threshold", most: 2, whole: shares, about: "foreground use of a processor from which on no " +
			"process may start in its " +
			"background; above 1 every processor takes one; 0.96 if it is 0 or missing"},
		{name: "migration_s", most: mostSeconds, whole: micros,
			about: "how long a job does no work after it has moved to other processors; 0 if it is missing"},
		{name: "kill_at_estimate", about: "true: a job ends when it has done the work of its estimate; false if " +
			"it is missing"},
		{name: "resources", distinct: true, many: maxResources, each: &key{filled: true}, about: "of nodes, with the unit"},
		{name: "nodes", of: &nodeGroupKeys, about: "the machine, if it has any: processes share a node as long as the " +
			"sums of their needs are within its capacity; processors is then their number"},
		{name: "jobs", of: &batchJobKeys, many: maxSize, about: "in the order of their submission"},
	}}

var batchJobKeys = object{keys: []key{
	idKey,
	{name: "submit_s", most: mostSeconds, whole: micros, about: "no earlier than the one before"},
	{name: "runtime_s", least: positive, most: mostRuntime, whole: micros,
		about: "on dedicated processors; the sum of all runtimes times processes is at most 2·10^9 for each " +
			"processor"},
	{name: "estimate_s", most: mostSeconds, whole: micros, about: "the user's estimate of the runtime; the " +
		"runtime if it is 0 or missing"},
	{name: "processes", least: 1, most: noLimit, about: "at most the processors, or what the nodes hold"},
	{name: "needs", of: &nodeNeedsKeys, about: "of nodes; there if the machine has any"},
	{name: "weight", zero: true, least: 1, most: MostWeight, about: "of the response in the objective, the " +
		"weighted mean response time; 1 if it is 0 or missing"},
	{name: "cpu", each: &key{least: positive, most: 1, whole: shares},
		about: "use of a dedicated processor by each process; one value stands for all processes, none for 1"},
	{name: "fg_loss", most: below1, whole: shares, about: "what the foreground of two tiers loses; 0 if it is " +
		"missing"},
	{name: "bg_efficiency", most: 1, whole: shares,
		about: "share of the idle cycles that the background makes use of; 0 if it is missing: no progress there"},
	{name: "log", of: &jobLogKeys,
		about: "what a log tells of the job besides; no schedule is bound by it. Online policies are told all but " +
			"the status"},
}}

// Validate reports the first rule that b breaks. Errors are ErrInvalid; those about
// a job are an ElementError.
func (b *Batch) Validate() error {
	jobs, each := elements{kind: KindBatch, list: "jobs", id: func(k int) string { return b.Jobs[k].ID }}, &batchJobKeys
	if why := cmp.Or(checkStartTime(b.StartTime), batchKeys.wrong(b), b.checkNodes()); why != "" {
		return jobs.bad(-1, "%s", why)
	}
	submit, runtime, estimate, processes := each.key("submit_s"), each.key("runtime_s"), each.key("estimate_s"), each.key("processes")
	weight, cpu, loss, efficiency := each.key("weight"), each.key("cpu"), each.key("fg_loss"), each.key("bg_efficiency")
	last, work := 0.0, 0.0
	var sound *NodeNeeds // of the job before, with so many processes; jobs share them
	most := 0
	for k := range b.Jobs {
		j := &b.Jobs[k]
		fit := j.ID != "" && submit.holds(j.SubmitS) && runtime.holds(j.RuntimeS) && estimate.holds(j.EstimateS) &&
			processes.holds(float64(j.Processes)) && weight.holds(float64(j.Weight)) && hold(cpu, j.CPU) && loss.holds(j.FgLoss) && efficiency.holds(j.BgEfficiency) && j.Log.fit()
		if why := jobs.wrong(k, fit, each, j); why != "" {
			return jobs.bad(k, "%s", why)
		}
		work += j.RuntimeS * float64(j.Processes)
		switch {
		case j.SubmitS < last:
			return jobs.bad(k, "submit_s is %v, after one at %v; sort the jobs by submission", j.SubmitS, last)
		case j.Processes > b.Processors && b.Nodes == nil:
			return jobs.bad(k, "processes is %d, there are %d processors", j.Processes, b.Processors)
		case len(j.CPU) > 1 && len(j.CPU) != j.Processes:
			return jobs.bad(k, "cpu has %d values, must have one, or one for each of the %d processes", len(j.CPU), j.Processes)
		case work > mostBusy*float64(b.Processors) && b.Nodes == nil: // nodes may hold many processes each
			return jobs.bad(k, "the jobs up to here keep all processors busy for %v s, the most is %g", work/float64(b.Processors), mostBusy)
		}
		if j.Needs != sound || j.Needs == nil || j.Processes > most {
			if why := b.wrongNeeds(j.Needs, j.Processes); why != "" {
				return jobs.bad(k, "%s", why)
			}
			sound, most = j.Needs, j.Processes
		}
		last = j.SubmitS
	}
	return nil
}

// mostRuntime bounds runtimes in seconds: 10^14 microseconds times 10^4 are less
// than 2^63.
const mostRuntime = 1e8

// mostBusy bounds the time, in seconds, for which the jobs would keep all processors
// busy. The bound is on the times, which must be exact, not on the sum of runtimes, which may be 10^15 s. Before 2^33 s
// each microsecond has a float64 of its own, and no time of a solution is later than 8·10^9 s. Submissions are at most
// L = 10^9 s and runtimes T = 10^8 s. Suppose no job waits that would fit. A job that runs at t+T, L ≤ t, has started
// after t and didn't fit at t: the two instants together use more than all processors, while jobs wait. So the jobs
// have ended by L + 2 mostBusy + 3 T, before 5.4·10^9 s (at the rate of dedicated processors).
const mostBusy = 2e9

// Metrics implements Instance. Means are over all jobs, each counted once except in the response; e is the end of a
// job's last segment, s its submission, w its weight:
//
//   - response: Σ w (e - s) / Σ w.
//   - bounded slowdown: max(1, (e - s)/max(τ, work)), τ = 10 s (section 3.3).
//   - utilisation: the jobs' work times processes, over the processors times the
//     time from the first submission to the last end, in percent. Of nodes it is the use of the first resource.
//   - migrations: segments on other processors than the one before, its work kept.
//   - kills: segments whose work is lost.
//   - wait: from the submission to the start of the first segment; mean, and the least
//     wait that 95 % of the jobs don't exceed.
func (b *Batch) Metrics() []Metric {
	response := "mean response time"
	if b.Weighted() {
		response = "weighted " + response
	}
	return []Metric{{"response", response, "s", Minimise, false}, {"bounded slowdown", "mean bounded slowdown", "", Minimise, false},
		{"utilisation", "utilisation", "%", Maximise, false}, {"migrations", "migrations", "", Minimise, false}, {"kills", "kills", "", Minimise, false},
		{"wait", "mean wait", "s", Minimise, false}, {"wait p95", "95th percentile of the waits", "s", Minimise, false}}
}

// Objective returns the figures of Metrics. The error is ErrInvalid for another
// problem's solution and for runs that Index refuses.
func (b *Batch) Objective(s Solution) (Objective, error) {
	e, ok := s.(*Execution)
	if !ok {
		return Objective{}, fmt.Errorf("%w solution: a %T can't solve a batch instance", ErrInvalid, s)
	}
	index, err := b.Index(e)
	if err != nil {
		return Objective{}, err
	}
	o := Objective{Second: 1, Sense: Minimise, SecondSense: Minimise, Others: []float64{math.NaN(), 0, 0, math.NaN(), math.NaN()}}
	if len(b.Jobs) == 0 {
		return o, nil
	}
	run := make([]*Run[BatchPlace], len(b.Jobs))
	for i, k := range index {
		run[k] = &e.Runs[i]
	}
	var responses, waited units.TimeSum
	waits := make([]int64, 0, len(b.Jobs))
	var last int64
	slowdowns, area, migrations, kills, weights := 0.0, 0.0, 0.0, 0.0, 0.0
	for k, r := range run {
		j := &b.Jobs[k]
		end := units.Micro(r.Segments[len(r.Segments)-1].EndS)
		response := end - units.Micro(j.SubmitS)
		wait := units.Micro(r.Segments[0].StartS) - units.Micro(j.SubmitS)
		waits = append(waits, wait)
		waited.Add(wait, 1)
		weight := j.EffectiveWeight()
		responses.Add(response, int64(weight))
		weights += float64(weight)
		slowdowns += max(1, units.Seconds(response)/max(SlowdownFloor, b.Work(k)))
		area += b.Work(k) * float64(j.Processes) * j.firstNeed()
		last = max(last, end)
		for i := range r.Segments {
			switch {
			case r.Segments[i].Lost:
				kills++
			case i+1 < len(r.Segments) && !slices.Equal(r.Segments[i].Place.Processors, r.Segments[i+1].Place.Processors):
				migrations++
			}
		}
	}
	n := float64(len(b.Jobs))
	slices.Sort(waits)
	o.Value, o.Second = responses.Seconds()/weights, slowdowns/n
	o.Others = []float64{100 * area / (b.firstCapacity() * units.Seconds(last-units.Micro(b.Jobs[0].SubmitS))), migrations, kills,
		waited.Seconds() / n, units.Seconds(waits[(95*len(waits)+99)/100-1])}
	return o, nil
}

// Index returns the job number of each run. The error is ErrInvalid if the solution doesn't fit the instance. Causes
// are an unknown id, a job that runs twice or not at all, a run without segments, and a time that isn't a number from 0
// to 10^10.
func (b *Batch) Index(e *Execution) ([]int, error) {
	index, err := indexRuns(e.Runs, len(b.Jobs), "job", func(k int) string { return b.Jobs[k].ID })
	if err == nil && len(index) < len(b.Jobs) {
		seen := make([]bool, len(b.Jobs))
		for _, k := range index {
			seen[k] = true
		}
		return nil, fmt.Errorf("%w solution: job %q doesn't run", ErrInvalid, b.Jobs[slices.Index(seen, false)].ID)
	}
	return index, err
}

// MarshalJSON writes the instance in its own format, "kind" first.
func (b *Batch) MarshalJSON() ([]byte, error) { return marshalOwn(b) }

// MarshalJSON writes the execution in its own format, "kind" first.
func (e *Execution) MarshalJSON() ([]byte, error) { return marshalOwn(e) }
