// SPDX-License-Identifier: MIT

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/benchmarks"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/core/params"
	"github.com/gapwise/gapwise/internal/run/replace"
	"github.com/gapwise/gapwise/model"
)

func (p *program) generate() *cli.Command {
	return &cli.Command{
		ArgsUsage: " ",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "plan", Usage: "generate the instances of a plan instead, by `NAME` or file"},
			&cli.StringFlag{Name: "kind", Value: string(model.KindVCSched), Usage: "problem, one of the headings below", DefaultText: string(model.KindVCSched)},
			&cli.IntFlag{Name: "count", Value: 1, Usage: "number of instances"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the random generator"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`PATH` of a file for one instance, or of a folder for more, whose names hold parameters and a seed other than 1"},
		}, parameterFlags(generated)...),
		Action: func(ctx context.Context, c *cli.Command) error {
			if first := c.Args().First(); slices.Contains(model.Kinds(), model.Kind(first)) {
				return usagef("generate: give the problem by --kind %s", first)
			}
			if c.NArg() > 0 {
				return usagef("generate: it takes no files, but there is %q", c.Args().First())
			}
			cases, err := drawn(c)
			if err != nil {
				return err
			}
			ending := ".json"
			if seed := c.Uint64("seed"); seed != 1 && c.String("plan") == "" {
				ending = fmt.Sprintf("-seed%d.json", seed) // the names don't hold it, and another seed's files stay
			}
			return p.writeInstances(c.String("output"), cases, ending)
		},
	}
}

// generated returns the parameters of a problem's generator.
func generated(p *gapwise.Problem) []params.Param { return p.Generator.Parameters() }

// parameterFlags makes a flag of each parameter of each problem, grouped by the
// problems that have it.
func parameterFlags(parameters func(*gapwise.Problem) []params.Param) []cli.Flag {
	var all []cli.Flag
	byName := map[string]*cli.StringFlag{}
	for _, problem := range gapwise.Problems() {
		for _, x := range parameters(problem) {
			if f := byName[x.Flag()]; f != nil {
				f.Category += ", " + string(problem.Kind)
				if x.Usage != f.Usage {
					f.Usage += fmt.Sprintf("; %s: %s", problem.Kind, x.Usage)
				}
				if d := cmp.Or(x.Shown, x.Default); d != f.DefaultText {
					f.DefaultText += fmt.Sprintf(", %s: %s", problem.Kind, d)
				}
				continue
			}
			f := &cli.StringFlag{Name: x.Flag(), Usage: x.Usage, Category: string(problem.Kind), DefaultText: cmp.Or(x.Shown, x.Default), Value: x.Default}
			byName[f.Name] = f
			numberFlags.Store(f.Name, !x.Text)
			all = append(all, f)
		}
	}
	return all
}

// numberFlags are the flags of parameters that are numbers: their type is text, as a parameter reads its value itself.
// The service makes flags for several requests at once.
var numberFlags sync.Map

// setParameters sets the specification's parameters for which flags are given.
// It refuses flags of other problems' parameters. The keys also are given by other
// means than flags.
func setParameters(c *cli.Command, spec instances.Spec, parameters func(*gapwise.Problem) []params.Param, problem *gapwise.Problem, also ...string) error {
	mine, given := parameters(problem), map[string]bool{}
	for _, key := range also {
		given[key] = true
	}
	for _, x := range mine {
		if !c.IsSet(x.Flag()) {
			continue
		}
		if err := x.Set(spec, c.String(x.Flag())); err != nil {
			return usagef("%s: --%s %w", c.Name, x.Flag(), err)
		}
		given[x.Key] = true
	}
	for _, other := range gapwise.Problems() {
		for _, x := range parameters(other) {
			if c.IsSet(x.Flag()) && !slices.ContainsFunc(mine, func(y params.Param) bool { return x.Key == y.Key }) {
				return usagef("%s: --%s goes with --kind %s", c.Name, x.Flag(), other.Kind)
			}
		}
	}
	if err := instances.CheckKeys(spec, given); err != nil {
		return usagef("%s: %w", c.Name, err)
	}
	return nil
}

// drawn lists the instances that the flags ask for.
func drawn(c *cli.Command) ([]instances.Planned, error) {
	count := c.Int("count")
	if count < 1 {
		return nil, usagef("generate: --count is %d, must be at least 1", count)
	}
	if name := c.String("plan"); name != "" {
		plan, err := benchmarks.LoadPlan(name)
		if err != nil {
			return nil, err
		}
		return plan.Instances()
	}
	kind := model.Kind(c.String("kind"))
	problem, err := gapwise.ProblemOf(kind)
	if err != nil {
		return nil, usagef("generate: --kind is %q, give one of %q", kind, model.Kinds())
	}
	spec := problem.Generator()
	if err := setParameters(c, spec, generated, problem); err != nil {
		return nil, err
	}
	var all []instances.Planned
	for k := range instances.Count(spec, count) {
		all = append(all, instances.Nth(spec, k, count, c.Uint64("seed")))
	}
	return all, nil
}

// writeInstances draws the instances and writes them to the output: one to a
// file or into a folder, several into a folder. Names of files in a folder are the instance's name and the ending. Nothing
// is written unless the first can be drawn.
func (p *program) writeInstances(output string, cases []instances.Planned, ending string) error {
	several := len(cases) > 1
	if several && (output == "" || output == "-") {
		return usagef("generate: %d instances need a folder, give it with -o", len(cases))
	}
	info, err := os.Stat(output)
	folder := several || output != "" && err == nil && info.IsDir()
	said := map[string]bool{}
	for k, one := range cases {
		in, err := one.Load()
		if err != nil {
			return err
		}
		if a := strings.Join(model.AccountOf(in).Lines(), "\n"); !said[a] {
			p.account(in)
			said[a] = true
		}
		if several && k == 0 {
			if err := replace.Folder(output); err != nil {
				return err
			}
		}
		file := output
		if folder {
			file = filepath.Join(output, in.ID()+ending)
		}
		if err := p.writeFile(file, func(w io.Writer) error { return writeLines(w, in) }); err != nil {
			return err
		}
	}
	if several {
		fmt.Fprintf(p.progress(), "%d instances in %s\n", len(cases), output)
	}
	return nil
}
