// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// Run is a record with the results of all records on its instance.
type Run struct {
	*Record
	Known *Known
}

// Number returns a figure that may be absent, NaN if it is.
func Number(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// Value returns the run's objective, NaN without a solution.
func (r Run) Value() float64 { return Number(r.Objective) }

// Gap returns the gap to the best bound that any run has.
func (r Run) Gap() float64 { return r.Known.Gap(r.Value()) }

// Failed reports whether the run found nothing where there may be something.
func (r Run) Failed() bool { return r.Objective == nil && !r.Known.Infeasible }

// best returns the best objective of those that the run is compared with.
func (r Run) best() float64 { return r.Known.BestOf(r.Class()) }

// degradation returns the distance to the best objective as a share of it
// (VCSched paper, section 4.2.1).
func (r Run) degradation() float64 {
	best := r.best()
	if best == 0 {
		return math.NaN()
	}
	return math.Abs(r.Value()-best) / math.Abs(best)
}

// degradationOfAll is degradation; a run without a solution degrades by 1, as the VCSched
// paper counts "over all instances". NaN where no algorithm has a solution.
func (r Run) degradationOfAll() float64 {
	if r.Objective == nil && !math.IsNaN(r.best()) {
		return 1
	}
	return r.degradation()
}

// metric returns one of the run's metrics, its objectives included; NaN without it.
func (r Run) metric(key string) float64 {
	metrics := r.metrics()
	switch key {
	case metrics[0].Key:
		return r.Value()
	case metrics[1].Key:
		return Number(r.Second)
	}
	if x, ok := r.Metrics[key]; ok {
		return x
	}
	return math.NaN()
}

// half returns the half-width of the confidence interval by batch means of one of the
// run's values, NaN without it.
func (r Run) half(key string) float64 {
	metrics := r.metrics()
	switch key {
	case objectiveKey, metrics[0].Key:
		return r.metric(firstHalf)
	case secondKey, metrics[1].Key:
		return r.metric(secondHalf)
	}
	return math.NaN()
}

// measure is a figure of a run. Curves, comparisons and findings are about measures, and
// columns of tables aggregate them over runs.
type measure struct {
	name, help string
	kinds      []model.Kind                // of the runs that have it; nil: all
	of         func(Run) float64           // NaN: this run hasn't it
	title      model.Metric                // name, unit and sense, if they are the same for all runs
	about      func(*Record) *model.Metric // else
}

// metric describes the measure for runs like r.
func (m *measure) metric(r *Record) model.Metric {
	if m.about != nil {
		return *m.about(r)
	}
	return m.title
}

// at returns the measure of a run.
func (m *measure) at(r Run) (float64, error) {
	if len(m.kinds) > 0 && !slices.Contains(m.kinds, r.Kind) {
		return 0, fmt.Errorf("%q goes with %s, the run on %s is of %s", m.name, joined(m.kinds), r.Instance, r.Kind)
	}
	y := m.of(r)
	if math.IsInf(y, 0) {
		return 0, fmt.Errorf("%q of %s on %s is infinite", m.name, r.Algorithm, r.Instance)
	}
	return y, nil
}

// yes is 1 for true, 0 otherwise.
func yes(is func(Run) bool) func(Run) float64 {
	return func(r Run) float64 {
		if is(r) {
			return 1
		}
		return 0
	}
}

// percent returns a share in percent.
func percent(share func(Run) float64) func(Run) float64 {
	return func(r Run) float64 { return 100 * share(r) }
}

// measures is the registry: the metrics of every problem, then the figures of all runs.
var measures = sync.OnceValue(func() []measure {
	var all []measure
	for _, m := range metrics() {
		all = append(all, measure{m.Key, fmt.Sprintf("%s, of %s", m.Name, joined(m.kinds)), m.kinds, func(r Run) float64 { return r.metric(m.Key) }, m.Metric, nil})
	}
	detail := func(key, help, name, unit string, kind model.Kind) measure {
		return measure{key, help, []model.Kind{kind}, func(r Run) float64 { return r.metric(key) }, model.Metric{Name: name, Unit: unit, Sense: model.Minimise}, nil}
	}
	plain := func(key, help, name, unit string, of func(Run) float64) measure {
		return measure{key, help, nil, of, model.Metric{Name: name, Unit: unit, Sense: model.Minimise}, nil}
	}
	for _, f := range jobFigures() {
		kinds := []model.Kind{model.KindBatch, model.KindTVC}
		if k := slices.IndexFunc(all, func(m measure) bool { return m.name == f.key }); k >= 0 { // a metric of one of them
			all[k].kinds = kinds
			continue
		}
		all = append(all, measure{f.key, f.help + ", of " + joined(kinds) + " with a queue", kinds, func(r Run) float64 { return r.metric(f.key) }, model.Metric{Name: f.name, Unit: f.unit, Sense: f.sense}, nil})
	}
	return append(all,
		measure{objectiveKey, "objective", nil, Run.Value, model.Metric{}, func(r *Record) *model.Metric { return &r.metrics()[0] }},
		measure{secondKey, "second objective", nil, func(r Run) float64 { return Number(r.Second) }, model.Metric{}, func(r *Record) *model.Metric { return &r.metrics()[1] }},
		plain("gap %", "gap to the best bound proved by any run", "gap", "%", percent(Run.Gap)),
		measure{"bound", "bound of the run itself", nil, func(r Run) float64 { return Number(r.Bound) }, model.Metric{}, func(r *Record) *model.Metric {
			m := r.metrics()[0]
			return &model.Metric{Name: "bound of " + m.Name, Unit: m.Unit, Sense: -m.Sense} // the tighter one is the better one
		}},
		plain("unsolved %", "100 for a run without a solution, 0 otherwise", "runs without a solution", "%", percent(yes(func(r Run) bool { return r.Objective == nil }))),
		plain("deg. all %", "degradation from the best of the chosen algorithms; 100 without a solution", "degradation", "%", percent(Run.degradationOfAll)),
		plain("time", "time of a run", "time", "s", func(r Run) float64 { return r.ElapsedS }),
		plain("cpu", "CPU time of a run and its judgement, for runs that had the process to themselves (bench --workers 1)", "CPU time", "s", func(r Run) float64 { return Number(r.CPUS) }),
		plain("primal integral", "primal gap to the best objective of the compared algorithms (Berthold 2013), over the time of the longest of their runs on the instance", "primal integral", "s", Run.primalIntegral),
		plain("failure %", "100 for a run without a solution, 0 for another; not for instances proved infeasible", "failures", "%", func(r Run) float64 {
			if r.Known.Infeasible {
				return math.NaN()
			}
			return percent(yes(Run.Failed))(r)
		}),
		plain("degradation %", "distance to the best objective of the compared algorithms", "degradation", "%", percent(Run.degradation)),
		detail("planned", "makespan that the first plan promised, of dag", "planned makespan", "s", model.KindDAG),
		detail("rounds", "number of the round with the best plan, of dag", "round of the best plan", "", model.KindDAG),
		detail("preempted", "of tvc, preemptions, those included that go on at once in place", "preemptions", "", model.KindTVC))
})

// measureOf returns the measure of a name, nil if there is none.
func measureOf(name string) *measure {
	all := measures()
	if k := slices.IndexFunc(all, func(m measure) bool { return m.name == name }); k >= 0 {
		return &all[k]
	}
	return nil
}

// Measure returns a measure of a run; the name is one of ValueNames.
func Measure(name string, r Run) (float64, error) { return measureOf(name).at(r) }

// kindsMetric is a metric with the problems that have one of this key.
type kindsMetric struct {
	model.Metric
	kinds []model.Kind
}

// metrics returns the metrics of all problems, by any reading of their instances, each key once. It leaves out the
// default objective: that depends on the instance's goal, it is "objective".
func metrics() (all []*kindsMetric) {
	for _, p := range gapwise.Problems() {
		readings := []model.Instance{p.Kind.New()}
		for _, v := range p.Variants {
			for _, value := range v.Values {
				readings = append(readings, v.With(p.Kind.New(), value))
			}
		}
		for _, in := range readings {
			for _, m := range in.Metrics() {
				k := slices.IndexFunc(all, func(o *kindsMetric) bool { return o.Key == m.Key })
				switch {
				case m.Key == p.Kind.New().Metrics()[0].Key:
				case k < 0:
					all = append(all, &kindsMetric{m, []model.Kind{p.Kind}})
				case !slices.Contains(all[k].kinds, p.Kind):
					all[k].kinds = append(all[k].kinds, p.Kind)
				}
			}
		}
	}
	return all
}

// joined lists kinds in words.
func joined(kinds []model.Kind) string {
	var all []string
	for _, k := range kinds {
		all = append(all, string(k))
	}
	return strings.Join(all, " and ")
}

// ValueNames returns the measures that curves, comparisons and findings are about, each
// with its description.
func ValueNames() [][2]string {
	var all [][2]string
	for _, m := range measures() {
		all = append(all, [2]string{m.name, m.help})
	}
	return all
}

// valueOf returns the measure that a name means for some records. The optimised figure has its own name there, like
// response or makespan, and is the objective; a name may lack its " %". nil if there is none.
func valueOf(name string, records []Record) *measure {
	if m := metricOf(records, 0); m != nil && m.Key == name {
		return measureOf(objectiveKey)
	}
	if m := measureOf(name); m != nil {
		return m
	}
	return measureOf(name + " %")
}

// metricOf returns the objective of all records (0), or their second one (1); nil if they
// have several.
func metricOf(records []Record, place int) *model.Metric {
	var one *model.Metric
	for i := range records {
		m := records[i].metrics()[place]
		if one != nil && *one != m {
			return nil
		}
		one = &m
	}
	return one
}
