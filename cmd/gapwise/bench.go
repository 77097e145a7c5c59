// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/visible"
	"github.com/gapwise/gapwise/internal/text/words"
)

func (p *program) bench() *cli.Command {
	var results []*cli.Command
	for _, x := range p.benchCommands() {
		results = append(results, x.made())
	}
	return &cli.Command{
		UsageText: "gapwise bench [options] PLAN | --algorithm LIST FILE|FOLDER...\n" +
			"gapwise bench merge|table|compare|plot|findings [options] RESULTS...",
		Commands: results,
		Description: "PLAN is a YAML or JSON file (docs/reference/plans.md describes it) or a\n" +
			"built-in plan: --list lists these, --print shows one.\n" +
			"With --algorithm the arguments are instances, files in foreign formats (with\n" +
			"--platform) or folders of them. Each algorithm solves the instances of its\n" +
			"problem; all stands for every algorithm. Files of a folder that can't be\n" +
			"read are named and left out, and the exit code is 3.\n" +
			"Each run appends a line to the results file. A stopped plan continues where\n" +
			"it stopped. Runs of a program of yours (cmd:COMMAND) run again if a file that\n" +
			"its command names has changed.\n\n" +
			"--shard 3/8 runs the third of eight shards of the plan, whose sizes differ\n" +
			"by at most one run; gapwise bench merge merges them\n" +
			"(docs/how-to/run-on-a-cluster.md). If -o is a folder, each start writes a\n" +
			"new file in it, and skips the runs that any file in it has. So two starts of\n" +
			"one shard don't disturb each other.\n" +
			"--slurm and --kubernetes let a cluster run the shards and merge them.",
		DisableSliceFlagSeparator: true, // a command may hold commas
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` for the results, or a folder/ for such files (default: results/PLAN.jsonl, for a shard results/PLAN.3-of-8.jsonl)"},
			&cli.StringFlag{Name: "solutions", Usage: "`FOLDER` for each run's result with its solution"},
			&cli.StringFlag{Name: "shard", Usage: "run shard `I/N`, I from 1 to N"},
			&cli.StringFlag{Name: "summary", Usage: "`FILE` for a summary of the runs, as JSON"},
			instancesFlag(),
			&cli.IntFlag{Name: "workers", Value: 1, Usage: "instances solved at the same time"},
			&cli.StringSliceFlag{Name: "without", Usage: "switch off a part of the search (`NAME`), or each in turn (each)", Hidden: true},
			&cli.BoolFlag{Name: "list", Usage: "list the built-in plans"},
			&cli.StringFlag{Name: "print", Usage: "print the built-in plan `NAME`"},
		}, append(adHocFlags(), submitFlags()...)...),
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.Bool("list") || c.IsSet("print") {
				return p.builtInPlans(c)
			}
			var plan *benchmarks.Plan
			var read []string
			err := unlessStopped(ctx, func() (err error) {
				plan, read, err = planned(c)
				return err
			})
			if err != nil {
				return err
			}
			if plan, err = plan.Without(benchmarks.SplitAlgorithms(c.StringSlice("without"))); err != nil {
				return err
			}
			if c.Int("workers") < 1 {
				return usagef("bench: --workers is %d, must be at least 1", c.Int("workers"))
			}
			if cluster, err := submitted(c); err != nil {
				return err
			} else if cluster {
				return p.submit(ctx, c, plan)
			}
			o := benchmarks.RunOptions{Results: c.String("output"), Workers: c.Int("workers"), Solutions: c.String("solutions")}
			if err := where(c, plan, &o); err != nil {
				return err
			}
			if c.IsSet("instances") {
				if o.Instances, err = regexp.Compile(c.String("instances")); err != nil {
					return usagef("bench: --instances is %q: %v", c.String("instances"), err)
				}
			}
			bar := p.watch(&o, share(plan, o.Shard))
			var unwritten error
			var ended benchmarks.Summary
			file := c.String("summary")
			if err := checkOutput(file, read); err != nil {
				return err
			}
			o.Ended = func(s benchmarks.Summary) {
				if ended = s; file != "" {
					unwritten = p.writeFile(file, func(w io.Writer) error { return writeLines(w, s) })
				}
			}
			err = benchmarks.Run(ctx, plan, o)
			if bar {
				fmt.Fprintln(p.err)
			}
			for k, line := range ended.Failures {
				if line = words.Wrap(line, 78, 4); k > 0 {
					line = "  " + line
				}
				fmt.Fprintln(p.err, line)
			}
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				fmt.Fprintf(p.err, "gapwise: stopped; the same command goes on from here\n")
				return codeError(exitStopped)
			}
			if err := cmp.Or(err, unwritten); err != nil {
				return err
			}
			see := "table " + o.Results
			if o.Folder != "" {
				see = "merge " + o.Folder
			}
			fmt.Fprintf(p.progress(), "%s done; see: gapwise bench %s\n", words.Plural(ended.Done, "run"), see)
			if ended.Unread > 0 {
				fmt.Fprintf(p.err, "gapwise: %s left out\n", words.Plural(ended.Unread, "file"))
				return codeError(exitBadInput)
			}
			return nil
		},
	}
}

// watch has the runs of a plan report their progress: by a bar on a terminal, which it reports, else by lines.
func (p *program) watch(o *benchmarks.RunOptions, name string) (onTerminal bool) {
	bar, lines := io.Writer(io.Discard), &benchLog{w: p.progress(), name: name, interval: 10 * time.Second}
	if onTerminal = isTerminal(p.progress()); onTerminal {
		bar, lines.w = visible.Raw(p.err), io.Discard
	}
	var progress *progressbar.ProgressBar
	to := cmp.Or(o.Results, o.Folder)
	o.Started = func(total, done int) {
		fmt.Fprintf(p.progress(), "%s: %d runs, %d of them done already; results in %s\n", name, total, done, to)
		progress = progressbar.NewOptions(total, progressbar.OptionSetWriter(bar), progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(200e6))
		progress.Add(done)
		lines.started(total, done, time.Now())
	}
	o.Done = func(r runs.Record) {
		progress.Add(1)
		lines.ended(r, time.Now())
	}
	o.Said = func(line string) { fmt.Fprintln(p.err, line) }
	return onTerminal
}

// where sets the share of the plan and the place of its results, according to the flags.
func where(c *cli.Command, plan *benchmarks.Plan, o *benchmarks.RunOptions) error {
	if text := c.String("shard"); text != "" {
		var err error
		if o.Shard, err = benchmarks.ParseShard(text); err != nil {
			return usagef("bench: --shard is %q, must be I/N with I from 1 to N", text)
		}
	}
	info, err := os.Stat(o.Results)
	switch {
	case isStdout(o.Results):
		return usagef("bench: -o is standard output, give a file: a plan goes on from its results")
	case o.Results == "":
		o.Results = filepath.Join("results", o.Shard.Stem(plan.Name)+".jsonl")
	case err == nil && info.IsDir(), strings.HasSuffix(o.Results, "/"):
		o.Results, o.Folder = "", filepath.Clean(o.Results)
	}
	return nil
}

// share names the plan, or a share of it, for messages.
func share(plan *benchmarks.Plan, s benchmarks.Shard) string {
	if s.Of == 0 {
		return plan.Name
	}
	return fmt.Sprintf("%s, shard %s", plan.Name, s)
}
