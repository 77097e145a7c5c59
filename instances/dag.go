// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/internal/core/features"
	"github.com/gapwise/gapwise/internal/core/view"
	"github.com/gapwise/gapwise/model"
)

// DAGSpec is the recipe of a random DAG: a graph in levels as daggen draws it
// (F. Suter, S. Hunold), with whole random costs.
//
// The levels hold about Tasks^Fat tasks each; Regular says how evenly. A task has up to Density times the width of the
// level before as parents, from the Jump levels before its own. The costs on each machine and the data of each edge are
// uniform on 1..MaxCost and 1..MaxData; a MaxData of 0 means no data. A task has one such cost if Kinds is set, and
// machine m takes 1 + m mod Kinds times as long. If Cores is set, each machine has so many, and a task takes
// a uniform number of 1..Cores of them. Otherwise machines run one task at a time.
//
// If CCR is set, all data are scaled to that ratio of communication to computation, as package features measures it
// (Topcuoglu, Hariri, Wu 2002); graph and costs stay.
type DAGSpec struct {
	Tasks    int     `key:"tasks" default:"20" small:"3,5" hard:"80" usage:"number of tasks"`
	Fat      float64 `key:"fat" default:"0.5" usage:"from a chain (near 0) to one level (1)"`
	Density  float64 `key:"density" default:"0.5" usage:"number of parents, as a share of the level before"`
	Regular  float64 `key:"regular" default:"0.9" usage:"evenness of the levels, 0 to 1"`
	Jump     int     `key:"jump" default:"1" usage:"number of levels that an edge may span"`
	MaxCost  int     `key:"max_cost" default:"50" usage:"largest cost of a task, in seconds"`
	MaxData  int     `key:"max_data" default:"50" usage:"largest data of an edge; 0: none"`
	CCR      float64 `key:"ccr" default:"0" shown:"as drawn" min:"0" usage:"mean time of a transfer divided by the mean cost of a task; data are scaled to it; 0: as drawn"`
	Machines int     `key:"machines" default:"3" small:"2" usage:"number of machines"`
	Kinds    int     `key:"kinds" default:"0" shown:"any costs" usage:"number of kinds of machines; kind k takes k times as long; 0: any costs"`
	Cores    int     `key:"cores" default:"0" shown:"one task at a time" usage:"number of cores of each machine; a task takes 1 to all; 0: one task at a time"`
	// Platform is one of Presets.
	Platform string              `key:"platform" default:"uniform" small:"bus" usage:"a preset: paper, uniform, bus or star"`
	Transfer model.TransferModel `key:"transfers" shown:"ideal" small:",fair" usage:"ideal, fair, tcp or tcp-all"`
	Index    int
	Seed     uint64
	// Daggen, if not empty, is a file of graphs to use instead of drawing one: like daggen-1296.jsonl, or daggen-1296
	// itself. It gives graph Index / Draws, and draw Index % Draws of the costs.
	Daggen string `key:"daggen" file:"yes" usage:"take the graphs of a daggen FILE, or of daggen-1296, which are generated"`
	// Graphs is how many graphs of the file a series takes, from its beginning.
	Graphs int `key:"graphs" min:"1" usage:"number of the daggen file's graphs to take"`
	Draws  int
}

// count implements counter: every graph of a file gets as many draws of costs.
func (s *DAGSpec) count(draws int) int {
	if s.Daggen != "" {
		return s.Graphs * draws
	}
	return draws
}

// nth implements Spec. The parameters of a graph from a file are the file's;
// they are missing if the file can't be read, which Load then reports.
func (s *DAGSpec) nth(k, draws int, seed uint64) Planned {
	one := *s
	one.Index, one.Seed = k, seed
	planned := func(index int) Planned {
		c := newPlanned(&one, one.name(), index, one.Generate)
		if one.CCR == 0 { // then it is what the instance has
			delete(c.Params, "ccr")
		}
		return c
	}
	if one.Daggen == "" {
		return planned(k)
	}
	one.Draws = draws
	c := planned(k % draws)
	all, err := loadDaggen(one.Daggen)
	if err != nil || k/draws >= len(all) {
		c.Params = nil
		return c
	}
	g := &all[k/draws]
	for key, value := range map[string]float64{"tasks": float64(g.Tasks), "fat": g.Fat, "density": g.Density, "regular": g.Regular, "jump": float64(g.Jump)} {
		c.Params[key] = value
	}
	return c
}

