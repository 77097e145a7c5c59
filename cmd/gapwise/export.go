// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/app/simgrid"
	"github.com/gapwise/gapwise/model"
)

func (p *program) export() *cli.Command {
	return &cli.Command{
		ArgsUsage:   "FILE [SOLUTION]",
		Description: formulationsHelp(),
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "formulation", Usage: "a `NAME` from the list above"},
			&cli.StringFlag{Name: "format", Value: "mps", Usage: "file format: mps or lp"},
			&cli.StringFlag{Name: "to", Usage: "dag: `simgrid`, with a SOLUTION: write its platform, plan and replay into the folder -o"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
		}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.IsSet("to") {
				return p.toSimgrid(ctx, c)
			}
			paths, err := files(c, 1)
			if err != nil {
				return err
			}
			format, output := strings.ToLower(c.String("format")), c.String("output")
			if format != "mps" && format != "lp" {
				return usagef("export: --format is %q, must be mps or lp", c.String("format"))
			}
			if err := checkOutput(output, paths); err != nil {
				return err
			}
			in, err := p.load(c, paths[0])
			if err != nil {
				return err
			}
			name := c.String("formulation")
			if err := (gapwise.Options{Algorithm: "exact", Engine: "highs", Formulation: name}).Check(in.Kind()); err != nil {
				return err
			}
			f, err := gapwise.Formulation(ctx, in, name)
			if err != nil {
				return fmt.Errorf("%s: %w", instances.Label(paths[0]), err)
			}
			if format == "lp" {
				return p.writeFile(output, f.WriteLP)
			}
			return p.writeFile(output, f.WriteMPS)
		},
	}
}

// toSimgrid writes a plan of a task graph for SimGrid.
func (p *program) toSimgrid(ctx context.Context, c *cli.Command) error {
	folder, to := c.String("output"), c.String("to")
	switch {
	case to != "simgrid":
		return usagef("export: --to is %q, give simgrid", to)
	case folder == "" || c.IsSet("format") || c.IsSet("formulation"):
		return usagef("export: --to simgrid needs -o FOLDER, and neither --format nor --formulation")
	}
	paths, err := files(c, 2)
	if err != nil {
		return err
	}
	in, err := p.load(c, paths[0])
	if err != nil {
		return err
	}
	if in.Kind() != model.KindDAG {
		return usagef("export: --to simgrid is for dag instances, %s is a %s", instances.Label(paths[0]), in.Kind())
	}
	d, err := p.solutionOf(ctx, c, in, paths[1:])
	if err != nil {
		return err
	}
	graph, isGraph := d.in.(*model.DAG)
	plan, isPlan := d.s.(*model.Schedule)
	if !isGraph || !isPlan {
		return fmt.Errorf("%s: %w: it holds no schedule", instances.Label(paths[1]), model.ErrInvalid)
	}
	how := ""
	if c.String("network") != "" { // a model of SimGrid's: the replay has it, for the platform as it is
		o := readingOptions(c)
		o.Network, how = "", " simgrid"
		f, err := instances.Open(paths[0])
		if err != nil {
			return err
		}
		if in, err = ofFile(c, paths[0], f, o); err != nil {
			return err
		}
		graph = in.(*model.DAG)
	}
	if err := simgrid.Write(folder, graph, plan, how != ""); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%s: g++ -std=c++17 -O1 replay.cpp -lsimgrid -o replay && ./replay platform.xml plan.txt%s\n", folder, how)
	return nil
}

// formulationsHelp lists the formulations of each problem.
func formulationsHelp() string {
	text := "GLPK, CBC, HiGHS and SCIP read both formats. The model has units of its own,\n" +
		"and leaves out whatever is certain; MPS is always minimised. A comment at\n" +
		"the top says how to compute the instance's objective from the solver's, obj:\n" +
		"FACTOR * obj + CONSTANT, or 1 / max(1, obj) for the formulation compact of\n" +
		"vcsched, whose obj is the largest load of a host.\n\n" +
		"Formulations, the default first:"
	for _, kind := range model.Kinds() {
		text += fmt.Sprintf("\n  %-13s %s", kind, strings.Join(gapwise.Formulations(kind), ", "))
	}
	return text
}
