// SPDX-License-Identifier: MIT

package papers

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"

	"github.com/gapwise/gapwise/internal/app/runs"
)

// dagPaper is Yousaf, Welzl: Network-Aware HEFT Scheduling for Grid.
var dagPaper = &paper{
	findings: dagFindings,
	Own:      true,
	Figures: map[string]*Figure{
		"makespan": {Value: 349.191711, Where: "Table 3", What: "average original makespan, s", Margin: 0.1,
			Why: drawnAnew},
		"increase": {Value: 29.65, Where: "Table 3", What: "increase by contention in percent", Margin: 0.1,
			Why: drawnAnew},
		"decrease": {Value: 18.31, Where: "Table 3", What: "decrease by the rounds in percent", Margin: 0.1,
			Why: drawnAnew},
		"round": {Value: 7.099679, Where: "Table 3", What: "round of the best schedule", Margin: 0.1,
			Why: drawnAnew},
		"least increase": {Value: 23, Where: "section 6.4",
			What: "contention adds more than 23 percent at every number of tasks"},
		"widest": {Value: 94.17, Where: "Table 5", What: "increase of the widest graphs in percent", Margin: 0.1,
			Why: drawnAnew},
		"alike": {Value: 3, Where: "Table 6", What: "points that almost identical figures are apart",
			Why: "2.68 in Table 6, rounded up"},
		"ten stretched": {Value: 104, Where: "section 6.2",
			What: "makespan of HEFT's plan of ten tasks under contention, s"},
		"ten best": {Value: 91, Where: "section 6.2", What: "makespan of the best round of ten tasks, s"},
	},
	Tables: map[string][][]string{ // value of the parameter, increase and decrease in percent, round
		"tasks":   {{"10", "23.98", "12.67", "4.04"}, {"20", "32.47", "14.62", "7.05"}, {"50", "31.19", "26.43", "16.22"}},
		"fat":     {{"0.1", "23.31", "19.04", "7.31"}, {"0.2", "11.68", "6.39", "3.14"}, {"0.8", "94.17", "29.82", "12.15"}},
		"regular": {{"0.2", "31.04", "18.67", "7.39"}, {"0.8", "28.36", "18.07", "6.82"}},
		"density": {{"0.2", "29.70", "18.24", "7.13"}, {"0.8", "29.71", "18.47", "7.10"}},
		"jump": { // each in three thirds
			{"1.1", "11.24", "5.99", "3.39"}, {"1.2", "10.82", "6.37", "3.76"}, {"1.4", "7.89", "4.75", "2.92"},
			{"2.1", "33.21", "23.29", "8.03"}, {"2.2", "33.01", "23.52", "7.73"}, {"2.4", "33.79", "22.90", "7.61"},
			{"4.1", "55.49", "27.35", "10.33"}, {"4.2", "53.77", "26.19", "10.17"}, {"4.4", "51.54", "25.99", "10.41"},
		},
	},
}

const drawnAnew = "graphs and costs are drawn anew, for the paper's 20 draws 5"

// dagFindings are from sections 6.3 to 6.5: Tables 3 to 8. Figures are of means, as in the paper: contention
// increases HEFT's makespan, and the rounds decrease the realised one.
func dagFindings(records []runs.Record, _ []string) (func(*statements), error) {
	graphs, err := newDAGGraphs(records)
	if err != nil {
		return nil, err
	}
	by := map[string]*experiment{}
	for _, p := range dagParameters {
		e := &experiment{x: []string{p}}
		var here []dagGraphs
		for _, x := range graphs.values(p) {
			e.points, here = append(e.points, []float64{x}), append(here, graphs.at(p, x))
		}
		e.of = func(c cell) estimate { return here[c.point].figure(c.value) }
		by[p] = e
	}
	return func(s *statements) { s.ofGraphs(graphs, by) }, nil
}

// ofGraphs has the statements about all graphs, and by each of their parameters.
func (s *statements) ofGraphs(graphs dagGraphs, by map[string]*experiment) {
	s.near("HEFT's plans take {printed} s on average", graphs.figure("makespan"), "makespan")
	s.near("contention lengthens them by {printed} %", graphs.figure("increase"), "increase")
	s.near("the rounds shorten them by {printed} %", graphs.figure("decrease"), "decrease")
	s.near("the best schedule comes in round {printed} on average", graphs.figure("round"), "round")
	steps := func(parameter, figure string) claims {
		return by[parameter].later().sums("from {before} to {k}", plus(figure, "", here), minus(figure, "", before))
	}
	fat := by["fat"]
	widest := fat.last()
	s.say("contention adds more than 23 % at every number of tasks",
		by["tasks"].sums("increase at {k}", plus("increase", "", here)).above(s.limit("least increase")))
	s.say("more tasks: the rounds gain more", steps("tasks", "decrease"))
	s.say("more tasks: the best schedule comes later", steps("tasks", "round"))
	s.say("the widest graphs are stretched most",
		fat.having(func(x []float64) bool { return x[0] < fat.points[widest][0] }).sums("increase at "+fat.where(widest)+" minus that at {k}", plus("increase", "", widest), minus("increase", "", here)))
	s.near("contention lengthens the widest graphs almost twofold: by {printed} %",
		fat.mean(plus("increase", "", widest)), "widest")
	for _, p := range []string{"regular", "density"} {
		for _, v := range []string{"increase", "decrease"} {
			e := by[p]
			s.say(p+" hardly matters: the "+v+" is almost the same (within 3 points)",
				e.later().sums("at {k} minus at "+e.where(0), plus(v, "", here), minus(v, "", 0)).size().below(s.limit("alike")))
		}
	}
	s.say("longer jumps: contention adds more", steps("jump", "increase"))
	s.say("longer jumps: the rounds gain more", steps("jump", "decrease"))
	s.say("longer jumps: the best schedule comes later", steps("jump", "round"))
}

