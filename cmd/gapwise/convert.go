// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func (p *program) convert() *cli.Command {
	return &cli.Command{
		ArgsUsage: "FILE",
		Description: "DOT (as daggen writes it), WfFormat 1.3 to 1.5 (WfCommons), STG and the JSON\n" +
			"of SAGA and DAGBench are read, gzipped or not. They need a platform: a preset\n" +
			"with options, such as star,machines=8,speed=1/2,bandwidth=1Gbps,latency=5ms\n" +
			"(paper, paper-two-pools, uniform, bus or star), a JSON file with the keys\n" +
			"machines and network, or one with a network of SAGA. A problem instance of\n" +
			"SAGA has its own, which --platform replaces. All other commands read such\n" +
			"files, too.\n" +
			"A bandwidth is in units of data a second, or in bits or bytes (10Gbit/s,\n" +
			"125MB/s); latency, also called startup, in seconds or with a unit. Without\n" +
			"them bandwidth is 1, latency 0; WfFormat counts data in bytes, and there\n" +
			"bandwidth is 1Gbps. Work is divided by speed (1): seconds in WfFormat. What\n" +
			"was assumed is printed with the results.\n" +
			"VBP files (vector bin packing, as VPSolver reads it) become the question\n" +
			"whether the items fit on --hosts hosts; all other commands take the number\n" +
			"as --platform hosts=N. Without it, it is one that is enough, by first fit;\n" +
			"gapwise solve --least-hosts looks for the least.\n" +
			"Workloads of Batsim (JSON with nb_res, jobs and profiles of the type delay)\n" +
			"are batch on one tier, with jobs that end at their walltimes.\n" +
			"SWF logs (.swf, .swf.gz, or - for a pipe) become instances of the problem\n" +
			"that --kind names. Batch on one tier is the log itself. What a log doesn't\n" +
			"tell (lead times and windows of reservations, bandwidths of tvc, CPU uses of\n" +
			"batch on two tiers) is drawn with --seed. What was drawn is printed, and how\n" +
			"many jobs could not be used.\n" +
			"So do tables of Slurm, by their header: sacct -a -X -P, or squeue -t all with\n" +
			"a format. --platform is then a FILE with what scontrol show node or sinfo -N\n" +
			"prints; without one the machine is what the jobs used at once. What isn't\n" +
			"modelled is printed (docs/how-to/slurm.md).",
		Flags: slices.Concat(logFlags(), []cli.Flag{
			&cli.IntFlag{Name: "hosts", Usage: "VBP: number of hosts", DefaultText: "by first fit"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
			&cli.StringFlag{Name: "ran", Usage: "batch: `FILE` for how the log's jobs ran, as a result"},
		}, readingFlags(), parameterFlags(ofLogs)),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 1)
			if err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), paths); err != nil {
				return err
			}
			if err := checkOutput(c.String("ran"), paths); err != nil {
				return err
			}
			in, ran, err := p.converted(c, paths[0])
			if err != nil {
				return err
			}
			if ran != nil {
				if err := p.writeRan(ctx, c.String("ran"), in, ran); err != nil {
					return err
				}
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error { return writeLines(w, in) })
		},
	}
}

// logFlags returns the flags for the treatment of an SWF log's jobs.
func logFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "kind", Value: string(model.KindBatch), Usage: "SWF: problem: a heading below", DefaultText: string(model.KindBatch)},
		&cli.IntFlag{Name: "skip", Usage: "SWF: usable jobs to skip first"},
		&cli.IntFlag{Name: "first", Usage: "SWF: usable jobs to take", DefaultText: "all"},
		&cli.BoolFlag{Name: "estimates", Usage: "SWF: reserve the runtimes that users estimated"},
		&cli.BoolFlag{Name: "refuse-large", Usage: "SWF: refuse jobs larger than the machine"},
		&cli.Float64Flag{Name: "cancelled", Usage: "SWF: share of cancelled requests"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "SWF: seed of the random generator"},
		&cli.StringFlag{Name: "partition", Usage: "Slurm: `NAME` of the only partition taken", DefaultText: "all as one machine"},
		&cli.StringFlag{Name: "unit", Value: "cpus", Usage: "Slurm: what a processor is: cpus or nodes"},
		&cli.BoolFlag{Name: "pending", Usage: "Slurm: jobs that run and wait now, for their time limits"},
		&cli.StringFlag{Name: "tz", Usage: "Slurm: `ZONE` of the times, such as Europe/Berlin", DefaultText: "UTC"},
	}
}

// ofLogs returns the parameters that matter to a problem's instances of SWF logs;
// none if it has no such instances. A reading flag replaces the parameter of its name.
func ofLogs(p *gapwise.Problem) []params.Param {
	keys, ok := instances.SWFKeys(p.Generator())
	if !ok {
		return nil
	}
	return slices.DeleteFunc(p.Generator.Parameters(), func(x params.Param) bool {
		return !slices.Contains(keys, x.Key) || slices.ContainsFunc(readingFlags(), func(f cli.Flag) bool { return f.Names()[0] == x.Flag() })
	})
}

// converted reads a file as an instance and, if the flags ask for it, how a log's jobs ran.
func (p *program) converted(c *cli.Command, path string) (model.Instance, *model.Execution, error) {
	if !instances.IsSWF(path) {
		for _, f := range append(swfFlags(), "ran") {
			if c.IsSet(f) {
				return nil, nil, usagef("convert: --%s goes with SWF logs, %s isn't one", f, instances.Label(path))
			}
		}
		if c.IsSet("hosts") && c.IsSet("platform") {
			return nil, nil, usagef("convert: --hosts and --platform say the same of a VBP file: give one")
		}
		if !c.IsSet("hosts") {
			in, err := p.load(c, path)
			return in, nil, err
		}
		in, err := instances.LoadOn(path, fmt.Sprintf("hosts=%d", c.Int("hosts")))
		return in, nil, err
	}
	if c.IsSet("hosts") {
		return nil, nil, usagef("convert: --hosts goes with VBP files, %s is an SWF log", instances.Label(path))
	}
	in, said, err := p.fromLog(c, path)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(p.err, "%s: %v\n", instances.Label(path), said)
	p.notes(said.Notes)
	return in, said.Ran, nil
}

