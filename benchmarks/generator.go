package benchmarks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

// Generator draws Count instances for every combination of its lists' values.
// An absent list stands for its single default. The keys of other kinds than
// its own must be absent.
type Generator struct {
	Kind  model.Kind `yaml:"kind"`
	Count int        `yaml:"count"`
	Seed  uint64     `yaml:"seed"`

	// vcsched, see instances.VCSchedSpec
	Hosts     []int     `yaml:"hosts"`
	Jobs      []int     `yaml:"jobs"`
	Slack     []float64 `yaml:"slack"`
	MeanCPU   []float64 `yaml:"mean_cpu"`
	CoVCPU    []float64 `yaml:"cov_cpu"`
	CoVMemory []float64 `yaml:"cov_memory"`
	MaxTasks  []int     `yaml:"max_tasks"`
	Running   []float64 `yaml:"running"`
	Budget    []float64 `yaml:"budget"`

	// dag, see instances.DAGSpec
	Tasks    []int     `yaml:"tasks"`
	Fat      []float64 `yaml:"fat"`
	Density  []float64 `yaml:"density"`
	Regular  []float64 `yaml:"regular"`
	Jump     []int     `yaml:"jump"`
	MaxCost  []int     `yaml:"max_cost"`
	MaxData  []int     `yaml:"max_data"`
	Machines []int     `yaml:"machines"`
	// Platform and Transfers are names; Daggen, instead of tasks to jump, is
	// a file of graphs, each of which gets Count draws of costs.
	Platform  string              `yaml:"platform"`
	Transfers model.TransferModel `yaml:"transfers"`
	Daggen    string              `yaml:"daggen"`
	Graphs    int                 `yaml:"graphs"` // of the file, from its beginning

	// reservation, see instances.ReservationSpec
	Requests      []int      `yaml:"requests"`
	UMed          []float64  `yaml:"umed"`
	ArrivalFactor []float64  `yaml:"arrival_factor"`
	ARTime        []float64  `yaml:"artime"`
	Deadline      []float64  `yaml:"deadline"`
	PEs           []int      `yaml:"pes"`
	Parameters    string     `yaml:"parameters"`
	Log           string     `yaml:"log"` // an SWF file instead of the model
	Goal          model.Goal `yaml:"goal"`

	// Source says where the file of Daggen or Log is to be had, for those who
	// don't have it.
	Source string `yaml:"source"`
}

// Params are the generator parameters that runs can be restricted to and
// tables grouped by.
var Params = []string{"hosts", "jobs", "slack", "mean_cpu", "cov_cpu", "cov_memory", "max_tasks", "running", "budget",
	"tasks", "fat", "density", "regular", "jump", "max_cost", "max_data", "machines",
	"requests", "umed", "arrival_factor", "artime", "deadline", "pes", "draw"}