// figure estimates a figure of the graphs: the makespan of HEFT's plans (s), by how many
// percent contention lengthens them and the rounds shorten the makespan of HEFT, and the
// round of the best schedule.
func (s dagGraphs) figure(name string) estimate {
	planned, stretched := func(g *dagGraph) float64 { return g.planned }, func(g *dagGraph) float64 { return g.stretched }
	switch name {
	case "makespan":
		return s.stratified(planned)
	case "increase":
		return s.ratio(stretched, planned)
	case "decrease":
		d := s.ratio(func(g *dagGraph) float64 { return g.best }, stretched)
		return estimate{-d.mean, d.half, d.df}
	}
	return s.stratified(func(g *dagGraph) float64 { return g.round })
}

// dagParameters are daggen's, by which the paper's graphs differ.
var dagParameters = []string{"tasks", "fat", "density", "regular", "jump"}

// dagGraph holds the mean figures of a graph's draws of costs: the makespans of
// HEFT's plan, of HEFT realised and of the best round (s), and that round.
type dagGraph struct {
	params                          map[string]float64
	planned, stretched, best, round float64
}

// dagGraphs are the graphs of a daggen file in one setting of costs, platform and
// transfers, or some of them.
type dagGraphs []*dagGraph

// newDAGGraphs reads the runs of HEFT and the network-aware HEFT.
func newDAGGraphs(records []runs.Record) (s dagGraphs, err error) {
	index, draws, setting := map[string]*dagGraph{}, map[string][2]float64{}, ""
	for i := range records {
		r := &records[i]
		if r.Algorithm != "heft" && r.Algorithm != "network-aware" || r.Objective == nil {
			continue
		}
		m := daggenName().FindStringSubmatch(r.Instance)
		if m == nil {
			return s, fmt.Errorf("findings about dag are about the graphs of a daggen file, %s is none", r.Instance)
		}
		if setting != "" && m[2] != setting {
			return s, fmt.Errorf("the runs are of the settings %s and %s, give those of one", setting, m[2])
		}
		if _, err := runs.Parameters(r, dagParameters); err != nil {
			return s, err
		}
		setting = m[2]
		g := index[m[1]]
		if g == nil {
			g = &dagGraph{params: r.Params}
			index[m[1]], s = g, append(s, g)
		}
		n := draws[m[1]]
		if r.Algorithm == "heft" {
			n[0]++
			g.planned += (r.Metrics["planned"] - g.planned) / n[0]
			g.stretched += (*r.Objective - g.stretched) / n[0]
		} else {
			n[1]++
			g.best += (*r.Objective - g.best) / n[1]
			g.round += (r.Metrics["rounds"] - g.round) / n[1]
		}
		draws[m[1]] = n
	}
	for graph, n := range draws {
		if n[0] != n[1] {
			return s, fmt.Errorf("%s has %g runs of heft and %g of network-aware, give as many", graph, n[0], n[1])
		}
	}
	for _, p := range dagParameters {
		if len(s.values(p)) < 2 {
			return s, errors.New("findings about dag need runs of heft and network-aware at two values at least of " + p)
		}
	}
	return s, nil
}

// daggenName is the name of an instance with a graph from a daggen file: the graph, and all the rest but the draw.
var daggenName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.*-d[0-9]+)-(m[0-9]+-.*)-[0-9]+$`)
})

// values returns the values of a parameter, ascending.
func (s dagGraphs) values(parameter string) (all []float64) {
	for _, g := range s {
		if x := g.params[parameter]; !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	slices.Sort(all)
	return all
}

// at returns the graphs with a value of a parameter.
func (s dagGraphs) at(parameter string, x float64) dagGraphs {
	return slices.DeleteFunc(slices.Clone(s), func(g *dagGraph) bool { return g.params[parameter] != x })
}

// stratified estimates the mean of some figures of graphs. The parameters of graphs aren't drawn but a grid. Only each
// graph of a grid point is drawn, so the variance is that within grid points (Cochran: Sampling Techniques, section
// 5.4):
//
//	Var(mean) = sum over h of n_h s_h^2 / n^2
//
// for n_h graphs with the sample variance s_h^2 at grid point h, n in all.
func (s dagGraphs) stratified(of func(*dagGraph) float64) estimate {
	strata := map[[5]float64][]float64{}
	var order [][5]float64 // sums of floating-point numbers depend on their order
	n, sum := float64(len(s)), 0.0
	for _, g := range s {
		var h [5]float64
		for k, p := range dagParameters {
			h[k] = g.params[p]
		}
		if strata[h] == nil {
			order = append(order, h)
		}
		strata[h] = append(strata[h], of(g))
		sum += of(g)
	}
	variance := 0.0
	for _, h := range order { // NaN for a grid point of one graph
		variance += float64(len(strata[h])) * stat.Variance(strata[h], nil) / (n * n)
	}
	const z = 1.959964 // the normal distribution's 97.5 % quantile
	return estimate{mean: sum / n, half: z * math.Sqrt(variance)}
}

// ratio estimates by how many percent the mean of y is above the mean of x, by the linear approximation of
// experiment.change.
func (s dagGraphs) ratio(y, x func(*dagGraph) float64) estimate {
	below := s.stratified(x).mean
	r := s.stratified(y).mean / below
	return estimate{mean: 100 * (r - 1),
		half: s.stratified(func(g *dagGraph) float64 { return 100 * (y(g) - r*x(g)) / below }).half}
}
