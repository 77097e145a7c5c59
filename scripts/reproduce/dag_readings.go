package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// dagReading is a guess at how the paper's graphs and costs were made, with the
// figures that it gives: means over one draw of costs.
type dagReading struct {
	Name string
	// Fitted says that a figure was chosen to meet the printed ones.
	Fitted bool
	dagSetting
	daggen bool // its parameters are daggen's, all five
	graphs func(rng *rand.Rand) []dagSketch
	data   int // largest data of an edge
	on     instances.Platform
}

// dagSketch is a graph without costs. Edges go from lower to higher numbers.
type dagSketch struct {
	tasks  int
	edges  [][2]int
	params map[string]float64
}

const readingCost = 50 // largest cost of a task (s)

// dagReadings draws each guess and plays HEFT and the network-aware HEFT on it, under
// fair sharing.
func dagReadings() ([]dagReading, error) {
	one, err := instances.ParsePlatform("paper")
	if err != nil {
		return nil, err
	}
	pools, err := instances.ParsePlatform("paper-two-pools")
	if err != nil {
		return nil, err
	}
	// Transfers into P2 share a link, those out of it nothing.
	into := pools
	into.Network.Links, into.Network.Routes = into.Network.Links[:1], nil
	for _, r := range pools.Network.Routes {
		if r.To == "P2" {
			into.Network.Routes = append(into.Network.Routes, r)
		}
	}
	file, err := instances.LoadDaggen("daggen-1296.jsonl.gz")
	if err != nil {
		return nil, err
	}
	drawn := func(*rand.Rand) (all []dagSketch) {
		for _, g := range file {
			s := dagSketch{tasks: g.Tasks, params: map[string]float64{"tasks": float64(g.Tasks), "fat": g.Fat, "density": g.Density, "regular": g.Regular, "jump": float64(g.Jump)}}
			for _, e := range g.Edges {
				s.edges = append(s.edges, [2]int{int(e[0]), int(e[1])})
			}
			all = append(all, s)
		}
		return all
	}
	single, two := atMost(drawn, 1), atMost(drawn, 2)
	all := []dagReading{
		{Name: "daggen, one link", daggen: true, graphs: drawn, data: 50, on: one},
		{Name: "daggen, two pools", daggen: true, graphs: drawn, data: 50, on: pools},
		{Name: "daggen, only transfers into P2 share", daggen: true, graphs: drawn, data: 50, on: into},
		{Name: "daggen, one link, data 1..20", Fitted: true, daggen: true, graphs: drawn, data: 20, on: one},
		{Name: "daggen with its ROOT and END, one link", daggen: true, graphs: withEnds(drawn), data: 50, on: one},
		{Name: "daggen with its ROOT and END, two pools", daggen: true, graphs: withEnds(drawn), data: 50, on: pools},
		{Name: "one parent a task (daggen's `--density 0`), one link", daggen: true, graphs: single, data: 50, on: one},
		{Name: "one parent a task, one link, data 1..150", Fitted: true, daggen: true, graphs: single, data: 150, on: one},
		{Name: "two parents at most, one link, data 1..65", Fitted: true, daggen: true, graphs: two, data: 65, on: one},
		{Name: "one parent a task with ROOT and END, one link", daggen: true, graphs: withEnds(single), data: 50, on: one},
		{Name: "one parent a task with ROOT and END, two pools", daggen: true, graphs: withEnds(single), data: 50, on: pools},
		{Name: "Topcuoglu et al., out-degree 1 to 5, one link", graphs: topcuoglu(5), data: 50, on: one},
		{Name: "Topcuoglu et al., out-degree 1 to 5, two pools", graphs: topcuoglu(5), data: 50, on: pools},
		{Name: "Topcuoglu et al., out-degree 1, one link", graphs: topcuoglu(1), data: 50, on: one},
		{Name: "STG `samepred`, 1 predecessor on average, one link", graphs: samepred(1), data: 50, on: one},
		{Name: "STG `samepred`, 3 predecessors, one link", graphs: samepred(3), data: 50, on: one},
		{Name: "STG `layrpred`, 1 predecessor on average, one link", graphs: layrpred(1), data: 50, on: one},
		{Name: "STG `layrpred`, 3 predecessors, one link", graphs: layrpred(3), data: 50, on: one},
	}
	for i := range all {
		if err := all[i].play(); err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].Name, err)
		}
	}
	return all, nil
}

