// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// adHocFlags are the flags of gapwise bench that replace a plan.
func adHocFlags() []cli.Flag {
	all := []cli.Flag{
		&cli.StringSliceFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "`LIST` of algorithms, all, or LABEL=cmd:COMMAND; may be repeated"},
		&cli.StringFlag{Name: "engine", Usage: "engines of exact, as for gapwise solve"},
		&cli.StringFlag{Name: "formulation", Usage: "formulation of engines that solve linear models: highs, glpsol, ... (gapwise export --help)"},
		&cli.DurationFlag{Name: "time-limit", Usage: "time limit of each run, like 10s", DefaultText: "none; auto: 10s"},
		&cli.Int64Flag{Name: "effort", Usage: "limit of each run's counted work, in about microseconds of a core", DefaultText: "none"},
		&cli.Float64Flag{Name: "gap", Value: model.DefaultGap, Usage: "gap that counts as optimal"},
		&cli.IntFlag{Name: "threads", Value: 1, Usage: "worker threads of each run"},
		&cli.StringFlag{Name: "seeds", Value: "1", Usage: "`LIST` of seeds, one run for each"},
	}
	all = append(all, readingFlags()...)
	for _, f := range all {
		f.(cli.CategorizableFlag).SetCategory("in place of a plan")
	}
	return all
}

// planned returns the plan that the command line names or describes, and its files.
func planned(c *cli.Command) (*benchmarks.Plan, []string, error) {
	if !c.IsSet("algorithm") {
		for _, f := range adHocFlags() {
			if c.IsSet(f.Names()[0]) {
				return nil, nil, usagef("bench: --%s goes with --algorithm; a plan says that itself (docs/reference/plans.md)", f.Names()[0])
			}
		}
		plans, err := files(c, 1)
		if err != nil {
			return nil, nil, err
		}
		plan, err := benchmarks.LoadPlan(plans[0])
		return plan, plans, err
	}
	paths, err := files(c, 0)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(paths, "-") {
		return nil, nil, usagef("bench: standard input can't be read again when the runs go on, give a file")
	}
	names := algorithmNames(c)
	if len(names) == 0 {
		return nil, nil, usagef("bench: --algorithm is empty, give names or all (gapwise algorithms lists them)")
	}
	a := benchmarks.Algorithm{Engine: c.String("engine"), Formulation: c.String("formulation"), TimeLimit: c.Duration("time-limit"), Effort: c.Int64("effort"), Threads: c.Int("threads")}
	if c.IsSet("gap") {
		a.Gap = c.Float64("gap")
	}
	if err := checkSettings(c, model.Settings{Threads: a.Threads, TimeLimit: a.TimeLimit, Effort: a.Effort, Gap: a.Gap}); err != nil {
		return nil, nil, err
	}
	var seeds []uint64
	for _, text := range list(c, "seeds") {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil || slices.Contains(seeds, seed) {
			return nil, nil, usagef("bench: --seeds holds %q, must be whole numbers from 0, each once", text)
		}
		seeds = append(seeds, seed)
	}
	variants := map[string]string{}
	for _, f := range variantFlags() {
		if value := c.String(f.name); value != "" {
			variants[f.name] = value
		}
	}
	var all []benchmarks.File
	for _, path := range paths {
		all = append(all, benchmarks.File{Path: path, Platform: c.String("platform"), DOT: c.String("dot"), Files: c.String("files"), Network: c.String("network"), WorkUnit: c.String("work-unit"), Strict: c.Bool("strict"), Variants: variants})
	}
	plan, err := benchmarks.AdHoc(all, names, a, seeds)
	return plan, paths, err
}

// builtInPlans lists the built-in plans, or prints one.
func (p *program) builtInPlans(c *cli.Command) error {
	if c.NArg() > 0 {
		return usagef("bench: --list and --print take no files, but there is %q", c.Args().First())
	}
	if name := c.String("print"); name != "" {
		text, err := benchmarks.Source(name)
		if err != nil {
			return usagef("bench: %w", err)
		}
		return p.writeFile(c.String("output"), func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	for _, name := range benchmarks.Names() {
		plan, err := benchmarks.LoadPlan(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.out, "%-22s %s\n", name, words.Wrap(plan.Description, 56, 23))
	}
	return nil
}
