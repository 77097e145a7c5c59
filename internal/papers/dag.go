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

	"github.com/gapwise/gapwise/internal/runs"
)

// dagFindings are those of Yousaf and Welzl (network-aware HEFT), sections 6.3 to
// 6.5: Tables 3 to 8. Figures are of means, as in the paper: the increase is that of
// HEFT's makespan by contention, the decrease that of the realised one by the rounds.
func dagFindings(s *scope, records []runs.Record, _ []string) ([]Finding, error) {
	graphs, err := newDAGGraphs(records)
	if err != nil {
		return nil, err
	}
	by := map[string]*experiment{"": {points: make([][]float64, 1), of: func(c cell) estimate { return graphs.figure(c.algorithm) }}}
	for _, p := range dagParameters {
		e := &experiment{x: []string{p}}
		var here []dagGraphs
		for _, x := range graphs.values(p) {
			e.points, here = append(e.points, []float64{x}), append(here, graphs.at(p, x))
		}
		e.of = func(c cell) estimate { return here[c.point].figure(c.algorithm) }
		by[p] = e
	}
	return s.check("all", by)
}

// figure estimates a figure of the graphs: the makespan of HEFT's plans (s), by how many
// percent contention lengthens them and the rounds shorten what HEFT realises, and the
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

// daggenName is the name of an instance whose graph is a daggen file's: the graph,
// and all the rest but the draw.
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

// stratified estimates the mean of some figures of graphs. The parameters of graphs
// aren't drawn but a grid; what is drawn is each graph of a grid point, so the
// variance is that within grid points (Cochran: Sampling Techniques, section 5.4):
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

// ratio estimates by how many percent the mean of y is above that of x, by the
// linear approximation of experiment.change.
func (s dagGraphs) ratio(y, x func(*dagGraph) float64) estimate {
	below := s.stratified(x).mean
	r := s.stratified(y).mean / below
	return estimate{mean: 100 * (r - 1), half: s.stratified(func(g *dagGraph) float64 { return 100 * (y(g) - r*x(g)) / below }).half}
}