func (x *dagReading) play() error {
	rng := rand.New(rand.NewPCG(1, 13))
	for _, g := range x.graphs(rng) {
		d := &model.DAG{Name: x.Name, TransferModel: model.TransferFair, Machines: slices.Clone(x.on.Machines), Network: x.on.Network, Edges: []model.DAGEdge{}}
		for m := range d.Machines {
			d.Machines[m].Speed = 0 // the costs are given
		}
		for t := range g.tasks {
			c := make([]float64, len(d.Machines))
			for m := range c {
				c[m] = float64(1 + rng.IntN(readingCost))
			}
			d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t), CostS: c})
		}
		for _, e := range g.edges {
			d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint(e[0]), To: fmt.Sprint(e[1]), Data: float64(1 + rng.IntN(x.data))})
		}
		if err := d.Validate(); err != nil {
			return err
		}
		_, rounds, err := dagheur.NetworkAware(context.Background(), d, model.Settings{})
		if err != nil {
			return err
		}
		r := dagRun{params: g.params, planned: rounds[0].Planned, stretched: rounds[0].Realistic}
		for _, y := range rounds {
			if y.Kept {
				r.best, r.round = y.Realistic, float64(y.Round)
			}
		}
		x.runs = append(x.runs, r)
	}
	return nil
}

// Increases returns the increase (%) at each value of a parameter, or - where the
// generator has another one or none.
func (x dagReading) Increases(parameter string, values ...string) string {
	text := ""
	for k, v := range values {
		if k > 0 {
			text += " / "
		}
		if m := x.At(parameter, v); m.Runs == 0 || !x.daggen && parameter != "tasks" {
			text += "-"
		} else {
			text += fmt.Sprintf("%.0f", m.Increase())
		}
	}
	return text
}

// against calls see with each of our figures and the printed one: original makespan,
// increase, decrease, round, and the increases of Tables 4 to 8.
func (x dagReading) against(see func(ours, printed float64)) {
	all := x.All()
	see(all.Planned, paperDAG("makespan"))
	see(all.Increase(), paperDAG("increase"))
	see(all.Decrease(), paperDAG("decrease"))
	see(all.Round, paperDAG("round"))
	for _, s := range dagSplits() {
		for _, r := range s.Rows {
			value := r.Value
			if s.Parameter == "jump" {
				value = value[:1]
			}
			see(x.At(s.Parameter, value).Increase(), r.Increase)
		}
	}
}

// Off returns by what factor our figures are off the printed ones: the geometric mean
// of how many times the larger is the smaller.
func (x dagReading) Off() float64 {
	sum, n := 0.0, 0.0
	x.against(func(ours, printed float64) { sum, n = sum+math.Abs(math.Log(ours/printed)), n+1 })
	return math.Exp(sum / n)
}

// Within counts our figures within 10 % of the printed ones.
func (x dagReading) Within() (n int) {
	x.against(func(ours, printed float64) {
		if math.Abs(ours-printed) <= 0.1*printed {
			n++
		}
	})
	return n
}

// Compared counts the figures that are compared: none for a generator without daggen's
// parameters.
func (x dagReading) Compared() (n int) {
	if x.daggen {
		x.against(func(float64, float64) { n++ })
	}
	return n
}

// closest returns the reading whose figures are least off the printed ones, of all or
// of those in which nothing was fitted.
func closest(all []dagReading, fitted bool) dagReading {
	all = slices.DeleteFunc(slices.Clone(all), func(x dagReading) bool { return !x.daggen || x.Fitted && !fitted })
	return slices.MinFunc(all, func(a, b dagReading) int { return cmp.Compare(a.Off(), b.Off()) })
}

// mostWithin returns the reading with the most figures within 10 %.
func mostWithin(all []dagReading) dagReading {
	all = slices.DeleteFunc(slices.Clone(all), func(x dagReading) bool { return !x.daggen })
	return slices.MaxFunc(all, func(a, b dagReading) int { return a.Within() - b.Within() })
}

// atMost leaves the first k parents of each task.
func atMost(graphs func(*rand.Rand) []dagSketch, k int) func(*rand.Rand) []dagSketch {
	return func(rng *rand.Rand) []dagSketch {
		all := graphs(rng)
		for i := range all {
			parents := make([]int, all[i].tasks)
			all[i].edges = slices.DeleteFunc(all[i].edges, func(e [2]int) bool { parents[e[1]]++; return parents[e[1]] > k })
		}
		return all
	}
}

