// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/gapwise/gapwise/internal/app/papers"
	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/text/words"
)

func (p *program) findings() *cli.Command {
	return &cli.Command{
		ArgsUsage: "RESULTS...",
		Description: "Checks a paper's statements about its experiments against the RESULTS of a\n" +
			"plan: sections 3.4 and 3.5 for batch (Figures 6 to 14), 6.3 to 6.5 for dag\n" +
			"(Tables 3 to 8; graphs of a daggen file), 6.2 for reservation (seven\n" +
			"policies), 5.3 for tvc (Figures 4 to 8), 4.2 and 5.2 for vcsched.\n\n" +
			"Each finding is held, not held, tied or undecided, and comes with the figure\n" +
			"that decides it. Runs are compared in pairs: two algorithms on one instance,\n" +
			"or one algorithm on one draw at two points. A difference counts if its 95 %\n" +
			"confidence interval by Student's t doesn't contain 0. It is a tie if it is 0\n" +
			"in all runs, or too small to matter. Counts are compared by Fisher's exact\n" +
			"test. p is the probability that chance alone decides so. The last figures\n" +
			"are p and the verdict by Holm's correction for all findings.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "`LIST` of parameters that vary together", DefaultText: "all that vary, or the paper's"},
			instancesFlag(),
			&cli.StringFlag{Name: "format", Value: "text", Usage: "format: " + strings.Join(runs.Formats, ", ")},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write instead of standard output"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			records, err := p.results(c)
			if err != nil {
				return err
			}
			all, err := papers.FindingsOf(records, list(c, "by"))
			if err != nil {
				return err
			}
			return p.writeFile(c.String("output"), func(w io.Writer) error {
				if c.String("format") != "text" {
					return papers.Tabulate(all).Render(w, c.String("format"))
				}
				for _, f := range all {
					measured := f.Measured
					if !math.IsNaN(f.P) {
						measured += fmt.Sprintf("; p %s, by Holm %s", words.Probability(f.P, false), words.Probability(f.Holm, false))
					}
					if f.ByHolm != f.Verdict {
						measured += fmt.Sprintf(": %s", f.ByHolm)
					}
					fmt.Fprintf(w, "%-9s  %s\n           %s\n", f.Verdict, words.Wrap(f.Text, 67, 11), words.Wrap(measured, 67, 11))
				}
				return nil
			})
		},
	}
}
