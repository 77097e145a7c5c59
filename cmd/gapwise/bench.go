package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/benchmarks"
)

func (p *program) bench() *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "run the plan of an experiment, or continue it",
		ArgsUsage: "PLAN",
		Description: "PLAN is a YAML or JSON file or a built-in plan:\n" + wrap(strings.Join(benchmarks.Names(), ", ")+".", 74, 3) + "\n" +
			"Each run appends a line to the results file; a stopped plan continues\n" +
			"where it was.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` of the results (default: results/PLAN.jsonl)"},
			&cli.IntFlag{Name: "workers", Value: 1, Usage: "instances solved at the same time"},
			&cli.StringSliceFlag{Name: "without", Usage: "switch a device of the search off (`NAME`)", Hidden: true},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			plans, err := files(c, 1)
			if err != nil {
				return err
			}
			if c.Int("workers") < 1 {
				return usagef("bench: --workers is %d, must be at least 1", c.Int("workers"))
			}
			plan, err := benchmarks.LoadPlan(plans[0])
			if err != nil {
				return err
			}
			o := benchmarks.RunOptions{Results: c.String("output"), Workers: c.Int("workers"), Without: c.StringSlice("without")}
			if isStdout(o.Results) {
				return usagef("bench: -o is standard output, give a file: a plan goes on from its results")
			}
			if o.Results == "" {
				o.Results = filepath.Join("results", plan.Name+".jsonl")
			}
			bar := io.Discard
			if isTerminal(p.err) {
				bar = p.err
			}
			var progress *progressbar.ProgressBar
			runs := 0
			o.Started = func(total, done int) {
				runs = total
				fmt.Fprintf(p.err, "%s: %d runs, %d of them done already; results in %s\n", plan.Name, total, done, o.Results)
				progress = progressbar.NewOptions(total, progressbar.OptionSetWriter(bar), progressbar.OptionSetWidth(30),
					progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(200e6))
				progress.Add(done)
			}
			o.Done = func(benchmarks.Record) { progress.Add(1) }
			o.Said = func(line string) { fmt.Fprintln(p.err, line) }
			err = benchmarks.Run(ctx, plan, o)
			if bar == p.err {
				fmt.Fprintln(p.err)
			}
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				fmt.Fprintf(p.err, "gapwise: stopped; the same command goes on from here\n")
				return codeError(exitStopped)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(p.err, "%d runs done; see: gapwise table %s\n", runs, o.Results)
			return nil
		},
	}
}
