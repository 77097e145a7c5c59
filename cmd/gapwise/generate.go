package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

func (p *program) generate() *cli.Command {
	return &cli.Command{
		Name:      "generate",
		Usage:     "draw instances",
		ArgsUsage: " ",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "plan", Usage: "the instances of a plan instead, by `NAME` or file"},
			&cli.StringFlag{Name: "kind", Value: string(model.KindVCSched), Usage: "vcsched, dag or reservation"},
			&cli.IntFlag{Name: "hosts", Value: 4, Usage: "number of identical hosts"},
			&cli.IntFlag{Name: "jobs", Value: 12, Usage: "number of jobs"},
			&cli.Float64Flag{Name: "slack", Value: 0.5, Usage: "share of the memory that is free"},
			&cli.Float64Flag{Name: "mean-cpu", Value: 0.5, Usage: "mean CPU need of a task"},
			&cli.Float64Flag{Name: "cov-cpu", Value: 0.5, Usage: "variation coefficient of the CPU needs"},
			&cli.Float64Flag{Name: "cov-memory", Value: 0.5, Usage: "and of the memory needs"},
			&cli.IntFlag{Name: "max-tasks", Value: 1, Usage: "of a job; above 1, jobs are parallel"},
			&cli.Float64Flag{Name: "running", Usage: "share of the jobs that run already"},
			&cli.Float64Flag{Name: "budget", Usage: "of memory moved, with --running"},
			&cli.IntFlag{Name: "tasks", Value: 20, Usage: "dag: number of tasks"},
			&cli.IntFlag{Name: "machines", Value: 3, Usage: "dag: number of machines"},
			&cli.Float64Flag{Name: "fat", Value: 0.5, Usage: "dag: from a chain (0.1) to a level (1)"},
			&cli.Float64Flag{Name: "density", Value: 0.5, Usage: "dag: of the edges, from 0 to 1"},
			&cli.Float64Flag{Name: "regular", Value: 0.9, Usage: "dag: evenness of the levels, 0 to 1"},
			&cli.IntFlag{Name: "jump", Value: 1, Usage: "dag: levels that an edge may span"},
			&cli.IntFlag{Name: "max-cost", Value: 50, Usage: "dag: largest cost of a task"},
			&cli.IntFlag{Name: "max-data", Value: 50, Usage: "dag: largest data of an edge"},
			&cli.StringFlag{Name: "network", Value: "uniform", Usage: "dag: paper, uniform, bus or star"},
			&cli.StringFlag{Name: "transfers", Usage: "dag: ideal, fair, tcp or tcp-all", DefaultText: "ideal"},
			&cli.IntFlag{Name: "requests", Value: 10_000, Usage: "reservation: number of requests"},
			&cli.Float64Flag{Name: "umed", Value: 7, Usage: "reservation: log2 of the middle size"},
			&cli.Float64Flag{Name: "arrival-factor", Value: 1, Usage: "reservation: divides arrival times"},
			&cli.Float64Flag{Name: "artime", Value: 3, Usage: "reservation: durations until ready"},
			&cli.Float64Flag{Name: "deadline", Value: 3, Usage: "reservation: durations of room"},
			&cli.IntFlag{Name: "pes", Usage: "reservation: PEs in all", DefaultText: "1024, the log's"},
			&cli.StringFlag{Name: "parameters", Usage: "reservation: fit or column-t (LANL)", DefaultText: "fit"},
			&cli.StringFlag{Name: "log", Usage: "reservation: take the jobs of an SWF `FILE`"},
			&cli.IntFlag{Name: "count", Value: 1, Usage: "number of instances"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of all random draws"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "a file for one instance, a folder for more (`PATH`)"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("generate: it takes no files, but there is %q", c.Args().First())
			}
			count := c.Int("count")
			if count < 1 {
				return usagef("generate: --count is %d, must be at least 1", count)
			}
			var cases []benchmarks.Case
			if name := c.String("plan"); name != "" {
				plan, err := benchmarks.LoadPlan(name)
				if err != nil {
					return err
				}
				if cases, err = plan.Cases(); err != nil {
					return err
				}
			} else {
				var err error
				if cases, err = drawn(c, count); err != nil {
					return err
				}
			}
			return p.writeInstances(c.String("output"), cases)
		},
	}
}

