package papers

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/gapwise/gapwise/internal/runs"
	"github.com/gapwise/gapwise/internal/words"
	"gonum.org/v1/gonum/stat"
)

// dagFindings are those of Yousaf and Welzl (network-aware HEFT), sections 6.3 to
// 6.5: Tables 3 to 8. Figures are of means, as in the paper: the increase is that of
// HEFT's makespan by contention, the decrease that of the realised one by the rounds.
func dagFindings(records []runs.Record, _ []string) ([]Finding, error) {
	s, err := newDAGGraphs(records)
	if err != nil {
		return nil, err
	}
	const printed = 0.1 // share of a printed figure up to which ours agrees
	all := []Finding{
		near("average original makespan (s)", s.original(), 349.191711, printed),
		near("increase by contention (%)", s.increase(), 29.65, printed),
		near("decrease by the rounds (%)", s.decrease(), 18.31, printed),
		near("round of the best schedule", s.rounds(), 7.099679, printed),
	}
	tasks, fat, jump := s.by("tasks"), s.by("fat"), s.by("jump")
	var above, wider []claim
	for _, p := range tasks {
		above = append(above, claim{"increase at " + p.where, p.increase(), 23, false})
	}
	widest := fat[len(fat)-1]
	for _, p := range fat[:len(fat)-1] {
		d := difference(widest.increase(), p.increase())
		wider = append(wider, claim{fmt.Sprintf("increase at %s minus that at %s", widest.where, p.where), d, 0, false})
	}
	all = append(all, every("contention adds more than 23 % at every number of tasks", above),
		grows("more tasks: the rounds gain more", tasks, dagGraphs.decrease),
		grows("more tasks: the best schedule comes later", tasks, dagGraphs.rounds),
		every("the widest graphs are stretched most", wider),
		near(fmt.Sprintf("the widest graphs take almost twice as long: increase at %s (%%)", widest.where), widest.increase(), 94.17, printed))
	for _, p := range []string{"regular", "density"} {
		all = append(all, alike(p, "increase", s.by(p), dagGraphs.increase), alike(p, "decrease", s.by(p), dagGraphs.decrease))
	}
	return append(all, grows("longer jumps: contention adds more", jump, dagGraphs.increase),
		grows("longer jumps: the rounds gain more", jump, dagGraphs.decrease),
		grows("longer jumps: the best schedule comes later", jump, dagGraphs.rounds)), nil
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

// dagPoint is the graphs with one value of a parameter.
type dagPoint struct {
	where string
	dagGraphs
}

// newDAGGraphs reads the runs of HEFT and the network-aware HEFT.
func newDAGGraphs(records []runs.Record) (s dagGraphs, err error) {
	index, draws, setting := map[string]*dagGraph{}, map[string][2]float64{}, ""
	for i := range records {
		r := &records[i]
		if r.Algorithm != "heft" && r.Algorithm != "network-aware" || r.Objective == nil {
			continue
		}
		m := daggenName.FindStringSubmatch(r.Instance)
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
		if len(s.by(p)) < 2 {
			return s, errors.New("findings about dag need runs of heft and network-aware at two values at least of " + p)
		}
	}
	return s, nil
}

// daggenName is the name of an instance whose graph is a daggen file's: the graph,
// and all the rest but the draw.
var daggenName = regexp.MustCompile(`^(.*-d[0-9]+)-(m[0-9]+-.*)-[0-9]+$`)

// by groups the graphs by a parameter, ascending.
func (s dagGraphs) by(parameter string) (all []dagPoint) {
	var values []float64
	for _, g := range s {
		if x := g.params[parameter]; !slices.Contains(values, x) {
			values = append(values, x)
		}
	}
	slices.Sort(values)
	for _, x := range values {
		here := slices.DeleteFunc(slices.Clone(s), func(g *dagGraph) bool { return g.params[parameter] != x })
		all = append(all, dagPoint{parameter + " " + words.Figure(x), here})
	}
	return all
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
	return estimate{sum / n, z * math.Sqrt(variance)}
}

// ratio estimates by how many percent the mean of y is above that of x, by the
// linear approximation of experiment.change.
func (s dagGraphs) ratio(y, x func(*dagGraph) float64) estimate {
	below := s.stratified(x).mean
	r := s.stratified(y).mean / below
	return estimate{100 * (r - 1), s.stratified(func(g *dagGraph) float64 { return 100 * (y(g) - r*x(g)) / below }).half}
}

func planned(g *dagGraph) float64   { return g.planned }
func stretched(g *dagGraph) float64 { return g.stretched }

// original estimates the makespan of HEFT's plans (s).
func (s dagGraphs) original() estimate { return s.stratified(planned) }

// rounds estimates the round of the best schedule.
func (s dagGraphs) rounds() estimate {
	return s.stratified(func(g *dagGraph) float64 { return g.round })
}

// increase estimates by how many percent contention lengthens HEFT's plans.
func (s dagGraphs) increase() estimate { return s.ratio(stretched, planned) }

// decrease estimates by how many percent the rounds shorten HEFT's realised makespan.
func (s dagGraphs) decrease() estimate {
	d := s.ratio(func(g *dagGraph) float64 { return g.best }, stretched)
	return estimate{-d.mean, d.half}
}

// grows is the finding that a figure is larger at each point than at the one before.
func grows(text string, points []dagPoint, of func(dagGraphs) estimate) Finding {
	var claims []claim
	for k := 1; k < len(points); k++ {
		claims = append(claims, claim{fmt.Sprintf("from %s to %s", points[k-1].where, points[k].where), difference(of(points[k].dagGraphs), of(points[k-1].dagGraphs)), 0, false})
	}
	return every(text, claims)
}

// almostAlike is how many points the figures are apart that the paper calls almost
// identical: 2.68 in Table 6, rounded up.
const almostAlike = 3.0

// alike is the finding that a figure hardly depends on a parameter.
func alike(parameter, figure string, points []dagPoint, of func(dagGraphs) estimate) Finding {
	var claims []claim
	for _, p := range points[1:] {
		d := difference(of(p.dagGraphs), of(points[0].dagGraphs))
		claims = append(claims, claim{fmt.Sprintf("at %s minus at %s", p.where, points[0].where), estimate{math.Abs(d.mean), d.half}, almostAlike, true})
	}
	return every(fmt.Sprintf("%s hardly matters: the %s is almost the same (within %g points)", parameter, figure, almostAlike), claims)
}
