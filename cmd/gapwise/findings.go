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
		Description: "Checks what a paper says of its experiments against the RESULTS of a plan:\n" +
			"of batch sections 3.4 and 3.5 (Figures 6 to 14), of dag sections 6.3 to 6.5\n" +
			"(Tables 3 to 8; graphs of a daggen file), of reservation section 6.2\n" +
			"(seven policies), of tvc section 5.3 (Figures 4 to 8), of vcsched sections\n" +
			"4.2 and 5.2. Each finding is held, not held, tied or undecided, with the\n" +
			"figure that decides: runs are compared in pairs (two algorithms on one\n" +
			"instance, or one algorithm on one draw at two points), and a difference\n" +
			"counts if its 95 % confidence interval by Student's t doesn't contain 0. It\n" +
			"is a tie if it is 0 in all runs, or too small to matter. Counts are compared\n" +
			"by Fisher's exact test. p is the probability that chance alone decides so;\n" +
			"beside it stand p and verdict by Holm's correction for all findings.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "parameters varied together (`LIST`)", DefaultText: "all that vary, or the paper's"},
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