// kindFlags are the flags that belong to one kind alone.
var kindFlags = map[model.Kind][]string{
	model.KindVCSched:     {"hosts", "jobs", "slack", "mean-cpu", "cov-cpu", "cov-memory", "max-tasks", "running", "budget"},
	model.KindDAG:         {"tasks", "machines", "fat", "density", "regular", "jump", "max-cost", "max-data", "network", "transfers"},
	model.KindReservation: {"requests", "umed", "arrival-factor", "artime", "deadline", "pes", "parameters", "log"},
}

// drawn are the instances that the flags ask for.
func drawn(c *cli.Context, count int) ([]benchmarks.Case, error) {
	kind := model.Kind(c.String("kind"))
	if kindFlags[kind] == nil {
		return nil, usagef("generate: --kind is %q, give one of %q", kind, model.Kinds())
	}
	for other, flags := range kindFlags {
		for _, f := range flags {
			if other != kind && c.IsSet(f) {
				return nil, usagef("generate: --%s goes with --kind %s", f, other)
			}
		}
	}
	var cases []benchmarks.Case
	add := func(name string, load func() (model.Instance, error)) {
		cases = append(cases, benchmarks.Case{Name: name, Load: load})
	}
	for k := range count {
		switch kind {
		case model.KindVCSched:
			spec := instances.VCSchedSpec{Hosts: c.Int("hosts"), Jobs: c.Int("jobs"), Slack: c.Float64("slack"), MeanCPU: c.Float64("mean-cpu"),
				CoVCPU: c.Float64("cov-cpu"), CoVMemory: c.Float64("cov-memory"), MaxTasks: c.Int("max-tasks"),
				Running: c.Float64("running"), Budget: c.Float64("budget"), Index: k, Seed: c.Uint64("seed")}
			add(spec.Name(), func() (model.Instance, error) { return spec.Generate() })
		case model.KindDAG:
			spec := instances.DAGSpec{Tasks: c.Int("tasks"), Machines: c.Int("machines"), Fat: c.Float64("fat"), Density: c.Float64("density"),
				Regular: c.Float64("regular"), Jump: c.Int("jump"), MaxCost: c.Int("max-cost"), MaxData: c.Int("max-data"),
				Platform: c.String("network"), Transfer: model.TransferModel(c.String("transfers")), Index: k, Seed: c.Uint64("seed")}
			add(spec.Name(), func() (model.Instance, error) { return spec.Generate() })
		case model.KindReservation:
			// The specification takes 0 for its default.
			for _, f := range []string{"requests", "umed", "arrival-factor", "pes"} {
				if c.IsSet(f) && c.Int(f) == 0 && c.Float64(f) == 0 {
					return nil, usagef("generate: --%s is 0, must be above 0", f)
				}
			}
			spec := instances.ReservationSpec{Requests: c.Int("requests"), UMed: c.Float64("umed"), ArrivalFactor: c.Float64("arrival-factor"),
				ARTime: c.Float64("artime"), Deadline: c.Float64("deadline"), PEs: c.Int("pes"), Parameters: c.String("parameters"),
				SWF: c.String("log"), Index: k, Seed: c.Uint64("seed")}
			add(spec.Name(), func() (model.Instance, error) { return spec.Generate() })
		}
	}
	return cases, nil
}

func (p *program) writeInstances(output string, cases []benchmarks.Case) error {
	// Each is drawn twice, the first time to find out that all can be drawn.
	for _, k := range cases {
		if _, err := k.Load(); err != nil {
			return err
		}
	}
	if len(cases) > 1 {
		if output == "" || output == "-" {
			return usagef("generate: %d instances need a folder, give it with -o", len(cases))
		}
		if err := os.MkdirAll(output, 0o755); err != nil {
			return fmt.Errorf("%w: %w", model.ErrInvalid, err)
		}
	}
	for _, k := range cases {
		in, err := k.Load()
		if err != nil {
			return err
		}
		data, err := jsonLine(in)
		if err != nil {
			return err
		}
		file := output
		if info, err := os.Stat(output); len(cases) > 1 || output != "" && err == nil && info.IsDir() {
			file = filepath.Join(output, in.ID()+".json")
		}
		if err := p.writeFile(file, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
			return err
		}
	}
	if len(cases) > 1 {
		fmt.Fprintf(p.err, "%d instances in %s\n", len(cases), output)
	}
	return nil
}