// size is the number of instances.
func (g *Generator) size() (float64, error) {
	graph := []int{len(g.Tasks), len(g.Fat), len(g.Density), len(g.Regular), len(g.Jump)}
	lists := map[model.Kind][]int{ // whose lengths multiply
		model.KindVCSched:     {len(g.Hosts), len(g.Jobs), len(g.Slack), len(g.MeanCPU), len(g.CoVCPU), len(g.CoVMemory), len(g.MaxTasks), len(g.Running), len(g.Budget)},
		model.KindDAG:         append(slices.Clone(graph), len(g.MaxCost), len(g.MaxData), len(g.Machines), g.Graphs),
		model.KindReservation: {len(g.Requests), len(g.UMed), len(g.ArrivalFactor), len(g.ARTime), len(g.Deadline), len(g.PEs)},
	}
	words := map[model.Kind]int{ // that other kinds mustn't have
		model.KindDAG:         len(g.Platform) + len(g.Transfers) + len(g.Daggen),
		model.KindReservation: len(g.Parameters) + len(g.Log) + len(g.Goal),
	}
	if lists[g.Kind] == nil {
		return 0, fmt.Errorf("kind is %q, must be one of %q", g.Kind, model.Kinds())
	}
	switch {
	case g.Kind == model.KindVCSched && (len(g.Hosts) == 0 || len(g.Jobs) == 0 || g.Count < 1):
		return 0, fmt.Errorf("hosts, jobs and count must be given")
	case g.Kind == model.KindDAG && (g.Count < 1 || g.Daggen == "" && len(g.Tasks) == 0):
		return 0, fmt.Errorf("tasks (or daggen) and count must be given")
	case g.Kind == model.KindDAG && g.Daggen != "" && (slices.Max(graph) > 0 || g.Graphs < 1):
		return 0, fmt.Errorf("daggen goes with graphs (how many of the file) and without tasks, fat, density, regular and jump: the file has them")
	case g.Kind == model.KindDAG && g.Daggen == "" && g.Graphs != 0:
		return 0, fmt.Errorf("graphs goes with daggen")
	case g.Kind == model.KindReservation && (len(g.Requests) == 0 || g.Count < 1):
		return 0, fmt.Errorf("requests and count must be given")
	case slices.Contains(g.Requests, 0) || slices.Contains(g.UMed, 0) || slices.Contains(g.ArrivalFactor, 0) || slices.Contains(g.PEs, 0):
		// 0 would stand for the specification's default.
		return 0, fmt.Errorf("requests, umed, arrival_factor and pes must be above 0")
	case g.Kind == model.KindReservation && g.Goal != "" && !slices.Contains(model.Goals, g.Goal):
		return 0, fmt.Errorf("goal is %q, must be one of %q", g.Goal, model.Goals)
	}
	if g.Source != "" && g.Daggen == "" && g.Log == "" {
		return 0, fmt.Errorf("source goes with daggen or log: it says where the file is to be had")
	}
	n := float64(g.Count)
	for kind, lengths := range lists {
		if kind == g.Kind {
			for _, k := range lengths {
				n *= float64(max(1, k))
			}
		} else if slices.Max(lengths) > 0 || words[kind] > 0 {
			return 0, fmt.Errorf("a key of another kind than %s is given", g.Kind)
		}
	}
	return n, nil
}

// orElse is the list, or the default alone.
func orElse[T any](list []T, fallback T) []T {
	if len(list) == 0 {
		return []T{fallback}
	}
	return list
}

func (g Generator) cases() []Case {
	switch g.Kind {
	case model.KindDAG:
		return g.dagCases()
	case model.KindReservation:
		return g.reservationCases()
	}
	var all []Case
	for _, h := range g.Hosts {
		for _, j := range g.Jobs {
			for _, s := range orElse(g.Slack, 0.5) {
				for _, mean := range orElse(g.MeanCPU, 0.5) {
					for _, cc := range orElse(g.CoVCPU, 0.5) {
						for _, cm := range orElse(g.CoVMemory, 0.5) {
							for _, t := range orElse(g.MaxTasks, 1) {
								for _, r := range orElse(g.Running, 0) {
									for _, b := range orElse(g.Budget, 0) {
										for k := range g.Count {
											spec := instances.VCSchedSpec{Hosts: h, Jobs: j, Slack: s, MeanCPU: mean, CoVCPU: cc,
												CoVMemory: cm, MaxTasks: t, Running: r, Budget: b, Index: k, Seed: g.Seed}
											all = append(all, specCase(spec))
										}
									}
								}
							}
						}
					}
				}
			}
		}
	}
	return all
}

func specCase(s instances.VCSchedSpec) Case {
	return Case{
		Name: s.Name(), Index: s.Index,
		Params: map[string]float64{"hosts": float64(s.Hosts), "jobs": float64(s.Jobs), "slack": s.Slack, "mean_cpu": s.MeanCPU,
			"cov_cpu": s.CoVCPU, "cov_memory": s.CoVMemory, "max_tasks": float64(s.MaxTasks), "running": s.Running, "budget": s.Budget},
		Load: func() (model.Instance, error) { return s.Generate() },
	}
}

