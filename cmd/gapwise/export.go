// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/model"
)

func (p *program) export() *cli.Command {
	return &cli.Command{
		ArgsUsage:   "FILE",
		Description: formulationsHelp(),
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "formulation", Usage: "a `NAME` from the list above"},
			&cli.StringFlag{Name: "format", Value: "mps", Usage: "file format: mps or lp"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
		}, readingFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
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
