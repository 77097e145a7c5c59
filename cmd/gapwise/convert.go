// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

func (p *program) convert() *cli.Command {
	return &cli.Command{
		ArgsUsage: "FILE",
		Description: "Graphs are read from DOT, WfFormat 1.3 to 1.6 (WfCommons), DAX 2 and 3\n" +
			"(Pegasus), STG and the JSON of SAGA and DAGBench, gzipped or not. They need\n" +
			"a platform: a preset with options, such as\n" +
			"star,machines=8,speed=1/2,bandwidth=1Gbps,latency=5ms (paper,\n" +
			"paper-two-pools, uniform, bus or star), a JSON file with the keys machines\n" +
			"and network, or one with a network of SAGA. A problem instance of SAGA has\n" +
			"its own platform, which --platform replaces. All other commands read such\n" +
			"files, too.\n" +
			"--platform simgrid:FILE.xml[,hosts=N][,cores=machines] has the routes that\n" +
			"SimGrid finds (docs/how-to/simgrid.md). hosts takes the first N hosts. A host\n" +
			"of several cores runs as many tasks, or is a machine for each core.\n" +
			"In DOT, the attribute size has the work of a node and the data of an edge,\n" +
			"as in daggen and SimGrid; --dot names other attributes.\n" +
			"A bandwidth is in units of data per second, or in bits or bytes (10Gbit/s,\n" +
			"125MB/s); a latency, also called startup, is in seconds or has a unit. By\n" +
			"default bandwidth is 1 and latency 0. WfFormat counts data in bytes, and its\n" +
			"default bandwidth is 1Gbps. Work is divided by speed (default 1); WfFormat's\n" +
			"work is in seconds. For machines with speeds in flop/s, --work-unit seconds\n" +
			"has them on the fastest one, seconds=1Gf on one of that speed; work says that\n" +
			"they are flop. The results say what was assumed.\n" +
			"A machine runs one task at a time. With cores=16,memory=64GB it runs tasks\n" +
			"side by side, each with the cores and memory that WfFormat or DAX states.\n\n" +
			"VBP files (vector bin packing, as VPSolver reads it) become the question\n" +
			"whether the items fit on --hosts hosts; all other commands take this number\n" +
			"as --platform hosts=N. Without it, first fit gives a number that is enough;\n" +
			"gapwise solve --least-hosts finds the least. --kind consolidation makes them\n" +
			"equal hosts at price 1, and --platform bins one for each item. Plain lists\n" +
			"(the number of items, the capacity, and one size per line) are read in the\n" +
			"same way. MVP files, with several types of bins and their costs, become\n" +
			"consolidation if each item has one choice.\n\n" +
			"Workloads of Batsim (JSON with nb_res, jobs, and profiles that are delays or\n" +
			"sequences of them) become batch on one tier; jobs end at their walltimes.\n" +
			"SWF logs (.swf, .swf.gz, or - for a pipe) become instances of the problem\n" +
			"that --kind names. Batch on one tier is the log itself. Data that a log\n" +
			"lacks (lead times and windows of reservations, bandwidths of tvc, CPU uses\n" +
			"of batch on two tiers) are drawn at random with --seed. The command prints\n" +
			"what it drew, and how many jobs it could not use.\n" +
			"Slurm's records are read in the same way: sacct -a -X -P, squeue with a\n" +
			"format, or as --json. --platform is then a FILE with the output of scontrol\n" +
			"show node, sinfo -N or --json; without one, the machine is what the jobs\n" +
			"used at once. Facts that the model can't express are printed\n" +
			"(docs/how-to/slurm.md). For Grid Engine, accounting, qacct -j and qstat are\n" +
			"read (--platform: qstat -f); for OAR, oarstat -J, -f -J and -g -J, and\n" +
			"jobs.csv next to the other tables.",
		Flags: slices.Concat(logFlags(), []cli.Flag{
			&cli.IntFlag{Name: "hosts", Usage: "VBP: number of hosts", DefaultText: "by first fit"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
			&cli.StringFlag{Name: "account", Usage: "write a line of JSON for each file of `FOLDER`: what was read and left out, or the error"},
			&cli.StringFlag{Name: "ran", Usage: "batch: `FILE` for the schedule that the log records, as a result"},
		}, readingFlags(), parameterFlags(ofLogs)),
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.IsSet("account") {
				return p.accounts(ctx, c)
			}
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
			f, err := instances.Open(paths[0])
			if err != nil {
				return err
			}
			in, ran, err := p.converted(c, paths[0], f)
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

// accountLine says how one file of a folder is read.
type accountLine struct {
	File    string         `json:"file"`
	Account *model.Account `json:"account,omitempty"`
	Error   string         `json:"error,omitempty"`
}

// accounts writes how each file below a folder is read. A file that can't be read is an error with --strict, and so is one
// with facts that aren't modelled.
func (p *program) accounts(ctx context.Context, c *cli.Command) error {
	if c.Args().Present() {
		return usagef("convert: --account reads a folder, leave out %q", c.Args().First())
	}
	folder := c.String("account")
	if err := checkOutput(c.String("output"), []string{folder}); err != nil {
		return err
	}
	read, failed := 0, 0
	err := p.writeFile(c.String("output"), func(w io.Writer) error {
		return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return fmt.Errorf("%w: %w", model.ErrInvalid, err)
			case ctx.Err() != nil:
				return ctx.Err()
			case !d.Type().IsRegular():
				return nil
			}
			line := accountLine{File: path}
			f, err := instances.Open(path)
			if err == nil {
				line.Account, err = f.Account(readingOptions(c))
			}
			if read++; err != nil {
				line.Error = err.Error()
				failed++
			}
			return writeLines(w, line)
		})
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.progress(), "%d files, %d with an error\n", read, failed)
	if failed > 0 && c.Bool("strict") {
		return codeError(exitBadInput)
	}
	return nil
}

// logFlags returns the flags for the treatment of an SWF log's jobs.
func logFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "kind", Value: string(model.KindBatch), Usage: "SWF: problem, one of the headings below; VBP: vcsched or consolidation", DefaultText: string(model.KindBatch)},
		&cli.IntFlag{Name: "skip", Usage: "SWF: number of usable jobs to skip first"},
		&cli.IntFlag{Name: "first", Usage: "SWF: number of usable jobs to take", DefaultText: "all"},
		&cli.BoolFlag{Name: "estimates", Usage: "SWF: reserve the runtimes that users estimated"},
		&cli.BoolFlag{Name: "refuse-large", Usage: "SWF, Batsim: refuse jobs larger than the machine"},
		&cli.Float64Flag{Name: "cancelled", Usage: "SWF: share of cancelled requests"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "SWF: seed of the random generator"},
		&cli.StringFlag{Name: "partition", Usage: "records: take only the partition `NAME`", DefaultText: "all as one machine"},
		&cli.StringFlag{Name: "unit", Usage: "records: a processor is a CPU (cpus) or a node (nodes); also for SWF, resources: jobs are placed on the nodes of --platform by CPUs, memory and GPUs", DefaultText: "cpus, or resources where a log of Slurm shows partitions that share no node"},
		&cli.BoolFlag{Name: "pending", Usage: "records: jobs that run and wait now, which last as long as their time limits"},
		&cli.StringFlag{Name: "tz", Usage: "records: time `ZONE`, such as Europe/Berlin", DefaultText: "UTC"},
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
func (p *program) converted(c *cli.Command, path string, f *instances.File) (model.Instance, *model.Execution, error) {
	if err := f.Unread(); err != nil {
		return nil, nil, err
	}
	if !f.IsLog() {
		for _, flag := range append(swfFlags(), "ran") {
			if c.IsSet(flag) && (flag != "refuse-large" || !f.IsWorkload()) && (flag != "kind" || !f.IsPacking()) {
				return nil, nil, usagef("convert: --%s goes with logs of jobs, %s isn't one", flag, instances.Label(path))
			}
		}
		if c.IsSet("hosts") && c.IsSet("platform") {
			return nil, nil, usagef("convert: --hosts and --platform say the same of a VBP file: give one")
		}
		o := readingOptions(c)
		o.Jobs.RefuseLarge = c.Bool("refuse-large")
		if c.IsSet("kind") {
			o.Kind = model.Kind(c.String("kind"))
		}
		if c.IsSet("hosts") {
			o.Platform = fmt.Sprintf("hosts=%d", c.Int("hosts"))
		}
		in, err := ofFile(c, path, f, o)
		if err == nil {
			p.account(in)
		}
		return in, nil, err
	}
	if c.IsSet("hosts") {
		return nil, nil, usagef("convert: --hosts goes with VBP files, %s is an SWF log", instances.Label(path))
	}
	return p.fromLog(c, f, path, c.String("ran") != "")
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
	r.Instance, r.Kind, r.Version, r.Account = in.ID(), in.Kind(), gapwise.Version, model.AccountOf(in)
	if r.InstanceHash, err = model.Hash(in); err != nil {
		return err
	}
	return p.writeFile(file, func(w io.Writer) error { return writeLines(w, r) })
}