func (g Generator) dagCases() []Case {
	var all []Case
	platform := g.Platform
	if platform == "" {
		platform = "paper"
	}
	machines := 4
	if strings.HasPrefix(platform, "paper") {
		machines = 3
	}
	for _, m := range orElse(g.Machines, machines) {
		for _, cost := range orElse(g.MaxCost, 50) {
			for _, data := range orElse(g.MaxData, 50) {
				base := instances.DAGSpec{MaxCost: cost, MaxData: data, Machines: m, Platform: platform, Transfer: g.Transfers, Seed: g.Seed}
				if g.Daggen != "" {
					base.Daggen, base.Draws = g.Daggen, g.Count
					for k := range g.Graphs * g.Count {
						base.Index = k
						all = append(all, dagCase(base, k%g.Count))
					}
					continue
				}
				for _, n := range g.Tasks {
					for _, fat := range orElse(g.Fat, 0.5) {
						for _, density := range orElse(g.Density, 0.5) {
							for _, regular := range orElse(g.Regular, 0.9) {
								for _, jump := range orElse(g.Jump, 1) {
									spec := base
									spec.Tasks, spec.Fat, spec.Density, spec.Regular, spec.Jump = n, fat, density, regular, jump
									for k := range g.Count {
										spec.Index = k
										all = append(all, dagCase(spec, k))
									}
								}
							}
						}
					}
				}
			}
		}
	}
	return all
}

// dagCase is a case of a DAG; the parameters of a graph from a file are the
// file's, without them if it can't be read, which Load then reports.
func dagCase(s instances.DAGSpec, index int) Case {
	c := Case{Name: s.Name(), Index: index, Load: func() (model.Instance, error) { return s.Generate() }}
	n, fat, density, regular, jump := s.Tasks, s.Fat, s.Density, s.Regular, s.Jump
	if s.Daggen != "" {
		all, err := instances.LoadDaggen(s.Daggen)
		if err != nil || s.Index/s.Draws >= len(all) {
			return c
		}
		g := &all[s.Index/s.Draws]
		n, fat, density, regular, jump = g.Tasks, g.Fat, g.Density, g.Regular, g.Jump
	}
	c.Params = map[string]float64{"tasks": float64(n), "fat": fat, "density": density, "regular": regular, "jump": float64(jump),
		"max_cost": float64(s.MaxCost), "max_data": float64(s.MaxData), "machines": float64(s.Machines), "draw": float64(index)}
	return c
}

func (g Generator) reservationCases() []Case {
	var all []Case
	for _, n := range g.Requests {
		for _, u := range orElse(g.UMed, 7) {
			for _, af := range orElse(g.ArrivalFactor, 1) {
				for _, ar := range orElse(g.ARTime, 3) {
					for _, dl := range orElse(g.Deadline, 3) {
						for _, pes := range orElse(g.PEs, 0) {
							for k := range g.Count {
								all = append(all, reservationCase(instances.ReservationSpec{Requests: n, UMed: u, ArrivalFactor: af, ARTime: ar, Deadline: dl,
									PEs: pes, Parameters: g.Parameters, SWF: g.Log, Goal: g.Goal, Index: k, Seed: g.Seed}))
							}
						}
					}
				}
			}
		}
	}
	return all
}

func reservationCase(s instances.ReservationSpec) Case {
	params := map[string]float64{"requests": float64(s.Requests), "arrival_factor": s.ArrivalFactor, "artime": s.ARTime, "deadline": s.Deadline, "draw": float64(s.Index)}
	if s.PEs > 0 {
		params["pes"] = float64(s.PEs)
	}
	if s.SWF == "" {
		params["umed"] = s.UMed
	}
	return Case{Name: s.Name(), Index: s.Index, Params: params, Load: func() (model.Instance, error) { return s.Generate() }}
}
