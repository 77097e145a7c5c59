// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/internal/core/units"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/internal/num/stats"
	"github.com/gapwise/gapwise/model"
)

// jobs holds the outcomes of jobs of a solution, or of some of them.
type jobs struct {
	outcomes []model.Outcome   // of the jobs that ran
	jobs     []*model.BatchJob // of a batch, the same; classes have none
	// late holds for each job how many microseconds after its fair start it starts, 0 if it doesn't; unknown: that
	// wasn't computed. nil: it can't be.
	late []int64
	// Submissions from one time to another are steady, see steadyRule.
	from, to float64
	// processors is the machine's size; 0 where jobs share processors or are interrupted.
	processors int
	sorted     map[string][]float64 // values in ascending order, of the quantities asked for
	middle     *jobs                // the ones submitted in the steady time, once asked for
}

// unknown means a time that isn't known.
const unknown = math.MinInt64

// jobFigure is a figure of jobs: a measure of runs, and a column of tables of their jobs.
type jobFigure struct {
	key, help, name, unit string
	sense                 model.Sense
	of                    func(*jobs) float64
}

// quantity is a time of a job.
type quantity struct {
	key, short, name, unit string // short is the key in names of figures
	of                     func(*model.Outcome) float64
}

var quantities = []quantity{
	{"wait", "wait", "wait", "s", func(o *model.Outcome) float64 { return o.StartS - o.SubmitS }},
	{"response", "response", "response time", "s", (*model.Outcome).Response},
	{"bounded slowdown", "slowdown", "bounded slowdown", "", (*model.Outcome).Slowdown},
}

// steadyRule defines the jobs of the figures named steady.
const steadyRule = "steady: of the jobs submitted in the middle 80 % of the time from the first to the last submission; the tenth at either end, " +
	"warm-up and cool-down, is cut"

// jobFigures lists the figures of jobs in addition to a problem's own metrics. Area is processes times runtime.
// Percentiles are the least value that as many jobs don't exceed.
func jobFigures() []jobFigure {
	var all []jobFigure
	for _, q := range quantities {
		figure := func(suffix, help string, of func(*jobs) float64) {
			all = append(all, jobFigure{q.short + suffix, fmt.Sprintf(help, q.name), fmt.Sprintf(help, q.name), q.unit, model.Minimise, of})
		}
		for _, x := range []struct {
			suffix, help string
			percent      int
		}{{" median", "median %s", 50}, {" p95", "95th percentile of the %s", 95}, {" max", "largest %s", 100}} {
			figure(x.suffix, x.help, func(j *jobs) float64 { return j.quantile(&q, x.percent) })
		}
		figure(" by area", "mean %s, weighted by the jobs' areas", func(j *jobs) float64 { return j.byArea(&q) })
	}
	for _, q := range quantities {
		all = append(all, jobFigure{"steady " + q.short, "mean " + q.name + " in the steady time (see the note below a table)", "steady mean " + q.name, q.unit, model.Minimise, func(j *jobs) float64 { return j.steady().mean(&q) }})
	}
	return append(all,
		jobFigure{"steady utilisation", "share of the processors that are held in the steady time", "steady utilisation", "%", model.Maximise, (*jobs).steadyUtilisation},
		jobFigure{"unfair %", "jobs that start after their fair start; it is their start if all jobs that wait at their submission, and no later ones, start in the order of arrival",
			"jobs that start after their fair start", "%", model.Minimise, func(j *jobs) float64 {
				return j.unfair(func(late int64) float64 { return 100 * min(1, float64(late)) })
			}},
		jobFigure{"unfair delay", "mean delay beyond the fair start, over all jobs", "mean delay beyond the fair start", "s", model.Minimise,
			func(j *jobs) float64 { return j.unfair(units.Seconds) }},
		jobFigure{"user spread", "95th percentile of the users' mean bounded slowdowns, divided by their median, if the log names users", "spread of the users' slowdowns", "", model.Minimise, (*jobs).userSpread})
}

// jobsOf returns the jobs of a solution; ok is false for a problem without jobs that wait.
func jobsOf(in model.Instance, s model.Solution) (j *jobs, ok bool, err error) {
	teller, is := in.(model.OutcomeTeller)
	if !is || in.Metrics()[0].Key != "response" {
		return nil, false, nil
	}
	all, err := teller.Outcomes(s)
	if err != nil {
		return nil, false, err
	}
	j = &jobs{from: math.Inf(1), to: math.Inf(-1)}
	b, _ := in.(*model.Batch)
	through := b != nil && b.Tiers == 1
	for k := range all {
		if !all[k].Ran {
			continue
		}
		j.outcomes = append(j.outcomes, all[k])
		j.from, j.to, through = min(j.from, all[k].SubmitS), max(j.to, all[k].SubmitS), through && all[k].Segments == 1
		if b != nil {
			j.jobs = append(j.jobs, &b.Jobs[k])
		}
	}
	tenth := (j.to - j.from) / 10
	j.from, j.to = j.from+tenth, j.to-tenth
	if through && len(b.Nodes) == 0 { // what jobs hold of nodes isn't a number of them
		j.processors = b.Processors
		j.late = lateness(j)
	}
	return j, len(j.outcomes) > 0, nil
}

