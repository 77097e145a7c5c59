// SPDX-License-Identifier: MIT

package features

import (
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// DAG returns the features of an instance. O(V M + E + M²).
//
// The ratio of communication to computation (ccr) follows Topcuoglu, Hariri, Wu 2002. It is the mean time of an edge's
// transfer between two different machines, as plans count on it, over the mean cost of a task, both over all machines
// (of a cost: all that can run the task).
func DAG(d *model.DAG) []Feature {
	g := view.OfDAG(d)
	var costs, unevenness, rates moments
	mean := make([]float64, g.Tasks) // cost of each task
	for t := range mean {
		var one moments
		for m := range g.Machines {
			if g.Runs(int32(t), int32(m)) {
				one.add(g.Cost[t*g.Machines+m], 1)
			}
		}
		mean[t] = one.mean()
		costs.add(mean[t], 1)
		if one.sum > 0 { // tasks of no cost are the same everywhere
			unevenness.add(one.cov(), 1)
		}
	}
	for a := range g.Machines {
		for b := range g.Machines {
			if rate := g.Rate[a*g.Machines+b]; a != b && rate > 0 {
				rates.add(rate, 1)
			}
		}
	}
	ccr := 0.0
	if startup, data, cost := Communication(g); len(g.Data) > 0 {
		ccr = (startup + data) / cost
	}
	// Levels by the most edges from a task without predecessors; paths by mean costs.
	level, path := make([]int, g.Tasks), make([]float64, g.Tasks)
	var widths []int
	widest, longest := 0, 0.0
	for _, t := range g.Order {
		for _, e := range g.Pred(t) {
			level[t] = max(level[t], level[g.From[e]]+1)
			path[t] = max(path[t], path[g.From[e]])
		}
		path[t] += mean[t]
		longest = max(longest, path[t])
		for len(widths) <= level[t] {
			widths = append(widths, 0)
		}
		widths[level[t]]++
		widest = max(widest, widths[level[t]])
	}
	return []Feature{
		{"tasks", "", "number of tasks", float64(g.Tasks)},
		{"machines", "", "number of machines", float64(g.Machines)},
		{"edges", "", "number of edges", float64(len(g.From))},
		{"height", "", "number of levels: the tasks on a path with the most edges", float64(len(widths))},
		{"width", "", "number of tasks on the widest level", float64(widest)},
		{"parallelism", "", "sum of all tasks' mean costs, divided by the sum on the longest path", costs.sum / longest},
		{"ccr", "", "mean time of a transfer, divided by the mean cost of a task", ccr},
		{"cov_cost", "", "mean coefficient of variation of a task's costs on the machines", unevenness.mean()},
		{"cov_rate", "", "coefficient of variation of the rates between machines", rates.cov()},
	}
}

// Communication returns the means of which ccr is the ratio, in seconds: of machines' start-up times, of the time of an
// edge's data between two different machines, and of a task's cost. O(V M + E + M²).
func Communication(g *view.Graph) (startup, data, cost float64) {
	var perData, amounts, costs moments
	for t := range g.Tasks {
		var one moments
		for m := range g.Machines {
			if g.Runs(int32(t), int32(m)) {
				one.add(g.Cost[t*g.Machines+m], 1)
			}
		}
		costs.add(one.mean(), 1)
	}
	for a := range g.Machines {
		for b := range g.Machines {
			if rate := g.Rate[a*g.Machines+b]; a != b && rate > 0 {
				perData.add(1/rate, 1)
			}
		}
	}
	for _, x := range g.Data {
		amounts.add(x, 1)
	}
	return g.MeanStartup(), amounts.mean() * perData.mean(), costs.mean()
}