// checkKeys implements Spec.
func (s *DAGSpec) checkKeys(given map[string]bool) error {
	switch {
	case s.Transfer != "" && !slices.Contains(model.TransferModels, s.Transfer):
		return fmt.Errorf("transfers is %q, must be one of %q", s.Transfer, model.TransferModels)
	case given["daggen"] != given["graphs"]:
		return errors.New("daggen goes with graphs, the number of the file's graphs to take")
	case given["daggen"] && (given["tasks"] || given["fat"] || given["density"] || given["regular"] || given["jump"]):
		return errors.New("daggen goes without tasks, fat, density, regular and jump: the file has them")
	}
	return nil
}

// name names everything that makes the instance, except the seed.
func (s DAGSpec) name() string {
	transfer := string(s.Transfer)
	if transfer == "" {
		transfer = string(model.TransferIdeal)
	}
	machines := fmt.Sprint("m", s.Machines)
	if s.Kinds > 0 {
		machines += fmt.Sprint("k", s.Kinds)
	}
	if s.Cores > 0 {
		machines += fmt.Sprint("x", s.Cores)
	}
	data := fmt.Sprint("b", s.MaxData)
	if s.CCR > 0 {
		data += fmt.Sprint("-ccr", s.CCR)
	}
	costs := fmt.Sprintf("%s-c%d-%s-%s-%s", machines, s.MaxCost, data, s.Platform, transfer)
	if s.Daggen != "" {
		return fmt.Sprintf("%s-d%04d-%s-%d", strings.SplitN(filepath.Base(s.Daggen), ".", 2)[0], s.Index/s.Draws, costs, s.Index%s.Draws)
	}
	percent := func(x float64) string { return fmt.Sprintf("%g", math.Round(1e6*x)/1e4) }
	return fmt.Sprintf("T%d-f%s-d%s-r%s-j%d-%s-%d", s.Tasks, percent(s.Fat), percent(s.Density), percent(s.Regular), s.Jump, costs, s.Index)
}

// check reports which value of the specification is out of range.
func (s DAGSpec) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w dag specification: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	share := func(x float64) bool { return x >= 0 && x <= 1 }
	switch {
	case s.Machines < 1 || s.Machines > 10_000:
		return bad("machines is %d, must be from 1 to 10000", s.Machines)
	case s.Kinds < 0 || s.Kinds > s.Machines:
		return bad("kinds is %d, must be from 0 to machines, %d", s.Kinds, s.Machines)
	case s.Cores < 0 || s.Cores > 1_000_000:
		return bad("cores is %d, must be from 0 to 1000000", s.Cores)
	case s.MaxCost < 1 || s.MaxCost > 1_000_000_000:
		return bad("the largest cost is %d, must be from 1 to 10^9", s.MaxCost)
	case s.MaxData < 0 || s.MaxData > 1_000_000_000:
		return bad("the largest data is %d, must be from 0 to 10^9", s.MaxData)
	case !(s.CCR >= 0 && s.CCR <= 1e6):
		return bad("ccr is %v, must be from 0 to 10^6", s.CCR)
	case s.CCR > 0 && (s.MaxData == 0 || s.Machines < 2):
		return bad("ccr goes with data and with two machines at least: max_data is %d and machines %d", s.MaxData, s.Machines)
	case s.Transfer != "" && !slices.Contains(model.TransferModels, s.Transfer):
		return bad("the transfer model is %q, must be one of %q", s.Transfer, model.TransferModels)
	case s.Index < 0:
		return bad("index is %d, must be at least 0", s.Index)
	case s.Daggen != "" && s.Draws < 1:
		return bad("draws is %d, must be at least 1", s.Draws)
	case s.Daggen != "":
		return nil
	case s.Tasks < 0 || s.Tasks > 1_000_000:
		return bad("tasks is %d, must be from 0 to 1000000", s.Tasks)
	case !(s.Fat > 0 && s.Fat <= 1):
		return bad("fat is %v, must be above 0, at most 1", s.Fat)
	case !share(s.Density):
		return bad("density is %v, must be from 0 to 1", s.Density)
	case !share(s.Regular):
		return bad("regular is %v, must be from 0 to 1", s.Regular)
	case s.Jump < 1:
		return bad("jump is %d, must be at least 1", s.Jump)
	}
	return nil
}