// values returns a quantity of all jobs in ascending order.
func (j *jobs) values(q *quantity) []float64 {
	if all := j.sorted[q.key]; all != nil {
		return all
	}
	all := make([]float64, len(j.outcomes))
	for k := range j.outcomes {
		all[k] = q.of(&j.outcomes[k])
	}
	slices.Sort(all)
	if j.sorted == nil {
		j.sorted = map[string][]float64{}
	}
	j.sorted[q.key] = all
	return all
}

func (j *jobs) mean(q *quantity) float64 { return sum(j.values(q)) / float64(len(j.outcomes)) }

// quantile returns the least value that so many percent of the jobs don't exceed.
func (j *jobs) quantile(q *quantity, percent int) float64 {
	all := j.values(q)
	if len(all) == 0 {
		return math.NaN()
	}
	return all[max(0, (percent*len(all)+99)/100-1)]
}

// area returns processes times runtime.
func area(o *model.Outcome) float64 { return float64(float64(o.Processes) * o.WorkS) } // rounded, not fused

func (j *jobs) byArea(q *quantity) float64 {
	sum, areas := 0.0, 0.0
	for k := range j.outcomes {
		o := &j.outcomes[k]
		sum += float64(area(o) * q.of(o))
		areas += area(o)
	}
	return sum / areas
}

// steady returns the jobs submitted in the steady time.
func (j *jobs) steady() *jobs {
	if j.middle != nil {
		return j.middle
	}
	some := &jobs{}
	for k := range j.outcomes {
		if o := &j.outcomes[k]; o.SubmitS >= j.from && o.SubmitS <= j.to {
			some.outcomes = append(some.outcomes, *o)
		}
	}
	j.middle = some
	return some
}

// steadyUtilisation returns the processors that the jobs hold in the steady time, in percent;
// NaN where jobs are interrupted or share processors.
func (j *jobs) steadyUtilisation() float64 {
	return j.steadyShare(float64(j.processors), func(int) float64 { return 1 })
}

// steadyShare returns the share of a capacity that jobs hold in the steady time, in percent, if each process of the k-th
// one holds so much; NaN without a capacity or such a time.
func (j *jobs) steadyShare(capacity float64, each func(k int) float64) float64 {
	if capacity == 0 || !(j.to > j.from) {
		return math.NaN()
	}
	held := 0.0
	for k := range j.outcomes {
		o := &j.outcomes[k]
		held += float64(float64(o.Processes) * each(k) * max(0, min(o.EndS, j.to)-max(o.StartS, j.from)))
	}
	return 100 * held / (capacity * (j.to - j.from))
}

// SteadyUse names the metric of a run that is the share of a resource of nodes that jobs hold in the steady time, in
// percent.
func SteadyUse(resource string) string { return "steady use of " + resource }

// dominant returns the resource of which a job of nodes takes the largest share of all that there is (Ghodsi et al.:
// Dominant Resource Fairness, 2011), the first of several; "" without nodes.
func dominant(b *model.Batch, k int) (name string) {
	most := 0.0
	if n := b.Jobs[k].Needs; n != nil {
		for r, need := range n.Each {
			if share := float64(need) / float64(view.CapacityOf(b.Nodes, r)); need > 0 && share > most {
				name, most = b.Resources[r], share
			}
		}
	}
	return name
}

// unfair returns the mean of a figure of the jobs' lateness, where that is known.
func (j *jobs) unfair(of func(late int64) float64) float64 {
	sum, n := 0.0, 0.0
	for _, x := range j.late {
		if x != unknown {
			sum += of(x)
			n++
		}
	}
	return sum / n
}

// userSpread returns the 95th percentile of the users' mean bounded slowdowns over their
// median; NaN where no users are known.
func (j *jobs) userSpread() float64 {
	sums, counts := map[string]float64{}, map[string]float64{}
	for k, job := range j.jobs {
		if l := job.Log; l != nil && l.User != "" {
			sums[l.User] += j.outcomes[k].Slowdown()
			counts[l.User]++
		}
	}
	if len(sums) == 0 {
		return math.NaN()
	}
	var means []float64
	for user, sum := range sums {
		means = append(means, sum/counts[user])
	}
	return stats.Quantile(0.95, means) / stats.Median(means)
}

// jobMetrics puts the figures of a solution's jobs into a record's metrics.
func jobMetrics(in model.Instance, s model.Solution, into map[string]float64) error {
	j, ok, err := jobsOf(in, s)
	if err != nil || !ok {
		return err
	}
	for _, f := range jobFigures() {
		if _, there := into[f.key]; !there {
			into[f.key] = f.of(j)
		}
	}
	if b, is := in.(*model.Batch); is && len(b.Nodes) > 0 {
		for r, name := range b.Resources {
			into[SteadyUse(name)] = j.steadyShare(float64(view.CapacityOf(b.Nodes, r)), func(k int) float64 { return float64(j.jobs[k].Needs.Each[r]) })
		}
	}
	return nil
}

// notes returns the notes that the columns of a table need.
func notes(columns []string) []string {
	if slices.ContainsFunc(columns, func(c string) bool { return len(c) > 6 && c[:7] == "steady " }) {
		return []string{fmt.Sprintf("%s.", steadyRule)}
	}
	return nil
}
