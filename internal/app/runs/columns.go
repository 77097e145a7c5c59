// SPDX-License-Identifier: MIT

package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/num/stats"
)

// column is a measure aggregated over runs.
type column struct {
	name, help string
	form       form
	of         func([]Run) float64
}

// form is how the figures of a column are written.
type form int

const (
	inFull  form = iota // to five digits
	whole               // a count
	fixed               // with two decimals
	inShare             // percent, with three decimals
	inTime              // seconds
)

// Values returns a figure of runs where they have it.
func Values(all []Run, f func(Run) float64) []float64 {
	var some []float64
	for _, r := range all {
		if x := f(r); !math.IsNaN(x) {
			some = append(some, x)
		}
	}
	return some
}

// The ways to aggregate.
func mean(x []float64) float64     { return stat.Mean(x, nil) }
func quantile(p float64) aggregate { return func(x []float64) float64 { return stats.Quantile(p, x) } }
func shifted(by float64) aggregate { return func(x []float64) float64 { return stats.Shifted(x, by) } }

func sum(all []float64) (total float64) {
	for _, x := range all {
		total += x
	}
	return total
}

type aggregate func([]float64) float64

// over aggregates a figure of the runs that have it.
func over(f func(Run) float64, a aggregate) func([]Run) float64 {
	return func(all []Run) float64 { return a(Values(all, f)) }
}

