// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/params"
	"github.com/gapwise/gapwise/model"
)

func (p *program) convert() *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "write a foreign file or an instance in the own format",
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
			"gapwise pack looks for the least.\n" +
			"Workloads of Batsim (JSON with nb_res, jobs and profiles of the type delay)\n" +
			"are batch on one tier, with jobs that end at their walltimes.\n" +
			"SWF logs (.swf, .swf.gz, or - for a pipe) become instances of the problem\n" +
			"that --kind names. Batch on one tier is the log itself. What a log doesn't\n" +
			"tell (lead times and windows of reservations, bandwidths of tvc, CPU uses of\n" +
			"batch on two tiers) is drawn with --seed. What was drawn is printed, and how\n" +
			"many jobs could not be used.",
		Flags: slices.Concat(logFlags(), []cli.Flag{
			&cli.IntFlag{Name: "hosts", Usage: "VBP: number of hosts", DefaultText: "by first fit"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
		}, readingFlags(), parameterFlags(ofLogs)),
		Action: func(ctx context.Context, c *cli.Command) error {
			paths, err := files(c, 1)
			if err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), paths); err != nil {
				return err
			}
			in, err := p.converted(c, paths[0])
			if err != nil {
				return err
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error { return writeLines(w, in) })
		},
	}
}

// logFlags returns the flags that say what becomes of the jobs of an SWF log.
func logFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "kind", Value: string(model.KindBatch), Usage: "SWF: problem: a heading below", DefaultText: string(model.KindBatch)},
		&cli.IntFlag{Name: "skip", Usage: "SWF: usable jobs to skip first"},
		&cli.IntFlag{Name: "first", Usage: "SWF: usable jobs to take", DefaultText: "all"},
		&cli.BoolFlag{Name: "estimates", Usage: "SWF: reserve the runtimes that users estimated"},
		&cli.BoolFlag{Name: "refuse-large", Usage: "SWF: refuse jobs larger than the machine"},
		&cli.Float64Flag{Name: "cancelled", Usage: "SWF: share of cancelled requests"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "SWF: seed of the random generator"},
	}
}

// ofLogs returns the parameters that matter to a problem's instances of SWF logs;
// none if it has no such instances. A reading flag stands for the parameter of
// its name.
func ofLogs(p *gapwise.Problem) []params.Param {
	keys, ok := instances.SWFKeys(p.Generator())
	if !ok {
		return nil
	}
	return slices.DeleteFunc(p.Generator.Parameters(), func(x params.Param) bool {
		return !slices.Contains(keys, x.Key) || slices.ContainsFunc(readingFlags(), func(f cli.Flag) bool { return f.Names()[0] == x.Flag() })
	})
}

// converted reads a file as an instance.
func (p *program) converted(c *cli.Command, path string) (model.Instance, error) {
	if !instances.IsSWF(path) {
		for _, f := range swfFlags() {
			if c.IsSet(f) {
				return nil, usagef("convert: --%s goes with SWF logs, %s isn't one", f, instances.Label(path))
			}
		}
		if c.IsSet("hosts") && c.IsSet("platform") {
			return nil, usagef("convert: --hosts and --platform say the same of a VBP file: give one")
		}
		if !c.IsSet("hosts") {
			return p.load(c, path)
		}
		return instances.LoadOn(path, fmt.Sprintf("hosts=%d", c.Int("hosts")))
	}
	if c.IsSet("hosts") {
		return nil, usagef("convert: --hosts goes with VBP files, %s is an SWF log", instances.Label(path))
	}
	in, said, err := p.fromLog(c, path)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(p.err, "%s: %v\n", instances.Label(path), said)
	return in, nil
}

// fromLog makes the instance of an SWF log's jobs, and says what became of them.
func (p *program) fromLog(c *cli.Command, path string) (in model.Instance, said instances.SWFReport, err error) {
	if c.String("platform") != "" {
		return nil, said, usagef("%s: --platform goes with task graphs, %s is an SWF log", c.Name, instances.Label(path))
	}
	spec, err := logSpec(c)
	if err != nil {
		return nil, said, err
	}
	log, err := instances.LoadSWF(path)
	if err != nil {
		return nil, said, err
	}
	name := "stdin"
	if path != "-" {
		name = filepath.Base(path)
		name = name[:strings.LastIndex(strings.ToLower(name), ".swf")]
	}
	if !utf8.ValidString(name) {
		return nil, said, fmt.Errorf("%w: the name of %q isn't UTF-8, and the instance would be called by it; rename it", model.ErrInvalid, path)
	}
	in, said, err = instances.FromSWF(spec, name, log, instances.SWFJobs{Skip: c.Int("skip"), First: c.Int("first"),
		Estimate: c.Bool("estimates"), RefuseLarge: c.Bool("refuse-large"), Cancelled: c.Float64("cancelled"), Seed: c.Uint64("seed")})
	if err != nil {
		return nil, said, fmt.Errorf("%s: %w", instances.Label(path), err)
	}
	model.SetStartTime(in, said.Start)
	in, err = withVariants(c, path, in)
	return in, said, err
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
			// The tiers are a reading of any instance, and of a log decide what is drawn.
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
	all := []string{"kind", "skip", "first", "estimates", "refuse-large", "cancelled", "seed"}
	for _, f := range parameterFlags(ofLogs) {
		all = append(all, f.Names()[0])
	}
	return all
}
