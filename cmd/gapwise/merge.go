// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/model"
)

func (p *program) merge() *cli.Command {
	return &cli.Command{
		ArgsUsage: "PARTS...",
		Description: "PARTS are results files of one plan, or folders of them, as gapwise bench\n" +
			"--shard writes them. A run that occurs twice counts once. Two contradictory\n" +
			"results of one run are refused, with file and line. The lines aren't\n" +
			"changed, and come in the plan's order, as from one gapwise bench with one\n" +
			"worker.\n" +
			"Each line says which run it is, and of how many. Without --plan, gapwise\n" +
			"names the shards and the numbers of missing runs; with it, the runs\n" +
			"themselves. The exit code is 5 if runs are missing; the others are still\n" +
			"written.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
			&cli.StringFlag{Name: "plan", Usage: "the `PLAN`, as for gapwise bench"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			args, err := files(c, 0)
			if err != nil {
				return err
			}
			paths, err := parts(args)
			if err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), paths); err != nil {
				return err
			}
			var plan *benchmarks.Plan
			if name := c.String("plan"); name != "" {
				if plan, err = benchmarks.LoadPlan(name); err != nil {
					return err
				}
			}
			var all *benchmarks.Combination
			err = unlessStopped(ctx, func() error {
				records, err := readRecords(paths)
				if err == nil {
					p.note(origins(records))
					all, err = benchmarks.Combine(records, plan)
				}
				return err
			})
			if err != nil {
				return err
			}
			p.note(all.Notes)
			if err := p.writeFile(c.String("output"), func(w io.Writer) error { return runs.WriteRecords(w, all.Records) }); err != nil {
				return err
			}
			p.note(all.Missing)
			if len(all.Missing) > 0 {
				return codeError(exitStopped)
			}
			fmt.Fprintf(p.progress(), "%s: all %d runs are there\n", all.Plan, all.Runs)
			return nil
		},
	}
}

// parts returns the named files, and the files in the named folders.
func parts(args []string) ([]string, error) {
	var all []string
	for _, a := range args {
		info, err := os.Stat(a)
		if err != nil || !info.IsDir() {
			all = append(all, a)
			continue
		}
		some, err := benchmarks.Parts(a)
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("%w results: the folder %s holds no results file (NAME.jsonl)", model.ErrInvalid, a)
		}
		all = append(all, some...)
	}
	return all, nil
}
