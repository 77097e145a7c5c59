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
		Description: "Prints a row for each pair of algorithms, for the instances that both ran\n" +
			"on:\n\n" +
			"  n               number of instances\n" +
			"  win, tie, loss  of the first algorithm; a run with a solution wins against\n" +
			"                  one without\n" +
			"  both            instances on which both have a value, of which all figures\n" +
			"                  after it are; without the column it is all n\n" +
			"  diff., ±        mean difference, first minus second, and half of its 95 %\n" +
			"                  confidence interval\n" +
			"  ratio           geometric mean of first over second\n" +
			"  p               of Wilcoxon's signed-rank test of the differences\n" +
			"  holm            p, adjusted for the number of rows (Holm): below 0.05 the\n" +
			"                  difference is significant\n" +
			"  effect          with --format csv: the share of the ranks of differences\n" +
			"                  above 0 less that of those below (rank-biserial)\n\n" +
			"Several seeds on one instance count as one, by their mean. The values are\n" +
			"those of gapwise bench plot -y.\n\n" +
			"--ranks prints a row for each algorithm instead, by its mean rank in its\n" +
			"class:\n\n" +
			"  p               of Friedman's test that the class's algorithms are equal\n" +
			"  distance        of mean ranks from which on two algorithms differ\n" +
			"                  significantly (Nemenyi, 0.05)\n" +
			"  not told apart  the algorithms that are nearer than that",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "value", Value: "objective", Usage: "compare this `VALUE`, like time or 'gap %'"},
			&cli.StringFlag{Name: "algorithms", Usage: "`LIST` of algorithms to compare, in this order"},
			&cli.StringFlag{Name: "base", Usage: "compare the others only with `NAME`"},
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