// writeRan writes how the jobs of a log ran, after the judge has seen it, as the result of an
// algorithm that is called log.
func (p *program) writeRan(ctx context.Context, file string, in model.Instance, ran *model.Execution) error {
	report, err := verify.Verify(ctx, in, ran, verify.Options{})
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return fmt.Errorf("convert: how the jobs ran isn't a schedule: %w", err)
	}
	r := model.NewResult(gapwise.LogAlgorithm, 0)
	if err := r.SetSolution(in, ran); err != nil {
		return err
	}
	r.Instance, r.Kind, r.Version = in.ID(), in.Kind(), gapwise.Version
	if r.InstanceHash, err = model.Hash(in); err != nil {
		return err
	}
	return p.writeFile(file, func(w io.Writer) error { return writeLines(w, r) })
}

// notes prints notes on data that a file lacks or a model leaves out.
func (p *program) notes(all []string) {
	for _, note := range all {
		fmt.Fprintln(p.err, words.Wrap("note: "+note, 78, 2))
	}
}

// fromLog makes the instance of an SWF log's jobs, and returns a report on them.
func (p *program) fromLog(c *cli.Command, path string) (in model.Instance, said instances.SWFReport, err error) {
	slurm := instances.IsSlurm(path)
	if c.String("platform") != "" && !slurm {
		return nil, said, usagef("%s: --platform goes with task graphs, %s is an SWF log", c.Name, instances.Label(path))
	}
	spec, err := logSpec(c)
	if err != nil {
		return nil, said, err
	}
	o, err := slurmOptions(c, path, slurm)
	if err != nil {
		return nil, said, err
	}
	log, err := instances.LoadLog(path, o)
	if err != nil {
		return nil, said, err
	}
	name := "stdin"
	if path != "-" {
		name = baseName(path)
	}
	if !utf8.ValidString(name) {
		return nil, said, fmt.Errorf("%w: the name of %q isn't UTF-8, and the instance would be called by it; rename it", model.ErrInvalid, path)
	}
	in, said, err = instances.FromSWF(spec, name, log, instances.SWFJobs{Skip: c.Int("skip"), First: c.Int("first"),
		Estimate: c.Bool("estimates"), RefuseLarge: c.Bool("refuse-large"), Cancelled: c.Float64("cancelled"), Seed: c.Uint64("seed"), Ran: c.String("ran") != ""})
	if err != nil {
		return nil, said, fmt.Errorf("%s: %w", instances.Label(path), err)
	}
	model.SetStartTime(in, said.Start)
	in, err = withVariants(c, path, in)
	return in, said, err
}

// slurmOptions reads the flags of tables of Slurm.
func slurmOptions(c *cli.Command, path string, slurm bool) (o instances.SlurmOptions, err error) {
	for _, f := range []string{"partition", "unit", "pending", "tz"} {
		if c.IsSet(f) && !slurm {
			return o, usagef("%s: --%s goes with tables of Slurm, %s isn't one", c.Name, f, instances.Label(path))
		}
	}
	o.Partition, o.Nodes, o.ByNodes = c.String("partition"), c.String("platform"), c.String("unit") == "nodes"
	o.Pending = c.Bool("pending")
	if unit := c.String("unit"); unit != "cpus" && unit != "nodes" {
		return o, usagef("%s: --unit is %q, give cpus or nodes", c.Name, unit)
	}
	if zone := c.String("tz"); zone != "" {
		if o.Zone, err = time.LoadLocation(zone); err != nil {
			return o, usagef("%s: --tz: %w; give a name of the tz database, such as UTC or Europe/Berlin", c.Name, err)
		}
	}
	return o, nil
}

// logSpec returns the specification of the flags for SWF logs.
func logSpec(c *cli.Command) (instances.Spec, error) {
	if c.IsSet("first") && c.Int("first") < 1 {
		return nil, usagef("%s: --first is %d, must be at least 1", c.Name, c.Int("first"))
	}
	var kinds []model.Kind
	for _, problem := range gapwise.Problems() {
		spec := problem.Generator()
		if _, ok := instances.SWFKeys(spec); !ok {
			continue
		}
		if string(problem.Kind) == c.String("kind") {
			also := []string{"log"}
			// The tiers are a reading of any instance, and for a log decide what is drawn.
			const tiers = "tiers"
			for _, x := range problem.Generator.Parameters() {
				if x.Key == tiers && c.IsSet(tiers) {
					if err := x.Set(spec, c.String(tiers)); err != nil {
						return nil, usagef("%s: --%s %w", c.Name, tiers, err)
					}
					also = append(also, tiers)
				}
			}
			return spec, setParameters(c, spec, ofLogs, problem, also...)
		}
		kinds = append(kinds, problem.Kind)
	}
	return nil, usagef("%s: --kind is %q, SWF logs become one of %q", c.Name, c.String("kind"), kinds)
}

// swfFlags returns the flags that go with SWF logs alone.
func swfFlags() []string {
	all := []string{"kind", "skip", "first", "estimates", "refuse-large", "cancelled", "seed", "partition", "unit", "pending", "tz"}
	for _, f := range parameterFlags(ofLogs) {
		all = append(all, f.Names()[0])
	}
	return all
}