// fromLog makes the instance of a log's jobs, prints its account, and returns how they ran if that is asked for.
func (p *program) fromLog(c *cli.Command, f *instances.File, path string, how bool) (in model.Instance, ran *model.Execution, err error) {
	if c.String("platform") != "" && !f.IsRecords() && c.String("unit") != "resources" {
		return nil, nil, usagef("%s: --platform goes with task graphs and --unit resources, %s is an SWF log", c.Name, instances.Label(path))
	}
	o := readingOptions(c)
	if o.Spec, err = logSpec(c); err == nil {
		o.Log, err = logOptions(c, path, f)
	}
	if err != nil {
		return nil, nil, err
	}
	o.Jobs = instances.SWFJobs{Skip: c.Int("skip"), First: c.Int("first"), Estimate: c.Bool("estimates"), RefuseLarge: c.Bool("refuse-large"),
		Cancelled: c.Float64("cancelled"), Seed: c.Uint64("seed"), Ran: how}
	if in, ran, err = f.WithRan(o); err == nil {
		in, err = withVariants(c, path, in)
	}
	if err == nil {
		p.account(in)
	}
	return in, ran, err
}

// logOptions reads the flags of a batch system's records.
func logOptions(c *cli.Command, path string, file *instances.File) (o instances.LogOptions, err error) {
	unit := c.String("unit")
	for _, f := range []string{"partition", "unit", "pending", "tz"} {
		if c.IsSet(f) && !file.IsRecords() && !(f == "unit" && unit == "resources" && file.IsLog()) {
			return o, usagef("%s: --%s goes with a batch system's records, %s has none", c.Name, f, instances.Label(path))
		}
	}
	o.Partition, o.ByNodes, o.Placed, o.Pending = c.String("partition"), unit == "nodes", unit == "resources", c.Bool("pending")
	o.Merged = unit == "cpus"
	if !slices.Contains([]string{"", "cpus", "nodes", "resources"}, unit) {
		return o, usagef("%s: --unit is %q, give cpus, nodes or resources", c.Name, unit)
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