// columns lists the columns: the ones of all runs, and the metrics of every problem with their confidence intervals.
var columns = sync.OnceValue(func() []column {
	by := func(name string) func(Run) float64 { return measureOf(name).of }
	number := func(is func(Run) bool) func([]Run) float64 { return over(yes(is), sum) }
	nodes := func(r Run) float64 { return float64(r.Nodes) }
	all := []column{
		{"runs", "number of runs", whole, func(all []Run) float64 { return float64(len(all)) }},
		{"unsolved %", "share of runs without a solution, including those on infeasible instances", inShare, over(by("unsolved %"), mean)},
		{"infeasible", "instances proved infeasible", whole, number(func(r Run) bool { return r.Known.Infeasible })},
		{"failed", "runs without a solution on instances not proved infeasible", whole, number(Run.Failed)},
		{"failure %", "failed runs as a share of the runs on instances not proved infeasible", inShare, over(by("failure %"), mean)},
		{"optimal", "runs with a solution within 1e-6 of the best bound proved by any run", whole, number(func(r Run) bool { return r.Known.Optimal(r.Value()) })},
		{"verified", "runs whose solution passed the judge", whole, number(func(r Run) bool { return r.Verified && r.Sealed })},
		{"stated", "runs whose solution is only stated, not found by gapwise bench", whole, number(func(r Run) bool { return (r.Objective != nil || r.Verified) && !(r.Verified && r.Sealed) })},
		{"objective", "mean objective", inFull, over(by(objectiveKey), mean)},
		{"bound", "mean bound of the run itself", inFull, over(by("bound"), mean)},
		{"second", "mean second objective", inFull, over(by(secondKey), mean)},
		{firstHalf, "half-width of the 95 % confidence interval of the mean objective; for one run, by batch means", inFull, halfOf(objectiveKey)},
		{secondHalf, "half-width of the 95 % confidence interval of the mean second objective; for one run, by batch means", inFull, halfOf(secondKey)},
		{"planned", "mean makespan that the first plan promised", inFull, over(by("planned"), mean)},
		{"longer %", "mean objective divided by the mean planned makespan, minus 1", inShare, func(all []Run) float64 {
			return 100 * (mean(Values(all, Run.Value))/mean(Values(all, by("planned"))) - 1)
		}},
		{"rounds", "mean number of the round with the best plan", inFull, over(by("rounds"), mean)},
		{"embeddable", "mean number of rejected requests for which an embedding existed (embeddable: yes)", fixed, over(func(r Run) float64 { return r.metric("embeddable") }, mean)},
		{"preempted", "mean number of preemptions, as the paper counts them, of tvc", fixed, over(by("preempted"), mean)},
		{"gap mean %", "mean gap to the best bound proved by any run; to a stated bound if none is proved", inShare, over(by("gap %"), mean)},
		{"gap median %", "median gap to the best bound proved by any run", inShare, over(by("gap %"), quantile(0.5))},
		{"gap p95 %", "95th percentile of the gap to the best bound", inShare, over(by("gap %"), quantile(0.95))},
		{"gap max %", "largest gap to the best bound proved by any run", inShare, over(by("gap %"), stats.Largest)},
		{"gap<=1% %", "share of instances with a gap of at most 1 %, or proved infeasible", inShare, over(percent(yes(func(r Run) bool { return r.Known.Infeasible || r.Gap() <= 0.01 })), mean)},
		{"deg. mean %", "mean degradation from the best objective of the table's algorithms of the same class: online, offline or yardstick", inShare, over(by("degradation %"), mean)},
		{"deg. max %", "largest degradation from the best objective", inShare, over(by("degradation %"), stats.Largest)},
		{"deg. all %", "mean degradation of all runs on instances that an algorithm of the table solved; a run without a solution counts as 100 %", inShare, over(by("deg. all %"), mean)},
		{"deg. > 3 %", "runs whose degradation is larger than 3 %", whole, number(func(r Run) bool { return r.degradation() > 0.03 })},
		{"deg. > 10 %", "runs whose degradation is larger than 10 %", whole, number(func(r Run) bool { return r.degradation() > 0.1 })},
		{"time mean", "mean time of a run", inTime, over(by("time"), mean)},
		{"time geo.", "shifted geometric mean of the times, with a shift of 1 s", inTime, over(by("time"), shifted(1))},
		{"time max", "longest time of a run", inTime, over(by("time"), stats.Largest)},
		{"time sum", "time of all runs together", inTime, over(by("time"), sum)},
		{"cpu mean", "mean CPU time of a run and its judgement, for runs that had the process to themselves (bench --workers 1)", inTime, over(by("cpu"), mean)},
		{"cpu sum", "CPU time of these runs together", inTime, over(by("cpu"), sum)},
		{"primal mean", "mean primal integral (Berthold 2013): the primal gap to the best objective of the table's algorithms, over the time of the longest run on the instance", inTime, over(by("primal integral"), mean)},
		{"nodes mean", "mean nodes of a run", inFull, over(nodes, mean)},
		{"nodes geo.", "shifted geometric mean of the nodes, with a shift of 100", inFull, over(nodes, shifted(100))},
		{"best", "runs that no other algorithm of the same class in the table beats on the instance", whole,
			number(func(r Run) bool { return r.degradation() <= tieWithin || r.Value() == r.best() })},
	}
	for _, m := range metrics() {
		name := "mean " + strings.TrimPrefix(m.Name, "mean ")
		all = append(all, column{m.Key, fmt.Sprintf("%s, of %s", name, joined(m.kinds)), fixed, over(by(m.Key), mean)},
			column{strings.TrimSuffix(m.Key, " %") + " ±", "half-width of the 95 % confidence interval of the " + name, fixed, halfOf(m.Key)})
	}
	for _, f := range jobFigures() {
		if !slices.ContainsFunc(all, func(c column) bool { return c.name == f.key }) {
			all = append(all, column{f.key, f.help, fixed, over(by(f.key), mean)})
		}
	}
	return all
})

// halfOf returns the half-width of the confidence interval of the mean of a measure, NaN
// where there is none. That of a single run is in its record.
func halfOf(name string) func([]Run) float64 {
	return func(all []Run) float64 {
		of := measureOf(name).of
		values := Values(all, of)
		switch len(values) {
		case 0:
			return math.NaN()
		case 1:
			return all[slices.IndexFunc(all, func(r Run) bool { return !math.IsNaN(of(r)) })].half(name)
		}
		_, half := Interval(values)
		return half
	}
}

// ColumnNames returns the columns, each with its description.
func ColumnNames() [][2]string {
	var all [][2]string
	for _, c := range columns() {
		all = append(all, [2]string{c.name, c.help})
	}
	return all
}