// Generate draws the instance. The graph and the costs don't depend on the
// platform, the transfer model, cores and CCR, so that these can be compared.
func (s DAGSpec) Generate() (*model.DAG, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d := &model.DAG{Name: s.name(), TransferModel: s.Transfer, Edges: []model.DAGEdge{}, Tasks: []model.DAGTask{}}
	n, edges := s.Tasks, [][2]int(nil)
	rng := rand.New(rand.NewPCG(s.Seed, s.stream()))
	if s.Daggen != "" {
		g, err := s.graph()
		if err != nil {
			return nil, err
		}
		n = g.Tasks
		for _, e := range g.Edges {
			edges = append(edges, [2]int{int(e[0]), int(e[1])})
		}
	} else {
		edges = s.draw(rng)
	}
	for t := range n {
		c := make([]float64, s.Machines)
		for m := range c {
			if s.Kinds == 0 || m == 0 {
				c[m] = float64(1 + rng.IntN(s.MaxCost))
			} else {
				c[m] = c[0] * float64(1+m%s.Kinds)
			}
		}
		d.Tasks = append(d.Tasks, model.DAGTask{ID: fmt.Sprint(t + 1), CostS: c})
	}
	for _, e := range edges {
		data := 0
		if s.MaxData > 0 {
			data = 1 + rng.IntN(s.MaxData)
		}
		d.Edges = append(d.Edges, model.DAGEdge{From: d.Tasks[e[0]].ID, To: d.Tasks[e[1]].ID, Data: float64(data)})
	}
	p, err := ParsePlatform(fmt.Sprintf("%s,machines=%d", s.Platform, s.Machines))
	if err != nil {
		return nil, err
	}
	d.Machines, d.Network = p.Machines, p.Network
	for m := range d.Machines {
		d.Machines[m].Speed = 0 // the costs are given
	}
	if s.Cores > 0 {
		s.addCores(d)
	}
	if err := d.Validate(); err != nil || s.CCR == 0 {
		return d, err
	}
	if err := s.scale(d); err != nil {
		return nil, err
	}
	return d, d.Validate()
}

// scale scales the data to the ratio CCR. Start-up times count in it and stay.
func (s DAGSpec) scale(d *model.DAG) error {
	startup, data, cost := features.Communication(view.OfDAG(d))
	factor := (s.CCR*cost - startup) / data
	switch {
	case !(data > 0):
		return fmt.Errorf("%w dag specification: ccr is %v, but nothing is sent in %s; give more tasks, or a smaller fat", model.ErrInvalid, s.CCR, d.Name)
	case factor < 0:
		return fmt.Errorf("%w dag specification: ccr is %v, but start-up times alone make %.4g in %s; give a larger one", model.ErrInvalid, s.CCR, startup/cost, d.Name)
	}
	for e := range d.Edges {
		d.Edges[e].Data *= factor
	}
	return nil
}

// addCores gives each machine its cores, and each task some from a random stream of their own: all else stays.
func (s DAGSpec) addCores(d *model.DAG) {
	rng := rand.New(rand.NewPCG(s.Seed, s.stream()+uint64(s.Cores)))
	d.Resources = []string{"cores"}
	for m := range d.Machines {
		d.Machines[m].Capacity = []int64{int64(s.Cores)}
	}
	for t := range d.Tasks {
		d.Tasks[t].Needs = []int64{int64(1 + rng.IntN(s.Cores))}
	}
}

// stream returns the number of the instance's own random stream: a hash of all that determines the graph and the costs.
func (s DAGSpec) stream() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, s.Tasks, s.Fat, s.Density, s.Regular, s.Jump, s.MaxCost, s.MaxData, s.Machines, s.Index, s.Draws)
	if s.Kinds > 0 {
		fmt.Fprint(h, " kinds ", s.Kinds)
	}
	return h.Sum64()
}

// draw returns the edges as pairs of task numbers, which count in the order of
// the levels.
func (s DAGSpec) draw(rng *rand.Rand) [][2]int {
	width := int(math.Pow(float64(s.Tasks), s.Fat))
	var levels [][]int
	for placed := 0; placed < s.Tasks; {
		spread := 1 - s.Regular
		w := max(1, int(float64(width)*(1+spread*(2*rng.Float64()-1))))
		w = min(w, s.Tasks-placed)
		level := make([]int, w)
		for k := range level {
			level[k] = placed + k
		}
		levels = append(levels, level)
		placed += w
	}
	var edges [][2]int
	for l := 1; l < len(levels); l++ {
		before := len(levels[l-1])
		for _, t := range levels[l] {
			parents := min(1+int(rng.Float64()*s.Density*float64(before)), before)
			mine := map[int]bool{}
			for range parents {
				from := levels[max(0, l-1-rng.IntN(s.Jump))]
				if k := rng.IntN(len(from)); len(mine) < s.Tasks {
					for tried := 0; tried < len(from); tried++ {
						if p := from[(k+tried)%len(from)]; !mine[p] {
							mine[p] = true
							edges = append(edges, [2]int{p, t})
							break
						}
					}
				}
			}
		}
	}
	return edges
}

func (s DAGSpec) graph() (*daggen, error) {
	all, err := loadDaggen(s.Daggen)
	if err != nil {
		return nil, err
	}
	if k := s.Index / s.Draws; k < len(all) {
		return &all[k], nil
	}
	return nil, fmt.Errorf("%w dag specification: graph %d of %s, which has %d", model.ErrInvalid, s.Index/s.Draws, s.Daggen, len(all))
}