// withEnds adds the tasks ROOT and END of daggen's native format: before all tasks
// without a predecessor, and after all without a successor.
func withEnds(graphs func(*rand.Rand) []dagSketch) func(*rand.Rand) []dagSketch {
	return func(rng *rand.Rand) []dagSketch {
		all := graphs(rng)
		for i := range all {
			all[i] = all[i].withEnds()
		}
		return all
	}
}

func (g dagSketch) withEnds() dagSketch {
	in, out := make([]bool, g.tasks), make([]bool, g.tasks)
	for _, e := range g.edges {
		out[e[0]], in[e[1]] = true, true
	}
	h := dagSketch{tasks: g.tasks + 2, params: g.params}
	for t := range g.tasks {
		if !in[t] {
			h.edges = append(h.edges, [2]int{0, t + 1})
		}
		if !out[t] {
			h.edges = append(h.edges, [2]int{t + 1, g.tasks + 1})
		}
	}
	for _, e := range g.edges {
		h.edges = append(h.edges, [2]int{e[0] + 1, e[1] + 1})
	}
	return h
}

// readingSizes are the paper's numbers of tasks.
var readingSizes = []int{10, 20, 50}

// topcuoglu draws graphs after Topcuoglu, Hariri, Wu (2002), section 5.1: levels of
// a mean width of alpha times the square root of the tasks, alpha 0.5, 1 and 2, one
// entry and one exit, up to degree children a task on the next level.
func topcuoglu(degree int) func(*rand.Rand) []dagSketch {
	return func(rng *rand.Rand) (all []dagSketch) {
		for _, n := range readingSizes {
			for _, alpha := range []float64{0.5, 1, 2} {
				for range 100 {
					levels := [][]int{{0}}
					for t := 1; t < n-1; {
						w := int(math.Round(2 * alpha * math.Sqrt(float64(n)) * rng.Float64()))
						var level []int
						for range min(max(1, w), n-1-t) {
							level = append(level, t)
							t++
						}
						levels = append(levels, level)
					}
					levels = append(levels, []int{n - 1})
					g := dagSketch{tasks: n, params: map[string]float64{"tasks": float64(n)}}
					children := map[int][]int{}
					for l := 1; l < len(levels); l++ {
						for _, t := range levels[l] { // each task has a parent
							p := levels[l-1][rng.IntN(len(levels[l-1]))]
							children[p] = append(children[p], t)
						}
						for _, p := range levels[l-1] {
							want := min(1+rng.IntN(degree), len(levels[l]))
							for len(children[p]) < want {
								if t := levels[l][rng.IntN(len(levels[l]))]; !slices.Contains(children[p], t) {
									children[p] = append(children[p], t)
								}
							}
							for _, t := range children[p] {
								g.edges = append(g.edges, [2]int{p, t})
							}
						}
					}
					all = append(all, g)
				}
			}
		}
		return all
	}
}

// samepred draws graphs after the Standard Task Graph set's method samepred: a task's
// predecessors are any before it, with equal probability and the same mean number.
// It has an entry and an exit of its own.
func samepred(mean float64) func(*rand.Rand) []dagSketch {
	return layered(func(*rand.Rand, int) []int { return nil }, mean)
}

// layrpred is samepred with predecessors in the layer before the task's only.
func layrpred(mean float64) func(*rand.Rand) []dagSketch {
	return layered(func(rng *rand.Rand, n int) []int {
		layers := 2 + rng.IntN(n/2)
		of := make([]int, n)
		for t := range of {
			of[t] = rng.IntN(layers)
		}
		slices.Sort(of)
		return of
	}, mean)
}

func layered(layers func(rng *rand.Rand, n int) []int, mean float64) func(*rand.Rand) []dagSketch {
	return func(rng *rand.Rand) (all []dagSketch) {
		for _, n := range readingSizes {
			for range 300 {
				g := dagSketch{tasks: n, params: map[string]float64{"tasks": float64(n)}}
				of := layers(rng, n)
				for t := range n {
					var before []int
					for p := range t {
						if of == nil || of[p] == of[t]-1 {
							before = append(before, p)
						}
					}
					for _, p := range before {
						if rng.Float64() < mean/float64(len(before)) {
							g.edges = append(g.edges, [2]int{p, t})
						}
					}
				}
				all = append(all, g.withEnds())
			}
		}
		return all
	}
}
