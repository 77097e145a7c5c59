// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"io"
	"strings"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/urfave/cli/v3"
)

func (p *program) compare() *cli.Command {
	return &cli.Command{
		ArgsUsage: "RESULTS...",
		Description: "A row for each pair of algorithms, on the instances that both have runs on:\n" +
			"n instances, those that the first one wins, ties and losses (a run with a\n" +
			"solution wins against one without); the mean difference, first minus second,\n" +
			"with its 95 % confidence interval; the geometric mean of first over second;\n" +
			"p of Wilcoxon's signed-rank test of the differences, and holm, which is\n" +
			"adjusted for the number of rows (Holm): below 0.05 the difference is\n" +
			"significant. Several seeds on one instance count once, by their mean.\n" +
			"The values are those of gapwise bench plot -y.\n" +
			"--ranks has a row for each algorithm instead, by its mean rank in its class:\n" +
			"p of Friedman's test that the class's algorithms are equal, the distance of\n" +
			"mean ranks from which on two of them differ significantly (Nemenyi, 0.05),\n" +
			"and the algorithms that are nearer than that.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "value", Value: "objective", Usage: "compare this `VALUE`, like time or 'gap %'"},
			&cli.StringFlag{Name: "algorithms", Usage: "`LIST` of algorithms to compare, in this order"},
			&cli.StringFlag{Name: "base", Usage: "compare each of the others with `NAME` alone"},
			&cli.BoolFlag{Name: "ranks", Usage: "rank all algorithms of a class together (Friedman, Nemenyi)"},
			instancesFlag(),
		}, tableFlags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			records, err := p.results(c)
			if err != nil {
				return err
			}
			compare := runs.Compare
			if c.Bool("ranks") {
				compare = runs.Ranks
			}
			t, err := compare(records, runs.CompareOptions{Value: c.String("value"), Algorithms: list(c, "algorithms"),
				Base: c.String("base"), Plain: c.String("format") == "csv"})
			if err != nil {
				return err
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error { return render(w, c, t) })
		},
	}
}

// tableFlags are the flags of the commands that print tables.
func tableFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: "text", Usage: "format: " + strings.Join(runs.Formats, ", ")},
		&cli.StringFlag{Name: "caption", Usage: "latex: caption of the table, as LaTeX `TEXT`"},
		&cli.StringFlag{Name: "label", Usage: "latex: `LABEL` of the table"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
	}
}

// render writes a table according to the flags.
func render(w io.Writer, c *cli.Command, t runs.Table) error {
	if c.String("format") == "latex" {
		return t.LaTeX(w, c.String("caption"), c.String("label"))
	}
	return t.Render(w, c.String("format"))
}
